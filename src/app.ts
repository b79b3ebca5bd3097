import { availableParallelism } from 'node:os';
import { AlertFeed } from './alerts/alert.feed.js';
import { AlertService } from './alerts/alert.service.js';
import { AlertStore } from './alerts/alert.store.js';
import { AuditService } from './audit/audit.service.js';
import { AuditStore } from './audit/audit.store.js';
import type { Config } from './config.js';
import { DeletionStore } from './devices/deletion.store.js';
import { DeviceRollup } from './devices/device.rollup.js';
import { DeviceService } from './devices/device.service.js';
import { DeviceStore } from './devices/device.store.js';
import { IngestService } from './devices/ingest.service.js';
import { ReadingFeed } from './devices/reading.feed.js';
import { ReadingStore } from './devices/reading.store.js';
import { SeriesService } from './devices/series.service.js';
import { StoreClient } from './dynamo/client.js';
import { leanTransport } from './dynamo/lean-transport.js';
import { sweepExpired } from './dynamo/sweep.js';
import { sdkTransport } from './dynamo/transport.js';
import { ApiKeyService } from './identity/api-key.service.js';
import { ApiKeyStore } from './identity/api-key.store.js';
import { ChangeService } from './identity/change.service.js';
import { ClientService } from './identity/client.service.js';
import { ClientStore } from './identity/client.store.js';
import { CredentialService } from './identity/credential.service.js';
import { CredentialStore } from './identity/credential.store.js';
import { LoginService } from './identity/login.service.js';
import { RevocationFeed } from './identity/revocation.feed.js';
import { RevocationStore } from './identity/revocation.store.js';
import { SessionService } from './identity/session.service.js';
import { SessionStore } from './identity/session.store.js';
import type { Tenants } from './identity/tenants.js';
import { importTokenKeys, type TokenKeys } from './identity/token.js';
import { type Clock, systemClock } from './lib/clock.js';
import { unavailable } from './lib/errors.js';
import { newUuid, randomFraction } from './lib/id.js';
import { createLog, type Log } from './lib/log.js';
import { Metrics } from './lib/metrics.js';
import { Pace } from './lib/pace.js';
import { PendingWrites } from './lib/pending-writes.js';
import { RootKeys, Sealer, TokenMint } from './lib/seal.js';
import { Semaphore } from './lib/semaphore.js';
import { Throttle } from './lib/throttle.js';
import { BucketRegistry } from './limits/buckets/bucket.registry.js';
import { BucketStore } from './limits/buckets/bucket.store.js';
import { EntityService } from './limits/entities/entity.service.js';
import { EntityStore } from './limits/entities/entity.store.js';
import { NamespaceService } from './limits/entities/namespace.service.js';
import { NamespaceStore } from './limits/entities/namespace.store.js';
import { LeaseService } from './limits/lease.service.js';
import { LeaseStore } from './limits/lease.store.js';
import { LimitConfigService } from './limits/levels/limit-config.service.js';
import { LimitConfigStore } from './limits/levels/limit-config.store.js';
import { ResolutionService } from './limits/levels/resolution.service.js';
import { ResolutionStore } from './limits/levels/resolution.store.js';
import { LimitService } from './limits/limit.service.js';
import { TakeService } from './limits/take.service.js';
import { TopUpService } from './limits/top-up.service.js';
import { LimitRollup } from './limits/usage/limit.rollup.js';
import { RefusalService } from './limits/usage/refusal.service.js';
import { RefusalStore } from './limits/usage/refusal.store.js';
import { ReportService } from './limits/usage/report.service.js';
import { TaskStore } from './limits/usage/task.store.js';
import { UsageService } from './limits/usage/usage.service.js';
import { UsageStore } from './limits/usage/usage.store.js';
import { LifecycleService } from './orgs/lifecycle.service.js';
import { LifecycleStore } from './orgs/lifecycle.store.js';
import { OrgService } from './orgs/org.service.js';
import { OrgStore } from './orgs/org.store.js';
import { ExactService } from './spend/exact.service.js';
import { LabelStore } from './spend/label.store.js';
import { LabelCheckService } from './spend/label-check.service.js';
import { OrgDayService } from './spend/org-day.service.js';
import type { Catalog } from './spend/price.js';
import { PriceRollup } from './spend/price.rollup.js';
import { PriceService } from './spend/price.service.js';
import { PriceStore } from './spend/price.store.js';
import { SelectionService } from './spend/selection.service.js';
import { SliceStore } from './spend/slice.store.js';
import { SpendRollup } from './spend/spend.rollup.js';
import { SpendService } from './spend/spend.service.js';
import { SpendStore } from './spend/spend.store.js';
import { StickyStore } from './spend/sticky.store.js';
import { TotalService } from './spend/total.service.js';
import { TotalStore } from './spend/total.store.js';

