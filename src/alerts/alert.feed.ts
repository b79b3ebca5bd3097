import type { Log } from '../lib/log.js';
import { PushStream } from '../lib/push-stream.js';
import { secondLook } from '../lib/second-look.js';
import { type Repeating, repeat } from '../lib/timers.js';
import { type AlertFilter, laneOf, matches, type QuotaAlert } from './alert.js';
import type { AlertStore } from './alert.store.js';

const pollMs = 1000;
const pageSize = 200;
const mostWaiting = 256;

interface Lane {
  /** The last number handed to the subscribers. */
  last: number;
  readonly streams: Set<AlertStream>;
}

/** Tails the alert log for all subscribers of this process: one reader a lane, however many orgs and subscribers there are. */
export class AlertFeed {
  private readonly lanes = new Map<number, Lane>();
  private loop: Repeating | undefined;
  private stopped = false;

  constructor(
    private readonly store: AlertStore,
    private readonly log: Log,
  ) {}

  private readonly complain = (error: unknown): void => this.log.warn({ err: error }, 'the alert log could not be read');

  start(): void {
    this.loop = repeat(
      pollMs,
      async () => {
        await Promise.all([...this.lanes].map(([number, lane]) => this.tail(number, lane).catch(this.complain)));
      },
      this.complain,
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.loop?.stop();
    for (const { streams } of this.lanes.values()) for (const stream of streams) await stream.return();
  }

  /** What matches from now on; with `after`, first all that was missed since that number, without gap or repeat. */
  async subscribe(filter: AlertFilter, after?: number): Promise<AsyncIterableIterator<QuotaAlert>> {
    const number = laneOf(filter.orgId);
    let lane = this.lanes.get(number);
    if (!lane) {
      const head = await this.store.head(number);
      lane = this.lanes.get(number) ?? { last: head, streams: new Set() };
      this.lanes.set(number, lane);
    }
    const { streams } = lane;
    // Live events are kept from before the replay begins, so that nothing falls between the two.
    const stream = new AlertStream(filter, after ?? lane.last, after === undefined ? undefined : (beyond) => this.listAfter(number, beyond), () => {
      streams.delete(stream);
      if (streams.size === 0) this.lanes.delete(number);
    });
    streams.add(stream);
    if (this.stopped) await stream.return();
    return stream;
  }

  private async listAfter(number: number, last: number): Promise<readonly QuotaAlert[]> {
    const read = () => this.store.listLane(number, last, pageSize);
    return secondLook(await read(), read, (alert) => alert.number);
  }

  private async tail(number: number, lane: Lane): Promise<void> {
    while (lane.streams.size > 0 && !this.stopped) {
      const alerts = await this.listAfter(number, lane.last);
      for (const alert of alerts) {
        lane.last = alert.number;
        for (const stream of lane.streams) stream.push(alert);
      }
      if (alerts.length < pageSize) return;
    }
  }
}

/** One subscriber's alerts. A reader that falls too far behind is ended: it can come back with its last cursor. */
class AlertStream implements AsyncIterableIterator<QuotaAlert> {
  private readonly live: PushStream<QuotaAlert>;
  private readonly ready: QuotaAlert[] = [];

  constructor(
    private readonly filter: AlertFilter,
    private seen: number,
    private replay: ((beyond: number) => Promise<readonly QuotaAlert[]>) | undefined,
    onEnd: () => void,
  ) {
    this.live = new PushStream(mostWaiting, onEnd);
  }

  push(alert: QuotaAlert): void {
    if (matches(this.filter, alert)) this.live.push(alert);
  }

  async next(): Promise<IteratorResult<QuotaAlert>> {
    while (!this.live.isEnded) {
      const alert = this.ready.shift();
      if (alert) return { value: alert, done: false };
      if (this.replay) {
        await this.readOn(this.replay).catch(async (error: unknown) => {
          await this.return();
          throw error;
        });
        continue;
      }
      const next = await this.live.next();
      if (next.done) return next;
      if (next.value.number > this.seen) {
        this.seen = next.value.number;
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

  private async readOn(replay: (beyond: number) => Promise<readonly QuotaAlert[]>): Promise<void> {
    const missed = await replay(this.seen);
    this.ready.push(...missed.filter((alert) => matches(this.filter, alert)));
    const last = missed.at(-1);
    if (last) this.seen = last.number;
    else this.replay = undefined;
  }
}
