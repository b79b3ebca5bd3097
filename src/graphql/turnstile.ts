import { Overloaded } from '../lib/errors.js';
import type { Pace } from '../lib/pace.js';

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
 * room is taken, so that the rest is left to what counts.
 */
export class Turnstile {
  private underWay = 0;
  private room: number;
  private reviewedMs: number;
  private answered = 0;
  private answeredMs = 0;

  /** `most` operations at once; 0 is no bound. */
  constructor(
    private readonly most: number,
    private readonly around: Surroundings,
    private readonly pace: Pace,
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
    await this.pace.turn('fresh');
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

  /** Whether lists have to make room. */
  get isHalfFull(): boolean {
    return this.most > 0 && this.underWay > Math.max(1, this.room / 2);
  }

  /** Throws where a list has to make room. */
  refuseList(): void {
    if (this.isHalfFull) throw new Overloaded('the gateway is busy and leaves lists and history for later; nothing was changed: try again in a second');
  }
}

export const tooMuch = (): Overloaded => new Overloaded(refusalText);
export const refusalText = 'the gateway has more under way than it can serve; nothing was changed: try again in a second';
