import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { newUuid } from '../lib/id.js';
import { RootKeys, Sealer } from '../lib/seal.js';
import { AcquireOnceService } from '../limits/acquire-once.service.js';
import { BucketRegistry } from '../limits/buckets/bucket.registry.js';
import { BucketStore } from '../limits/buckets/bucket.store.js';
import { EntityService } from '../limits/entities/entity.service.js';
import { EntityStore } from '../limits/entities/entity.store.js';
import { NamespaceService } from '../limits/entities/namespace.service.js';
import { NamespaceStore } from '../limits/entities/namespace.store.js';
import { GrantService } from '../limits/grant.service.js';
import { LeaseService } from '../limits/lease.service.js';
import { LeaseStore } from '../limits/lease.store.js';
import { LimitConfigService } from '../limits/levels/limit-config.service.js';
import { LimitConfigStore } from '../limits/levels/limit-config.store.js';
import { ResolutionService } from '../limits/levels/resolution.service.js';
import { ResolutionStore } from '../limits/levels/resolution.store.js';
import { LimitService } from '../limits/limit.service.js';
import { LimiterItems } from '../limits/limiter-items.store.js';
import { TakeService } from '../limits/take.service.js';
import { TopUpService } from '../limits/top-up.service.js';
import { LimiterHousekeeping } from '../limits/usage/housekeeping.rollup.js';
import { RefusalService } from '../limits/usage/refusal.service.js';
import { RefusalStore } from '../limits/usage/refusal.store.js';
import { ReportService } from '../limits/usage/report.service.js';
import { TaskStore } from '../limits/usage/task.store.js';
import { UsageService } from '../limits/usage/usage.service.js';
import { UsageStore } from '../limits/usage/usage.store.js';
import type { Base } from './base.js';
import type { Identity } from './identity.js';

/** Buckets, leases, levels, entities and usage, for a gateway. */
export function buildLimits(base: Base, identity: Identity, scheduler: EventLoopScheduler) {
  const { config, clock, log, metrics, store } = base;
  const { audit, changes, tenants } = identity;
  const { usageDays } = config.retention;
  const items = new LimiterItems(store);
  const namespaces = new NamespaceService({ store: new NamespaceStore(store), orgs: tenants, changes, audit, clock });
  const resolution = new ResolutionService({ store: new ResolutionStore(items), changes, orgs: tenants, clock });
  const bucketStore = new BucketStore(store, clock, usageDays, items);
  const buckets = newRegistry(base, bucketStore, scheduler);
  const takes = new TakeService({ buckets, resolution });
  const refusals = new RefusalService({ store: new RefusalStore(store, clock, usageDays), clock, log, metrics });
  const leases = new LeaseStore(store);
  const sealer = new Sealer(new RootKeys(config.rootSecrets, 'leases'));
  const entities = new EntityStore(store);
  const configs = new LimitConfigStore(store);
  const grants = new GrantService({ refusals, sealer });
  const once = new AcquireOnceService({ buckets, leases, takes, grants, clock });
  const entityDeps = { configs, registry: buckets, namespaces, changes, audit, clock, usageDays };
  return {
    namespaces,
    resolution,
    buckets,
    refusals,
    limits: new LimitService({ buckets, takes, once, grants, namespaces, resolution, clock, metrics }),
    leases: new LeaseService({ buckets, leases, namespaces, sealer, clock }),
    topUps: new TopUpService({ buckets, leases, namespaces, audit, clock }),
    limitConfigs: new LimitConfigService({ store: configs, namespaces, changes, buckets: takes, audit, log }),
    entities: new EntityService({ ...entityDeps, store: entities, buckets: bucketStore }),
    reports: new ReportService({ buckets: bucketStore, registry: buckets, entities, namespaces, clock }),
    usage: new UsageService({ buckets: bucketStore, usage: new UsageStore(store, clock), entities, namespaces, clock }),
  };
}

function newRegistry({ config, clock, log }: Base, store: BucketStore, scheduler: EventLoopScheduler): BucketRegistry {
  return new BucketRegistry(store, clock, {
    maxWaiting: config.submissionsWaiting,
    scheduler,
    log,
    // Shorter than the timeout of an operation, so that its caller still gets the response that nothing was taken.
    deadlineMs: config.operationTimeoutMs * 0.7,
  });
}

/** The worker's part: books the hours of idle buckets and deletes purged namespaces. */
export function buildLimiterHousekeeping({ config, clock, log, store }: Base): LimiterHousekeeping {
  const buckets = new BucketStore(store, clock, config.retention.usageDays);
  return new LimiterHousekeeping({
    buckets,
    registry: new BucketRegistry(buckets, clock, { maxWaiting: 0, log }),
    namespaces: new NamespaceStore(store),
    tasks: new TaskStore(store, newUuid()),
    clock,
    log,
  });
}
