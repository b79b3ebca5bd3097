import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FormattedExecutionResult } from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import { bounds } from '../graphql/bounds.js';
import { createContext } from '../graphql/context.js';
import { asGraphQLError } from '../graphql/documents.js';
import { boundedErrors } from '../graphql/errors.js';
import { executionOptions } from '../graphql/executor.js';
import type { Origins } from '../http/cors.js';
import { authenticate, type Presented } from '../http/credentials.js';
import { addressOf, principalOf, requestIdOf } from '../http/request.js';
import type { Viewer } from '../identity/viewer.js';
import { badInput, GatewayError, rateLimited } from '../lib/errors.js';
import { within } from '../lib/timers.js';
import { carry, closeReason, type Wire } from './socket.js';
import { chargeSubscription, type SubscriptionDeps } from './streams.js';

const initWaitMs = 3000;
const farewellMs = 1000;
const goingAway = 1001;
const tryAgainLater = 1013;

const tooMany = () =>
  rateLimited(
    `more than ${bounds.socketOperations} subscriptions on one socket: complete one, or open another socket`,
    1000,
    {
      name: 'socket',
      quota: bounds.socketOperations,
      windowSecs: 1,
    },
  );

interface Session {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly address: string;
}

/** Subscriptions over `graphql-transport-ws`, under the same rules as HTTP. */
export function serveWebSocket(
  server: Server,
  path: string,
  origins: Origins,
  { services, schema, documents, principals, concurrency, limiter, streams, mask }: SubscriptionDeps,
): { close(): Promise<void> } {
  const { config, metrics, log } = services;
  const releases = new WeakMap<object, () => void>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: bounds.frameBytes,
    autoPong: false,
    handleProtocols,
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if ((request.url ?? '').split('?')[0] !== path) return refuseUpgrade(socket, '404 Not Found');
    if (!origins.allows(request)) return refuseUpgrade(socket, '403 Forbidden');
    const release = pendingOf(request);
    if (!release) return refuseUpgrade(socket, '429 Too Many Requests');
    socket.once('close', release);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      releases.set(opened, release);
      carry(protocol, opened, request, log);
    });
    return undefined;
  });

  /** Counts a socket that has yet to present a credential; undefined if its address has too many of them. */
  function pendingOf(request: IncomingMessage): (() => void) | undefined {
    try {
      return limiter.connect(addressOf(request, config.trustProxy));
    } catch {
      return undefined;
    }
  }

  // Kept outside the library's own context, which hooks of a socket that never got through would find empty.
  const sessions = new WeakMap<object, Session>();
  const masked = (session: Session | undefined) => (error: unknown) => mask(error, session?.requestId ?? 'none');

  const protocol = makeServer<Presented, Wire>({
    connectionInitWaitTimeout: initWaitMs,
    async onConnect({ extra, connectionParams = {} }) {
      const presented = connectionParams ?? {};
      const requestId = requestIdOf(extra.request.headers);
      try {
        const address = addressOf(extra.request, config.trustProxy);
        const viewer = await authenticate(services, presented, address);
        if (extra.socket.readyState !== extra.socket.OPEN) return false;
        if (viewer.kind === 'ANONYMOUS') {
          extra.socket.close(CloseCode.Unauthorized, 'the connection_init payload must contain a credential');
          return false;
        }
        const release = limiter.open(principalOf(viewer, address), address);
        releases.get(extra.socket)?.();
        const unwatch = streams.watch({
          viewer,
          presented,
          end: (why) => extra.socket.close(CloseCode.Forbidden, why),
        });
        sessions.set(extra.socket, { viewer, requestId, address });
        metrics.sockets.inc({ transport: 'ws' });
        // The library tells only of sockets that got through; this one may be gone before that.
        extra.socket.once('close', () => {
          unwatch();
          release();
          metrics.sockets.dec({ transport: 'ws' });
        });
        return true;
      } catch (error) {
        const told = mask(error, requestId);
        const code =
          error instanceof GatewayError && error.code !== 'SERVICE_UNAVAILABLE' ? CloseCode.Forbidden : tryAgainLater;
        extra.socket.close(code, closeReason(`${told.extensions.code}: ${told.message}`));
        return false;
      }
    },
    async onSubscribe({ extra }, id, payload) {
      const session = sessions.get(extra.socket);
      if (!session) throw new Error('subscribed before connecting');
      try {
        concurrency.refuseList();
        principals.admit(principalOf(session.viewer, session.address))();
        const prepared = documents.prepare(payload.query, payload.operationName);
        if (!('document' in prepared)) return prepared;
        const { document, operation } = prepared;
        if (operation.operation !== 'subscription')
          throw badInput({ path: 'query', message: 'must be a subscription; send queries and mutations over HTTP' });
        chargeSubscription(schema, prepared, payload.variables);
        if (!extra.accept(id)) throw tooMany();
        const { operationName = null, variables } = payload;
        return {
          ...executionOptions(schema, config.production),
          document,
          operationName,
          variableValues: variables ?? {},
          contextValue: createContext(services, session),
        };
      } catch (error) {
        if (error instanceof GatewayError) return [asGraphQLError(error)];
        throw error;
      }
    },
    onError: ({ extra }, _id, _payload, errors) => boundedErrors(errors, masked(sessions.get(extra.socket))).errors,
    onNext({ extra }, _id, _payload, _args, result) {
      return result.errors
        ? ({
            ...result,
            ...boundedErrors(result.errors, masked(sessions.get(extra.socket))),
          } as FormattedExecutionResult)
        : undefined;
    },
  });
  return {
    async close() {
      for (const socket of sockets.clients) socket.close(goingAway, 'the gateway is going away: connect again');
      await within(farewellMs, new Promise((resolve) => void sockets.close(resolve)), () => undefined);
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
}
