import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import type { ContextFactory } from '../graphql/context.js';
import type { Mask } from '../graphql/errors.js';
import type { OperationInfo } from '../graphql/prepared-operation.js';
import type { Viewer } from '../identity/viewer.js';
import { unavailable } from '../lib/errors.js';
import { within } from '../lib/timers.js';
import type { Units } from '../lib/units.js';
import { type ConcurrencyLimiter, overloaded } from '../load/concurrency-limiter.js';
import type { PrincipalLimiter } from '../load/principal-limiter.js';
import type { Connections } from './connections.js';
import { authenticateSession } from './console-request.js';
import { authenticateRequest } from './credentials.js';
import { addressOf, principalOf, requestIdOf } from './request.js';
import type { ResponseBatcher } from './response-batcher.js';

/** The dependencies of every endpoint that executes operations. */
export interface ExchangeDeps {
  readonly services: Services;
  readonly newContext: ContextFactory;
  readonly principals: PrincipalLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly connections: Connections;
  readonly mask: Mask;
  readonly batcher: ResponseBatcher;
}

/** One request and its response. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: string;
  readonly startedMs: number;
  readonly units: Units;
  /** Set by an endpoint that accepts sessions of the console, if the request asks for its session. */
  isConsole: boolean;
  /** Set once the request is authenticated. */
  viewer: Viewer;
  /** Set once it is known what will be executed. */
  operation: OperationInfo;
}

const unknownOperation: OperationInfo = { label: 'none', isQuery: false };

export const beginExchange = (
  { config, clock }: Services,
  request: IncomingMessage,
  response: ServerResponse,
  operation = unknownOperation,
): HttpExchange => ({
  request,
  response,
  requestId: requestIdOf(request.headers),
  address: addressOf(request, config.trustProxy),
  startedMs: clock.monotonicMs(),
  units: { read: 0, write: 0, calls: 0 },
  isConsole: false,
  viewer: { kind: 'ANONYMOUS' },
  operation,
});

/** The result of `work`, or SERVICE_UNAVAILABLE if it takes longer than an operation may. */
export function withTimeout<T>(
  { log, store, config }: Services,
  exchange: HttpExchange,
  work: () => Promise<T>,
): Promise<T> {
  const { units } = exchange;
  // Following a request through all its awaits costs a fifth of its CPU, so it is done only if the units are logged.
  const working = log.isLevelEnabled('info') ? store.metered(units, work) : work();
  const { operationTimeoutMs } = config;
  return within(operationTimeoutMs, working, () => {
    units.isOver = exchange.operation.isQuery;
    throw unavailable(`the operation took longer than ${operationTimeoutMs} ms`);
  });
}

/**
 * Waits for its turn, authenticates, and executes. The request counts as in flight until its response is flushed, or
 * until `execute` calls `leave`.
 */
export async function inTurn<T>(
  deps: ExchangeDeps,
  exchange: HttpExchange,
  execute: (viewer: Viewer, leave: () => void) => Promise<T>,
): Promise<T> {
  const { services, principals, concurrency, connections } = deps;
  const { request, response, address, startedMs } = exchange;
  const slot = await concurrency.enter();
  const releases = [slot.release];
  const leave = () => {
    for (const release of releases.splice(0)) release();
  };
  connections.whenFlushed(response, leave);
  try {
    // The caller no longer waits for a response, so it would not learn what the operation changed.
    if (response.destroyed || services.clock.monotonicMs() - startedMs > services.config.operationTimeoutMs)
      throw overloaded();
    const viewer = exchange.isConsole
      ? (await authenticateSession(services, request)).viewer
      : await authenticateRequest(services, request, address);
    exchange.viewer = viewer;
    releases.push(principals.admit(principalOf(viewer, address)));
    if ('orgId' in viewer) releases.push(concurrency.share(viewer.orgId));
    return await execute(viewer, leave);
  } finally {
    slot.responded();
  }
}

/** Writes the log line and the metrics of a request. `outcome`: `ok`, or the code of its first error. */
export function record(
  { metrics, log, clock }: Services,
  { startedMs, operation, units, requestId, viewer, address }: HttpExchange,
  outcome: string,
): void {
  const ms = Math.round((clock.monotonicMs() - startedMs) * 10) / 10;
  const { label } = operation;
  metrics.requests.inc({ operation: label, outcome });
  metrics.requestSeconds.observe({ operation: label }, ms / 1000);
  const { read, write, calls } = units;
  log.info(
    { requestId, operation: label, principal: principalOf(viewer, address), ms, read, write, calls, outcome },
    'request',
  );
}
