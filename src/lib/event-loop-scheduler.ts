import { type Clock, systemClock } from './clock.js';
import { endOfTurn, settled } from './timers.js';

/**
 * For so long work goes on, one piece after the other, before everyone else has a turn of the event loop again: as long as
 * everyone else has just had, within these bounds.
 */
const shortestSliceMs = 4;
const longestSliceMs = 8;

/**
 * Lets a busy process look up from its work every few milliseconds. An event loop handles all that has come before it looks
 * again, and when hundreds of answers of the store have come, whoever only wants to hear no waits for all of them. So
 * operations start, and go on after an answer of the store, in slices of time: in their order, those that have begun first;
 * one that is new starts in every slice, so that none waits for ever.
 */
export class EventLoopScheduler {
  private readonly begun: (() => void)[] = [];
  private readonly fresh: (() => void)[] = [];
  private sliceEndsMs = Number.NEGATIVE_INFINITY;
  private isTurning = false;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'> = systemClock) {}

  /** Undefined: go on at once. Else resolves when it is its turn. */
  turn(which: 'begun' | 'fresh'): Promise<void> | undefined {
    const nowMs = this.clock.monotonicMs();
    if (!this.isTurning) {
      // The first of a turn of the event loop: it and others that follow have until the slice ends.
      this.sliceEndsMs = nowMs + shortestSliceMs;
      void this.run();
      return undefined;
    }
    if (nowMs <= this.sliceEndsMs && this.begun.length + this.fresh.length === 0) return undefined;
    return new Promise((resolve) => this[which].push(resolve));
  }

  private async run(): Promise<void> {
    this.isTurning = true;
    do {
      const leftMs = this.clock.monotonicMs();
      await endOfTurn();
      const nowMs = this.clock.monotonicMs();
      this.sliceEndsMs = nowMs + Math.min(longestSliceMs, Math.max(shortestSliceMs, nowMs - leftMs));
      const first = this.fresh.shift() ?? this.begun.shift();
      for (
        let next = first;
        next;
        next = this.clock.monotonicMs() < this.sliceEndsMs ? (this.begun.shift() ?? this.fresh.shift()) : undefined
      ) {
        next();
        // Until it waits for something itself.
        await settled();
      }
    } while (this.begun.length + this.fresh.length > 0);
    this.isTurning = false;
  }
}
