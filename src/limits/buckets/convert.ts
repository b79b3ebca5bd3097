import { larger } from '../../lib/int.js';
import type { LimitSet } from '../limit.js';
import {
  type Amounts,
  asOf,
  divCeil,
  fullAtMs,
  fullLimit,
  identityOf,
  type LimitSpec,
  type LimitState,
  restampLimit,
} from './bucket.js';
import {
  bookedWith,
  isUsed,
  mayHaveShards,
  openUsage,
  openUseOf,
  type Shard,
  type ShardAt,
  unbornShard,
} from './shard.js';

/** What a bucket is changed to while all its writers are stopped. */
export type Change =
  | { readonly kind: 'stamp'; readonly set: LimitSet; readonly mayExpire: boolean }
  | { readonly kind: 'shards'; readonly count: number }
  | { readonly kind: 'end' };

/** Use of a shard's hour that goes into its usage item. */
export interface Booking extends ShardAt {
  readonly consumed: Amounts;
  readonly events: number;
}

export interface Conversion {
  readonly shards: readonly Shard[];
  /** What was used of shards and limits that are gone. */
  readonly bookings: readonly Booking[];
}

/** The most limits that a bucket keeps the state of after they have left its set. */
export const maxKeptLimits = 16;

/** The bucket after a change: nothing that is available is lost or minted, no debt is forgiven. */
export function converted(shards: readonly Shard[], change: Change, nowMs: number): Conversion {
  switch (change.kind) {
    case 'end':
      return { shards: [], bookings: shards.flatMap((shard, index) => wholeBooking(index, shard)) };
    case 'shards':
      return change.count > shards.length ? spread(shards, change.count) : folded(shards, change.count, nowMs);
    case 'stamp': {
      const count = servable(shards.length, change.set.specs);
      const { shards: fewer, bookings } =
        count < shards.length ? folded(shards, count, nowMs) : { shards, bookings: [] };
      return stamped(fewer, bookings, change.set, nowMs);
    }
  }
}

/** The shards as they are under a limit set: as a first acquire would make them, or a stamp. */
export const inForce = (found: readonly Shard[], set: LimitSet, nowMs: number): readonly Shard[] =>
  found.length === 0
    ? [unbornShard(set, nowMs)]
    : converted(found, { kind: 'stamp', set, mayExpire: true }, nowMs).shards;

/** As many of the shards as the limits can be served by. */
const servable = (count: number, limits: readonly LimitSpec[]): number =>
  mayHaveShards(count, { limits }, {}) ? count : servable(count / 2, limits);

/** Shard i + n begins where shard i is: in 2n-fold units both together have what the one had. */
function spread(shards: readonly Shard[], count: number): Conversion {
  const all = Array.from({ length: count }, (_, i): Shard => {
    const source = nextOf(shards[i % shards.length] as Shard);
    if (i < shards.length) return { ...source, shardCount: count };
    const unused = (limit: LimitState): LimitState => ({ ...limit, consumedMilli: 0n, consumedBeforeMilli: 0n });
    const { limits, kept } = source;
    return {
      ...source,
      shardCount: count,
      limits: limits.map(unused),
      kept: kept.map(unused),
      booked: [],
      events: 0,
      eventsBefore: 0,
      writes: 0,
    };
  });
  return { shards: all, bookings: [] };
}

/** Shard i gets the mean of all that are i modulo the new count, rounded to the bucket's disadvantage, and their totals. */
function folded(shards: readonly Shard[], count: number, nowMs: number): Conversion {
  const remaining = shards.slice(0, count).map((first, i) => {
    const others = shards.filter((_, at) => at >= count && at % count === i);
    return {
      ...others.reduce(withTotals, nextOf(first)),
      shardCount: count,
      limits: means(first, others, nowMs, 'limits'),
      kept: means(first, others, nowMs, 'kept'),
    };
  });
  const bookings = shards.slice(count).flatMap((shard, i) => wholeBooking(count + i, shard));
  return { shards: remaining, bookings };
}

const wholeBooking = (index: number, shard: Shard): Booking[] =>
  isUsed(shard) ? [{ index, shard, ...openUsage(shard) }] : [];

