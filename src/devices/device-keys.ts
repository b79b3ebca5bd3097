import { key } from '../dynamo/keys.js';
import type { DeviceRef, ReadingsRef } from './device.js';

/** Every key begins with the org, because a MAC address is not secret and a batch id can be guessed. */
export const deviceKey = ({ orgId, hardwareId }: DeviceRef) => ({ hardware_id: key`${orgId}/${hardwareId}` });
/** The device that the partition key of a device, a reading or a deletion names. */
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

const padded = (timestampMs: number): string => String(timestampMs).padStart(13, '0');

/** The generation separates the readings of a device from those of a deleted device with the same MAC address. */
export const readingsKey = ({ orgId, hardwareId, generation }: ReadingsRef) => ({
  hardware_id: key`${orgId}/${hardwareId}/${generation}`,
});
export const readingSortKey = (timestampMs: number, batchId: string): string => key`${padded(timestampMs)}#${batchId}`;
export const readingKey = (device: ReadingsRef, timestampMs: number, batchId: string) => ({
  ...readingsKey(device),
  ts_batch: readingSortKey(timestampMs, batchId),
});
export const batchIdIn = (sortKey: string): string => sortKey.slice(sortKey.indexOf('#') + 1);
/**
 * The first and last sort key of the readings from `fromMs`, inclusive, to `toMs`, exclusive. No batch id sorts after a
 * tilde.
 */
export const readingRange = (fromMs: number, toMs: number): [string, string] => [
  key`${padded(fromMs)}#`,
  key`${padded(toMs - 1)}#~`,
];

export const batchKey = ({ orgId, hardwareId, generation }: ReadingsRef, batchId: string) => ({
  batch_id: key`${orgId}/${hardwareId}/${generation}/${batchId}`,
});
