import { PollingFeed } from '../dynamo/polling-feed.js';
import { commitVisibleMs } from '../dynamo/reread.js';
import type { Clock } from '../lib/clock.js';
import { badInput } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { sleep } from '../lib/timers.js';
import { type AlertFilter, gapBefore, partitionOf, type QuotaAlert } from './alert.js';
import type { AlertStore } from './alert.store.js';
import { AlertStream } from './alert-stream.js';

const pageSize = 200;
const maxPagesPerRound = 4;

/**
 * Follows the partitions of the alert log that somebody subscribes to. The position in a partition is an alert's
 * number.
 */
export class AlertFeed extends PollingFeed<number, QuotaAlert, number> {
  constructor(
    private readonly store: AlertStore,
    private readonly clock: Clock,
    log: Log,
  ) {
    super(
      {
        topicName: (partition) => String(partition),
        rowName: ({ number }) => number,
        positionOf: ({ number }) => number,
        head: (partition) => store.head(partition),
        listAfter: (partition, after, limit) => store.listPartition(partition, after, limit),
      },
      { pageSize, maxPagesPerRound, log, failure: 'failed to read the alert log' },
    );
  }

  /**
   * Alerts that match from now on. With `after`: first all alerts since that number, without gap or repeat, then live
   * ones. If some of them have expired, a GAP comes first. Throws if the log does not have the number `after` yet.
   */
  async subscribe(filter: AlertFilter, after?: number): Promise<AsyncIterableIterator<QuotaAlert>> {
    const partition = partitionOf(filter.orgId);
    const head = after === undefined ? undefined : await this.headFrom(partition, after);
    const replay = after === undefined ? undefined : (since: number) => this.missedSince(filter.orgId, since);
    // Live alerts are buffered from before the replay begins, so that none is lost between the two.
    return this.follow(
      partition,
      (position, onEnd) => new AlertStream({ filter, after: after ?? position, replay, onEnd }),
      head,
    );
  }

  /** The head of a partition, which must not be before `after`. */
  private async headFrom(partition: number, after: number): Promise<number> {
    const head = await this.store.head(partition);
    // The log was deleted or restored to an earlier time. The subscriber would get nothing until it has grown as long
    // again.
    if (after > head)
      throw badInput({
        path: 'after',
        message: 'is ahead of the alert log, which was reset since: subscribe without `after`',
      });
    return head;
  }

  /** The next alerts after a number, with a GAP where some are missing. */
  private async missedSince(orgId: string, last: number): Promise<readonly QuotaAlert[]> {
    const partition = partitionOf(orgId);
    const head = await this.store.head(partition);
    let missed = await this.nextPage(partition, last);
    if (missed.length === 0 && head > last) {
      // The entries may not be visible yet, though their transaction is committed.
      await sleep(commitVisibleMs);
      missed = await this.nextPage(partition, last);
    }
    return this.withGaps(orgId, last, missed, head);
  }

  /** Numbers are contiguous, so a missing number has expired. DynamoDB deletes expired entries in any order. */
  private withGaps(orgId: string, last: number, found: readonly QuotaAlert[], head: number): QuotaAlert[] {
    const alerts: QuotaAlert[] = [];
    let expected = last + 1;
    const addGap = (next: number) => {
      if (next > expected) alerts.push(gapBefore(orgId, next - 1, this.clock.nowMs()));
    };
    for (const alert of found) {
      addGap(alert.number);
      alerts.push(alert);
      expected = alert.number + 1;
    }
    if (found.length < pageSize) addGap(head + 1);
    return alerts;
  }
}
