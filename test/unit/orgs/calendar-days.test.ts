import { jest } from '@jest/globals';
import fc from 'fast-check';
import { dayAt, dayEndMs, endOfDayMs, localDate, withZone, type ZoneHistory } from '../../../src/orgs/calendar.js';

const hourMs = 3_600_000;
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const zone = fc.constantFrom(...zones);
const between = (from: string, to: string) => fc.integer({ min: Date.parse(from), max: Date.parse(to) });
const at = (text: string) => Date.parse(text);
const always = (name: string): ZoneHistory => [{ zone: name, fromMs: 0 }];

/** Walks from day to day by their ends, and expects each day to begin where the last one ended. Returns the days. */
function walk(history: ZoneHistory, fromMs: number, days: number): string[] {
  const visited: string[] = [];
  let ms = fromMs;
  for (let i = 0; i < days; i++) {
    const day = dayAt(history, ms);
    const end = endOfDayMs(history, day);
    const [before, after] = [dayAt(history, end - 1), dayAt(history, end)];
    if (!(end > ms && before === day && after > day)) {
      throw new Error(
        `${JSON.stringify(history)}: ${day} at ${new Date(ms).toISOString()} ends at ${new Date(end).toISOString()}, ` +
          `between ${before} and ${after}`,
      );
    }
    visited.push(day);
    ms = end;
  }
  return visited;
}

/** Samples the day of an org, and returns the first instant at which it goes back. */
function stepBack(history: ZoneHistory, fromMs: number, toMs: number, stepMs: number): string | undefined {
  let last = '';
  for (let ms = fromMs; ms <= toMs; ms += stepMs) {
    const day = dayAt(history, ms);
    if (day < last) return `${JSON.stringify(history)}: ${last}, then ${day} at ${new Date(ms).toISOString()}`;
    last = day;
  }
  return undefined;
}

// Every zone whose clocks were set back over a past midnight from 1990 to 2040, with the last time.
const steppedBack = [
  ['America/St_Johns', '2010-11-07T02:31:00Z', '2010-11-06'],
  ['America/Goose_Bay', '2010-11-07T03:01:00Z', '2010-11-06'],
  ['America/Moncton', '2006-10-29T03:01:00Z', '2006-10-28'],
  ['Antarctica/Casey', '2010-03-04T15:00:00Z', '2010-03-04'],
] as const;
const steady = zones.filter((name) => !steppedBack.some(([stepped]) => stepped === name));

describe('the days of an org', () => {
  it('follow each other without gap or overlap in every zone', () => {
    fc.assert(
      fc.property(between('1990-01-01', '2040-12-31'), (ms) => {
        for (const name of steady) {
          const days = walk(always(name), ms, 10);
          expect(days).toEqual([...new Set(days)].sort());
        }
      }),
      { numRuns: 1 },
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...steady),
        between('1990-01-01', '2040-12-31'),
        (name, ms) => walk(always(name), ms, 10).length === 10,
      ),
      { numRuns: 120 },
    );
  });

  it('follow each other in zones whose clocks were once set back over midnight', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...steppedBack.map(([name]) => name)),
        between('2010-11-09', '2040-12-31'),
        (name, ms) => {
          walk(always(name), ms, 10);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('never go back when clocks are set back, in every zone', () => {
    // Most zones set their clocks back in these weeks.
    const autumn = fc.constantFrom('-03-01', '-04-01', '-09-20', '-10-01', '-10-20', '-11-01');
    fc.assert(
      fc.property(zone, fc.integer({ min: 2012, max: 2040 }), autumn, (name, year, week) => {
        const fromMs = at(`${year}${week}T00:00:00Z`);
        expect(stepBack(always(name), fromMs, fromMs + 14 * 24 * hourMs, hourMs / 2)).toBeUndefined();
      }),
      { numRuns: 120 },
    );
  });

  it.each(steppedBack)('do not go back in %s, whose clocks were set back at %s to %s', (name, instant, old) => {
    const history = always(name);
    const stepMs = at(instant);
    // The test proves nothing if the clocks did not go back here.
    const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short' });
    expect(clock.format(stepMs - 1) > clock.format(stepMs)).toBe(true);
    expect(clock.format(stepMs)).toBe(old);
    expect(stepBack(history, stepMs - 24 * hourMs, stepMs + 24 * hourMs, 60_000)).toBeUndefined();
  });

  it.each(steppedBack)('follow each other in %s around %s', (name, instant) => {
    for (let minutes = -48 * 60; minutes <= 6 * 60; minutes += 30)
      walk(always(name), at(instant) + minutes * 60_000, 3);
  });

  it.each([
    ['Africa/Cairo', '2026-04-23', '2026-04-24', '2026-04-23T22:00:00Z'],
    ['America/Havana', '2026-03-07', '2026-03-08', '2026-03-08T05:00:00Z'],
    ['America/Santiago', '2026-09-05', '2026-09-06', '2026-09-06T04:00:00Z'],
    ['Asia/Beirut', '2026-03-28', '2026-03-29', '2026-03-28T22:00:00Z'],
    ['Atlantic/Azores', '2026-03-28', '2026-03-29', '2026-03-29T01:00:00Z'],
  ])('change in %s from %s to %s at 01:00', (name, eve, day, start) => {
    const history = always(name);
    const startMs = at(start);
    expect(new Intl.DateTimeFormat('en-GB', { timeZone: name, timeStyle: 'short' }).format(startMs)).toBe('01:00');
    expect(endOfDayMs(history, eve)).toBe(startMs);
    expect([dayAt(history, startMs - 1), dayAt(history, startMs)]).toEqual([eve, day]);
    expect(endOfDayMs(history, day)).toBe(startMs + 23 * hourMs);
    expect(dayAt(history, startMs + 23 * hourMs - 1)).toBe(day);
  });

  it.each([
    ['Pacific/Apia', '2011-12-29', '2011-12-30', '2011-12-31', '2011-12-30T10:00:00Z'],
    ['Pacific/Kwajalein', '1993-08-20', '1993-08-21', '1993-08-22', '1993-08-21T12:00:00Z'],
  ])('change in %s from %s, without %s, to %s', (name, eve, missing, next, start) => {
    const history = always(name);
    expect(walk(history, at(start) - hourMs, 2)).toEqual([eve, next]);
    expect([endOfDayMs(history, eve), endOfDayMs(history, missing)]).toEqual([at(start), at(start)]);
  });
});

