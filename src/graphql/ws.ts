import type { Server } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { Viewer } from '../identity/viewer.js';
import { GatewayError, rateLimited } from '../lib/errors.js';
import { within } from '../lib/timers.js';
import { bounds } from './bounds.js';
import { createContext } from './context.js';
import { authenticate, type Presented } from './credentials.js';
import { asGraphQLError } from './documents.js';
import { addressOf, principalOf, requestIdOf } from './http.js';
import { carry, closeReason, type Wire } from './socket.js';
import type { SubscriptionParts } from './streams.js';

const initWaitMs = 3000;
const farewellMs = 1000;
const goingAway = 1001;
const tryAgainLater = 1013;

const tooMany = () =>
  rateLimited(`more than ${bounds.socketOperations} operations on one socket`, 1000, { name: 'socket', quota: bounds.socketOperations, windowSecs: 1 });

interface Session {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly address: string;
}

/** Subscriptions over `graphql-transport-ws`, under the same rules as HTTP. */
export function serveWebSocket(
  server: Server,
  path: string,
  { services, documents, admission, turnstile, streams, mask }: SubscriptionParts,
): { close(): Promise<void> } {
  const { config, metrics, log } = services;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: bounds.frameBytes, autoPong: false, handleProtocols });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if ((request.url ?? '').split('?')[0] !== path) {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => carry(protocol, opened, request, log));
  });

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
        const release = admission.admit(principalOf(viewer, address));
        const unwatch = streams.watch({ viewer, presented, end: (why) => extra.socket.close(CloseCode.Forbidden, why) });
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
        const code = error instanceof GatewayError && error.code !== 'SERVICE_UNAVAILABLE' ? CloseCode.Forbidden : tryAgainLater;
        extra.socket.close(code, closeReason(`${told.extensions.code}: ${told.message}`));
        return false;
      }
    },
    async onSubscribe({ extra }, _id, payload) {
      const session = sessions.get(extra.socket);
      if (!session) throw new Error('subscribed before connecting');
      try {
        if (extra.running() > bounds.socketOperations) throw tooMany();
        turnstile.refuseList();
        admission.admit(principalOf(session.viewer, session.address))();
      } catch (error) {
        return [asGraphQLError(error as GatewayError)];
      }
      const prepared = documents.prepare(payload);
      return Array.isArray(prepared) ? prepared : { ...prepared, contextValue: createContext(services, session) };
    },
    onError: ({ extra }, _id, _payload, errors) => errors.map(masked(sessions.get(extra.socket))),
    onNext({ extra }, _id, _payload, _args, result) {
      return result.errors ? ({ ...result, errors: result.errors.map(masked(sessions.get(extra.socket))) } as FormattedExecutionResult) : undefined;
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
