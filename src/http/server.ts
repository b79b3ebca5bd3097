import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Services } from '../app.js';
import { DocumentCache } from '../graphql/documents.js';
import { createMask } from '../graphql/errors.js';
import { startOperations } from '../graphql/operations.js';
import type { Clock } from '../lib/clock.js';
import { GatewayError } from '../lib/errors.js';
import { endOfTurn, loopUtilization, sleep, within } from '../lib/timers.js';
import { createSseHandler } from '../live/sse.js';
import { StreamLimiter } from '../live/stream-limiter.js';
import { OpenStreams, type SubscriptionDeps } from '../live/streams.js';
import { serveWebSocket } from '../live/ws.js';
import { ConcurrencyLimiter } from '../load/concurrency-limiter.js';
import { OverloadResponder } from '../load/overload-response.js';
import { PrincipalLimiter } from '../load/principal-limiter.js';
import { plainJson } from './accept.js';
import { Connections } from './connections.js';
import { createOrigins } from './cors.js';
import { createExplorer } from './explorer.js';
import { handleGraphQL } from './graphql-endpoint.js';
import { createLimitsHttp, limitsPrefix } from './limits-endpoints.js';
import { createOAuth } from './oauth.js';
import { HttpRefusal, requestIdOf } from './request.js';
import { refusal, respond } from './response.js';
import { ResponseBatcher } from './response-batcher.js';

export const graphqlPath = '/graphql';
const readyWithinMs = 2000;

export interface HttpServer {
  readonly server: Server;
  /** From now on /readyz says no. */
  drain(): void;
  /**
   * Ends the streams, refuses new connections, and asks with every answer to connect elsewhere; resolves when every
   * request under way has been answered. Connections that are open may still bring one for `lingerMs`. Then idle connections
   * are closed. A request that has reached this process by then is answered; one that meets the closing was not executed.
   */
  close(lingerMs?: number): Promise<void>;
  /** Sends the answers that are ready, and closes all connections. */
  cut(): Promise<void>;
}

type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Everything this process says over HTTP, WebSocket and SSE. */
export async function createHttpServer(services: Services, schema: GraphQLSchema): Promise<HttpServer> {
  const { config, metrics, tokenKeys, clock, log } = services;
  const principals = new PrincipalLimiter(clock, config.principalRps, config.principalConcurrency);
  const mask = createMask(log);
  const documents = new DocumentCache(schema, config.production);
  const origins = createOrigins(config.corsOrigins);
  const connections = new Connections(clock);
  const concurrency = new ConcurrencyLimiter(
    config.gatewayConcurrency,
    { monotonicMs: () => clock.monotonicMs(), utilization: loopUtilization() },
    services.scheduler,
  );
  const operations = await startOperations({
    schema,
    production: config.production,
    documents,
    mask,
    log,
    concurrency,
  });
  const streams = new OpenStreams(services);
  const limiter = new StreamLimiter();
  const subscriptions: SubscriptionDeps = {
    services,
    schema,
    documents,
    limiter,
    principals,
    concurrency,
    streams,
    mask,
  };
  const sse = createSseHandler(subscriptions);
  const oauth = createOAuth(services, principals);
  let asked: Promise<string | undefined> | undefined;
  /** One question to the store for all who ask at once: whoever asks needs no credential. */
  const fault = () => {
    asked ??= storeFault(services).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  let isDraining = false;
  let isLeaving = false;
  const batcher = new ResponseBatcher();
  const exchange = { services, principals, concurrency, connections, mask, batcher };
  const graphql = { ...exchange, operations, documents, sse };
  const metricsPage = oncePerSecond(clock, () => metrics.page());
  const overload = new OverloadResponder(metrics, log, batcher);

  const routes: Readonly<Record<string, Route>> = {
    [graphqlPath]: (request, response) => handleGraphQL(graphql, request, response),
    ...createLimitsHttp({ ...exchange, schema }),
    '/oauth/token': (request, response) => oauth.token(request, response),
    '/oauth/revoke': (request, response) => oauth.revoke(request, response),
    '/.well-known/oauth-authorization-server': (request, response) => oauth.metadata(request, response),
    '/.well-known/jwks.json': reading(() => ({
      body: JSON.stringify(tokenKeys.published),
      headers: { 'cache-control': 'public, max-age=300' },
    })),
    '/healthz': reading(() => ({ body: '{"status":"alive"}' })),
    '/readyz': reading(async () => {
      const reason = isDraining ? 'draining' : await fault();
      if (reason && !isDraining && config.readyWhenDegraded)
        return { body: JSON.stringify({ status: 'degraded', reason }) };
      return {
        status: reason ? 503 : 200,
        body: JSON.stringify(reason ? { status: 'not ready', reason } : { status: 'ready' }),
      };
    }),
    '/metrics': reading(async () => ({ body: await metricsPage(), type: metrics.registry.contentType })),
    ...(config.production ? {} : { '/': createExplorer(graphqlPath) }),
  };

  /** Admin keys have no prefix by which the log could redact them. */
  const withoutKey = ({ headers }: IncomingMessage): void => {
    if (config.adminKeys.some(({ key }) => headers['x-request-id'] === key)) delete headers['x-request-id'];
  };
  let isProxyKnown = config.trustProxy;
  const warnOfProxy = ({ headers }: IncomingMessage): void => {
    if (isProxyKnown || headers['x-forwarded-for'] === undefined) return;
    isProxyKnown = true;
    log.warn(
      "a request came with X-Forwarded-For; if that is our proxy's, set TRUST_PROXY=on: until then all callers share one address and its bounds",
    );
  };
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 1000,
      IncomingMessage: Incoming,
    },
    (request, response) => {
      withoutKey(request);
      warnOfProxy(request);
      if (concurrency.isFull && isExecuted(request.url ?? '') && request.method !== 'OPTIONS') {
        origins.mark(request, response);
        return overload.turnAway(request, response, isLeaving);
      }
      if (isLeaving) response.setHeader('connection', 'close');
      connections.begin(request, response);
      const path = (request.url ?? '/').split('?')[0] ?? '/';
      if (isCrossOrigin(path)) {
        origins.mark(request, response);
        if (request.method === 'OPTIONS') return origins.preflight(request, response);
      }
      const route = Object.hasOwn(routes, path) ? (routes[path] as Route) : nowhere;
      Promise.resolve()
        .then(() => route(request, response))
        .catch((error: unknown) => {
          const requestId = requestIdOf(request.headers);
          const told = mask(error, requestId);
          if (!response.headersSent) respond(response, refusal(error, plainJson, told), requestId);
        });
    },
  );
  server.on('connection', (socket) => connections.accept(socket));
  server.on('upgrade', withoutKey);
  const sockets = serveWebSocket(server, graphqlPath, origins, subscriptions);

  return {
    server,
    drain() {
      isDraining = true;
    },
    async close(lingerMs = 0) {
      isDraining = true;
      streams.stop();
      void overload.close();
      sse.close();
      // After all that has already connected was taken on: what still waits at a port that closes is cut off. So nobody was
      // asked to connect anew before.
      await endOfTurn();
      isLeaving = true;
      // Those whose head is written can no longer be asked to leave: ended now, their connections count as idle below.
      batcher.flush();
      for (const response of connections.responses())
        if (!response.headersSent) response.setHeader('connection', 'close');
      // Not HTTP's own close, which would also cut off at once whoever is about to speak.
      const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
      await Promise.all([sockets.close(), sleep(lingerMs)]);
      // A busy process may not have read yet what reached it long ago, and would take such a connection for idle.
      await endOfTurn();
      server.close(() => undefined);
      await closed;
      connections.stop();
      await operations.stop();
    },
    async cut() {
      batcher.flush();
      await endOfTurn();
      server.closeAllConnections();
    },
  };
}