/** The use of the removed shard's hour is booked, so that it stands in both totals. */
const withTotals = (into: Shard, { events }: Shard): Shard => ({
  ...into,
  events: into.events + events,
  eventsBefore: into.eventsBefore + events,
});

function means(first: Shard, others: readonly Shard[], nowMs: number, of: 'limits' | 'kept'): LimitState[] {
  return first[of].map((limit) => {
    const like = others.map(
      (shard) => shard[of].find((other) => identityOf(other) === identityOf(limit)) as LimitState,
    );
    const current = inOneWindow([limit, ...like].map((each) => asOf(each, nowMs)));
    const full = BigInt(nowMs) * limit.refillMilli;
    // A lease may have given back to one shard what was used on another: without refill that stands against its use.
    const sum = current.reduce((total, { fullAt }) => total + (limit.calendar ? fullAt : larger(fullAt, full)), 0n);
    const removed = like.reduce((total, { consumedMilli }) => total + consumedMilli, 0n);
    return {
      ...(current[0] as LimitState),
      fullAt: divCeil(sum, BigInt(current.length)),
      consumedMilli: limit.consumedMilli + removed,
      consumedBeforeMilli: limit.consumedBeforeMilli + removed,
    };
  });
}

/** Of a window that only some shards have begun, the others have used nothing. */
function inOneWindow(limits: readonly LimitState[]): LimitState[] {
  const endMs = Math.max(...limits.map(({ windowEndMs = 0 }) => windowEndMs));
  return limits.map((limit) =>
    limit.windowEndMs === undefined || limit.windowEndMs === endMs
      ? limit
      : { ...limit, fullAt: 0n, windowEndMs: endMs },
  );
}

function stamped(shards: readonly Shard[], bookings: readonly Booking[], set: LimitSet, nowMs: number): Conversion {
  const wanted = new Set(set.specs.map(identityOf));
  const done = shards.map((shard, index) => {
    const conversions = shard.conversions + 1;
    const before = new Map([...shard.limits, ...shard.kept].map((limit) => [identityOf(limit), limit]));
    const limits = set.specs.map((spec) => {
      const old = before.get(identityOf(spec));
      return old ? restampLimit(old, spec, nowMs) : { ...fullLimit(spec, nowMs), born: conversions };
    });
    const left = [...before.values()].filter((limit) => !wanted.has(identityOf(limit)));
    return { index, shard, conversions, limits, left };
  });
  const isKept = keptAmong(
    done.flatMap(({ left }) => left),
    nowMs,
  );
  const gone = (left: readonly LimitState[]) =>
    left.filter((limit) => !isKept(limit) && limit.consumedMilli !== limit.consumedBeforeMilli);
  return {
    shards: done.map(({ shard, conversions, limits, left }) => {
      const booked = bookedWith(
        shard,
        gone(left).map(({ name }) => name),
      );
      return {
        ...shard,
        limits,
        kept: left.filter(isKept),
        version: set.version,
        levels: set.levels ?? [],
        conversions,
        booked,
      };
    }),
    bookings: [
      ...bookings,
      ...done.flatMap(({ index, shard, left }) => {
        const consumed = openUseOf(gone(left));
        return Object.keys(consumed).length > 0 ? [{ index, shard, consumed, events: 0 }] : [];
      }),
    ],
  };
}

/** Which of the limits that leave are kept: those that are not full on every shard. */
function keptAmong(left: readonly LimitState[], nowMs: number): (limit: LimitState) => boolean {
  const open = new Set(left.filter((limit) => fullAtMs(limit) > nowMs).map(identityOf));
  return (limit) => open.has(identityOf(limit));
}

/** The names of the limits whose state a bucket would keep under another set. */
export function keptUnder(shards: readonly Shard[], { specs }: LimitSet, nowMs: number): string[] {
  const wanted = new Set(specs.map(identityOf));
  const left = shards
    .flatMap(({ limits, kept }) => [...limits, ...kept])
    .filter((limit) => !wanted.has(identityOf(limit)));
  const isKept = keptAmong(left, nowMs);
  return [...new Set(left.filter(isKept).map(identityOf))];
}

/** A shard that is being converted: the expiry it had says nothing any more. */
const nextOf = ({ expiresAtSecs: _, ...shard }: Shard): Shard => ({ ...shard, conversions: shard.conversions + 1 });
