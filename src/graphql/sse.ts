import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionResult, subscribe } from 'graphql';
import { unavailable } from '../lib/errors.js';
import { type Repeating, repeat } from '../lib/timers.js';
import { bounds } from './bounds.js';
import { type Context, createContext } from './context.js';
import { authenticateRequest } from './credentials.js';
import type { SubscribePayload } from './documents.js';
import type { PublicError } from './errors.js';
import { addressOf, hungUp, paramsOf, plainJson, principalOf, refusal, requestIdOf, respond } from './http.js';
import type { SubscriptionParts } from './streams.js';

const heartbeatMs = 10_000;

export interface SseHandler {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
}

interface Follower extends Pick<Context, 'viewer' | 'address' | 'requestId'> {
  readonly params: SubscribePayload;
}

/** Subscriptions over server-sent events ("distinct connections" of the GraphQL over SSE protocol), for clients without WebSocket. */
export function createSseHandler({ services, documents, admission, turnstile, streams, mask }: SubscriptionParts): SseHandler {
  const { config, log, metrics } = services;
  const open = new Set<EventStream>();
  let isClosed = false;

  /** What to send, or an error before anything was: with the status that says it best. */
  async function begin(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const params = await paramsOf(request);
    turnstile.refuseList();
    if (isClosed) throw unavailable('the gateway is going away: connect again');
    const address = addressOf(request, config.trustProxy);
    const viewer = await authenticateRequest(services, request, address);
    const release = admission.admit(principalOf(viewer, address));
    try {
      await follow(request, response, { params, viewer, address, requestId });
    } finally {
      release();
    }
  }

  async function follow(request: IncomingMessage, response: ServerResponse, { params, viewer, address, requestId }: Follower): Promise<void> {
    const prepared = documents.prepare(params);
    if (Array.isArray(prepared)) {
      const errors = prepared.map((error) => mask(error, requestId));
      respond(response, { ...refusal(prepared[0], plainJson, errors[0] as PublicError), body: JSON.stringify({ errors }) }, requestId);
      return;
    }
    const results = await subscribe({ ...prepared, contextValue: createContext(services, { viewer, requestId, address }) });
    const stream = new EventStream(response, requestId);
    const unwatch = streams.watch({ viewer, presented: request.headers, end: () => stream.end() });
    open.add(stream);
    if (isClosed) stream.end();
    metrics.sockets.inc({ transport: 'sse' });
    log.info({ requestId, principal: principalOf(viewer, address), transport: 'sse' }, 'subscription');
    try {
      await stream.send(results, (error) => mask(error, requestId));
    } finally {
      open.delete(stream);
      unwatch();
      metrics.sockets.dec({ transport: 'sse' });
    }
  }

  return {
    async handle(request, response) {
      const requestId = requestIdOf(request.headers);
      try {
        await begin(request, response, requestId);
      } catch (error) {
        if (hungUp(request, error)) return;
        respond(response, refusal(error, plainJson, mask(error, requestId)), requestId);
      }
    },
    close() {
      isClosed = true;
      for (const stream of open) stream.end();
    },
  };
}

/** One client's events. A reader that lets more than 1 MB wait is cut off. */
class EventStream {
  private source: AsyncIterator<ExecutionResult> | undefined;
  private heartbeat: Repeating | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly requestId: string,
  ) {}

  async send(results: AsyncIterable<ExecutionResult> | ExecutionResult, mask: (error: unknown) => unknown): Promise<void> {
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
    const shown = (result: ExecutionResult) => (result.errors ? { ...result, errors: result.errors.map(mask) } : result);
    try {
      await this.forward(results, (result) => this.event('next', JSON.stringify(shown(result))));
    } catch (error) {
      // The source broke off: its client must hear of it, or it would wait for ever on a stream that looks alive.
      this.event('next', JSON.stringify({ errors: [mask(error)] }));
    }
    if (!response.writableEnded && !response.destroyed) this.event('complete', '');
    this.end();
  }

  private async forward(results: AsyncIterable<ExecutionResult> | ExecutionResult, emit: (result: ExecutionResult) => void): Promise<void> {
    const { response } = this;
    if (!(Symbol.asyncIterator in results)) return emit(results);
    this.source = results[Symbol.asyncIterator]();
    // Gone while it was being prepared: nothing would ever tell the source to stop.
    if (response.destroyed || response.req.socket.destroyed) return void this.source.return?.();
    for (let next = await this.source.next(); !next.done && !response.destroyed && !response.writableEnded; next = await this.source.next()) {
      emit(next.value);
      if (response.writableLength > bounds.bufferedBytes) response.destroy();
    }
  }

  private readonly gone = (): void => this.end();

  end(): void {
    this.response.req.socket.off('close', this.gone);
    void this.heartbeat?.stop();
    void this.source?.return?.();
    this.response.end();
  }

  private event(name: string, data: string): void {
    if (!this.response.writableEnded) this.response.write(`event: ${name}\ndata: ${data}\n\n`);
  }
}
