import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token buckets in this process's memory, one a key, for protecting the process itself. The least used are forgotten. */
export class Throttle {
  private readonly buckets: LRUCache<string, Bucket>;

  constructor(
    private readonly clock: Clock,
    readonly burst: number,
    private readonly perSecond: number,
    maxKeys = 10_000,
  ) {
    this.buckets = new LRUCache({ max: maxKeys });
  }

  /** 0 when admitted; otherwise the milliseconds until the next one would be. */
  take(key: string): number {
    const nowMs = this.clock.monotonicMs();
    let bucket = this.buckets.get(key);
    if (!bucket) {
      bucket = { tokens: this.burst, atMs: nowMs };
      this.buckets.set(key, bucket);
    }
    bucket.tokens = Math.min(this.burst, bucket.tokens + ((nowMs - bucket.atMs) * this.perSecond) / 1000);
    bucket.atMs = nowMs;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return ((1 - bucket.tokens) * 1000) / this.perSecond;
  }
}
