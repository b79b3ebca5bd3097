import type { GraphQLSchema } from 'graphql';
import type { Services } from '../app.js';
import { staticCost } from '../graphql/complexity.js';
import type { DocumentCache, Prepared } from '../graphql/documents.js';
import type { Mask } from '../graphql/errors.js';
import { WorkBudget } from '../graphql/work-budget.js';
import { type Presented, stillGood } from '../http/credentials.js';
import type { Viewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import type { ConcurrencyLimiter } from '../load/concurrency-limiter.js';
import type { PrincipalLimiter } from '../load/principal-limiter.js';
import type { StreamLimiter } from './stream-limiter.js';

interface OpenStream {
  readonly viewer: Viewer;
  readonly presented: Presented;
  readonly end: (why: string) => void;
}

/** What WebSocket and SSE serve subscriptions with: the same for both. */
export interface SubscriptionDeps {
  readonly services: Services;
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
  schema: GraphQLSchema,
  { document, operation }: Prepared,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): void {
  new WorkBudget().charge(staticCost(schema, document, operation, variables ?? {}));
}

/** The open sockets and event streams of this process: ended when the credential they were opened with expires or is revoked. */
export class OpenStreams {
  private readonly open = new Set<OpenStream>();
  private readonly unsubscribe: () => void;

  constructor(private readonly services: Services) {
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
    await Promise.all(
      [...this.open]
        .filter(({ viewer }) => 'token' in viewer || viewer.kind === 'DEVICE_KEY')
        .map((stream) => this.reviewOne(stream)),
    );
  }

  private async reviewOne(stream: OpenStream): Promise<void> {
    try {
      await stillGood(this.services, stream.presented);
    } catch (error) {
      // A store that does not answer says nothing about the token: the stream brings nothing new meanwhile either.
      if (!(error instanceof GatewayError)) return;
      if (error.code === 'UNAUTHENTICATED') stream.end('the credential has expired or was revoked');
      if (error.code === 'FORBIDDEN') stream.end(error.message);
    }
  }
}
