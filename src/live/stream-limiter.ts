import { bounds } from '../graphql/bounds.js';
import { addressBucket } from '../lib/address.js';
import { rateLimited } from '../lib/errors.js';

/**
 * Limits the open WebSockets and event streams. Requests have limits of their own, so that no socket delays a login.
 */
export class StreamLimiter {
  private readonly pending = new Counter();
  private readonly byAddress = new Counter();
  private readonly byPrincipal = new Counter();

  /** Counts a socket without a credential until the returned function is called. Throws RATE_LIMITED above a limit. */
  connect(address: string): () => void {
    const bucket = addressBucket(address);
    this.pending.refuseOver(bucket, bounds.pendingSocketsPerAddress, 'unauthenticated sockets of this address');
    this.byAddress.refuseOver(bucket, bounds.socketsPerAddress, 'sockets of this address');
    return this.pending.add(bucket);
  }

  /** Counts an authenticated stream until the returned function is called. Throws RATE_LIMITED above a limit. */
  open(principal: string, address: string): () => void {
    const bucket = addressBucket(address);
    this.byPrincipal.refuseOver(principal, bounds.socketsPerPrincipal, 'streams of this client');
    this.byAddress.refuseOver(bucket, bounds.socketsPerAddress, 'streams of this address');
    const releases = [this.byPrincipal.add(principal), this.byAddress.add(bucket)];
    return () => {
      for (const release of releases) release();
    };
  }
}

class Counter {
  private readonly counts = new Map<string, number>();

  refuseOver(key: string, max: number, what: string): void {
    if ((this.counts.get(key) ?? 0) >= max)
      throw rateLimited(`more than ${max} ${what}: close one before opening another`, 1000, {
        name: 'streams',
        quota: max,
        windowSecs: 1,
      });
  }

  /** Counts one until the returned function is called. Further calls do nothing. */
  add(key: string): () => void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = (this.counts.get(key) ?? 1) - 1;
      if (left > 0) this.counts.set(key, left);
      else this.counts.delete(key);
    };
  }
}
