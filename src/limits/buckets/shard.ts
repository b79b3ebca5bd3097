import { smaller } from '../../lib/int.js';
import type { LimitSet } from '../limit.js';
import { maxUsageNames } from '../usage/usage.js';
import {
  type Amounts,
  divFloor,
  fillMs,
  fullAtMs,
  fullLimit,
  type LimitSpec,
  type LimitState,
  retryAfterMs,
  room,
  shardBurstMilli,
  unitsOf,
} from './bucket.js';

/** One shard of a bucket, as the store last showed it. An unsharded bucket is its only shard. */
export interface Shard {
  readonly limits: readonly LimitState[];
  /** Limits that have left the set and are not full yet: if they come back, they go on from here. */
  readonly kept: readonly LimitState[];
  /** Of the limit set it was stamped with; of a fence while the bucket is being changed. */
  readonly version: string;
  /** The versions of the levels that the set was resolved from; empty where a caller brought it. */
  readonly levels: readonly number[];
  /** Of this life of the bucket: a deleted one that is made again has another. */
  readonly birth: string;
  /** How often the bucket was converted in this life. */
  readonly conversions: number;
  readonly shardCount: number;
  /** The UTC hour it is in, counted from the epoch. It never goes back. */
  readonly hour: number;
  /** The limits that the hour's usage item has a figure for already. */
  readonly booked: readonly string[];
  readonly events: number;
  readonly eventsBefore: number;
  readonly writes: number;
  readonly expiresAtSecs?: number;
  /** What the bucket is being changed to, on shard 0. */
  readonly fence?: string;
}

/** A shard of a bucket and which one it is. */
export interface ShardAt {
  readonly index: number;
  readonly shard: Shard;
}

/** A bucket as its first acquire would find it. */
export const unbornShard = ({ specs, version, levels = [] }: LimitSet, nowMs: number): Shard => ({
  limits: specs.map((spec) => fullLimit(spec, nowMs)),
  kept: [],
  version,
  levels,
  birth: '',
  conversions: 0,
  shardCount: 1,
  hour: 0,
  booked: [],
  events: 0,
  eventsBefore: 0,
  writes: 0,
});

export const maxShards = 32;
/** Past this, milliseconds are no whole numbers any more. */
const aeonMs = 2 ** 52;

const limitNamed = ({ limits }: Shard, name: string): LimitState | undefined =>
  limits.find((limit) => limit.name === name);

/** What all shards together could give, in the units of `fullAt`; a debt on one stands against what the others have. */
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

/** What all shards together could give. */
export function availableAcross(shards: readonly Shard[], name: string, nowMs: number): bigint {
  const perMilli = unitsWanted(shards, name, 1n);
  return perMilli === 0n ? 0n : divFloor(roomAcross(shards, name, nowMs), perMilli);
}

const isEnoughOf = (shards: readonly Shard[], name: string, milli: bigint, nowMs: number): boolean =>
  roomAcross(shards, name, nowMs) >= unitsWanted(shards, name, milli);

