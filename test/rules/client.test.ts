// The package @tollgate/client: what a consumer installs.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSchema, parse, validate } from 'graphql';
import { publint } from 'publint';
import { build, type Rolldown } from 'vite';
import * as documents from '../../client/src/documents.js';
import { folderWith, programOf, programPages } from '../support/doc-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const client = join(root, 'client');
const maxCoreBytes = 8 * 1024;

const sources = readdirSync(join(client, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(client, 'src', path), 'utf8') }));
const { exports } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8')) as {
  exports: Record<string, string>;
};

function run(...[command, ...args]: [string, ...string[]]): {
  readonly status: number | null;
  readonly output: string;
} {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
};
const clean = { status: 0, output: '' };

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function compiled(tsc: string, options: object, files: Readonly<Record<string, string>>): ReturnType<typeof run> {
  const config = JSON.stringify({ compilerOptions: options, files: Object.keys(files) });
  const folder = folderWith({ ...files, 'tsconfig.json': config });
  folders.push(folder);
  return run('node', tsc, '-p', folder);
}

/** The code of an entry with everything that it imports, minified. */
async function bundled(entry: string): Promise<string> {
  const { output } = (await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: join(client, entry), preserveEntrySignatures: 'strict', output: { format: 'es' } },
    },
  })) as Rolldown.RolldownOutput;
  return output.map((file) => (file.type === 'chunk' ? file.code : '')).join('');
}

describe('the client package', () => {
  it('has a core of at most 8 KB, minified and compressed, that runs in browsers', async () => {
    const code = await bundled(exports['.'] as string);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(maxCoreBytes);
    expect(gzipSync(code).length).toBeGreaterThan(2000);
    expect(code).not.toMatch(/node:|process\.|Buffer/);
  });

  it('has no dependencies', () => {
    const {
      dependencies,
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, { optional?: boolean }> | undefined
    >;
    expect(dependencies).toBeUndefined();
    expect(Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)).toEqual([]);
  });

  it('passes publint and attw', async () => {
    const { messages } = await publint({ pkgDir: client, strict: true });
    expect(messages).toEqual([]);
    // The profile esm-only leaves out Node's old resolution, and `require` from CommonJS, which attw judges by versions
    // of Node that cannot require ES modules. The tests below require and compile it from CommonJS.
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const { status, output } = run('node', attw, '--pack', client, '--profile', 'esm-only', '--no-color', '--no-emoji');
    expect([status, output]).toEqual([0, expect.any(String)]);
  });

  it('can be required', () => {
    const names = Object.keys(exports).filter((name) => name !== './package.json');
    const script = names.map((name) => `require('@tollgate/client${name.slice(1)}')`).join(';');
    const { status, output } = run('node', '--input-type=commonjs', '-e', `${script}; console.log('required')`);
    expect([status, output]).toEqual([0, 'required\n']);
  });

  it.each([
    ['5.9', join(client, 'node_modules/typescript/bin/tsc')],
    ['7', join(root, 'node_modules/typescript/bin/tsc')],
  ])('has types for TypeScript %s, from ES modules and from CommonJS', (version, tsc) => {
    const consumer = `import { Tollgate, RateLimited, type OpenCall, type Lease } from '@tollgate/client';
import { TestTollgate } from '@tollgate/client/testing';
const { tollgate } = new TestTollgate({ models: [{ label: 'a' }] });
const client: Tollgate = tollgate;
export async function use(): Promise<string> {
  const call: OpenCall = await client.spend.admit({ estimate: { inputTokens: 1 } });
  await call.settle({ inputTokens: 1 });
  const text: string = await client.spend.meter({ estimate: {} }, async ({ modelId: value }) => ({ value, usage: {} }));
  const lease: Lease = await client.limits.acquire({ entityId: 'a', resource: 'b', consume: { rpm: 1 } });
  // @ts-expect-error A consume is an object.
  await client.limits.acquire({ entityId: 'a', resource: 'b', consume: 1 }).catch((e) => e instanceof RateLimited);
  for await (const { kind } of client.alerts()) if (kind === 'GAP') break;
  return text + lease.leaseId;
}
`;
    expect(run('node', tsc, '--version').output).toContain(`Version ${version}.`);
    expect(compiled(tsc, compilerOptions, { 'consumer.mts': consumer, 'consumer.cts': consumer })).toEqual(clean);
  });

  it('has examples in its documentation that compile', () => {
    const options = { ...compilerOptions, lib: ['es2022'], types: ['node'], skipLibCheck: true };
    const programs = Object.fromEntries(programPages.map((page, i) => [`page-${i}.mts`, programOf(page)]));
    expect(compiled(join(root, 'node_modules/typescript/bin/tsc'), options, programs)).toEqual(clean);
  });
});

describe('the source of the client', () => {
  it('sends only operations that the schema allows', () => {
    const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
    const broken = Object.entries(documents).flatMap(([name, document]) =>
      validate(schema, parse(document)).map(({ message }) => `${name}: ${message}`),
    );
    expect(broken).toEqual([]);
  });

  it('takes time, timers and chance from its clock alone', () => {
    const uses = sources.filter(
      ({ path, text }) =>
        path !== 'clock.ts' && /Date\.now|new Date\(\)|setTimeout\(|setInterval\(|Math\.random/.test(text),
    );
    expect(uses.map(({ path }) => path)).toEqual([]);
  });

  it('reads no environment', () => {
    expect(sources.filter(({ text }) => /process\.env/.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
