import { defineConfig } from 'vite';

/** Modules that the sign-in, the shell and the overview need. The documents are only hashes. */
const firstLoad = [
  /src\/(main|data|shell|gql)/,
  /src\/ui\/(?!plot|time-plot|range)/,
  /src\/lib\/(?!limits|sensors|range|download)/,
  /src\/parts\/(day|write|budget)/,
  /node_modules\/(?!uplot)/,
];
const isFirstLoad = (id) => firstLoad.some((pattern) => pattern.test(id));
/** Modules that several other pages need. */
const isShared = (id) => /src\/(parts|lib|ui\/(time-plot|range))/.test(id);

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
            { name: 'forms', test: isShared, priority: 1 },
          ],
        },
      },
    },
  },
});
