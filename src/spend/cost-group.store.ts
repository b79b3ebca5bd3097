import type { Item, StoreClient, Update, Write } from '../dynamo/client.js';
import { absent, and, atMost, equals, or } from '../dynamo/expression.js';
import type { CancellationReason } from '../dynamo/faults.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { Overloaded } from '../lib/errors.js';
import type { CommitResult } from '../lib/group-commit.js';
import { type CostRecord, costTable, toCostItem, unpacked } from './cost.item.js';
import { type CounterItem, counterWrite } from './counter.item.js';
import { type Counters, countersOf, sumCounters } from './counters.js';
import { type HeldLimit, heldKey, heldName, heldText, heldUpdate, toHeld, withSettles } from './held/held.item.js';
import { emptyHeld, type HeldImage } from './held/held.js';
import type { Overrun } from './held/overrun.js';
import type { OverrunTimes } from './held/overrun.store.js';
import {
  admissionAttributes,
  type Reservation,
  type StoredRequest,
  toCancelledItem,
  toStoredRequest,
} from './held/reservation.item.js';
import { planSettles, type SettlePlan, type SettleRequest } from './held/settle-plan.js';
import { shardTable } from './shard.store.js';

export type RecordOutcome =
  | { readonly kind: 'recorded' | 'replayed'; readonly record: CostRecord }
  /** Cancelled by this call or by an earlier one, so there is no cost. */
  | { readonly kind: 'cancelled'; readonly replayed: boolean }
  /** The request id is that of an admitted call, which this cost has to settle. */
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  /** `gone`: there is no reservation to settle. */
  | { readonly kind: 'conflict' | 'gone' };

export interface SpendRetention {
  readonly requestDays: number;
  readonly shardDays: number;
}

/** What a cost that no reservation covered adds to the transaction that records it. */
export interface OverrunDrafts {
  list(record: CostRecord, overrun: Overrun, times: OverrunTimes): Write;
  audit(record: CostRecord, overrun: Overrun): TransactItem;
  count(overrun: Overrun): void;
}

/** A cost to record, or an admitted call to cancel. */
export interface CostEntry {
  readonly orgId: string;
  /** Identifies the request: org, app and request id. */
  readonly identity: string;
  /** Absent if the call is cancelled. */
  readonly record?: CostRecord;
  readonly payloadHash: string;
  readonly shard: number;
  /** Identifies this submission. If its response is lost, the retry finds the nonce and knows that it succeeded. */
  readonly nonce: string;
  /** The items that the cost is counted in, by name. Costs of one group share them. */
  readonly counters: ReadonlyMap<string, CounterItem>;
  /** The HARD quota and budgets that the cost counts against. */
  readonly charges: readonly HeldLimit[];
  /** The admitted call that it settles. Replaced if that was renewed meanwhile. */
  reservation?: Reservation | undefined;
}

export interface CostGroupDeps {
  readonly client: StoreClient;
  readonly clock: Clock;
  readonly retention: SpendRetention;
  readonly overruns: OverrunDrafts;
}

/** DynamoDB allows this many writes per transaction. */
export const maxGroupWrites = 100;
const maxAttempts = 30;
const maxSettleMs = 24 * 3_600_000;

/** A group of costs that share their counters: one transaction, planned again while held items have changed. */
export class CostGroup {
  private readonly images = new Map<string, HeldImage>();

  constructor(
    private readonly deps: CostGroupDeps,
    private readonly group: readonly CostEntry[],
  ) {}

