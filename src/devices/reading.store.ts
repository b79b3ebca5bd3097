import type { Item, Key, StoreClient, Write } from '../dynamo/client.js';
import { absent, and, atMost, between, type Condition, equals, greaterThan, or } from '../dynamo/expression.js';
import { StoreUnavailable } from '../dynamo/faults.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { Overloaded } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { Semaphore } from '../lib/semaphore.js';
import type { ReadingsRef } from './device.js';
import { batchIdIn, batchKey, readingKey, readingRange, readingSortKey, readingsKey } from './device-keys.js';
import { isLive, type Sample, sortKeyOf, toItem, toReading, toSample } from './reading.item.js';
import { earliestMs, latestMs, type Metric, metrics, type Reading } from './reading.js';
import { conflict, retry, type Verdict } from './verdict.js';

const readingsTable = 'device_readings';
const batchesTable = 'processed_batches';
const maxReadingsPerTransaction = 50;
const maxRounds = 8;
/** Large transactions that run at the same time. More of them only delay each other. */
const maxLargeTransactions = 8;
const maxReadingsOfSmallTransaction = 10;
const maxWaitingTransactions = 512;
/** Min size of a further page, read if the first one had expired readings, which are few between live ones. */
const minNextPage = 100;

/** A reading to store for one generation of a device, with the hash of its content. */
export interface NewReading {
  readonly reading: Reading;
  readonly generation: string;
  readonly hash: string;
}

