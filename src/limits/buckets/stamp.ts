import type { LimitSet } from '../limit.js';
import { type Booking, bookedWith, consumedSince } from './booking.js';
import { fullAtMs, fullLimit, identityOf, type LimitState, restampLimit } from './bucket.js';
import type { Conversion } from './convert.js';
import { allLimits, type Shard } from './shard.js';

/** The max number of retired limits of a bucket. */
export const maxRetiredLimits = 16;

/** The shards under another limit set. Limits that are in both sets keep their state; new limits start full. */
export function stampShards(shards: readonly Shard[], set: LimitSet, nowMs: number): Conversion {
  const isRetired = retiredAmong(
    shards.flatMap((shard) => leavingLimits(shard, set)),
    nowMs,
  );
  const stamped = shards.map((shard, index) => stampShard({ index, shard }, set, isRetired, nowMs));
  return { shards: stamped.map(({ shard }) => shard), bookings: stamped.flatMap(({ bookings }) => bookings) };
}

function stampShard(
  { index, shard }: { readonly index: number; readonly shard: Shard },
  set: LimitSet,
  isRetired: (limit: LimitState) => boolean,
  nowMs: number,
): { readonly shard: Shard; readonly bookings: readonly Booking[] } {
  const conversions = shard.conversions + 1;
  const before = new Map(allLimits(shard).map((limit) => [identityOf(limit), limit]));
  const leaving = leavingLimits(shard, set);
  // Limits that are dropped for good: their open usage would be lost if it was not booked now.
  const dropped = leaving.filter((limit) => !isRetired(limit) && limit.consumedMilli !== limit.consumedBeforeMilli);
  const consumed = consumedSince(dropped);
  return {
    shard: {
      ...shard,
      limits: set.specs.map((spec) => {
        const old = before.get(identityOf(spec));
        return old ? restampLimit(old, spec, nowMs) : { ...fullLimit(spec, nowMs), sinceConversion: conversions };
      }),
      retired: leaving.filter(isRetired),
      version: set.version,
      levels: set.levels ?? [],
      conversions,
      booked: bookedWith(
        shard,
        dropped.map(({ name }) => name),
      ),
    },
    bookings: dropped.length > 0 ? [{ index, shard, consumed, events: 0 }] : [],
  };
}

/** The limits of a shard, retired ones included, that are not in the set. */
function leavingLimits(shard: Shard, { specs }: LimitSet): LimitState[] {
  const wanted = new Set(specs.map(identityOf));
  const byIdentity = new Map(allLimits(shard).map((limit) => [identityOf(limit), limit]));
  return [...byIdentity.values()].filter((limit) => !wanted.has(identityOf(limit)));
}

/** Tells which of the leaving limits are retired, not dropped: those that are not full on at least one shard. */
function retiredAmong(leaving: readonly LimitState[], nowMs: number): (limit: LimitState) => boolean {
  const notFull = new Set(leaving.filter((limit) => fullAtMs(limit) > nowMs).map(identityOf));
  return (limit) => notFull.has(identityOf(limit));
}

/** The identities of the limits that would be retired if the bucket was stamped with the set. */
export function retiredUnder(shards: readonly Shard[], set: LimitSet, nowMs: number): string[] {
  const leaving = shards.flatMap((shard) => leavingLimits(shard, set));
  return [...new Set(leaving.filter(retiredAmong(leaving, nowMs)).map(identityOf))];
}
