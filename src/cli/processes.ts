import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { newUuid } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { sleep, within } from '../lib/timers.js';

const restartDelayMs = 1000;
/** A little longer than a gateway takes at most to stop (see gateway.ts). After it, the process is killed. */
const maxStopMs = 9900;
const maxMetricsWaitMs = 6000;

/** A process requests the metrics of all processes from the primary. */
interface MetricsRequest {
  readonly request: 'metrics';
  readonly id: string;
}
interface MetricsResponse {
  readonly id: string;
  readonly text?: string;
}

/** True if `runProcesses` of a primary process has started this process. */
export const isClusterProcess = (): boolean => cluster.isWorker;

/** Runs this command in `count` processes that share one port, restarts those that end, and stops all at `shutdown`. */
export async function runProcesses(count: number, log: Log, shutdown: Promise<unknown>): Promise<void> {
  serveClusterMetrics(log);
  let isStopping = false;
  let hasServed = false;
  cluster.on('listening', () => {
    hasServed = true;
  });
  const failed = new Promise<never>((_, reject) => {
    cluster.on('exit', ({ process: { pid } }, code, signal) => {
      if (isStopping) return;
      // If no process has ever served, the cause is not temporary, and restarts would go on for ever.
      if (!hasServed) return reject(new Error('the gateway could not start; see the error above'));
      log.error({ pid, code, signal }, 'gateway process ended; restarting it');
      void sleep(restartDelayMs).then(() => isStopping || cluster.fork());
    });
  });
  for (let i = 0; i < count; i++) cluster.fork();
  try {
    await Promise.race([shutdown, failed]);
  } finally {
    isStopping = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && stop(worker)));
  }
}

async function stop(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.process.kill('SIGTERM');
  await within(maxStopMs, exited, () => void worker.process.kill('SIGKILL'));
}

/** In the primary: responds to each process with the metrics of all of them. */
function serveClusterMetrics(log: Log): void {
  const registries = new AggregatorRegistry();
  cluster.on('message', (worker: Worker, { request, id }: Partial<MetricsRequest>) => {
    if (request !== 'metrics') return;
    registries
      .clusterMetrics()
      .catch((error: unknown) => void log.warn({ err: error }, 'failed to collect the metrics of the processes'))
      // The process that sent the request may have ended.
      .then((text) => worker.isConnected() && worker.send({ id, text }, () => undefined));
  });
}

/** In a process of several: reads the metrics of all processes, because a scrape reaches any one of them. */
export function clusterMetrics(own: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries([own]);
  // Its constructor installs the listener that sends the metrics of this process to the primary.
  new AggregatorRegistry();
  return async () => {
    const id = newUuid();
    let listen: (response: Partial<MetricsResponse>) => void = () => undefined;
    const all = new Promise<string | undefined>((resolve) => {
      listen = (response) => {
        if (response?.id === id) resolve(response.text);
      };
      process.on('message', listen);
      process.send?.({ request: 'metrics', id } satisfies MetricsRequest);
    });
    const text = await within(maxMetricsWaitMs, all, () => undefined);
    process.off('message', listen);
    // While a process starts or ends, the primary cannot collect all metrics. Then this process returns only its own.
    return text ?? own.metrics();
  };
}
