import { dateOf, firstInstant, midnightOf, windowAfterMs, windowBeforeMs, ZoneDates } from './zone-dates.js';

/** A period in which the days of an org follow `zone`. It lasts until the next period begins. */
export interface ZonePeriod {
  readonly zone: string;
  readonly fromMs: number;
}

/** Oldest first. The last period has the zone that the org has set, which may not be in effect yet. */
export type ZoneHistory = readonly [ZonePeriod, ...ZonePeriod[]];

const hourMs = 3_600_000;
/** A period is dropped this long after its end, because no cost may be dated back further. */
const historyMs = 72 * hourMs;
/** Other gateways see a change within 2 s. A change that would take effect sooner than this waits for the next day. */
const noticeMs = 10_000;

/**
 * The functions below are pure: these two objects only cache their results. They are shared by the whole process
 * instead of being passed to every caller, because a cached date cannot become wrong. Both are bounded: `ZoneDates` by
 * itself, the ends of days near a change of zone by a few per change, and they go with the history.
 */
const zoneDates = new ZoneDates();
const changedDayEnds = new WeakMap<ZoneHistory, Map<string, number>>();

/**
 * True for any zone name that `Intl` accepts, aliases and UTC included, but not for a bare offset, which has no rules.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** True for a date from 1970-01-01 to 9999-12-30, so that the next day has four digits too. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < '1970-01-01' || text > '9999-12-30') return false;
  const ms = midnightOf(text);
  return !Number.isNaN(ms) && dateOf(ms) === text;
}

/**
 * The local date, YYYY-MM-DD. If clocks were set back over midnight, the later date stays, so that no day comes twice.
 */
export const localDate = (zone: string, atMs: number): string => zoneDates.dateAt(zone, atMs);

/**
 * The first instant whose local date differs from that at `atMs`. Not always midnight, and not always 24 hours later.
 */
export const dayEndMs = (zone: string, atMs: number): number => zoneDates.dayEndMs(zone, localDate(zone, atMs));

/** The day of an org at an instant. */
export const dayAt = (history: ZoneHistory, atMs: number): string => localDate(zoneAt(history, atMs), atMs);

/** The first instant after a day of an org, whatever zones the day lies in. */
export function endOfDayMs(history: ZoneHistory, day: string): number {
  const midnightMs = midnightOf(day);
  const fromMs = midnightMs - windowBeforeMs;
  const toMs = midnightMs + windowAfterMs;
  const hasChange = history.some((period, i) => i > 0 && period.fromMs > fromMs && period.fromMs <= toMs);
  if (!hasChange) return zoneDates.dayEndMs(zoneAt(history, fromMs), day);
  const cached = changedDayEnds.get(history) ?? new Map<string, number>();
  changedDayEnds.set(history, cached);
  const endMs = cached.get(day) ?? firstInstant(fromMs, toMs, (ms) => dayAt(history, ms) > day);
  cached.set(day, endMs);
  return endMs;
}

/** The first instant of a day of an org. */
export const startOfDayMs = (history: ZoneHistory, day: string): number => endOfDayMs(history, previousDate(day));

/** How many whole hours before an instant of a day of an org that day began. */
export const hourOfDay = (history: ZoneHistory, day: string, atMs: number): number =>
  Math.floor((atMs - startOfDayMs(history, day)) / hourMs);

/** The date some days later, or earlier if `days` is negative. */
export const addDays = (day: string, days: number): string => dateOf(midnightOf(day) + days * 24 * hourMs);

/** The next date of the calendar. */
export const nextDate = (day: string): string => addDays(day, 1);

/** The date before. */
export const previousDate = (day: string): string => addDays(day, -1);

/** A date as it is in keys, YYYYMMDD. */
export const compactDate = (day: string): string => day.replaceAll('-', '');

/** The zone in effect at an instant. */
export const zoneAt = (history: ZoneHistory, atMs: number): string => zonePeriodAt(history, atMs).zone;

/** The period that an instant lies in; the first period for an earlier instant. */
export function zonePeriodAt(history: ZoneHistory, atMs: number): ZonePeriod {
  let [found] = history;
  for (const period of history) if (period.fromMs <= atMs) found = period;
  return found;
}

/** When `zone`, which the org has set last, takes effect; undefined if it is in effect. */
export function zoneEffectiveAt(history: ZoneHistory, zone: string, nowMs: number): Date | undefined {
  return zoneAt(history, nowMs) === zone ? undefined : new Date(history[history.length - 1]?.fromMs ?? 0);
}

/**
 * The history with a change to another zone. The change takes effect when the current local day has ended and the date
 * of the new zone is a later one, so that no day gets a second quota and none lasts two days. It replaces an earlier
 * change that is not in effect yet.
 */
export function withZone(history: ZoneHistory, zone: string, nowMs: number): ZoneHistory {
  if (history[history.length - 1]?.zone === zone) return history;
  const begun = history.filter((period, i) => i === 0 || period.fromMs <= nowMs);
  const current = begun[begun.length - 1] as ZonePeriod;
  const recent = begun.filter(
    (_, i) => i === begun.length - 1 || (begun[i + 1] as ZonePeriod).fromMs > nowMs - historyMs,
  );
  const added = current.zone === zone ? [] : periodsTo(current.zone, zone, nowMs + noticeMs);
  return [...recent, ...added] as unknown as ZoneHistory;
}

/** The periods from one zone to another: directly, or by way of UTC if the two never show the same date. */
function periodsTo(from: string, to: string, afterMs: number): ZonePeriod[] {
  const directMs = switchMs(from, to, afterMs);
  if (directMs !== undefined) return [{ zone: to, fromMs: directMs }];
  const middleMs = switchMs(from, 'UTC', afterMs) as number;
  return [
    { zone: 'UTC', fromMs: middleMs },
    { zone: to, fromMs: switchMs('UTC', to, middleMs) as number },
  ];
}

/**
 * The first instant after the current day at which the date of the new zone is later, and not before that of the old
 * zone.
 */
function switchMs(from: string, to: string, afterMs: number): number | undefined {
  const today = localDate(from, afterMs);
  let atMs = dayEndMs(from, afterMs);
  for (let midnights = 0; midnights < 4; midnights++) {
    const date = localDate(to, atMs);
    if (date > today && date >= localDate(from, atMs)) return atMs;
    atMs = dayEndMs(to, atMs);
  }
  return undefined;
}
