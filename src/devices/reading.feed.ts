import type { Clock } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import { type Repeating, repeat } from '../lib/timers.js';
import { minuteOf } from './device-keys.js';
import type { FeedStore } from './feed.store.js';
import { type FeedPosition, feedRetentionMs, feedWindowMs, isTooOld, startOf } from './feed-position.js';
import { gapAt } from './reading.js';
import { type FeedReplay, type LiveReading, type ReadingFilter, ReadingStream } from './reading-stream.js';
import type { Arrival, FeedRow } from './segment.js';

const pollMs = 1000;
const minuteMs = 60_000;
/** Minutes that one poll or one step of a replay reads. A gateway that was stalled catches up over several polls. */
const maxMinutes = 32;

/** An org that somebody in this process subscribes to. */
interface FollowedOrg {
  readonly orgId: string;
  /** The time up to which the feed was read. */
  readToMs: number;
  readonly streams: Set<ReadingStream>;
}

/**
 * Follows the feeds of the orgs that somebody in this process subscribes to. One reader per org serves any number of
 * subscribers.
 */
export class ReadingFeed {
  private readonly followed = new Map<string, FollowedOrg>();
  private loop: Repeating | undefined;
  private isStopped = false;

  constructor(
    private readonly store: FeedStore,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  private readonly logFailure = (error: unknown): void =>
    this.log.warn({ err: error }, 'failed to read the feed of new readings');

  start(): void {
    this.loop = repeat(
      pollMs,
      async () => {
        await Promise.all([...this.followed.values()].map((org) => this.poll(org).catch(this.logFailure)));
      },
      this.logFailure,
    );
  }

  /** Ends all streams, and every stream that is opened afterwards. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.loop?.stop();
    for (const { streams } of this.followed.values()) for (const stream of streams) await stream.return();
  }

  /**
   * Every reading that arrives from now on, in the order of arrival. With `after`: first the readings that arrived
   * since that position. If some of them are no longer in the feed, a gap comes first.
   */
  async subscribe(filter: ReadingFilter, after?: FeedPosition): Promise<AsyncIterableIterator<LiveReading>> {
    const nowMs = this.clock.nowMs();
    const hasGap = after !== undefined && isTooOld(after, nowMs);
    const from = hasGap ? startOf(nowMs - feedRetentionMs) : (after ?? startOf(nowMs));
    const stream: ReadingStream = new ReadingStream({
      filter,
      from,
      ...(after ? { replay: this.replayFrom(filter.orgId, Math.min(from.newestMs, nowMs) - feedWindowMs) } : {}),
      ...(hasGap ? { first: { ...gapAt(filter.orgId), position: from } } : {}),
      onEnd: () => this.leave(filter.orgId, stream),
    });
    if (!after) await this.skipArrived(filter.orgId, stream);
    // Live readings are buffered from before the replay begins, so that none is lost between the two.
    this.join(filter.orgId, stream, nowMs);
    if (this.isStopped) await stream.return();
    return stream;
  }

  private join(orgId: string, stream: ReadingStream, nowMs: number): void {
    const org = this.followed.get(orgId) ?? { orgId, readToMs: nowMs, streams: new Set() };
    this.followed.set(orgId, org);
    org.streams.add(stream);
  }

  private leave(orgId: string, stream: ReadingStream): void {
    const org = this.followed.get(orgId);
    org?.streams.delete(stream);
    if (org?.streams.size === 0) this.followed.delete(orgId);
  }

  /** Segments that are stored already arrived before the subscription. Rows without one may still be delivered. */
  private async skipArrived(orgId: string, stream: ReadingStream): Promise<void> {
    const nowMs = this.clock.nowMs();
    const rows = (await this.store.rows(orgId, nowMs - feedWindowMs, nowMs)).filter((row) => stream.wants(row));
    for await (const arrivals of this.store.arrivals(rows)) for (const { row } of arrivals) stream.skip(row);
  }

  private async poll(org: FollowedOrg): Promise<void> {
    const nowMs = this.clock.nowMs();
    // The clock may have been set back.
    const fromMs = Math.max(Math.min(org.readToMs, nowMs) - feedWindowMs, nowMs - feedRetentionMs);
    const toMs = Math.min(nowMs, fromMs + maxMinutes * minuteMs);
    const isWanted = (row: FeedRow): boolean => [...org.streams].some((stream) => stream.wants(row));
    const rows = (await this.store.rows(org.orgId, fromMs, toMs)).filter(isWanted);
    for await (const arrivals of this.store.arrivals(rows))
      for (const arrival of arrivals) for (const stream of org.streams) stream.push(arrival);
    org.readToMs = toMs;
    for (const stream of org.streams) stream.forget(toMs - 2 * feedWindowMs);
  }

  /** Reads the feed step by step up to the present. */
  private replayFrom(orgId: string, fromMs: number): FeedReplay {
    let nextMs = fromMs;
    return async (wants) => {
      const nowMs = this.clock.nowMs();
      if (nextMs > nowMs) return undefined;
      const toMs = (minuteOf(nextMs) + maxMinutes) * minuteMs - 1;
      const rows = (await this.store.rows(orgId, nextMs, Math.min(toMs, nowMs))).filter(wants);
      // The last step reads to the end of its minute; rows after that are live.
      nextMs = toMs + 1;
      const arrivals: Arrival[] = [];
      for await (const some of this.store.arrivals(rows)) arrivals.push(...some);
      return arrivals;
    };
  }
}
