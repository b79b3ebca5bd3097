import type { Clock } from '../lib/clock.js';
import { rateLimited } from '../lib/errors.js';
import { Throttle } from '../lib/throttle.js';

/** How much one principal may ask of this process: so many a second, so many at once. 0 is no bound. */
export class PrincipalLimiter {
  private readonly inFlight = new Map<string, number>();
  private readonly throttle: Throttle | undefined;

  constructor(
    clock: Clock,
    readonly perSecond: number,
    readonly atOnce: number,
  ) {
    this.throttle = perSecond > 0 ? new Throttle(clock, perSecond, perSecond) : undefined;
  }

  /** Throws RATE_LIMITED, or returns what must be called when the request is done. */
  admit(principal: string): () => void {
    const running = this.inFlight.get(principal) ?? 0;
    if (this.atOnce > 0 && running >= this.atOnce)
      throw rateLimited(`more than ${this.atOnce} requests at once`, 1000, {
        name: 'concurrency',
        quota: this.atOnce,
        windowSecs: 1,
      });
    const waitMs = this.throttle?.take(principal) ?? 0;
    if (waitMs > 0)
      throw rateLimited(`more than ${this.perSecond} requests a second`, waitMs, {
        name: 'requests',
        quota: this.perSecond,
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
