import type { BucketId } from '../limiter-keys.js';
import type { LimitState } from './bucket.js';
import type { Shard } from './shard.js';
import type { LimitCharge } from './split.js';

/** What a lease has out of one limit on one shard. */
export interface OutAmount {
  readonly milli: bigint;
  /** The same in units, for the shard count of the holding and for this `period`. */
  readonly units: bigint;
  /** `refillPeriodMs` of the limit when the amount was taken. */
  readonly period: bigint;
  /** The conversion that had added the limit. Absent: any. */
  readonly sinceConversion?: number;
  /** The window in which the amount was taken. It can be given back only in that window. */
  readonly windowEndMs?: number;
  /** A slot of a concurrency limit. */
  readonly isSlot?: true;
}

/** What a lease has out of one shard. Each limit of the bucket is on one of the lease's holdings, even with 0. */
export interface Holding {
  readonly entityId: string;
  /** Set for the entity's bucket for limits that callers send. */
  readonly isOwn?: true;
  readonly shard: number;
  /** The shard count of the bucket when the amounts were taken. */
  readonly shards: number;
  /** The incarnation of the bucket that the amounts were taken from. Absent: any. */
  readonly incarnation?: string;
  /** By limit name. */
  readonly out: Readonly<Record<string, OutAmount>>;
  /** Tokens of a top-up: nobody took them before, so they do not count as usage. */
  readonly isTopUp?: true;
}

/**
 * The holdings of a take, from the shards as they are after it. The first holding names every limit, so that more can
 * be charged there later.
 */
export function holdingsOf(
  { entityId, isOwn }: BucketId,
  placements: readonly { readonly index: number; readonly charges: Readonly<Record<string, LimitCharge>> }[],
  shardAt: (index: number) => Shard,
): Holding[] {
  return placements.map(({ index, charges }, nth) => {
    const { limits, incarnation, shardCount } = shardAt(index);
    const named = limits.filter(({ name }) => nth === 0 || name in charges);
    return {
      entityId,
      ...(isOwn ? { isOwn } : {}),
      shard: index,
      shards: shardCount,
      incarnation,
      out: Object.fromEntries(named.map((limit) => [limit.name, outAmount(limit, charges[limit.name])])),
    };
  });
}

const outAmount = (
  { refillPeriodMs, sinceConversion = 0, windowEndMs, isConcurrency }: LimitState,
  charge: LimitCharge = { milli: 0n, units: 0n },
): OutAmount => ({
  ...charge,
  period: refillPeriodMs,
  sinceConversion,
  ...(windowEndMs === undefined ? {} : { windowEndMs }),
  ...(isConcurrency ? { isSlot: true } : {}),
});

/**
 * The shards that now have the state of a holding's shard. After doublings these are several shards; after halvings it
 * is the one that the shard was merged into.
 */
export const shardsOfHolding = ({ shard, shards }: Pick<Holding, 'shard' | 'shards'>, shardCount: number): number[] =>
  shardCount <= shards
    ? [shard % shardCount]
    : Array.from({ length: shardCount / shards }, (_, i) => shard + i * shards);

/**
 * The units of an amount on each of the shards that now have its state, under the current period. Rounded down, so that
 * nothing is minted.
 */
export function convertedUnits(
  { units, period }: OutAmount,
  shards: number,
  shardCount: number,
  { refillPeriodMs }: LimitState,
): bigint {
  return (units * refillPeriodMs * BigInt(Math.min(shards, shardCount))) / (period * BigInt(shards));
}
