import { smaller } from '../../lib/int.js';
import type { LimitSet } from '../limit.js';
import { type Amounts, availableMilli, fillMs, fullAtMs, fullLimit, type LimitState, retryAfterMs, shardBurstMilli } from './bucket.js';

/** One shard of a bucket, as the store last showed it. An unsharded bucket is its only shard. */
export interface Shard {
  readonly limits: readonly LimitState[];
  /** Of the limit set it was stamped with. */
  readonly version: string;
  readonly shardCount: number;
  /** The UTC hour it is in, counted from the epoch. It never goes back. */
  readonly hour: number;
  readonly events: number;
  readonly eventsBefore: number;
  readonly writes: number;
  readonly expiresAtSecs?: number;
}

/** A bucket as its first acquire would find it. */
export const unbornShard = ({ specs, version }: LimitSet, nowMs: number): Shard => ({
  limits: specs.map((spec) => fullLimit(spec, nowMs)),
  version,
  shardCount: 1,
  hour: 0,
  events: 0,
  eventsBefore: 0,
  writes: 0,
});

export const mostShards = 32;
/** Past this, milliseconds are no whole numbers any more. */
const aeonMs = 2 ** 52;

const limitNamed = ({ limits }: Shard, name: string): LimitState | undefined => limits.find((limit) => limit.name === name);

/** What all shards together could give. */
export const availableAcross = (shards: readonly Shard[], name: string, nowMs: number): bigint =>
  shards.reduce((sum, shard) => {
    const limit = limitNamed(shard, name);
    return limit ? sum + availableMilli(limit, nowMs, shard.shardCount) : sum;
  }, 0n);

/** The millisecond from which the shards together could give the amount. */
export function retryAcrossMs(shards: readonly Shard[], name: string, milli: bigint, nowMs: number): number {
  const [only] = shards;
  if (shards.length === 1 && only) {
    const limit = limitNamed(only, name);
    return limit ? retryAfterMs(limit, milli, nowMs, only.shardCount) : 0;
  }
  if (availableAcross(shards, name, nowMs) >= milli) return 0;
  // More and more comes back as time goes on, so the moment can be found by halving.
  let [early, late] = [0, Math.min(aeonMs, Math.max(...shards.map((shard) => untilFullMs(shard, name, nowMs))))];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (availableAcross(shards, name, nowMs + middle) >= milli) late = middle;
    else early = middle;
  }
  return late;
}

function untilFullMs(shard: Shard, name: string, nowMs: number): number {
  const limit = limitNamed(shard, name);
  return limit ? Math.max(0, fullAtMs(limit) - nowMs) + 1 : 0;
}

/** Whether the shards together can give all of it. */
export const isEnough = (shards: readonly Shard[], amounts: Amounts, nowMs: number): boolean =>
  Object.entries(amounts).every(([name, milli]) => availableAcross(shards, name, nowMs) >= milli);

/** Parts of the amounts, one a shard, that can be taken now; undefined where there is not enough. A part may be empty. */
export function splitOver(shards: readonly Shard[], amounts: Amounts, nowMs: number): Amounts[] | undefined {
  const parts = shards.map((): Record<string, bigint> => ({}));
  for (const [name, wanted] of Object.entries(amounts)) {
    // A debt on one shard stands against what the others have.
    if (availableAcross(shards, name, nowMs) < wanted) return undefined;
    let left = wanted;
    shards.forEach((shard, i) => {
      const limit = limitNamed(shard, name);
      const there = limit ? availableMilli(limit, nowMs, shard.shardCount) : 0n;
      const part = smaller(there, left);
      if (part <= 0n) return;
      (parts[i] as Record<string, bigint>)[name] = part;
      left -= part;
    });
  }
  return parts;
}

/** Whether twice as many shards would still serve: whole shares, and none smaller than what is asked for at once. */
export function mayDouble({ shardCount, limits }: Shard, largestAsked: Amounts): boolean {
  const doubled = shardCount * 2;
  if (doubled > mostShards) return false;
  return limits.every((limit) => limit.burstMilli % BigInt(doubled) === 0n && shardBurstMilli(limit, doubled) >= (largestAsked[limit.name] ?? 0n));
}

const dayMs = 86_400_000;

/** How long a bucket is kept after its last write: seven times what it takes to fill, at least three days. */
export const keptMs = (limits: readonly LimitState[]): number => Math.max(3 * dayMs, ...limits.map((limit) => 7 * fillMs(limit)));

/** What was used since the hour began and is not yet in a usage item. */
export function openUsage({ limits, events, eventsBefore }: Shard): { readonly consumed: Amounts; readonly events: number } {
  return {
    consumed: Object.fromEntries(limits.map(({ name, consumedMilli, consumedBeforeMilli }) => [name, consumedMilli - consumedBeforeMilli])),
    events: events - eventsBefore,
  };
}

export const isUsed = (shard: Shard): boolean => {
  const { consumed, events } = openUsage(shard);
  return events !== 0 || Object.values(consumed).some((milli) => milli !== 0n);
};

export const isIdle = (shard: Shard, nowMs: number): boolean =>
  shard.limits.every((limit) => fullAtMs(limit) < nowMs) && (shard.hour + 1) * 3_600_000 + keptMs(shard.limits) < nowMs;

/** What has expired and is still there counts as absent. */
export const unexpired = (shards: readonly Shard[], nowMs: number): readonly Shard[] =>
  shards.every(({ expiresAtSecs }) => expiresAtSecs === undefined || expiresAtSecs * 1000 > nowMs) ? shards : [];
