import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLField, GraphQLInputObjectType, GraphQLSchema } from 'graphql';
import { type Context, createContext } from '../graphql/context.js';
import type { PublicError } from '../graphql/errors.js';
import { noteLimits } from '../graphql/operations.js';
import { requireChecked, requirePolicy, requireWrite } from '../identity/viewer.js';
import { LimitResolver } from '../limits/limit.resolver.js';
import { plainJson } from './accept.js';
import { beginExchange, type Exchange, type ExchangeDeps, inTime, inTurn, record } from './exchange.js';
import { limitStatusHeaders } from './limit-headers.js';
import { bodyType, inBody, readInput, shown } from './limits-json.js';
import { HttpRefusal, hungUp, jsonBody } from './request.js';
import { type Answer, refusal, respondCompressed } from './response.js';

/** The paths of the limiter without GraphQL. */
export const limitsPrefix = '/v1/';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** One path, and the GraphQL field that it is another way to call. */
interface Endpoint {
  readonly field: GraphQLField<unknown, unknown>;
  readonly body: GraphQLInputObjectType;
  /** As metrics and the log call it. */
  readonly operation: string;
  readonly isQuery: boolean;
  readonly call: (input: never, context: Context) => object | Promise<object>;
}

type AcquireBody = Parameters<LimitResolver['acquire']>[0];
type AdjustBody = Parameters<LimitResolver['adjustLease']>[0];
interface ReleaseBody {
  readonly leaseId: string;
}
interface CheckBody extends Omit<AcquireBody, 'consume'> {
  readonly consume?: AcquireBody['consume'] | null;
}

interface LimitsHttp extends ExchangeDeps {
  readonly schema: GraphQLSchema;
}

/** POST /v1/acquire, /v1/adjust, /v1/release and /v1/check: acquire, adjustLease, releaseLease and availability with plain JSON. */
export function createLimitsHttp(deps: LimitsHttp): Readonly<Record<string, Handler>> {
  const { schema } = deps;
  const resolver = new LimitResolver();
  const { acquire, adjustLease, releaseLease } = schema.getMutationType()?.getFields() ?? {};
  const { availability } = schema.getQueryType()?.getFields() ?? {};
  const serve = (operation: string, field: Endpoint['field'] | undefined, call: Endpoint['call']): Handler => {
    if (!field) throw new Error(`the schema has no field for ${operation}`);
    const endpoint: Endpoint = { field, body: bodyType(field), operation, isQuery: field === availability, call };
    return (request, response) => handle(deps, endpoint, request, response);
  };
  return {
    '/v1/acquire': serve('httpAcquire', acquire, (input: AcquireBody, context) => resolver.acquire(input, context)),
    '/v1/adjust': serve('httpAdjust', adjustLease, (input: AdjustBody, context) =>
      resolver.adjustLease(input, context),
    ),
    '/v1/release': serve('httpRelease', releaseLease, ({ leaseId }: ReleaseBody, context) =>
      resolver.releaseLease(leaseId, context),
    ),
    '/v1/check': serve(
      'httpCheck',
      availability,
      async ({ orgId, entityId, resource, consume }: CheckBody, context) => {
        const found = await resolver.availability(orgId, entityId, resource, consume, context);
        context.limited({ entityId, statuses: found.statuses });
        return found;
      },
    ),
  };
}

async function handle(
  deps: LimitsHttp,
  endpoint: Endpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = beginExchange(deps.services, request, response);
  const { served, requestId } = exchange;
  served.operation = endpoint.operation;
  served.isQuery = endpoint.isQuery;
  let answer: Answer;
  try {
    if (request.method !== 'POST') throw new HttpRefusal(405, 'use POST', { allow: 'POST' });
    const body = await jsonBody(request);
    answer = await inTime(deps.services, exchange, () => answerTo(deps, endpoint, exchange, body));
  } catch (error) {
    if (hungUp(request, error)) return;
    const told = deps.mask(inBody(error), requestId);
    served.codes = [told.extensions.code];
    answer = { ...refusal(error, plainJson, told), body: errorBody(told) };
  }
  record(deps.services, exchange);
  await respondCompressed(response, answer, requestId, deps.batcher);
}

function answerTo(deps: LimitsHttp, endpoint: Endpoint, exchange: Exchange, body: unknown): Promise<Answer> {
  const { requestId, address, served } = exchange;
  return inTurn(deps, exchange, async (viewer) => {
    requirePolicy(viewer, 'limits:use');
    if (endpoint.isQuery) requireChecked(viewer);
    else requireWrite(viewer, 'limits:use');
    const input = readInput(endpoint.body, body);
    const context = createContext(deps.services, {
      viewer,
      requestId,
      address,
      limited: (answer) => noteLimits(served, answer),
    });
    const result = shown(deps.schema, endpoint.field.type, await endpoint.call(input as never, context));
    const { limits } = served;
    return {
      status: limits?.retryAfterSecs === undefined ? 200 : 429,
      headers: { 'content-type': `${plainJson}; charset=utf-8`, ...(limits ? limitStatusHeaders(limits) : {}) },
      body: JSON.stringify(result),
    };
  });
}

/** What GraphQL says of an error in its extensions stands beside the message here. */
export const errorBody = ({ message, extensions: { code, ...details } }: PublicError): string =>
  JSON.stringify({ error: { code, message, ...details } });
