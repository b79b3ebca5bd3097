import type { Item, Key, StoreClient, Write } from '../dynamo/client.js';
import { absent, and, atMost, between, type Condition, equals, greaterThan, or } from '../dynamo/expression.js';
import { StoreUnavailable } from '../dynamo/faults.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { Overloaded } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { Semaphore } from '../lib/semaphore.js';
import type { DeviceRef } from './device.js';
import { batchKey, deviceKey, readingKey, readingRange, readingSortKey } from './device-keys.js';
import {
  conflict,
  earliestMs,
  type Health,
  latestMs,
  type Metric,
  metricNames,
  metrics,
  type Reading,
  retry,
  type SensorName,
  sensorNames,
  type Verdict,
} from './reading.js';

const readingsTable = 'device_readings';
const batchesTable = 'processed_batches';
const readingsATransaction = 50;
const mostRounds = 8;
/** More of the large transactions at once only make each other late. */
const transactionsAtOnce = 8;
const readingsOfASmallOne = 10;
const mostWaiting = 512;

/** A reading to be stored, with the hash of what was sent. */
export interface NewReading {
  readonly reading: Reading;
  readonly hash: string;
}

export interface ReadingPosition {
  readonly timestampMs: number;
  readonly batchId: string;
}

export class ReadingStore {
  private readonly turns = new Semaphore(transactionsAtOnce, mostWaiting, () => new Overloaded('too many readings are waiting to be written: send them again'));

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly retentionDays: { readonly readings: number; readonly batches: number },
  ) {}

  /** Stores each reading once: its marker and itself together or not at all. No two of them may have the same device and batch id. */
  async put(readings: readonly NewReading[]): Promise<Verdict[]> {
    const verdicts = new Map<NewReading, Verdict>();
    // Marks what this call stores, so that a success whose reply was lost is not taken for a duplicate.
    const nonce = newUuid();
    // In the order they were measured, so that whoever follows a device misses none of them.
    const ordered = [...readings].sort((a, b) => a.reading.timestampMs - b.reading.timestampMs);
    for (let i = 0, isThere = true; i < ordered.length && isThere; i += readingsATransaction)
      isThere = await this.putGroup(ordered.slice(i, i + readingsATransaction), nonce, verdicts);
    return readings.map((reading) => verdicts.get(reading) ?? retry);
  }

  /** Newest by the time measured. */
  async latest(device: DeviceRef): Promise<Reading | undefined> {
    const { items } = await this.client.query({
      table: readingsTable,
      where: equals('hardware_id', deviceKey(device).hardware_id),
      newestFirst: true,
      limit: 1,
      consistent: true,
    });
    return items[0] && toReading(items[0]);
  }

  async load(device: DeviceRef, { timestampMs, batchId }: ReadingPosition): Promise<Reading | undefined> {
    const item = await this.client.get(readingsTable, readingKey(device, timestampMs, batchId), { consistent: true });
    return item && toReading(item);
  }

  /** Newest first, up to `limit`, however many pages the store cuts that into. */
  async list(device: DeviceRef, range: { readonly fromMs: number; readonly toMs: number }, limit: number, after?: ReadingPosition): Promise<Reading[]> {
    const [fromMs, toMs] = [Math.max(range.fromMs, earliestMs), Math.min(range.toMs, latestMs)];
    if (fromMs >= toMs) return [];
    const [first, last] = readingRange(fromMs, toMs);
    const seen = after && readingSortKey(after.timestampMs, after.batchId);
    if (seen !== undefined && seen <= first) return [];
    const where = and(equals('hardware_id', deviceKey(device).hardware_id), between('ts_batch', first, last));
    const found: Reading[] = [];
    // A start outside the range is refused by the store; one past its end has all of the range before it.
    let start: Key | undefined = after && seen !== undefined && seen <= last ? readingKey(device, after.timestampMs, after.batchId) : undefined;
    do {
      const page = await this.client.query({
        table: readingsTable,
        where,
        newestFirst: true,
        limit: limit - found.length,
        consistent: true,
        ...(start ? { after: start } : {}),
      });
      found.push(...page.items.map(toReading));
      start = page.next;
    } while (start && found.length < limit);
    return found;
  }

  /** What was measured after a reading, oldest first, up to `limit`. */
  async listAfter(device: DeviceRef, after: ReadingPosition | undefined, limit: number): Promise<Reading[]> {
    const own = equals('hardware_id', deviceKey(device).hardware_id);
    const where = after ? and(own, greaterThan('ts_batch', readingSortKey(after.timestampMs, after.batchId))) : own;
    const { items } = await this.client.query({ table: readingsTable, where, limit, consistent: true });
    return items.map(toReading);
  }

  /** False where the store did not answer: then nothing more need be tried. */
  private async putGroup(group: readonly NewReading[], nonce: string, verdicts: Map<NewReading, Verdict>): Promise<boolean> {
    let open = group;
    try {
      // Each round settles at least the one whose condition failed.
      for (let round = 0; open.length > 0 && round < mostRounds; round++) {
        const writes = open.flatMap((reading) => this.writesOf(reading, nonce));
        const send = () => this.client.transact('judged', writes);
        const outcome = await (open.length > readingsOfASmallOne ? this.turns.run(send) : send());
        for (const [i, reading] of open.entries()) {
          const verdict = outcome.done ? ({ kind: 'STORED' } as const) : verdictOf(reading, nonce, outcome.reasons.slice(2 * i, 2 * i + 2));
          if (verdict) verdicts.set(reading, verdict);
        }
        open = open.filter((reading) => !verdicts.has(reading));
      }
      return true;
    } catch (error) {
      // Whoever has no verdict was not stored, or not for certain: sent again, it is stored or found.
      if (!(error instanceof StoreUnavailable) && !(error instanceof Overloaded)) throw error;
      return false;
    }
  }

  private writesOf({ reading, hash }: NewReading, nonce: string): Write[] {
    const nowMs = this.clock.nowMs();
    const nowSecs = epochSeconds(nowMs);
    // By whichever is later: what a device has kept for long must not be gone the moment it arrives.
    const expires = epochSeconds(Math.max(reading.timestampMs, nowMs)) + this.retentionDays.readings * 86_400;
    const marker: Item = {
      ...batchKey(reading, reading.batchId),
      hardware_id: reading.hardwareId,
      received_at: new Date(nowMs).toISOString(),
      payload_hash: hash,
      nonce,
      expiration_time: Math.max(expires, nowSecs + this.retentionDays.batches * 86_400),
    };
    const isFree = (keyAttribute: string): Condition => or(absent(keyAttribute), atMost('expiration_time', nowSecs));
    return [
      { table: batchesTable, put: marker, condition: isFree('batch_id') },
      { table: readingsTable, put: toItem(reading, hash, expires), condition: isFree('hardware_id') },
    ];
  }
}

/** What the reasons of a cancelled transaction say of one reading; nothing where neither was its own. */
function verdictOf({ hash }: NewReading, nonce: string, reasons: readonly { readonly kind: string; readonly old?: Item }[]): Verdict | undefined {
  const failed = reasons.find(({ kind }) => kind === 'condition');
  if (!failed) return undefined;
  if (failed.old?.nonce === nonce) return { kind: 'STORED' };
  return failed.old?.payload_hash === hash ? { kind: 'DUPLICATE' } : conflict;
}

const toItem = (reading: Reading, hash: string, expirationTime: number): Item => ({
  ...readingKey(reading, reading.timestampMs, reading.batchId),
  timestamp_ms: reading.timestampMs,
  batch_id: reading.batchId,
  boot_id: reading.bootId,
  firmware_version: reading.firmwareVersion,
  friendly_name: reading.friendlyName,
  sensors: Object.fromEntries(
    metricNames.flatMap((metric) => (reading.sensors[metric] === undefined ? [] : [[metrics[metric].attribute, reading.sensors[metric]]])),
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

function toReading(item: Item): Reading {
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
