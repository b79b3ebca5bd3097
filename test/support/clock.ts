import type { Clock } from '../../src/lib/clock.js';

/** The wall clock, moved by hand. Ages and deadlines inside the process go on with the real time. */
export class TestClock implements Clock {
  private offsetMs = 0;

  nowMs(): number {
    return Date.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  advance(ms: number): void {
    this.offsetMs += ms;
  }
}
