import type { StoreClient, Write } from '../../dynamo/client.js';
import { and, equals } from '../../dynamo/expression.js';
import type { Clock } from '../../lib/clock.js';
import type { EventLoopScheduler } from '../../lib/event-loop-scheduler.js';
import { GroupCommit } from '../../lib/group-commit.js';
import { newUuid } from '../../lib/id.js';
import type { Locks } from '../../lib/locks.js';
import { endOfTurn } from '../../lib/timers.js';
import { costTable, requestKey } from '../cost.item.js';
import { maxGroupWrites, type SpendRetention } from '../cost-group.store.js';
import { type HeldLimit, heldName, moveWrite } from './held.item.js';
import { emptyHeld, type HeldImage, noSlot, slotFor } from './held.js';
import type { HeldStore } from './held.store.js';
import type { HeldMemory } from './held-memory.js';
import { type Reservation, toStoredRequest } from './reservation.item.js';
import {
  type ReserveDraft,
  type ReserveEntry,
  ReserveGroup,
  type ReserveOutcome,
  requestPut,
  reservationOf,
} from './reserve-group.store.js';

export interface ReserveStoreOptions {
  readonly retention: SpendRetention;
  readonly maxWaiting: number;
  readonly scheduler?: EventLoopScheduler;
  readonly locks: Locks;
  readonly memory: HeldMemory;
  readonly held: HeldStore;
  /** Costs go first, because they free money. */
  readonly costs: { isWaitingFor(names: readonly string[]): boolean };
  /** Sums the days before a budget became HARD into its item. */
  ensureBase(limit: HeldLimit): Promise<void>;
}

/** Costs that keep coming must not delay reservations without end. */
const maxYields = 3;

/** Reserves money on held items. */
export class ReserveStore {
  private readonly commits: GroupCommit<ReserveEntry, ReserveOutcome>;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly options: ReserveStoreOptions,
  ) {
    this.commits = new GroupCommit({
      scheduler: options.scheduler,
      maxGroupSize: maxGroupWrites,
      maxWaiting: options.maxWaiting,
      shared: ({ draft }) => draft.limits.map(({ name }) => name),
      tenant: ({ draft }) => draft.orgId,
      identity: ({ draft: { orgId, appId, requestId } }) => `${orgId} ${appId} ${requestId}`,
      enter: (_key, { draft }) => this.enter(draft.limits.map(({ name }) => name)),
      commit: (_key, group) => new ReserveGroup({ client, clock, ...options }, group).run(),
    });
  }

  /**
   * Reserves the amount on all bounds or on none, and stores the request, in one transaction. Without bounds only the
   * request is stored.
   */
  reserve(draft: ReserveDraft): Promise<ReserveOutcome> {
    const entry = { draft, nonce: newUuid() };
    if (draft.limits.length === 0) return this.store(entry);
    const names = draft.limits.map(({ name }) => name).sort();
    return this.commits.submit(names.join(' '), entry);
  }

  /** What the items of some bounds hold now. */
  async look(limits: readonly HeldLimit[]): Promise<ReadonlyMap<string, HeldImage>> {
    const found = await this.options.held.loadMany(limits.map(({ ref }) => ref));
    const images = new Map(limits.map(({ name }, i) => [name, found[i] ?? emptyHeld]));
    for (const [name, image] of images) this.options.memory.remember(name, image);
    return images;
  }

  /**
   * Moves a reservation to the slot of a later end. Undefined if it is not the one that is stored, or was returned.
   */
  async renew(reservation: Reservation, expiresAtMs: number): Promise<Reservation | undefined> {
    const nowMs = this.clock.nowMs();
    const slot = Math.max(reservation.slot, slotFor(nowMs, expiresAtMs - nowMs, noSlot));
    const nonce = newUuid();
    const request: Write = {
      table: costTable,
      update: requestKey(reservation),
      set: { slot, until_ms: expiresAtMs, renewed_by: nonce },
      condition: and(
        equals('state', 'RESERVED'),
        equals('nonce', reservation.nonce),
        equals('slot', reservation.slot),
        equals('until_ms', reservation.expiresAtMs),
      ),
    };
    const { holds, amountUsdMicros } = reservation;
    const moves = holds.map((ref) => moveWrite(ref, amountUsdMicros, reservation.slot, slot));
    const renewed = { ...reservation, slot, expiresAtMs };
    const unlock = await this.options.locks.hold(holds.map(heldName));
    try {
      const isOwn = (old: unknown) => (old as { renewed_by?: unknown } | undefined)?.renewed_by === nonce;
      const { done } = await this.client.transact(
        ([first]) => first?.kind === 'condition' && isOwn(first.old),
        slot === reservation.slot ? [request] : [request, ...moves],
      );
      return done ? renewed : undefined;
    } finally {
      unlock();
    }
  }

  /** Resolves when every reservation has its outcome. */
  flush(): Promise<void> {
    return this.commits.flush();
  }

  /** Waits for the items of a group. Costs that wait for them go first. */
  private async enter(names: readonly string[]): Promise<() => void> {
    const { locks, costs } = this.options;
    for (let yields = 0; ; yields++) {
      const unlock = await locks.hold(names);
      if (yields === maxYields || !costs.isWaitingFor(names)) return unlock;
      unlock();
      await endOfTurn();
    }
  }

  /** Stores a request that reserves nothing. */
  private async store({ draft, nonce }: ReserveEntry): Promise<ReserveOutcome> {
    const nowMs = this.clock.nowMs();
    const reservation = reservationOf(draft, nonce, nowMs, slotFor(nowMs, draft.ttlMs, noSlot));
    const outcome = await this.client.write(requestPut(reservation, nowMs, this.options.retention), {
      repeat: (old) => old.nonce === nonce,
    });
    if (outcome.done) return { kind: 'reserved', reservation };
    return outcome.old ? { kind: 'known', stored: toStoredRequest(outcome.old) } : this.store({ draft, nonce });
  }
}
