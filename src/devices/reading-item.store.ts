import type { Item } from '../dynamo/client.js';
import type { ReadingsRef } from './device.js';
import { readingKey } from './device-keys.js';
import {
  type Health,
  type Metric,
  metricNames,
  metrics,
  type Reading,
  type SensorName,
  sensorNames,
} from './reading.js';

/** A reading as it is stored. */
export const toItem = (device: ReadingsRef, reading: Reading, hash: string, expirationTime: number): Item => ({
  ...readingKey(device, reading.timestampMs, reading.batchId),
  timestamp_ms: reading.timestampMs,
  batch_id: reading.batchId,
  boot_id: reading.bootId,
  firmware_version: reading.firmwareVersion,
  friendly_name: reading.friendlyName,
  sensors: Object.fromEntries(
    metricNames.flatMap((metric) =>
      reading.sensors[metric] === undefined ? [] : [[metrics[metric].attribute, reading.sensors[metric]]],
    ),
  ),
  sensor_status: Object.fromEntries(
    (Object.keys(sensorNames) as SensorName[]).flatMap((sensor) => {
      const health = reading.sensorStatus[sensor];
      return health === undefined ? [] : [[sensorNames[sensor], health.toLowerCase()]];
    }),
  ),
  payload_hash: hash,
  expiration_time: expirationTime,
});

export function toReading(item: Item): Reading {
  const [orgId = '', hardwareId = ''] = (item.hardware_id as string).split('/');
  const sensors = item.sensors as Record<string, number>;
  const status = item.sensor_status as Record<string, string>;
  return {
    nodeType: 'Reading',
    orgId,
    hardwareId,
    batchId: item.batch_id as string,
    timestampMs: item.timestamp_ms as number,
    bootId: item.boot_id as string,
    firmwareVersion: item.firmware_version as string,
    ...(item.friendly_name === undefined ? {} : { friendlyName: item.friendly_name as string }),
    sensors: Object.fromEntries(
      metricNames.flatMap((metric: Metric) => {
        const value = sensors[metrics[metric].attribute];
        return value === undefined ? [] : [[metric, value]];
      }),
    ),
    sensorStatus: Object.fromEntries(
      (Object.keys(sensorNames) as SensorName[]).flatMap((sensor) => {
        const health = status[sensorNames[sensor]];
        return health === undefined ? [] : [[sensor, health.toUpperCase() as Health]];
      }),
    ),
  };
}
