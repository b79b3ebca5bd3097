import { PushStream } from '../lib/push-stream.js';
import { type AlertFilter, matches, type QuotaAlert } from './alert.js';

const maxWaiting = 256;

type Replay = (since: number) => Promise<readonly QuotaAlert[]>;

export interface AlertStreamOptions {
  readonly filter: AlertFilter;
  /** The number of the last alert that the subscriber has. */
  readonly after: number;
  /**
   * Reads the next missed alerts; none: the stream is up to date. Absent for a subscriber that only wants live alerts.
   */
  readonly replay: Replay | undefined;
  readonly onEnd: () => void;
}

/**
 * The alerts of one subscriber: first the missed ones, then live ones. A stream whose reader falls too far behind is
 * ended; the reader subscribes again with its last cursor.
 */
export class AlertStream implements AsyncIterableIterator<QuotaAlert> {
  private readonly live: PushStream<QuotaAlert>;
  private readonly ready: QuotaAlert[] = [];
  private last: number;
  private replay: Replay | undefined;

  constructor(private readonly options: AlertStreamOptions) {
    this.live = new PushStream(maxWaiting, options.onEnd);
    this.last = options.after;
    this.replay = options.replay;
  }

  push(alert: QuotaAlert): void {
    if (matches(this.options.filter, alert)) this.live.push(alert);
  }

  async next(): Promise<IteratorResult<QuotaAlert>> {
    while (!this.live.isEnded) {
      const alert = this.ready.shift();
      if (alert) return { value: alert, done: false };
      if (this.replay) {
        await this.readMissed(this.replay);
        continue;
      }
      const next = await this.live.next();
      if (next.done) return next;
      // The replay has returned alerts that were pushed meanwhile.
      if (next.value.number > this.last) {
        this.last = next.value.number;
        return next;
      }
    }
    return { value: undefined, done: true };
  }

  return(): Promise<IteratorResult<QuotaAlert>> {
    return this.live.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the stream if the read fails. */
  private async readMissed(replay: Replay): Promise<void> {
    try {
      const missed = await replay(this.last);
      this.ready.push(...missed.filter((alert) => matches(this.options.filter, alert)));
      const newest = missed.at(-1);
      if (newest) this.last = newest.number;
      else this.replay = undefined;
    } catch (error) {
      await this.return();
      throw error;
    }
  }
}
