import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs, FormattedExecutionResult, GraphQLError } from 'graphql';
import {
  CloseCode,
  handleProtocols,
  makeServer,
  type Server as ProtocolServer,
  type SubscribePayload,
} from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { bounds } from '../graphql/bounds.js';
import { asGraphQLError } from '../graphql/documents.js';
import { boundedErrors, type PublicErrors } from '../graphql/errors.js';
import { executionOptions } from '../graphql/executor.js';
import { PreparedOperation } from '../graphql/prepared-operation.js';
import type { Origins } from '../http/cors.js';
import { authenticate, type Presented, recheck } from '../http/credentials.js';
import { addressOf, principalOf, requestIdOf } from '../http/request.js';
import type { Viewer } from '../identity/viewer.js';
import { badInput, GatewayError, rateLimited } from '../lib/errors.js';
import { within } from '../lib/timers.js';
import { closeReason, SocketConnection, type SocketContext } from './socket.js';
import { chargeSubscription, type SubscriptionDeps } from './streams.js';

const initTimeoutMs = 3000;
const closeTimeoutMs = 1000;
const goingAway = 1001;
const tryAgainLater = 1013;

const tooManySubscriptions = () =>
  rateLimited(
    `more than ${bounds.socketOperations} subscriptions on one socket: complete one, or open another socket`,
    1000,
    { name: 'socket', quota: bounds.socketOperations, windowSecs: 1 },
  );

interface SocketSession {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly address: string;
}

/** Serves subscriptions over `graphql-transport-ws`, under the same rules as HTTP. */
export class WebSocketHandler {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    maxPayload: bounds.frameBytes,
    autoPong: false,
    handleProtocols,
  });
  /** Ends the count of a socket as one without a credential. */
  private readonly pending = new WeakMap<WebSocket, () => void>();
  // Not in the context of the library: its hooks would not find it there for a socket that never got connected.
  private readonly sessions = new WeakMap<WebSocket, SocketSession>();
  private readonly protocol: ProtocolServer<SocketContext>;

  constructor(
    private readonly deps: SubscriptionDeps,
    private readonly origins: Origins,
  ) {
    this.protocol = makeServer<Presented, SocketContext>({
      connectionInitWaitTimeout: initTimeoutMs,
      onConnect: ({ extra, connectionParams }) => this.connect(extra, connectionParams ?? {}),
      onSubscribe: async ({ extra }, id, payload) => this.subscribe(extra, id, payload),
      onError: ({ extra }, _id, _payload, errors) => this.masked(extra, errors).errors,
      onNext: ({ extra }, ...[, , , result]) =>
        result.errors ? ({ ...result, ...this.masked(extra, result.errors) } as FormattedExecutionResult) : undefined,
    });
  }

  /** Accepts the upgrades of a server at this path. */
  attach(server: Server, path: string): void {
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      if ((request.url ?? '').split('?')[0] !== path) return refuseUpgrade(socket, '404 Not Found');
      if (!this.origins.allows(request)) return refuseUpgrade(socket, '403 Forbidden');
      const release = this.countPending(request);
      if (!release) return refuseUpgrade(socket, '429 Too Many Requests');
      socket.once('close', release);
      this.sockets.handleUpgrade(request, socket, head, (opened) => {
        this.pending.set(opened, release);
        new SocketConnection(this.protocol, opened, request, this.deps.services.log);
      });
      return undefined;
    });
  }

  async close(): Promise<void> {
    const { clients } = this.sockets;
    for (const socket of clients) socket.close(goingAway, 'the gateway is shutting down: connect again');
    await within(closeTimeoutMs, new Promise((resolve) => void this.sockets.close(resolve)), () => undefined);
    for (const socket of clients) socket.terminate();
  }

  /** Counts a socket that has yet to present a credential. Undefined if its address has too many. */
  private countPending(request: IncomingMessage): (() => void) | undefined {
    try {
      return this.deps.limiter.connect(this.addressOf(request));
    } catch {
      return undefined;
    }
  }

  private addressOf(request: IncomingMessage): string {
    return addressOf(request, this.deps.services.config.trustProxy);
  }

  /** False if the socket is refused. It has been closed with the reason then. */
  private async connect({ socket, request }: SocketContext, presented: Presented): Promise<boolean> {
    const requestId = requestIdOf(request.headers);
    try {
      const address = this.addressOf(request);
      const viewer = await authenticate(this.deps.services, presented, address);
      if (socket.readyState !== socket.OPEN) return false;
      if (viewer.kind === 'ANONYMOUS') {
        socket.close(CloseCode.Unauthorized, 'the connection_init payload must contain a credential');
        return false;
      }
      this.open(socket, presented, { viewer, requestId, address });
      return true;
    } catch (error) {
      const { message, extensions } = this.deps.mask(error, requestId);
      const isRefused = error instanceof GatewayError && error.code !== 'SERVICE_UNAVAILABLE';
      socket.close(isRefused ? CloseCode.Forbidden : tryAgainLater, closeReason(`${extensions.code}: ${message}`));
      return false;
    }
  }

  /** Counts and watches an authenticated socket until it is closed. */
  private open(socket: WebSocket, presented: Presented, session: SocketSession): void {
    const { limiter, streams, services } = this.deps;
    const { viewer, address } = session;
    const { sockets } = services.metrics;
    const release = limiter.open(principalOf(viewer, address), address);
    this.pending.get(socket)?.();
    const unwatch = streams.watch({
      viewer,
      recheck: () => recheck(services, presented),
      end: (reason) => socket.close(CloseCode.Forbidden, reason),
    });
    this.sessions.set(socket, session);
    sockets.inc({ transport: 'ws' });
    // The library reports only sockets that got connected. This one may be closed before that.
    socket.once('close', () => {
      unwatch();
      release();
      sockets.dec({ transport: 'ws' });
    });
  }

  private subscribe(
    connection: SocketContext,
    id: string,
    payload: SubscribePayload,
  ): ExecutionArgs | readonly GraphQLError[] {
    const session = this.sessions.get(connection.socket);
    if (!session) throw new Error('subscribed before connecting');
    const { concurrency, principals, documents } = this.deps;
    try {
      concurrency.refuseList();
      principals.admit(principalOf(session.viewer, session.address))();
      const prepared = documents.prepare(payload.query, payload.operationName);
      if (!(prepared instanceof PreparedOperation)) return prepared;
      if (prepared.operation.operation !== 'subscription')
        throw badInput({ path: 'query', message: 'must be a subscription; send queries and mutations over HTTP' });
      chargeSubscription(prepared, payload.variables);
      if (!connection.accept(id)) throw tooManySubscriptions();
      return this.executionArgs(prepared, payload, session);
    } catch (error) {
      if (error instanceof GatewayError) return [asGraphQLError(error)];
      throw error;
    }
  }

  private executionArgs(
    { document }: PreparedOperation,
    { operationName = null, variables }: SubscribePayload,
    session: SocketSession,
  ): ExecutionArgs {
    const { schema, services, newContext } = this.deps;
    return {
      ...executionOptions(schema, services.config.production),
      document,
      operationName,
      variableValues: variables ?? {},
      contextValue: newContext(session),
    };
  }

  private masked({ socket }: SocketContext, errors: readonly unknown[]): PublicErrors {
    const requestId = this.sessions.get(socket)?.requestId ?? 'none';
    return boundedErrors(errors, (error) => this.deps.mask(error, requestId));
  }
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
}
