import type { Clock } from './clock.js';
import { Lru } from './lru.js';

interface Bucket {
  tokens: number;
  atMs: number;
}

/** In-memory token buckets, one per key, that protect this process. The least recently used are dropped. */
export class Throttle {
  private readonly buckets: Lru<string, Bucket>;

  constructor(
    private readonly clock: Clock,
    readonly burst: number,
    private readonly perSecond: number,
    maxKeys = 10_000,
  ) {
    this.buckets = new Lru(maxKeys);
  }

  /** Takes one token. Returns 0 if admitted, otherwise the milliseconds until the next token. */
  take(key: string): number {
    const bucket = this.refilled(key);
    const waitMs = this.waitOf(bucket);
    if (waitMs > 0) return waitMs;
    bucket.tokens -= 1;
    this.buckets.set(key, bucket);
    return 0;
  }

  /** Returns what `take` would, without taking a token. */
  waitMs(key: string): number {
    return this.waitOf(this.refilled(key));
  }

  private refilled(key: string): Bucket {
    const nowMs = this.clock.monotonicMs();
    const bucket = this.buckets.get(key) ?? { tokens: this.burst, atMs: nowMs };
    bucket.tokens = Math.min(this.burst, bucket.tokens + ((nowMs - bucket.atMs) * this.perSecond) / 1000);
    bucket.atMs = nowMs;
    return bucket;
  }

  private waitOf({ tokens }: Bucket): number {
    return tokens >= 1 ? 0 : ((1 - tokens) * 1000) / this.perSecond;
  }
}
