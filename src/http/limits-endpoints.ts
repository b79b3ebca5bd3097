import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLField, GraphQLInputObjectType, GraphQLSchema } from 'graphql';
import type { Context } from '../graphql/context.js';
import type { OperationInfo } from '../graphql/prepared-operation.js';
import { requireChecked, requirePolicy, requireWrite } from '../identity/viewer.js';
import { LimitResolver } from '../limits/limit.resolver.js';
import { plainJson } from './accept.js';
import { beginExchange, type ExchangeDeps, type HttpExchange, inTurn, record, withTimeout } from './exchange.js';
import { limitStatusHeaders } from './limit-headers.js';
import { bodyType, errorBody, inBody, outputJson, readInput } from './limits-json.js';
import { hungUp, jsonBody } from './request.js';
import { type HttpResponse, refusal, respondCompressed } from './response.js';
import { type Route, requirePost } from './route.js';

/** One path and the GraphQL field that it calls. */
interface LimitsEndpoint extends OperationInfo {
  readonly field: GraphQLField<unknown, unknown>;
  readonly body: GraphQLInputObjectType;
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

interface LimitsEndpointDeps extends ExchangeDeps {
  readonly schema: GraphQLSchema;
}

/**
 * POST /v1/acquire, /v1/adjust, /v1/release, /v1/check: acquire, adjustLease, releaseLease, availability as plain JSON.
 */
export function limitsRoutes(deps: LimitsEndpointDeps): Readonly<Record<string, Route>> {
  const { schema } = deps;
  const resolver = new LimitResolver();
  const { acquire, adjustLease, releaseLease } = schema.getMutationType()?.getFields() ?? {};
  const { availability } = schema.getQueryType()?.getFields() ?? {};
  const serve = (label: string, field: LimitsEndpoint['field'] | undefined, call: LimitsEndpoint['call']): Route => {
    if (!field) throw new Error(`the schema has no field for ${label}`);
    const endpoint: LimitsEndpoint = { label, isQuery: field === availability, field, body: bodyType(field), call };
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
    '/v1/check': serve('httpCheck', availability, async (input: CheckBody, context) => {
      const { orgId, entityId, resource, consume } = input;
      const found = await resolver.availability(orgId, entityId, resource, consume, context);
      context.limited({ entityId, statuses: found.statuses });
      return found;
    }),
  };
}

async function handle(
  deps: LimitsEndpointDeps,
  endpoint: LimitsEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = beginExchange(deps.services, request, response, endpoint);
  const { requestId } = exchange;
  let reply: HttpResponse;
  try {
    requirePost(request);
    const body = await jsonBody(request);
    reply = await withTimeout(deps.services, exchange, () => execute(deps, endpoint, exchange, body));
  } catch (error) {
    if (hungUp(request, error)) return;
    const shown = deps.mask(inBody(error), requestId);
    reply = { ...refusal(error, plainJson, shown), body: errorBody(shown) };
  }
  record(deps.services, exchange, reply.outcome);
  await respondCompressed(response, reply, requestId, deps.batcher);
}

function execute(
  deps: LimitsEndpointDeps,
  endpoint: LimitsEndpoint,
  exchange: HttpExchange,
  body: unknown,
): Promise<HttpResponse> {
  const { requestId, address } = exchange;
  return inTurn(deps, exchange, async (viewer) => {
    requirePolicy(viewer, 'limits:use');
    if (endpoint.isQuery) requireChecked(viewer);
    else requireWrite(viewer, 'limits:use');
    const input = readInput(endpoint.body, body);
    const context = deps.newContext({ viewer, requestId, address });
    const result = outputJson(deps.schema, endpoint.field.type, await endpoint.call(input as never, context));
    const { decision } = context.limitDecisions;
    return {
      status: decision?.retryAfterSecs === undefined ? 200 : 429,
      headers: { 'content-type': `${plainJson}; charset=utf-8`, ...(decision ? limitStatusHeaders(decision) : {}) },
      body: JSON.stringify(result),
      outcome: 'ok',
    };
  });
}
