import { badInput, type Issue } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import type { Holding } from './buckets/holding.js';
import type { HoldingMove } from './buckets/operation.js';
import { type BucketView, byBucket, type OperationOutcome, type Part } from './buckets/operation.js';
import { type LeaseHandle, maxAdjustsWithKey, sumFor } from './lease.js';
import { movesBy } from './lease-moves.js';
import { amountsOf, type Consumption, tokensOf } from './limit.js';
import type { BucketId } from './limiter-keys.js';
import { type LimitStatus, statusesAfter } from './status.js';

// Turns the moves of a lease into a bucket operation, and checks adjustments.

/** One part per bucket with moves. `indexes` gives for each applied move, in order, its index in `moves`. */
export function partsOf(
  handle: LeaseHandle,
  moves: readonly HoldingMove[],
): { readonly parts: Part[]; readonly indexes: number[] } {
  const moving = moves.flatMap((move, index) =>
    Object.keys(move.out).length > 0 ? [{ bucket: bucketOf(handle, move), move, index }] : [],
  );
  const groups = byBucket(moving);
  return {
    parts: groups.map((group) => ({
      bucket: group[0].bucket,
      action: { kind: 'settle', moves: group.map(({ move }) => move), events: 0 },
    })),
    indexes: groups.flat().map(({ index }) => index),
  };
}

/** The buckets that the holdings were taken from. */
export const bucketsOf = (handle: LeaseHandle, holdings: readonly Holding[]): BucketId[] =>
  byBucket(holdings.map((holding) => ({ bucket: bucketOf(handle, holding) }))).map(([{ bucket }]) => bucket);

const bucketOf = ({ namespace, resource }: LeaseHandle, { entityId, isOwn }: Holding): BucketId => ({
  namespace,
  entityId,
  resource,
  ...(isOwn ? { isOwn } : {}),
});

/** A part without moves, for an operation that writes only the lease. */
export const emptyPart = ({ namespace, entityId, resource }: LeaseHandle): Part => ({
  bucket: { namespace, entityId, resource },
  action: { kind: 'settle', moves: [], events: 0 },
});

export const statusesOfMoves = (
  handle: LeaseHandle,
  moves: readonly HoldingMove[],
  { after }: Extract<OperationOutcome, { kind: 'done' }>,
): LimitStatus[] =>
  partsOf(handle, moves).parts.flatMap(({ bucket }, i) =>
    statusesAfter(bucket, after[i] as BucketView, sumFor(bucket.entityId, moves)),
  );

/** Tells a retry of an adjustment from another one. The order of the amounts does not matter. */
export const adjustHash = (amounts: readonly Consumption[]): string => {
  const sorted = [...amounts].sort((a, b) => (a.limit < b.limit ? -1 : 1));
  return sha256(JSON.stringify(sorted.map(({ limit, amount }) => [limit, amount]))).slice(0, 11);
};

/** The differences between the amounts that were really used and those that the lease took from its own entity. */
export const differences = (handle: LeaseHandle, used: readonly Consumption[]): Consumption[] => {
  const taken = sumFor(handle.entityId, handle.holdings);
  return used
    .map(({ limit, amount }) => ({ limit, amount: amount - tokensOf(taken[limit] ?? 0n) }))
    .filter(({ amount }) => amount !== 0);
};

/** The moves of an adjustment. Throws BAD_USER_INPUT if it gives back more than the lease holds. */
export function adjustMoves(holdings: readonly Holding[], adjust: readonly Consumption[]): HoldingMove[] {
  const moves = movesBy(holdings, amountsOf(adjust));
  if (!('excess' in moves)) return moves;
  const { excess, outMilli } = moves;
  const path = `input.adjust.${adjust.findIndex(({ limit }) => limit === excess)}.amount`;
  throw badInput({
    path,
    message: `gives back more of "${excess}" than the lease holds; the maximum is ${tokensOf(outMilli)}`,
  });
}

/** Adjusted limits that the lease does not have, or that cannot be adjusted. */
export function adjustIssues(holdings: readonly Holding[], adjust: readonly Consumption[]): Issue[] {
  if (adjust.length === 0) return [{ path: 'input.adjust', message: 'must name at least one limit' }];
  return adjust.flatMap(({ limit }, i) => {
    const held = holdings.flatMap(({ out }) => out[limit] ?? []);
    const path = `input.adjust.${i}.limit`;
    if (held.length === 0) return [{ path, message: `the lease has no limit "${limit}"` }];
    return held.some(({ isSlot }) => isSlot)
      ? [{ path, message: `"${limit}" is a concurrency limit and cannot be adjusted` }]
      : [];
  });
}

export const tooManyAdjusts = {
  path: 'input.idempotencyKey',
  message: `a lease can be adjusted at most ${maxAdjustsWithKey} times with an idempotencyKey; acquire a new lease`,
};
