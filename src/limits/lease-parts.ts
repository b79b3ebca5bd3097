import { badInput } from '../lib/errors.js';
import type { Holding } from './buckets/holding.js';
import type { Outcome, Part, Sight } from './buckets/operation.js';
import type { HoldingMove } from './buckets/plan.js';
import { type LeaseHandle, movesBy, sumFor } from './lease.js';
import { amountsOf, type Consumption, tokensOf } from './limit.js';
import { type LimitStatus, standingOf, statusesAfter } from './status.js';

/** One part for each bucket that something is moved in, and which of the moves each of its parts' are, in order. */
export function partsOf(
  { namespace, resource }: LeaseHandle,
  moves: readonly HoldingMove[],
  isAll = false,
): { readonly parts: Part[]; readonly indexes: number[] } {
  const parts = new Map<string, { bucket: Part['bucket']; moves: HoldingMove[]; indexes: number[] }>();
  for (const [i, move] of moves.entries()) {
    if (!isAll && Object.keys(move.out).length === 0) continue;
    const { entityId, isOwn } = move;
    const name = `${entityId} ${isOwn ?? ''}`;
    const part = parts.get(name) ?? { bucket: { namespace, entityId, resource, ...(isOwn ? { isOwn } : {}) }, moves: [], indexes: [] };
    part.moves.push(move);
    part.indexes.push(i);
    parts.set(name, part);
  }
  const all = [...parts.values()];
  return {
    parts: all.map(({ bucket, moves: own }) => ({ bucket, act: { kind: 'settle', moves: own, events: 0 } })),
    indexes: all.flatMap(({ indexes }) => indexes),
  };
}

/** For a change of the lease alone. */
export const nothingIn = ({ namespace, entityId, resource }: LeaseHandle): Part => ({
  bucket: { namespace, entityId, resource },
  act: { kind: 'settle', moves: [], events: 0 },
});

export const statusesOfMoves = (handle: LeaseHandle, moves: readonly HoldingMove[], { after }: Extract<Outcome, { kind: 'done' }>): LimitStatus[] =>
  partsOf(handle, moves).parts.flatMap(({ bucket }, i) => statusesAfter(standingOf(bucket, after[i] as Sight), sumFor(bucket.entityId, moves)));

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
      return outs.some(({ isSlot }) => isSlot) ? [{ path, message: `"${limit}" counts the leases that are out: a lease cannot be adjusted by it` }] : [];
    }),
  ];
}
