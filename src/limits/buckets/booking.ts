import { maxUsageNames } from '../usage/usage.js';
import type { Amounts, LimitState } from './bucket.js';
import { allLimits, type Shard, type ShardAt } from './shard.js';

/** Usage of a shard's hour that is added to its usage item. */
export interface Booking extends ShardAt {
  readonly consumed: Amounts;
  readonly events: number;
}

/** The usage since the start of the hour that is not in a usage item yet. */
export function openUsage(shard: Shard): { readonly consumed: Amounts; readonly events: number } {
  return { consumed: consumedSince(allLimits(shard)), events: shard.events - shard.eventsBefore };
}

/** The open usage of these limits by name. A limit that has changed its kind has two states under one name. */
export function consumedSince(limits: readonly LimitState[]): Amounts {
  const sum: Record<string, bigint> = {};
  for (const { name, consumedMilli, consumedBeforeMilli } of limits)
    sum[name] = (sum[name] ?? 0n) + consumedMilli - consumedBeforeMilli;
  return sum;
}

export const isUsed = (shard: Shard): boolean => {
  const { consumed, events } = openUsage(shard);
  return events !== 0 || Object.values(consumed).some((milli) => milli !== 0n);
};

/** All open usage of a shard that goes away; none if there is no open usage. */
export const wholeBooking = (index: number, shard: Shard): Booking[] =>
  isUsed(shard) ? [{ index, shard, ...openUsage(shard) }] : [];

/**
 * The limits that the usage item of the hour has a figure for after these are booked. The number is bounded; the usage
 * of all other limits is counted under one common name.
 */
export const bookedWith = ({ booked }: Shard, names: readonly string[]): string[] =>
  [...new Set([...booked, ...names])].slice(0, maxUsageNames);

/** The shard after its open usage was booked and its hour was set to `hour`, which may be the same hour. */
export function withHourClosed(shard: Shard, hour: number): Shard {
  const book = (limit: LimitState): LimitState => ({ ...limit, consumedBeforeMilli: limit.consumedMilli });
  const booked = hour === shard.hour ? bookedWith(shard, Object.keys(openUsage(shard).consumed)) : [];
  return {
    ...shard,
    limits: shard.limits.map(book),
    retired: shard.retired.map(book),
    hour,
    booked,
    eventsBefore: shard.events,
    writes: shard.writes + 1,
  };
}
