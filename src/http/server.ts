import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Services } from '../app.js';
import { contextFactory } from '../graphql/context.js';
import { DocumentCache } from '../graphql/documents.js';
import { createMask } from '../graphql/errors.js';
import { Operations } from '../graphql/operations.js';
import { GatewayError } from '../lib/errors.js';
import { endOfTurn, loopUtilization, sleep } from '../lib/timers.js';
import { SseHandler } from '../live/sse.js';
import { StreamLimiter } from '../live/stream-limiter.js';
import { OpenStreams, type SubscriptionDeps } from '../live/streams.js';
import { WebSocketHandler } from '../live/ws.js';
import { ConcurrencyLimiter } from '../load/concurrency-limiter.js';
import { OverloadResponder } from '../load/overload-response.js';
import { PrincipalLimiter } from '../load/principal-limiter.js';
import { plainJson } from './accept.js';
import { Connections } from './connections.js';
import { loadDocuments } from './console-documents.js';
import { sessionRoutes } from './console-endpoints.js';
import { type ConsoleFiles, loadConsoleFiles } from './console-files.js';
import { consolePages } from './console-pages.js';
import { createOrigins, type Origins } from './cors.js';
import type { ExchangeDeps } from './exchange.js';
import { createExplorer } from './explorer.js';
import { exportRoutes } from './export-endpoint.js';
import { type GraphQLEndpointDeps, handleGraphQL } from './graphql-endpoint.js';
import { Incoming } from './incoming.js';
import { limitsRoutes } from './limits-endpoints.js';
import { oauthRoutes } from './oauth.js';
import { consolePath, graphqlPath, isCrossOrigin, isLimited } from './paths.js';
import { requestIdOf } from './request.js';
import { refusal, respond } from './response.js';
import { ResponseBatcher } from './response-batcher.js';
import type { Route } from './route.js';
import { statusRoutes } from './status-routes.js';

const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1000,
  IncomingMessage: Incoming,
} as const;

// Reading order of this folder: server (routes, closing), graphql-endpoint (one request from head to response),
// exchange (turn, authentication, timeout, log line), request and response; then limits-endpoints (/v1),
// export-endpoint (/export), oauth, status-routes; console-request (when a session cookie counts), console-endpoints,
// console-documents, console-pages.

/** The parts of a server. */
interface ServerDeps extends GraphQLEndpointDeps {
  readonly schema: GraphQLSchema;
  readonly streams: OpenStreams;
  readonly subscriptions: SubscriptionDeps;
  readonly consoleFiles: ConsoleFiles;
}

/** Builds everything that this process serves over HTTP, WebSocket and SSE. */
export async function createHttpServer(services: Services, schema: GraphQLSchema): Promise<HttpServer> {
  const { config, clock, log, store } = services;
  const { production } = config;
  const mask = createMask(log);
  const documents = new DocumentCache(schema, production);
  const gauge = { monotonicMs: () => clock.monotonicMs(), utilization: loopUtilization() };
  const exchange: ExchangeDeps = {
    services,
    newContext: contextFactory(services),
    principals: new PrincipalLimiter(clock, config.principalRps, config.principalConcurrency),
    concurrency: new ConcurrencyLimiter(config.gatewayConcurrency, gauge, services.scheduler),
    connections: new Connections(clock),
    mask,
    batcher: new ResponseBatcher(),
  };
  const { concurrency } = exchange;
  const operations = await Operations.start({ schema, production, documents, store, mask, log, concurrency });
  const streams = new OpenStreams(services);
  const subscriptions: SubscriptionDeps = { ...exchange, schema, documents, limiter: new StreamLimiter(), streams };
  const sse = new SseHandler(subscriptions);
  const site = await loadConsole(services);
  return new HttpServer({ ...exchange, schema, documents, operations, sse, streams, subscriptions, ...site });
}

/** The files and documents of the web console. */
async function loadConsole({ config, log }: Services): Promise<Pick<ServerDeps, 'consoleFiles' | 'consoleDocuments'>> {
  if (!config.console) return { consoleFiles: new Map(), consoleDocuments: new Map() };
  const { dir } = config.console;
  return { consoleFiles: await loadConsoleFiles(dir), consoleDocuments: await loadDocuments(dir, log) };
}

/** The HTTP server of a gateway: routes requests, and closes without losing one. */
export class HttpServer {
  readonly server: Server;
  private readonly routes: Readonly<Record<string, Route>>;
  private readonly origins: Origins;
  private readonly overload: OverloadResponder;
  private readonly sockets: WebSocketHandler;
  private isDraining = false;
  private isClosing = false;
  private isProxyKnown: boolean;

