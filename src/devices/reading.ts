import { isHardwareId, normalHardwareId } from '../identity/hardware-id.js';
import { sha256 } from '../lib/id.js';
import { isFirmwareVersion, isFriendlyName, isUuidV4 } from './device.js';

/** Each metric with the attribute it is stored under and the range its sensor can measure. */
export const metrics = {
  bme280TempC: {
    attribute: 'bme280_temp_c',
    label: 'Temperature of the BME280 in °C',
    enumName: 'BME280_TEMP_C',
    min: -40,
    max: 85,
  },
  ds18b20TempC: {
    attribute: 'ds18b20_temp_c',
    label: 'Temperature of the DS18B20 in °C',
    enumName: 'DS18B20_TEMP_C',
    min: -55,
    max: 125,
  },
  humidityPct: {
    attribute: 'humidity_pct',
    label: 'Relative humidity in %',
    enumName: 'HUMIDITY_PCT',
    min: 0,
    max: 100,
  },
  pressureHpa: {
    attribute: 'pressure_hpa',
    label: 'Air pressure in hPa',
    enumName: 'PRESSURE_HPA',
    min: 300,
    max: 1100,
  },
  soilMoisturePct: {
    attribute: 'soil_moisture_pct',
    label: 'Soil moisture in %',
    enumName: 'SOIL_MOISTURE_PCT',
    min: 0,
    max: 100,
  },
} as const;
export type Metric = keyof typeof metrics;
export const metricNames = Object.keys(metrics) as Metric[];

export const sensorNames = { bme280: 'bme280', ds18b20: 'ds18b20', soilMoisture: 'soil_moisture' } as const;
export type SensorName = keyof typeof sensorNames;
export const healths = ['OK', 'ERROR'] as const;
export type Health = (typeof healths)[number];

export type Sensors = { readonly [M in Metric]?: number | undefined };
export type SensorStatus = { readonly [S in SensorName]?: Health | undefined };

/** The values a device measured at one moment. */
export interface Reading {
  readonly nodeType: 'Reading';
  readonly orgId: string;
  readonly hardwareId: string;
  readonly batchId: string;
  readonly timestampMs: number;
  readonly bootId: string;
  readonly firmwareVersion: string;
  readonly friendlyName?: string;
  readonly sensors: Sensors;
  readonly sensorStatus: SensorStatus;
}

/** A reading as it was sent: nothing in it is known to be what it should be. */
export interface SentReading {
  readonly hardwareId?: string | null | undefined;
  readonly batchId?: string | null | undefined;
  readonly timestampMs?: number | null | undefined;
  readonly bootId?: string | null | undefined;
  readonly firmwareVersion?: string | null | undefined;
  readonly friendlyName?: string | null | undefined;
  readonly sensors?: unknown;
  readonly sensorStatus?: unknown;
}

export type RejectionCode =
  | 'INVALID_TIMESTAMP'
  | 'INVALID_BATCH_ID'
  | 'INVALID_UUID'
  | 'INVALID_VALUE'
  | 'DEVICE_NOT_FOUND'
  | 'FORBIDDEN';

export interface Rejection {
  readonly code: RejectionCode;
  readonly message: string;
}

export const batchIdPattern = /^[A-Za-z0-9_.:-]{1,256}$/;
/** The times a reading can have, the last one exclusive. */
export const earliestMs = Date.UTC(2000, 0, 1);
export const latestMs = Date.UTC(2100, 0, 1);
const maxAheadMs = 10 * 60_000;
const minMagnitude = 1e-9;

/** A reading by the rules, with the hash of what was sent; or the first rule that it breaks. */
export type Parsed = { readonly reading: Reading; readonly hash: string } | { readonly rejection: Rejection };

export function parseReading(orgId: string, sent: SentReading, nowMs: number): Parsed {
  const rejection = rejectionOf(sent, nowMs);
  if (rejection) return { rejection };
  const sensors = parseSensors(sent.sensors);
  if ('rejection' in sensors) return sensors;
  const status = parseStatus(sent.sensorStatus);
  if ('rejection' in status) return status;
  // All of them are there, by the rules above.
  const { hardwareId, batchId, timestampMs, bootId, firmwareVersion, friendlyName } = sent as Required<SentReading> &
    Reading;
  const reading: Reading = {
    nodeType: 'Reading',
    orgId,
    hardwareId: normalHardwareId(hardwareId),
    batchId,
    timestampMs,
    bootId: bootId.toLowerCase(),
    firmwareVersion,
    ...(typeof friendlyName === 'string' ? { friendlyName } : {}),
    sensors: sensors.values,
    sensorStatus: status.values,
  };
  return { reading, hash: contentHash(reading) };
}

/** The device a reading claims to be from, if it can be one: a device that sends only bad readings is talking nevertheless. */
export const senderOf = ({ hardwareId }: SentReading): string | undefined =>
  typeof hardwareId === 'string' && isHardwareId(hardwareId) ? normalHardwareId(hardwareId) : undefined;

const invalid = (message: string): Rejection => ({ code: 'INVALID_VALUE', message });

