import type { IncomingMessage, ServerResponse } from 'node:http';
import { createContext } from '../graphql/context.js';
import type { DocumentCache, Prepared } from '../graphql/documents.js';
import {
  type GraphQLParams,
  type HttpContext,
  isOpenUnchecked,
  noteLimits,
  type Operations,
  type Outcome,
} from '../graphql/operations.js';
import { requireChecked } from '../identity/viewer.js';
import { type SseHandler, sseBody } from '../live/sse.js';
import { type Acceptable, acceptable, eventStream, graphqlJson, plainJson } from './accept.js';
import { beginExchange, type Exchange, type ExchangeDeps, inTime, inTurn, record } from './exchange.js';
import { HttpRefusal, hungUp, paramsOf } from './request.js';
import { type Answer, refusal, respondCompressed } from './response.js';

export interface GraphQLHttp extends ExchangeDeps {
  readonly operations: Operations;
  readonly documents: DocumentCache;
  readonly sse: SseHandler;
}

interface GraphQLExchange extends Exchange {
  accept: Acceptable;
}

/** A subscription that was admitted and is to be followed over server-sent events. */
interface Following {
  readonly follow: Prepared;
  readonly params: GraphQLParams;
}

/** POST /graphql, and GET for queries, by the GraphQL-over-HTTP specification; subscriptions over server-sent events. */
export async function handleGraphQL(
  deps: GraphQLHttp,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange: GraphQLExchange = Object.assign(beginExchange(deps.services, request, response), {
    accept: { json: plainJson, events: false },
  } as const);
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
  await respondCompressed(response, answer, requestId, deps.batcher);
}

async function answerTo(deps: GraphQLHttp, exchange: GraphQLExchange): Promise<Answer | Following> {
  const { request, served } = exchange;
  exchange.accept = acceptable(request.headers.accept);
  if (!exchange.accept.json && !exchange.accept.events)
    throw new HttpRefusal(406, `the accept header must allow ${graphqlJson}, ${plainJson} or ${eventStream}`);
  const params = await paramsOf(request);
  deps.operations.refuseList(params, served);
  return inTime(deps.services, exchange, () => serveOperation(deps, exchange, params));
}

function serveOperation(
  deps: GraphQLHttp,
  exchange: GraphQLExchange,
  params: GraphQLParams,
): Promise<Answer | Following> {
  const { services, operations, documents, concurrency } = deps;
  const { request, requestId, address, served, accept } = exchange;
  return inTurn(deps, exchange, async (viewer, leave) => {
    const prepared = documents.prepare(params.query, params.operationName);
    if (!('document' in prepared)) return answerOf(operations.refuse(prepared, requestId, served), accept);
    if (!isOpenUnchecked(prepared.operation)) requireChecked(viewer);
    const { operation } = prepared.operation;
    if (operation === 'subscription' && accept.events) {
      concurrency.refuseList();
      leave(); // streams have a bound of their own
      return { follow: prepared, params };
    }
    if (operation !== 'query' && request.method === 'GET')
      throw new HttpRefusal(405, `a ${operation} must be sent by POST`, { allow: 'POST' });
    const context = createContext(services, {
      viewer,
      requestId,
      address,
      limited: (answer) => noteLimits(served, answer),
    });
    const contextValue: HttpContext = Object.assign(context, { served });
    return answerOf(await operations.run(prepared, params, contextValue), accept);
  });
}

function answerOf({ status, headers, result }: Outcome, { json }: Acceptable): Answer {
  // A client that reads only events, such as graphql-sse, gets the result as an event.
  if (!json && 'data' in result)
    return {
      status: 200,
      headers: { ...headers, 'content-type': `${eventStream}; charset=utf-8` },
      body: sseBody(result),
    };
  const contentType = json ?? plainJson;
  // Clients that know only application/json take any other status for a broken gateway.
  const isLegacy = contentType === plainJson && json !== undefined && !('data' in result) && status === 400;
  return {
    status: isLegacy ? 200 : status,
    headers: {
      ...headers,
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      'content-type': `${contentType}; charset=utf-8`,
    },
    body: JSON.stringify(result),
  };
}
