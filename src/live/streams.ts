import type { GraphQLSchema } from 'graphql';
import type { Services } from '../app.js';
import type { ContextFactory } from '../graphql/context.js';
import type { DocumentCache } from '../graphql/documents.js';
import type { Mask } from '../graphql/errors.js';
import type { PreparedOperation } from '../graphql/prepared-operation.js';
import { WorkBudget } from '../graphql/work-budget.js';
import type { Viewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import type { ConcurrencyLimiter } from '../load/concurrency-limiter.js';
import type { PrincipalLimiter } from '../load/principal-limiter.js';
import type { StreamLimiter } from './stream-limiter.js';

// Reading order of this folder: streams (shared by both transports), ws with socket (WebSocket), sse with
// event-stream.

interface OpenStream {
  readonly viewer: Viewer;
  /** Checks the credential of the stream again. Throws if it has ended. */
  readonly recheck: () => Promise<unknown>;
  readonly end: (reason: string) => void;
}

/** The dependencies of both transports of subscriptions. */
export interface SubscriptionDeps {
  readonly services: Services;
  readonly newContext: ContextFactory;
  readonly schema: GraphQLSchema;
  readonly documents: DocumentCache;
  readonly limiter: StreamLimiter;
  readonly principals: PrincipalLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly streams: OpenStreams;
  readonly mask: Mask;
}

/** Throws BAD_USER_INPUT if each event of this subscription would cost more than an operation may. */
export function chargeSubscription(
  prepared: PreparedOperation,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): void {
  new WorkBudget().charge(prepared.cost(variables ?? {}));
}

/** The open sockets and event streams of this process. A stream is ended when its credential expires or is revoked. */
export class OpenStreams {
  private readonly open = new Set<OpenStream>();
  private readonly unsubscribe: () => void;

  constructor(services: Services) {
    this.unsubscribe = services.changeFeed.onTick(() => void this.review());
  }

  /** Watches a stream until the returned function is called. */
  watch(stream: OpenStream): () => void {
    this.open.add(stream);
    return () => this.open.delete(stream);
  }

  stop(): void {
    this.unsubscribe();
  }

  private async review(): Promise<void> {
    await Promise.all([...this.open].filter(({ viewer }) => mayEnd(viewer)).map((stream) => this.reviewOne(stream)));
  }

  private async reviewOne(stream: OpenStream): Promise<void> {
    try {
      await stream.recheck();
    } catch (error) {
      // An outage of DynamoDB says nothing about the credential. The stream brings no events during it either.
      if (!(error instanceof GatewayError)) return;
      if (error.code === 'UNAUTHENTICATED') stream.end('the credential has expired or was revoked');
      if (error.code === 'FORBIDDEN') stream.end(error.message);
    }
  }
}

/** False for an admin key, which ends only with the process. */
const mayEnd = (viewer: Viewer): boolean => viewer.kind !== 'PLATFORM_ADMIN' || viewer.session !== undefined;
