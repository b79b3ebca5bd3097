import type { LimitSet } from '../limit.js';
import { type Booking, wholeBooking } from './booking.js';
import type { LimitSpec } from './bucket.js';
import { addShards, mergeShards } from './reshard.js';
import { initialShard, mayHaveShards, type Shard } from './shard.js';
import { stampShards } from './stamp.js';

/** A change of the whole bucket, made while all of its writers are stopped. The `kind` is stored on the fence. */
export type BucketChange =
  | { readonly kind: 'stamp'; readonly set: LimitSet; readonly mayExpire: boolean }
  | { readonly kind: 'shards'; readonly count: number }
  | { readonly kind: 'end' };

/** The result of a change. */
export interface Conversion {
  readonly shards: readonly Shard[];
  /** Usage of the shards and limits that are gone. */
  readonly bookings: readonly Booking[];
}

/**
 * The bucket after a change. The available amounts are conserved: nothing is lost or minted, and no debt is forgiven.
 */
export function converted(shards: readonly Shard[], change: BucketChange, nowMs: number): Conversion {
  switch (change.kind) {
    case 'end':
      return { shards: [], bookings: shards.flatMap((shard, index) => wholeBooking(index, shard)) };
    case 'shards':
      return change.count > shards.length ? addShards(shards, change.count) : mergeShards(shards, change.count, nowMs);
    case 'stamp': {
      const count = maxCountFor(change.set.specs, shards.length);
      const merged = count < shards.length ? mergeShards(shards, count, nowMs) : { shards, bookings: [] };
      const stamped = stampShards(merged.shards, change.set, nowMs);
      return { shards: stamped.shards, bookings: [...merged.bookings, ...stamped.bookings] };
    }
  }
}

/** The shards as they would be under a limit set: created by a first acquire, or converted by a stamp. */
export const shardsUnder = (found: readonly Shard[], set: LimitSet, nowMs: number): readonly Shard[] =>
  found.length === 0
    ? [initialShard(set, nowMs)]
    : converted(found, { kind: 'stamp', set, mayExpire: true }, nowMs).shards;

/** The shard count, halved until the limits can be divided over it. */
const maxCountFor = (limits: readonly LimitSpec[], count: number): number =>
  mayHaveShards(count, { limits }, {}) ? count : maxCountFor(limits, count / 2);
