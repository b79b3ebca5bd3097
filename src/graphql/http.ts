import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import type { Viewer } from '../identity/viewer.js';
import { unavailable } from '../lib/errors.js';
import { within } from '../lib/timers.js';
import { type Acceptable, acceptable, eventStream, graphqlJson, plainJson } from './accept.js';
import type { Admission } from './admission.js';
import { bounds } from './bounds.js';
import type { Connections } from './connections.js';
import { createContext } from './context.js';
import { authenticateRequest } from './credentials.js';
import type { DocumentCache, Prepared } from './documents.js';
import type { Mask } from './errors.js';
import type { GraphQLParams, HttpContext, Operations, Outcome, Served } from './operations.js';
import type { Outbox } from './outbox.js';
import { addressOf, HttpRefusal, hungUp, paramsOf, principalOf, requestIdOf } from './request.js';
import { type Answer, refusal, respondCompressed } from './response.js';
import { type SseHandler, sseBody } from './sse.js';
import { type Turnstile, tooMuch } from './turnstile.js';

export interface GraphQLHttp {
  readonly services: Services;
  readonly operations: Operations;
  readonly documents: DocumentCache;
  readonly admission: Admission;
  readonly turnstile: Turnstile;
  readonly connections: Connections;
  readonly sse: SseHandler;
  readonly mask: Mask;
  readonly outbox: Outbox;
}

/** One request on its way through the gateway. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: string;
  readonly startedMs: number;
  readonly served: Served;
  viewer: Viewer;
  accept: Acceptable;
}

/** A subscription that was admitted and is to be followed over server-sent events. */
interface Following {
  readonly follow: Prepared;
  readonly params: GraphQLParams;
}

/** POST /graphql, and GET for queries, by the GraphQL-over-HTTP specification; subscriptions over server-sent events. */
export async function handleGraphQL(deps: GraphQLHttp, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { config, clock } = deps.services;
  const exchange: Exchange = {
    request,
    response,
    requestId: requestIdOf(request.headers),
    address: addressOf(request, config.trustProxy),
    startedMs: clock.monotonicMs(),
    served: { operation: 'none', isQuery: false, units: { read: 0, write: 0, calls: 0 }, codes: [] },
    viewer: { kind: 'ANONYMOUS' },
    accept: { json: plainJson, events: false },
  };
  const { served, requestId } = exchange;
  let answer: Answer;
  try {
    const answered = await answerTo(deps, exchange);
    if ('follow' in answered) return await deps.sse.follow(exchange, answered.follow, answered.params);
    answer = answered;
  } catch (error) {
    // A caller that hung up in mid-request is no fault of anybody here.
    if (hungUp(request, error)) return;
    const told = deps.mask(error, requestId);
    served.codes = [told.extensions.code];
    answer = refusal(error, exchange.accept.json ?? plainJson, told);
  }
  record(deps.services, exchange);
  await respondCompressed(response, answer, requestId, deps.outbox);
}

async function answerTo(deps: GraphQLHttp, exchange: Exchange): Promise<Answer | Following> {
  const { services, operations } = deps;
  const { request, served } = exchange;
  exchange.accept = acceptable(request.headers.accept);
  if (!exchange.accept.json && !exchange.accept.events)
    throw new HttpRefusal(406, `the accept header must allow ${graphqlJson}, ${plainJson} or ${eventStream}`);
  const params = await paramsOf(request);
  operations.refuseList(params, served);
  const serve = () => serveOperation(deps, exchange, params);
  const { units } = served;
  // Following a request through all its waits costs a fifth of its CPU: only if a log line will show its units.
  const work = services.log.isLevelEnabled('info') ? services.store.metered(units, serve) : serve();
  return within(bounds.operationMs, work, () => {
    units.isOver = served.isQuery;
    throw unavailable(`the operation took longer than ${bounds.operationMs} ms`);
  });
}

/** Waits for its turn, authenticates, and executes. The request counts as in flight until its response is flushed. */
async function serveOperation(deps: GraphQLHttp, exchange: Exchange, params: GraphQLParams): Promise<Answer | Following> {
  const { services, operations, documents, admission, turnstile, connections } = deps;
  const { request, response, requestId, address, served, startedMs } = exchange;
  const slot = await turnstile.enter();
  const held = [slot.release];
  const release = () => {
    for (const one of held.splice(0)) one();
  };
  connections.whenFlushed(response, release);
  try {
    // Nobody waits for it any more: its caller would not hear of what it changed.
    if (response.destroyed || services.clock.monotonicMs() - startedMs > bounds.operationMs) throw tooMuch();
    const viewer = await authenticateRequest(services, request, address);
    exchange.viewer = viewer;
    held.push(admission.admit(principalOf(viewer, address)));
    if ('orgId' in viewer) held.push(turnstile.share(viewer.orgId));
    const prepared = documents.prepare(params.query, params.operationName);
    if (!('document' in prepared)) return answerOf(operations.refuse(prepared, requestId, served), exchange.accept);
    const { operation } = prepared.operation;
    if (operation === 'subscription' && exchange.accept.events) {
      turnstile.refuseList();
      release(); // streams have a bound of their own
      return { follow: prepared, params };
    }
    if (operation !== 'query' && request.method === 'GET') throw new HttpRefusal(405, `a ${operation} must be sent by POST`, { allow: 'POST' });
    const context = createContext(services, { viewer, requestId, address, limited: (limited) => (served.refusal = limited) });
    const contextValue: HttpContext = Object.assign(context, { served });
    return answerOf(await operations.run(prepared, params, contextValue), exchange.accept);
  } finally {
    slot.answered();
  }
}

function answerOf({ status, headers, result }: Outcome, { json }: Acceptable): Answer {
  // A client that reads only events, such as graphql-sse, gets the result as an event.
  if (!json && 'data' in result) return { status: 200, headers: { ...headers, 'content-type': `${eventStream}; charset=utf-8` }, body: sseBody(result) };
  const contentType = json ?? plainJson;
  // Clients that know only application/json take any other status for a broken gateway.
  const isLegacy = contentType === plainJson && json !== undefined && !('data' in result) && status === 400;
  return {
    status: isLegacy ? 200 : status,
    headers: { ...headers, ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}), 'content-type': `${contentType}; charset=utf-8` },
    body: JSON.stringify(result),
  };
}

/** The request's line in the log, and its figures. */
function record({ metrics, log, clock }: Services, { startedMs, served, requestId, viewer, address }: Exchange): void {
  const ms = Math.round((clock.monotonicMs() - startedMs) * 10) / 10;
  const outcome = served.codes[0] ?? 'ok';
  const { operation, units } = served;
  metrics.requests.inc({ operation, outcome });
  metrics.requestSeconds.observe({ operation }, ms / 1000);
  const { read, write, calls } = units;
  log.info({ requestId, operation, principal: principalOf(viewer, address), ms, read, write, calls, outcome }, 'request');
}
