import type { StoreClient, Write } from '../../dynamo/client.js';
import { absent, atMost, or } from '../../dynamo/expression.js';
import type { CancellationReason } from '../../dynamo/faults.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { Overloaded } from '../../lib/errors.js';
import type { CommitResult } from '../../lib/group-commit.js';
import { costTable } from '../cost.item.js';
import type { SpendRetention } from '../cost-group.store.js';
import { type HeldLimit, heldUpdate, toHeld, withReserves } from './held.item.js';
import { dueSlots, emptyHeld, type HeldImage, slotFor } from './held.js';
import { type Reservation, type StoredRequest, toReservationItem, toStoredRequest } from './reservation.item.js';
import type { ReserveStoreOptions } from './reserve.store.js';
import { planReserves, type ReservePlan, sweptOf } from './reserve-plan.js';

/** A reservation that is asked for. Its slot is chosen when it is written. */
export interface ReserveDraft extends Omit<Reservation, 'nonce' | 'slot' | 'holds' | 'expiresAtMs' | 'reservedAtMs'> {
  readonly limits: readonly HeldLimit[];
  readonly ttlMs: number;
}

export type ReserveOutcome =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  /** The request id was used before. */
  | { readonly kind: 'known'; readonly stored: StoredRequest }
  /** Does not fit. The items as they were then. */
  | { readonly kind: 'denied'; readonly images: ReadonlyMap<string, HeldImage> };

export interface ReserveEntry {
  readonly draft: ReserveDraft;
  readonly nonce: string;
}

const maxAttempts = 30;

interface ReserveGroupDeps extends Pick<ReserveStoreOptions, 'retention' | 'held' | 'memory' | 'ensureBase'> {
  readonly client: StoreClient;
  readonly clock: Clock;
}

/** Reservations on the same items: one transaction for those that fit, in order of arrival. */
export class ReserveGroup {
  private readonly images = new Map<string, HeldImage>();
  private readonly limits: readonly HeldLimit[];

  constructor(
    private readonly deps: ReserveGroupDeps,
    private readonly group: readonly ReserveEntry[],
  ) {
    this.limits = group[0]?.draft.limits ?? [];
  }

