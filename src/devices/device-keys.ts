import { key } from '../dynamo/keys.js';
import { ulidMs } from '../lib/id.js';
import type { DeviceRef, ReadingsRef } from './device.js';

/** Every key begins with the org, because a MAC address is not secret and a batch id can be guessed. */
export const deviceKey = ({ orgId, hardwareId }: DeviceRef) => ({ hardware_id: key`${orgId}/${hardwareId}` });
/** The device that the partition key of a device, a segment or a deletion names. */
export function deviceRefIn(partitionKey: string): DeviceRef {
  const [orgId = '', hardwareId = ''] = partitionKey.split('/');
  return { orgId, hardwareId };
}
export const deviceIndexKey = (orgId: string): string => key`${orgId}/devices`;
/** The key of the item that counts the devices of an org. */
export const deviceCountKey = (orgId: string) => ({ hardware_id: key`${orgId}/count` });
/** The key of a deletion: the generations of a deleted device whose readings the worker still has to delete. */
export const deletionKey = ({ orgId, hardwareId }: DeviceRef) => ({ hardware_id: key`${orgId}/${hardwareId}/deleted` });
export const deletionIndexKey = 'deleted_devices';
const generationPrefix = 'generation_';
/** A deletion has one attribute per generation, because adding an attribute needs no read. */
export const generationAttribute = (generation: string): string => `${generationPrefix}${generation}`;
export const generationIn = (attribute: string): string | undefined =>
  attribute.startsWith(generationPrefix) ? attribute.slice(generationPrefix.length) : undefined;

const hourMs = 3_600_000;
const minuteMs = 60_000;
const padded = (timestampMs: number): string => String(timestampMs).padStart(13, '0');

/** The generation separates the readings of a device from those of a deleted device with the same MAC address. */
export const readingsKey = ({ orgId, hardwareId, generation }: ReadingsRef) => ({
  hardware_id: key`${orgId}/${hardwareId}/${generation}`,
});

/** The UTC hour that a time belongs to. All readings of a segment belong to one. */
export const hourOf = (timestampMs: number): number => Math.floor(timestampMs / hourMs);
/** The sort key of a segment: a time at or after its newest reading and in the same hour, then a random id. */
export const segmentSortKey = (newestMs: number, id: string): string => key`${padded(newestMs)}#${id}`;
export const segmentKey = (device: ReadingsRef, sortKey: string) => ({ ...readingsKey(device), ts_batch: sortKey });
/** The time in the sort key of a segment: none of its readings is newer. */
export const newestMsIn = (sortKey: string): number => Number(sortKey.slice(0, sortKey.indexOf('#')));
export const hourStartMs = (sortKey: string): number => hourOf(newestMsIn(sortKey)) * hourMs;
/**
 * The first and last sort key of the segments that may have readings from `fromMs`, inclusive, to `toMs`, exclusive. A
 * segment sorts by its newest reading, so it may be anywhere up to the end of the hour.
 */
export const segmentRange = (fromMs: number, toMs: number): [string, string] => [
  key`${padded(fromMs)}#`,
  key`${padded((hourOf(toMs - 1) + 1) * hourMs - 1)}#~`,
];

/** The key of a reading that a version before segments stored as an item of its own. */
export const readingKey = (device: ReadingsRef, timestampMs: number, batchId: string) => ({
  ...readingsKey(device),
  ts_batch: key`${padded(timestampMs)}#${batchId}`,
});

export const batchKey = ({ orgId, hardwareId, generation }: ReadingsRef, batchId: string) => ({
  batch_id: key`${orgId}/${hardwareId}/${generation}/${batchId}`,
});

/** The minute whose feed rows are in one partition. */
export const minuteOf = (atMs: number): number => Math.floor(atMs / minuteMs);
/**
 * The feed rows of a minute are spread over this many partitions, because one takes only 1,000 writes per second. Each
 * of them costs a reader one query per second.
 */
export const feedShards = 2;
export const feedPartition = (orgId: string, minute: number, shard: number) => ({
  hardware_id: key`${orgId}#${minute}#${shard}`,
});
/** The end of a ULID is random. */
const feedShardOf = (rowId: string): number => rowId.charCodeAt(rowId.length - 1) % feedShards;
export const feedKey = (orgId: string, rowId: string) => ({
  ...feedPartition(orgId, minuteOf(ulidMs(rowId)), feedShardOf(rowId)),
  ts_batch: key`${rowId}`,
});
