import type { Item, Key, StoreClient } from '../dynamo/client.js';
import { and, between, equals } from '../dynamo/expression.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { ReadingsRef } from './device.js';
import { batchKey, newestMsIn, readingsKey, segmentKey, segmentRange } from './device-keys.js';
import { earliestMs, latestMs, type Reading } from './reading.js';
import { isLive, readingsIn, samplesIn, sortKeyOf, toMarker } from './segment.item.js';
import { newestFirst, type ReadingPosition, type Sample, type SegmentRef } from './segment.js';

const [segments, markers] = ['device_readings', 'processed_batches'] as const;
/** The first page of a list has one segment per this many readings that are wanted, because most devices buffer. */
const readingsPerSegment = 48;
const minSegments = 2;
const maxSegments = 1000;
const segmentsPerPurge = 100;

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What to read: a range of the readings of a device, and how many segments the next page should have. */
interface Scan<T> extends TimeRange {
  readonly device: ReadingsRef;
  readonly decode: (item: Item) => readonly T[];
  readonly pageSize?: (segmentsRead: number) => number;
}

/** Reads the segments of devices. All reads are strongly consistent. */
export class ReadingStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
  ) {}

  /** The newest reading by time of measurement. */
  async latest(device: ReadingsRef): Promise<Reading | undefined> {
    const where = equals('hardware_id', readingsKey(device).hardware_id);
    const query = { table: segments, where, newestFirst: true, limit: 1, consistent: true } as const;
    const [item] = (await this.client.query(query)).items;
    if (!item) return undefined;
    const newest = isLive(item, this.nowSecs()) ? readingsIn(item).at(-1) : undefined;
    // No other segment has a newer reading. Otherwise it expired, or the reading that named it was a duplicate.
    if (newest && newest.timestampMs === newestMsIn(sortKeyOf(item))) return newest;
    return (await this.list(device, { fromMs: earliestMs, toMs: latestMs }, 1))[0];
  }

  /** One reading, found by its marker. */
  async load(device: ReadingsRef, { timestampMs, batchId }: ReadingPosition): Promise<Reading | undefined> {
    const marker = await this.client.get(markers, batchKey(device, batchId), { consistent: true });
    if (!marker) return undefined;
    const key = segmentKey(device, toMarker(marker).segment);
    const item = await this.client.get(segments, key, { consistent: true });
    if (!item || !isLive(item, this.nowSecs())) return undefined;
    return readingsIn(item).find((each) => each.batchId === batchId && each.timestampMs === timestampMs);
  }

  /** Up to `limit` readings that have not expired, newest first. Reads as many pages of DynamoDB as that takes. */
  async list(device: ReadingsRef, range: TimeRange, limit: number, after?: ReadingPosition): Promise<Reading[]> {
    const found: Reading[] = [];
    let seen = 0;
    const decode = (item: Item): Reading[] => {
      const readings = readingsIn(item);
      seen += readings.length;
      return after ? readings.filter((reading) => newestFirst(after, reading) < 0) : readings;
    };
    // By the number of readings per segment so far. One more, because the order is certain only down to the last one.
    const pageSize = (read: number): number =>
      read === 0
        ? Math.max(minSegments, Math.ceil(limit / readingsPerSegment))
        : Math.ceil((limit - found.length) / Math.max(1, seen / read)) + 1;
    const toMs = after ? Math.min(range.toMs, after.timestampMs + 1) : range.toMs;
    for await (const readings of this.scan<Reading>({ device, fromMs: range.fromMs, toMs, decode, pageSize })) {
      found.push(...readings);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** The values of all metrics, newest first, about one page of DynamoDB at a time. */
  samples(device: ReadingsRef, range: TimeRange): AsyncGenerator<readonly Sample[]> {
    return this.scan<Sample>({ device, ...range, decode: samplesIn });
  }

  /** Segments by their keys, in the order of `refs`. Undefined if one is absent. */
  async loadSegments(refs: readonly SegmentRef[]): Promise<(Item | undefined)[]> {
    return this.client.getMany(
      segments,
      refs.map(({ device, sortKey }) => segmentKey(device, sortKey)),
      { consistent: true },
    );
  }

  /** Deletes some segments of a deleted device with the markers of their readings. Idempotent. */
  async purge(device: ReadingsRef): Promise<{ readonly readings: number; readonly isDone: boolean }> {
    const where = equals('hardware_id', readingsKey(device).hardware_id);
    const { items, next } = await this.client.query({
      table: segments,
      where,
      limit: segmentsPerPurge,
      consistent: true,
    });
    const batchIds = items.flatMap(samplesIn).map(({ batchId }) => batchId);
    // Markers first: if this process crashes in between, the segments still show which markers have to be deleted.
    await this.client.writeMany(
      markers,
      [...new Set(batchIds)].map((batchId) => ({ delete: batchKey(device, batchId) })),
    );
    await this.client.writeMany(
      segments,
      items.map((item) => ({ delete: segmentKey(device, sortKeyOf(item)) })),
    );
    return { readings: batchIds.length, isDone: next === undefined };
  }

  /**
   * The readings of a range that have not expired, newest first and each once, in chunks. Segments overlap within their
   * hour. So a reading is returned once no segment is left that could have a newer one.
   */
  private async *scan<T extends ReadingPosition>(scan: Scan<T>): AsyncGenerator<readonly T[]> {
    const { device, decode, pageSize } = scan;
    const [fromMs, toMs] = [Math.max(scan.fromMs, earliestMs), Math.min(scan.toMs, latestMs)];
    if (fromMs >= toMs) return;
    const partition = equals('hardware_id', readingsKey(device).hardware_id);
    const where = and(partition, between('ts_batch', ...segmentRange(fromMs, toMs)));
    let pending: readonly T[] = [];
    let read = 0;
    for (let after: Key | undefined, more = true; more; more = after !== undefined) {
      const limit = pageSize ? Math.min(maxSegments, pageSize(read)) : undefined;
      const page = await this.client.query({
        table: segments,
        where,
        newestFirst: true,
        consistent: true,
        ...(limit ? { limit } : {}),
        ...(after ? { after } : {}),
      });
      after = page.next;
      read += page.items.length;
      const nowSecs = this.nowSecs();
      const decoded = page.items.flatMap((item) => (isLive(item, nowSecs) ? decode(item) : []));
      const within = decoded.filter(({ timestampMs }) => timestampMs >= fromMs && timestampMs < toMs);
      const sorted = unique([...pending, ...within].sort(newestFirst));
      const [last] = page.items.slice(-1);
      const maxLaterMs = after && last ? newestMsIn(sortKeyOf(last)) : Number.NEGATIVE_INFINITY;
      const end = sorted.findIndex(({ timestampMs }) => timestampMs <= maxLaterMs);
      pending = end < 0 ? [] : sorted.slice(end);
      yield end < 0 ? sorted : sorted.slice(0, end);
    }
  }

  private nowSecs(): number {
    return epochSeconds(this.clock.nowMs());
  }
}

const unique = <T extends ReadingPosition>(sorted: readonly T[]): readonly T[] =>
  sorted.filter((each, i) => {
    const before = sorted[i - 1];
    return !before || before.timestampMs !== each.timestampMs || before.batchId !== each.batchId;
  });
