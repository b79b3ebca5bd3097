import 'reflect-metadata';
import { types } from 'node:util';
import { configureGlobal } from 'fast-check';

// The same examples in every run: a failure is then the fault of a change, and not of luck. TOLLGATE_TEST_SEED looks for others.
configureGlobal({ seed: Number(process.env.TOLLGATE_TEST_SEED ?? 0x5eed) });

// Jest runs tests in a realm of its own, where a socket's error is no `instanceof Error`; the SDK then wraps it and loses
// its `code`, and a refused connection looks like a lost reply. In production there is one realm, and so here.
const ordinary = Function.prototype[Symbol.hasInstance];
Object.defineProperty(Error, Symbol.hasInstance, {
  configurable: true,
  value(thing) {
    return this === Error ? types.isNativeError(thing) || ordinary.call(Error, thing) : ordinary.call(this, thing);
  },
});