export interface ReadingPosition {
  readonly timestampMs: number;
  readonly batchId: string;
}

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export class ReadingStore {
  private readonly largeTransactions = new Semaphore(
    maxLargeTransactions,
    maxWaitingTransactions,
    () => new Overloaded('too many readings are waiting to be stored; retry'),
  );

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly retentionDays: { readonly readings: number; readonly batches: number },
  ) {}

  /**
   * Stores each reading once, in one transaction with the marker of its batch id. No two of the readings may have the
   * same device and batch id. Returns the verdicts in the order of the readings.
   */
  async put(readings: readonly NewReading[]): Promise<Verdict[]> {
    const verdicts = new Map<NewReading, Verdict>();
    // The nonce marks what this call stores. After a lost response it tells a success of this call from a duplicate.
    const nonce = newUuid();
    // In the order of measurement, because a subscription skips a reading measured before the last one it pushed.
    const ordered = [...readings].sort((a, b) => a.reading.timestampMs - b.reading.timestampMs);
    for (let i = 0; i < ordered.length; i += maxReadingsPerTransaction) {
      const group = await this.putGroup(ordered.slice(i, i + maxReadingsPerTransaction), nonce);
      for (const [reading, verdict] of group.verdicts) verdicts.set(reading, verdict);
      if (!group.isAvailable) break;
    }
    return readings.map((reading) => verdicts.get(reading) ?? retry);
  }

  /** The newest reading by time of measurement. */
  async latest(device: ReadingsRef): Promise<Reading | undefined> {
    return (await this.list(device, { fromMs: earliestMs, toMs: latestMs }, 1))[0];
  }

  async load(device: ReadingsRef, { timestampMs, batchId }: ReadingPosition): Promise<Reading | undefined> {
    const item = await this.client.get(readingsTable, readingKey(device, timestampMs, batchId), { consistent: true });
    return item && isLive(item, this.nowSecs()) ? toReading(item) : undefined;
  }

  /** Up to `limit` readings that have not expired, newest first. Reads as many pages of DynamoDB as that takes. */
  async list(device: ReadingsRef, range: TimeRange, limit: number, after?: ReadingPosition): Promise<Reading[]> {
    const bounds = sortKeysWithin(range);
    const last = after && readingSortKey(after.timestampMs, after.batchId);
    if (!bounds || (last !== undefined && last <= bounds[0])) return [];
    const where = and(equals('hardware_id', readingsKey(device).hardware_id), between('ts_batch', ...bounds));
    const found: Reading[] = [];
    // DynamoDB refuses a start outside the range. A start after its end is the same as none, because the order is
    // descending.
    let start: Key | undefined =
      after && last !== undefined && last <= bounds[1]
        ? readingKey(device, after.timestampMs, after.batchId)
        : undefined;
    const nowSecs = this.nowSecs();
    for (let missing = limit; ; missing = Math.max(limit - found.length, minNextPage)) {
      const page = await this.client.query({
        table: readingsTable,
        where,
        newestFirst: true,
        limit: missing,
        consistent: true,
        ...(start ? { after: start } : {}),
      });
      for (const item of page.items) if (isLive(item, nowSecs) && found.length < limit) found.push(toReading(item));
      start = page.next;
      if (!start || found.length === limit) return found;
    }
  }

  /** The values of the wanted metrics, newest first, one page of DynamoDB at a time. */
  async *samples(device: ReadingsRef, range: TimeRange, wanted: readonly Metric[]): AsyncGenerator<readonly Sample[]> {
    const bounds = sortKeysWithin(range);
    if (!bounds) return;
    const where = and(equals('hardware_id', readingsKey(device).hardware_id), between('ts_batch', ...bounds));
    const project = [
      'timestamp_ms',
      'expiration_time',
      ...wanted.map((metric) => ['sensors', metrics[metric].attribute]),
    ];
    let after: Key | undefined;
    do {
      const page = await this.client.query({
        table: readingsTable,
        where,
        project,
        newestFirst: true,
        consistent: true,
        ...(after ? { after } : {}),
      });
      const nowSecs = this.nowSecs();
      yield page.items.filter((item) => isLive(item, nowSecs)).map(toSample);
      after = page.next;
    } while (after);
  }

  /** Up to `limit` readings that were measured after the given one, oldest first. */
  async listAfter(device: ReadingsRef, after: ReadingPosition | undefined, limit: number): Promise<Reading[]> {
    const all = equals('hardware_id', readingsKey(device).hardware_id);
    const where = after ? and(all, greaterThan('ts_batch', readingSortKey(after.timestampMs, after.batchId))) : all;
    const { items } = await this.client.query({ table: readingsTable, where, limit, consistent: true });
    return items.map(toReading);
  }

  /**
   * Deletes up to `limit` readings of a deleted device with their markers. Returns how many; 0 if none is left.
   * Idempotent.
   */
  async purge(device: ReadingsRef, limit: number): Promise<number> {
    const where = equals('hardware_id', readingsKey(device).hardware_id);
    const { items } = await this.client.query({
      table: readingsTable,
      where,
      limit,
      project: ['hardware_id', 'ts_batch'],
      consistent: true,
    });
    const sortKeys = items.map(sortKeyOf);
    // Markers first: if this process crashes in between, the readings still show which markers have to be deleted.
    await this.client.writeMany(
      batchesTable,
      sortKeys.map((sortKey) => ({ delete: batchKey(device, batchIdIn(sortKey)) })),
    );
    await this.client.writeMany(
      readingsTable,
      sortKeys.map((sortKey) => ({ delete: { ...readingsKey(device), ts_batch: sortKey } })),
    );
    return items.length;
  }

  private nowSecs(): number {
    return epochSeconds(this.clock.nowMs());
  }

  /** Stores up to `maxReadingsPerTransaction` readings. If DynamoDB is not available, some of them have no verdict. */
  private async putGroup(
    group: readonly NewReading[],
    nonce: string,
  ): Promise<{ readonly verdicts: ReadonlyMap<NewReading, Verdict>; readonly isAvailable: boolean }> {
    const verdicts = new Map<NewReading, Verdict>();
    let open = group;
    try {
      // Each round gives at least one reading its verdict: the one whose condition cancelled the transaction.
      for (let round = 0; open.length > 0 && round < maxRounds; round++) {
        const writes = open.flatMap((reading) => this.writesOf(reading, nonce));
        const send = () => this.client.transact('judged', writes);
        const isLarge = open.length > maxReadingsOfSmallTransaction;
        const outcome = await (isLarge ? this.largeTransactions.run(send) : send());
        for (const [i, reading] of open.entries()) {
          const verdict = outcome.done
            ? ({ kind: 'STORED' } as const)
            : verdictOf(reading, nonce, outcome.reasons.slice(2 * i, 2 * i + 2));
          if (verdict) verdicts.set(reading, verdict);
        }
        open = open.filter((reading) => !verdicts.has(reading));
      }
      return { verdicts, isAvailable: true };
    } catch (error) {
      // A reading without a verdict may or may not be stored. The retry of the device then stores it or finds the
      // duplicate.
      if (!(error instanceof StoreUnavailable) && !(error instanceof Overloaded)) throw error;
      return { verdicts, isAvailable: false };
    }
  }

  private writesOf({ reading, hash, generation }: NewReading, nonce: string): Write[] {
    const device = { orgId: reading.orgId, hardwareId: reading.hardwareId, generation };
    const nowMs = this.clock.nowMs();
    const nowSecs = epochSeconds(nowMs);
    // From the later of measurement and arrival, because a reading that a device has buffered for long must not expire
    // at once.
    const expires = epochSeconds(Math.max(reading.timestampMs, nowMs)) + this.retentionDays.readings * 86_400;
    const marker: Item = {
      ...batchKey(device, reading.batchId),
      hardware_id: reading.hardwareId,
      received_at: new Date(nowMs).toISOString(),
      payload_hash: hash,
      nonce,
      expiration_time: Math.max(expires, nowSecs + this.retentionDays.batches * 86_400),
    };
    const isFree = (keyAttribute: string): Condition => or(absent(keyAttribute), atMost('expiration_time', nowSecs));
    return [
      { table: batchesTable, put: marker, condition: isFree('batch_id') },
      { table: readingsTable, put: toItem(device, reading, hash, expires), condition: isFree('hardware_id') },
    ];
  }
}

/**
 * The verdict on one reading of a cancelled transaction, by its two cancellation reasons. Undefined if it caused
 * neither.
 */
function verdictOf(
  { hash }: NewReading,
  nonce: string,
  reasons: readonly { readonly kind: string; readonly old?: Item }[],
): Verdict | undefined {
  const failed = reasons.find(({ kind }) => kind === 'condition');
  if (!failed) return undefined;
  if (failed.old?.nonce === nonce) return { kind: 'STORED' };
  return failed.old?.payload_hash === hash ? { kind: 'DUPLICATE' } : conflict;
}

/** The first and last sort key of a range of time. Undefined if no reading can be in it. */
function sortKeysWithin(range: TimeRange): [string, string] | undefined {
  const [fromMs, toMs] = [Math.max(range.fromMs, earliestMs), Math.min(range.toMs, latestMs)];
  return fromMs < toMs ? readingRange(fromMs, toMs) : undefined;
}
