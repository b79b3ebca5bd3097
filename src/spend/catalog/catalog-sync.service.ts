import { platformTenant } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { Clock } from '../../lib/clock.js';
import type { Log } from '../../lib/log.js';
import type { CatalogModel, LiveCatalog, SeedModel } from './catalog.js';
import type { CatalogStore } from './catalog.store.js';
import { sameEntries, sortedEntries } from './price.js';

/** The place of the catalog in the change counter. */
export const catalogPlace = 'catalog';

/** New labels of one transaction. */
const maxSeedsPerWrite = 50;
const maxSeedFailures = 5;
/** A worker counts no change when it seeds, so gateways also look at the version of the catalog. */
const checkMs = 60_000;

export interface CatalogSyncDeps {
  readonly store: CatalogStore;
  readonly catalog: LiveCatalog;
  /** The models of `config.yaml`. */
  readonly seeds: ReadonlyMap<string, SeedModel>;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent in a worker, which has no change feed and may not write the change counter. */
  readonly changes?: ChangeService;
}

/** Keeps the catalog in memory equal to the stored one, and stores the models of `config.yaml` once. */
export class CatalogSyncService {
  private version: number | undefined;
  private count = -1;
  private checkedAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;
  private readonly counter: number;

  constructor(private readonly deps: CatalogSyncDeps) {
    this.counter = deps.changes?.counterOf(platformTenant, catalogPlace) ?? 0;
  }

  /** Loads and seeds the catalog. A gateway awaits it before it serves, and from then on follows the changes. */
  async start(): Promise<void> {
    await this.begin();
    this.deps.changes?.onTick(() => this.follow());
  }

  /** Resolves when no load is running. */
  async stop(): Promise<void> {
    await this.running;
  }

  /** Loads the catalog if it has changed. Does not throw: the catalog of before stays in use. */
  refresh(): Promise<void> {
    const isFirst = this.version === undefined;
    return this.once(() => (isFirst ? this.begin() : this.loadIfNewer()));
  }

  /** Loads the catalog. */
  async load(): Promise<void> {
    // Before the read: a change that is committed during the read is loaded by the next tick.
    const count = this.deps.changes?.countAt(this.counter) ?? 0;
    const { version, models } = await this.deps.store.load();
    this.checkedAtMs = this.deps.clock.monotonicMs();
    // A read that took longer than another may return an older state.
    if (this.version !== undefined && version < this.version) return;
    this.version = version;
    this.count = Math.max(count, this.count);
    this.deps.catalog.replace(models);
  }

  private async begin(): Promise<void> {
    await this.load();
    await this.seed();
    this.warnAboutDifferences();
  }

  /** Once per second. */
  private follow(): void {
    const { changes, clock } = this.deps;
    if (changes && changes.countAt(this.counter) !== this.count) void this.once(() => this.load());
    else if (clock.monotonicMs() - this.checkedAtMs > checkMs) void this.once(() => this.loadIfNewer());
  }

  private async loadIfNewer(): Promise<void> {
    const version = await this.deps.store.loadVersion();
    this.checkedAtMs = this.deps.clock.monotonicMs();
    if (version !== this.version) await this.load();
  }

  private once(task: () => Promise<void>): Promise<void> {
    this.running ??= task()
      .catch((error: unknown) => this.deps.log.warn({ err: error }, 'failed to load the catalog'))
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  /** Stores the labels of `config.yaml` that the catalog has never had. */
  private async seed(): Promise<void> {
    const { store, seeds, changes, log } = this.deps;
    const riders = changes ? [changes.draftPlaceChange(platformTenant, [catalogPlace])] : [];
    for (let failures = 0; failures < maxSeedFailures; ) {
      const missing = this.missing().slice(0, maxSeedsPerWrite);
      if (missing.length === 0) return;
      const outcome = await store.seed(missing, riders);
      await this.load();
      if (outcome === 'full') break;
      // Another process seeds at the same time. Its labels are loaded by now.
      if (outcome === 'stale') failures++;
    }
    const labels = [...seeds.keys()].filter((label) => !this.known().has(label));
    if (labels.length > 0) log.error({ labels }, 'failed to add labels of config.yaml to the catalog');
  }

  private missing(): CatalogModel[] {
    const known = this.known();
    const addedAtMs = this.deps.clock.nowMs();
    return [...this.deps.seeds.values()]
      .map(({ entries, ...facts }, position) => ({ ...facts, entries, position }))
      .filter(({ label }) => !known.has(label))
      .map(({ entries, position, ...facts }) => ({
        ...facts,
        version: 1,
        origin: 'SEEDED' as const,
        defaultEntries: sortedEntries(entries),
        changes: [],
        addedAtMs,
        position,
      }));
  }

  /** All labels that were ever added: a retired one is not added again. */
  private known(): ReadonlyMap<string, CatalogModel> {
    return new Map(this.deps.catalog.listAll().map((model) => [model.label, model]));
  }

  /** `config.yaml` seeds a label once. An operator who edits it later must know that this changes nothing. */
  private warnAboutDifferences(): void {
    const known = this.known();
    const labels = [...this.deps.seeds.values()]
      .filter(({ label, modelId, entries }) => {
        const model = known.get(label);
        const isSame = model?.modelId === modelId && sameEntries(model.defaultEntries, entries);
        return model?.origin === 'SEEDED' && !isSame;
      })
      .map(({ label }) => label);
    if (labels.length > 0)
      this.deps.log.warn({ labels }, 'config.yaml differs from the catalog, which applies; change it by upsertModel');
  }
}
