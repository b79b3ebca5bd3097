import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import type { Mask } from '../graphql/errors.js';
import type { Served } from '../graphql/operations.js';
import type { Viewer } from '../identity/viewer.js';
import { unavailable } from '../lib/errors.js';
import { within } from '../lib/timers.js';
import { type ConcurrencyLimiter, overloaded } from '../load/concurrency-limiter.js';
import type { PrincipalLimiter } from '../load/principal-limiter.js';
import type { Connections } from './connections.js';
import { authenticateRequest } from './credentials.js';
import { addressOf, principalOf, requestIdOf } from './request.js';
import type { ResponseBatcher } from './response-batcher.js';

/** What every request that is executed passes through, whichever endpoint it was sent to. */
export interface ExchangeDeps {
  readonly services: Services;
  readonly principals: PrincipalLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly connections: Connections;
  readonly mask: Mask;
  readonly batcher: ResponseBatcher;
}

/** One request on its way through the gateway. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: string;
  readonly startedMs: number;
  readonly served: Served;
  viewer: Viewer;
}

export const beginExchange = (
  { config, clock }: Services,
  request: IncomingMessage,
  response: ServerResponse,
): Exchange => ({
  request,
  response,
  requestId: requestIdOf(request.headers),
  address: addressOf(request, config.trustProxy),
  startedMs: clock.monotonicMs(),
  served: { operation: 'none', isQuery: false, units: { read: 0, write: 0, calls: 0 }, codes: [] },
  viewer: { kind: 'ANONYMOUS' },
});

/** The result of `work`, or SERVICE_UNAVAILABLE if it takes longer than an operation may. */
export function inTime<T>({ log, store, config }: Services, { served }: Exchange, work: () => Promise<T>): Promise<T> {
  const { units } = served;
  // Following a request through all its waits costs a fifth of its CPU: only if a log line will show its units.
  const working = log.isLevelEnabled('info') ? store.metered(units, work) : work();
  const { operationTimeoutMs } = config;
  return within(operationTimeoutMs, working, () => {
    units.isOver = served.isQuery;
    throw unavailable(`the operation took longer than ${operationTimeoutMs} ms`);
  });
}

/**
 * Waits for its turn, authenticates, and executes. The request counts as in flight until its response is flushed, or until
 * `execute` calls `leave`.
 */
export async function inTurn<T>(
  deps: ExchangeDeps,
  exchange: Exchange,
  execute: (viewer: Viewer, leave: () => void) => Promise<T>,
): Promise<T> {
  const { services, principals, concurrency, connections } = deps;
  const { request, response, address, startedMs } = exchange;
  const slot = await concurrency.enter();
  const held = [slot.release];
  const leave = () => {
    for (const one of held.splice(0)) one();
  };
  connections.whenFlushed(response, leave);
  try {
    // Nobody waits for it any more: its caller would not hear of what it changed.
    if (response.destroyed || services.clock.monotonicMs() - startedMs > services.config.operationTimeoutMs)
      throw overloaded();
    const viewer = await authenticateRequest(services, request, address);
    exchange.viewer = viewer;
    held.push(principals.admit(principalOf(viewer, address)));
    if ('orgId' in viewer) held.push(concurrency.share(viewer.orgId));
    return await execute(viewer, leave);
  } finally {
    slot.answered();
  }
}

/** The request's line in the log, and its figures. */
export function record(
  { metrics, log, clock }: Services,
  { startedMs, served, requestId, viewer, address }: Exchange,
): void {
  const ms = Math.round((clock.monotonicMs() - startedMs) * 10) / 10;
  const outcome = served.codes[0] ?? 'ok';
  const { operation, units } = served;
  metrics.requests.inc({ operation, outcome });
  metrics.requestSeconds.observe({ operation }, ms / 1000);
  const { read, write, calls } = units;
  log.info(
    { requestId, operation, principal: principalOf(viewer, address), ms, read, write, calls, outcome },
    'request',
  );
}
