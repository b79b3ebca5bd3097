import type { Item, Key, StoreClient, Write } from '../dynamo/client.js';
import { absent, and, atMost, between, type Condition, equals, greaterThan, or } from '../dynamo/expression.js';
import { StoreUnavailable } from '../dynamo/faults.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { Overloaded } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { Semaphore } from '../lib/semaphore.js';
import type { ReadingsRef } from './device.js';
import { batchIdIn, batchKey, readingKey, readingRange, readingSortKey, readingsKey } from './device-keys.js';
import { conflict, earliestMs, latestMs, type Metric, metrics, type Reading, retry, type Verdict } from './reading.js';
import { toItem, toReading } from './reading-item.store.js';

const readingsTable = 'device_readings';
const batchesTable = 'processed_batches';
const maxReadingsPerTransaction = 50;
const maxRounds = 8;
/** More large transactions at once only delay each other. */
const maxTransactions = 8;
const maxReadingsOfSmallTransaction = 10;
const maxWaiting = 512;
/** Expired readings that lie between live ones are few, so a page that met some goes on in steps of this size. */
const minNextPage = 100;

/** A reading to be stored for one life of a device, with the hash of what was sent. */
export interface NewReading {
  readonly reading: Reading;
  readonly generation: string;
  readonly hash: string;
}

export interface ReadingPosition {
  readonly timestampMs: number;
  readonly batchId: string;
}

