import { sha256 } from '../lib/id.js';
import { isFirmwareVersion, isFriendlyName, isHardwareId, isUuidV4 } from './device.js';

/** What each sensor measures, and between what bounds it can. */
export const metrics = {
  bme280TempC: { attribute: 'bme280_temp_c', enumName: 'BME280_TEMP_C', min: -40, max: 85 },
  ds18b20TempC: { attribute: 'ds18b20_temp_c', enumName: 'DS18B20_TEMP_C', min: -55, max: 125 },
  humidityPct: { attribute: 'humidity_pct', enumName: 'HUMIDITY_PCT', min: 0, max: 100 },
  pressureHpa: { attribute: 'pressure_hpa', enumName: 'PRESSURE_HPA', min: 300, max: 1100 },
  soilMoisturePct: { attribute: 'soil_moisture_pct', enumName: 'SOIL_MOISTURE_PCT', min: 0, max: 100 },
} as const;
export type Metric = keyof typeof metrics;
export const metricNames = Object.keys(metrics) as Metric[];

export const sensorNames = { bme280: 'bme280', ds18b20: 'ds18b20', soilMoisture: 'soil_moisture' } as const;
export type SensorName = keyof typeof sensorNames;
export const healths = ['OK', 'ERROR'] as const;
export type Health = (typeof healths)[number];

export type Sensors = { readonly [M in Metric]?: number | undefined };
export type SensorStatus = { readonly [S in SensorName]?: Health | undefined };

/** What a device measured at one moment. */
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

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** A reading as it was sent. */
export interface SentReading {
  readonly hardwareId: string;
  readonly batchId: string;
  readonly timestampMs: number;
  readonly bootId: string;
  readonly firmwareVersion: string;
  readonly friendlyName?: string | null | undefined;
  readonly sensors: Nullable<Sensors>;
  readonly sensorStatus: Nullable<SensorStatus>;
}

export type RejectionCode = 'INVALID_TIMESTAMP' | 'INVALID_BATCH_ID' | 'INVALID_UUID' | 'INVALID_VALUE' | 'DEVICE_NOT_FOUND';

export interface Rejection {
  readonly code: RejectionCode;
  readonly message: string;
}

export const batchIdPattern = /^[A-Za-z0-9_.:-]{1,256}$/;
/** The times a reading can have, the last one exclusive. */
export const earliestMs = Date.UTC(2000, 0, 1);
export const latestMs = Date.UTC(2100, 0, 1);
const aheadMs = 10 * 60_000;
const smallest = 1e-9;

/** A reading by the rules, with the hash of what was sent; or the first rule that it breaks. */
export type Parsed = { readonly reading: Reading; readonly hash: string } | { readonly rejection: Rejection };

export function parseReading(orgId: string, sent: SentReading, nowMs: number): Parsed {
  const rejection = rejectionOf(sent, nowMs);
  if (rejection) return { rejection };
  const { hardwareId, batchId, timestampMs, bootId, firmwareVersion, friendlyName } = sent;
  const reading: Reading = {
    nodeType: 'Reading',
    orgId,
    hardwareId,
    batchId,
    timestampMs,
    bootId: bootId.toLowerCase(),
    firmwareVersion,
    ...(typeof friendlyName === 'string' ? { friendlyName } : {}),
    sensors: withoutNull(sent.sensors),
    sensorStatus: withoutNull(sent.sensorStatus),
  };
  return { reading, hash: contentHash(reading) };
}

function rejectionOf(sent: SentReading, nowMs: number): Rejection | undefined {
  const { hardwareId, batchId, timestampMs, bootId, firmwareVersion, friendlyName, sensors } = sent;
  if (!batchIdPattern.test(batchId)) return { code: 'INVALID_BATCH_ID', message: 'batchId: must have 1 to 256 of A-Z a-z 0-9 _ . : -' };
  if (!isHardwareId(hardwareId)) return { code: 'DEVICE_NOT_FOUND', message: 'hardwareId: must be a MAC address such as AA:BB:CC:DD:EE:FF, in upper case' };
  if (!Number.isInteger(timestampMs)) return { code: 'INVALID_TIMESTAMP', message: 'timestampMs: must be a whole number of milliseconds' };
  if (timestampMs < earliestMs || timestampMs >= latestMs) return { code: 'INVALID_TIMESTAMP', message: 'timestampMs: must be from 2000-01-01 to 2100-01-01' };
  if (timestampMs > nowMs + aheadMs) return { code: 'INVALID_TIMESTAMP', message: 'timestampMs: is more than 10 minutes ahead of our clock' };
  if (!isUuidV4(bootId)) return { code: 'INVALID_UUID', message: 'bootId: must be a UUID of version 4' };
  if (!isFirmwareVersion(firmwareVersion)) return { code: 'INVALID_VALUE', message: 'firmwareVersion: must have 1 to 64 printable ASCII characters' };
  if (typeof friendlyName === 'string' && !isFriendlyName(friendlyName))
    return { code: 'INVALID_VALUE', message: 'friendlyName: must have 1 to 64 printable ASCII characters' };
  for (const metric of metricNames) {
    const value = sensors[metric];
    const { min, max } = metrics[metric];
    if (value === undefined || value === null) continue;
    if (!Number.isFinite(value) || value < min || value > max) return { code: 'INVALID_VALUE', message: `sensors.${metric}: must be from ${min} to ${max}` };
    // The store takes nothing smaller than 1e-130, and would refuse the neighbours with it.
    if (value !== 0 && Math.abs(value) < smallest)
      return { code: 'INVALID_VALUE', message: `sensors.${metric}: must be 0 or at least ${smallest} away from it` };
  }
  return undefined;
}

const withoutNull = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined && entry !== null)) as { [K in keyof T]: Exclude<T[K], null> };

/** Of everything that was sent, in one order: by it a repeat is told from another reading under the same id. */
function contentHash({ timestampMs, bootId, firmwareVersion, friendlyName, sensors, sensorStatus }: Reading): string {
  const values = metricNames.map((metric) => sensors[metric] ?? null);
  const states = (Object.keys(sensorNames) as SensorName[]).map((sensor) => sensorStatus[sensor] ?? null);
  return sha256(JSON.stringify([timestampMs, bootId, firmwareVersion, friendlyName ?? null, values, states]));
}

export type Verdict =
  | { readonly kind: 'STORED' | 'DUPLICATE' }
  | { readonly kind: 'CONFLICT' | 'RETRY'; readonly message: string }
  | { readonly kind: 'REJECTED'; readonly rejection: Rejection };

export const conflict: Verdict = { kind: 'CONFLICT', message: 'this device has sent other content under this batch id; what was stored first stays' };
export const retry: Verdict = { kind: 'RETRY', message: 'the store did not take it now: send it again' };
export const rejected = (rejection: Rejection): Verdict => ({ kind: 'REJECTED', rejection });

/** One of two readings with the same batch id in one call: what the first came to decides the second. */
export function verdictAfter(first: Verdict, isSame: boolean): Verdict | 'on its own' {
  if (first.kind === 'RETRY') return retry;
  if (first.kind === 'REJECTED' || first.kind === 'CONFLICT') return 'on its own';
  return isSame ? { kind: 'DUPLICATE' } : conflict;
}
