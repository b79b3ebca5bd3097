/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
          transform: { legacyDecorator: true, decoratorMetadata: false, useDefineForClassFields: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Loads the compiled program and all packages once per worker instead of once per test file.
  runtime: '<rootDir>/test/support/native-runtime.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/setup.js'],
  globalSetup: '<rootDir>/test/support/start-engine.js',
  globalTeardown: '<rootDir>/test/support/stop-engine.js',
  // Long enough for a busy machine. A test that hangs still ends.
  testTimeout: 180_000,
  // Twice the cores of the smallest machine, because slow tests mostly wait for the clock or the store.
  maxWorkers: 4,
  // Each test file leaves its modules in the heap. A fresh worker is cheaper than the garbage collection of gigabytes.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/support/slowest-first.cjs',
};