  /** One result per reservation. `again` for those that have to be planned with what the others left. */
  async run(): Promise<CommitResult<ReserveOutcome>[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await this.setBases()) continue;
      const nowMs = this.deps.clock.nowMs();
      const slots = this.group.map(({ draft }) => slotFor(nowMs, draft.ttlMs, sweptOf(this.limits, this.images)));
      const plan = planReserves(
        this.group.map(({ draft }, i) => ({ ...draft, slot: slots[i] as number })),
        this.images,
      );
      if (plan.denied.length > 0 && (await this.lookCloser(nowMs))) continue;
      const results = await this.write(plan, slots, nowMs);
      if (results) return results;
    }
    throw new Overloaded('the quota of this label is being changed by too many writers; nothing was reserved; retry');
  }

  /** Sums the days before a budget became HARD into its item, if that was not done yet. */
  private async setBases(): Promise<boolean> {
    const missing = this.limits.filter(
      ({ name, needsBase }) => needsBase && this.images.has(name) && this.images.get(name)?.base === undefined,
    );
    for (const limit of missing) {
      await this.deps.ensureBase(limit);
      this.images.delete(limit.name);
    }
    return missing.length > 0;
  }

  /** Before a denial: reads the items that were only assumed to be empty, and sweeps those with slots that are over. */
  private async lookCloser(nowMs: number): Promise<boolean> {
    const { held } = this.deps;
    const unknown = this.limits.filter(({ name }) => !this.images.has(name));
    if (unknown.length > 0) {
      const found = await held.loadMany(unknown.map(({ ref }) => ref));
      for (const [i, { name }] of unknown.entries()) this.images.set(name, found[i] ?? emptyHeld);
      return true;
    }
    let isSwept = false;
    for (const { name, ref } of this.limits) {
      const image = this.images.get(name) ?? emptyHeld;
      if (dueSlots(image, nowMs).length === 0) continue;
      this.images.set(name, await held.sweep(ref, image));
      isSwept = true;
    }
    return isSwept;
  }

  /** Writes the reservations that fit. Undefined if an item was not as expected. */
  private async write(
    { admitted, denied, items }: ReservePlan,
    slots: readonly number[],
    nowMs: number,
  ): Promise<CommitResult<ReserveOutcome>[] | undefined> {
    const { client, retention } = this.deps;
    const results = this.group.map((): CommitResult<ReserveOutcome> => 'again');
    for (const i of denied) results[i] = { done: this.denial() };
    if (admitted.length === 0) return results;
    const entries = admitted.map((i) => this.group[i] as ReserveEntry);
    const reservations = admitted.map((i) => {
      const { draft, nonce } = this.group[i] as ReserveEntry;
      return reservationOf(draft, nonce, nowMs, slots[i] as number);
    });
    const puts = reservations.map((reservation) => requestPut(reservation, nowMs, retention));
    const expiresAtSecs = epochSeconds(nowMs) + (retention.shardDays + 31) * 86_400;
    const updates = this.limits.flatMap((limit) => {
      const item = items.get(limit.name);
      return item ? [withReserves(heldUpdate(limit, expiresAtSecs), item, limit.needsBase)] : [];
    });
    const outcome = await client.transact('judged', [...puts, ...updates]);
    if (outcome.done) {
      this.deps.memory.forget(this.limits.map(({ name }) => name));
      for (const [n, i] of admitted.entries()) {
        const reservation = reservations[n];
        if (reservation) results[i] = { done: { kind: 'reserved', reservation } };
      }
      return results;
    }
    for (const [n, i] of admitted.entries())
      results[i] = judged(entries[n] as ReserveEntry, outcome.reasons[n]) ?? 'again';
    this.learn(outcome.reasons.slice(puts.length));
    return results.some((result) => result !== 'again') ? results : undefined;
  }

  private denial(): ReserveOutcome {
    for (const [name, image] of this.images) this.deps.memory.remember(name, image);
    return { kind: 'denied', images: new Map(this.images) };
  }

  private learn(reasons: readonly CancellationReason[]): void {
    for (const [i, { name }] of this.limits.entries()) {
      const reason = reasons[i];
      if (reason?.kind === 'condition') this.images.set(name, reason.old ? toHeld(reason.old) : emptyHeld);
    }
  }
}

/** The result of a reservation whose request id was used before. */
function judged(
  { nonce }: ReserveEntry,
  reason: CancellationReason | undefined,
): CommitResult<ReserveOutcome> | undefined {
  if (reason?.kind !== 'condition' || !reason.old) return undefined;
  const stored = toStoredRequest(reason.old);
  // The response of an attempt of this call was lost, and the retry found what it had stored.
  if (stored.state === 'RESERVED' && stored.reservation.nonce === nonce)
    return { done: { kind: 'reserved', reservation: stored.reservation } };
  return { done: { kind: 'known', stored } };
}

/** The reservation that a draft becomes. */
export function reservationOf(
  { limits, ttlMs, ...draft }: ReserveDraft,
  nonce: string,
  nowMs: number,
  slot: number,
): Reservation {
  const holds = limits.map(({ ref }) => ref);
  return { ...draft, holds, nonce, slot, reservedAtMs: nowMs, expiresAtMs: nowMs + ttlMs };
}

/** Stores the request of a reservation, unless its id was used before. */
export const requestPut = (reservation: Reservation, nowMs: number, { requestDays }: SpendRetention): Write => ({
  table: costTable,
  put: { ...toReservationItem(reservation), expires_at_epoch: epochSeconds(nowMs) + requestDays * 86_400 },
  condition: or(absent('PK'), atMost('expires_at_epoch', epochSeconds(nowMs))),
});