/** One moment of a chart: values by the attribute they are stored under. */
export interface Sample {
  readonly timestampMs: number;
  readonly values: Readonly<Record<string, number>>;
}

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export class ReadingStore {
  private readonly turns = new Semaphore(
    maxTransactions,
    maxWaiting,
    () => new Overloaded('too many readings are waiting to be stored: retry'),
  );

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
    // In the order of measurement, because a subscription skips a reading measured before the last one it saw.
    const ordered = [...readings].sort((a, b) => a.reading.timestampMs - b.reading.timestampMs);
    for (let i = 0, isThere = true; i < ordered.length && isThere; i += maxReadingsPerTransaction)
      isThere = await this.putGroup(ordered.slice(i, i + maxReadingsPerTransaction), nonce, verdicts);
    return readings.map((reading) => verdicts.get(reading) ?? retry);
  }

  /** Newest by the time measured. */
  async latest(device: ReadingsRef): Promise<Reading | undefined> {
    return (await this.list(device, { fromMs: earliestMs, toMs: latestMs }, 1))[0];
  }

  async load(device: ReadingsRef, { timestampMs, batchId }: ReadingPosition): Promise<Reading | undefined> {
    const item = await this.client.get(readingsTable, readingKey(device, timestampMs, batchId), { consistent: true });
    return item && this.isLive(item) ? toReading(item) : undefined;
  }

  /** Newest first, up to `limit`, without expired ones, however many pages the store cuts that into. */
  async list(device: ReadingsRef, range: TimeRange, limit: number, after?: ReadingPosition): Promise<Reading[]> {
    const bounds = withinTime(range);
    const seen = after && readingSortKey(after.timestampMs, after.batchId);
    if (!bounds || (seen !== undefined && seen <= bounds[0])) return [];
    const where = and(equals('hardware_id', readingsKey(device).hardware_id), between('ts_batch', ...bounds));
    const found: Reading[] = [];
    // The store refuses a start outside the range; one past its end has all of the range before it.
    let start: Key | undefined =
      after && seen !== undefined && seen <= bounds[1]
        ? readingKey(device, after.timestampMs, after.batchId)
        : undefined;
    for (let missing = limit; ; missing = Math.max(limit - found.length, minNextPage)) {
      const page = await this.client.query({
        table: readingsTable,
        where,
        newestFirst: true,
        limit: missing,
        consistent: true,
        ...(start ? { after: start } : {}),
      });
      for (const item of page.items) if (this.isLive(item) && found.length < limit) found.push(toReading(item));
      start = page.next;
      if (!start || found.length === limit) return found;
    }
  }

  /** The values of some metrics only, newest first, a page of the store at a time. */
  async *samples(device: ReadingsRef, range: TimeRange, wanted: readonly Metric[]): AsyncGenerator<readonly Sample[]> {
    const bounds = withinTime(range);
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
      yield page.items
        .filter((item) => this.isLive(item))
        .map(({ timestamp_ms, sensors = {} }) => ({
          timestampMs: timestamp_ms as number,
          values: sensors as Record<string, number>,
        }));
      after = page.next;
    } while (after);
  }

  /** What was measured after a reading, oldest first, up to `limit`. */
  async listAfter(device: ReadingsRef, after: ReadingPosition | undefined, limit: number): Promise<Reading[]> {
    const own = equals('hardware_id', readingsKey(device).hardware_id);
    const where = after ? and(own, greaterThan('ts_batch', readingSortKey(after.timestampMs, after.batchId))) : own;
    const { items } = await this.client.query({ table: readingsTable, where, limit, consistent: true });
    return items.map(toReading);
  }

  /** Deletes up to `limit` readings of a deleted device with their markers. Returns how many; 0: there are none left. */
  async purge(device: ReadingsRef, limit: number): Promise<number> {
    const where = equals('hardware_id', readingsKey(device).hardware_id);
    const { items } = await this.client.query({
      table: readingsTable,
      where,
      limit,
      project: ['hardware_id', 'ts_batch'],
      consistent: true,
    });
    const sortKeys = items.map(({ ts_batch }) => ts_batch as string);
    // Markers go first: the readings are the list of what is left to do, should this process die in between.
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

  /** Amazon deletes expired items up to days late, so no read may rely on their absence. */
  private isLive({ expiration_time }: Item): boolean {
    return (expiration_time as number) > epochSeconds(this.clock.nowMs());
  }

  /** False if the store did not answer. The rest is not tried then. */
  private async putGroup(
    group: readonly NewReading[],
    nonce: string,
    verdicts: Map<NewReading, Verdict>,
  ): Promise<boolean> {
    let open = group;
    try {
      // Each round settles at least the one whose condition failed.
      for (let round = 0; open.length > 0 && round < maxRounds; round++) {
        const writes = open.flatMap((reading) => this.writesOf(reading, nonce));
        const send = () => this.client.transact('judged', writes);
        const outcome = await (open.length > maxReadingsOfSmallTransaction ? this.turns.run(send) : send());
        for (const [i, reading] of open.entries()) {
          const verdict = outcome.done
            ? ({ kind: 'STORED' } as const)
            : verdictOf(reading, nonce, outcome.reasons.slice(2 * i, 2 * i + 2));
          if (verdict) verdicts.set(reading, verdict);
        }
        open = open.filter((reading) => !verdicts.has(reading));
      }
      return true;
    } catch (error) {
      // A reading without a verdict may or may not be stored. Sent again, it is stored or found.
      if (!(error instanceof StoreUnavailable) && !(error instanceof Overloaded)) throw error;
      return false;
    }
  }

  private writesOf({ reading, hash, generation }: NewReading, nonce: string): Write[] {
    const device = { orgId: reading.orgId, hardwareId: reading.hardwareId, generation };
    const nowMs = this.clock.nowMs();
    const nowSecs = epochSeconds(nowMs);
    // By the later of the two: a reading that a device has kept for long must not expire the moment it arrives.
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

/** The verdict that a cancelled transaction's reasons give for one reading; undefined if neither reason is its own. */
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

/** The sort keys that hold a range of time; undefined if no reading can lie in it. */
function withinTime(range: TimeRange): [string, string] | undefined {
  const [fromMs, toMs] = [Math.max(range.fromMs, earliestMs), Math.min(range.toMs, latestMs)];
  return fromMs < toMs ? readingRange(fromMs, toMs) : undefined;
}
