import { type Background, buildBackground, type Overrides } from './app.js';
import type { Config } from './config.js';
import { repeat, within } from './lib/timers.js';

export interface Worker {
  /** Finishes the running tasks. Takes at most 9 s. */
  stop(): Promise<void>;
}

export interface WorkerOptions extends Overrides {
  /** True on the embedded engine, which has no TTL: this worker deletes the expired items. */
  readonly sweeps: boolean;
}

interface WorkerTask {
  readonly name: string;
  readonly everyMs: number;
  /** Runs once at the start as well, because work may have accumulated while no worker was running. */
  readonly atStart?: boolean;
  run(): Promise<unknown>;
}

const sweepEveryMs = 10 * 60_000;
/** How often to check if the daily tidying of the buckets is done. */
const tidyEveryMs = 10 * 60_000;
const purgeEveryMs = 60_000;
/** How often to check if the price list of this hour was fetched. */
const pricesEveryMs = 5 * 60_000;
/** After this time a task is cut off. Tasks are idempotent, so the next round of any worker completes it. */
const maxStopMs = 9000;

/** Starts the background process: runs every task at its interval until it is stopped. */
export function startWorker(config: Config, { sweeps, ...overrides }: WorkerOptions): Worker {
  const background = buildBackground(config, overrides);
  const { log } = background;
  const tasks = tasksOf(background, config.aggregation, sweeps);
  const run = async ({ name, run: task }: WorkerTask): Promise<void> =>
    log.debug({ task: name, result: await task() }, 'worker task done');
  const fail =
    ({ name }: WorkerTask) =>
    (error: unknown): void =>
      log.error({ err: error, task: name }, 'worker task failed');
  const loops = tasks.map((task) => repeat(task.everyMs, () => run(task), fail(task)));
  const first = tasks.filter(({ atStart }) => atStart).map((task) => run(task).catch(fail(task)));
  return {
    async stop() {
      const running = Promise.all([...first, ...loops.map((loop) => loop.stop())]).then(() => undefined);
      await within(maxStopMs, running, () => undefined);
      background.close();
    },
  };
}

function tasksOf(background: Background, aggregation: Config['aggregation'], sweeps: boolean): WorkerTask[] {
  const { spend, limits, devices, prices } = background;
  const [everyMs, nearEveryMs] = [aggregation.intervalSecs * 1000, aggregation.nearIntervalSecs * 1000];
  return [
    { name: 'sum the costs of the day', everyMs, atStart: true, run: () => spend.sumAll() },
    ...(nearEveryMs < everyMs
      ? [{ name: 'sum costs near their quota', everyMs: nearEveryMs, run: () => spend.sumNear() }]
      : []),
    ...(prices ? [{ name: 'refresh prices', everyMs: pricesEveryMs, atStart: true, run: () => prices.refresh() }] : []),
    { name: 'tidy buckets', everyMs: tidyEveryMs, atStart: true, run: () => limits.tidyBuckets() },
    { name: 'delete purged namespaces', everyMs: purgeEveryMs, run: () => limits.purge() },
    { name: 'delete readings of deleted devices', everyMs: purgeEveryMs, run: () => devices.purge() },
    ...(sweeps ? [{ name: 'delete expired items', everyMs: sweepEveryMs, run: () => background.sweep() }] : []),
  ];
}
