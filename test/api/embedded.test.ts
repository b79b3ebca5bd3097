// What other programs and users of the machine can reach of `tollgate dev`. Linux only, because the tests read /proc.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newSigningKeys } from '../../src/identity/token.js';
import { sleep } from '../../src/lib/timers.js';
import { Caller, orgInput } from '../support/app.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const adminKey = 'given-admin-key-0123456789-0123456789';
const canIsolate = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

const children: ChildProcess[] = [];
const folders: string[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Dev {
  readonly child: ChildProcess;
  readonly dataDir: string;
  readonly output: string;
  readonly url: string;
  /** The process id of the engine itself, not of its guard. */
  readonly enginePid: number;
}

async function startDev(dataDir: string, overrides: Record<string, string> = {}): Promise<Dev> {
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: '0',
    TOLLGATE_DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    BCRYPT_COST: '4',
    OPERATION_TIMEOUT_MS: String(5000 * patience),
    ...overrides,
  };
  const child = spawn('node', [main, 'dev'], { env, cwd: tmpdir() });
  children.push(child);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (/-d '.*'\n/.test(output)) resolve();
      });
  });
  const [, url = ''] = /running at (\S+)/.exec(output) ?? [];
  return { child, dataDir, output, url, enginePid: enginesOf(dataDir)[0] as number };
}

const argumentsOf = (pid: number): string[] => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
};
const enginesOf = (dataDir: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) =>
        pid > 0 && argumentsOf(pid)[0]?.endsWith('/dynoxide') && argumentsOf(pid).includes(join(dataDir, 'store.db')),
    );

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-embedded-'));
  folders.push(folder);
  return folder;
};
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

let dev: Dev;
beforeAll(async () => {
  const dataDir = newFolder();
  // With the permissions that an older version used.
  chmodSync(dataDir, 0o755);
  writeFileSync(join(dataDir, 'store.db'), '', { mode: 0o644 });
  const secrets = {
    TOLLGATE_ADMIN_KEY: adminKey,
    API_KEY_PEPPER: 'p'.repeat(32),
    TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
  };
  dev = await startDev(dataDir, secrets);
  await new Caller(dev.url, { 'x-admin-key': adminKey }).ask(op.RegisterOrgDocument, { input: orgInput() });
});

it('restricts its data folder to its owner, even if others could read it before', () => {
  expect(modeOf(dev.dataDir)).toBe('700');
  const files = readdirSync(dev.dataDir);
  expect(files).toEqual(expect.arrayContaining(['engine.sock', 'secrets.json', 'store.db', 'tollgate.pid']));
  expect(files.map((file) => [file, modeOf(join(dev.dataDir, file))])).toEqual(files.map((file) => [file, '600']));
});

it('passes none of its environment variables to the engine', () => {
  // The shell that guards the engine sets these itself.
  const names = readFileSync(`/proc/${dev.enginePid}/environ`, 'utf8')
    .split('\0')
    .filter(Boolean)
    .map((entry) => entry.split('=')[0] as string);
  expect(names.filter((name) => !['PWD', 'OLDPWD', '_', 'SHLVL'].includes(name))).toEqual([]);
});

it('prints the admin key only if it has generated it', async () => {
  expect(dev.output).not.toContain(adminKey);
  expect(dev.output).toContain('TOLLGATE_ADMIN_KEY');
  const own = await startDev(newFolder());
  const [, printed = ''] = /Admin key: (tga_\S+)/.exec(own.output) ?? [];
  expect((await new Caller(own.url, { 'x-admin-key': printed }).ask(op.MeDocument)).me.kind).toBe('PLATFORM_ADMIN');
  own.child.kill('SIGTERM');
});

it('runs an engine that no other program of the machine can reach, or prints a warning', async () => {
  const [host, port] = ['--host', '--port'].map(
    (option) => argumentsOf(dev.enginePid)[argumentsOf(dev.enginePid).indexOf(option) + 1] ?? '',
  );
  const headers = { 'x-amz-target': 'DynamoDB_20120810.ListTables', 'content-type': 'application/x-amz-json-1.0' };
  const credential = {
    authorization:
      'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    'x-amz-date': '20260101T000000Z',
  };
  const tables = (more: Record<string, string>): Promise<string> =>
    new Promise((resolve) => {
      const call = request(
        { host: host as string, port: port as string, method: 'POST', headers: { ...headers, ...more } },
        (response) => {
          response
            .setEncoding('utf8')
            .once('data', (text: string) => resolve(text.includes('tollgate_config') ? 'open' : 'refused'));
        },
      );
      call.once('error', () => resolve('refused'));
      call.end('{}');
    });
  const expected = canIsolate ? 'refused' : 'open';
  expect(await tables({ ...credential, origin: 'https://evil.example' })).toBe(expected);
  expect(await tables(credential)).toBe(expected);
  expect(await tables({})).toBe('refused');
  expect(dev.output.includes('without credentials')).toBe(!canIsolate);
  const isIsolated = readlinkSync(`/proc/${dev.enginePid}/ns/net`) !== readlinkSync('/proc/self/ns/net');
  expect(isIsolated).toBe(canIsolate);
});

it('shares its engine by a socket that only its owner can open', () => {
  // Only root can run a process as another user. Without root, the modes are checked by the first test.
  const script = `const s = require('net').connect(process.argv[1]);
    s.on('error', (e) => { console.log(e.code); process.exit(); });
    s.on('connect', () => { console.log('open'); process.exit(); });`;
  const connectAs = (user: { readonly uid?: number }): string =>
    spawnSync(process.execPath, ['-e', script, join(dev.dataDir, 'engine.sock')], { encoding: 'utf8', ...user }).stdout;
  expect(connectAs({})).toBe('open\n');
  if (process.getuid?.() === 0) expect(connectAs({ uid: 65_534 })).toBe('EACCES\n');
});

it('works with the AWS SDK as the DynamoDB client', async () => {
  const { url, child, dataDir } = await startDev(newFolder(), { STORE_CLIENT: 'sdk', TOLLGATE_ADMIN_KEY: adminKey });
  const admin = new Caller(url, { 'x-admin-key': adminKey });
  // An id for each org, so that a call without a response on an overloaded machine is repeated and not counted twice.
  const register = async (orgId: string): Promise<string | undefined> => {
    const { errors } = await admin.send(op.RegisterOrgDocument, { input: orgInput({ orgId }) });
    const code = errors?.[0]?.extensions.code;
    if (code === 'SERVICE_UNAVAILABLE') return register(orgId);
    return code === undefined || code === 'ALREADY_EXISTS' ? orgId : code;
  };
  const orgIds = Array.from({ length: 40 }, () => randomUUID());
  expect(await Promise.all(orgIds.map(register))).toEqual(orgIds);
  child.kill('SIGTERM');
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  expect(enginesOf(dataDir)).toEqual([]);
});

it('exits if its engine ends, and leaves no engine running if it is killed', async () => {
  const victim = await startDev(newFolder());
  victim.child.kill('SIGKILL');
  for (let waitedMs = 0; enginesOf(victim.dataDir).length > 0 && waitedMs < 10_000; waitedMs += 20) await sleep(20);
  expect(enginesOf(victim.dataDir)).toEqual([]);
  const orphan = await startDev(victim.dataDir);
  execFileSync('kill', ['-9', String(orphan.enginePid)]);
  expect(await new Promise((resolve) => orphan.child.once('exit', resolve))).toBe(1);
});
