import type { StoreClient } from '../dynamo/client.js';
import { and, atLeast, equals } from '../dynamo/expression.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { ulidFloor } from '../lib/id.js';
import type { DeviceStore } from './device.store.js';
import { feedPartition, feedShards, minuteOf } from './device-keys.js';
import type { ReadingStore } from './reading.store.js';
import { isLive, readingsIn, toFeedRow } from './segment.item.js';
import type { Arrival, FeedRow } from './segment.js';

const maxConcurrentMinutes = 4;
const rowsPerRead = 50;

export interface FeedDeps {
  readonly client: StoreClient;
  readonly readings: ReadingStore;
  readonly devices: DeviceStore;
  readonly clock: Clock;
}

/** Reads the feed of an org: the segments of all its devices in the order of their arrival. */
export class FeedStore {
  constructor(private readonly deps: FeedDeps) {}

  /** The feed rows from `fromMs` to the end of the minute of `toMs`, by the clocks of the gateways that wrote them. */
  async rows(orgId: string, fromMs: number, toMs: number): Promise<FeedRow[]> {
    const rows: FeedRow[] = [];
    for (let minute = minuteOf(fromMs); minute <= minuteOf(toMs); minute += maxConcurrentMinutes) {
      const count = Math.min(maxConcurrentMinutes, minuteOf(toMs) - minute + 1);
      const minutes = Array.from({ length: count }, (_, i) => minute + i);
      rows.push(...(await Promise.all(minutes.map((each) => this.minute(orgId, each, fromMs)))).flat());
    }
    return rows;
  }

  /**
   * The rows whose segments are stored, with their readings, in their order. An arrival of an expired segment, of a
   * fence or of a deleted device has no readings. A row without a segment is left out: its call has not stored it yet,
   * or never will.
   */
  async *arrivals(rows: readonly FeedRow[]): AsyncGenerator<readonly Arrival[]> {
    for (let i = 0; i < rows.length; i += rowsPerRead) {
      const some = rows.slice(i, i + rowsPerRead);
      const items = await this.deps.readings.loadSegments(some);
      const nowSecs = epochSeconds(this.deps.clock.nowMs());
      const isCurrent = await this.currentDevices(some.filter((_, nth) => items[nth]));
      yield some.flatMap((row, nth) => {
        const item = items[nth];
        if (!item) return [];
        return [{ row, readings: isLive(item, nowSecs) && isCurrent(row) ? readingsIn(item) : [] }];
      });
    }
  }

  private async minute(orgId: string, minute: number, fromMs: number): Promise<FeedRow[]> {
    const shards = Array.from({ length: feedShards }, (_, shard) => feedPartition(orgId, minute, shard).hardware_id);
    const read = (partition: string) => {
      const all = equals('hardware_id', partition);
      const where = minute === minuteOf(fromMs) ? and(all, atLeast('ts_batch', ulidFloor(fromMs))) : all;
      return this.deps.client.queryAll({ table: 'device_readings', where, consistent: true });
    };
    const rows = (await Promise.all(shards.map(read))).flat().map((item) => toFeedRow(orgId, item));
    return rows.sort((a, b) => (a.rowId < b.rowId ? -1 : 1));
  }

  /** A deleted device keeps its segments until the worker has purged them. They must not be shown. */
  private async currentDevices(rows: readonly FeedRow[]): Promise<(row: FeedRow) => boolean> {
    const refs = [...new Map(rows.map(({ device }) => [device.hardwareId, device])).values()];
    const found = refs.length === 0 ? [] : await this.deps.devices.loadMany(refs, { consistent: true });
    const generations = new Map(found.map((device) => [device?.hardwareId, device?.generation]));
    return ({ device }) => generations.get(device.hardwareId) === device.generation;
  }
}
