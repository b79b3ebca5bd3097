import { Overloaded } from '../lib/errors.js';
import { endOfTurn } from '../lib/timers.js';

/** Starts in one turn of the event loop: few enough that whoever is turned away hears of it at once. */
const startsATurn = 16;

/**
 * How much this process takes on. What it cannot serve soon it refuses at the door, before a byte of it is read, for as
 * little work as can be; lists and history go when half of the room is taken, so that the rest is left to what counts.
 */
export class Turnstile {
  private underWay = 0;
  private started = 0;
  private readonly waiting: (() => void)[] = [];
  private isTurning = false;

  /** `most` operations at once; 0 is no bound. */
  constructor(private readonly most: number) {}

  get isFull(): boolean {
    return this.most > 0 && this.underWay >= this.most;
  }

  /** Throws when there is no room; else resolves when it is this operation's turn, to what must be called when it is done. */
  async enter(): Promise<() => void> {
    if (this.isFull) throw tooMuch();
    this.underWay++;
    if (this.started >= startsATurn) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.started++;
    this.turn();
    return () => void this.underWay--;
  }

  /** Throws where a list has to make room. */
  refuseList(): void {
    if (this.most > 0 && this.underWay > this.most / 2)
      throw new Overloaded('the gateway is busy and leaves lists and history for later; nothing was changed: try again in a second');
  }

  /** Sees to it that the next turn of the event loop lets the next ones start. */
  private turn(): void {
    if (this.isTurning) return;
    this.isTurning = true;
    void endOfTurn().then(() => {
      this.isTurning = false;
      this.started = 0;
      for (const resolve of this.waiting.splice(0, startsATurn)) resolve();
    });
  }
}

export const tooMuch = (): Overloaded => new Overloaded('the gateway has more under way than it can serve; nothing was changed: try again in a second');
