import type { LimitDecision } from '../http/limit-headers.js';

/**
 * Collects the decisions of the limiter during one request. One of them becomes the RateLimit headers of the response.
 */
export class LimitCollector {
  private last: LimitDecision | undefined;

  /** The last refusal; the last decision if none was refused; undefined if the limiter was not used. */
  get decision(): LimitDecision | undefined {
    return this.last;
  }

  /** A grant does not replace a refusal of the same operation. */
  readonly add = (decision: LimitDecision): void => {
    if (decision.retryAfterSecs !== undefined || this.last?.retryAfterSecs === undefined) this.last = decision;
  };
}
