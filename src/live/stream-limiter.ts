import { bounds } from '../graphql/bounds.js';
import { addressBucket } from '../lib/address.js';
import { rateLimited } from '../lib/errors.js';

/** Bounds the WebSockets and event streams that are open, apart from the bounds of requests: no socket keeps a login waiting. */
export class StreamLimiter {
  private readonly pending = new Counter();
  private readonly byAddress = new Counter();
  private readonly byPrincipal = new Counter();

  /** Counts a socket that has not presented a credential yet; returns what ends that. Throws RATE_LIMITED past the bounds. */
  connect(address: string): () => void {
    const bucket = addressBucket(address);
    this.pending.refuseOver(bucket, bounds.pendingSocketsPerAddress, 'unauthenticated sockets of this address');
    this.byAddress.refuseOver(bucket, bounds.socketsPerAddress, 'sockets of this address');
    return this.pending.add(bucket);
  }

  /** Counts an authenticated stream; returns what ends that. Throws RATE_LIMITED past the bounds. */
  open(principal: string, address: string): () => void {
    const bucket = addressBucket(address);
    this.byPrincipal.refuseOver(principal, bounds.socketsPerPrincipal, 'streams of this client');
    this.byAddress.refuseOver(bucket, bounds.socketsPerAddress, 'streams of this address');
    const ends = [this.byPrincipal.add(principal), this.byAddress.add(bucket)];
    return () => {
      for (const end of ends) end();
    };
  }
}

class Counter {
  private readonly counts = new Map<string, number>();

  refuseOver(key: string, max: number, what: string): void {
    if ((this.counts.get(key) ?? 0) >= max)
      throw rateLimited(`more than ${max} ${what}: close some before opening another`, 1000, {
        name: 'streams',
        quota: max,
        windowSecs: 1,
      });
  }

  /** Returns what takes it back, once. */
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
