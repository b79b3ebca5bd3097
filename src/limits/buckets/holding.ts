import type { BucketId } from '../limiter-keys.js';
import type { LimitState } from './bucket.js';
import type { Charge, Shard } from './shard.js';

/** What a lease has out of one limit of one shard. */
export interface Out {
  readonly milli: bigint;
  /** The same in the units of `fullAt`, for the shard count of the holding and this period. */
  readonly units: bigint;
  readonly period: bigint;
  /** Which conversion of the bucket had added the limit. Absent: any. */
  readonly born?: number;
  /** The window it was taken in: it is given back in no other. */
  readonly windowEndMs?: number;
  /** A slot of a concurrency limit. */
  readonly isSlot?: true;
}

/** What a lease has out of one shard, by the limit's name: each limit of the bucket on one of its holdings, 0 included. */
export interface Holding {
  readonly entityId: string;
  /** Of the entity's bucket for limits that callers bring along. */
  readonly isOwn?: true;
  readonly shard: number;
  /** How many shards there were. */
  readonly shards: number;
  /** Of the life of the bucket it was taken in. Absent: any. */
  readonly birth?: string;
  readonly out: Readonly<Record<string, Out>>;
  /** Tokens that nobody took before: they count as no use. */
  readonly isTopUp?: true;
}

/** What a take has out of the shards it was placed on, as they are after it. The first one names every limit, so that more can be charged there. */
export function holdingsOf(
  { entityId, isOwn }: BucketId,
  placements: readonly { readonly index: number; readonly charges: Readonly<Record<string, Charge>> }[],
  shardAt: (index: number) => Shard,
): Holding[] {
  return placements.map(({ index, charges }, nth) => {
    const { limits, birth, shardCount } = shardAt(index);
    const named = limits.filter(({ name }) => nth === 0 || name in charges);
    return {
      entityId,
      ...(isOwn ? { isOwn } : {}),
      shard: index,
      shards: shardCount,
      birth,
      out: Object.fromEntries(named.map((limit) => [limit.name, outOf(limit, charges[limit.name])])),
    };
  });
}

const outOf = (
  { refillPeriodMs, born = 0, windowEndMs, isConcurrency }: LimitState,
  charge: Charge = { milli: 0n, units: 0n },
): Out => ({
  ...charge,
  period: refillPeriodMs,
  born,
  ...(windowEndMs === undefined ? {} : { windowEndMs }),
  ...(isConcurrency ? { isSlot: true } : {}),
});

/** What was taken of n shards under one period, in the units of each shard that it is on by now. Rounded down: nothing is minted. */
export function convertedUnits(
  { units, period }: Out,
  shards: number,
  shardCount: number,
  { refillPeriodMs }: LimitState,
): bigint {
  return (units * refillPeriodMs * BigInt(Math.min(shards, shardCount))) / (period * BigInt(shards));
}
