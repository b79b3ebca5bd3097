import { Overloaded } from '../lib/errors.js';
import { endOfTurn, settled } from '../lib/timers.js';

/**
 * For so long operations start, one after the other, before everyone else has a turn of the event loop again: as long as
 * everyone else has just had, within these bounds.
 */
const shortestSliceMs = 8;
const longestSliceMs = 24;

/** Looked at so often, an event loop busier than this with answers later than that has too much to do. */
const reviewMs = 100;
const busyShare = 0.9;
const lateMs = 500;
const leastRoom = 256;

export interface Surroundings {
  monotonicMs(): number;
  /** The share of the time since the last call in which the event loop was busy. */
  utilization(): number;
}

/**
 * How much this process takes on: at most so much, and less where it cannot answer in time. What it cannot serve soon it
 * refuses at the door, before a byte of it is read, for as little work as can be; lists and history go when half of the
 * room is taken, so that the rest is left to what counts. Operations start in slices of time, so that whoever is turned
 * away hears of it at once, and however many are turned away, those who are not get on.
 */
export class Turnstile {
  private underWay = 0;
  private readonly waiting: (() => void)[] = [];
  private sliceEndsMs = Number.NEGATIVE_INFINITY;
  private isTurning = false;
  private room: number;
  private reviewedMs: number;
  private answered = 0;
  private answeredMs = 0;

  /** `most` operations at once; 0 is no bound. */
  constructor(
    private readonly most: number,
    private readonly around: Surroundings,
  ) {
    this.room = most;
    this.reviewedMs = around.monotonicMs();
  }

  get isFull(): boolean {
    return this.most > 0 && this.underWay >= this.room;
  }

  /** Throws when there is no room; else resolves when it is this operation's turn, to what must be called when it is done. */
  async enter(): Promise<() => void> {
    if (this.isFull) throw tooMuch();
    this.underWay++;
    const enteredMs = this.around.monotonicMs();
    if (!this.isTurning) {
      // The first of a turn of the event loop: it and others that follow have until the slice ends.
      this.sliceEndsMs = enteredMs + shortestSliceMs;
      void this.turn();
    } else if (this.waiting.length > 0 || enteredMs > this.sliceEndsMs) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return () => this.leave(enteredMs);
  }

  private leave(enteredMs: number): void {
    this.underWay--;
    const nowMs = this.around.monotonicMs();
    this.answered++;
    this.answeredMs += nowMs - enteredMs;
    if (nowMs - this.reviewedMs > reviewMs) this.review(nowMs);
  }

  /** Less room where the process is busy and late, more again where it is not. A slow store alone is no reason. */
  private review(nowMs: number): void {
    const isLate = this.answeredMs / this.answered > lateMs;
    const isBusy = this.around.utilization() > busyShare;
    this.room = isLate && isBusy ? Math.max(Math.min(leastRoom, this.most), this.room * 0.9) : Math.min(this.most, this.room * 1.05 + 1);
    this.reviewedMs = nowMs;
    this.answered = 0;
    this.answeredMs = 0;
  }

  /** Throws where a list has to make room. */
  refuseList(): void {
    if (this.most > 0 && this.underWay > Math.max(1, this.room / 2))
      throw new Overloaded('the gateway is busy and leaves lists and history for later; nothing was changed: try again in a second');
  }

  private async turn(): Promise<void> {
    this.isTurning = true;
    for (let more = true; more; more = this.waiting.length > 0) {
      const leftMs = this.around.monotonicMs();
      await endOfTurn();
      const nowMs = this.around.monotonicMs();
      this.sliceEndsMs = nowMs + Math.min(longestSliceMs, Math.max(shortestSliceMs, nowMs - leftMs));
      for (let next = this.waiting.shift(); next; next = this.around.monotonicMs() < this.sliceEndsMs ? this.waiting.shift() : undefined) {
        next();
        // Until it waits for something itself.
        await settled();
      }
    }
    this.isTurning = false;
  }
}

export const tooMuch = (): Overloaded => new Overloaded(refusalText);
export const refusalText = 'the gateway has more under way than it can serve; nothing was changed: try again in a second';
