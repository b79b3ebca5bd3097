import type { Config } from './config.js';
import { StoreClient } from './dynamo/client.js';
import { sweepExpired } from './dynamo/sweep.js';
import { sdkTransport } from './dynamo/transport.js';
import { type Clock, systemClock } from './lib/clock.js';
import { createLog, type Log } from './lib/log.js';
import { Metrics } from './lib/metrics.js';
import { repeat } from './lib/timers.js';

export interface Worker {
  stop(): Promise<void>;
}

const sweepEveryMs = 10 * 60_000;

/** The background process: ticks until told to stop. */
export function startWorker(
  config: Config,
  { clock = systemClock, log = createLog(config.logLevel), metrics = new Metrics(), sweeps }: { clock?: Clock; log?: Log; metrics?: Metrics; sweeps: boolean },
): Worker {
  const store = new StoreClient(sdkTransport(config.store), config.store.tablePrefix, metrics, clock);
  const loops = sweeps
    ? [
        repeat(
          sweepEveryMs,
          async () => {
            const swept = await sweepExpired(store, clock);
            log.info({ swept }, 'expired items deleted');
          },
          (error) => log.error({ err: error }, 'expired items could not be deleted'),
        ),
      ]
    : [];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      store.close();
    },
  };
}
