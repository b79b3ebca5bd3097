import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSourceEventStream, type ExecutionResult, execute } from 'graphql';
import { bounds } from '../graphql/bounds.js';
import { type Context, createContext } from '../graphql/context.js';
import type { Prepared } from '../graphql/documents.js';
import { boundedErrors } from '../graphql/errors.js';
import { executionOptions } from '../graphql/executor.js';
import type { GraphQLParams } from '../graphql/operations.js';
import { principalOf } from '../http/request.js';
import { GatewayError, unavailable } from '../lib/errors.js';
import { type Repeating, repeat } from '../lib/timers.js';
import { chargeSubscription, type SubscriptionDeps } from './streams.js';

const heartbeatMs = 10_000;

export interface SseHandler {
  /** Sends the events of a subscription until it ends. Throws if nothing has been sent yet. */
  follow(follower: Follower, prepared: Prepared, params: GraphQLParams): Promise<void>;
  close(): void;
}

interface Follower extends Pick<Context, 'viewer' | 'address' | 'requestId'> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The whole response to a query or mutation for a client that reads only events. */
export const sseBody = (result: object): string =>
  `event: next\ndata: ${JSON.stringify(result)}\n\nevent: complete\ndata: \n\n`;

/** Subscriptions over server-sent events ("distinct connections" of the GraphQL over SSE protocol). */
export function createSseHandler({ services, schema, limiter, streams, mask }: SubscriptionDeps): SseHandler {
  const { config, log, metrics } = services;
  const open = new Set<EventStream>();
  let isClosed = false;

  async function sourceOf(
    { request, viewer, address, requestId }: Follower,
    { document, operation }: Prepared,
    params: GraphQLParams,
  ) {
    chargeSubscription(schema, { document, operation }, params.variables);
    const { 'last-event-id': lastEventId } = request.headers;
    let idOf: ((event: never) => string) | undefined;
    const identifyEvents = (tell: (event: never) => string) => {
      idOf = tell;
    };
    const resumed = typeof lastEventId === 'string' && lastEventId !== '' ? { lastEventId } : {};
    const contextValue = createContext(services, { viewer, requestId, address, identifyEvents, ...resumed });
    const args = {
      ...executionOptions(schema, config.production),
      document,
      contextValue,
      variableValues: params.variables ?? {},
      operationName: params.operationName ?? null,
    };
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return { refused: source };
    const resultOf = async (event: unknown): Promise<StreamEvent> => {
      const id = idOf?.(event as never);
      return { result: await execute({ ...args, rootValue: event }), ...(id === undefined ? {} : { id }) };
    };
    return { events: (source as AsyncIterable<unknown>)[Symbol.asyncIterator](), resultOf };
  }

  return {
    async follow(follower, prepared, params) {
      const { viewer, address, request, response, requestId } = follower;
      if (isClosed) throw unavailable('the gateway is shutting down: connect again');
      const source = await sourceOf(follower, prepared, params);
      if (source.refused) throwIfUnauthenticated(source.refused);
      const release = limiter.open(principalOf(viewer, address), address);
      const shown = (result: ExecutionResult) =>
        result.errors ? { ...result, ...boundedErrors(result.errors, (error) => mask(error, requestId)) } : result;
      const stream = new EventStream(response, requestId, shown);
      const unwatch = streams.watch({ viewer, presented: request.headers, end: () => stream.end() });
      open.add(stream);
      if (isClosed) stream.end();
      metrics.sockets.inc({ transport: 'sse' });
      log.info({ requestId, principal: principalOf(viewer, address), transport: 'sse' }, 'subscription');
      try {
        if (source.refused) stream.refuse(source.refused);
        else await stream.forward(source.events, source.resultOf);
      } finally {
        open.delete(stream);
        unwatch();
        release();
        metrics.sockets.dec({ transport: 'sse' });
      }
    },
    close() {
      isClosed = true;
      for (const stream of open) stream.end();
    },
  };
}

/** A browser reconnects for ever to a stream that begins; only a status tells it that it may not. */
function throwIfUnauthenticated({ errors }: ExecutionResult): void {
  const cause = errors?.[0]?.originalError;
  if (cause instanceof GatewayError && cause.code === 'UNAUTHENTICATED') throw cause;
}

interface StreamEvent {
  readonly result: ExecutionResult;
  /** What the caller sends as `Last-Event-ID` to resume after this event. */
  readonly id?: string;
}

/** One client's events. A reader that lets more than 1 MB wait is disconnected. */
class EventStream {
  private source: AsyncIterator<unknown> | undefined;
  private heartbeat: Repeating | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly requestId: string,
    private readonly shown: (result: ExecutionResult) => unknown,
  ) {}

  /** Tells why there will be no events, and ends. */
  refuse(result: ExecutionResult): void {
    this.begin();
    this.event('next', JSON.stringify(this.shown(result)));
    this.complete();
  }

  /** Sends each event of the source until it ends or the reader is gone. */
  async forward(source: AsyncIterator<unknown>, resultOf: (event: unknown) => Promise<StreamEvent>): Promise<void> {
    const { response } = this;
    this.source = source;
    this.begin();
    try {
      // Gone while it was being prepared: nothing would ever tell the source to stop.
      if (this.isGone) return void source.return?.();
      for (let next = await source.next(); !next.done && !this.isGone; next = await source.next()) {
        const { result, id } = await resultOf(next.value);
        this.event('next', JSON.stringify(this.shown(result)), id);
        if (response.writableLength > bounds.bufferedBytes) response.destroy();
      }
    } catch (error) {
      // The source broke off: its client must hear of it, or it would wait for ever on a stream that looks alive.
      this.event('next', JSON.stringify(this.shown({ errors: [error as never] })));
    } finally {
      this.complete();
    }
  }

  end(): void {
    this.response.req.socket.off('close', this.gone);
    void this.heartbeat?.stop();
    void this.source?.return?.();
    this.response.end();
  }

  private get isGone(): boolean {
    return this.response.destroyed || this.response.writableEnded || this.response.req.socket.destroyed;
  }

  private begin(): void {
    const { response } = this;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
      'x-request-id': this.requestId,
    });
    response.write(':\n\n');
    // Keeps proxies from taking a quiet stream for a dead one.
    this.heartbeat = repeat(
      heartbeatMs,
      async () => void response.write(':\n\n'),
      () => undefined,
    );
    response.once('close', this.gone);
    // A response that waits behind another on its connection is not told when that goes.
    response.req.socket.once('close', this.gone);
  }

  private readonly gone = (): void => this.end();

  private complete(): void {
    if (!this.isGone) this.event('complete', '');
    this.end();
  }

  private event(name: string, data: string, id?: string): void {
    if (!this.response.writableEnded)
      this.response.write(`event: ${name}\ndata: ${data}\n${id === undefined ? '' : `id: ${id}\n`}\n`);
  }
}
