import { addDays, daysIn, isDay, shortDay } from './days.js';

/** A range of days, both ends included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

export const presets = ['1', '7', '14', '30', '90'] as const;
export type Preset = (typeof presets)[number];

/** The gateway gives figures of at most this many days. */
export const maxRangeDays = 366;
/** The gateway lists single calls of at most this many days. */
export const maxCallDays = 31;
/** More hours than this are too many for a chart. */
export const maxHourDays = 14;

/** The range that ends today and has this many days. */
export const presetRange = (days: number, today: string): DayRange => ({ from: addDays(today, 1 - days), to: today });

/** The range that an address names, made valid; the default if it names none. */
export function rangeOf(
  search: URLSearchParams,
  today: string,
  defaultDays: number,
  maxDays: number = maxRangeDays,
): DayRange {
  const days = Number(search.get('days'));
  if (Number.isInteger(days) && days >= 1 && days <= maxDays) return presetRange(days, today);
  const from = search.get('from') ?? '';
  const to = search.get('to') ?? '';
  if (!isDay(from) || !isDay(to)) return presetRange(defaultDays, today);
  return clamped({ from, to }, today, maxDays);
}

/** Ends today at the latest, and has between one and the most days. */
export function clamped({ from, to }: DayRange, today: string, maxDays: number = maxRangeDays): DayRange {
  const end = to > today ? today : to;
  const begin = from > end ? end : from;
  return { from: daysIn(begin, end) > maxDays ? addDays(end, 1 - maxDays) : begin, to: end };
}

/** The preset that a range is, if it is one. */
export const presetOf = ({ from, to }: DayRange, today: string): Preset | undefined =>
  to === today ? presets.find((days) => Number(days) === daysIn(from, to)) : undefined;

/** `17 Nov` or `4 Nov – 17 Nov`. */
export const rangeText = ({ from, to }: DayRange): string =>
  from === to ? shortDay(from) : `${shortDay(from)} – ${shortDay(to)}`;
