import { buildBackground, type Overrides } from './app.js';
import type { Config } from './config.js';
import { repeat, within } from './lib/timers.js';

export interface Worker {
  stop(): Promise<void>;
}

export interface WorkerOptions extends Overrides {
  /** Whether expired items are this worker's to delete: on the embedded engine, which never does. */
  readonly sweeps: boolean;
}

const sweepEveryMs = 10 * 60_000;
/** How often to check whether the day's tidying has been done. */
const tidyEveryMs = 10 * 60_000;
const purgeEveryMs = 60_000;
// The next round, of whichever worker, makes up for one that was cut off.
const stopMs = 9000;
/** How often to check whether the price list of this hour has been fetched. */
const pricesEveryMs = 5 * 60_000;

/** The background process: ticks until told to stop. */
export function startWorker(config: Config, { sweeps, ...overrides }: WorkerOptions): Worker {
  const background = buildBackground(config, overrides);
  const { log, spend, limits, devices, prices } = background;
  const { intervalSecs, nearIntervalSecs } = config.aggregation;
  const every = (ms: number, name: string, task: () => Promise<unknown>) =>
    repeat(
      ms,
      async () => log.debug({ result: await task() }, name),
      (error) => log.error({ err: error }, `${name} failed`),
    );
  const loops = [
    every(intervalSecs * 1000, 'summing the day', () => spend.sumAll()),
    ...(nearIntervalSecs < intervalSecs
      ? [every(nearIntervalSecs * 1000, 'summing what is near its quota', () => spend.sumNear())]
      : []),
    ...(prices ? [every(pricesEveryMs, 'refreshing prices', () => prices.refresh())] : []),
    every(tidyEveryMs, 'tidying buckets', () => limits.tidyBuckets()),
    every(purgeEveryMs, 'deleting purged namespaces', () => limits.purge()),
    every(purgeEveryMs, 'deleting readings of deleted devices', () => devices.purge()),
    ...(sweeps ? [every(sweepEveryMs, 'deleting expired items', () => background.sweep())] : []),
  ];
  // A worker that was away has something to do at once.
  const first = Promise.all([
    spend.sumAll().catch((error: unknown) => log.error({ err: error }, 'summing the day failed')),
    prices?.refresh().catch((error: unknown) => log.error({ err: error }, 'refreshing prices failed')),
    limits.tidyBuckets().catch((error: unknown) => log.error({ err: error }, 'tidying buckets failed')),
  ]);
  return {
    async stop() {
      const rounds = Promise.all([first, ...loops.map((loop) => loop.stop())]).then(() => undefined);
      await within(stopMs, rounds, () => undefined);
      background.close();
    },
  };
}
