import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Services } from '../app.js';
import { GatewayError } from '../lib/errors.js';
import { endOfTurn, loopUtilization, sleep, within } from '../lib/timers.js';
import { Admission } from './admission.js';
import { SubscriptionDocuments } from './documents.js';
import { Door } from './door.js';
import { createMask } from './errors.js';
import { explorerPage } from './explorer.js';
import { HttpRefusal, handleGraphQL, plainJson, refusal, requestIdOf, respond } from './http.js';
import { answerOAuth, handleRevoke, handleToken } from './oauth.js';
import { startOperations } from './operations.js';
import { Outbox } from './outbox.js';
import { createSseHandler } from './sse.js';
import { OpenStreams } from './streams.js';
import { Turnstile } from './turnstile.js';
import { serveWebSocket } from './ws.js';

export const graphqlPath = '/graphql';
const readyWithinMs = 2000;

export interface Edge {
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
export async function createEdge(services: Services, schema: GraphQLSchema): Promise<Edge> {
  const { config, metrics, tokenKeys, clock, log } = services;
  const admission = new Admission(clock, config.principalRps, config.principalConcurrency);
  const mask = createMask(config.production, log);
  const turnstile = new Turnstile(config.gatewayConcurrency, { monotonicMs: () => clock.monotonicMs(), utilization: loopUtilization() }, services.pace);
  const operations = await startOperations({ schema, production: config.production, mask, log, turnstile });
  const streams = new OpenStreams(services);
  const subscriptions = { services, documents: new SubscriptionDocuments(schema, config.production), admission, turnstile, streams, mask };
  const sse = createSseHandler(subscriptions);
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
  const outbox = new Outbox();
  const door = new Door(metrics, log, outbox);

  const routes: Readonly<Record<string, Route>> = {
    [graphqlPath]: (request, response) =>
      wantsEvents(request) ? sse.handle(request, response) : handleGraphQL({ services, operations, admission, turnstile, mask, outbox }, request, response),
    '/oauth/token': (request, response) => answerOAuth(services, handleToken, request, response),
    '/oauth/revoke': (request, response) => answerOAuth(services, handleRevoke, request, response),
    '/.well-known/jwks.json': reading(() => ({ body: JSON.stringify(tokenKeys.published), headers: { 'cache-control': 'public, max-age=300' } })),
    '/healthz': reading(() => ({ body: '{"status":"alive"}' })),
    '/readyz': reading(async () => {
      const reason = isDraining ? 'draining' : await fault();
      return { status: reason ? 503 : 200, body: JSON.stringify(reason ? { status: 'not ready', reason } : { status: 'ready' }) };
    }),
    '/metrics': reading(async () => ({ body: await metrics.page(), type: metrics.registry.contentType })),
    ...(config.production ? {} : { '/': reading(async () => ({ body: await explorerPage(graphqlPath), type: 'text/html; charset=utf-8' })) }),
  };

  /** The admin key has no form of its own by which the log would know it where it does not belong. */
  const withoutKey = ({ headers }: IncomingMessage): void => {
    if (headers['x-request-id'] === config.adminKey) delete headers['x-request-id'];
  };
  let isProxyKnown = config.trustProxy;
  const warnOfProxy = ({ headers }: IncomingMessage): void => {
    if (isProxyKnown || headers['x-forwarded-for'] === undefined) return;
    isProxyKnown = true;
    log.warn("a request came with X-Forwarded-For; if that is our proxy's, set TRUST_PROXY=on: until then all callers share one address and its bounds");
  };
  // By connection: a response that waits behind another is not told when its connection goes.
  const underWay = new Map<Socket, Set<ServerResponse>>();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1000, IncomingMessage: Incoming },
    (request, response) => {
      withoutKey(request);
      warnOfProxy(request);
      if (turnstile.isFull && request.url?.startsWith(graphqlPath)) return door.turnAway(request, response, isLeaving);
      if (isLeaving) response.setHeader('connection', 'close');
      const responses = underWay.get(request.socket);
      responses?.add(response);
      response.once('close', () => responses?.delete(response));
      const path = (request.url ?? '/').split('?')[0] ?? '/';
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
  server.on('connection', (socket) => {
    underWay.set(socket, new Set());
    socket.once('close', () => underWay.delete(socket));
  });
  server.on('upgrade', withoutKey);
  const sockets = serveWebSocket(server, graphqlPath, subscriptions);

  return {
    server,
    drain() {
      isDraining = true;
    },
    async close(lingerMs = 0) {
      isDraining = true;
      streams.stop();
      void door.close();
      sse.close();
      // After all that has already connected was taken on: what still waits at a port that closes is cut off. So nobody was
      // asked to connect anew before.
      await endOfTurn();
      isLeaving = true;
      // Those whose head is written can no longer be asked to leave: ended now, their connections count as idle below.
      outbox.flush();
      for (const responses of underWay.values()) for (const response of responses) if (!response.headersSent) response.setHeader('connection', 'close');
      // Not HTTP's own close, which would also cut off at once whoever is about to speak.
      const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
      await Promise.all([sockets.close(), sleep(lingerMs)]);
      // A busy process may not have read yet what reached it long ago, and would take such a connection for idle.
      await endOfTurn();
      server.close(() => undefined);
      await closed;
      await operations.stop();
    },
    async cut() {
      outbox.flush();
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

const wantsEvents = ({ headers }: IncomingMessage): boolean =>
  (headers.accept ?? '').split(',').some((range) => range.trim().toLowerCase().startsWith('text/event-stream'));

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
