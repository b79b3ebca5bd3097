// The composition root. Begin reading here: a gateway is built of the parts base, identity, spend, ledger, limits and
// devices, and a worker of base and one rollup per feature. Each part is built in its file of `build/`, from its stores
// up to its services. No object is built anywhere else, and nothing is built at import time. Then read gateway.ts and
// worker.ts, which start and stop what is built.
import { buildAdmission } from './build/admission.js';
import { type Base, buildBase, type Overrides } from './build/base.js';
import { buildDeviceRollup, buildDevices } from './build/devices.js';
import { buildIdentity, type Identity } from './build/identity.js';
import { buildLedger } from './build/ledger.js';
import { buildLimiterHousekeeping, buildLimits } from './build/limits.js';
import { buildSpend, buildSpendRollups } from './build/spend.js';
import type { Config } from './config.js';
import type { DeviceRollup } from './devices/device.rollup.js';
import { sweepExpired } from './dynamo/sweep.js';
import { EventLoopScheduler } from './lib/event-loop-scheduler.js';
import type { Log } from './lib/log.js';
import { RootKeys, Sealer } from './lib/seal.js';
import type { LimiterHousekeeping } from './limits/usage/housekeeping.rollup.js';
import type { DimensionDayService } from './spend/breakdown/dimension-day.service.js';
import type { LiveCatalog } from './spend/catalog/catalog.js';
import type { PriceRefreshService } from './spend/catalog/price-refresh.service.js';
import type { OrgDayService } from './spend/org-day.service.js';
import type { SpendRollup } from './spend/spend.rollup.js';

export type { Overrides } from './build/base.js';

/** Everything that a gateway is built of. */
export interface Services
  extends Base,
    Identity,
    ReturnType<typeof buildSpend>,
    ReturnType<typeof buildLedger>,
    ReturnType<typeof buildLimits>,
    ReturnType<typeof buildAdmission>,
    ReturnType<typeof buildDevices> {
  readonly scheduler: EventLoopScheduler;
  /** Seals cursors, so that a caller cannot forge one. */
  readonly cursors: Sealer;
}

/** Builds the services of a gateway. Starts nothing: `startGateway` does. */
export async function buildServices(config: Config, overrides: Overrides = {}): Promise<Services> {
  const scheduler = new EventLoopScheduler(overrides.clock);
  const base = buildBase(config, overrides, scheduler);
  const identity = await buildIdentity(base);
  const spend = buildSpend(base, identity, scheduler);
  const limits = buildLimits(base, identity, scheduler);
  return {
    ...base,
    scheduler,
    cursors: new Sealer(new RootKeys(config.rootSecrets, 'cursors')),
    ...identity,
    ...spend,
    ...buildLedger(base, identity),
    ...limits,
    ...buildAdmission(base, spend, limits),
    ...buildDevices(base, identity),
  };
}

/** Everything that a worker is built of: one rollup per feature. */
export interface Background {
  readonly log: Log;
  readonly catalog: LiveCatalog;
  readonly spend: SpendRollup;
  /** Sum single days, for the history of `tollgate seed`. */
  readonly orgDays: OrgDayService;
  readonly dimensionDays: DimensionDayService;
  readonly limits: LimiterHousekeeping;
  readonly devices: DeviceRollup;
  /** Absent if no price source is configured. */
  readonly prices?: PriceRefreshService;
  /** Deletes expired items, for engines without TTL. Returns how many. */
  sweep(): Promise<number>;
  close(): void;
}

/** Builds the rollups of a worker. Starts nothing: `startWorker` does. */
export function buildBackground(config: Config, overrides: Overrides = {}): Background {
  const base = buildBase(config, overrides);
  const { log, store, clock, catalog } = base;
  return {
    log,
    catalog,
    ...buildSpendRollups(base),
    limits: buildLimiterHousekeeping(base),
    devices: buildDeviceRollup(base),
    sweep: () => sweepExpired(store, clock),
    close: () => store.close(),
  };
}
