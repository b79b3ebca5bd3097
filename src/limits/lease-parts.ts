import { badInput } from '../lib/errors.js';
import type { Holding } from './buckets/holding.js';
import { type BucketView, byBucket, type HoldingMove, type OperationOutcome, type Part } from './buckets/operation.js';
import { type LeaseHandle, movesBy, sumFor } from './lease.js';
import { amountsOf, type Consumption, tokensOf } from './limit.js';
import type { BucketId } from './limiter-keys.js';
import { type LimitStatus, standingOf, statusesAfter } from './status.js';

/** One part for each bucket that something is moved in, and which of the moves each of its parts' are, in order. */
export function partsOf(
  handle: LeaseHandle,
  moves: readonly HoldingMove[],
): { readonly parts: Part[]; readonly indexes: number[] } {
  const moving = moves.flatMap((move, index) =>
    Object.keys(move.out).length > 0 ? [{ bucket: bucketOf(handle, move), move, index }] : [],
  );
  const all = byBucket(moving);
  return {
    parts: all.map((together) => ({
      bucket: together[0].bucket,
      action: { kind: 'settle', moves: together.map(({ move }) => move), events: 0 },
    })),
    indexes: all.flat().map(({ index }) => index),
  };
}

/** The buckets that the holdings of a lease are of. */
export const bucketsOf = (handle: LeaseHandle, holdings: readonly Holding[]): BucketId[] =>
  byBucket(holdings.map((holding) => ({ bucket: bucketOf(handle, holding) }))).map(([{ bucket }]) => bucket);

const bucketOf = ({ namespace, resource }: LeaseHandle, { entityId, isOwn }: Holding): BucketId => ({
  namespace,
  entityId,
  resource,
  ...(isOwn ? { isOwn } : {}),
});

/** For a change of the lease alone. */
export const nothingIn = ({ namespace, entityId, resource }: LeaseHandle): Part => ({
  bucket: { namespace, entityId, resource },
  action: { kind: 'settle', moves: [], events: 0 },
});

export const statusesOfMoves = (
  handle: LeaseHandle,
  moves: readonly HoldingMove[],
  { after }: Extract<OperationOutcome, { kind: 'done' }>,
): LimitStatus[] =>
  partsOf(handle, moves).parts.flatMap(({ bucket }, i) =>
    statusesAfter(standingOf(bucket, after[i] as BucketView), sumFor(bucket.entityId, moves)),
  );

/** What an adjust moves; refused where it gives back more than is out. */
export function movesOf(holdings: readonly Holding[], adjust: readonly Consumption[]): HoldingMove[] {
  const moves = movesBy(holdings, amountsOf(adjust));
  if (!('excess' in moves)) return moves;
  const { excess, outMilli } = moves;
  const path = `input.adjust.${adjust.findIndex(({ limit }) => limit === excess)}.amount`;
  throw badInput({ path, message: `gives back more of "${excess}" than the lease has out, ${tokensOf(outMilli)}` });
}

/** What is wrong with an adjust of what the lease has out. */
export function adjustIssues(holdings: readonly Holding[], adjust: readonly Consumption[]) {
  const outsOf = (limit: string) => holdings.flatMap(({ out }) => out[limit] ?? []);
  return [
    ...(adjust.length === 0 ? [{ path: 'input.adjust', message: 'must name at least one limit' }] : []),
    ...adjust.flatMap(({ limit }, i) => {
      const outs = outsOf(limit);
      const path = `input.adjust.${i}.limit`;
      if (outs.length === 0) return [{ path, message: `the lease is of a bucket without a limit "${limit}"` }];
      return outs.some(({ isSlot }) => isSlot)
        ? [{ path, message: `"${limit}" counts the leases that are out: a lease cannot be adjusted by it` }]
        : [];
    }),
  ];
}
