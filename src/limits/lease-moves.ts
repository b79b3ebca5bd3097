import { smaller } from '../lib/int.js';
import { type Amounts, unitsOf } from './buckets/bucket.js';
import type { Holding, OutAmount } from './buckets/holding.js';
import type { HoldingMove, Settlement } from './buckets/operation.js';

// How adjust, release and renew change the holdings of a lease. A move is the change of one holding: positive amounts
// are charged, negative amounts are given back.

/** An adjustment gives back more of the limit `excess` than the lease holds. */
export interface Excess {
  readonly excess: string;
  readonly outMilli: bigint;
}

/**
 * The moves that change each bucket of the lease by these amounts. More is charged to the first holding of the bucket
 * that has the limit. Tokens are given back from the last holding on.
 */
export function movesBy(holdings: readonly Holding[], deltas: Amounts): HoldingMove[] | Excess {
  const moves = holdings.map((): Record<string, OutAmount> => ({}));
  for (const bucket of new Set(holdings.map(bucketOf))) {
    const inBucket = holdings.flatMap((holding, at) => (bucketOf(holding) === bucket ? [{ at, holding }] : []));
    for (const [name, delta] of Object.entries(deltas)) {
      const withLimit = inBucket.filter(({ holding }) => holding.out[name] !== undefined);
      const [first] = withLimit;
      if (!first || delta === 0n) continue;
      if (delta > 0n) (moves[first.at] as Record<string, OutAmount>)[name] = moveOf(first.holding, name, delta);
      else {
        const left = giveBack(withLimit.reverse(), name, -delta, moves);
        if (left > 0n) return { excess: name, outMilli: -delta - left };
      }
    }
  }
  return holdings.map((holding, at) => ({ ...holding, out: moves[at] as Record<string, OutAmount> }));
}

/** Adds moves that give `milli` back. Returns the amount that the holdings do not have. */
function giveBack(
  holdings: readonly { readonly at: number; readonly holding: Holding }[],
  name: string,
  milli: bigint,
  moves: Record<string, OutAmount>[],
): bigint {
  let left = milli;
  for (const { at, holding } of holdings) {
    const back = smaller(holding.out[name]?.milli ?? 0n, left);
    if (back > 0n) (moves[at] as Record<string, OutAmount>)[name] = moveOf(holding, name, -back);
    left -= back;
  }
  return left;
}

const bucketOf = ({ entityId, isOwn }: Holding): string => `${entityId}${isOwn ? ' own' : ''}`;

/** The change of one limit of a holding. Giving back all of it returns exactly the units that were taken. */
function moveOf({ out, shards }: Holding, name: string, milli: bigint): OutAmount {
  const held = out[name] as OutAmount;
  const units = unitsOf({ refillPeriodMs: held.period }, milli, shards);
  return { ...held, milli, units: -milli === held.milli || -units > held.units ? -held.units : units };
}

/** The moves that give back all that the lease holds. */
export const movesAll = (holdings: readonly Holding[], slot: string): HoldingMove[] =>
  holdings.map((holding) => ({
    ...holding,
    out: Object.fromEntries(
      Object.entries(holding.out).flatMap(([name, held]) =>
        held.milli === 0n && held.units === 0n ? [] : [[name, moveOf(holding, name, -held.milli)] as const],
      ),
    ),
    slot: { lease: slot },
  }));

/** The moves with those that free the slots of the lease. */
export const withFreedSlots = (
  moves: readonly HoldingMove[],
  holdings: readonly Holding[],
  slot: string,
): HoldingMove[] =>
  moves.map((move, at) => {
    const holding = holdings[at] as Holding;
    const slots = Object.entries(holding.out).filter(([, { isSlot, milli }]) => isSlot && milli > 0n);
    const freed = Object.fromEntries(slots.map(([name, held]) => [name, moveOf(holding, name, -held.milli)]));
    return slots.length > 0 ? { ...move, out: { ...move.out, ...freed }, slot: { lease: slot } } : move;
  });

/** The moves that keep the slots of the lease until `untilMs`. */
export const movesRenewed = (holdings: readonly Holding[], slot: string, untilMs: number): HoldingMove[] =>
  holdings.flatMap((holding) => {
    const slots = Object.entries(holding.out).filter(([, { isSlot, milli }]) => isSlot && milli > 0n);
    const out = Object.fromEntries(slots.map(([name, held]) => [name, { ...held, milli: 0n, units: 0n }]));
    return slots.length > 0 ? [{ ...holding, out, slot: { lease: slot, untilMs } }] : [];
  });

/**
 * The holdings after the moves. A charge counts only if it was applied. What is given back is no longer held, even if
 * its bucket no longer exists.
 */
export function afterMoves(
  holdings: readonly Holding[],
  moves: readonly HoldingMove[],
  applied: Settlement['applied'],
): Holding[] {
  const after = holdings.map((holding, at) => {
    const out = Object.entries(holding.out).map(([name, held]) => {
      const move = moves[at]?.out[name];
      const result = applied[at]?.[name];
      if (!move || (move.milli > 0n && (!result || result.split))) return [name, held] as const;
      // Charged in a later window: what was taken in the earlier window can no longer be given back.
      const isNewWindow =
        result?.windowEndMs !== undefined && result.windowEndMs !== held.windowEndMs && move.milli > 0n;
      const base = isNewWindow ? { ...held, milli: 0n, units: 0n, windowEndMs: result.windowEndMs as number } : held;
      return [name, { ...base, milli: base.milli + move.milli, units: base.units + move.units }] as const;
    });
    return { ...holding, out: Object.fromEntries(out) };
  });
  return [...after, ...moves.flatMap((move, at) => splitHoldings(move, applied[at] ?? {}))];
}

/** A charge that was split over several shards becomes one holding per shard. */
const splitHoldings = ({ slot: _, out, ...move }: HoldingMove, applied: Settlement['applied'][number]): Holding[] =>
  Object.entries(applied).flatMap(([name, { split, windowEndMs }]) => {
    if (!split) return [];
    const { parts, shards, period } = split;
    return parts.map(({ index, milli, units }) => {
      const window = windowEndMs === undefined ? {} : { windowEndMs };
      const held = { ...(out[name] as OutAmount), milli, units, period, ...window };
      return { ...move, shard: index, shards, out: { [name]: held } };
    });
  });