/** What a process is built of; each is made here and nowhere else. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: StoreClient;
  readonly pace: Pace;
  readonly cursors: Sealer;
  /** Writes that no caller waits for. */
  readonly pendingWrites: PendingWrites;
  readonly catalog: Catalog;
  readonly tokenKeys: TokenKeys;
  /** Wrong credentials by address. */
  readonly guesses: Throttle;
  readonly revocationFeed: RevocationFeed;
  readonly sessions: SessionService;
  readonly credentials: CredentialService;
  readonly logins: LoginService;
  readonly clients: ClientService;
  readonly clientStore: ClientStore;
  readonly orgs: OrgService;
  readonly lifecycle: LifecycleService;
  readonly orgStore: OrgStore;
  readonly prices: PriceService;
  readonly spend: SpendService;
  readonly selection: SelectionService;
  readonly labelStore: LabelStore;
  readonly labelCheck: LabelCheckService;
  readonly totals: TotalService;
  readonly stickyStore: StickyStore;
  readonly alertStore: AlertStore;
  readonly alertFeed: AlertFeed;
  readonly auditStore: AuditStore;
  readonly namespaces: NamespaceService;
  readonly resolution: ResolutionService;
  readonly limits: LimitService;
  readonly leases: LeaseService;
  readonly limitConfigs: LimitConfigService;
  readonly entities: EntityService;
  readonly reports: ReportService;
  readonly usage: UsageService;
  readonly refusals: RefusalService;
  readonly buckets: BucketRegistry;
  readonly topUps: TopUpService;
  readonly apiKeys: ApiKeyService;
  readonly apiKeyStore: ApiKeyStore;
  readonly devices: DeviceService;
  readonly ingestion: IngestService;
  readonly charts: SeriesService;
  readonly deviceStore: DeviceStore;
  readonly readingStore: ReadingStore;
  readonly readingFeed: ReadingFeed;
}

const hashingQueue = 32;
const maxPendingWrites = 64;
/** Records of refused logins per client: so many at once, and one more per minute. */
const refusedRecordBurst = 10;
/** How long a batch id is remembered at least. */
const batchDays = 30;

/** What a process may be given instead of the real thing. */
export interface Surroundings {
  readonly clock?: Clock;
  readonly log?: Log;
  readonly metrics?: Metrics;
}

/** What the worker does, one method a task. */
export interface Background {
  readonly log: Log;
  readonly spend: SpendRollup;
  readonly limits: LimitRollup;
  readonly devices: DeviceRollup;
  /** Absent where no source of prices is configured. */
  readonly prices?: PriceRollup;
  /** Deletes expired items where the store does not do so itself; returns how many. */
  sweep(): Promise<number>;
  close(): void;
}

function openStore({ store }: Config, metrics: Metrics, clock: Clock, pace?: Pace): StoreClient {
  // Calls are signed with the machine's own time, which the store compares with its own.
  const transport = store.client === 'sdk' ? sdkTransport(store) : leanTransport(store, systemClock);
  return new StoreClient(transport, store.tablePrefix, metrics, clock, pace);
}

export function buildBackground(
  config: Config,
  { clock = systemClock, log = createLog(config.logLevel), metrics = new Metrics() }: Surroundings = {},
): Background {
  const { catalog, retention, aggregation, priceSource } = config;
  const store = openStore(config, metrics, clock);
  const alerts = new AlertService(new AlertStore(store), clock, metrics, log, retention.alertDays);
  const worker = newUuid();
  const orgs = new OrgStore(store);
  const shards = new SpendStore(store, clock, retention, 0, 0);
  const totals = new TotalStore(store, retention.totalDays);
  const spend = new SpendRollup({
    shards,
    slices: new SliceStore(store),
    orgDays: new OrgDayService({ shards, totals, apps: orgs, alerts, catalog, clock, metrics }),
    orgs,
    clock,
    log,
    metrics,
    worker,
    claimMs: aggregation.intervalSecs * 1500,
    shardDays: retention.shardDays,
  });
  const buckets = new BucketStore(store, clock, retention.usageDays);
  const limits = new LimitRollup({
    buckets,
    registry: new BucketRegistry(buckets, clock, { maxWaiting: 0, log }),
    namespaces: new NamespaceStore(store),
    tasks: new TaskStore(store, worker),
    clock,
    log,
  });
  const priceStore = new PriceStore(store, retention.priceDays);
  const prices = priceSource
    ? { prices: new PriceRollup({ store: priceStore, catalog, source: priceSource, clock, log, metrics }) }
    : {};
  const readings = new ReadingStore(store, clock, { readings: retention.readingDays, batches: batchDays });
  const devices = new DeviceRollup(new DeletionStore(store), readings, clock);
  return {
    log,
    spend,
    limits,
    devices,
    ...prices,
    sweep: () => sweepExpired(store, clock),
    close: () => store.close(),
  };
}

