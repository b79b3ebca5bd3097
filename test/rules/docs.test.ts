import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path: join('docs', path), text: readFileSync(join(root, 'docs', path), 'utf8') }));

it('has no broken relative link in docs', () => {
  const broken = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target as string)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

it('quotes no file in docs that does not exist', () => {
  const folders = '(?:src|test|scripts|bench|api|clients|faults|prices|rules|unit|worker)';
  const quoted = new RegExp(`\`(${folders}/[\\w./-]+\\.(?:ts|mjs))\``, 'g');
  const exists = (path: string) => existsSync(join(root, path)) || existsSync(join(root, 'test', path));
  const named = pages.flatMap(({ path, text }) => [...text.matchAll(quoted)].map(([, file]) => ({ path, file })));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file }) => !exists(file as string)).map(({ path, file }) => `${path}: ${file}`)).toEqual([]);
});
