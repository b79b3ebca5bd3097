import type { LimitSet } from '../limit.js';
import {
  type Amounts,
  divFloor,
  fullAtMs,
  fullLimit,
  type LimitSpec,
  type LimitState,
  retryAfterMs,
  room,
  shardBurstMilli,
  unitsOf,
} from './bucket.js';

/** One shard of a bucket: one DynamoDB item. A bucket that is not sharded has one shard. */
export interface Shard {
  readonly limits: readonly LimitState[];
  /** Limits that have left the set and are not full yet. If one comes back, it continues from this state. */
  readonly retired: readonly LimitState[];
  /** Version of the limit set that the bucket is stamped with. During a conversion: the version of the fence. */
  readonly version: string;
  /** Versions of the levels that the set was resolved from. Empty if the caller sent the limits. */
  readonly levels: readonly number[];
  /** Random id of the bucket from its creation to its end. */
  readonly incarnation: string;
  /** Number of conversions of the bucket in this incarnation. */
  readonly conversions: number;
  readonly shardCount: number;
  /** The UTC hour that the open usage belongs to, counted from the epoch. Never moves back. */
  readonly hour: number;
  /** Names of the limits that the usage item of this hour has a figure for. */
  readonly booked: readonly string[];
  /** Number of acquires. */
  readonly events: number;
  /** `events` at the start of the hour. */
  readonly eventsBefore: number;
  readonly writes: number;
  readonly expiresAtSecs?: number;
  /** Only on shard 0 of a fenced bucket: the target of the conversion, as JSON. */
  readonly fence?: string;
}

/** A shard and its index in the bucket. */
export interface ShardAt {
  readonly index: number;
  readonly shard: Shard;
}

/** The shard that the first acquire of a bucket would create. */
export const initialShard = ({ specs, version, levels = [] }: LimitSet, nowMs: number): Shard => ({
  limits: specs.map((spec) => fullLimit(spec, nowMs)),
  retired: [],
  version,
  levels,
  incarnation: '',
  conversions: 0,
  shardCount: 1,
  hour: 0,
  booked: [],
  events: 0,
  eventsBefore: 0,
  writes: 0,
});

export const maxShards = 32;
/** Upper end of the search for a retry time. Larger numbers of milliseconds are not exact any more. */
const maxRetryMs = 2 ** 52;

export const allLimits = ({ limits, retired }: Shard): readonly LimitState[] =>
  retired.length === 0 ? limits : [...limits, ...retired];

const limitNamed = ({ limits }: Shard, name: string): LimitState | undefined =>
  limits.find((limit) => limit.name === name);

/** The room of all shards together. The debt of one shard reduces the room of the others. */
const roomAcross = (shards: readonly Shard[], name: string, nowMs: number): bigint =>
  shards.reduce((sum, shard) => {
    const limit = limitNamed(shard, name);
    return limit ? sum + room(limit, nowMs) : sum;
  }, 0n);

const unitsWanted = (shards: readonly Shard[], name: string, milli: bigint): bigint => {
  const [first] = shards;
  const limit = first && limitNamed(first, name);
  return first && limit ? unitsOf(limit, milli, first.shardCount) : 0n;
};

/** The amount that all shards together have, in millitokens. Negative while the limit is in debt. */
export function availableAcross(shards: readonly Shard[], name: string, nowMs: number): bigint {
  const perMilli = unitsWanted(shards, name, 1n);
  return perMilli === 0n ? 0n : divFloor(roomAcross(shards, name, nowMs), perMilli);
}

const isEnoughOf = (shards: readonly Shard[], name: string, milli: bigint, nowMs: number): boolean =>
  roomAcross(shards, name, nowMs) >= unitsWanted(shards, name, milli);

/** The time until all shards together have the amount, exact to the millisecond; 0 if they have it now. */
export function retryAcrossMs(shards: readonly Shard[], name: string, milli: bigint, nowMs: number): number {
  const [only] = shards;
  if (shards.length === 1 && only) {
    const limit = limitNamed(only, name);
    return limit ? retryAfterMs(limit, milli, nowMs, only.shardCount) : 0;
  }
  if (isEnoughOf(shards, name, milli, nowMs)) return 0;
  // Binary search: the room never shrinks as time passes.
  let [early, late] = [0, Math.min(maxRetryMs, Math.max(...shards.map((shard) => untilFullMs(shard, name, nowMs))))];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (isEnoughOf(shards, name, milli, nowMs + middle)) late = middle;
    else early = middle;
  }
  return late;
}

function untilFullMs(shard: Shard, name: string, nowMs: number): number {
  const limit = limitNamed(shard, name);
  return limit ? Math.max(0, fullAtMs(limit) - nowMs) + 1 : 0;
}

/** True if all shards together have the amounts. Limits that are not enforced do not count. */
export const isEnough = (shards: readonly Shard[], amounts: Amounts, nowMs: number): boolean =>
  Object.entries(amounts).every(
    ([name, milli]) =>
      isEnoughOf(shards, name, milli, nowMs) || shards.every((shard) => limitNamed(shard, name)?.isShadow === true),
  );

/**
 * True if the limits can be divided over this many shards: each share is a whole number of millitokens, at least one
 * token, and not smaller than the largest amount that was recently requested at once.
 */
export const mayHaveShards = (
  count: number,
  { limits }: { readonly limits: readonly LimitSpec[] },
  maxRequested: Amounts,
): boolean =>
  count === 1 ||
  (count <= maxShards &&
    limits.every(
      (limit) =>
        !limit.isConcurrency &&
        limit.burstMilli % BigInt(count) === 0n &&
        shardBurstMilli(limit, count) >= 1000n &&
        shardBurstMilli(limit, count) >= (maxRequested[limit.name] ?? 0n),
    ));
