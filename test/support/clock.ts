import type { Clock } from '../../src/lib/clock.js';

/** The wall clock, moved by hand. Ages and deadlines inside the process go on with the real time. */
export class TestClock implements Clock {
  private offsetMs = 0;
  private agedMs = 0;

  nowMs(): number {
    return Date.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return performance.now() + this.agedMs;
  }

  /** Lets what processes remember grow old; the wall clock goes with it. */
  age(ms: number): void {
    this.agedMs += ms;
    this.offsetMs += ms;
  }

  advance(ms: number): void {
    this.offsetMs += ms;
  }
}

/** Noon of a day, and it stays noon until it is moved: what refills is what the test lets refill. */
export class StandingClock extends TestClock {
  constructor(private atMs = Date.UTC(new Date().getUTCFullYear() + 1, 5, 15, 12)) {
    super();
  }

  override nowMs(): number {
    return this.atMs;
  }

  override advance(ms: number): void {
    this.atMs += ms;
  }

  moveTo(atMs: number): void {
    this.atMs = atMs;
  }
}
