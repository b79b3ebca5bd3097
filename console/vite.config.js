import { defineConfig } from 'vite';

/** Modules that every page needs. The documents are only hashes. */
const isFirstLoad =
  /src\/(main|ui\/(?!plot)|lib|data|shell|gql|parts\/(day-bars|write-button))|node_modules\/(?!uplot)/;

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
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What several pages need is one file each, not dozens: the first load, and the forms.
            { name: 'index', test: isFirstLoad, priority: 2 },
            { name: 'forms', test: /src\/parts\//, priority: 1 },
          ],
        },
      },
    },
  },
});
