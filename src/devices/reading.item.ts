// Readings that a version before segments stored as one item each. They are only read, until they expire.
import type { Item } from '../dynamo/client.js';
import { fields } from '../dynamo/fields.js';
import { deviceRefIn } from './device-keys.js';
import { type Health, metricNames, metrics, type Reading, sensorNames, sensorsWithStatus } from './reading.js';
import type { Sample } from './segment.js';

const table = 'device_readings';
const storedHealths = ['ok', 'error'] as const;
const healthOf: Readonly<Record<(typeof storedHealths)[number], Health>> = { ok: 'OK', error: 'ERROR' };

export const isSingleReading = (item: Item): boolean => item.batch_id !== undefined;

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

export function toSample(item: Item): Sample {
  const stored = fields(table, item);
  const values = stored.numbers('sensors');
  return {
    timestampMs: stored.number('timestamp_ms'),
    batchId: stored.string('batch_id'),
    values: metricNames.map((metric) => values[metrics[metric].attribute]),
  };
}
