import { dayEndMs, localDate } from '../../spend/calendar.js';

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
  // An instant of the last day: from noon of its date, UTC, the local date is at most a day off.
  let inside = Date.parse(`${lastDay}T12:00:00Z`);
  if (localDate(zone, inside) > lastDay) inside -= dayMs / 2;
  while (localDate(zone, inside) < lastDay) inside = dayEndMs(zone, inside);
  // Where the date line moved, the last day may never have been: then the day before it has just ended.
  return localDate(zone, inside) > lastDay ? inside : dayEndMs(zone, inside);
}

function lastDayOf(window: 'WEEK' | 'MONTH', date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  const [year, month, ofMonth, weekday] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), day.getUTCDay()];
  const last = window === 'MONTH' ? Date.UTC(year, month + 1, 0) : Date.UTC(year, month, ofMonth + ((7 - weekday) % 7));
  return new Date(last).toISOString().slice(0, 10);
}

/** The longest that a window can last, a change of zone included. */
export const longestWindowMs = ({ window }: Calendar): number => ({ DAY: 1, WEEK: 7, MONTH: 31 })[window] * dayMs + 2 * latestMidnightMs;
