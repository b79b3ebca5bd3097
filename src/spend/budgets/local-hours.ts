import { dayAt, endOfDayMs, startOfDayMs, type ZoneHistory } from '../../orgs/calendar.js';
import { midnightOf } from '../../orgs/zone-dates.js';

export const hourMs = 3_600_000;

/** An hour of a local day. The last hour of a day may be shorter. */
export interface LocalHour {
  /** From 0, Sunday, to 6, Saturday. */
  readonly weekday: number;
  /** Whole hours since the local day began. */
  readonly hour: number;
  readonly startMs: number;
  readonly endMs: number;
}

export type LocalHourAt = (atMs: number) => LocalHour;

/** Finds the local hour of an instant. It remembers the last day, because its callers go from hour to hour. */
export function localHours(history: ZoneHistory): LocalHourAt {
  let day = { startMs: 0, endMs: 0, weekday: 0 };
  return (atMs) => {
    if (atMs < day.startMs || atMs >= day.endMs) day = boundsOf(history, dayAt(history, atMs));
    const hour = Math.floor((atMs - day.startMs) / hourMs);
    const startMs = day.startMs + hour * hourMs;
    return { weekday: day.weekday, hour, startMs, endMs: Math.min(startMs + hourMs, day.endMs) };
  };
}

const boundsOf = (history: ZoneHistory, date: string) => ({
  startMs: startOfDayMs(history, date),
  endMs: endOfDayMs(history, date),
  weekday: new Date(midnightOf(date)).getUTCDay(),
});
