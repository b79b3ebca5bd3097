import fc from 'fast-check';
import {
  dayAt,
  dayEndMs,
  endOfDayMs,
  isTimeZone,
  localDate,
  nextDate,
  withZone,
  type ZoneHistory,
  zoneAt,
} from '../../../src/orgs/calendar.js';

const hourMs = 3_600_000;
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const zone = fc.constantFrom(...zones);
const between = (from: string, to: string) => fc.integer({ min: Date.parse(from), max: Date.parse(to) });
const at = (text: string) => Date.parse(text);

describe('isTimeZone', () => {
  it.each([
    'UTC',
    'Etc/UTC',
    'GMT',
    'US/Eastern',
    'America/New_York',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+12',
    'Europe/Kyiv',
    'Asia/Kolkata',
  ])('accepts %s', (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  it.each([
    '',
    ' ',
    '+05:30',
    '-08:00',
    '+0530',
    '05:30',
    'UTC+1',
    'Mars/Olympus',
    'America/New_York\n',
    ' UTC',
    'UTC ',
    'UTC\u0000',
    'America',
    'null',
    '../etc/passwd',
  ])('rejects %j', (name) => {
    expect(isTimeZone(name)).toBe(false);
  });

  it('accepts every IANA time zone, and never throws', () => {
    expect(zones.filter((name) => !isTimeZone(name))).toEqual([]);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (junk) => typeof isTimeZone(junk) === 'boolean'));
  });
});

describe('localDate', () => {
  it.each([
    ['UTC', '2026-01-01T00:00:00Z', '2026-01-01'],
    ['UTC', '2025-12-31T23:59:59.999Z', '2025-12-31'],
    ['Pacific/Kiritimati', '2025-12-31T10:00:00Z', '2026-01-01'],
    ['Etc/GMT+12', '2026-01-01T11:59:59.999Z', '2025-12-31'],
    ['Asia/Kathmandu', '2026-05-04T18:15:00Z', '2026-05-05'],
    ['America/New_York', '2026-03-08T04:59:59Z', '2026-03-07'],
    ['Asia/Tokyo', '2024-02-28T15:00:00Z', '2024-02-29'],
  ])('in %s at %s is %s', (name, instant, date) => {
    expect(localDate(name, at(instant))).toBe(date);
  });

  it('is a date that sorts as text and differs from the UTC date by at most a day', () => {
    fc.assert(
      fc.property(zone, between('1990-01-01', '2040-12-31'), (name, ms) => {
        const date = localDate(name, ms);
        expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
        return Math.abs(Date.parse(date) - Date.parse(localDate('UTC', ms))) <= 24 * hourMs;
      }),
    );
  });
});

describe('dayEndMs', () => {
  function expectDayEnd(name: string, ms: number): number {
    const day = localDate(name, ms);
    const end = dayEndMs(name, ms);
    expect(end).toBeGreaterThan(ms);
    expect(end - ms).toBeLessThanOrEqual(50 * hourMs);
    expect(localDate(name, end - 1)).toBe(day);
    expect(localDate(name, end)).not.toBe(day);
    return end;
  }

  it('is the first instant of another date, in every time zone', () => {
    fc.assert(
      fc.property(between('1990-01-01', '2040-12-31'), (ms) => {
        for (const name of zones) expectDayEnd(name, ms);
      }),
      { numRuns: 5 },
    );
  });

  it('has no instant of another date before it, and is the same from every instant of its day', () => {
    fc.assert(
      fc.property(zone, between('2012-01-01', '2040-12-31'), (name, ms) => {
        const end = expectDayEnd(name, ms);
        const day = localDate(name, ms);
        for (let atMs = ms; atMs < end; atMs += hourMs / 4) expect(localDate(name, atMs)).toBe(day);
        expect(dayEndMs(name, Math.floor((ms + end) / 2))).toBe(end);
        expect(dayEndMs(name, end - 1)).toBe(end);
      }),
    );
  });

  it.each([
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z'],
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z'],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z'],
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00Z'],
    ['Atlantic/Azores', '2026-03-29', '2026-03-29T01:00:00Z'],
  ])('in %s, %s starts at 01:00 and lasts 23 hours', (name, day, start) => {
    const startMs = at(start);
    expect(dayEndMs(name, startMs - 12 * hourMs)).toBe(startMs);
    expect(localDate(name, startMs)).toBe(day);
    expect(new Intl.DateTimeFormat('en-GB', { timeZone: name, timeStyle: 'short' }).format(startMs)).toBe('01:00');
    expect(dayEndMs(name, startMs)).toBe(startMs + 23 * hourMs);
  });

  it.each([
    ['America/New_York', '2026-03-08T05:00:00Z', 23],
    ['America/New_York', '2026-11-01T04:00:00Z', 25],
    ['Australia/Lord_Howe', '2026-04-04T13:00:00Z', 24.5],
    ['Europe/Berlin', '2026-10-24T22:00:00Z', 25],
    ['UTC', '2026-06-30T00:00:00Z', 24],
  ])('the day of %s that begins at %s lasts %p hours', (name, start, hours) => {
    expect(localDate(name, at(start) - 1)).not.toBe(localDate(name, at(start)));
    expect(dayEndMs(name, at(start))).toBe(at(start) + hours * hourMs);
  });

  it('continues with the date after the one that Samoa skipped', () => {
    const end = dayEndMs('Pacific/Apia', at('2011-12-29T20:00:00Z'));
    expect([localDate('Pacific/Apia', end - 1), localDate('Pacific/Apia', end)]).toEqual(['2011-12-29', '2011-12-31']);
  });
});

