import { larger } from '../../lib/int.js';
import { wholeBooking } from './booking.js';
import { asOf, divCeil, identityOf, type LimitState } from './bucket.js';
import type { Conversion } from './convert.js';
import type { Shard } from './shard.js';

/** Doubles n shards: shard i + n starts as a copy of shard i. In 2n-fold units both together have what the one had. */
export function addShards(shards: readonly Shard[], count: number): Conversion {
  const all = Array.from({ length: count }, (_, i): Shard => {
    const source = startConversion(shards[i % shards.length] as Shard);
    if (i < shards.length) return { ...source, shardCount: count };
    const unused = (limit: LimitState): LimitState => ({ ...limit, consumedMilli: 0n, consumedBeforeMilli: 0n });
    const { limits, retired } = source;
    return {
      ...source,
      shardCount: count,
      limits: limits.map(unused),
      retired: retired.map(unused),
      booked: [],
      events: 0,
      eventsBefore: 0,
      writes: 0,
    };
  });
  return { shards: all, bookings: [] };
}

/**
 * Merges the shards into fewer: shard i gets the mean of all shards whose index is i modulo the new count, and the sum
 * of their totals. The mean is rounded to the disadvantage of the caller.
 */
export function mergeShards(shards: readonly Shard[], count: number, nowMs: number): Conversion {
  const remaining = shards.slice(0, count).map((first, i) => {
    const others = shards.filter((_, at) => at >= count && at % count === i);
    return {
      ...others.reduce(withEventsOf, startConversion(first)),
      shardCount: count,
      limits: means(first, others, nowMs, 'limits'),
      retired: means(first, others, nowMs, 'retired'),
    };
  });
  const bookings = shards.slice(count).flatMap((shard, i) => wholeBooking(count + i, shard));
  return { shards: remaining, bookings };
}

/** The old expiry is dropped, because it does not fit the new state. */
const startConversion = ({ expiresAtSecs: _, ...shard }: Shard): Shard => ({
  ...shard,
  conversions: shard.conversions + 1,
});

/** Adds to both totals, because the open usage of the removed shard is booked. */
const withEventsOf = (into: Shard, { events }: Shard): Shard => ({
  ...into,
  events: into.events + events,
  eventsBefore: into.eventsBefore + events,
});

function means(first: Shard, others: readonly Shard[], nowMs: number, list: 'limits' | 'retired'): LimitState[] {
  return first[list].map((limit) => {
    const counterparts = others.map(
      (shard) => shard[list].find((other) => identityOf(other) === identityOf(limit)) as LimitState,
    );
    const current = inOneWindow([limit, ...counterparts].map((each) => asOf(each, nowMs)));
    const full = BigInt(nowMs) * limit.refillMilli;
    // A lease may have given back to one shard what was used on another. Without refill this reduces the sum of the
    // use.
    const sum = current.reduce((total, { fullAt }) => total + (limit.calendar ? fullAt : larger(fullAt, full)), 0n);
    const removed = counterparts.reduce((total, { consumedMilli }) => total + consumedMilli, 0n);
    return {
      ...(current[0] as LimitState),
      fullAt: divCeil(sum, BigInt(current.length)),
      consumedMilli: limit.consumedMilli + removed,
      consumedBeforeMilli: limit.consumedBeforeMilli + removed,
    };
  });
}

/** Moves all to the latest window. A shard that has not begun it has used nothing in it. */
function inOneWindow(limits: readonly LimitState[]): LimitState[] {
  const endMs = Math.max(...limits.map(({ windowEndMs = 0 }) => windowEndMs));
  return limits.map((limit) =>
    limit.windowEndMs === undefined || limit.windowEndMs === endMs
      ? limit
      : { ...limit, fullAt: 0n, windowEndMs: endMs },
  );
}
