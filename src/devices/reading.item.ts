import type { Item } from '../dynamo/client.js';
import { fields } from '../dynamo/fields.js';
import type { ReadingsRef } from './device.js';
import { deviceRefIn, readingKey } from './device-keys.js';
import { type Health, metricNames, metrics, type Reading, sensorNames, sensorsWithStatus } from './reading.js';

const table = 'device_readings';
const storedHealths = ['ok', 'error'] as const;
const healthOf: Readonly<Record<(typeof storedHealths)[number], Health>> = { ok: 'OK', error: 'ERROR' };

/** A reading as it is stored. */
export const toItem = (device: ReadingsRef, reading: Reading, hash: string, expirationTime: number): Item => ({
  ...readingKey(device, reading.timestampMs, reading.batchId),
  timestamp_ms: reading.timestampMs,
  batch_id: reading.batchId,
  boot_id: reading.bootId,
  firmware_version: reading.firmwareVersion,
  friendly_name: reading.friendlyName,
  sensors: Object.fromEntries(
    metricNames.flatMap((metric) => {
      const value = reading.sensors[metric];
      return value === undefined ? [] : [[metrics[metric].attribute, value]];
    }),
  ),
  sensor_status: Object.fromEntries(
    sensorsWithStatus.flatMap((sensor) => {
      const health = reading.sensorStatus[sensor];
      return health === undefined ? [] : [[sensorNames[sensor], health.toLowerCase()]];
    }),
  ),
  payload_hash: hash,
  expiration_time: expirationTime,
});

export function toReading(item: Item): Reading {
  const stored = fields(table, item);
  const values = stored.numbers('sensors');
  const status = fields(table, stored.map('sensor_status'));
  const friendlyName = stored.optionalString('friendly_name');
  return {
    nodeType: 'Reading',
    ...deviceRefIn(stored.string('hardware_id')),
    batchId: stored.string('batch_id'),
    timestampMs: stored.number('timestamp_ms'),
    bootId: stored.string('boot_id'),
    firmwareVersion: stored.string('firmware_version'),
    ...(friendlyName === undefined ? {} : { friendlyName }),
    sensors: Object.fromEntries(
      metricNames.flatMap((metric) => {
        const value = values[metrics[metric].attribute];
        return value === undefined ? [] : [[metric, value]];
      }),
    ),
    sensorStatus: Object.fromEntries(
      sensorsWithStatus.flatMap((sensor) => {
        const health = status.optionalOneOf(sensorNames[sensor], storedHealths);
        return health === undefined ? [] : [[sensor, healthOf[health]]];
      }),
    ),
  };
}

/** One time of a chart, with its values by stored attribute. */
export interface Sample {
  readonly timestampMs: number;
  readonly values: Readonly<Record<string, number>>;
}

/**
 * A sample of an item that was read with only some of its sensors; a reading that has none of them has no map at all.
 */
export function toSample(item: Item): Sample {
  const stored = fields(table, item);
  return {
    timestampMs: stored.number('timestamp_ms'),
    values: stored.has('sensors') ? stored.numbers('sensors') : {},
  };
}

export const sortKeyOf = (item: Item): string => fields(table, item).string('ts_batch');

/** DynamoDB deletes expired items up to days late, so a read must check the expiration itself. */
export const isLive = (item: Item, nowSecs: number): boolean => fields(table, item).number('expiration_time') > nowSecs;
