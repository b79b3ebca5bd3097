import { AlertFeed } from '../alerts/alert.feed.js';
import { AlertService } from '../alerts/alert.service.js';
import { AlertStore } from '../alerts/alert.store.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { newUuid, randomFraction } from '../lib/id.js';
import { AppStore } from '../orgs/app.store.js';
import { OrgStore } from '../orgs/org.store.js';
import { BreakdownService } from '../spend/breakdown/breakdown.service.js';
import { DimensionStore } from '../spend/breakdown/dimension.store.js';
import { DimensionDayService } from '../spend/breakdown/dimension-day.service.js';
import { DimensionValueService } from '../spend/breakdown/dimension-value.service.js';
import { DimensionValueStore } from '../spend/breakdown/dimension-value.store.js';
import { PriceStore } from '../spend/catalog/price.store.js';
import { PriceRefreshService } from '../spend/catalog/price-refresh.service.js';
import { ExactService } from '../spend/exact.service.js';
import { HeldStore } from '../spend/held/held.store.js';
import { HeldSweepService } from '../spend/held/held-sweep.service.js';
import { LabelStore } from '../spend/label.store.js';
import { DirtyDayStore } from '../spend/ledger/dirty-day.store.js';
import { OrgDayService } from '../spend/org-day.service.js';
import { SelectionService } from '../spend/selection.service.js';
import { ShardStore } from '../spend/shard.store.js';
import { SliceStore } from '../spend/slice.store.js';
import { SpendRollup } from '../spend/spend.rollup.js';
import { SpendService } from '../spend/spend.service.js';
import { StickyStore } from '../spend/sticky.store.js';
import { TotalService } from '../spend/total.service.js';
import { TotalStore } from '../spend/total.store.js';
import type { Base } from './base.js';
import { buildBudgetRollup, buildBudgets } from './budgets.js';
import { buildCatalog, buildWorkerSync } from './catalog.js';
import { buildHeld } from './held.js';
import type { Identity } from './identity.js';

const maxShards = 64;

/** Costs, totals, prices, model selection and alerts, for a gateway. */
export function buildSpend(base: Base, identity: Identity, scheduler: EventLoopScheduler) {
  const { config, clock, log, metrics, store } = base;
  const { audit, appStore } = identity;
  const { retention } = config;
  const models = buildCatalog(base, identity);
  const { prices } = models;
  const homeShard = Math.floor(randomFraction() * maxShards);
  const values = new DimensionValueStore(store);
  const dimensionValues = new DimensionValueService(values, clock, retention.shardDays);
  const dimensions = new DimensionStore(store, retention.totalDays);
  const labelStore = new LabelStore(store);
  const slices = new SliceStore(store);
  const totals = new TotalService({ totals: new TotalStore(store, retention.totalDays), slices, clock });
  const reads = { shards: new ShardStore(store), totals, labels: labelStore, slices, apps: appStore };
  const dirtyDays = new DirtyDayStore(store);
  const exact = new ExactService({ ...reads, dirtyDays, clock, shardDays: retention.shardDays });
  const alertStore = new AlertStore(store);
  const alerts = newAlerts(base, alertStore);
  const stickyStore = new StickyStore(store);
  const budgeting = buildBudgets(base, identity, alerts);
  const { budgets, budgetSums } = budgeting;
  const money = buildHeld(base, identity, { budgets, budgetSums, homeShard, scheduler });
  const { costStore: costs, holds } = money;
  return {
    ...budgeting,
    ...models,
    ...money,
    spend: new SpendService({ costs, labels: labelStore, totals, exact, prices, dimensionValues, holds, clock }),
    breakdowns: new BreakdownService({ totals, dimensions, values, apps: appStore, clock }),
    selection: new SelectionService({ stickies: stickyStore, prices, budgets, alerts, audit, clock, metrics, log }),
    labelStore,
    totals,
    stickyStore,
    alertStore,
    alertFeed: new AlertFeed(alertStore, clock, log),
  };
}

/** The worker's part: sums costs into totals, and refreshes prices if a price source is configured. */
export function buildSpendRollups(base: Base) {
  const { config, clock, log, metrics, store, catalog } = base;
  const { retention, aggregation, priceSource } = config;
  const sync = buildWorkerSync(base);
  const alerts = newAlerts(base, new AlertStore(store));
  const orgs = new OrgStore(store);
  const shards = new ShardStore(store);
  const totals = new TotalStore(store, retention.totalDays);
  const sweeps = new HeldSweepService({ held: new HeldStore(store, clock, retention.shardDays), log, metrics });
  const apps = new AppStore(store);
  const orgDays = new OrgDayService({ shards, totals, apps, alerts, sweeps, catalog, clock, metrics });
  const dimensionDays = new DimensionDayService(new DimensionStore(store, retention.totalDays), clock);
  const spend = new SpendRollup({
    shards,
    slices: new SliceStore(store),
    dirtyDays: new DirtyDayStore(store),
    orgDays,
    sweeps,
    dimensions: dimensionDays,
    orgs,
    budgets: buildBudgetRollup(base, alerts),
    catalog: sync,
    clock,
    log,
    metrics,
    worker: newUuid(),
    claimMs: aggregation.intervalSecs * 1500,
    shardDays: retention.shardDays,
  });
  if (!priceSource) return { spend, orgDays, dimensionDays };
  const priceStore = new PriceStore(store, retention.priceDays);
  const deps = { store: priceStore, catalog, sync, source: priceSource, clock, log, metrics };
  const prices = new PriceRefreshService(deps);
  return { spend, orgDays, dimensionDays, prices };
}

const newAlerts = ({ clock, metrics, log, config }: Base, store: AlertStore): AlertService =>
  new AlertService({ store, clock, metrics, log, retentionDays: config.retention.alertDays });
