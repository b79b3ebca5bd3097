import { LRUCache } from 'lru-cache';

/** A stretch of time in which an org's days are those of `zone`; it lasts until the next one begins. */
export interface ZonePeriod {
  readonly zone: string;
  readonly fromMs: number;
}

/** Oldest first; the last one is the zone the org asked for, perhaps not in force yet. */
export type ZoneHistory = readonly [ZonePeriod, ...ZonePeriod[]];

// A period that ended longer ago than any cost may be dated back is of no use.
const hourMs = 3_600_000;
const keptMs = 72 * hourMs;
// Other gateways learn of a change within 2 s; one that would take effect sooner waits for the next day instead.
const noticeMs = 10_000;

const formats = new Map<string, Intl.DateTimeFormat>();
// Formatting is slow, and the same minute is asked for again and again; no zone changes its date within one.
const lastDates = new Map<string, { readonly minute: number; readonly date: string }>();

// No clock has ever been set back by more than this at once, except where the date line moved, which repeats no midnight.
const longestStepBackMs = 4 * hourMs;
const mostZones = 2000; // names are accepted in any case, so there are more spellings than zones

// Every selection asks for the end of today, and a report for the ends of up to 366 days.
const dayEnds = new LRUCache<string, number>({ max: 20_000 });
// Days near a change of zone belong to one org's history: at most a few per change.
const changedDayEnds = new WeakMap<ZoneHistory, Map<string, number>>();
// A day of any zone lies within these bounds of its UTC midnight, and so does the change of zone that delays its end.
const windowBeforeMs = 16 * hourMs;
const windowAfterMs = 76 * hourMs;

function localFormat(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    if (formats.size >= mostZones) {
      formats.clear();
      lastDates.clear();
    }
    formats.set(zone, format);
  }
  return format;
}

/** Any name that `Intl` takes, aliases and UTC included, but no bare offset: a place has rules, an offset has none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A day of the calendar that any clock may show: from 1970-01-01, and early enough for the day after to have four digits. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < '1970-01-01' || text > '9999-12-30') return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && dateOf(ms) === text;
}

/** The calendar date there at that instant, YYYY-MM-DD. Where the clock was set back over midnight, the new day stays: no day comes twice. */
export function localDate(zone: string, atMs: number): string {
  const minute = Math.floor(atMs / 60_000);
  const known = lastDates.get(zone);
  if (known?.minute === minute) return known.date;
  const date = unreturningDate(zone, atMs);
  lastDates.set(zone, { minute, date });
  return date;
}

function unreturningDate(zone: string, atMs: number): string {
  const nowLocalMs = localMs(zone, atMs);
  const earlierMs = atMs - longestStepBackMs;
  const date = dateOf(nowLocalMs);
  if (nowLocalMs - localMs(zone, earlierMs) >= longestStepBackMs) return date;
  const offsetBefore = localMs(zone, earlierMs) - earlierMs;
  const steppedMs = firstInstant(earlierMs, atMs, (ms) => localMs(zone, ms) - ms < offsetBefore);
  const before = dateOf(localMs(zone, steppedMs - 1));
  return [before, date].sort()[1] as string;
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** What a clock on the wall there shows, as if it were UTC. */
function localMs(zone: string, atMs: number): number {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of localFormat(zone).formatToParts(atMs)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((atMs % 1000) + 1000) % 1000);
}

/** The first instant whose local date differs from that at `atMs`: not always midnight, not always 24 hours on. */
export const dayEndMs = (zone: string, atMs: number): number => zoneDayEndMs(zone, localDate(zone, atMs));

/** The org's day at an instant. */
export const dayAt = (history: ZoneHistory, atMs: number): string => localDate(zoneAt(history, atMs), atMs);

/** The first instant after an org's day, whatever zones it lies in. */
export function endOfDayMs(history: ZoneHistory, day: string): number {
  const midnightMs = midnightOf(day);
  const fromMs = midnightMs - windowBeforeMs;
  const toMs = midnightMs + windowAfterMs;
  const hasChange = history.some((period, i) => i > 0 && period.fromMs > fromMs && period.fromMs <= toMs);
  if (!hasChange) return zoneDayEndMs(zoneAt(history, fromMs), day);
  const cached = changedDayEnds.get(history) ?? new Map<string, number>();
  changedDayEnds.set(history, cached);
  const endMs = cached.get(day) ?? firstInstant(fromMs, toMs, (ms) => dayAt(history, ms) > day);
  cached.set(day, endMs);
  return endMs;
}

