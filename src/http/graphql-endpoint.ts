import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DocumentCache } from '../graphql/documents.js';
import {
  allowsUncheckedToken,
  type GraphQLParams,
  type OperationResponse,
  type Operations,
} from '../graphql/operations.js';
import { PreparedOperation } from '../graphql/prepared-operation.js';
import { requireChecked, type Viewer } from '../identity/viewer.js';
import { type SseHandler, sseBody } from '../live/sse.js';
import { type Acceptable, acceptable, eventStream, graphqlJson, plainJson } from './accept.js';
import { type ConsoleDocuments, consoleParams } from './console-documents.js';
import { isConsoleRequest, requireConsoleRequest } from './console-request.js';
import { beginExchange, type ExchangeDeps, type HttpExchange, inTurn, record, withTimeout } from './exchange.js';
import { HttpRefusal, hungUp, jsonBody, paramsOf } from './request.js';
import { type HttpResponse, refusal, respondCompressed } from './response.js';

export interface GraphQLEndpointDeps extends ExchangeDeps {
  readonly operations: Operations;
  readonly documents: DocumentCache;
  /** The documents that sessions of the console may run. */
  readonly consoleDocuments: ConsoleDocuments;
  readonly sse: SseHandler;
}

/** A request for an operation, and the content types that its caller accepts. */
interface GraphQLRequest {
  readonly exchange: HttpExchange;
  readonly params: GraphQLParams;
  readonly accept: Acceptable;
}

/** POST /graphql, and GET for queries (GraphQL-over-HTTP specification); subscriptions over server-sent events. */
export async function handleGraphQL(
  deps: GraphQLEndpointDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = beginExchange(deps.services, request, response);
  const { requestId } = exchange;
  const accept = acceptable(request.headers.accept);
  let reply: HttpResponse;
  try {
    if (!accept.json && !accept.events)
      throw new HttpRefusal(406, `the accept header must allow ${graphqlJson}, ${plainJson} or ${eventStream}`);
    const params = await operationOf(deps, exchange);
    refuseKnownList(deps, exchange, params);
    const served = await withTimeout(deps.services, exchange, () => serve(deps, { exchange, params, accept }));
    // A subscription: it is followed without the timeout of an operation.
    if (served instanceof PreparedOperation) return await deps.sse.follow(exchange, served, params);
    reply = served;
  } catch (error) {
    // The caller closed the connection before it had sent its request. That is not an error of the gateway.
    if (hungUp(request, error)) return;
    reply = refusal(error, accept.json ?? plainJson, deps.mask(error, requestId));
  }
  record(deps.services, exchange, reply.outcome);
  await respondCompressed(response, reply, requestId, deps.batcher);
}

/** The operation of a request. A session of the console names a document instead of sending one. */
async function operationOf(deps: GraphQLEndpointDeps, exchange: HttpExchange): Promise<GraphQLParams> {
  const { request } = exchange;
  const { config } = deps.services;
  exchange.isConsole = isConsoleRequest(config, request);
  if (!exchange.isConsole) return paramsOf(request);
  requireConsoleRequest(config, request);
  return consoleParams(deps.consoleDocuments, await jsonBody(request));
}

/** Under load, rejects an operation that is known to be a list before it waits for its turn. */
function refuseKnownList(
  { concurrency, documents }: GraphQLEndpointDeps,
  exchange: HttpExchange,
  { query, operationName }: GraphQLParams,
): void {
  if (!concurrency.isHalfFull) return;
  const operation = documents.peek(query, operationName);
  if (!operation?.isAlwaysList) return;
  exchange.operation = operation;
  concurrency.refuseList();
}

/** The response to a request; or a subscription that was admitted and is to be followed over server-sent events. */
function serve(deps: GraphQLEndpointDeps, call: GraphQLRequest): Promise<HttpResponse | PreparedOperation> {
  const { exchange, params, accept } = call;
  return inTurn(deps, exchange, async (viewer, leave) => {
    const prepared = deps.documents.prepare(params.query, params.operationName);
    if (!(prepared instanceof PreparedOperation))
      return httpResponse(deps.operations.refuse(prepared, exchange.requestId), accept);
    if (!allowsUncheckedToken(prepared.operation)) requireChecked(viewer);
    const { operation } = prepared.operation;
    if (operation === 'subscription' && accept.events) {
      deps.concurrency.refuseList();
      leave(); // streams have a bound of their own
      return prepared;
    }
    if (operation !== 'query' && exchange.request.method === 'GET')
      throw new HttpRefusal(405, `a ${operation} must be sent by POST`, { allow: 'POST' });
    return execute(deps, call, prepared, viewer);
  });
}

async function execute(
  { operations, newContext }: GraphQLEndpointDeps,
  { exchange, params, accept }: GraphQLRequest,
  prepared: PreparedOperation,
  viewer: Viewer,
): Promise<HttpResponse> {
  const { requestId, address, units } = exchange;
  exchange.operation = prepared;
  const context = newContext({ viewer, requestId, address, isGone: () => exchange.response.destroyed });
  return httpResponse(await operations.run({ prepared, params, context, units }), accept);
}

function httpResponse({ status, headers, result, codes }: OperationResponse, { json }: Acceptable): HttpResponse {
  const outcome = codes[0] ?? 'ok';
  // A client that accepts only events, such as graphql-sse, gets the result as an event.
  if (!json && 'data' in result) {
    const type = `${eventStream}; charset=utf-8`;
    return { status: 200, headers: { ...headers, 'content-type': type }, body: sseBody(result), outcome };
  }
  const contentType = json ?? plainJson;
  // Clients that know only application/json treat any other status as a failure of the gateway.
  const isLegacy = contentType === plainJson && json !== undefined && !('data' in result) && status === 400;
  return {
    status: isLegacy ? 200 : status,
    headers: {
      ...headers,
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      'content-type': `${contentType}; charset=utf-8`,
    },
    body: JSON.stringify(result),
    outcome,
  };
}
