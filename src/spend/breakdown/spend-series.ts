import { endOfDayMs, startOfDayMs, type ZoneHistory } from '../../orgs/calendar.js';
import { type Counters, maxHours, noCounters, sumCounters, unattributed, usageOf } from '../counters.js';

const hourMs = 3_600_000;

export const seriesSteps = ['HOUR', 'DAY'] as const;
export type SeriesStep = (typeof seriesSteps)[number];

/** The spend of one hour or one day. */
export interface SpendPoint {
  readonly day: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly costUsdMicros: number;
  readonly requests: number;
  /** Only on the first hour of a day: the part of the day that no hour has. */
  readonly unattributedUsdMicros: number;
  readonly unattributedRequests: number;
}

/** The counters of one day, over all labels. */
export interface SeriesDay {
  readonly day: string;
  readonly counters: Counters;
  /** As stored with the totals of the day. Absent if there are none. */
  readonly startsAt?: Date;
}

/** Adds the totals of all labels up, day by day. */
export function seriesDays(
  days: readonly string[],
  totals: readonly ReadonlyMap<string, { readonly counters: Counters; readonly startsAt?: Date }>[],
): SeriesDay[] {
  return days.map((day) => {
    const found = totals.flatMap((ofLabel) => ofLabel.get(day) ?? []);
    const startsAt = found.find((total) => total.startsAt)?.startsAt;
    return { day, counters: sumCounters(found.map(({ counters }) => counters)), ...(startsAt ? { startsAt } : {}) };
  });
}

/** The points of a range of days, oldest first. Hours that have not begun are left out. */
export function seriesPoints(
  days: readonly SeriesDay[],
  step: SeriesStep,
  zones: ZoneHistory,
  nowMs: number,
): SpendPoint[] {
  return days.flatMap((each, i) => {
    const startMs = each.startsAt?.getTime() ?? startOfDayMs(zones, each.day);
    const nextMs = days[i + 1]?.startsAt?.getTime() ?? endOfDayMs(zones, each.day);
    // The zones of the org are not known forever, so the computed end of an old day may be before its stored start.
    const endMs = nextMs > startMs ? nextMs : startMs + 24 * hourMs;
    return step === 'DAY' ? [dayPoint(each, startMs, endMs)] : hourPoints(each, startMs, endMs, nowMs);
  });
}

function dayPoint({ day, counters }: SeriesDay, startMs: number, endMs: number): SpendPoint {
  const { costUsdMicros, requests } = usageOf(counters);
  const times = { day, startsAt: new Date(startMs), endsAt: new Date(endMs) };
  return { ...times, costUsdMicros, requests, unattributedUsdMicros: 0, unattributedRequests: 0 };
}

function hourPoints({ day, counters }: SeriesDay, startMs: number, endMs: number, nowMs: number): SpendPoint[] {
  const lastWithCost = Math.max(-1, ...counters.hours.keys());
  const begun = Math.ceil((Math.min(endMs, nowMs + 1) - startMs) / hourMs);
  const count = Math.min(maxHours, Math.max(1, begun, lastWithCost + 1));
  const rest = unattributed(counters);
  return Array.from({ length: count }, (_, hour) => {
    const { costUsdMicros, requests } = counters.hours.get(hour) ?? usageOf(noCounters);
    const hourStartMs = startMs + hour * hourMs;
    return {
      day,
      startsAt: new Date(hourStartMs),
      endsAt: new Date(Math.max(hourStartMs, Math.min(endMs, hourStartMs + hourMs))),
      costUsdMicros,
      requests,
      unattributedUsdMicros: hour === 0 ? rest.costUsdMicros : 0,
      unattributedRequests: hour === 0 ? rest.requests : 0,
    };
  });
}
