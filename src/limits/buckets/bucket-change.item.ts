import type { Update, Write } from '../../dynamo/client.js';
import { absent, and, type Condition, equals } from '../../dynamo/expression.js';
import { type ShardId, shardKey, usageIndexKeys, usageKey } from '../limiter-keys.js';
import { otherLimits } from '../usage/usage.js';
import { type Booking, bookedWith, openUsage, withHourClosed } from './booking.js';
import { attribute, fenceVersion, placeOf, shardItem, table, usageAttribute } from './bucket.item.js';
import { sameState } from './bucket-write.item.js';
import type { Conversion } from './convert.js';
import type { Shard } from './shard.js';

/** Condition: no write has changed the shard since it was read. */
const unchanged = (shard: Shard): Condition =>
  and(
    ...sameState(shard),
    equals('wc', shard.writes),
    equals('eb', shard.eventsBefore),
    ...shard.limits.map((limit, i) => equals(attribute(placeOf(i, false), 'h'), limit.consumedBeforeMilli)),
  );

/** Adds usage to the item of the shard's hour. Several bookings of one hour add up. */
function usageWrite(id: ShardId, { shard, consumed, events }: Omit<Booking, 'index'>, expiresAtSecs: number): Update {
  const withFigure = new Set(bookedWith(shard, Object.keys(consumed)));
  const add: Record<string, bigint | number> = events === 0 ? {} : { events };
  for (const [name, milli] of Object.entries(consumed)) {
    const counted = usageAttribute(withFigure.has(name) ? name : otherLimits);
    add[counted] = BigInt(add[counted] ?? 0) + milli;
  }
  return {
    table,
    update: usageKey(id, shard.hour, shard.incarnation),
    add,
    set: { ...usageIndexKeys(id, shard.hour, shard.incarnation), ttl: expiresAtSecs },
  };
}

/** Closes the hour of a shard: books its usage and moves it to `hour`, if the shard is unchanged. */
export function closingWrites(id: ShardId, shard: Shard, hour: number, usageExpiresAtSecs: number): Write[] {
  const moved = withHourClosed(shard, hour);
  const totals = [
    ...moved.limits.map((limit, i) => [attribute(placeOf(i, false), 'h'), limit.consumedMilli] as const),
    ...moved.retired.map((limit, i) => [attribute(placeOf(i, true), 'h'), limit.consumedMilli] as const),
  ];
  return [
    {
      table,
      update: shardKey(id),
      set: {
        hw: hour,
        eb: moved.eventsBefore,
        ...(moved.booked.length > 0 ? { un: moved.booked } : {}),
        ...Object.fromEntries(totals),
      },
      ...(moved.booked.length > 0 ? {} : { remove: ['un'] }),
      add: { wc: 1 },
      condition: unchanged(shard),
    },
    usageWrite(id, { shard, ...openUsage(shard) }, usageExpiresAtSecs),
  ];
}

type FencedState = Pick<Shard, 'version' | 'incarnation' | 'conversions'>;

/** Fences a shard: every other write fails from then on. On shard 0 the fence has the target of the conversion. */
export const fenceWrite = (
  id: ShardId,
  { version, incarnation, conversions }: FencedState,
  nonce: string,
  target?: string,
): Write => ({
  table,
  update: shardKey(id),
  set: { cv: fenceVersion(nonce), ...(target === undefined ? {} : { fx: target }) },
  // The number of conversions is checked so that a fence that is sent twice cannot return after its conversion was
  // made.
  condition: and(equals('cv', version), equals('bi', incarnation), equals('rs', conversions)),
});

/** Replaces the shards of a fenced bucket by those of the conversion, and books the usage of what is gone. */
export function conversionWrites(
  bucket: Omit<ShardId, 'shard'>,
  before: readonly Shard[],
  { shards, bookings }: Conversion,
  usageExpiresAtSecs: number,
): Write[] {
  const idAt = (shard: number): ShardId => ({ ...bucket, shard });
  // The number of writes is checked because closing an hour may write to a fenced shard.
  const isUnchanged = ({ version, incarnation, writes }: Shard): Condition =>
    and(equals('cv', version), equals('bi', incarnation), equals('wc', writes));
  return [
    ...before
      .slice(shards.length)
      .map((shard, i): Write => ({ table, delete: shardKey(idAt(shards.length + i)), condition: isUnchanged(shard) })),
    ...shards.map((shard, i): Write => {
      const old = before[i];
      return {
        table,
        put: shardItem(idAt(i), { ...shard, writes: shard.writes + 1 }),
        condition: old ? isUnchanged(old) : absent('PK'),
      };
    }),
    ...bookings.map((booking) => usageWrite(idAt(booking.index), booking, usageExpiresAtSecs)),
  ];
}
