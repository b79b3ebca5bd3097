import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { publicCodes } from '../support/http.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const maxReadmeBytes = 6144;

const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: folder !== '' })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));

const pages = [...pagesIn(''), ...pagesIn('docs'), 'client/README.md'].map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));

interface Link {
  readonly from: string;
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly anchor?: string;
}

const withoutCode = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');

const links: readonly Link[] = pages.flatMap(({ path: from, text }) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? from : relative(root, resolve(root, dirname(from), file));
    return [{ from, path, ...(anchor === undefined ? {} : { anchor }) }];
  }),
);

/** The anchors that GitHub makes of the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.*)$/gm)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe('the documentation', () => {
  it('has a README of at most 6 KB', () => {
    expect(Buffer.byteLength(pages.find(({ path }) => path === 'README.md')?.text ?? '')).toBeLessThanOrEqual(
      maxReadmeBytes,
    );
  });

  it('has links, so that the checks below check something', () => {
    expect(links.length).toBeGreaterThan(50);
  });

  it('has no link to a file that does not exist', () => {
    const broken = links.filter(({ path }) => !existsSync(join(root, path)));
    expect(broken.map(({ from, path }) => `${from} -> ${path}`)).toEqual([]);
  });

  it('has no link to a heading that does not exist', () => {
    const broken = links.filter(({ path, anchor }) => {
      const page = pages.find((each) => each.path === path);
      return page && anchor !== undefined && !anchorsOf(page.text).has(anchor);
    });
    expect(broken.map(({ from, path, anchor }) => `${from} -> ${path}#${anchor}`)).toEqual([]);
  });

  it('names no source file that does not exist', () => {
    const sources = ['src', 'test', 'scripts', 'bench', 'console', 'client/src'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join('/', folder, path)),
    );
    // A page may leave out the first folders of a path.
    const exists = (file: string) => sources.some((path) => path.endsWith(`/${file}`));
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)].map(([, file = '']) => ({ path, file })),
    );
    expect(named.length).toBeGreaterThan(50);
    const broken = named.filter(({ file }) => !exists(file) && !existsSync(join(root, file)));
    expect(broken.map(({ path, file }) => `${path}: ${file}`)).toEqual([]);
  });

  it('shows only operations that the schema allows', () => {
    const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
    // A block may show several operations without names.
    const rules = specifiedRules.filter(({ name }) => name !== 'LoneAnonymousOperationRule');
    const blocks = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/^ *```graphql\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => ({ path, block })),
    );
    expect(blocks.length).toBeGreaterThan(30);
    const broken = blocks.flatMap(({ path, block }) =>
      validate(schema, parse(block), rules).map(({ message }) => `${path}: ${message}`),
    );
    expect(broken).toEqual([]);
  });

  it('has every error code in docs/errors.md, and no other', () => {
    const reference = pages.find(({ path }) => path === 'docs/errors.md')?.text ?? '';
    const [, codes = ''] = /^## Codes$([\s\S]*?)^##/m.exec(reference) ?? [];
    const documented = [...codes.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
    );
    expect(documented.toSorted()).toEqual(publicCodes.toSorted());
  });

  it('has every variable of docs/configuration.md in .env.example, and no other', () => {
    const reference = pages.find(({ path }) => path === 'docs/configuration.md')?.text ?? '';
    const documented = [...reference.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|/gm)].map(([, name]) => name);
    const example = readFileSync(join(root, '.env.example'), 'utf8');
    const shown = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
    expect(shown.toSorted()).toEqual(documented.toSorted());
  });

  it('links every page from another page', () => {
    const linked = (path: string) =>
      links.some((link) => link.from !== path && (link.path === path || link.path === dirname(path)));
    expect(pages.map(({ path }) => path).filter((path) => path !== 'README.md' && !linked(path))).toEqual([]);
  });
});
