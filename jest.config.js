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
  setupFiles: ['<rootDir>/test/support/setup.js'],
  globalSetup: '<rootDir>/test/support/start-engine.js',
  globalTeardown: '<rootDir>/test/support/stop-engine.js',
  // So long that a busy machine does not fail a test by its slowness; those that hang are ended all the same.
  testTimeout: 180_000,
  // Most of what is slow waits for the clock or the store: one more than this machine has cores.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/longest-first.cjs',
};
