import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../src/config.js';
import { adminKey, Caller } from '../support/app.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const skewedClock = new URL('../support/skewed-clock.mjs', import.meta.url).href;
const running = new Set<ChildProcess>();

export interface ProcessOptions {
  /** How far its clock is ahead; negative: behind. `moveClock` can change it, if it is given. */
  readonly skewMs?: number;
  /** Receives its stdout and stderr. */
  readonly onOutput?: (text: string) => void;
  /** Arguments after the command. */
  readonly args?: readonly string[];
}

/** Kills all processes that are still running, because a failed test leaves them behind. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

const maxStarts = 10;

/**
 * Starts a process again, like a supervisor, if it ends because DynamoDB did not respond in time on a starved machine.
 */
async function start(...options: Parameters<typeof startOnce>): ReturnType<typeof startOnce> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(...options);
    } catch (error) {
      if (attempt === maxStarts || !/did not respond/.test((error as Error).message)) throw error;
    }
  }
}

/** Starts the compiled program on the tables of `config`. `endpoint`: the engine, or a proxy in front of it. */
async function startOnce(
  command: string,
  config: Config,
  endpoint: string,
  ready: string,
  { skewMs, onOutput = () => undefined, args = [] }: ProcessOptions = {},
): Promise<{ readonly child: ChildProcess; readonly line: string }> {
  const child = spawn('node', [...(skewMs === undefined ? [] : ['--import', skewedClock]), main, command, ...args], {
    cwd: tmpdir(),
    stdio: ['pipe', 'pipe', 'pipe', ...(skewMs === undefined ? [] : (['ipc'] as const))],
    env: {
      PATH: process.env.PATH ?? '',
      SKEW_MS: String(skewMs ?? 0),
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(config.port),
      LOG_LEVEL: 'info',
      BCRYPT_COST: '4',
      AGGREGATION_INTERVAL_SECS: '1',
      AWS_REGION: config.store.region ?? '',
      DYNAMODB_ENDPOINT: endpoint,
      TABLE_PREFIX: config.store.tablePrefix,
      TOLLGATE_ADMIN_KEY: adminKey,
      API_KEY_PEPPER: config.rootSecrets[0],
      TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: config.signingKeys }),
    },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  let isReady = false;
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code}: ${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        onOutput(chunk.toString());
        if (isReady) return;
        output += chunk.toString();
        isReady = output.includes(ready);
        if (isReady) resolve();
      });
    }
  });
  return { child, line: output.split('\n').find((text) => text.includes(ready)) ?? '' };
}

export interface GatewayProcess {
  readonly child: ChildProcess;
  readonly admin: Caller;
  readonly origin: string;
}

export async function startGatewayProcess(
  config: Config,
  endpoint: string,
  options: ProcessOptions = {},
): Promise<GatewayProcess> {
  const { child, line } = await start('gateway', config, endpoint, 'gateway is serving', options);
  const { url } = JSON.parse(line) as { url: string };
  return { child, admin: new Caller(url, { 'x-admin-key': adminKey }), origin: new URL(url).origin };
}

export const startWorkerProcess = async (
  config: Config,
  endpoint: string,
  options: ProcessOptions = {},
): Promise<ChildProcess> => (await start('worker', config, endpoint, 'worker is running', options)).child;

/** Moves the clock of a running process. */
export function moveClock(child: ChildProcess, skewMs: number): void {
  if (child.connected) child.send({ skewMs });
}

/** Resolves to the exit code, or to the signal that ended the process. */
export const ended = (child: ChildProcess): Promise<number | string | null> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode ?? child.signalCode);
    else child.once('exit', (code, signal) => resolve(code ?? signal));
  });