/** The first instant in a zone whose local date is later than `day`. */
function zoneDayEndMs(zone: string, day: string): number {
  const name = `${zone} ${day}`;
  const cached = dayEnds.get(name);
  if (cached !== undefined) return cached;
  const midnightMs = midnightOf(day);
  const endMs =
    endByOffsets(zone, midnightMs + 24 * hourMs) ??
    firstInstant(midnightMs - windowBeforeMs, midnightMs + windowAfterMs, (ms) => localDate(zone, ms) > day);
  dayEnds.set(name, endMs);
  return endMs;
}

/**
 * The first instant at which a zone's clocks reach the midnight that UTC has at `midnightMs`: from the offset of the day
 * before, the offset just before that instant and the one after. Undefined if the clocks jumped over midnight at another
 * instant, which only a search finds.
 */
function endByOffsets(zone: string, midnightMs: number): number | undefined {
  const offsetAt = (ms: number) => localMs(zone, ms) - ms;
  const before = offsetAt(midnightMs - windowBeforeMs);
  const endMs = midnightMs - before;
  const justBefore = offsetAt(endMs - 1);
  if (justBefore === before) {
    const after = offsetAt(endMs);
    // Clocks that are set back at midnight exactly reach it a second time. The day lasts until then.
    return after >= before ? endMs : midnightMs - after;
  }
  const changedEndMs = midnightMs - justBefore;
  if (offsetAt(changedEndMs - 1) === justBefore) return changedEndMs;
  return justBefore > before && offsetAt(changedEndMs) === justBefore ? changedEndMs : undefined;
}

const midnightOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** The day after, by the calendar. */
export const nextDate = (day: string): string => dateOf(midnightOf(day) + 24 * hourMs);

/** The zone whose days count at an instant. */
export const zoneAt = (history: ZoneHistory, atMs: number): string => zonePeriodAt(history, atMs).zone;

/** The period that an instant lies in; before the first one, that one. */
export function zonePeriodAt(history: ZoneHistory, atMs: number): ZonePeriod {
  let [found] = history;
  for (const period of history) if (period.fromMs <= atMs) found = period;
  return found;
}

/**
 * The history with a wish for another zone added. It takes effect when the current local day has ended and the new
 * zone's date is a later one, so that no day gets a second quota and none lasts two. A wish not yet in force is replaced.
 */
export function withZone(history: ZoneHistory, zone: string, nowMs: number): ZoneHistory {
  if (history[history.length - 1]?.zone === zone) return history;
  const begun = history.filter((period, i) => i === 0 || period.fromMs <= nowMs);
  const current = begun[begun.length - 1] as ZonePeriod;
  const kept = begun.filter((_, i) => i === begun.length - 1 || (begun[i + 1] as ZonePeriod).fromMs > nowMs - keptMs);
  return [
    ...kept,
    ...(current.zone === zone ? [] : periodsTo(current.zone, zone, nowMs + noticeMs)),
  ] as unknown as ZoneHistory;
}

/** The way from one zone to another: at once at a fit instant, or by way of UTC where the two never show the same date. */
function periodsTo(from: string, to: string, afterMs: number): ZonePeriod[] {
  const directMs = switchMs(from, to, afterMs);
  if (directMs !== undefined) return [{ zone: to, fromMs: directMs }];
  const middleMs = switchMs(from, 'UTC', afterMs) as number;
  return [
    { zone: 'UTC', fromMs: middleMs },
    { zone: to, fromMs: switchMs('UTC', to, middleMs) as number },
  ];
}

/** The first instant after the current day at which the new zone's date is a later one, and not behind the old zone's. */
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

/** The first millisecond in [fromMs, toMs] that passes a test which, once passed, stays so. */
function firstInstant(fromMs: number, toMs: number, passes: (ms: number) => boolean): number {
  if (passes(fromMs)) return fromMs;
  let before = fromMs;
  let after = toMs;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (passes(middle)) after = middle;
    else before = middle;
  }
  return after;
}