  constructor(private readonly deps: ServerDeps) {
    const { config } = deps.services;
    this.routes = this.newRoutes();
    this.origins = createOrigins(config.corsOrigins);
    this.overload = new OverloadResponder(deps);
    this.isProxyKnown = config.trustProxy;
    this.server = createServer(serverOptions, (request, response) => this.handle(request, response));
    this.server.on('connection', (socket) => deps.connections.accept(socket));
    this.server.on('upgrade', (request) => this.dropAdminKey(request));
    this.sockets = new WebSocketHandler(deps.subscriptions, this.origins);
    this.sockets.attach(this.server, graphqlPath);
  }

  /** From now on /readyz says that the gateway is not ready. */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * Ends the streams, refuses new connections, and asks with every response to connect elsewhere. Resolves when every
   * request in flight has its response. Open connections may still send a request for `lingerMs`; then idle connections
   * are closed. A request that has reached this process by then gets its response. A request that meets the closing was
   * not executed.
   */
  async close(lingerMs = 0): Promise<void> {
    const { streams, sse, batcher, connections, operations } = this.deps;
    this.isDraining = true;
    streams.stop();
    void this.overload.close();
    sse.close();
    // First accept every connection that has been made: closing the port cuts off those that wait there. Therefore no
    // client has been asked to reconnect before this.
    await endOfTurn();
    this.isClosing = true;
    // A response whose head is written can no longer ask its client to leave. Ended now, its connection counts as idle.
    batcher.flush();
    for (const response of connections.responses())
      if (!response.headersSent) response.setHeader('connection', 'close');
    // Not the `close` of HTTP, which would also cut off clients that are about to send a request.
    const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(this.server, () => resolve()));
    await Promise.all([this.sockets.close(), sleep(lingerMs)]);
    // A busy process may not have read requests that arrived long ago, and would treat their connections as idle.
    await endOfTurn();
    this.server.close(() => undefined);
    await closed;
    connections.stop();
    await operations.stop();
  }

  /** Sends the responses that are ready, and closes all connections. */
  async cut(): Promise<void> {
    this.deps.batcher.flush();
    await endOfTurn();
    this.server.closeAllConnections();
  }

  private newRoutes(): Readonly<Record<string, Route>> {
    const { services, principals, consoleFiles } = this.deps;
    const { config } = services;
    return {
      [graphqlPath]: (request, response) => handleGraphQL(this.deps, request, response),
      ...limitsRoutes(this.deps),
      ...exportRoutes(this.deps),
      ...oauthRoutes(services, principals),
      ...statusRoutes(services, () => this.isDraining),
      ...(config.console ? { ...sessionRoutes(this.deps), [consolePath]: consolePages(consoleFiles) } : {}),
      ...(config.production ? {} : { '/': createExplorer(graphqlPath) }),
    };
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    const { concurrency, connections } = this.deps;
    this.dropAdminKey(request);
    this.warnOfProxy(request);
    if (concurrency.isFull && isLimited(request.url ?? '') && request.method !== 'OPTIONS') {
      this.origins.mark(request, response);
      this.overload.reject(request, response, this.isClosing);
      return;
    }
    if (this.isClosing) response.setHeader('connection', 'close');
    connections.begin(request, response);
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    if (isCrossOrigin(path)) {
      if (request.method === 'OPTIONS') {
        this.origins.preflight(request, response);
        return;
      }
      this.origins.mark(request, response);
    }
    void this.route(path, request, response);
  }

  private async route(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.routeOf(path)(request, response);
    } catch (error) {
      const requestId = requestIdOf(request.headers);
      const shown = this.deps.mask(error, requestId);
      if (!response.headersSent) respond(response, refusal(error, plainJson, shown), requestId);
    }
  }

  private routeOf(path: string): Route {
    const name = path.startsWith(`${consolePath}/`) ? consolePath : path;
    return Object.hasOwn(this.routes, name) ? (this.routes[name] as Route) : notFoundRoute;
  }

  /** Removes an admin key that was sent as the request id: it has no prefix by which the log could redact it. */
  private dropAdminKey({ headers }: IncomingMessage): void {
    const { adminKeys } = this.deps.services.config;
    if (adminKeys.some(({ key }) => headers['x-request-id'] === key)) delete headers['x-request-id'];
  }

  /** Warns once if a proxy seems to be in front of the gateway and is not trusted. */
  private warnOfProxy({ headers }: IncomingMessage): void {
    if (this.isProxyKnown || headers['x-forwarded-for'] === undefined) return;
    this.isProxyKnown = true;
    this.deps.services.log.warn(
      'received X-Forwarded-For while TRUST_PROXY is off: if your own proxy sets it, set TRUST_PROXY=on; ' +
        'until then all callers behind the proxy share one address and its limits',
    );
  }
}

const notFoundRoute: Route = () => {
  throw new GatewayError('NOT_FOUND', `nothing is served at this path; GraphQL is at ${graphqlPath}`);
};