describe('nextDate', () => {
  it.each([
    ['2026-01-31', '2026-02-01'],
    ['2024-02-28', '2024-02-29'],
    ['2026-02-28', '2026-03-01'],
    ['2025-12-31', '2026-01-01'],
  ])('after %s is %s', (day, next) => {
    expect(nextDate(day)).toBe(next);
  });
});

describe('zoneAt', () => {
  it('is the zone of the last period that has begun, and the first zone for any time before', () => {
    const history: ZoneHistory = [
      { zone: 'A', fromMs: 100 },
      { zone: 'B', fromMs: 200 },
      { zone: 'C', fromMs: 300 },
    ];
    expect([0, 100, 199, 200, 299, 300, 9999].map((ms) => zoneAt(history, ms))).toEqual([
      'A',
      'A',
      'A',
      'B',
      'B',
      'C',
      'C',
    ]);
  });
});

describe('withZone', () => {
  const from = (name: string): ZoneHistory => [{ zone: name, fromMs: 0 }];

  interface Change {
    readonly zone: string;
    readonly afterMs: number;
  }

  /**
   * Walks in steps of 15 minutes through all changes and four days beyond. Returns each date and how long it lasted.
   */
  function walk(
    first: string,
    startMs: number,
    changes: readonly Change[],
  ): { readonly date: string; readonly hours: number }[] {
    let history = from(first);
    const pending = [...changes];
    let nextMs = startMs + (pending[0]?.afterMs ?? 0);
    const endMs = startMs + changes.reduce((sum, { afterMs }) => sum + afterMs, 0) + 96 * hourMs;
    const dates: { date: string; hours: number }[] = [];
    for (let ms = startMs; ms < endMs; ms += hourMs / 4) {
      while (pending.length > 0 && nextMs <= ms) {
        const before = history;
        history = withZone(history, (pending.shift() as Change).zone, ms);
        // A cost may be backdated by a day, so no change may move the dates of the past.
        for (const backMs of [0, 12 * hourMs, 24 * hourMs])
          expect(dayAt(history, ms - backMs)).toBe(dayAt(before, ms - backMs));
        nextMs += pending[0]?.afterMs ?? 0;
      }
      const date = dayAt(history, ms);
      const last = dates.at(-1);
      if (last?.date === date) last.hours += 0.25;
      else dates.push({ date, hours: 0.25 });
    }
    return dates;
  }

  function expectValidDays(days: readonly { readonly date: string; readonly hours: number }[]): void {
    const dates = days.map(({ date }) => date);
    expect(dates).toEqual([...new Set(dates)].sort());
    for (const { hours } of days) expect(hours).toBeLessThan(48);
  }

  // Zones from UTC-10 to UTC+12. Any two of them are less than a day apart, also in summer.
  const near = zones.filter((name) => {
    const offsets = ['2026-01-01T12:00Z', '2026-07-01T12:00Z'].map((noon) => {
      const parts = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' }).formatToParts(
        at(noon),
      );
      const [, sign, hours] =
        /GMT(?:([+-])(\d\d):(\d\d))?/.exec(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '') ?? [];
      return sign ? Number(`${sign}${hours}`) : 0;
    });
    return offsets.every((offset) => offset >= -10 && offset <= 12);
  });
  const nearZone = fc.constantFrom(...near);

  it('repeats no date and lets none last two days, whatever the changes and their times', () => {
    const changes = fc.array(fc.record({ zone: nearZone, afterMs: fc.integer({ min: 0, max: 40 * hourMs }) }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(nearZone, between('2024-01-01', '2036-01-01'), changes, (first, startMs, plan) => {
        expectValidDays(walk(first, startMs - (startMs % (hourMs / 4)), plan));
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['Pacific/Kiritimati', 'Pacific/Pago_Pago'],
    ['Pacific/Kiritimati', 'Etc/GMT+12'],
    ['Pacific/Chatham', 'Pacific/Niue'],
    ['Pacific/Tongatapu', 'Etc/GMT+12'],
  ])('repeats no date from %s to %s, which are more than a day apart', (first, second) => {
    for (let hour = 0; hour < 24; hour++) {
      const dates = walk(first, at('2026-01-15T00:00:00Z') + hour * hourMs, [{ zone: second, afterMs: 0 }]).map(
        ({ date }) => date,
      );
      expect(dates).toEqual([...new Set(dates)].sort());
    }
  });

  it('changes from New York to Tokyo at the end of the day in New York', () => {
    const nowMs = at('2026-05-05T18:00:00Z');
    const history = withZone(from('America/New_York'), 'Asia/Tokyo', nowMs);
    expect(history).toEqual([
      { zone: 'America/New_York', fromMs: 0 },
      { zone: 'Asia/Tokyo', fromMs: at('2026-05-06T04:00:00Z') },
    ]);
    const dates = [
      '2026-05-06T03:59:59.999Z',
      '2026-05-06T04:00:00Z',
      '2026-05-06T14:59:59.999Z',
      '2026-05-06T15:00:00Z',
    ].map((ms) => dayAt(history, at(ms)));
    expect(dates).toEqual(['2026-05-05', '2026-05-06', '2026-05-06', '2026-05-07']);
  });

  it('changes from Tokyo to New York when New York has the date after the one of the change', () => {
    const nowMs = at('2026-05-05T03:00:00Z'); // noon of the 5th in Tokyo
    const history = withZone(from('Asia/Tokyo'), 'America/New_York', nowMs);
    expect(history[1]).toEqual({ zone: 'America/New_York', fromMs: at('2026-05-06T04:00:00Z') });
    const dates = [
      '2026-05-05T14:59:59.999Z',
      '2026-05-05T15:00:00Z',
      '2026-05-06T04:00:00Z',
      '2026-05-07T03:59:59.999Z',
      '2026-05-07T04:00:00Z',
    ];
    expect(dates.map((ms) => dayAt(history, at(ms)))).toEqual([
      '2026-05-05',
      '2026-05-06',
      '2026-05-06',
      '2026-05-06',
      '2026-05-07',
    ]);
  });

  it('replaces a change that is not in force yet', () => {
    const nowMs = at('2026-05-05T18:00:00Z');
    const history = withZone(withZone(from('UTC'), 'Asia/Tokyo', nowMs), 'Europe/Berlin', nowMs + hourMs);
    expect(history.map((period) => period.zone)).toEqual(['UTC', 'Europe/Berlin']);
  });

  it('drops a pending change when the zone in force is set again', () => {
    const nowMs = at('2026-05-05T18:00:00Z');
    fc.assert(
      fc.property(zone, zone, (first, second) => {
        expect(withZone(withZone(from(first), second, nowMs), first, nowMs + 1)).toEqual(from(first));
      }),
    );
  });

  it('changes nothing when the zone in force is set', () => {
    expect(withZone(from('UTC'), 'UTC', at('2026-05-05T18:00:00Z'))).toEqual(from('UTC'));
  });

  it('does not postpone a pending change that is repeated, however often', () => {
    const nowMs = at('2026-05-05T03:00:00Z');
    const pending = withZone(from('Asia/Tokyo'), 'America/New_York', nowMs);
    const effectiveMs = pending[1]?.fromMs as number;
    let history = pending;
    for (let ms = nowMs; ms < effectiveMs; ms += hourMs) {
      history = withZone(history, 'America/New_York', ms);
      expect(history).toEqual(pending);
    }
  });

  it('ends a day of an org at the first instant of a later one, also if the zone changes during the day', () => {
    fc.assert(
      fc.property(
        nearZone,
        nearZone,
        between('2024-01-01', '2036-01-01'),
        fc.integer({ min: 0, max: 72 }),
        (first, second, nowMs, hours) => {
          const history = withZone(from(first), second, nowMs);
          const atMs = nowMs + hours * hourMs;
          const day = dayAt(history, atMs);
          const end = endOfDayMs(history, day);
          expect(end).toBeGreaterThan(atMs);
          expect(dayAt(history, end - 1)).toBe(day);
          expect(dayAt(history, end) > day).toBe(true);
        },
      ),
    );
  });

  it('bounds the history over many changes, and keeps it long enough for a cost of yesterday', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(nearZone, fc.integer({ min: 1, max: 72 })), { minLength: 50, maxLength: 100 }),
        (changes) => {
          let history = from('UTC');
          let nowMs = at('2026-01-01T00:00:00Z');
          for (const [newZone, hours] of changes) {
            nowMs += hours * hourMs;
            const yesterday = zoneAt(history, nowMs - 24 * hourMs);
            history = withZone(history, newZone, nowMs);
            expect(history.length).toBeLessThanOrEqual(7);
            expect(zoneAt(history, nowMs - 24 * hourMs)).toBe(yesterday);
            expect(history.map(({ fromMs }) => fromMs)).toEqual(
              history.map(({ fromMs }) => fromMs).sort((a, b) => a - b),
            );
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});
