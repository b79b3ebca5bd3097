import DataLoader from 'dataloader';
import type { Services } from '../app.js';
import type { ReadingsRef } from '../devices/device.js';
import type { Reading } from '../devices/reading.js';
import { maxReadingsPerOperation, ReadingBudget, type SeriesPoint } from '../devices/series.js';
import type { SeriesRequest } from '../devices/series.service.js';
import { maySeeApp, maySeeOrg, type Viewer } from '../identity/viewer.js';
import type { Entity } from '../limits/entities/entity.js';
import type { SpendId } from '../orgs/scope.js';
import { type App, type AppRef, inForce, type Org } from '../orgs/settings.js';
import type { BudgetPeriodId, BudgetState } from '../spend/budgets/budget-state.js';
import type { RequestRef } from '../spend/cost.item.js';
import type { Correction } from '../spend/ledger/correction.js';
import type { Sticky } from '../spend/selection.js';
import type { SelectionReader, SpendReader } from '../spend/spend-reader.js';
import type { StickyId } from '../spend/sticky.store.js';
import type { Total } from '../spend/total.store.js';
import { WorkBudget } from './work-budget.js';

/** The services that loaders read from. */
export type LoaderServices = Pick<
  Services,
  | 'tenants'
  | 'totals'
  | 'stickyStore'
  | 'budgetStates'
  | 'labelStore'
  | 'correctionStore'
  | 'readingStore'
  | 'charts'
  | 'entities'
>;

interface CorrectionId {
  readonly ref: RequestRef;
  readonly correctionId: string;
}

type EntityLoader = DataLoader<{ readonly orgId: string; readonly entityId: string }, Entity | undefined, string>;

/**
 * The reads of one request, batched. Objects that the viewer may not see are not found. Each loader is created at its
 * first use.
 */
export class Loaders implements SpendReader {
  private orgs: DataLoader<string, Org | undefined> | undefined;
  private apps: DataLoader<AppRef, App | undefined, string> | undefined;
  private totals: DataLoader<SpendId, Total | undefined, string> | undefined;
  private entities: EntityLoader | undefined;
  private latestReadings: DataLoader<ReadingsRef, Reading | undefined, string> | undefined;
  private charts: DataLoader<SeriesRequest, SeriesPoint[]> | undefined;
  private stickies: DataLoader<StickyId, Sticky | undefined, string> | undefined;
  private budgetStates: DataLoader<BudgetPeriodId, BudgetState | undefined, string> | undefined;
  private correctionsById: DataLoader<CorrectionId, Correction | undefined, string> | undefined;
  private results: Map<string, Promise<unknown>> | undefined;

  constructor(
    private readonly services: LoaderServices,
    private readonly viewer: Viewer,
    private readonly work: WorkBudget,
  ) {}

  org(orgId: string): Promise<Org | undefined> {
    this.orgs ??= new DataLoader((orgIds) => this.loadOrgs(orgIds));
    return this.orgs.load(orgId);
  }

  app(ref: AppRef): Promise<App | undefined> {
    this.apps ??= new DataLoader((refs) => this.loadApps(refs), {
      cacheKeyFn: ({ orgId, appId }) => `${orgId} ${appId}`,
    });
    return this.apps.load(ref);
  }

  total(id: SpendId): Promise<Total | undefined> {
    this.totals ??= new DataLoader((ids) => this.services.totals.loadMany(ids), {
      cacheKeyFn: ({ orgId, appId, label, day }) => [orgId, appId, label, day].join(' '),
    });
    return this.totals.load(id);
  }

  sticky(id: StickyId): Promise<Sticky | undefined> {
    this.stickies ??= new DataLoader((ids) => this.services.stickyStore.loadMany(ids), {
      cacheKeyFn: ({ orgId, appId, day }) => [orgId, appId, day].join(' '),
    });
    return this.stickies.load(id);
  }

  budgetState(id: BudgetPeriodId): Promise<BudgetState | undefined> {
    this.budgetStates ??= new DataLoader((ids) => this.services.budgetStates.loadMany(ids), {
      cacheKeyFn: ({ orgId, name, firstDay }) => [orgId, name, firstDay].join(' '),
    });
    return this.budgetStates.load(id);
  }

