import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

const maxFunctionLines = 40;
/** A component of the console is mostly markup. */
const maxComponentLines = 70;
const maxParameters = 4;
const maxWidth = 120;
const maxTestLines = 600;
/** Fewer than this many attributes of stored items may be cast instead of read by `fields`. */
const maxItemCasts = 10;

const isGenerated = (path: string) => path === 'test/support/operations.ts' || path.startsWith('console/src/gql/');
const paths = ['src', 'test', 'bench', 'scripts', 'console', 'client/src']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`))
  .filter((path) => /\.(ts|tsx|mts|mjs|cjs|js|css)$/.test(path) && !isGenerated(path));
const files = paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const source = files.filter(({ path }) => path.startsWith('src/'));
const tests = files.filter(({ path }) => path.endsWith('.test.ts'));

const places = (pattern: RegExp, among = files): string[] =>
  among.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  );

interface FunctionShape {
  readonly place: string;
  readonly lines: number;
  readonly parameters: number;
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const functionTypes = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'Constructor',
  'MethodProperty',
]);

const parsing = { syntax: 'typescript', decorators: true, target: 'es2022' } as const;

/** Every function of a TypeScript file. swc counts positions in bytes, from the first byte it has ever parsed. */
function functionsOf(path: string, text: string): FunctionShape[] {
  const bytes = Buffer.from(text);
  const tree = parseSync(text, { ...parsing, tsx: path.endsWith('.tsx') }) as unknown as Node;
  const found: FunctionShape[] = [];
  const spanOf = (node: Node) => node.span as { readonly start: number; readonly end: number };
  // The first statement may come after comments, so the end of the file is the fixed point.
  const base = spanOf(tree).end - Buffer.byteLength(text.trimEnd());
  const lineAt = (position: number) =>
    bytes
      .subarray(0, position - base)
      .toString('utf8')
      .split('\n').length;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const entry of value) visit(entry);
    if (!isNode(value)) return;
    if (functionTypes.has(value.type as string)) found.push(shapeOf(value));
    for (const child of Object.values(value)) visit(child);
  };
  const shapeOf = (node: Node): FunctionShape => {
    const inner = isNode(node.function) ? node.function : node;
    const { start, end } = spanOf(node.span ? node : inner);
    const parameters = (inner.params ?? inner.parameters ?? []) as readonly unknown[];
    return { place: `${path}:${lineAt(start)}`, lines: lineAt(end) - lineAt(start) + 1, parameters: parameters.length };
  };
  visit(tree.body);
  return found;
}

const functions = source.flatMap(({ path, text }) => functionsOf(path, text));
const ofClient = files
  .filter(({ path }) => path.startsWith('client/'))
  .flatMap(({ path, text }) => functionsOf(path, text));
const ofConsole = files
  .filter(({ path }) => /^console\/.*\.tsx?$/.test(path))
  .flatMap(({ path, text }) => functionsOf(path, text));
const isFace = (place: string) => /\.(resolver|types)\.ts:/.test(place);

describe('the shape of the code', () => {
  it('is read: the rules below look at real functions', () => {
    expect(functions.length).toBeGreaterThan(1500);
    const sample = 'const x = 1;\n// é\nfunction f(a: number, b = 2) {\n  return a;\n}\n';
    expect(functionsOf('sample.ts', sample)).toEqual([{ place: 'sample.ts:3', lines: 3, parameters: 2 }]);
  });

  it(`keeps functions within ${maxFunctionLines} lines`, () => {
    expect(ofClient.length).toBeGreaterThan(100);
    expect([...functions, ...ofClient].filter(({ lines }) => lines > maxFunctionLines)).toEqual([]);
  });

  it(`keeps functions of the console within ${maxFunctionLines} lines, components within ${maxComponentLines}`, () => {
    expect(ofConsole.length).toBeGreaterThan(200);
    const maxOf = (place: string) => (place.includes('.tsx:') ? maxComponentLines : maxFunctionLines);
    expect(ofConsole.filter(({ place, lines }) => lines > maxOf(place))).toEqual([]);
  });

  it(`keeps functions within ${maxParameters} parameters, except in GraphQL faces`, () => {
    expect(
      [...functions, ...ofClient, ...ofConsole].filter(
        ({ place, parameters }) => parameters > maxParameters && !isFace(place),
      ),
    ).toEqual([]);
  });

  it('names bounds max and min', () => {
    expect(places(/\b(most|longest|fewest)[A-Z]\w*/)).toEqual([]);
  });

  it('declares each interface, type and class in one file', () => {
    const declared = source.flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm)].map(
        ([, name = '']) => ({ name, path }),
      ),
    );
    const byName = new Map<string, string[]>();
    for (const { name, path } of declared) byName.set(name, [...(byName.get(name) ?? []), path]);
    const twice = [...byName].filter(([, paths]) => paths.length > 1);
    expect(twice.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([]);
  });

  it(`keeps lines within ${maxWidth} characters`, () => {
    // The formatter does not break the path of an icon.
    const long = places(new RegExp(`^.{${maxWidth + 1},}$`, 'u')).filter(
      (place) => !place.startsWith('console/src/ui/icon'),
    );
    expect(long).toEqual([]);
  });

  it(`keeps test files within ${maxTestLines} lines`, () => {
    const long = tests.filter(({ text }) => text.split('\n').length - 1 > maxTestLines);
    expect(long.map(({ path, text }) => `${path}: ${text.split('\n').length - 1}`)).toEqual([]);
  });

  it('has one clock for tests', () => {
    const clocks = places(
      /^(export )?class \w*Clock\b/,
      files.filter(({ path }) => path.startsWith('test/')),
    );
    expect(clocks).toEqual([expect.stringMatching(/^test\/support\/clock\.ts:\d+: export class ManualClock/)]);
  });

  it('reads the attributes of items by `fields`, with few exceptions', () => {
    const stores = source.filter(({ path }) => /(\.store|\.item)\.ts$/.test(path));
    expect(places(/\bas (string|number|boolean|bigint)\b/, stores).length).toBeLessThan(maxItemCasts);
  });
});
