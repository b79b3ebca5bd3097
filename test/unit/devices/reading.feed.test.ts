import type { FeedStore } from '../../../src/devices/feed.store.js';
import {
  advanced,
  feedWindowMs,
  formatFeedPosition,
  parseFeedPosition,
  startOf,
} from '../../../src/devices/feed-position.js';
import { ReadingFeed } from '../../../src/devices/reading.feed.js';
import type { Reading } from '../../../src/devices/reading.js';
import type { LiveReading } from '../../../src/devices/reading-stream.js';
import type { Arrival, FeedRow } from '../../../src/devices/segment.js';
import { ulid, ulidMs } from '../../../src/lib/id.js';
import { silentLog } from '../../../src/lib/log.js';
import { sleep } from '../../../src/lib/timers.js';
import { ManualClock } from '../../support/clock.js';

const orgId = '00000000-0000-4000-8000-000000000000';

/** A feed in memory. A row without arrival has no segment yet. */
class MemoryStore {
  readonly stored: FeedRow[] = [];
  readonly segments = new Map<string, readonly Reading[]>();

  add(atMs: number, ...batchIds: string[]): FeedRow {
    const row = { rowId: ulid(atMs), device: { orgId, hardwareId: 'd', generation: 'g' }, sortKey: '' };
    this.stored.push(row);
    if (batchIds.length > 0) this.store(row, ...batchIds);
    return row;
  }

  store(row: FeedRow, ...batchIds: string[]): void {
    this.segments.set(
      row.rowId,
      batchIds.map((batchId) => ({ batchId }) as Reading),
    );
  }

  async rows(_orgId: string, fromMs: number, toMs: number): Promise<FeedRow[]> {
    const endMs = (Math.floor(toMs / 60_000) + 1) * 60_000;
    const isWithin = ({ rowId }: FeedRow) => ulidMs(rowId) >= fromMs && ulidMs(rowId) < endMs;
    return this.stored.filter(isWithin).toSorted((a, b) => (a.rowId < b.rowId ? -1 : 1));
  }

  async *arrivals(rows: readonly FeedRow[]): AsyncGenerator<readonly Arrival[]> {
    yield rows.flatMap((row) => {
      const readings = this.segments.get(row.rowId);
      return readings ? [{ row, readings }] : [];
    });
  }
}

describe('ReadingFeed', () => {
  const clock = new ManualClock();
  let store: MemoryStore;
  let feed: ReadingFeed;
  beforeEach(() => {
    store = new MemoryStore();
    feed = new ReadingFeed(store as unknown as FeedStore, clock, silentLog);
    feed.start();
  });
  afterEach(() => feed.stop());

  const batchesOf = async (stream: AsyncIterator<LiveReading>, count: number): Promise<LiveReading[]> => {
    const found: LiveReading[] = [];
    while (found.length < count) found.push((await stream.next()).value as LiveReading);
    return found;
  };
  const ids = (readings: readonly LiveReading[]) => readings.map(({ batchId }) => batchId);

  it('delivers a segment that is stored long after its feed row, and what arrived before it only once', async () => {
    const before = store.add(clock.nowMs(), 'before');
    const stream = await feed.subscribe({ orgId });
    const late = store.add(clock.nowMs() - feedWindowMs / 2);
    store.add(clock.nowMs(), 'a', 'b');
    expect(ids(await batchesOf(stream, 2))).toEqual(['a', 'b']);
    store.store(late, 'late');
    store.add(clock.nowMs(), 'c');
    expect(ids(await batchesOf(stream, 2))).toEqual(['late', 'c']);
    expect(store.stored).toContain(before);
  });

  it('reads every minute of a time in which it did not poll', async () => {
    const stream = await feed.subscribe({ orgId });
    clock.advance(3 * 3_600_000);
    for (const ago of [170, 90, 1]) store.add(clock.nowMs() - ago * 60_000, `${ago}`);
    expect(ids(await batchesOf(stream, 3))).toEqual(['170', '90', '1']);
    clock.advance(-3 * 3_600_000);
  });

  it('resumes in the middle of a segment, and delivers a row that became visible before the cursor', async () => {
    const hidden = store.add(clock.nowMs() - 2000);
    store.add(clock.nowMs() - 1000, 'a', 'b', 'c');
    const first = await feed.subscribe({ orgId }, startOf(clock.nowMs() - 5000));
    const [, b] = await batchesOf(first, 2);
    await first.return?.();
    store.store(hidden, 'h');
    const position = parseFeedPosition(formatFeedPosition((b as LiveReading).position));
    const second = await feed.subscribe({ orgId }, position);
    store.add(clock.nowMs(), 'd');
    expect(ids(await batchesOf(second, 3))).toEqual(['h', 'c', 'd']);
  });

  it('ends the stream of a reader that does not read, and keeps the others', async () => {
    const [slow, quick] = [await feed.subscribe({ orgId }), await feed.subscribe({ orgId })];
    for (let i = 0; i < 1100; i++) store.add(clock.nowMs(), String(i));
    let count = 0;
    void (async () => {
      for await (const _ of quick) count++;
    })();
    const done = async () => (await slow.next()).done;
    while (!(await done())) await sleep(5);
    expect(count).toBeLessThanOrEqual(1100);
  });

  it('remembers only some of the rows of the last 10 s in a cursor', () => {
    let position = startOf(1_000_000);
    for (let i = 0; i < 100; i++) position = advanced(position, ulid(1_000_000 + i * 100), 0);
    expect(position.seen).toHaveLength(64);
    expect(advanced(position, ulid(2_000_000), 0).seen).toEqual([]);
    expect(parseFeedPosition(formatFeedPosition(position))).toEqual(position);
    expect(formatFeedPosition(position).length).toBeLessThan(1024);
  });
});
