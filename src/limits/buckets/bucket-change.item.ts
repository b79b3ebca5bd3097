import type { Update, Write } from '../../dynamo/client.js';
import { absent, and, type Condition, equals } from '../../dynamo/expression.js';
import { type ShardId, shardKey, usageIndexKeys, usageKey } from '../limiter-keys.js';
import { otherLimits } from '../usage/usage.js';
import { attribute, fenceVersion, prefixOf, shardItem, usageAttribute } from './bucket.item.js';
import type { LimitState } from './bucket.js';
import { same } from './bucket-write.item.js';
import type { Booking } from './convert.js';
import { bookedWith, openUsage, type Shard } from './shard.js';

const table = 'limiter';

/** Conditions under which a shard is still exactly as it was seen. */
const unchanged = (shard: Shard): Condition =>
  and(
    ...same(shard),
    equals('wc', shard.writes),
    equals('eb', shard.eventsBefore),
    ...shard.limits.map((limit) => equals(attribute(prefixOf(limit, false), 'th'), limit.consumedBeforeMilli)),
  );

/** Books use into the item of the shard's hour; twice in one hour it adds up. */
function usageWrite(id: ShardId, { shard, consumed, events }: Omit<Booking, 'index'>, expiresAtSecs: number): Update {
  const known = new Set(bookedWith(shard, Object.keys(consumed)));
  const add: Record<string, bigint | number> = events === 0 ? {} : { events };
  for (const [name, milli] of Object.entries(consumed)) {
    const counted = usageAttribute(known.has(name) ? name : otherLimits);
    add[counted] = BigInt(add[counted] ?? 0) + milli;
  }
  return {
    table,
    update: usageKey(id, shard.hour, shard.birth),
    add,
    set: { ...usageIndexKeys(id, shard.hour, shard.birth), ttl: expiresAtSecs },
  };
}

/** The same shard with its hour's use booked, in the hour given. */
export function closed(shard: Shard, hour: number): Shard {
  const book = (limit: LimitState): LimitState => ({ ...limit, consumedBeforeMilli: limit.consumedMilli });
  const booked = hour === shard.hour ? bookedWith(shard, Object.keys(openUsage(shard).consumed)) : [];
  return {
    ...shard,
    limits: shard.limits.map(book),
    kept: shard.kept.map(book),
    hour,
    booked,
    eventsBefore: shard.events,
    writes: shard.writes + 1,
  };
}

/** Closes the hour of a shard: its use into the usage item, and the shard moved, on condition that nothing has changed. */
export function closingWrites(id: ShardId, shard: Shard, hour: number, usageExpiresAtSecs: number): Write[] {
  const moved = closed(shard, hour);
  const bases = [
    ...moved.limits.map((limit) => [limit, false] as const),
    ...moved.kept.map((limit) => [limit, true] as const),
  ];
  return [
    {
      table,
      update: shardKey(id),
      set: {
        hw: hour,
        eb: moved.eventsBefore,
        ...(moved.booked.length > 0 ? { un: moved.booked } : {}),
        ...Object.fromEntries(
          bases.map(([limit, isKept]) => [attribute(prefixOf(limit, isKept), 'th'), limit.consumedMilli]),
        ),
      },
      ...(moved.booked.length > 0 ? {} : { remove: ['un'] }),
      add: { wc: 1 },
      condition: unchanged(shard),
    },
    usageWrite(id, { shard, ...openUsage(shard) }, usageExpiresAtSecs),
  ];
}

type Fenceable = Pick<Shard, 'version' | 'birth' | 'conversions'>;

/** Stops all writers of a shard. On shard 0 it says what the bucket is changed to. */
export const fenceWrite = (
  id: ShardId,
  { version, birth, conversions }: Fenceable,
  nonce: string,
  target?: string,
): Write => ({
  table,
  update: shardKey(id),
  set: { cv: fenceVersion(nonce), ...(target === undefined ? {} : { fx: target }) },
  // With the number of conversions, a fence that is sent twice cannot come back after its change was made.
  condition: and(equals('cv', version), equals('bi', birth), equals('rs', conversions)),
});

/** Replaces the shards of a fenced bucket by what it is changed to, and books what was used of those that are gone. */
export function conversionWrites(
  bucket: Omit<ShardId, 'shard'>,
  before: readonly Shard[],
  { shards, bookings }: { readonly shards: readonly Shard[]; readonly bookings: readonly Booking[] },
  usageExpiresAtSecs: number,
): Write[] {
  const at = (shard: number): ShardId => ({ ...bucket, shard });
  // With the number of writes, because whoever books an hour may write to a fenced shard.
  const isStill = ({ version, birth, writes }: Shard): Condition =>
    and(equals('cv', version), equals('bi', birth), equals('wc', writes));
  return [
    ...before
      .slice(shards.length)
      .map((shard, i): Write => ({ table, delete: shardKey(at(shards.length + i)), condition: isStill(shard) })),
    ...shards.map((shard, i): Write => {
      const old = before[i];
      return {
        table,
        put: shardItem(at(i), { ...shard, writes: shard.writes + 1 }),
        condition: old ? isStill(old) : absent('PK'),
      };
    }),
    ...bookings.map((booking) => usageWrite(at(booking.index), booking, usageExpiresAtSecs)),
  ];
}
