import { dayEndMs, localDate } from '../../orgs/calendar.js';

export const calendarWindows = ['DAY', 'WEEK', 'MONTH'] as const;
export type CalendarWindow = (typeof calendarWindows)[number];

/** When a calendar limit resets: at the end of each local day, ISO week or month of the zone. */
export interface Calendar {
  readonly window: CalendarWindow;
  readonly zone: string;
}

const dayMs = 86_400_000;
/** The max distance between the start of a local day and the UTC midnight of the same date. */
const maxMidnightOffsetMs = 36 * 3_600_000;

/** The first millisecond after the window that contains `atMs`. */
export function windowEndMs({ window, zone }: Calendar, atMs: number): number {
  if (window === 'DAY') return dayEndMs(zone, atMs);
  const lastDay = lastDayOf(window, localDate(zone, atMs));
  // Zones are at most 12 hours behind UTC and 14 ahead. So at noon UTC of the last date, the local date is that date or
  // the next one.
  const noonMs = Date.parse(`${lastDay}T12:00:00Z`);
  // If the zone skipped the last date (a move across the date line), this instant is in the day before, and the window
  // ends when that day ends.
  return dayEndMs(zone, localDate(zone, noonMs) > lastDay ? noonMs - dayMs / 2 : noonMs);
}

function lastDayOf(window: 'WEEK' | 'MONTH', date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  const [year, month, dayOfMonth, weekday] = [
    day.getUTCFullYear(),
    day.getUTCMonth(),
    day.getUTCDate(),
    day.getUTCDay(),
  ];
  const last =
    window === 'MONTH' ? Date.UTC(year, month + 1, 0) : Date.UTC(year, month, dayOfMonth + ((7 - weekday) % 7));
  return new Date(last).toISOString().slice(0, 10);
}

/** The max length of a window, including a change of zone. */
export const maxWindowMs = ({ window }: Calendar): number =>
  ({ DAY: 1, WEEK: 7, MONTH: 31 })[window] * dayMs + 2 * maxMidnightOffsetMs;
