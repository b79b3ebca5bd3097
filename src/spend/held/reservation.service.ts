import type { RequestRef } from '../cost.item.js';
import type { CostStore } from '../cost.store.js';
import type { RecordOutcome } from '../cost-group.store.js';
import type { HeldLimit } from './held.item.js';
import type { HeldImage } from './held.js';
import type { Reservation, StoredRequest } from './reservation.item.js';
import type { ReserveStore } from './reserve.store.js';
import type { ReserveDraft, ReserveOutcome } from './reserve-group.store.js';

export type { HeldLimit, RecordOutcome, RequestRef, Reservation, ReserveDraft, ReserveOutcome, StoredRequest };

export interface ReservationDeps {
  readonly reserves: ReserveStore;
  readonly costs: CostStore;
}

/** Reservations, as other features use them. `SpendService` settles them. */
export class ReservationService {
  constructor(private readonly deps: ReservationDeps) {}

  /** Reserves the amount on all bounds or on none, once per request id. Without bounds only the request is stored. */
  reserve(draft: ReserveDraft): Promise<ReserveOutcome> {
    return this.deps.reserves.reserve(draft);
  }

  /** What the items of some bounds hold now. */
  look(limits: readonly HeldLimit[]): Promise<ReadonlyMap<string, HeldImage>> {
    return this.deps.reserves.look(limits);
  }

  /** Moves a reservation to a later end. Undefined if it is not the one that is stored, or was returned. */
  renew(reservation: Reservation, expiresAtMs: number): Promise<Reservation | undefined> {
    return this.deps.reserves.renew(reservation, expiresAtMs);
  }

  /** Returns the reservation of a call that was not sent. */
  cancel(reservation: Reservation, payloadHash: string): Promise<RecordOutcome> {
    return this.deps.costs.cancel(reservation, payloadHash);
  }

  /** A request as it is stored, by a consistent read. Undefined if there is none or it has expired. */
  load(ref: RequestRef): Promise<StoredRequest | undefined> {
    return this.deps.costs.loadRequest(ref);
  }
}
