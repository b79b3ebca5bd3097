import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import type { Request } from 'graphql-sse';
import { createHandler, type RequestContext } from 'graphql-sse/lib/use/http';
import type { Services } from '../app.js';
import { badInput } from '../lib/errors.js';
import type { Admission } from './admission.js';
import { bounds } from './bounds.js';
import { type Context, createContext } from './context.js';
import { authenticate } from './credentials.js';
import { SubscriptionDocuments } from './documents.js';
import { type PublicError, publicError } from './errors.js';
import { addressOf, principalOf, requestIdOf } from './http.js';
import type { OpenStreams } from './streams.js';

type SseRequest = Request<IncomingMessage, RequestContext>;

/** Subscriptions over server-sent events, for clients without WebSocket. */
export function createSseHandler(
  schema: GraphQLSchema,
  services: Services,
  admission: Admission,
  streams: OpenStreams,
): { handle(request: IncomingMessage, response: ServerResponse): Promise<void>; close(): void } {
  const { config, log, metrics } = services;
  const documents = new SubscriptionDocuments(schema, config.production);
  const open = new Set<ServerResponse>();
  const mask = (requestId: string) => (error: unknown) => publicError(error, requestId, (cause) => log.error({ requestId, err: cause }, 'unexpected error'));

  const handle = createHandler<Context & Record<PropertyKey, unknown>>({
    schema,
    // No stream is shared by several requests, so there is nothing to find again by a token.
    authenticate: () => '',
    async onSubscribe(request: SseRequest, params) {
      const requestId = requestIdOf(request.raw.headers);
      try {
        if (request.raw.headers['x-graphql-event-stream-token'] !== undefined)
          throw badInput({ path: 'x-graphql-event-stream-token', message: 'single connection mode is not served' });
        const viewer = await authenticate(services, request.raw.headers);
        const address = addressOf(request.raw, config.trustProxy);
        admission.admit(principalOf(viewer, address))();
        const prepared = documents.prepare({ query: String(params.query), operationName: params.operationName, variables: params.variables });
        if (Array.isArray(prepared)) return refusal(prepared.map(mask(requestId)));
        watch(request.context.res, viewer, request.raw);
        return { ...prepared, contextValue: createContext(services, { viewer, requestId, address }) as Context & Record<PropertyKey, unknown> };
      } catch (error) {
        return refusal([mask(requestId)(error)]);
      }
    },
    onNext(context, request: SseRequest, result) {
      if (request.context.res.writableLength > bounds.bufferedBytes) request.context.res.destroy();
      return 'errors' in result && result.errors ? { ...result, errors: result.errors.map(mask(context.requestId)) as never } : undefined;
    },
  });

  function watch(response: ServerResponse, viewer: Context['viewer'], request: IncomingMessage): void {
    const unwatch = streams.watch({ viewer, presented: request.headers, end: () => response.end() });
    metrics.sockets.inc({ transport: 'sse' });
    open.add(response);
    response.once('close', () => {
      open.delete(response);
      unwatch();
      metrics.sockets.dec({ transport: 'sse' });
    });
  }

  return {
    handle,
    close() {
      for (const response of open) response.end();
    },
  };
}

const statuses: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_SERVER_ERROR: 500,
};

function refusal(errors: readonly PublicError[]): [body: string, init: { status: number; statusText: string; headers: Record<string, string> }] {
  const status = statuses[errors[0]?.extensions.code ?? ''] ?? 400;
  return [JSON.stringify({ errors }), { status, statusText: '', headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' } }];
}
