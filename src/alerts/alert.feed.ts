import { commitVisibleMs, rereadAfterCommit } from '../dynamo/reread.js';
import type { Clock } from '../lib/clock.js';
import { badInput } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { PushStream } from '../lib/push-stream.js';
import { type Repeating, repeat, sleep } from '../lib/timers.js';
import { type AlertFilter, gapBefore, matches, partitionOf, type QuotaAlert } from './alert.js';
import type { AlertStore } from './alert.store.js';

const pollMs = 1000;
const pageSize = 200;
const maxWaiting = 256;

interface Partition {
  /** The last number handed to the subscribers. */
  last: number;
  readonly streams: Set<AlertStream>;
}

/** Tails the alert log for all subscribers of this process: one reader per partition, however many orgs and subscribers there are. */
export class AlertFeed {
  private readonly partitions = new Map<number, Partition>();
  private loop: Repeating | undefined;
  private stopped = false;

  constructor(
    private readonly store: AlertStore,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  private readonly complain = (error: unknown): void => this.log.warn({ err: error }, 'failed to read the alert log');

  start(): void {
    this.loop = repeat(
      pollMs,
      async () => {
        await Promise.all(
          [...this.partitions].map(([number, partition]) => this.tail(number, partition).catch(this.complain)),
        );
      },
      this.complain,
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.loop?.stop();
    for (const { streams } of this.partitions.values()) for (const stream of streams) await stream.return();
  }

  /**
   * Alerts that match from now on. With `after`, first all that were missed since that number, without gap or repeat; if some
   * of them have expired, a GAP first. Throws if `after` is a number that the log does not have yet.
   */
  async subscribe(filter: AlertFilter, after?: number): Promise<AsyncIterableIterator<QuotaAlert>> {
    const number = partitionOf(filter.orgId);
    let partition = this.partitions.get(number);
    if (!partition || after !== undefined) {
      const head = await this.store.head(number);
      // The log was deleted or restored to an earlier time. The subscriber would wait in vain until it has grown as long again.
      if ((after ?? 0) > head)
        throw badInput({
          path: 'after',
          message: 'is ahead of the alert log, which was reset since: subscribe without `after`',
        });
      partition = this.partitions.get(number) ?? { last: head, streams: new Set() };
      this.partitions.set(number, partition);
    }
    const { streams } = partition;
    const replay = after === undefined ? undefined : (beyond: number) => this.missedSince(filter.orgId, beyond);
    // Live events are kept from before the replay begins, so that nothing falls between the two.
    const stream = new AlertStream(filter, after ?? partition.last, replay, () => {
      streams.delete(stream);
      if (streams.size === 0) this.partitions.delete(number);
    });
    streams.add(stream);
    if (this.stopped) await stream.return();
    return stream;
  }

  /** The next alerts after a number, with a GAP where some are missing. */
  private async missedSince(orgId: string, last: number): Promise<readonly QuotaAlert[]> {
    const number = partitionOf(orgId);
    const head = await this.store.head(number);
    let missed = await this.listAfter(number, last);
    if (missed.length === 0 && head > last) {
      // The entries may only not be visible yet, though their transaction is committed.
      await sleep(commitVisibleMs);
      missed = await this.listAfter(number, last);
    }
    return this.withGaps(orgId, last, missed, head);
  }

  /** Numbers are contiguous, so one that is missing has expired. Expired entries are deleted in any order. */
  private withGaps(orgId: string, last: number, found: readonly QuotaAlert[], head: number): QuotaAlert[] {
    const told: QuotaAlert[] = [];
    let expected = last + 1;
    const noteGap = (next: number) => {
      if (next > expected) told.push(gapBefore(orgId, next - 1, this.clock.nowMs()));
    };
    for (const alert of found) {
      noteGap(alert.number);
      told.push(alert);
      expected = alert.number + 1;
    }
    if (found.length < pageSize) noteGap(head + 1);
    return told;
  }

  private async listAfter(number: number, last: number): Promise<readonly QuotaAlert[]> {
    const read = () => this.store.listPartition(number, last, pageSize);
    return rereadAfterCommit(await read(), read, (alert) => alert.number);
  }

  private async tail(number: number, partition: Partition): Promise<void> {
    while (partition.streams.size > 0 && !this.stopped) {
      const alerts = await this.listAfter(number, partition.last);
      for (const alert of alerts) {
        partition.last = alert.number;
        for (const stream of partition.streams) stream.push(alert);
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
    this.live = new PushStream(maxWaiting, onEnd);
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
