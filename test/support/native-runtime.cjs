const { AsyncLocalStorage } = require('node:async_hooks');
const { isBuiltin } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { types } = require('node:util');
const { SyntheticModule } = require('node:vm');
const { default: JestRuntime } = require('jest-runtime');

const urlOf = (folder) => pathToFileURL(join(__dirname, '../..', folder, '/')).href;
/** Folders of source with those of their compiled form. */
const compiledOf = [
  [urlOf('src'), urlOf('dist')],
  [urlOf('client/src'), urlOf('client/dist')],
];

/**
 * The built-in objects that tests share with the modules that Node loads: tests spy on some of them, and compare the
 * others with `instanceof`.
 */
const sharedGlobals = ['Boolean', 'Date', 'Error', 'Intl', 'Map', 'Number', 'Set', 'String'];

// V8 throws errors of the realm of a test, for example a TypeError. They are `instanceof Error` too.
const ordinary = Function.prototype[Symbol.hasInstance];
Object.defineProperty(Error, Symbol.hasInstance, {
  value(value) {
    return (this === Error && types.isNativeError(value)) || ordinary.call(this, value);
  },
});

/** What Node imports in place of this import of a test. Undefined if jest loads it. */
function nativeOf(specifier, from) {
  if (!specifier.startsWith('.')) return isBuiltin(specifier) || specifier === '@jest/globals' ? undefined : specifier;
  const { href } = new URL(specifier, pathToFileURL(from));
  for (const [source, compiled] of compiledOf) {
    if (href.startsWith(source)) return compiled + href.slice(source.length);
    if (href.startsWith(compiled)) return href;
  }
  return undefined;
}

/** A module of the test's realm with the exports of a module that Node has loaded. */
async function facadeOf(specifier, context) {
  const exported = await import(specifier);
  const names = Object.keys(exported);
  const facade = new SyntheticModule(
    names,
    () => {
      for (const name of names) facade.setExport(name, exported[name]);
    },
    { context, identifier: specifier },
  );
  await facade.link(() => undefined);
  await facade.evaluate();
  return facade;
}

/**
 * Jest loads tests and their helpers anew in each test file. Node loads the compiled program and all packages, once per
 * worker process, so their code stays compiled and warm. They keep no state that one test file could leave to the next.
 */
module.exports = class NativeRuntime extends JestRuntime {
  constructor(...args) {
    super(...args);
    this.shareModules();
    this.shareGlobals();
    this.trackStorages();
  }

  shareModules() {
    const { esmLoader } = this;
    const facades = new Map();
    const resolve = esmLoader.resolveModule.bind(esmLoader);
    esmLoader.resolveModule = (specifier, from, context) => {
      const native = nativeOf(specifier, from);
      if (!native) return resolve(specifier, from, context);
      if (!facades.has(native)) facades.set(native, facadeOf(native, context));
      return facades.get(native);
    };
    // On Node 22 and later, jest would otherwise not call `resolveModule`.
    esmLoader.resolution.hasDistinctAsyncResolver = () => true;
  }

  shareGlobals() {
    const { global } = this._environment;
    for (const name of sharedGlobals) global[name] = globalThis[name];
    global.process.env = process.env;
    const [ownConsole, env] = [globalThis.console, { ...process.env }];
    globalThis.console = global.console;
    this.restoreGlobals = () => {
      globalThis.console = ownConsole;
      for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
      Object.assign(process.env, env);
    };
  }

  /**
   * Jest runs the tests of each file in an AsyncLocalStorage and never disables it. In Node 20 each one makes every
   * promise of the process slower.
   */
  trackStorages() {
    const storages = [];
    const core = this.coreModule.require.bind(this.coreModule);
    class Storage extends AsyncLocalStorage {
      constructor() {
        super();
        storages.push(this);
      }
    }
    this.coreModule.require = (name) =>
      /^(node:)?async_hooks$/.test(name) ? { ...core(name), AsyncLocalStorage: Storage } : core(name);
    this.disableStorages = () => {
      for (const storage of storages) storage.disable();
    };
  }

  teardown() {
    super.teardown();
    this.restoreGlobals();
    this.disableStorages();
  }
};
