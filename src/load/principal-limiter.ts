import type { Clock } from '../lib/clock.js';
import { rateLimited } from '../lib/errors.js';
import { Throttle } from '../lib/throttle.js';

/** Limits the requests per second and the concurrent requests of each principal in this process. 0 means no limit. */
export class PrincipalLimiter {
  private readonly inFlight = new Map<string, number>();
  private readonly throttle: Throttle | undefined;

  constructor(
    clock: Clock,
    private readonly maxPerSecond: number,
    private readonly maxConcurrent: number,
  ) {
    this.throttle = maxPerSecond > 0 ? new Throttle(clock, maxPerSecond, maxPerSecond) : undefined;
  }

  /** Counts a request until the returned function is called. Throws RATE_LIMITED above a limit. */
  admit(principal: string): () => void {
    const running = this.inFlight.get(principal) ?? 0;
    if (this.maxConcurrent > 0 && running >= this.maxConcurrent)
      throw rateLimited(`more than ${this.maxConcurrent} concurrent requests`, 1000, {
        name: 'concurrency',
        quota: this.maxConcurrent,
        windowSecs: 1,
      });
    const waitMs = this.throttle?.take(principal) ?? 0;
    if (waitMs > 0)
      throw rateLimited(`more than ${this.maxPerSecond} requests per second`, waitMs, {
        name: 'requests',
        quota: this.maxPerSecond,
        windowSecs: 1,
      });
    this.inFlight.set(principal, running + 1);
    return () => {
      const left = (this.inFlight.get(principal) ?? 1) - 1;
      if (left > 0) this.inFlight.set(principal, left);
      else this.inFlight.delete(principal);
    };
  }
}
