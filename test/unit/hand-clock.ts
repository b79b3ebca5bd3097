import type { Clock } from '../../src/lib/clock.js';

/** Stands still until it is moved: both the wall clock and the one that never steps back. */
export class HandClock implements Clock {
  constructor(private atMs = 1_000_000) {}

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }

  advance(ms: number): void {
    this.atMs += ms;
  }
}
