import { type Clock, systemClock } from './clock.js';
import { endOfTurn, settled } from './timers.js';

/** A time slice lasts as long as the previous turn of the event loop took, within these bounds. */
const minSliceMs = 4;
const maxSliceMs = 8;

/**
 * Cooperative scheduler that yields to the event loop every 4–8 ms. Without it, when hundreds of DynamoDB responses
 * arrive in one turn, new requests (including those that are rejected at once) wait until all of them have been
 * processed. Resumed operations run first, in order. At least one new operation starts in every time slice, so that
 * none starves.
 */
export class EventLoopScheduler {
  private readonly begun: (() => void)[] = [];
  private readonly fresh: (() => void)[] = [];
  private sliceEndsMs = Number.NEGATIVE_INFINITY;
  private isTurning = false;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'> = systemClock) {}

  /** Undefined: continue at once. Otherwise resolves when the operation may continue. */
  turn(which: 'begun' | 'fresh'): Promise<void> | undefined {
    const nowMs = this.clock.monotonicMs();
    if (!this.isTurning) {
      // The first operation of this turn of the event loop starts a time slice.
      this.sliceEndsMs = nowMs + minSliceMs;
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
      this.sliceEndsMs = nowMs + Math.min(maxSliceMs, Math.max(minSliceMs, nowMs - leftMs));
      const first = this.fresh.shift() ?? this.begun.shift();
      for (
        let next = first;
        next;
        next = this.clock.monotonicMs() < this.sliceEndsMs ? (this.begun.shift() ?? this.fresh.shift()) : undefined
      ) {
        next();
        // Until it waits for I/O.
        await settled();
      }
    } while (this.begun.length + this.fresh.length > 0);
    this.isTurning = false;
  }
}
