import type { Clock } from '../lib/clock.js';
import { randomFraction } from '../lib/id.js';

const firstPauseMs = 25;
const maxPauseMs = 400;

/**
 * Backoff with full jitter: a random pause up to a ceiling that doubles, so that colliding writers do not collide
 * again.
 */
export const pauseMs = (attempt: number): number =>
  randomFraction() * Math.min(maxPauseMs, firstPauseMs * 2 ** attempt);

const share = 0.1;
const reservePerSecond = 10;
const maxSaved = 100;

/**
 * Retry budget: one retry per ten calls, and ten per second at any load, so that retries never become the main load.
 */
export class RetryBudget {
  private saved = reservePerSecond;
  private reserve = reservePerSecond;
  private reserveAtMs: number;

  constructor(private readonly clock: Clock) {
    this.reserveAtMs = clock.monotonicMs();
  }

  called(): void {
    this.saved = Math.min(maxSaved, this.saved + share);
  }

  mayRepeat(): boolean {
    if (this.saved >= 1) {
      this.saved -= 1;
      return true;
    }
    const nowMs = this.clock.monotonicMs();
    this.reserve = Math.min(reservePerSecond, this.reserve + ((nowMs - this.reserveAtMs) * reservePerSecond) / 1000);
    this.reserveAtMs = nowMs;
    if (this.reserve < 1) return false;
    this.reserve -= 1;
    return true;
  }
}
