import DataLoader from 'dataloader';
import type { Services } from '../app.js';
import type { Actor } from '../audit/audit-event.js';
import type { ReadingsRef } from '../devices/device.js';
import type { Reading } from '../devices/reading.js';
import { maxReadingsPerOperation, ReadingBudget, type SeriesPoint } from '../devices/series.js';
import type { SeriesRequest } from '../devices/series.service.js';
import type { LimitAnswer } from '../http/limit-headers.js';
import { actorOf, maySeeApp, maySeeOrg, type Viewer } from '../identity/viewer.js';
import type { Entity } from '../limits/entities/entity.js';
import type { SpendId } from '../orgs/scope.js';
import { type App, type AppRef, inForce, type Org } from '../orgs/settings.js';
import type { Sticky } from '../spend/selection.js';
import type { SelectionReader, SpendReader } from '../spend/spend-reader.js';
import type { StickyId } from '../spend/sticky.store.js';
import type { Total } from '../spend/total.store.js';
import { WorkBudget } from './work-budget.js';

/** What a resolver gets: who is calling, this request's loaders, and the services. */
export interface Context extends Services {
  readonly viewer: Viewer;
  /** The viewer and the origin of the call, for the audit trail. */
  readonly actor: Actor;
  readonly requestId: string;
  /** The network address of the caller. */
  readonly address: string;
  readonly loaders: Loaders;
  /** This request's reads of spend, batched. */
  readonly reader: SpendReader;
  /** The complexity this operation may still use. A field whose work depends on stored data charges it before it reads. */
  readonly work: WorkBudget;
  /** Of a stream that is resumed: the id of the last event its caller has seen. */
  readonly lastEventId?: string;
  /** Lets a subscription say how its events are identified, for transports that resume by themselves. */
  identifyEvents(idOf: (event: never) => string): void;
  /** Notes how the limits of an acquire stand, for the headers of the answer. */
  limited(answer: LimitAnswer): void;
  /** The same without what the request has read before: for what it has just changed. */
  freshReader(): SelectionReader;
}

interface EntityRef {
  readonly orgId: string;
  readonly entityId: string;
}

const nobodyAsks = (): void => undefined;

export function createContext(
  services: Services,
  request: Pick<Context, 'viewer' | 'requestId' | 'address'> &
    Partial<Pick<Context, 'limited' | 'lastEventId' | 'identifyEvents'>>,
): Context {
  const work = new WorkBudget();
  const loaders = new Loaders(services, request.viewer, work);
  const own = {
    limited: nobodyAsks,
    identifyEvents: nobodyAsks,
    ...request,
    actor: actorOf(request),
    work,
    loaders,
    reader: loaders,
    freshReader: () => readAnew(services, request.viewer),
  };
  // The services are the same for all: inherited, they need not be copied for each request.
  return Object.assign(Object.create(services) as Services, own);
}

/** An override must show what it has just written, which only a consistent read is sure to. */
function readAnew(services: Services, viewer: Viewer): SelectionReader {
  const loaders = new Loaders(services, viewer, new WorkBudget());
  return { total: (id) => loaders.total(id), sticky: (id) => services.stickyStore.read(id) };
}

/** This request's reads: batched, and only what the viewer may see; anything else is not there. Each is made when first asked for. */
export class Loaders implements SpendReader {
  private orgs: DataLoader<string, Org | undefined> | undefined;
  private apps: DataLoader<AppRef, App | undefined, string> | undefined;
  private totals: DataLoader<SpendId, Total | undefined, string> | undefined;
  private entities: DataLoader<EntityRef, Entity | undefined, string> | undefined;
  private latestReadings: DataLoader<ReadingsRef, Reading | undefined, string> | undefined;
  private charts: DataLoader<SeriesRequest, SeriesPoint[]> | undefined;
  private stickies: DataLoader<StickyId, Sticky | undefined, string> | undefined;
  private done: Map<string, Promise<unknown>> | undefined;

  constructor(
    private readonly services: Services,
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

  labels(orgId: string): Promise<readonly string[]> {
    return this.once(`labels ${orgId}`, () => this.services.labelStore.load(orgId));
  }

  charge(units: number, advice: string): void {
    this.work.charge(units, advice);
  }

  once<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.done ??= new Map();
    const known = this.done.get(name) as Promise<T> | undefined;
    if (known) return known;
    const doing = work();
    this.done.set(name, doing);
    return doing;
  }

  /** Of a page of devices at once: one query each, all of them together. */
  latestReading(device: ReadingsRef): Promise<Reading | undefined> {
    this.latestReadings ??= new DataLoader(
      (refs) => Promise.all(refs.map((ref) => this.services.readingStore.latest(ref))),
      {
        cacheKeyFn: ({ orgId, hardwareId }) => `${orgId} ${hardwareId}`,
      },
    );
    return this.latestReadings.load(device);
  }

  /** Each range of a device is read once for all metrics and steps that the operation asks for. */
  series(request: SeriesRequest): Promise<SeriesPoint[]> {
    this.charts ??= this.newCharts();
    return this.charts.load(request);
  }

  /** One that was created; not one that is only known by its buckets. */
  entity(ref: EntityRef): Promise<Entity | undefined> {
    this.entities ??= new DataLoader((refs) => this.services.entities.loadMany(refs), {
      cacheKeyFn: ({ orgId, entityId }) => `${orgId} ${entityId}`,
    });
    return this.entities.load(ref);
  }

  private newCharts(): DataLoader<SeriesRequest, SeriesPoint[]> {
    const budget = new ReadingBudget(maxReadingsPerOperation);
    return new DataLoader((requests) => this.services.charts.draw(requests, budget), { cache: false });
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
