import { DeletionStore } from '../devices/deletion.store.js';
import { DeviceRollup } from '../devices/device.rollup.js';
import { DeviceService } from '../devices/device.service.js';
import { DeviceStore } from '../devices/device.store.js';
import { FeedStore } from '../devices/feed.store.js';
import { feedPartitions } from '../devices/feed-position.js';
import { IngestService } from '../devices/ingest.service.js';
import { ReadingFeed } from '../devices/reading.feed.js';
import { ReadingStore } from '../devices/reading.store.js';
import { SegmentStore } from '../devices/segment.store.js';
import { SeriesService } from '../devices/series.service.js';
import { Throttle } from '../lib/throttle.js';
import type { Base } from './base.js';
import type { Identity } from './identity.js';

/** Min days that a batch id is stored for deduplication. */
const minBatchDays = 30;

/** Devices and their readings, for a gateway. */
export function buildDevices(base: Base, { apiKeys, audit, tenants }: Identity) {
  const { config, clock, log, store } = base;
  const { maxPerOrg, newPerKeyPerMinute } = config.devices;
  const deviceStore = new DeviceStore(store);
  const readingStore = new ReadingStore(store, clock);
  const feedPartitionsOf = async (orgId: string): Promise<number> =>
    feedPartitions((await tenants.org(orgId))?.shardCount ?? 0);
  const feedStore = new FeedStore({
    client: store,
    readings: readingStore,
    devices: deviceStore,
    clock,
    feedPartitionsOf,
  });
  const retention = { readings: config.retention.readingDays, batches: minBatchDays };
  const segments = new SegmentStore(store, clock, retention, feedPartitionsOf);
  const registrations = new Throttle(clock, newPerKeyPerMinute, newPerKeyPerMinute / 60);
  return {
    deviceStore,
    readingStore,
    devices: new DeviceService({ devices: deviceStore, keys: apiKeys, audit, clock, registrations, maxPerOrg }),
    ingestion: new IngestService({ devices: deviceStore, segments, keys: apiKeys, clock, log }),
    charts: new SeriesService(readingStore, clock),
    readingFeed: new ReadingFeed(feedStore, clock, log),
  };
}

/** The worker's part: deletes the readings of deleted devices. */
export const buildDeviceRollup = (base: Base): DeviceRollup =>
  new DeviceRollup(new DeletionStore(base.store), new ReadingStore(base.store, base.clock), base.clock);
