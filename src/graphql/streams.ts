import type { Services } from '../app.js';
import type { Viewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import type { Admission } from './admission.js';
import { type Presented, stillGood } from './credentials.js';
import type { SubscriptionDocuments } from './documents.js';
import type { Mask } from './errors.js';
import type { Turnstile } from './turnstile.js';

interface OpenStream {
  readonly viewer: Viewer;
  readonly presented: Presented;
  readonly end: (why: string) => void;
}

/** What WebSocket and SSE serve subscriptions with: the same for both. */
export interface SubscriptionParts {
  readonly services: Services;
  readonly documents: SubscriptionDocuments;
  readonly admission: Admission;
  readonly turnstile: Turnstile;
  readonly streams: OpenStreams;
  readonly mask: Mask;
}

/** The open sockets and event streams of this process: ended when the credential they were opened with expires or is revoked. */
export class OpenStreams {
  private readonly open = new Set<OpenStream>();
  private readonly unsubscribe: () => void;

  constructor(private readonly services: Services) {
    this.unsubscribe = services.revocationFeed.onTick(() => void this.review());
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
    await Promise.all([...this.open].filter(({ viewer }) => 'token' in viewer || viewer.kind === 'DEVICE_KEY').map((stream) => this.reviewOne(stream)));
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