/** The millisecond from which the shards together could give the amount. */
export function retryAcrossMs(shards: readonly Shard[], name: string, milli: bigint, nowMs: number): number {
  const [only] = shards;
  if (shards.length === 1 && only) {
    const limit = limitNamed(only, name);
    return limit ? retryAfterMs(limit, milli, nowMs, only.shardCount) : 0;
  }
  if (isEnoughOf(shards, name, milli, nowMs)) return 0;
  // More and more comes back as time goes on, so the moment can be found by halving.
  let [early, late] = [0, Math.min(aeonMs, Math.max(...shards.map((shard) => untilFullMs(shard, name, nowMs))))];
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

/** Whether the shards together can give all of it, as far as the limits are enforced. */
export const isEnough = (shards: readonly Shard[], amounts: Amounts, nowMs: number): boolean =>
  Object.entries(amounts).every(
    ([name, milli]) =>
      isEnoughOf(shards, name, milli, nowMs) || shards.every((shard) => limitNamed(shard, name)?.isShadow === true),
  );

/** What is taken of a limit: millitokens for the books, and the same n-fold in the units of `fullAt`. */
export interface Charge {
  readonly milli: bigint;
  readonly units: bigint;
}

/**
 * Parts of an amount, one a room, that can be taken now; undefined where there is not enough. In units nothing is
 * rounded; the millitokens of the parts add up to the amount.
 */
export function splitAmount(rooms: readonly bigint[], milli: bigint, perMilli: bigint): Charge[] | undefined {
  const wanted = milli * perMilli;
  if (rooms.reduce((sum, each) => sum + each, 0n) < wanted) return undefined;
  let taken = 0n;
  return rooms.map((there) => {
    const units = there > 0n ? smaller(there, wanted - taken) : 0n;
    const before = taken / perMilli;
    taken += units;
    return { units, milli: taken / perMilli - before };
  });
}

/**
 * Parts of a charge, one a room, that leave no shard with less than another would then have: so no shard is in debt while
 * another still grants.
 */
export function levelCharge(rooms: readonly bigint[], milli: bigint, perMilli: bigint): Charge[] {
  const sorted = [...rooms].sort((a, b) => (a > b ? -1 : 1));
  let [sum, count] = [0n, 0];
  do sum += sorted[count++] as bigint;
  while (count < sorted.length && divFloor(sum - milli * perMilli, BigInt(count)) < (sorted[count] as bigint));
  const level = divFloor(sum - milli * perMilli, BigInt(count));
  let [excess, charged] = [sum - milli * perMilli - level * BigInt(count), 0n];
  return rooms.map((there) => {
    const rounding = there > level && excess > 0n ? 1n : 0n;
    const units = there > level ? there - level - rounding : 0n;
    excess -= rounding;
    const before = charged / perMilli;
    charged += units;
    return { units, milli: charged / perMilli - before };
  });
}

/** Whether so many shards would serve: whole shares of at least a token, and none smaller than what is asked for at once. */
export const mayHaveShards = (
  count: number,
  { limits }: { readonly limits: readonly LimitSpec[] },
  largestAsked: Amounts,
): boolean =>
  count === 1 ||
  (count <= maxShards &&
    limits.every(
      (limit) =>
        !limit.isConcurrency &&
        limit.burstMilli % BigInt(count) === 0n &&
        shardBurstMilli(limit, count) >= 1000n &&
        shardBurstMilli(limit, count) >= (largestAsked[limit.name] ?? 0n),
    ));

const dayMs = 86_400_000;

/** How long a bucket is kept after its last write: seven times what it takes to fill, at least three days. */
export const keptMs = (limits: readonly LimitState[]): number =>
  Math.max(3 * dayMs, ...limits.map((limit) => 7 * fillMs(limit)));

/** What was used since the hour began and is not yet in a usage item. */
export function openUsage({ limits, kept, events, eventsBefore }: Shard): {
  readonly consumed: Amounts;
  readonly events: number;
} {
  return { consumed: openUseOf([...limits, ...kept]), events: events - eventsBefore };
}

/** By name: a limit that has changed its kind has two states. */
export function openUseOf(limits: readonly LimitState[]): Amounts {
  const sum: Record<string, bigint> = {};
  for (const { name, consumedMilli, consumedBeforeMilli } of limits)
    sum[name] = (sum[name] ?? 0n) + consumedMilli - consumedBeforeMilli;
  return sum;
}

/** The limits that the hour's usage item has a figure for once these are booked. Only those: the rest is counted together. */
export const bookedWith = ({ booked }: Shard, names: readonly string[]): string[] =>
  [...new Set([...booked, ...names])].slice(0, maxUsageNames);

export const isUsed = (shard: Shard): boolean => {
  const { consumed, events } = openUsage(shard);
  return events !== 0 || Object.values(consumed).some((milli) => milli !== 0n);
};

const allLimits = ({ limits, kept }: Shard): readonly LimitState[] =>
  kept.length === 0 ? limits : [...limits, ...kept];

/** When nothing of the shard will be missing any more. */
export const shardFullAtMs = (shard: Shard): number => Math.max(...allLimits(shard).map(fullAtMs));

export const isIdle = (shard: Shard, nowMs: number): boolean =>
  shardFullAtMs(shard) < nowMs && (shard.hour + 1) * 3_600_000 + keptMs(allLimits(shard)) < nowMs;

/** What has expired and is still there counts as absent. */
export const unexpired = (shards: readonly Shard[], nowMs: number): readonly Shard[] =>
  shards.every(({ expiresAtSecs }) => expiresAtSecs === undefined || expiresAtSecs * 1000 > nowMs) ? shards : [];
