import { Lru } from '../lib/lru.js';

const hourMs = 3_600_000;
/**
 * No clock was ever set back by more than this at once, except where the date line moved, which repeats no midnight.
 */
const maxStepBackMs = 4 * hourMs;
/** Zone names are accepted in any case, so there are more spellings than zones. */
const maxZones = 2000;
/** Every selection needs the end of today, and a report the ends of up to 366 days. */
const maxDayEnds = 20_000;
/**
 * A day of any zone, and a change of zone that delays its end, lie within these bounds of the UTC midnight of the day.
 */
export const windowBeforeMs = 16 * hourMs;
export const windowAfterMs = 76 * hourMs;

interface CachedDate {
  readonly minute: number;
  readonly date: string;
}

/**
 * Local dates and ends of days of time zones. The results depend only on the arguments and the time zone data of the
 * process. The state is a bounded cache of them, because `Intl` takes microseconds and every cost and acquire needs a
 * date.
 */
export class ZoneDates {
  private readonly formats = new Map<string, Intl.DateTimeFormat>();
  /** The date of the last minute that was requested per zone. No zone changes its date within a minute. */
  private readonly lastDates = new Map<string, CachedDate>();
  private readonly dayEnds = new Lru<string, number>(maxDayEnds);

  /**
   * The local date, YYYY-MM-DD. If clocks were set back over midnight, the later date stays, so that no day comes
   * twice.
   */
  dateAt(zone: string, atMs: number): string {
    const minute = Math.floor(atMs / 60_000);
    const cached = this.lastDates.get(zone);
    if (cached?.minute === minute) return cached.date;
    const date = this.latestDate(zone, atMs);
    this.lastDates.set(zone, { minute, date });
    return date;
  }

  /** The first instant whose local date is later than `day`. */
  dayEndMs(zone: string, day: string): number {
    const cacheKey = `${zone} ${day}`;
    const cached = this.dayEnds.get(cacheKey);
    if (cached !== undefined) return cached;
    const midnightMs = midnightOf(day);
    const endMs =
      this.endByOffsets(zone, midnightMs + 24 * hourMs) ??
      firstInstant(midnightMs - windowBeforeMs, midnightMs + windowAfterMs, (ms) => this.dateAt(zone, ms) > day);
    this.dayEnds.set(cacheKey, endMs);
    return endMs;
  }

  private latestDate(zone: string, atMs: number): string {
    const nowLocalMs = this.localMs(zone, atMs);
    const earlierMs = atMs - maxStepBackMs;
    const date = dateOf(nowLocalMs);
    if (nowLocalMs - this.localMs(zone, earlierMs) >= maxStepBackMs) return date;
    const offsetBefore = this.localMs(zone, earlierMs) - earlierMs;
    const steppedMs = firstInstant(earlierMs, atMs, (ms) => this.localMs(zone, ms) - ms < offsetBefore);
    const before = dateOf(this.localMs(zone, steppedMs - 1));
    if (before > date) return before;
    return date;
  }

  /**
   * The first instant at which the clocks of a zone reach the midnight that UTC has at `midnightMs`, computed from the
   * offset of the day before, the offset just before that instant and the offset after it. Undefined if the clocks
   * jumped over midnight at another instant, which only a search finds.
   */
  private endByOffsets(zone: string, midnightMs: number): number | undefined {
    const offsetAt = (ms: number) => this.localMs(zone, ms) - ms;
    const before = offsetAt(midnightMs - windowBeforeMs);
    const endMs = midnightMs - before;
    const justBefore = offsetAt(endMs - 1);
    if (justBefore === before) {
      const after = offsetAt(endMs);
      // Clocks that are set back exactly at midnight reach it a second time. The day lasts until then.
      return after >= before ? endMs : midnightMs - after;
    }
    const changedEndMs = midnightMs - justBefore;
    if (offsetAt(changedEndMs - 1) === justBefore) return changedEndMs;
    return justBefore > before && offsetAt(changedEndMs) === justBefore ? changedEndMs : undefined;
  }

  /** The local time as if it were UTC. */
  private localMs(zone: string, atMs: number): number {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.formatOf(zone).formatToParts(atMs)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((atMs % 1000) + 1000) % 1000);
  }

  private formatOf(zone: string): Intl.DateTimeFormat {
    let format = this.formats.get(zone);
    if (format) return format;
    format = newFormat(zone);
    // A date is computed with a format, so this bounds `lastDates` too.
    if (this.formats.size >= maxZones) {
      this.formats.clear();
      this.lastDates.clear();
    }
    this.formats.set(zone, format);
    return format;
  }
}

const newFormat = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
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

/** The UTC date of an instant, YYYY-MM-DD. */
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The UTC midnight at which a date begins. */
export const midnightOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** The first millisecond in [fromMs, toMs] that passes a test which stays passed from then on. */
export function firstInstant(fromMs: number, toMs: number, passes: (ms: number) => boolean): number {
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
