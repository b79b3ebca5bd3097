import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../../src/', import.meta.url).pathname;

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly { readonly path: string; readonly typeOnly: boolean }[];
}

const files: SourceFile[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return { path, text, imports: importsOf(path, text) };
  });

function importsOf(path: string, text: string): SourceFile['imports'] {
  const found = [
    ...text.matchAll(
      /(?:import|export)\s+(type\s+)?[^'";]*?from\s+'(\.[^']+)'|import\s*\(\s*'(\.[^']+)'\s*\)|import\s+'(\.[^']+)'/g,
    ),
  ];
  return found.map(([, typeOnly, from, lazy, bare]) => ({
    path: new URL((from ?? lazy ?? bare ?? '').replace(/\.js$/, '.ts'), `file:///${path}`).pathname.slice(1),
    typeOnly: typeOnly !== undefined,
  }));
}

/**
 * Feature folders in their order: a file that is not GraphQL's may import only from the same feature or an earlier one.
 */
const featureOrder: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  identity: ['audit'],
  orgs: ['audit', 'identity'],
  alerts: ['audit', 'identity', 'orgs'],
  spend: ['audit', 'identity', 'orgs', 'alerts'],
  limits: ['audit', 'identity', 'orgs'],
  admission: ['audit', 'identity', 'orgs', 'alerts', 'spend', 'limits'],
  devices: ['audit', 'identity', 'orgs'],
};
const features = Object.keys(featureOrder);
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

/**
 * The role that a file's name promises: `store`, `service`, … of a feature, `rule` without a suffix, else its folder or
 * name.
 */
function roleOf(path: string): string {
  const folder = folderOf(path);
  if (folder === '') return path.replace(/\.ts$/, '');
  if (!features.includes(folder)) return folder;
  const suffix = /\.(types|resolver|service|store|rollup|feed|item|registry)\.ts$/.exec(path)?.[1] ?? 'rule';
  return { item: 'store', registry: 'service' }[suffix] ?? suffix;
}

/** What GraphQL faces may use of `graphql/`. */
const schemaKit = ['scalars', 'connection', 'context', 'policy', 'node', 'enum', 'item-error'].map(
  (name) => `graphql/${name}.ts`,
);
/** The layers of the HTTP side: each may use itself and those named. */
const edge: Readonly<Record<string, readonly string[]>> = {
  graphql: ['load', 'http'],
  load: ['http'],
  live: ['graphql', 'load', 'http'],
  http: ['graphql', 'load', 'live'],
};
const isServicePart = (role: string) => ['service', 'store', 'feed', 'app', 'changes', 'build'].includes(role);

/** The table of docs/architecture.md: may a file of this role import that one? */
function mayImport(from: string, to: string, typeOnly: boolean): boolean {
  const role = roleOf(from);
  const target = roleOf(to);
  const own = folderOf(from) === folderOf(to);
  const common = target === 'lib' || target === 'rule';
  const rider = typeOnly && to === 'dynamo/transact-item.ts';
  switch (role) {
    case 'lib':
      return target === 'lib';
    case 'dynamo':
      return target === 'lib' || target === 'dynamo';
    case 'changes':
      return target === 'lib' || target === 'dynamo' || target === 'changes';
    case 'rule':
      return common || rider || to === 'dynamo/keys.ts';
    case 'store':
      // An item codec is pure. The items of orgs and apps contain those of their first clients.
      return (
        common ||
        target === 'dynamo' ||
        (target === 'store' && (own || to.endsWith('.item.ts'))) ||
        (typeOnly && target === 'changes')
      );
    case 'service':
    case 'rollup':
      return (
        common ||
        rider ||
        (own && ['store', 'feed', 'service'].includes(target)) ||
        (typeOnly && ['service', 'changes'].includes(target))
      );
    case 'feed':
      return common || (own && target === 'store') || to === 'dynamo/reread.ts' || to === 'dynamo/polling-feed.ts';
    case 'resolver':
    case 'types':
      return common || own || target === 'types' || schemaKit.includes(to);
    case 'config':
      return common || target === 'config-env-schema' || target === 'config-file-schema';
    case 'config-env-schema':
    case 'config-file-schema':
      return common;
    case 'graphql':
    case 'load':
    case 'live':
    case 'http':
      return (
        common ||
        own ||
        (edge[role] ?? []).includes(target) ||
        ((role === 'graphql' || role === 'http') && target === 'resolver') ||
        (typeOnly && isServicePart(target))
      );
    case 'build':
      return (
        common ||
        own ||
        ['store', 'service', 'rollup', 'feed', 'dynamo', 'changes'].includes(target) ||
        (typeOnly && target === 'config')
      );
    case 'app':
      return (
        common ||
        target === 'build' ||
        target === 'dynamo' ||
        (typeOnly && ['config', 'rollup', 'service'].includes(target))
      );
    case 'gateway':
      return target === 'lib' || target === 'app' || target === 'config' || target === 'http' || target === 'graphql';
    case 'worker':
      return target === 'lib' || target === 'app' || target === 'config';
    case 'embedded':
      return common || target === 'embedded';
    case 'demo':
      return common || own || target === 'app' || (typeOnly && ['config', 'service', 'store'].includes(target));
    case 'cli':
      return common || own || ['gateway', 'worker', 'config', 'embedded', 'dynamo', 'demo'].includes(target);
    case 'main':
      return target === 'cli' || target === 'config';
    default:
      return false;
  }
}

const isFace = (path: string) => ['types', 'resolver'].includes(roleOf(path));

const maxFileLines = 300;
/** The store client is one port on purpose: its retries, outcomes and units belong together. */
const longFiles: Readonly<Record<string, number>> = { 'dynamo/client.ts': 500 };

const where = (pattern: RegExp, allowed: (path: string) => boolean) =>
  files.flatMap(({ path, text }) =>
    allowed(path)
      ? []
      : text
          .split('\n')
          .flatMap((line, i) =>
            pattern.test(line.replace(/^\s*(\/\/|\*|\/\*).*/, '')) ? [`${path}:${i + 1}: ${line.trim()}`] : [],
          ),
  );

describe('the house', () => {
  it('is read: the rules below look at real files', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(150);
  });

  it('lets each file import only what the architecture allows', () => {
    const broken = files.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !mayImport(path, target.path, target.typeOnly))
        .map((target) => `${path} -> ${target.path}`),
    );
    expect(broken).toEqual([]);
  });

  it('keeps the features in a line: no feature imports from a later one', () => {
    const broken = files
      .filter(({ path }) => features.includes(folderOf(path)) && !isFace(path))
      .flatMap(({ path, imports }) =>
        imports
          .map((target) => folderOf(target.path))
          .filter((folder) => features.includes(folder) && folder !== folderOf(path))
          .filter((folder) => !featureOrder[folderOf(path)]?.includes(folder))
          .map((folder) => `${path} -> ${folder}`),
      );
    expect(broken).toEqual([]);
  });

  it('reads the environment in config.ts alone', () => {
    expect(where(/process\.env/, (path) => path === 'config.ts')).toEqual([]);
  });

  it('takes time, timers and chance from lib alone', () => {
    const time = /Date\.now|new Date\(\)|performance\.now|setTimeout\(|setInterval\(|setImmediate\(/;
    const chance = /Math\.random|randomBytes|randomUUID/;
    const isLib = (path: string) => path.startsWith('lib/');
    expect([...where(time, isLib), ...where(chance, isLib)]).toEqual([]);
  });

  it('writes expressions in one place, so that no ADD escapes its guard', () => {
    expect(
      where(/UpdateExpression|['"`]\s*ADD\s/, (path) =>
        ['dynamo/expression.ts', 'dynamo/client.ts', 'dynamo/table-admin.ts'].includes(path),
      ),
    ).toEqual([]);
  });

  it('makes keys in one place: no separator is pasted into a string beside the key builder', () => {
    const pasted = /(PK|SK|gsi1pk|gsi1sk|GSI\dPK|GSI\dSK|hardware_id|batch_id|ts_batch): [^k]*`[^`]*\$\{/;
    expect(where(pasted, () => false)).toEqual([]);
  });

  it('keeps files short', () => {
    const lines = (text: string) => text.split('\n').length - 1;
    const long = files.filter(({ path, text }) => lines(text) > (longFiles[path] ?? maxFileLines));
    expect(long.map(({ path, text }) => `${path}: ${lines(text)}`)).toEqual([]);
  });

  it('has no barrels and no utils', () => {
    expect(files.map(({ path }) => path).filter((path) => /(^|\/)(index|utils?|helpers?)\.ts$/.test(path))).toEqual([]);
  });
});
