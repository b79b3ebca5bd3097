import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { newUuid } from './id.js';
import type { Log } from './log.js';
import { sleep } from './timers.js';

const restartMs = 1000;

/** What the processes of one command ask of the first of them. */
interface Question {
  readonly ask: 'metrics';
  readonly id: string;
}
interface Reply {
  readonly id: string;
  readonly text: string;
}

/** Whether this process was started by `runProcesses` of another. */
export const isOneOfMany = (): boolean => cluster.isWorker;

/** Runs this very command `count` times on one port, starts again what ends, and ends them all when told to. */
export async function runProcesses(count: number, log: Log, told: Promise<unknown>): Promise<void> {
  const registries = new AggregatorRegistry();
  cluster.on('message', (worker: Worker, { ask, id }: Partial<Question>) => {
    if (ask !== 'metrics') return;
    registries.clusterMetrics().then(
      (text) => worker.send({ id, text }),
      (error: unknown) => log.warn({ err: error }, 'the metrics of the processes could not be had'),
    );
  });
  let isStopping = false;
  const failed = new Promise<never>((_, reject) => {
    cluster.on('exit', ({ process: { pid } }, code, signal) => {
      if (isStopping) return;
      // One that cannot even start would be started for ever.
      if (code === 1) reject(new Error('a process of the gateway could not go on: it says why above'));
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

function end(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}

/** The metrics of all processes on this port: whichever of them is asked speaks for all. */
export function pooledMetrics(own: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => own.metrics();
  AggregatorRegistry.setRegistries([own]);
  // Answers when the first process asks for ours.
  new AggregatorRegistry();
  return () =>
    new Promise((resolve) => {
      const id = newUuid();
      const listen = (reply: Partial<Reply>) => {
        if (reply?.id !== id) return;
        process.off('message', listen);
        resolve(reply.text ?? '');
      };
      process.on('message', listen);
      process.send?.({ ask: 'metrics', id } satisfies Question);
    });
}
