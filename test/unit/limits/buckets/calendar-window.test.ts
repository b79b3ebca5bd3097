import fc from 'fast-check';
import {
  type CalendarWindow,
  calendarWindows,
  maxWindowMs,
  windowEndMs,
} from '../../../../src/limits/buckets/calendar-window.js';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo', // clocks went forward at midnight: days that begin at 01:00
  'America/St_Johns', // clocks went back over midnight
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe', // half an hour of summer time
  'Africa/Casablanca',
  'Pacific/Apia', // no 30 December 2011
  'Pacific/Kiritimati', // no 31 December 1994
  'Pacific/Kwajalein', // no 21 August 1993
  'Pacific/Chatham',
  'Pacific/Niue',
];

const formats = new Map(
  zones.map(
    (timeZone) =>
      [
        timeZone,
        new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }),
      ] as const,
  ),
);
const dateThere = (zone: string, ms: number): string => (formats.get(zone) as Intl.DateTimeFormat).format(ms);

/** The name of the day, the ISO week (by its Monday) or the month that a date is in. */
function windowName(window: CalendarWindow, date: string): string {
  if (window === 'DAY') return date;
  if (window === 'MONTH') return date.slice(0, 7);
  const ms = Date.parse(`${date}T00:00:00Z`);
  return new Date(ms - ((new Date(ms).getUTCDay() + 6) % 7) * dayMs).toISOString().slice(0, 10);
}

/**
 * The first instant whose local date is in a later window, found by trying hours, then minutes. Since 1993 all zones
 * differ by whole minutes.
 */
function bruteEndMs(window: CalendarWindow, zone: string, atMs: number): number {
  const nameAt = (ms: number) => windowName(window, dateThere(zone, ms));
  const minute = Math.floor(atMs / minuteMs) * minuteMs;
  // If clocks went back over midnight, a date occurs twice. The later date counts.
  let name = nameAt(atMs);
  for (let ms = minute - 4 * hourMs; ms < minute; ms += minuteMs) if (nameAt(ms) > name) name = nameAt(ms);
  let ms = minute;
  while (nameAt(ms) <= name) ms += hourMs;
  ms = Math.max(minute, ms - 5 * hourMs);
  while (nameAt(ms) <= name) ms += minuteMs;
  return ms;
}

describe('the end of a calendar window', () => {
  const [fromMs, toMs] = [Date.UTC(1993, 0), Date.UTC(2040, 0)];
  const instants = fc.oneof(
    fc.integer({ min: fromMs, max: toMs }),
    // Around days on which the date line or the clocks moved at midnight.
    fc
      .tuple(
        fc.constantFrom(
          '1993-08-21',
          '1994-12-31',
          '2011-12-30',
          '2018-11-04',
          '2018-02-18',
          '2006-10-29',
          '2025-03-30',
          '2025-10-26',
          '2024-02-29',
        ),
        fc.integer({ min: -3 * dayMs, max: 3 * dayMs }),
      )
      .map(([date, off]) => Date.parse(`${date}T00:00:00Z`) + off),
  );

  it.each(zones)('(%s) is the first instant of the next local day, ISO week or month', (zone) => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...calendarWindows), (atMs, window) => {
        expect([window, atMs, windowEndMs({ window, zone }, atMs)]).toEqual([
          window,
          atMs,
          bruteEndMs(window, zone, atMs),
        ]);
      }),
      { numRuns: 150 },
    );
  });

  it('is in the future, is the same for the whole window, and is at most the max window length away', () => {
    fc.assert(
      fc.property(
        instants,
        fc.constantFrom(...calendarWindows),
        fc.constantFrom(...zones),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (atMs, window, zone, part) => {
          const calendar = { window, zone };
          const endMs = windowEndMs(calendar, atMs);
          expect(endMs).toBeGreaterThan(atMs);
          expect(endMs - atMs).toBeLessThanOrEqual(maxWindowMs(calendar));
          const inside = atMs + Math.floor((endMs - 1 - atMs) * part);
          expect([windowEndMs(calendar, inside), windowEndMs(calendar, endMs - 1)]).toEqual([endMs, endMs]);
          expect(windowEndMs(calendar, endMs)).toBeGreaterThan(endMs);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each<[CalendarWindow, string, string, string]>([
    ['DAY', 'UTC', '2025-10-26T12:00:00Z', '2025-10-27T00:00:00Z'],
    ['DAY', 'UTC', '2025-10-26T23:59:59.999Z', '2025-10-27T00:00:00Z'],
    ['DAY', 'UTC', '2025-10-27T00:00:00Z', '2025-10-28T00:00:00Z'],
    ['DAY', 'Europe/Berlin', '2025-10-25T22:00:00Z', '2025-10-26T23:00:00Z'], // a day of 25 hours
    ['DAY', 'Europe/Berlin', '2025-03-29T23:00:00Z', '2025-03-30T22:00:00Z'], // a day of 23
    ['DAY', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', '2018-11-04T03:00:00Z'], // 4 November begins at 01:00
    ['DAY', 'Asia/Kolkata', '2025-06-01T18:29:59.999Z', '2025-06-01T18:30:00Z'],
    ['DAY', 'Pacific/Apia', '2011-12-30T00:00:00Z', '2011-12-30T10:00:00Z'], // 31 December follows 29 December
    ['DAY', 'Pacific/Kiritimati', '2025-01-01T09:59:59Z', '2025-01-01T10:00:00Z'],
    ['WEEK', 'UTC', '2025-06-01T00:00:00Z', '2025-06-02T00:00:00Z'], // a Sunday
    ['WEEK', 'UTC', '2025-06-02T00:00:00Z', '2025-06-09T00:00:00Z'], // a Monday
    ['WEEK', 'UTC', '2024-12-31T00:00:00Z', '2025-01-06T00:00:00Z'], // week 1 of the next year
    ['WEEK', 'Pacific/Apia', '2011-12-28T00:00:00Z', '2012-01-01T10:00:00Z'],
    ['MONTH', 'UTC', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['MONTH', 'Europe/Berlin', '2025-03-31T21:59:59.999Z', '2025-03-31T22:00:00Z'],
    ['MONTH', 'Pacific/Kiritimati', '2025-01-31T09:59:59.999Z', '2025-01-31T10:00:00Z'],
    ['MONTH', 'Pacific/Kiritimati', '1994-12-30T12:00:00Z', '1994-12-31T10:00:00Z'], // a month without its last day
    ['MONTH', 'America/Sao_Paulo', '2018-11-01T03:00:00Z', '2018-12-01T02:00:00Z'],
  ])('(%s in %s at %s) is %s', (window, zone, at, end) => {
    expect(new Date(windowEndMs({ window, zone }, Date.parse(at))).toISOString()).toBe(new Date(end).toISOString());
  });
});