describe('the end of a day of an org', () => {
  /** The first instant that passes a test which stays passed from then on, by binary search. */
  function search(fromMs: number, toMs: number, passes: (ms: number) => boolean): number {
    let [before, after] = [fromMs, toMs];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (passes(middle)) after = middle;
      else before = middle;
    }
    return after;
  }

  const searchedEnd = (name: string, day: string) =>
    search(at(day) - 16 * hourMs, at(day) + 76 * hourMs, (ms) => localDate(name, ms) > day);
  const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

  /** The days around each change of the offset of a zone. */
  function daysOfChange(name: string, from: string, to: string): string[] {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    const offset = (ms: number) => format.format(ms).split('GMT')[1];
    const stepMs = 20 * 24 * hourMs;
    const days: string[] = [];
    for (let ms = at(from); ms < at(to); ms += stepMs) {
      if (offset(ms) === offset(ms + stepMs)) continue;
      const changeMs = search(ms, ms + stepMs, (instant) => offset(instant) !== offset(ms));
      days.push(...[-2, -1, 0, 1].map((days) => dateOf(changeMs + days * 24 * hourMs)));
    }
    return days;
  }

  it('equals the result of a search in every zone, on every day with a change of the clocks and around it', () => {
    const wrong: string[] = [];
    for (const name of zones) {
      for (const day of daysOfChange(name, '2024-01-01', '2027-01-01'))
        if (endOfDayMs(always(name), day) !== searchedEnd(name, day)) wrong.push(`${name} ${day}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ...steppedBack.map(([name, instant]) => [name, instant.slice(0, 10)]),
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Kwajalein', '1993-08-21'],
  ])('equals the result of a search in %s around %s', (name, day) => {
    for (const days of [-2, -1, 0, 1, 2]) {
      const odd = dateOf(at(day) + days * 24 * hourMs);
      expect([odd, endOfDayMs(always(name), odd)]).toEqual([odd, searchedEnd(name, odd)]);
    }
  });

  it('equals the result of a search on any day in any zone', () => {
    fc.assert(
      fc.property(
        zone,
        between('1990-01-01', '2040-12-31'),
        (name, ms) => endOfDayMs(always(name), dateOf(ms)) === searchedEnd(name, dateOf(ms)),
      ),
      { numRuns: 200 },
    );
  });

  it('needs three offsets of its zone, and none if it is cached', () => {
    const formatting = jest.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    try {
      const history = always('Europe/Lisbon');
      for (let i = 0; i < 366; i++) endOfDayMs(history, dateOf(at('1991-06-01') + i * 24 * hourMs));
      expect(formatting.mock.calls.length).toBeLessThanOrEqual(366 * 3 + 4);
      formatting.mockClear();
      for (let i = 0; i < 366; i++) endOfDayMs(always('Europe/Lisbon'), dateOf(at('1991-06-01') + i * 24 * hourMs));
      expect(formatting).not.toHaveBeenCalled();
    } finally {
      formatting.mockRestore();
    }
  });
});

describe('the days of an org that changes its zone', () => {
  // Some of these are more than 24 hours apart, so they never have the same date.
  const far = fc.constantFrom(
    'Pacific/Kiritimati',
    'Pacific/Tongatapu',
    'Pacific/Chatham',
    'Pacific/Pago_Pago',
    'Pacific/Niue',
    'Etc/GMT+12',
  );
  const anyZone = fc.oneof({ weight: 2, arbitrary: zone }, { weight: 1, arbitrary: far });

  it('never go back and are never interrupted, from any zone to any other', () => {
    fc.assert(
      fc.property(anyZone, anyZone, between('2020-01-01', '2030-12-31'), (first, second, nowMs) => {
        const history = withZone(always(first), second, nowMs);
        const days = walk(history, nowMs - 48 * hourMs, 9);
        expect(days).toEqual([...new Set(days)].sort());
        expect(stepBack(history, nowMs - 48 * hourMs, nowMs + 120 * hourMs, hourMs / 2)).toBeUndefined();
      }),
      { numRuns: 120 },
    );
  });

  it('stay unchanged until the current day has ended, and follow the new zone within four days', () => {
    fc.assert(
      fc.property(anyZone, anyZone, between('2020-01-01', '2030-12-31'), (first, second, nowMs) => {
        fc.pre(first !== second);
        const history = withZone(always(first), second, nowMs);
        const [, change] = history;
        expect(change?.fromMs).toBeGreaterThanOrEqual(dayEndMs(first, nowMs));
        expect(dayAt(history, (change?.fromMs as number) - 1)).toBe(localDate(first, (change?.fromMs as number) - 1));
        expect(history.at(-1)?.zone).toBe(second);
        expect(history.at(-1)?.fromMs).toBeLessThanOrEqual(nowMs + 96 * hourMs);
        for (let hours = 96; hours < 144; hours += 5)
          expect(dayAt(history, nowMs + hours * hourMs)).toBe(localDate(second, nowMs + hours * hourMs));
      }),
      { numRuns: 120 },
    );
  });

  it('never go back, and past days never change, however often the zone is changed', () => {
    const change = fc.record({ zone: anyZone, afterMs: fc.integer({ min: 0, max: 60 * hourMs }) });
    fc.assert(
      fc.property(
        anyZone,
        between('2020-01-01', '2030-12-31'),
        fc.array(change, { minLength: 2, maxLength: 6 }),
        (first, startMs, changes) => {
          let history = always(first);
          let nowMs = startMs;
          let last = '';
          const live = (untilMs: number) => {
            for (; nowMs < untilMs; nowMs = Math.min(untilMs, nowMs + hourMs / 2)) {
              const day = dayAt(history, nowMs);
              if (day < last)
                throw new Error(`${last}, then ${day} at ${new Date(nowMs).toISOString()}: ${JSON.stringify(history)}`);
              last = day;
            }
          };
          for (const { zone: newZone, afterMs } of changes) {
            live(nowMs + afterMs);
            const past = [0, 1, 6, 12, 18, 24].map((hours) => nowMs - hours * hourMs);
            const before = past.map((ms) => dayAt(history, ms));
            history = withZone(history, newZone, nowMs);
            expect(past.map((ms) => dayAt(history, ms))).toEqual(before);
          }
          live(nowMs + 120 * hourMs);
          walk(history, nowMs - 120 * hourMs - 24 * hourMs, 6);
        },
      ),
      { numRuns: 120 },
    );
  });

  it.each([
    ['a zone behind', 'Africa/Cairo', 'America/New_York', '2026-04-23T12:00:00Z', '2026-04-24T04:00:00Z'],
    ['a zone ahead', 'America/Havana', 'Asia/Tokyo', '2026-03-07T17:00:00Z', '2026-03-08T05:00:00Z'],
    [
      'a zone behind, whose day begins late',
      'Asia/Tokyo',
      'Atlantic/Azores',
      '2026-03-28T03:00:00Z',
      '2026-03-29T01:00:00Z',
    ],
  ])('change to %s (%s to %s, set at %s) at %s', (_, first, second, setAt, effective) => {
    const history = withZone(always(first), second, at(setAt));
    expect(history[1]).toEqual({ zone: second, fromMs: at(effective) });
    walk(history, at(setAt), 5);
  });

  it('change one day later if other gateways could not see the change in time', () => {
    const midnightMs = at('2026-06-02T00:00:00Z');
    const effectiveMs = (nowMs: number) => withZone(always('UTC'), 'Africa/Abidjan', nowMs)[1]?.fromMs;
    expect(effectiveMs(midnightMs - 60_000)).toBe(midnightMs);
    expect(effectiveMs(midnightMs - 2_000)).toBe(midnightMs + 24 * hourMs);
  });
});
