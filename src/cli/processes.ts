import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { newUuid } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { sleep, within } from '../lib/timers.js';

const restartMs = 1000;
/** A little more than a process takes at the most to end by itself. */
const endMs = 9900;
const answerMs = 6000;

/** What the processes of one command ask of the first of them. */
interface Question {
  readonly ask: 'metrics';
  readonly id: string;
}
interface Reply {
  readonly id: string;
  readonly text?: string;
}

/** Whether this process was started by `runProcesses` of another. */
export const isOneOfMany = (): boolean => cluster.isWorker;

/** Runs this very command `count` times on one port, starts again what ends, and ends them all when told to. */
export async function runProcesses(count: number, log: Log, told: Promise<unknown>): Promise<void> {
  const registries = new AggregatorRegistry();
  cluster.on('message', (worker: Worker, { ask, id }: Partial<Question>) => {
    if (ask !== 'metrics') return;
    registries
      .clusterMetrics()
      .catch((error: unknown) => void log.warn({ err: error }, 'the metrics of the processes could not be had'))
      // Whoever asked may be gone by now.
      .then((text) => worker.isConnected() && worker.send({ id, text }, () => undefined));
  });
  let isStopping = false;
  let hasServed = false;
  cluster.on('listening', () => {
    hasServed = true;
  });
  const failed = new Promise<never>((_, reject) => {
    cluster.on('exit', ({ process: { pid } }, code, signal) => {
      if (isStopping) return;
      // Where none has ever served, none will: they would be started for ever.
      if (!hasServed) return reject(new Error('the gateway could not start: it says why above'));
      log.error({ pid, code, signal }, 'a process of the gateway has ended; another takes its place');
      void sleep(restartMs).then(() => isStopping || cluster.fork());
    });
  });
  for (let i = 0; i < count; i++) cluster.fork();
  try {
    await Promise.race([told, failed]);
  } finally {
    isStopping = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && end(worker)));
  }
}

async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.process.kill('SIGTERM');
  await within(endMs, gone, () => void worker.process.kill('SIGKILL'));
}

/** The metrics of all processes on this port: whichever of them is asked speaks for all. */
export function pooledMetrics(own: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries([own]);
  // Answers when the first process asks for ours.
  new AggregatorRegistry();
  return async () => {
    const id = newUuid();
    let listen: (reply: Partial<Reply>) => void = () => undefined;
    const all = new Promise<string | undefined>((resolve) => {
      listen = (reply) => {
        if (reply?.id === id) resolve(reply.text);
      };
      process.on('message', listen);
      process.send?.({ ask: 'metrics', id } satisfies Question);
    });
    const text = await within(answerMs, all, () => undefined);
    process.off('message', listen);
    // One that starts or ends just now does not answer: then each tells only its own.
    return text ?? own.metrics();
  };
}
