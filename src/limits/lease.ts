import { sha256 } from '../lib/id.js';
import { type Amounts, slotMilli } from './buckets/bucket.js';
import type { Holding } from './buckets/holding.js';
import type { Shard } from './buckets/shard.js';

/** The content of a `leaseId`: all that the first adjust or release needs, so that no lease has to be stored before. */
export interface LeaseHandle {
  readonly orgId: string;
  readonly namespace: string;
  readonly name: string;
  readonly entityId: string;
  readonly resource: string;
  readonly holdings: readonly Holding[];
  readonly expiresAtMs: number;
  /** Granted while the database was unavailable: the lease holds nothing. */
  readonly degraded: boolean;
}

/** The state of a lease. `version` counts its changes. */
export interface LeaseState {
  readonly version: number;
  readonly holdings: readonly Holding[];
  /** Adjustments by idempotency key. */
  readonly adjusted: Readonly<Record<string, AdjustmentRecord>>;
  /** The nonce of the call that released the lease. */
  readonly releasedBy?: string;
}

export interface AdjustmentRecord {
  /** Hash of the adjusted amounts. */
  readonly hash: string;
  /**
   * Identifies the call. If its response was lost, its retry of the write finds this nonce and is not taken for a
   * replay.
   */
  readonly nonce: string;
}

/** What is stored about an operation with an id, so that a retry is applied once. */
export interface OperationRecord {
  /** Hash of the input: a retry must have the same. */
  readonly requestHash: string;
  /** Identifies the call that made it. */
  readonly nonce: string;
}

/** What an acquire with a `requestId` stores for its retries. */
export interface AcquireRecord extends OperationRecord {
  readonly handle: LeaseHandle;
  readonly isReleased: boolean;
}

/** The purpose that lease ids are sealed for. */
export const leaseContext = 'lease';
export const leaseMs = 24 * 3_600_000;
export const maxAdjustsWithKey = 16;

export const initialState = ({ holdings }: Pick<LeaseHandle, 'holdings'>): LeaseState => ({
  version: 0,
  holdings,
  adjusted: {},
});

/**
 * The name under which a lease holds its slots. It is short because a bucket may store a hundred of them. It includes
 * the end of the lease because a request id may be used again before the slot of its previous lease is dropped.
 */
export const slotName = ({ name, expiresAtMs }: Pick<LeaseHandle, 'name' | 'expiresAtMs'>): string =>
  sha256(`${name} ${expiresAtMs}`).slice(0, 11);

/** The sum of the holdings (or moves) of one entity, in millitokens. */
export function sumFor(entityId: string, holdings: readonly Pick<Holding, 'entityId' | 'out'>[]): Amounts {
  const sum: Record<string, bigint> = {};
  for (const holding of holdings) {
    if (holding.entityId !== entityId) continue;
    for (const [name, { milli }] of Object.entries(holding.out)) sum[name] = (sum[name] ?? 0n) + milli;
  }
  return sum;
}

/** The earliest end of the lease's slots, as its buckets have it. Undefined if it holds none. */
export function slotsUntilMs(handle: LeaseHandle, shards: readonly Shard[]): number | undefined {
  const slot = slotName(handle);
  const ends = shards.flatMap(({ limits, retired }) =>
    [...limits, ...retired].flatMap(({ slots }) => slots?.[slot] ?? []),
  );
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

/** True if any slot of a concurrency limit is held. */
export const holdsSlots = (holdings: readonly Holding[]): boolean =>
  holdings.some(({ out }) => Object.values(out).some(({ isSlot, milli }) => isSlot && milli >= slotMilli));
