import 'reflect-metadata';
import { types } from 'node:util';
import { configureGlobal } from 'fast-check';

// The same examples in every run, so that a failure is caused by a change. TOLLGATE_TEST_SEED selects others.
configureGlobal({ seed: Number(process.env.TOLLGATE_TEST_SEED ?? 0x5eed) });

// Jest runs tests in a separate realm, where the error of a socket is not `instanceof Error`. The SDK then wraps it and
// loses its `code`, so a refused connection looks like a lost response. In production there is only one realm.
const ordinary = Function.prototype[Symbol.hasInstance];
Object.defineProperty(Error, Symbol.hasInstance, {
  configurable: true,
  value(value) {
    return this === Error ? types.isNativeError(value) || ordinary.call(Error, value) : ordinary.call(this, value);
  },
});