export async function buildServices(
  config: Config,
  { clock = systemClock, log = createLog(config.logLevel), metrics = new Metrics() }: Surroundings = {},
): Promise<Services> {
  const pace = new Pace(clock);
  const store = openStore(config, metrics, clock, pace);
  const orgStore = new OrgStore(store);
  const auditStore = new AuditStore(store);
  const credentialStore = new CredentialStore(store);
  const revocations = new RevocationStore(store);

  const pendingWrites = new PendingWrites(maxPendingWrites, log, () => metrics.auditDropped.inc());
  const audit = new AuditService({
    store: auditStore,
    clock,
    retentionDays: config.retention.auditDays,
    pending: pendingWrites,
  });
  const feed = new RevocationFeed(revocations, clock, log);
  const tokenKeys = await importTokenKeys(config.signingKeys);
  // One core is left to everyone else, and of libuv's four threads one to lookups of names: without it no connection to the store opens.
  const hashesAtOnce = Math.max(1, Math.min(3, availableParallelism() - 1));
  const hashing = new Semaphore(hashesAtOnce, hashingQueue, () => unavailable('too many logins at once: try again'));
  const { bcryptCost, rootSecrets, loginPerAddressPerMinute: perAddress } = config;
  const failures = new Throttle(clock, perAddress, perAddress / 60);
  const retrievalMint = new TokenMint('tgt_', new RootKeys(rootSecrets, 'retrieval tokens'));
  const credentials = new CredentialService({
    store: credentialStore,
    revocations,
    feed,
    audit,
    clock,
    metrics,
    hashing,
    bcryptCost,
    retrievalMint,
    failures,
  });
  // The org service needs sessions, and sessions need to know whether an org is suspended.
  const tenants: Tenants = { refusal: (of) => orgs.refusal(of), lastRefusal: (of) => orgs.lastRefusal(of) };
  const logins = new LoginService({
    credentials: credentialStore,
    tenants,
    feed,
    audit,
    clock,
    log,
    metrics,
    hashing,
    failures,
    refusedRecords: new Throttle(clock, refusedRecordBurst, 1 / 60),
  });
  const sessions = new SessionService({
    credentials: credentialStore,
    sessions: new SessionStore(store),
    revocations,
    tenants,
    feed,
    audit,
    clock,
    metrics,
    keys: tokenKeys,
    refreshKeys: new RootKeys(rootSecrets, 'refresh tokens'),
    refreshMint: new TokenMint('tgr_', new RootKeys(rootSecrets, 'refresh token marks')),
    failures,
  });
  const orgs: OrgService = new OrgService({
    store: orgStore,
    credentials,
    sessions,
    audit,
    catalog: config.catalog,
    clock,
  });
  const clientStore = new ClientStore(store);
  const clients = new ClientService({ store: clientStore, credentials, revocations, feed, audit, clock, metrics });
  const lifecycle = new LifecycleService({
    store: new LifecycleStore(store),
    orgs: orgStore,
    clients,
    sessions,
    audit,
    clock,
  });
  const prices = new PriceService(new PriceStore(store, config.retention.priceDays), config.catalog, clock);
  const alertStore = new AlertStore(store);
  const stickyStore = new StickyStore(store);
  const spendStore = new SpendStore(
    store,
    clock,
    config.retention,
    Math.floor(randomFraction() * 64),
    config.submissionsWaiting,
  );
  const labelStore = new LabelStore(store);
  const slices = new SliceStore(store);
  const totals = new TotalService({ totals: new TotalStore(store, config.retention.totalDays), slices, clock });
  const { shardDays } = config.retention;
  const exact = new ExactService({
    shards: spendStore,
    totals,
    labels: labelStore,
    slices,
    apps: orgStore,
    clock,
    shardDays,
  });
  const spend = new SpendService({ store: spendStore, labels: labelStore, totals, exact, prices, clock });
  const alerts = new AlertService(alertStore, clock, metrics, log, config.retention.alertDays);
  const selection = new SelectionService({ stickies: stickyStore, prices, alerts, audit, clock, metrics, log });
  const sealer = new Sealer(new RootKeys(rootSecrets, 'leases'));
  const entityStore = new EntityStore(store);
  const configStore = new LimitConfigStore(store);
  const leaseStore = new LeaseStore(store);
  const { usageDays } = config.retention;
  const bucketStore = new BucketStore(store, clock, usageDays);
  const buckets = new BucketRegistry(bucketStore, clock, { maxWaiting: config.submissionsWaiting, pace, log });
  const namespaces = new NamespaceService({ store: new NamespaceStore(store), orgs, sessions, audit, clock });
  const changes = new ChangeService(revocations, feed);
  const resolution = new ResolutionService({ store: new ResolutionStore(store), changes, orgs, clock });
  const refusals = new RefusalService({ store: new RefusalStore(store, clock, usageDays), clock, log, metrics });
  const takes = new TakeService({ buckets, resolution });
  const apiKeyStore = new ApiKeyStore(store);
  const exists = async (orgId: string) => (await orgs.recallOrgs([orgId]))[0] !== undefined;
  const deviceKeys = new RootKeys(rootSecrets, 'device keys');
  const apiKeys = new ApiKeyService({
    store: apiKeyStore,
    sessions,
    orgs: { exists },
    tenants,
    audit,
    clock,
    log,
    metrics,
    rootKeys: deviceKeys,
  });
  const deviceStore = new DeviceStore(store);
  const newPerMinute = config.devices.newPerKeyPerMinute;
  const readingStore = new ReadingStore(store, clock, { readings: config.retention.readingDays, batches: batchDays });
  return {
    config,
    clock,
    log,
    metrics,
    store,
    pace,
    cursors: new Sealer(new RootKeys(rootSecrets, 'cursors')),
    pendingWrites,
    catalog: config.catalog,
    tokenKeys,
    guesses: new Throttle(clock, perAddress, perAddress / 60),
    revocationFeed: feed,
    sessions,
    credentials,
    logins,
    clients,
    clientStore,
    orgs,
    lifecycle,
    orgStore,
    prices,
    spend,
    selection,
    labelStore,
    labelCheck: new LabelCheckService({ orgs: orgStore, catalog: config.catalog, log }),
    totals,
    stickyStore,
    alertStore,
    alertFeed: new AlertFeed(alertStore, clock, log),
    auditStore,
    namespaces,
    resolution,
    limits: new LimitService({
      buckets,
      leases: leaseStore,
      takes,
      namespaces,
      resolution,
      refusals,
      sealer,
      clock,
      metrics,
    }),
    leases: new LeaseService({ buckets, leases: leaseStore, namespaces, sealer, clock }),
    limitConfigs: new LimitConfigService({ store: configStore, namespaces, changes, buckets: takes, audit, log }),
    entities: new EntityService({
      store: entityStore,
      configs: configStore,
      buckets: bucketStore,
      registry: buckets,
      namespaces,
      changes,
      audit,
      clock,
      usageDays,
    }),
    reports: new ReportService({ buckets: bucketStore, registry: buckets, entities: entityStore, namespaces, clock }),
    usage: new UsageService({
      buckets: bucketStore,
      usage: new UsageStore(store, clock),
      entities: entityStore,
      namespaces,
      clock,
    }),
    refusals,
    buckets,
    topUps: new TopUpService({ buckets, leases: leaseStore, namespaces, audit, clock }),
    apiKeys,
    apiKeyStore,
    devices: new DeviceService({
      devices: deviceStore,
      keys: apiKeys,
      audit,
      clock,
      registrations: new Throttle(clock, newPerMinute, newPerMinute / 60),
      maxPerOrg: config.devices.maxPerOrg,
    }),
    ingestion: new IngestService({ devices: deviceStore, readings: readingStore, keys: apiKeys, clock, log }),
    charts: new SeriesService(readingStore, clock),
    deviceStore,
    readingStore,
    readingFeed: new ReadingFeed(readingStore, log),
  };
}