  /** The corrections of a cost. For a page of costs: one read for all of them. */
  async corrections(ref: RequestRef, correctionIds: readonly string[]): Promise<Correction[]> {
    this.correctionsById ??= new DataLoader((ids) => this.loadCorrections(ids), {
      cacheKeyFn: (id) => [id.ref.orgId, id.ref.appId, id.ref.requestId, id.correctionId].join(' '),
    });
    const { correctionsById } = this;
    const found = await Promise.all(correctionIds.map((correctionId) => correctionsById.load({ ref, correctionId })));
    return found.filter((correction) => correction !== undefined);
  }

  labels(orgId: string): Promise<readonly string[]> {
    return this.once(`labels ${orgId}`, () => this.services.labelStore.load(orgId));
  }

  charge(units: number, advice: string): void {
    this.work.charge(units, advice);
  }

  /** Runs `work` once per request and name. */
  once<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.results ??= new Map();
    const cached = this.results.get(name) as Promise<T> | undefined;
    if (cached) return cached;
    const result = work();
    this.results.set(name, result);
    return result;
  }

  /** For a page of devices: one query per device, all of them in parallel. */
  latestReading(device: ReadingsRef): Promise<Reading | undefined> {
    this.latestReadings ??= new DataLoader(
      (refs) => Promise.all(refs.map((ref) => this.services.readingStore.latest(ref))),
      {
        cacheKeyFn: ({ orgId, hardwareId }) => `${orgId} ${hardwareId}`,
      },
    );
    return this.latestReadings.load(device);
  }

  /** Reads each range of a device once for all metrics and steps that the operation requests. */
  series(request: SeriesRequest): Promise<SeriesPoint[]> {
    this.charts ??= this.newCharts();
    return this.charts.load(request);
  }

  /** Finds created entities only, not those that only have buckets. */
  entity(ref: { readonly orgId: string; readonly entityId: string }): Promise<Entity | undefined> {
    this.entities ??= new DataLoader((refs) => this.services.entities.loadMany(refs), {
      cacheKeyFn: ({ orgId, entityId }) => `${orgId} ${entityId}`,
    });
    return this.entities.load(ref);
  }

  private newCharts(): DataLoader<SeriesRequest, SeriesPoint[]> {
    const budget = new ReadingBudget(maxReadingsPerOperation);
    return new DataLoader((requests) => this.services.charts.draw(requests, budget), { cache: false });
  }

  private async loadCorrections(ids: readonly CorrectionId[]): Promise<(Correction | undefined)[]> {
    return (await this.services.correctionStore.loadMany(ids)).map((stored) => stored?.correction);
  }

  private async loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> {
    const visible = orgIds.filter((orgId) => maySeeOrg(this.viewer, orgId));
    const found = new Map((await this.services.tenants.loadOrgs(visible)).map((org) => [org?.orgId, org]));
    return orgIds.map((orgId) => found.get(orgId));
  }

  private async loadApps(refs: readonly AppRef[]): Promise<(App | undefined)[]> {
    const visible = refs.filter(({ orgId, appId }) => maySeeApp(this.viewer, orgId, appId));
    const [records, orgs] = await Promise.all([
      this.services.tenants.loadApps(visible),
      Promise.all(visible.map(({ orgId }) => this.org(orgId))),
    ]);
    const found = new Map(visible.map((ref, i) => [ref, records[i] && orgs[i] && inForce(orgs[i], records[i])]));
    return refs.map((ref) => found.get(ref));
  }
}

/**
 * Reads for an object that the request has just changed: nothing is cached, and the sticky fallback is read
 * consistently, because an override must return what it has written.
 */
export function freshLoaders(services: LoaderServices, viewer: Viewer): SelectionReader {
  const loaders = new Loaders(services, viewer, new WorkBudget());
  return {
    total: (id) => loaders.total(id),
    sticky: (id) => services.stickyStore.read(id),
    budgetState: (id) => loaders.budgetState(id),
  };
}
