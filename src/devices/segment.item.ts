import type { Item } from '../dynamo/client.js';
import { fields } from '../dynamo/fields.js';
import type { ReadingsRef } from './device.js';
import { batchKey, deviceRefIn, feedKey, hourStartMs, segmentKey } from './device-keys.js';
import type { Reading } from './reading.js';
import {
  type FeedRow,
  type Marker,
  packReadings,
  type Sample,
  type SegmentRef,
  unpack,
  unpackedReadings,
  unpackedSamples,
} from './segment.js';

const segments = 'device_readings';
const markers = 'processed_batches';

export const segmentItem = ({ device, sortKey }: SegmentRef, readings: readonly Reading[], expires: number): Item => ({
  ...segmentKey(device, sortKey),
  readings: packReadings(readings, hourStartMs(sortKey)),
  expiration_time: expires,
});

/** Takes the place of a segment that was not written, so that its writer can no longer write it. */
export const fenceItem = ({ device, sortKey }: SegmentRef, expires: number): Item => ({
  ...segmentKey(device, sortKey),
  fence: true,
  expiration_time: expires,
});

export const isFence = (item: Item): boolean => fields(segments, item).optionalBoolean('fence') ?? false;
export const sortKeyOf = (item: Item): string => fields(segments, item).string('ts_batch');
/** DynamoDB deletes expired items up to days late, so a read must check the expiration itself. */
export const isLive = (item: Item, nowSecs: number): boolean =>
  fields(segments, item).number('expiration_time') > nowSecs;

/** The readings of a segment, oldest first. A fence has none. */
export function readingsIn(item: Item): Reading[] {
  if (isFence(item)) return [];
  return unpackedReadings(
    packedIn(item),
    deviceRefIn(fields(segments, item).string('hardware_id')),
    hourStartMs(sortKeyOf(item)),
  );
}

/** The samples of a segment, oldest first. A fence has none. */
export function samplesIn(item: Item): Sample[] {
  return isFence(item) ? [] : unpackedSamples(packedIn(item), hourStartMs(sortKeyOf(item)));
}

function packedIn(item: Item) {
  const stored = fields(segments, item);
  return unpack(stored.string('readings')) ?? stored.corrupt('readings', 'the packed readings of a segment');
}

export const markerAttributes = (marker: Marker) => ({
  payload_hash: marker.hash,
  segment: marker.segment,
  segment_expires: marker.segmentExpires,
  expiration_time: marker.expires,
});

export const markerItem = (device: ReadingsRef, batchId: string, marker: Marker): Item => ({
  ...batchKey(device, batchId),
  ...markerAttributes(marker),
});

export function toMarker(item: Item): Marker {
  const stored = fields(markers, item);
  return {
    hash: stored.string('payload_hash'),
    segment: stored.string('segment'),
    segmentExpires: stored.number('segment_expires'),
    expires: stored.number('expiration_time'),
  };
}

export const feedRowItem = ({ rowId, device, sortKey }: FeedRow, partitions: number, expires: number): Item => ({
  ...feedKey(device.orgId, rowId, partitions),
  device: `${device.hardwareId}/${device.generation}`,
  segment: sortKey,
  expiration_time: expires,
});

export function toFeedRow(orgId: string, item: Item): FeedRow {
  const stored = fields(segments, item);
  const [hardwareId = '', generation = ''] = stored.string('device').split('/');
  return {
    rowId: stored.string('ts_batch'),
    device: { orgId, hardwareId, generation },
    sortKey: stored.string('segment'),
  };
}
