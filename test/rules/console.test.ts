// The console as it is built into dist/console: its sizes, its documents, and what its source must not do.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';

const dist = new URL('../../dist/console/', import.meta.url).pathname;
const source = new URL('../../console/src/', import.meta.url).pathname;

const kilobyte = 1024;
const maxFirstLoad = 45 * kilobyte;
const maxChart = 22 * kilobyte;
const maxWhole = 160 * kilobyte;

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(folder, path)).isFile());
const built = filesIn(dist).filter((path) => !/\.(br|gz)$/.test(path));
/** The size of files as a browser gets them. */
const sizeOf = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + statSync(join(dist, `${path}.br`)).size, 0);

const html = readFileSync(join(dist, 'index.html'), 'utf8');
const assetsOf = (text: string): string[] =>
  [...text.matchAll(/["'`/]((?:assets\/)?[\w-]+-[\w-]{8}\.(?:js|css))["'`]/g)].map(([, path = '']) =>
    path.startsWith('assets/') ? path : `assets/${path}`,
  );
/** A script with the scripts that it imports before it runs. */
function withImports(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(join(dist, path), 'utf8');
  const statics = [...text.matchAll(/(?:import|from)\s*["'`]\.\/([\w-]+\.js)["'`]/g)];
  for (const [, name = ''] of statics) withImports(`assets/${name}`, seen);
  return seen;
}
const chunk = (name: string): string => {
  const found = built.find((path) => path.startsWith(`assets/${name}-`) && path.endsWith('.js'));
  if (!found) throw new Error(`dist/console has no chunk ${name}`);
  return found;
};

describe('the size of the console, compressed with Brotli', () => {
  const entry = assetsOf(html.replaceAll('/console/', '/'));

  it(`is at most ${maxFirstLoad / kilobyte} KB for the sign-in and the overview together`, () => {
    expect(entry.length).toBeGreaterThanOrEqual(2);
    const first = new Set([...entry, ...withImports(chunk('overview'))]);
    expect(sizeOf(['index.html', ...first])).toBeLessThanOrEqual(maxFirstLoad);
  });

  it(`is at most ${maxChart / kilobyte} KB for charts over time, which are not in the first load`, () => {
    const plot = built.filter((path) => path.startsWith('assets/plot-'));
    expect(plot.length).toBeGreaterThan(0);
    expect(sizeOf(plot)).toBeLessThanOrEqual(maxChart);
    expect([...withImports(chunk('overview'))].filter((path) => plot.includes(path))).toEqual([]);
  });

  it(`is at most ${maxWhole / kilobyte} KB in all`, () => {
    expect(sizeOf(built)).toBeLessThanOrEqual(maxWhole);
  });

  it('needs one script and one style before the sign-in is usable', () => {
    expect(entry.map((path) => path.split('.').at(-1)).sort()).toEqual(['css', 'js']);
  });
});

describe('the files of the console', () => {
  it('have no script, style or handler that the content security policy refuses', () => {
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
  });

  it('have names with a hash, so that they can be cached for ever', () => {
    const assets = built.filter((path) => path.startsWith('assets/'));
    expect(assets.filter((path) => !/^assets\/[\w-]+-[\w-]{8}\.\w+$/.test(path))).toEqual([]);
  });

  it('do not change light-dark(), which decides the colours', () => {
    const styles = built.filter((path) => path.endsWith('.css')).map((path) => readFileSync(join(dist, path), 'utf8'));
    expect(styles.join('')).toContain('light-dark(');
    expect(styles.join('')).not.toContain('lightningcss');
  });
});

describe('the documents of the console', () => {
  const documents = Object.entries(
    JSON.parse(readFileSync(join(dist, 'documents.json'), 'utf8')) as Record<string, string>,
  );
  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

  it('are named by their SHA-256', () => {
    expect(documents.length).toBeGreaterThan(30);
    const wrong = documents.filter(([id, text]) => createHash('sha256').update(text).digest('hex') !== id);
    expect(wrong).toEqual([]);
  });

  it('are valid, and each has one operation', () => {
    for (const [, text] of documents) {
      const document = parse(text, { maxTokens: 1000 });
      expect(validate(schema, document)).toEqual([]);
      expect(document.definitions.filter(({ kind }) => kind === 'OperationDefinition')).toHaveLength(1);
    }
  });

  it('are all sent by the scripts', () => {
    const scripts = built.filter((path) => path.endsWith('.js')).map((path) => readFileSync(join(dist, path), 'utf8'));
    const unused = documents.filter(([id]) => !scripts.some((text) => text.includes(id)));
    expect(unused.map(([, text]) => text.slice(0, 60))).toEqual([]);
  });
});

describe('the source of the console', () => {
  const files = filesIn(source)
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('gql/'))
    .map((path) => ({ path, text: readFileSync(join(source, path), 'utf8') }));
  const places = (pattern: RegExp, allowed: readonly string[] = []) =>
    files.filter(({ path, text }) => pattern.test(text) && !allowed.includes(path)).map(({ path }) => path);

  it('is read: the rules below look at real files', () => {
    expect(files.length).toBeGreaterThan(50);
  });

  it('makes no HTML of text and runs no text as code', () => {
    expect(places(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/)).toEqual([]);
  });

  it('never derives a day from a Date: the gateway says which day it is', () => {
    const methods = /\.(get(UTC)?(Date|Day|Month|FullYear)|toLocaleDateString|toDateString)\(/;
    expect(places(methods)).toEqual([]);
    // Moments, ages and the clock of the gateway.
    expect(places(/new Date\(/, ['lib/time.ts', 'pages/devices/devices.tsx'])).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    expect(places(/https?:\/\/(?!www\.w3\.org)/)).toEqual([]);
  });
});
