import { isHardwareId, normalHardwareId } from '../identity/hardware-id.js';
import { sha256 } from '../lib/id.js';
import { isFirmwareVersion, isFriendlyName, isUuidV4 } from './device.js';

/** Each metric with its stored attribute and the range that its sensor can measure. */
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

/** Each sensor with its stored name. */
export const sensorNames = { bme280: 'bme280', ds18b20: 'ds18b20', soilMoisture: 'soil_moisture' } as const;
export type SensorName = keyof typeof sensorNames;
export const sensorsWithStatus = Object.keys(sensorNames) as SensorName[];
export const healths = ['OK', 'ERROR'] as const;
export type Health = (typeof healths)[number];

export type Sensors = { readonly [M in Metric]?: number | undefined };
export type SensorStatus = { readonly [S in SensorName]?: Health | undefined };

/** The values that a device measured at one time. */
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
  /** Only in the subscription: not a reading, but the event that some readings were missed. */
  readonly gap?: true;
}

/** The event that a subscriber gets first if readings after its cursor are no longer in the feed. */
export const gapAt = (orgId: string): Reading => ({
  nodeType: 'Reading',
  orgId,
  hardwareId: '',
  batchId: '',
  timestampMs: 0,
  bootId: '00000000-0000-0000-0000-000000000000',
  firmwareVersion: '',
  sensors: {},
  sensorStatus: {},
  gap: true,
});

/** A reading as it was sent, before any validation. */
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
/** A reading has a time from `earliestMs`, inclusive, to `latestMs`, exclusive. */
export const earliestMs = Date.UTC(2000, 0, 1);
export const latestMs = Date.UTC(2100, 0, 1);
const maxAheadMs = 10 * 60_000;
/**
 * The smallest value other than 0. DynamoDB refuses numbers below 1e-130, and with one of them the whole transaction.
 */
const minMagnitude = 1e-9;

/** A valid reading with the hash of its content, or the first rule that it breaks. */
export type ParsedReading = { readonly reading: Reading; readonly hash: string } | { readonly rejection: Rejection };

export function parseReading(orgId: string, sent: SentReading, nowMs: number): ParsedReading {
  const rejection = rejectionOf(sent, nowMs);
  if (rejection) return { rejection };
  const sensors = parseSensors(sent.sensors);
  if ('rejection' in sensors) return sensors;
  const status = parseStatus(sent.sensorStatus);
  if ('rejection' in status) return status;
  // The rules above have checked that these fields are present.
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

/**
 * The hardware id of a reading; undefined if it is not a MAC address. Read before the other fields are checked, because
 * a device that sends only invalid readings was nevertheless seen.
 */
export const senderOf = ({ hardwareId }: SentReading): string | undefined =>
  typeof hardwareId === 'string' && isHardwareId(hardwareId) ? normalHardwareId(hardwareId) : undefined;

const invalid = (message: string): Rejection => ({ code: 'INVALID_VALUE', message });
const unknownSensor = (field: string, name: string, known: readonly string[]): Rejection =>
  invalid(`${field}.${printableName(name)}: is not a known sensor; use one of ${known.join(', ')}`);

function rejectionOf(sent: SentReading, nowMs: number): Rejection | undefined {
  const { batchId, timestampMs, bootId, firmwareVersion, friendlyName } = sent;
  if (typeof batchId !== 'string' || !batchIdPattern.test(batchId))
    return { code: 'INVALID_BATCH_ID', message: 'batchId: must have 1 to 256 characters of A-Z a-z 0-9 _ . : -' };
  if (senderOf(sent) === undefined)
    return { code: 'DEVICE_NOT_FOUND', message: 'hardwareId: must be a MAC address such as AA:BB:CC:DD:EE:FF' };
  if (typeof timestampMs !== 'number' || !Number.isInteger(timestampMs))
    return {
      code: 'INVALID_TIMESTAMP',
      message: 'timestampMs: must be a whole number of milliseconds since 1970-01-01 UTC',
    };
  if (timestampMs < earliestMs || timestampMs >= latestMs)
    return {
      code: 'INVALID_TIMESTAMP',
      message: 'timestampMs: must be from 2000-01-01 (inclusive) to 2100-01-01 (exclusive)',
    };
  if (timestampMs > nowMs + maxAheadMs)
    return {
      code: 'INVALID_TIMESTAMP',
      message: "timestampMs: is more than 10 minutes ahead of the server's clock; set the device's clock",
    };
  if (typeof bootId !== 'string' || !isUuidV4(bootId))
    return { code: 'INVALID_UUID', message: 'bootId: must be a UUID of version 4' };
  if (typeof firmwareVersion !== 'string' || !isFirmwareVersion(firmwareVersion))
    return invalid('firmwareVersion: must have 1 to 64 printable ASCII characters, not only spaces');
  if (typeof friendlyName === 'string' && !isFriendlyName(friendlyName))
    return invalid('friendlyName: must have 1 to 64 printable ASCII characters, not only spaces');
  return undefined;
}

type Values<T> = { readonly values: T } | { readonly rejection: Rejection };

function parseSensors(sent: unknown): Values<Sensors> {
  if (!isMap(sent))
    return {
      rejection: invalid('sensors: must be an object that maps sensors to numbers, such as {"bme280TempC": 21.5}'),
    };
  const values: Partial<Record<Metric, number>> = {};
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(metrics, name)) return { rejection: unknownSensor('sensors', name, metricNames) };
    const value = sent[name];
    const { min, max } = metrics[name as Metric];
    if (typeof value !== 'number' || !Number.isFinite(value))
      return { rejection: invalid(`sensors.${name}: must be a number; omit a sensor that has no value`) };
    if (value < min || value > max) return { rejection: invalid(`sensors.${name}: must be from ${min} to ${max}`) };
    if (value !== 0 && Math.abs(value) < minMagnitude)
      return { rejection: invalid(`sensors.${name}: must be 0, or at least ${minMagnitude} away from 0`) };
    values[name as Metric] = value;
  }
  return { values };
}

function parseStatus(sent: unknown): Values<SensorStatus> {
  if (!isMap(sent))
    return {
      rejection: invalid('sensorStatus: must be an object that maps sensors to OK or ERROR, such as {"bme280": "OK"}'),
    };
  const values: Partial<Record<SensorName, Health>> = {};
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(sensorNames, name)) return { rejection: unknownSensor('sensorStatus', name, sensorsWithStatus) };
    const value = sent[name];
    const health = healths.find((each) => each === value || each.toLowerCase() === value);
    if (!health) return { rejection: invalid(`sensorStatus.${name}: must be OK or ERROR`) };
    values[name as SensorName] = health;
  }
  return { values };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A name that the caller chose, shortened and in printable ASCII, so that it can be part of a message. */
const printableName = (name: string): string => name.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');

/**
 * Covers all content in a fixed order. Two readings with the same batch id and hash are duplicates, else a conflict.
 */
function contentHash({ timestampMs, bootId, firmwareVersion, friendlyName, sensors, sensorStatus }: Reading): string {
  const values = metricNames.map((metric) => sensors[metric] ?? null);
  const states = sensorsWithStatus.map((sensor) => sensorStatus[sensor] ?? null);
  return sha256(JSON.stringify([timestampMs, bootId, firmwareVersion, friendlyName ?? null, values, states]));
}