  /** One result per cost. `again` for those that were not part of the transaction. */
  async run(): Promise<CommitResult<RecordOutcome>[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const results = await this.attempt();
      if (results) return results;
    }
    throw new Overloaded('the quota of this label is being changed by too many writers; nothing was changed; retry');
  }

  /** Undefined if the held items were not as expected. Now they are known. */
  private async attempt(): Promise<CommitResult<RecordOutcome>[] | undefined> {
    const { client, clock, retention, overruns } = this.deps;
    const nowMs = clock.nowMs();
    const plan = await this.plan(nowMs);
    const entries = this.group.slice(0, this.fitting(plan));
    // The overruns of the others are planned again with them.
    const used = entries.length === this.group.length ? plan : planSettles(this.requests(entries, nowMs), this.images);
    const expiresAtSecs = epochSeconds(nowMs) + retention.requestDays * 86_400;
    const puts = entries.map((entry) => this.requestWrite(entry, nowMs, expiresAtSecs));
    const items = this.itemWrites(entries, used, nowMs);
    const over = entries.flatMap(({ record }, i) => {
      const overrun = used.overruns[i];
      return record && overrun ? [{ record, overrun }] : [];
    });
    const writes = [
      ...puts,
      ...items.values(),
      ...over.map(({ record, overrun }) => overruns.list(record, overrun, { nowMs, expiresAtSecs })),
    ];
    const riders = over.map(({ record, overrun }) => overruns.audit(record, overrun));
    const outcome = await client.transact('judged', writes, { riders });
    if (outcome.done) {
      for (const { overrun } of over) overruns.count(overrun);
      return entries.map((entry) => ({ done: doneOf(entry) }));
    }
    const results = entries.map((entry, i) => this.judged(entry, outcome.reasons[i]));
    this.learn([...items.keys()], outcome.reasons.slice(puts.length));
    return results.some((result) => result !== 'again') ? results : this.settlesNothing() ? results : undefined;
  }

  /** True if no held item is involved: a failure without a reason of its own is then left to the next group. */
  private settlesNothing(): boolean {
    return this.group.every(({ charges, reservation }) => charges.length === 0 && !reservation);
  }

  private async plan(nowMs: number): Promise<SettlePlan> {
    const plan = planSettles(this.requests(this.group, nowMs), this.images);
    if (plan.unknown.size === 0) return plan;
    const limits = this.group.flatMap(({ charges }) => charges).filter(({ name }) => plan.unknown.has(name));
    const keys = [...new Map(limits.map(({ name, ref }) => [name, heldKey(ref)]))];
    const found = await this.deps.client.getMany(
      shardTable,
      keys.map(([, key]) => key),
      { consistent: true },
    );
    for (const [i, [name]] of keys.entries()) this.images.set(name, found[i] ? toHeld(found[i]) : emptyHeld);
    return planSettles(this.requests(this.group, nowMs), this.images);
  }

  private requests(entries: readonly CostEntry[], nowMs: number): SettleRequest[] {
    return entries.map(({ record, charges, reservation }) => ({
      amountUsdMicros: record?.usage.costUsdMicros ?? 0,
      charges,
      ...(reservation
        ? {
            release: {
              amountUsdMicros: reservation.amountUsdMicros,
              slot: reservation.slot,
              names: reservation.holds.map(heldName),
              // Its items may have expired. A sweep has returned the amount, or will.
              isOld: reservation.reservedAtMs < nowMs - maxSettleMs,
            },
          }
        : {}),
    }));
  }

  /** How many entries fit into one transaction, with two more writes for each overrun. */
  private fitting({ items, overruns }: SettlePlan): number {
    const names = new Set(items.keys());
    let writes = names.size;
    for (const [i, { counters }] of this.group.entries()) {
      const added = [...counters.keys()].filter((name) => !names.has(name));
      writes += 1 + added.length + (overruns[i] ? 2 : 0);
      if (writes > maxGroupWrites && i > 0) return i;
      for (const name of added) names.add(name);
    }
    return this.group.length;
  }

  private requestWrite(entry: CostEntry, nowMs: number, expires_at_epoch: number): Write {
    const { record, reservation, nonce, shard, charges, payloadHash } = entry;
    const holds = charges.map(({ ref }) => heldText(ref));
    const put = record
      ? { ...toCostItem(record, { shard, nonce }), holds: holds.length > 0 ? holds : undefined }
      : { ...toCancelledItem(reservation as Reservation, payloadHash), nonce };
    if (!reservation)
      return {
        table: costTable,
        put: { ...put, expires_at_epoch },
        condition: or(absent('PK'), atMost('expires_at_epoch', epochSeconds(nowMs))),
      };
    const state = record ? 'RECORDED' : 'CANCELLED';
    return {
      table: costTable,
      put: { ...put, ...admissionAttributes(reservation), state, expires_at_epoch },
      condition: and(equals('state', 'RESERVED'), equals('nonce', reservation.nonce), equals('slot', reservation.slot)),
    };
  }

  /** One write per counter item with the sum of its costs, and one per held item. Shard 0 of a HARD quota is both. */
  private itemWrites(entries: readonly CostEntry[], plan: SettlePlan, nowMs: number): Map<string, Update> {
    const nowSecs = epochSeconds(nowMs);
    const expiresAtSecs = nowSecs + this.deps.retention.shardDays * 86_400;
    const sums = new Map<string, { readonly item: CounterItem; readonly parts: Counters[] }>();
    for (const { record, counters } of entries)
      for (const [name, item] of counters) {
        const sum = sums.get(name) ?? { item, parts: [] };
        if (record) sum.parts.push(countersOf(record.usage, record.hour));
        sums.set(name, sum);
      }
    const writes = new Map<string, Update>(
      [...sums].map(([name, { item, parts }]) => [
        name,
        counterWrite(item, sumCounters(parts), { nowSecs, expiresAtSecs }),
      ]),
    );
    const limits = new Map(entries.flatMap(({ charges }) => charges.map((limit) => [limit.name, limit] as const)));
    const refs = new Map(
      entries.flatMap(({ reservation }) => reservation?.holds.map((ref) => [heldName(ref), ref] as const) ?? []),
    );
    for (const [name, item] of plan.items) {
      const limit = limits.get(name);
      const ref = refs.get(name);
      const known = writes.get(name) ?? (limit && heldUpdate(limit, longer(expiresAtSecs, limit)));
      const update = known ?? (ref && { table: shardTable, update: heldKey(ref) });
      if (update) writes.set(name, withSettles(update, item));
    }
    return writes;
  }

  /** The result of an entry whose write failed. */
  private judged(entry: CostEntry, reason: CancellationReason | undefined): CommitResult<RecordOutcome> {
    if (reason?.kind !== 'condition') return 'again';
    if (!reason.old) return entry.reservation ? { done: { kind: 'gone' } } : 'again';
    if (unpacked(reason.old).nonce === entry.nonce) return { done: doneOf(entry) };
    const stored = toStoredRequest(reason.old);
    // It was renewed: the reservation as it is now is settled.
    if (stored.state === 'RESERVED' && entry.reservation) {
      entry.reservation = stored.reservation;
      return 'again';
    }
    return { done: outcomeOf(stored, entry.payloadHash) };
  }

  /** Remembers the items whose conditions failed. */
  private learn(names: readonly string[], reasons: readonly CancellationReason[]): void {
    for (const [i, name] of names.entries()) {
      const reason = reasons[i];
      if (reason?.kind === 'condition') this.images.set(name, heldIn(reason.old));
    }
  }
}

const heldIn = (old: Item | undefined): HeldImage => (old ? toHeld(old) : emptyHeld);

/** A budget may last a month longer than a day. */
const longer = (expiresAtSecs: number, { ref }: HeldLimit): number =>
  ref.kind === 'budget' ? expiresAtSecs + 31 * 86_400 : expiresAtSecs;

const doneOf = ({ record }: CostEntry): RecordOutcome =>
  record ? { kind: 'recorded', record } : { kind: 'cancelled', replayed: false };

/** The outcome of a request that was stored before. */
export function outcomeOf(stored: StoredRequest, payloadHash: string): RecordOutcome {
  if (stored.state === 'RESERVED') return { kind: 'reserved', reservation: stored.reservation };
  if (stored.payloadHash !== payloadHash) return { kind: 'conflict' };
  return stored.state === 'CANCELLED'
    ? { kind: 'cancelled', replayed: true }
    : { kind: 'replayed', record: stored.record };
}
