import type { Services } from '../app.js';
import type { Actor } from '../audit/audit-event.js';
import type { LimitDecision } from '../http/limit-headers.js';
import { actorOf, type Viewer } from '../identity/viewer.js';
import type { SelectionReader } from '../spend/spend-reader.js';
import { LimitCollector } from './limit-collector.js';
import { freshLoaders, type LoaderServices, Loaders } from './loaders.js';
import { WorkBudget } from './work-budget.js';

/** The services that resolvers use. Secrets, configuration and the database client are not among them. */
const resolverServices = [
  'admissions',
  'alertFeed',
  'alertStore',
  'apiKeys',
  'apiKeyStore',
  'apps',
  'appStore',
  'auditStore',
  'breakdowns',
  'budgets',
  'catalog',
  'clients',
  'clientStore',
  'clock',
  'corrections',
  'credentials',
  'cursors',
  'devices',
  'deviceStore',
  'entities',
  'ingestion',
  'leases',
  'ledger',
  'lifecycle',
  'limitConfigs',
  'limits',
  'log',
  'logins',
  'managed',
  'managedStore',
  'models',
  'namespaces',
  'orgPrices',
  'orgs',
  'orgStore',
  'overruns',
  'prices',
  'readingFeed',
  'readingStore',
  'reports',
  'resolution',
  'selection',
  'sessions',
  'settlements',
  'spend',
  'tenants',
  'topUps',
  'usage',
] as const satisfies readonly (keyof Services)[];

export type ResolverServices = Pick<Services, (typeof resolverServices)[number]>;

/** The request a context is made for. */
export interface ContextRequest {
  readonly viewer: Viewer;
  readonly requestId: string;
  /** The network address of the caller. */
  readonly address: string;
  /** True if the caller has closed its connection. */
  isGone?(): boolean;
  /** For a stream that is resumed: the id of the last event that its caller has seen. */
  readonly lastEventId?: string;
  /** Lets a subscription define the ids of its events, for transports that resume by themselves. */
  identifyEvents?(idOf: (event: never) => string): void;
}

/** The context of a resolver: the viewer, the loaders of this request, and the services. */
export interface Context extends ResolverServices, ContextRequest {
  /** The viewer and the origin of the call, for the audit trail. */
  readonly actor: Actor;
  /** The reads of this request, batched and cached. */
  readonly loaders: Loaders;
  /**
   * The complexity this operation may still use. A field whose work depends on stored data charges it before it reads.
   */
  readonly work: WorkBudget;
  /** The decisions of the limiter, for the headers of the response. */
  readonly limitDecisions: LimitCollector;
  /** Adds a decision of the limiter. */
  limited(decision: LimitDecision): void;
  identifyEvents(idOf: (event: never) => string): void;
  /** Loaders that have read nothing yet, for an object that the request has just changed. */
  freshLoaders(): SelectionReader;
}

export type ContextFactory = (request: ContextRequest) => Context;

const ignored = (): void => undefined;

/** Makes the contexts of one gateway. */
export function contextFactory(services: Services): ContextFactory {
  const { tenants, totals, stickyStore, budgetStates, labelStore, correctionStore } = services;
  const { readingStore, charts, entities } = services;
  const spend = { totals, stickyStore, budgetStates, labelStore, correctionStore };
  const readers: LoaderServices = { tenants, ...spend, readingStore, charts, entities };
  // Every context inherits the services, so that they are not copied per request.
  const shared = Object.freeze(
    Object.fromEntries(resolverServices.map((name) => [name, services[name]])),
  ) as unknown as ResolverServices;
  return (request) => {
    const { viewer } = request;
    const work = new WorkBudget();
    const limitDecisions = new LimitCollector();
    return Object.assign(Object.create(shared) as ResolverServices, {
      identifyEvents: ignored,
      ...request,
      actor: actorOf(request),
      work,
      loaders: new Loaders(readers, viewer, work),
      limitDecisions,
      limited: limitDecisions.add,
      freshLoaders: () => freshLoaders(readers, viewer),
    });
  };
}
