import type { Server } from 'node:http';
import type { FormattedExecutionResult, GraphQLSchema } from 'graphql';
import { CloseCode } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { Services } from '../app.js';
import type { Viewer } from '../identity/viewer.js';
import { GatewayError, rateLimited } from '../lib/errors.js';
import type { Admission } from './admission.js';
import { bounds } from './bounds.js';
import { createContext } from './context.js';
import { authenticate } from './credentials.js';
import { asGraphQLError, SubscriptionDocuments } from './documents.js';
import { publicError } from './errors.js';
import { addressOf, principalOf, requestIdOf } from './http.js';
import type { OpenStreams } from './streams.js';

const initWaitMs = 3000;
const goingAway = 1001;
const tryAgainLater = 1013;

const tooMany = () =>
  rateLimited(`more than ${bounds.socketOperations} operations on one socket`, 1000, { name: 'socket', quota: bounds.socketOperations, windowSecs: 1 });

interface Session {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly address: string;
  readonly unwatch: () => void;
}

/** Subscriptions over `graphql-transport-ws`, under the same rules as HTTP. */
export function serveWebSocket(
  server: Server,
  path: string,
  schema: GraphQLSchema,
  services: Services,
  admission: Admission,
  streams: OpenStreams,
): { close(): Promise<void> } {
  const { config, log, metrics } = services;
  const documents = new SubscriptionDocuments(schema, config.production);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: bounds.frameBytes });
  server.on('upgrade', (request, socket, head) => {
    if (new URL(request.url ?? '/', 'http://local').pathname !== path) {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });

  // Kept outside the library's own context, which hooks of a socket that never got through would find empty.
  const sessions = new WeakMap<object, Session>();
  const mask = (session: Session | undefined) => (error: unknown) =>
    publicError(error, session?.requestId ?? 'none', (cause) => log.error({ requestId: session?.requestId, err: cause }, 'unexpected error'));

  const library = useServer(
    {
      connectionInitWaitTimeout: initWaitMs,
      async onConnect({ extra, connectionParams = {} }) {
        const presented = connectionParams ?? {};
        try {
          const viewer = await authenticate(services, presented);
          const unwatch = streams.watch({ viewer, presented, end: (why) => extra.socket.close(CloseCode.Forbidden, why) });
          sessions.set(extra.socket, { viewer, requestId: requestIdOf(extra.request.headers), address: addressOf(extra.request, config.trustProxy), unwatch });
          metrics.sockets.inc({ transport: 'ws' });
          return true;
        } catch (error) {
          const told = publicError(error, 'none', (cause) => log.error({ err: cause }, 'unexpected error'));
          const code = error instanceof GatewayError && error.code !== 'SERVICE_UNAVAILABLE' ? CloseCode.Forbidden : tryAgainLater;
          extra.socket.close(code, `${told.extensions.code}: ${told.message}`.slice(0, 120));
          return false;
        }
      },
      onDisconnect({ extra }) {
        const session = sessions.get(extra.socket);
        if (!session) return;
        sessions.delete(extra.socket);
        session.unwatch();
        metrics.sockets.dec({ transport: 'ws' });
      },
      async onSubscribe({ extra, subscriptions }, _id, payload) {
        const session = sessions.get(extra.socket);
        if (!session) throw new Error('subscribed before connecting');
        try {
          if (Object.keys(subscriptions).length > bounds.socketOperations) throw tooMany();
          admission.admit(principalOf(session.viewer, session.address))();
        } catch (error) {
          return [asGraphQLError(error as GatewayError)];
        }
        const prepared = documents.prepare(payload);
        return Array.isArray(prepared) ? prepared : { ...prepared, contextValue: createContext(services, session) };
      },
      onError: ({ extra }, _id, _payload, errors) => errors.map(mask(sessions.get(extra.socket))),
      onNext({ extra }, _id, _payload, _args, result) {
        if (extra.socket.bufferedAmount > bounds.bufferedBytes) {
          extra.socket.close(tryAgainLater, 'read faster: too much is waiting to be sent');
          return undefined;
        }
        return result.errors ? ({ ...result, errors: result.errors.map(mask(sessions.get(extra.socket))) } as FormattedExecutionResult) : undefined;
      },
    },
    sockets,
  );
  return {
    async close() {
      for (const socket of sockets.clients) socket.close(goingAway, 'the gateway is going away: connect again');
      await library.dispose();
    },
  };
}
