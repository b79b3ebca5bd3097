import type { Config } from '../config.js';
import { StoreClient } from '../dynamo/client.js';
import { leanTransport } from '../dynamo/lean-transport.js';
import { pacedTransport } from '../dynamo/paced-transport.js';
import { sdkTransport } from '../dynamo/transport.js';
import { type Clock, systemClock } from '../lib/clock.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { createLog, type Log } from '../lib/log.js';
import { Metrics } from '../lib/metrics.js';
import { LiveCatalog } from '../spend/catalog/catalog.js';

/** The dependencies of every part. */
export interface Base {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: StoreClient;
  /** The models. Empty until the process has loaded them. */
  readonly catalog: LiveCatalog;
}

/** Replace the defaults in tests, and in commands that run gateway and worker in one process. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Log;
  readonly metrics?: Metrics;
}

/**
 * `scheduler`: only for a process that serves callers, because DynamoDB responses must not delay new requests there.
 */
export function buildBase(config: Config, overrides: Overrides, scheduler?: EventLoopScheduler): Base {
  const { clock = systemClock, log = createLog(config.logLevel), metrics = new Metrics() } = overrides;
  const { store: settings } = config;
  // Calls are signed with the time of the machine, not of `clock`, because DynamoDB compares it with its own.
  const transport = settings.client === 'sdk' ? sdkTransport(settings) : leanTransport(settings, systemClock);
  const paced = scheduler ? pacedTransport(transport, scheduler) : transport;
  const store = new StoreClient(paced, settings.tablePrefix, metrics, clock);
  return { config, clock, log, metrics, store, catalog: new LiveCatalog() };
}
