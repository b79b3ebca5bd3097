import { key } from '../dynamo/keys.js';
import type { DeviceRef, ReadingsRef } from './device.js';

/** Every key begins with the org, because a MAC address is no secret and a batch id can be guessed. */
export const deviceKey = ({ orgId, hardwareId }: DeviceRef) => ({ hardware_id: key`${orgId}/${hardwareId}` });
export const deviceIndexKey = (orgId: string): string => key`${orgId}/devices`;
/** Holds the number of devices of an org. */
export const deviceCountKey = (orgId: string) => ({ hardware_id: key`${orgId}/count` });
/** Holds the generations of a deleted device whose readings the worker still has to delete. */
export const deletionKey = ({ orgId, hardwareId }: DeviceRef) => ({ hardware_id: key`${orgId}/${hardwareId}/deleted` });
export const deletionIndexKey = 'deleted_devices';
const generationPrefix = 'generation_';
/** An attribute per generation, so that adding one needs no read. */
export const generationAttribute = (generation: string): string => `${generationPrefix}${generation}`;
export const generationIn = (attribute: string): string | undefined =>
  attribute.startsWith(generationPrefix) ? attribute.slice(generationPrefix.length) : undefined;

const padded = (timestampMs: number): string => String(timestampMs).padStart(13, '0');

/** The generation keeps the readings of a device apart from those of its predecessor under the same MAC address. */
export const readingsKey = ({ orgId, hardwareId, generation }: ReadingsRef) => ({
  hardware_id: key`${orgId}/${hardwareId}/${generation}`,
});
export const readingSortKey = (timestampMs: number, batchId: string): string => key`${padded(timestampMs)}#${batchId}`;
export const readingKey = (device: ReadingsRef, timestampMs: number, batchId: string) => ({
  ...readingsKey(device),
  ts_batch: readingSortKey(timestampMs, batchId),
});
export const batchIdIn = (sortKey: string): string => sortKey.slice(sortKey.indexOf('#') + 1);
/** Bounds of the readings from one moment to before another. No batch id sorts after a tilde. */
export const readingRange = (fromMs: number, toMs: number): [string, string] => [
  key`${padded(fromMs)}#`,
  key`${padded(toMs - 1)}#~`,
];

export const batchKey = ({ orgId, hardwareId, generation }: ReadingsRef, batchId: string) => ({
  batch_id: key`${orgId}/${hardwareId}/${generation}/${batchId}`,
});
