import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The first versions with light-dark(), so that it is not rewritten.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The polyfill would be one more script before the first page, for browsers without light-dark().
    modulePreload: { polyfill: false },
    // A data: URL of a script or a style is not allowed by the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
