import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSourceEventStream, type ExecutionResult, execute } from 'graphql';
import type { Context } from '../graphql/context.js';
import { boundedErrors } from '../graphql/errors.js';
import { executionOptions } from '../graphql/executor.js';
import type { GraphQLParams } from '../graphql/operations.js';
import type { PreparedOperation } from '../graphql/prepared-operation.js';
import { recheckSession } from '../http/console-request.js';
import { recheck } from '../http/credentials.js';
import { principalOf } from '../http/request.js';
import { GatewayError, unavailable } from '../lib/errors.js';
import { EventStream, type StreamEvent } from './event-stream.js';
import { chargeSubscription, type SubscriptionDeps } from './streams.js';

interface Follower extends Pick<Context, 'viewer' | 'address' | 'requestId'> {
  readonly request: IncomingMessage;
  readonly isConsole: boolean;
  readonly response: ServerResponse;
}

/** The events of a subscription, or the reason why there are none. */
type EventSource =
  | { readonly refused: ExecutionResult }
  | { readonly events: AsyncIterator<unknown>; readonly resultOf: (event: unknown) => Promise<StreamEvent> };

/** The whole response to a query or mutation, for a client that accepts only events. */
export const sseBody = (result: object): string =>
  `event: next\ndata: ${JSON.stringify(result)}\n\nevent: complete\ndata: \n\n`;

/** Serves subscriptions over server-sent events ("distinct connections" mode of the GraphQL over SSE protocol). */
export class SseHandler {
  private readonly open = new Set<EventStream>();
  private isClosed = false;

  constructor(private readonly deps: SubscriptionDeps) {}

  /** Sends the events of a subscription until it ends. Throws only if nothing has been sent. */
  async follow(follower: Follower, prepared: PreparedOperation, params: GraphQLParams): Promise<void> {
    if (this.isClosed) throw unavailable('the gateway is shutting down: connect again');
    const source = await this.subscribe(follower, prepared, params);
    if ('refused' in source) throwIfUnauthenticated(source.refused);
    const { viewer, address, request, response, requestId, isConsole } = follower;
    const { services, limiter, streams } = this.deps;
    const { log, metrics } = services;
    const principal = principalOf(viewer, address);
    const release = limiter.open(principal, address);
    const stream = new EventStream(response, requestId, (result) => this.masked(result, requestId));
    const unwatch = streams.watch({
      viewer,
      recheck: () => (isConsole ? recheckSession(services, request) : recheck(services, request.headers)),
      end: () => stream.end(),
    });
    this.open.add(stream);
    if (this.isClosed) stream.end();
    metrics.sockets.inc({ transport: 'sse' });
    log.info({ requestId, principal, transport: 'sse' }, 'subscription');
    try {
      if ('refused' in source) stream.refuse(source.refused);
      else await stream.forward(source.events, source.resultOf);
    } finally {
      this.open.delete(stream);
      unwatch();
      release();
      metrics.sockets.dec({ transport: 'sse' });
    }
  }

  /** Ends all streams, and refuses new ones. */
  close(): void {
    this.isClosed = true;
    for (const stream of this.open) stream.end();
  }

  private async subscribe(
    { request, viewer, address, requestId }: Follower,
    prepared: PreparedOperation,
    { variables, operationName }: GraphQLParams,
  ): Promise<EventSource> {
    chargeSubscription(prepared, variables);
    const { schema, services, newContext } = this.deps;
    const { 'last-event-id': lastEventId } = request.headers;
    const resumed = typeof lastEventId === 'string' && lastEventId !== '' ? { lastEventId } : {};
    let idOf: ((event: never) => string) | undefined;
    const identifyEvents = (identify: (event: never) => string) => {
      idOf = identify;
    };
    const args = {
      ...executionOptions(schema, services.config.production),
      document: prepared.document,
      contextValue: newContext({ viewer, requestId, address, identifyEvents, ...resumed }),
      variableValues: variables ?? {},
      operationName: operationName ?? null,
    };
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return { refused: source };
    const resultOf = async (event: unknown): Promise<StreamEvent> => {
      const id = idOf?.(event as never);
      return { result: await execute({ ...args, rootValue: event }), ...(id === undefined ? {} : { id }) };
    };
    return { events: (source as AsyncIterable<unknown>)[Symbol.asyncIterator](), resultOf };
  }

  private masked(result: ExecutionResult, requestId: string): object {
    if (!result.errors) return result;
    return { ...result, ...boundedErrors(result.errors, (error) => this.deps.mask(error, requestId)) };
  }
}

/** A browser reconnects for ever to a stream that begins. Only the status of the response tells it to stop. */
function throwIfUnauthenticated({ errors }: ExecutionResult): void {
  const cause = errors?.[0]?.originalError;
  if (cause instanceof GatewayError && cause.code === 'UNAUTHENTICATED') throw cause;
}
