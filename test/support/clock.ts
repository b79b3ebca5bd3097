import type { Clock } from '../../src/lib/clock.js';

export interface ManualClockOptions {
  /** The wall clock stands at this time until it is moved. Default: it runs with the real time. */
  readonly frozenAtMs?: number;
  /** How fast ages and deadlines inside a process run: 0.05 is twenty times slower, 0 only by hand. Default: 1. */
  readonly monotonicRate?: number;
}

/**
 * The clock of the tests. The wall clock runs with the real time plus what the test adds, or stands still while it is
 * frozen. Ages and deadlines inside the process run with the real time, at the given rate.
 */
export class ManualClock implements Clock {
  private offsetMs = 0;
  private agedMs = 0;
  private frozenMs: number | undefined;
  private readonly monotonicRate: number;

  constructor({ frozenAtMs, monotonicRate = 1 }: ManualClockOptions = {}) {
    this.frozenMs = frozenAtMs;
    this.monotonicRate = monotonicRate;
  }

  nowMs(): number {
    return this.frozenMs ?? Date.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return performance.now() * this.monotonicRate + this.agedMs;
  }

  /** Moves the wall clock. With a rate of 0 the monotonic clock moves with it, because nothing else moves it. */
  advance(ms: number): void {
    this.offsetMs += ms;
    if (this.frozenMs !== undefined) this.frozenMs += ms;
    if (this.monotonicRate === 0) this.agedMs += ms;
  }

  /** Lets caches and deadlines inside the process grow old. The wall clock moves with them unless it is frozen. */
  age(ms: number): void {
    this.agedMs += ms;
    if (this.frozenMs === undefined) this.offsetMs += ms;
  }

  /** Freezes the wall clock at a time, or where it is. */
  freeze(atMs = this.nowMs()): void {
    this.frozenMs = atMs;
  }

  /** Lets a frozen wall clock run again, with the real time plus what was added. */
  unfreeze(): void {
    this.frozenMs = undefined;
  }
}

/** Noon of a day in the next year, at which it stays until it is moved: what refills is what the test lets refill. */
export const frozenNoon = (): ManualClock =>
  new ManualClock({ frozenAtMs: Date.UTC(new Date().getUTCFullYear() + 1, 5, 15, 12) });

/** Both clocks stand still until they are moved. */
export const stoppedClock = (atMs = 1_000_000): ManualClock => new ManualClock({ frozenAtMs: atMs, monotonicRate: 0 });
