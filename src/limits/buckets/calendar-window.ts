import { dayEndMs, localDate } from '../../orgs/calendar.js';

export const calendarWindows = ['DAY', 'WEEK', 'MONTH'] as const;
export type CalendarWindow = (typeof calendarWindows)[number];

/** When a calendar limit resets: at the end of each local day, ISO week or month of the zone. */
export interface Calendar {
  readonly window: CalendarWindow;
  readonly zone: string;
}

const dayMs = 86_400_000;
/** No local day begins further than this from the UTC midnight of its date. */
const latestMidnightMs = 36 * 3_600_000;

/** The first millisecond after the window that holds `atMs`. */
export function windowEndMs({ window, zone }: Calendar, atMs: number): number {
  if (window === 'DAY') return dayEndMs(zone, atMs);
  const lastDay = lastDayOf(window, localDate(zone, atMs));
  // No zone is more than 12 hours behind UTC or 14 ahead: at noon of the last date, UTC, it is that day there, or the next one.
  const noonMs = Date.parse(`${lastDay}T12:00:00Z`);
  // Where the date line skipped the last day, this is an instant of the day before, at whose end the window ends.
  return dayEndMs(zone, localDate(zone, noonMs) > lastDay ? noonMs - dayMs / 2 : noonMs);
}

function lastDayOf(window: 'WEEK' | 'MONTH', date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  const [year, month, ofMonth, weekday] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), day.getUTCDay()];
  const last = window === 'MONTH' ? Date.UTC(year, month + 1, 0) : Date.UTC(year, month, ofMonth + ((7 - weekday) % 7));
  return new Date(last).toISOString().slice(0, 10);
}

/** The longest that a window can last, a change of zone included. */
export const longestWindowMs = ({ window }: Calendar): number =>
  ({ DAY: 1, WEEK: 7, MONTH: 31 })[window] * dayMs + 2 * latestMidnightMs;
