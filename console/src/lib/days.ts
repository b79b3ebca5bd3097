/**
 * Calendar days as the server sends them, YYYY-MM-DD in the time zone of the org. The server decides which day it is.
 * The console only counts from day to day, so no `Date` and no time zone of the browser is involved.
 */

interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const parts = (day: string): CivilDay => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return { year, month, day: date };
};

/** Days since 1970-01-01 in the Gregorian calendar. */
function ordinal({ year, month, day }: CivilDay): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function fromOrdinal(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** The day that is this many days later, or earlier if negative. */
export const addDays = (day: string, days: number): string => fromOrdinal(ordinal(parts(day)) + days);

/** Number of days from the first to the last day, both included. */
export const daysIn = (from: string, to: string): number => ordinal(parts(to)) - ordinal(parts(from)) + 1;

/** True for a day of the calendar in the form YYYY-MM-DD. */
export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && addDays(text, 0) === text;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const weekdays = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'];

/** `17 Nov`. */
export function shortDay(day: string): string {
  const { month, day: date } = parts(day);
  return `${date} ${months[month - 1]}`;
}

/** `Tue 17 Nov 2026`. */
export function longDay(day: string): string {
  const civil = parts(day);
  const weekday = weekdays[((ordinal(civil) % 7) + 7) % 7];
  return `${weekday} ${shortDay(day)} ${civil.year}`;
}