function rejectionOf(sent: SentReading, nowMs: number): Rejection | undefined {
  const { batchId, timestampMs, bootId, firmwareVersion, friendlyName } = sent;
  if (typeof batchId !== 'string' || !batchIdPattern.test(batchId))
    return { code: 'INVALID_BATCH_ID', message: 'batchId: must have 1 to 256 of A-Z a-z 0-9 _ . : -' };
  if (senderOf(sent) === undefined)
    return { code: 'DEVICE_NOT_FOUND', message: 'hardwareId: must be a MAC address such as AA:BB:CC:DD:EE:FF' };
  if (typeof timestampMs !== 'number' || !Number.isInteger(timestampMs))
    return { code: 'INVALID_TIMESTAMP', message: 'timestampMs: must be a whole number of milliseconds since 1970' };
  if (timestampMs < earliestMs || timestampMs >= latestMs)
    return { code: 'INVALID_TIMESTAMP', message: 'timestampMs: must be from 2000-01-01 to 2100-01-01' };
  if (timestampMs > nowMs + maxAheadMs)
    return {
      code: 'INVALID_TIMESTAMP',
      message: "timestampMs: is more than 10 minutes ahead of the server's clock; set the device's clock",
    };
  if (typeof bootId !== 'string' || !isUuidV4(bootId))
    return { code: 'INVALID_UUID', message: 'bootId: must be a UUID of version 4' };
  if (typeof firmwareVersion !== 'string' || !isFirmwareVersion(firmwareVersion))
    return invalid('firmwareVersion: must have 1 to 64 printable ASCII characters');
  if (typeof friendlyName === 'string' && !isFriendlyName(friendlyName))
    return invalid('friendlyName: must have 1 to 64 printable ASCII characters');
  return undefined;
}

type Values<T> = { readonly values: T } | { readonly rejection: Rejection };

function parseSensors(sent: unknown): Values<Sensors> {
  if (!isMap(sent))
    return { rejection: invalid('sensors: must be an object of numbers by sensor, such as {"bme280TempC": 21.5}') };
  const values: Partial<Record<Metric, number>> = {};
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(metrics, name))
      return {
        rejection: invalid(`sensors.${shown(name)}: is not a known sensor; known are ${metricNames.join(', ')}`),
      };
    const value = sent[name];
    const { min, max } = metrics[name as Metric];
    if (typeof value !== 'number' || !Number.isFinite(value))
      return { rejection: invalid(`sensors.${name}: must be a number; leave out a sensor that has no value`) };
    if (value < min || value > max) return { rejection: invalid(`sensors.${name}: must be from ${min} to ${max}`) };
    // DynamoDB takes nothing smaller than 1e-130, and would refuse the neighbours with it.
    if (value !== 0 && Math.abs(value) < minMagnitude)
      return { rejection: invalid(`sensors.${name}: must be 0 or at least ${minMagnitude} away from it`) };
    values[name as Metric] = value;
  }
  return { values };
}

function parseStatus(sent: unknown): Values<SensorStatus> {
  if (!isMap(sent))
    return { rejection: invalid('sensorStatus: must be an object of OK or ERROR by sensor, such as {"bme280": "OK"}') };
  const values: Partial<Record<SensorName, Health>> = {};
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(sensorNames, name))
      return {
        rejection: invalid(
          `sensorStatus.${shown(name)}: is not a known sensor; known are ${Object.keys(sensorNames).join(', ')}`,
        ),
      };
    const value = sent[name];
    const health = healths.find((each) => each === value || each.toLowerCase() === value);
    if (!health) return { rejection: invalid(`sensorStatus.${name}: must be OK or ERROR`) };
    values[name as SensorName] = health;
  }
  return { values };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A name of the caller's own, fit to be shown: the message must stay short whatever was sent. */
const shown = (name: string): string => name.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');

/** Covers everything that was sent, in one order. It tells a repeat from another reading under the same id. */
function contentHash({ timestampMs, bootId, firmwareVersion, friendlyName, sensors, sensorStatus }: Reading): string {
  const values = metricNames.map((metric) => sensors[metric] ?? null);
  const states = (Object.keys(sensorNames) as SensorName[]).map((sensor) => sensorStatus[sensor] ?? null);
  return sha256(JSON.stringify([timestampMs, bootId, firmwareVersion, friendlyName ?? null, values, states]));
}

export type Verdict =
  | { readonly kind: 'STORED' | 'DUPLICATE' }
  | { readonly kind: 'CONFLICT' | 'RETRY'; readonly message: string }
  | { readonly kind: 'REJECTED'; readonly rejection: Rejection };

export const conflict: Verdict = {
  kind: 'CONFLICT',
  message: 'batchId: this device has sent a reading with other content under this id; the first one stays stored',
};
export const retry: Verdict = {
  kind: 'RETRY',
  message: 'not stored: the database is temporarily unavailable; retry this reading',
};
export const rejected = (rejection: Rejection): Verdict => ({ kind: 'REJECTED', rejection });

/** The verdict on the second of two readings with the same batch id in one call, given the verdict on the first. */
export function verdictAfter(first: Verdict, isSame: boolean): Verdict | 'on its own' {
  if (first.kind === 'RETRY') return retry;
  if (first.kind === 'REJECTED' || first.kind === 'CONFLICT') return 'on its own';
  return isSame ? { kind: 'DUPLICATE' } : conflict;
}
