import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { adminKey, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
const configFile = join(home, 'tollgate/config.json');
let app: TestApp;
let orgId: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  app = await startTestApp();
  orgId = (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput({ quotaScope: 'ORG' }) })).registerOrg.org
    .orgId;
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await app.stop();
  rmSync(home, { recursive: true, force: true });
});

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
interface Created {
  readonly clientId: string;
  readonly clientSecret: string;
}
type Overrides = Readonly<Record<string, string>>;

const admin = { TOLLGATE_ADMIN_KEY: adminKey };

function start(args: readonly string[], environment: Overrides): ChildProcess {
  const env = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: home, TOLLGATE_URL: app.url, ...environment };
  const child = spawn('node', [main, ...args], { env, cwd: home });
  children.push(child);
  return child;
}

/** Runs the program with the input, until it ends. */
async function run(args: readonly string[], environment: Overrides = {}, input = ''): Promise<Result> {
  const child = start(args, environment);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

const json = async <T = never>(args: readonly string[], environment: Overrides = admin): Promise<T> => {
  const { code, stdout, stderr } = await run([...args, '-o', 'json'], environment);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
};

describe('the command line', () => {
  it('creates an app, shows its secret once, and signs in with it from the standard input', async () => {
    const created = await json<Created>(['app', 'create', 'chat', '--name', 'Chat', '--org', orgId]);
    expect(created.clientSecret).toMatch(/^tgs_/);

    const signedIn = await run(['login', '--client-id', created.clientId], {}, `${created.clientSecret}\n`);
    expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining(created.clientId) });
    expect(statSync(configFile).mode & 0o777).toBe(0o600);
    const me = await run(['whoami']);
    expect(me.stdout).toContain('APP_CLIENT');
    // The token of the first command is used again.
    const { accessToken } = (
      JSON.parse(readFileSync(configFile, 'utf8')) as { contexts: { default: { accessToken: string } } }
    ).contexts.default;
    expect(accessToken).toBeDefined();
    const shown = await json(['context', 'list'], {});
    const printed = [signedIn, me].map(({ stdout, stderr }) => stdout + stderr).join('') + JSON.stringify(shown);
    for (const secret of [created.clientSecret, accessToken]) expect(printed).not.toContain(secret);

    // An app may not change limits: the gateway refuses, and the exit code says so.
    const refused = await run(['limit', 'set', '--system', '-l', 'rpm=1']);
    expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('not allowed') });

    expect((await run(['logout'])).code).toBe(0);
    expect(readFileSync(configFile, 'utf8')).not.toMatch(/tgs_|accessToken/);
    const after = await run(['whoami']);
    expect(after).toMatchObject({ code: 3, stderr: expect.stringContaining('tollgate login') });
  });

  it('rotates its own secret and keeps the new one in its context', async () => {
    const { clientId, clientSecret } = await json<Created>(['client', 'create', 'ops', '--org', orgId]);
    await run(['login', '--client-id', clientId, '--context', 'ops'], {}, clientSecret);
    const rotated = await run(['org', 'rotate', '--client', clientId, '--context', 'ops', '-o', 'name']);
    expect(rotated).toMatchObject({ code: 0, stdout: `${clientId}\n` });
    const { contexts } = JSON.parse(readFileSync(configFile, 'utf8')) as {
      contexts: Record<string, { clientSecret: string }>;
    };
    expect(contexts.ops?.clientSecret).toMatch(/^tgs_/);
    expect(contexts.ops?.clientSecret).not.toBe(clientSecret);
    expect((await run(['whoami', '--context', 'ops'])).code).toBe(0);
  });

  it('lists page by page, in every format, and finds nothing with 1', async () => {
    for (const name of ['a', 'b', 'c'])
      await app.admin.ask('mutation ($input: CreateEntityInput!) { createEntity(input: $input) { entityId } }', {
        input: { orgId, entityId: `e-${name}` },
      });
    const list = (...more: string[]) => run(['entity', 'list', '--org', orgId, ...more], admin);
    expect((await list('--max', '2', '-o', 'name')).stdout).toBe('e-a\ne-b\n');
    expect((await list('--all', '-o', 'csv')).stdout).toMatch(
      /^entityId,name,parent.entityId,cascade,createdAt\r\ne-a,/,
    );
    expect((await list()).stdout).toMatch(/^entityId\s+name\s+parent/);
    const none = await run(['budget', 'list', '--org', orgId], admin);
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'None found.\n' });
    const missing = await run(['entity', 'get', 'nobody', '--org', orgId], admin);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') });
  });

  it('sets limits, tries them and exits with 3 if they refuse', async () => {
    const set = await json<{ limits: object[] }>([
      ...['limit', 'set', '--resource', 'gpt-4', '-l', 'rpm=10', '-l', 'tpm=40000:burst=60000/60s', '--org', orgId],
    ]);
    expect(set.limits).toEqual([
      expect.objectContaining({ name: 'rpm', burst: 10 }),
      expect.objectContaining({ name: 'tpm', capacity: 40_000, burst: 60_000 }),
    ]);
    const amounts = ['ana', '--resource', 'gpt-4', '--consume', 'rpm=6', '--consume', 'tpm=1', '--org', orgId];
    expect((await run(['entity', 'try', ...amounts], admin)).code).toBe(0);
    expect((await json<{ leaseId: string }>(['lease', 'acquire', ...amounts])).leaseId).toBeDefined();
    expect((await run(['entity', 'try', ...amounts], admin)).code).toBe(3);
    expect(await run(['lease', 'acquire', ...amounts], admin)).toMatchObject({ code: 3, stdout: expect.any(String) });
    const unset = await run(['limit', 'unset', '--resource', 'gpt-4', '--org', orgId], admin);
    expect(unset).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
  });

  it('says what is wrong with a command, and exits with 1', async () => {
    expect(await run(['org', 'list', '--colour'], admin)).toEqual({
      code: 1,
      stdout: '',
      stderr: "tollgate: unknown option '--colour'\nRun `tollgate org list --help` for the options.\n",
    });
    const away = await run(['org', 'list'], { ...admin, TOLLGATE_URL: 'http://127.0.0.1:9' });
    expect(away).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('http://127.0.0.1:9') });
    expect(away.stderr).not.toContain('    at ');
  });

  it('prints alerts from a cursor on, until it is stopped', async () => {
    const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
    for (const modelLabel of ['premium', 'standard']) {
      const tokens = { inputTokens: 1, outputTokens: 1, costUsdMicros: 10 ** 8 };
      await app.admin.ask(op.SubmitCostDocument, {
        input: { orgId, appId: 'chat', requestId: randomUUID(), modelLabel, ...tokens },
      });
    }
    await worker.spend.sumAll();
    worker.close();
    const alerts = await json<{ cursor: string; label: string }[]>(['alert', 'list', '--org', orgId]);
    expect(alerts.length).toBeGreaterThan(1);
    const child = start(['alert', 'tail', '--org', orgId, '--after', alerts.at(-1)?.cursor ?? '', '-o', 'name'], admin);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const missed = alerts.slice(0, -1).map(({ cursor }) => `${cursor}\n`);
    await until('the alerts after the cursor', () => output.split('\n').length > missed.length);
    expect(output).toBe(missed.reverse().join(''));
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  });

  it('exports spend', async () => {
    await app.admin.ask(op.SubmitCostDocument, {
      input: { orgId, appId: 'chat', requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1, outputTokens: 1 },
    });
    const day = new Date(app.clock.nowMs() - 86_400_000).toISOString().slice(0, 10);
    const { code, stdout } = await run(['spend', 'export', '--from', day, '--to', day, '--org', orgId], admin);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^day,label,costUsdMicros/);
  });

  it('plans, applies, exports and finds no changes, by exit code', async () => {
    const file = join(home, 'tollgate.yaml');
    writeFileSync(file, `orgs:\n  - orgId: ${orgId}\n    budgets: { weekly: { period: WEEK, usdMicros: 5000000 } }\n`);
    const plan = await run(['plan'], admin);
    expect(plan).toMatchObject({ code: 2, stdout: expect.stringContaining('+ create budget:weekly') });
    expect(await run(['apply'], admin)).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    const applied = await run(['apply', '--yes'], admin);
    expect(applied).toMatchObject({ code: 0, stderr: '1 of 1: create budget:weekly\n' });
    expect(await run(['plan'], admin)).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    const exported = await run(['export', '--org', orgId], admin);
    expect(exported.stdout).toContain('weekly:');
    const again = await run(['apply', '-f', '-', '--yes'], admin, exported.stdout);
    expect(again).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    await json(['budget', 'set', 'weekly', '--period', 'week', '--amount', '7', '--org', orgId]);
    writeFileSync(file, `orgs:\n  - orgId: ${orgId}\n    budgets: { weekly: { period: WEEK, usdMicros: 6000000 } }\n`);
    const conflict = await run(['apply', '--yes'], admin);
    expect(conflict).toMatchObject({ code: 3, stdout: expect.stringContaining('- gateway  usdMicros: 7000000') });
    expect(conflict.stdout).toContain('+ file     usdMicros: 6000000');
    expect(await run(['plan', '--force-conflicts'], admin)).toMatchObject({ code: 2 });
    const forced = await run(['apply', '--yes', '--force-conflicts', '--quiet'], admin);
    expect(forced).toMatchObject({ code: 0, stdout: expect.stringContaining('- gateway  usdMicros: 7000000') });
    expect(await run(['plan'], admin)).toMatchObject({ code: 0, stdout: 'No changes.\n' });
  });
});