/**
 * Node takes every offer of another protocol for a WebSocket. All others may be ignored (RFC 9110), and have to be: Java's
 * client offers HTTP/2 with each request.
 */
class Incoming extends IncomingMessage {
  declare private isOffered: boolean;

  get upgrade(): boolean {
    return this.isOffered && (this.method === 'CONNECT' || (this.headers.upgrade ?? '').toLowerCase() === 'websocket');
  }

  set upgrade(isOffered: boolean) {
    this.isOffered = isOffered;
  }
}

/** Where a page on another origin may be allowed to call. */
const isCrossOrigin = (path: string): boolean =>
  path === graphqlPath || ['/oauth/', '/.well-known/', limitsPrefix].some((prefix) => path.startsWith(prefix));

/** Whether a request for this URL waits for its turn. */
const isExecuted = (url: string): boolean => url.startsWith(graphqlPath) || url.startsWith(limitsPrefix);

/** The result of `task`, made at most once per second: whoever asks needs no credential. */
function oncePerSecond<T>(clock: Pick<Clock, 'monotonicMs'>, task: () => Promise<T>): () => Promise<T> {
  let made: { readonly atMs: number; readonly result: Promise<T> } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (!made || nowMs - made.atMs >= 1000) made = { atMs: nowMs, result: task() };
    return made.result;
  };
}

const nowhere: Route = () => {
  throw new GatewayError('NOT_FOUND', `nothing is served at this path; GraphQL is at ${graphqlPath}`);
};

interface Page {
  readonly status?: number;
  readonly body: string;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

/** A route that only tells. */
function reading(page: () => Page | Promise<Page>): Route {
  return async ({ method }, response) => {
    if (method !== 'GET' && method !== 'HEAD') throw new HttpRefusal(405, 'use GET', { allow: 'GET, HEAD' });
    const { status = 200, body, type, headers } = await page();
    send(response, status, method === 'HEAD' ? '' : body, type, headers);
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'application/json; charset=utf-8',
  headers: Record<string, string> = { 'cache-control': 'no-store' },
): void {
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(body);
}

/** Why requests cannot be served; undefined: they can. Asks the store itself, tables and all. */
async function storeFault({ store }: Services): Promise<string | undefined> {
  const asked = store.get('config', { PK: 'ORG#ready', SK: '#ORG' }).then(
    () => undefined,
    () => 'the store does not answer, or its tables are missing',
  );
  return within(readyWithinMs, asked, () => 'the store does not answer in time');
}
