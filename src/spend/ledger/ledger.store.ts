import type { Item, Key, StoreClient } from '../../dynamo/client.js';
import { and, equals, lessThan } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { costTable, type RequestRef, requestKey, requestRefOf } from '../cost.item.js';
import { isCost } from '../held/reservation.item.js';
import { type LedgerPosition, ledgerKey, toPosition } from './ledger-key.js';
import { type RecordedCost, toRecordedCost } from './recorded-cost.item.js';

/** The maximum number of index entries that one page reads. With a filter, most of them may not match. */
export const maxEntriesPerPage = 1000;
const maxBatch = 100;
const scanPageSize = 250;

/** The ledger of an org, and some of its days. */
export interface LedgerDays {
  readonly orgId: string;
  readonly partitions: number;
  /** In the order in which their costs are listed. */
  readonly days: readonly string[];
}

/** Which costs of an org to list. */
export interface LedgerFilter extends LedgerDays {
  readonly appId?: string;
  readonly label?: string;
}

export interface LedgerRows {
  readonly rows: readonly RecordedCost[];
  /** Present if the bound of a page was reached: the position to continue after. */
  readonly next?: string;
}

interface LedgerEntry extends LedgerPosition {
  readonly ref: RequestRef;
}

interface Direction {
  readonly newestFirst: boolean;
  readonly pageSize: number;
  /** Only entries before this one. */
  readonly before?: string;
}

/** Reads recorded costs: one by its id, or those that the index of the ledger lists. */
export class LedgerStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
  ) {}

  /** A consistent read. */
  async load(ref: RequestRef): Promise<RecordedCost | undefined> {
    return this.toCost(await this.client.get(costTable, requestKey(ref), { consistent: true }));
  }

  /**
   * Up to `limit` costs, newest first, after a position. Reads at most `maxEntriesPerPage` entries. The index is
   * eventually consistent: a cost of the last second may be missing.
   */
  async list(filter: LedgerFilter, limit: number, after?: LedgerPosition): Promise<LedgerRows> {
    const rows: RecordedCost[] = [];
    let batch: RequestRef[] = [];
    let read = 0;
    const { label } = filter;
    const isWanted = ({ record }: RecordedCost) => label === undefined || record.label === label;
    // Only the item has the label, so a small batch might be read for nothing, again and again.
    const batchSize = () => (label === undefined ? Math.min(maxBatch, limit - rows.length) : maxBatch);
    const isFiltered = label !== undefined || filter.appId !== undefined;
    const expected = isFiltered ? maxEntriesPerPage : 2 * limit;
    const pageSize = Math.max(10, Math.ceil(expected / filter.partitions));
    const entries = this.entries(filter, { newestFirst: true, pageSize }, after);
    for await (const entry of entries) {
      read++;
      if (filter.appId === undefined || entry.ref.appId === filter.appId) batch.push(entry.ref);
      const isLast = read === maxEntriesPerPage;
      if (isLast || batch.length >= batchSize()) {
        rows.push(...(await this.loadMany(batch)).filter(isWanted));
        batch = [];
      }
      if (rows.length >= limit) return { rows: rows.slice(0, limit) };
      if (isLast) return { rows, next: toPosition(entry) };
    }
    rows.push(...(await this.loadMany(batch)).filter(isWanted));
    return { rows: rows.slice(0, limit) };
  }

  /** Every listed cost of some days in the order of time, 100 in memory at a time. */
  async *scan(days: LedgerDays): AsyncGenerator<RecordedCost> {
    let batch: RequestRef[] = [];
    for await (const { ref } of this.entries(days, { newestFirst: false, pageSize: scanPageSize })) {
      batch.push(ref);
      if (batch.length < maxBatch) continue;
      yield* await this.loadMany(batch);
      batch = [];
    }
    yield* await this.loadMany(batch);
  }

  private async *entries(
    ledger: LedgerDays,
    direction: Direction,
    after?: LedgerPosition,
  ): AsyncGenerator<LedgerEntry> {
    for (const day of ledger.days) {
      if (after && day > after.day) continue;
      yield* this.merged(ledger, day, day === after?.day ? { ...direction, before: after.sortKey } : direction);
    }
  }

  /** The entries of all partitions of a day in one order. */
  private async *merged(
    { orgId, partitions: count }: LedgerDays,
    day: string,
    direction: Direction,
  ): AsyncGenerator<LedgerEntry> {
    const partitions = Array.from({ length: count }, (_, partition) =>
      this.partition(orgId, day, partition, direction),
    );
    const heads = await Promise.all(partitions.map((partition) => partition.next()));
    const isAhead = (a: LedgerEntry, b: LedgerEntry) => a.sortKey > b.sortKey === direction.newestFirst;
    for (;;) {
      let first: { readonly entry: LedgerEntry; readonly at: number } | undefined;
      for (const [at, head] of heads.entries())
        if (!head.done && (!first || isAhead(head.value, first.entry))) first = { entry: head.value, at };
      if (!first) return;
      yield first.entry;
      heads[first.at] = await (partitions[first.at] as AsyncGenerator<LedgerEntry>).next();
    }
  }

  private async *partition(
    orgId: string,
    day: string,
    partition: number,
    { newestFirst, pageSize, before }: Direction,
  ): AsyncGenerator<LedgerEntry> {
    const ofDay = equals('gsi1pk', ledgerKey(orgId, day, partition));
    let after: Key | undefined;
    do {
      const page = await this.client.query({
        table: costTable,
        index: 'gsi1',
        where: before === undefined ? ofDay : and(ofDay, lessThan('gsi1sk', before)),
        newestFirst,
        limit: pageSize,
        ...(after ? { after } : {}),
      });
      yield* page.items.map((item) => toEntry(item, day));
      after = page.next;
    } while (after);
  }

  private async loadMany(refs: readonly RequestRef[]): Promise<RecordedCost[]> {
    const items = await this.client.getMany(costTable, refs.map(requestKey), { consistent: true });
    return items.flatMap((item) => this.toCost(item) ?? []);
  }

  /** Undefined if there is no cost, or if it has expired and DynamoDB has not deleted it yet. */
  private toCost(item: Item | undefined): RecordedCost | undefined {
    const cost = item && isCost(item) ? toRecordedCost(item) : undefined;
    return cost && cost.expiresAtSecs > epochSeconds(this.clock.nowMs()) ? cost : undefined;
  }
}

function toEntry(item: Item, day: string): LedgerEntry {
  const read = fields(costTable, item);
  return { day, sortKey: read.string('gsi1sk'), ref: requestRefOf(read.string('PK')) };
}
