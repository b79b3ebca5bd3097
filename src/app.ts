import { type Base, buildBase, type Overrides } from './build/base.js';
import { buildDeviceRollup, buildDevices } from './build/devices.js';
import { buildIdentity, type Identity } from './build/identity.js';
import { buildLimiterHousekeeping, buildLimits } from './build/limits.js';
import { buildSpend, buildSpendRollups } from './build/spend.js';
import type { Config } from './config.js';
import type { DeviceRollup } from './devices/device.rollup.js';
import { sweepExpired } from './dynamo/sweep.js';
import { EventLoopScheduler } from './lib/event-loop-scheduler.js';
import type { Log } from './lib/log.js';
import { RootKeys, Sealer } from './lib/seal.js';
import type { LimiterHousekeeping } from './limits/usage/housekeeping.rollup.js';
import type { PriceRollup } from './spend/price.rollup.js';
import type { SpendRollup } from './spend/spend.rollup.js';

export type { Overrides } from './build/base.js';

/**
 * Everything a gateway is built of. Start reading here: each part is built in `build/`, from its stores up, and nothing is
 * built anywhere else.
 */
export interface Services
  extends Base,
    Identity,
    ReturnType<typeof buildSpend>,
    ReturnType<typeof buildLimits>,
    ReturnType<typeof buildDevices> {
  readonly scheduler: EventLoopScheduler;
  /** Seals cursors, so that no caller can make one. */
  readonly cursors: Sealer;
}

export async function buildServices(config: Config, overrides: Overrides = {}): Promise<Services> {
  const scheduler = new EventLoopScheduler(overrides.clock);
  const base = buildBase(config, overrides, scheduler);
  const identity = await buildIdentity(base);
  return {
    ...base,
    scheduler,
    cursors: new Sealer(new RootKeys(config.rootSecrets, 'cursors')),
    ...identity,
    ...buildSpend(base, identity, scheduler),
    ...buildLimits(base, identity, scheduler),
    ...buildDevices(base, identity),
  };
}

/** What the worker does, one method per task. */
export interface Background {
  readonly log: Log;
  readonly spend: SpendRollup;
  readonly limits: LimiterHousekeeping;
  readonly devices: DeviceRollup;
  /** Absent if no price source is configured. */
  readonly prices?: PriceRollup;
  /** Deletes expired items, for engines without TTL. Returns how many. */
  sweep(): Promise<number>;
  close(): void;
}

export function buildBackground(config: Config, overrides: Overrides = {}): Background {
  const base = buildBase(config, overrides);
  const { log, store, clock } = base;
  return {
    log,
    ...buildSpendRollups(base),
    limits: buildLimiterHousekeeping(base),
    devices: buildDeviceRollup(base),
    sweep: () => sweepExpired(store, clock),
    close: () => store.close(),
  };
}
