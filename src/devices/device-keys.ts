import { key } from '../dynamo/keys.js';
import type { DeviceRef } from './device.js';

/** A MAC address is no secret and a batch id can be guessed: every key begins with the org. */
export const deviceKey = ({ orgId, hardwareId }: DeviceRef) => ({ hardware_id: key`${orgId}/${hardwareId}` });
export const deviceIndexKey = (orgId: string): string => key`${orgId}/devices`;

const padded = (timestampMs: number): string => String(timestampMs).padStart(13, '0');

export const readingSortKey = (timestampMs: number, batchId: string): string => key`${padded(timestampMs)}#${batchId}`;
export const readingKey = (device: DeviceRef, timestampMs: number, batchId: string) => ({
  ...deviceKey(device),
  ts_batch: readingSortKey(timestampMs, batchId),
});
/** Bounds of the readings from one moment to before another. No batch id sorts after a tilde. */
export const readingRange = (fromMs: number, toMs: number): [string, string] => [key`${padded(fromMs)}#`, key`${padded(toMs - 1)}#~`];

export const batchKey = ({ orgId, hardwareId }: DeviceRef, batchId: string) => ({ batch_id: key`${orgId}/${hardwareId}/${batchId}` });
