import fc from 'fast-check';
import type { ZoneHistory } from '../../../src/orgs/calendar.js';
import { type Forecast, type ForecastInput, forecast, type HourCost } from '../../../src/spend/budgets/forecast.js';
import { localHours } from '../../../src/spend/budgets/local-hours.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const zoneOf = (zone: string): ZoneHistory => [{ zone, fromMs: 0 }];
const at = (iso: string): number => Date.parse(`${iso}Z`);
/** A Wednesday, so that the last 28 days end with a Tuesday. */
const today = at('2026-03-18T00:00');

/** Hourly costs from one instant to another. */
const series = (fromMs: number, toMs: number, costOf: (startMs: number, hour: number) => number): HourCost[] =>
  Array.from({ length: Math.ceil((toMs - fromMs) / hourMs) }, (_, i) => {
    const startMs = fromMs + i * hourMs;
    return { startMs, costUsdMicros: costOf(startMs, new Date(startMs).getUTCHours()) };
  });
/** The same cost in each hour of the last 28 days. */
const flat = (costUsdMicros: number) => series(today - 28 * dayMs, today, () => costUsdMicros);

const inputOf = (nowMs: number, hours: readonly HourCost[], more: Partial<ForecastInput> = {}): ForecastInput => ({
  nowMs,
  periodStartMs: today,
  periodEndMs: today + dayMs,
  spentUsdMicros: 0,
  hours,
  localHourAt: localHours(zoneOf('UTC')),
  ...more,
});
const known = (input: ForecastInput): Forecast => {
  const found = forecast(input);
  if (!found) throw new Error('no forecast');
  return found;
};

describe('a forecast needs three hours of data', () => {
  const nowMs = today + 12 * hourMs;
  it.each<[string, HourCost[], boolean]>([
    ['no hours', [], false],
    ['only hours without a cost', series(today, nowMs, () => 0), false],
    ['a first cost two hours ago', series(today, nowMs, (_, hour) => (hour < 10 ? 0 : 5)), false],
    ['a first cost three hours ago', series(today, nowMs, (_, hour) => (hour < 9 ? 0 : 5)), true],
    ['a single cost three hours ago', [{ startMs: nowMs - 3 * hourMs, costUsdMicros: 1 }], true],
    ['only costs of the future', series(nowMs, nowMs + dayMs, () => 5), false],
    ['only costs before the last 28 days', series(today - 40 * dayMs, today - 29 * dayMs, () => 5), false],
  ])('%s', (_what, hours, isEnough) => {
    expect(forecast(inputOf(nowMs, hours)) !== null).toBe(isEnough);
  });

  it('to the millisecond', () => {
    const hours = [{ startMs: today, costUsdMicros: 7 }];
    expect(forecast(inputOf(today + 3 * hourMs - 1, hours))).toBeNull();
    expect(forecast(inputOf(today + 3 * hourMs, hours))).not.toBeNull();
  });
});

describe('the burn rate', () => {
  it.each([
    ['10:00', 800],
    ['10:15', 200 + 600],
    ['10:45', 200 + 200],
    ['10:59', 200 + 13],
    ['11:00', 200],
    ['11:30', 100],
    ['12:00', 0],
  ])('at %s is the cost of the last 60 minutes: %p', (time, burn) => {
    const hours = [
      { startMs: today + 5 * hourMs, costUsdMicros: 9999 },
      { startMs: today + 9 * hourMs, costUsdMicros: 800 },
      { startMs: today + 10 * hourMs, costUsdMicros: 200 },
    ];
    expect(known(inputOf(at(`2026-03-18T${time}`), hours)).burnUsdMicrosPerHour).toBe(burn);
  });
});

describe('the projection', () => {
  const tenOClock = today + 10 * hourMs;

  it('adds the usual cost of the remaining hours', () => {
    const hours = [...flat(100), ...series(today, tenOClock, () => 100)];
    expect(known(inputOf(tenOClock, hours, { spentUsdMicros: 1000 }))).toEqual({
      burnUsdMicrosPerHour: 100,
      projectedUsdMicros: 2400,
      basis: 'spent so far, plus 14 hours as the same hour of the same weekday in the last 4 weeks',
    });
  });

  it('takes only the remaining part of the current hour', () => {
    const nowMs = tenOClock + 15 * 60_000;
    const hours = [...flat(100), ...series(today, tenOClock, () => 100), { startMs: tenOClock, costUsdMicros: 25 }];
    expect(known(inputOf(nowMs, hours, { spentUsdMicros: 1025 })).projectedUsdMicros).toBe(1025 + 75 + 1300);
  });

  it.each([
    ['twice the usual', 200, 200n, '; scaled to 200%, as today so far'],
    ['half of the usual', 50, 50n, '; scaled to 50%, as today so far'],
    ['the usual', 100, 100n, ''],
    ['a hundred times the usual, up to a factor of 10', 10_000, 1000n, '; scaled to 1000%, as today so far'],
    ['nothing, down to a factor of 0.1', 0, 10n, '; scaled to 10%, as today so far'],
  ])('is scaled by today: %s', (_what, cost, perHour, text) => {
    const hours = [...flat(100), ...series(today, tenOClock, () => cost)];
    const { projectedUsdMicros, basis } = known(inputOf(tenOClock, hours));
    expect(projectedUsdMicros).toBe(Number(14n * perHour));
    expect(basis).toBe(`spent so far, plus 14 hours as the same hour of the same weekday in the last 4 weeks${text}`);
  });

  it.each<[string, number, HourCost[]]>([
    [
      'before an hour of the day has passed',
      today + hourMs - 1,
      [...flat(100), { startMs: today, costUsdMicros: 9000 }],
    ],
    [
      'if the usual cost until now is 0',
      today + 6 * hourMs,
      [
        ...series(today - 28 * dayMs, today, (_, hour) => (hour < 6 ? 0 : 100)),
        { startMs: today, costUsdMicros: 9000 },
      ],
    ],
  ])('is not scaled %s', (_what, nowMs, hours) => {
    const { basis } = known(inputOf(nowMs, hours));
    expect(basis).not.toContain('scaled');
  });

  it('follows the weekdays of a longer period', () => {
    // Weekdays cost 100 per hour from 9 to 17, weekends nothing. Wednesday 12:00 until Monday 0:00.
    const office = (startMs: number, hour: number) =>
      [0, 6].includes(new Date(startMs).getUTCDay()) || hour < 9 || hour >= 17 ? 0 : 100;
    const nowMs = today + 12 * hourMs;
    const hours = series(today - 28 * dayMs, nowMs, office);
    const period = { periodStartMs: today - 2 * dayMs, periodEndMs: today + 5 * dayMs, spentUsdMicros: 1900 };
    expect(known(inputOf(nowMs, hours, period))).toMatchObject({
      burnUsdMicrosPerHour: 100,
      projectedUsdMicros: 1900 + 500 + 800 + 800,
      basis: 'spent so far, plus 108 hours as the same hour of the same weekday in the last 4 weeks',
    });
  });

  it('takes the mean of the last four weeks, and hours without a cost as 0', () => {
    // Four Wednesdays of 100, 200, 300 and nothing at 20:00, and one five weeks ago.
    const hours = [28, 21, 14].map((days, i) => ({
      startMs: today - days * dayMs + 20 * hourMs,
      costUsdMicros: 100 * (i + 1),
    }));
    const old = { startMs: today - 35 * dayMs + 20 * hourMs, costUsdMicros: 100_000 };
    expect(known(inputOf(tenOClock, [old, ...hours])).projectedUsdMicros).toBe(150);
  });

  it('takes the same hour of other days if the weekday is not known yet', () => {
    const hours = series(today - 2 * dayMs, tenOClock, (startMs) => (startMs < today - dayMs ? 100 : 300));
    const { projectedUsdMicros, basis } = known(inputOf(tenOClock, hours));
    // The mean is 200. Today is at 300, and so the remaining 14 hours are scaled to 150%.
    expect([projectedUsdMicros, basis]).toEqual([
      14 * 300,
      'spent so far, plus 14 hours as the same hour of other days; scaled to 150%, as today so far',
    ]);
  });

  it('takes the last 60 minutes, not scaled, if no earlier day is known', () => {
    const hours = series(today + 6 * hourMs, tenOClock, (_, hour) => 100 * hour);
    expect(known(inputOf(tenOClock, hours, { spentUsdMicros: 3000 }))).toEqual({
      burnUsdMicrosPerHour: 900,
      projectedUsdMicros: 3000 + 14 * 900,
      basis: 'spent so far, plus 14 hours as the last 60 minutes',
    });
  });

  it('names every source that it has used', () => {
    // Known since Tuesday 20:00, so that only the last hours of a day are known.
    const hours = series(today - 4 * hourMs, tenOClock, () => 100);
    expect(known(inputOf(tenOClock, hours)).basis).toBe(
      'spent so far, plus 4 hours as the same hour of other days, 10 hours as the last 60 minutes',
    );
    expect(known(inputOf(tenOClock, hours, { periodEndMs: tenOClock + 1 })).basis).toBe(
      'spent so far, plus 1 hour as the last 60 minutes',
    );
  });

  it('is what was spent once the period is over', () => {
    const period = { periodStartMs: today - dayMs, periodEndMs: today, spentUsdMicros: 77, boundUsdMicros: 70 };
    expect(known(inputOf(today, flat(100), period))).toEqual({
      burnUsdMicrosPerHour: 100,
      projectedUsdMicros: 77,
      basis: 'spent so far; the period is over',
    });
  });

  it('is exact above 2^53 and ends at the largest exact number', () => {
    const cost = 10 ** 15 + 1;
    const hours = [...flat(cost), ...series(today, tenOClock, () => cost)];
    const until = (hour: number) => known(inputOf(tenOClock, hours, { periodEndMs: today + hour * hourMs }));
    expect(until(18).projectedUsdMicros).toBe(8 * cost);
    expect(until(24).projectedUsdMicros).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('exhaustsAt', () => {
  const nowMs = today + 10 * hourMs;
  const hours = [...flat(100), ...series(today, nowMs, () => 100)];
  it.each<[string, number | undefined, string | undefined]>([
    ['no bound', undefined, undefined],
    ['a bound within the current hour', 1050, '2026-03-18T10:30:00.000Z'],
    ['a bound at the end of an hour', 1300, '2026-03-18T13:00:00.000Z'],
    ['a bound in a later hour', 1325, '2026-03-18T13:15:00.000Z'],
    ['a bound that is reached at the end of the period', 2400, '2026-03-18T23:59:59.999Z'],
    ['a bound that is not reached', 2401, undefined],
    ['a bound that is reached now', 1000, '2026-03-18T10:00:00.000Z'],
    ['a bound that was passed', 10, '2026-03-18T10:00:00.000Z'],
    ['a bound of 0', 0, '2026-03-18T10:00:00.000Z'],
  ])('%s', (_what, boundUsdMicros, expected) => {
    const bound = boundUsdMicros === undefined ? {} : { boundUsdMicros };
    const { exhaustsAt } = known(inputOf(nowMs, hours, { spentUsdMicros: 1000, ...bound }));
    expect(exhaustsAt?.toISOString()).toBe(expected);
  });

  it('skips hours without a usual cost', () => {
    const nightly = series(today - 28 * dayMs, nowMs, (_, hour) => (hour === 22 || hour < 2 ? 100 : 0));
    expect(known(inputOf(nowMs, nightly, { boundUsdMicros: 1 })).exhaustsAt?.toISOString()).toBe(
      '2026-03-18T22:00:36.000Z',
    );
  });
});

describe('every forecast', () => {
  const micros = fc.integer({ min: 0, max: 10 ** 12 });
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe');
  const inputs = fc
    .record({
      nowMs: fc.integer({ min: at('2026-03-01T00:00'), max: at('2026-11-30T00:00') }),
      periodDays: fc.constantFrom(1, 7, 31),
      sinceHours: fc.integer({ min: 0, max: 31 * 24 }),
      spentUsdMicros: micros,
      boundUsdMicros: micros,
      zone,
      hours: fc.array(fc.record({ hoursAgo: fc.integer({ min: -5, max: 30 * 24 }), costUsdMicros: micros }), {
        minLength: 1,
        maxLength: 60,
      }),
    })
    .map(({ nowMs, periodDays, sinceHours, zone: name, hours, ...amounts }): ForecastInput => {
      const localHourAt = localHours(zoneOf(name));
      const periodStartMs = nowMs - Math.min(sinceHours, periodDays * 24) * hourMs;
      return {
        ...amounts,
        nowMs,
        periodStartMs,
        periodEndMs: periodStartMs + periodDays * dayMs,
        hours: hours.map(({ hoursAgo, costUsdMicros }) => ({
          startMs: localHourAt(nowMs - hoursAgo * hourMs).startMs,
          costUsdMicros,
        })),
        localHourAt,
      };
    });

  it('has whole numbers, projects at least what was spent, and exhausts only a bound that it projects to', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { nowMs, periodEndMs, spentUsdMicros, boundUsdMicros = 0 } = input;
        const found = forecast(input);
        if (!found) return;
        const { burnUsdMicrosPerHour, projectedUsdMicros, exhaustsAt } = found;
        expect(Number.isSafeInteger(burnUsdMicrosPerHour) && burnUsdMicrosPerHour >= 0).toBe(true);
        expect(Number.isSafeInteger(projectedUsdMicros) && projectedUsdMicros >= spentUsdMicros).toBe(true);
        expect(exhaustsAt !== undefined).toBe(projectedUsdMicros >= boundUsdMicros && nowMs < periodEndMs);
        if (exhaustsAt) {
          expect(exhaustsAt.getTime()).toBeGreaterThanOrEqual(nowMs);
          expect(exhaustsAt.getTime()).toBeLessThan(periodEndMs);
        }
      }),
    );
  });

  it('does not depend on the order of the hours, on zeros or on costs that come in two parts', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const halves = input.hours.flatMap(({ startMs, costUsdMicros }) => {
          const half = Math.floor(costUsdMicros / 2);
          return [half, costUsdMicros - half, 0].map((cost) => ({ startMs, costUsdMicros: cost }));
        });
        expect(forecast({ ...input, hours: halves.reverse() })).toEqual(forecast(input));
      }),
    );
  });

  it('grows with what was spent, by the same amount', () => {
    fc.assert(
      fc.property(inputs, micros, (input, more) => {
        const before = forecast(input);
        const after = forecast({ ...input, spentUsdMicros: input.spentUsdMicros + more });
        expect(after?.projectedUsdMicros).toBe(before ? before.projectedUsdMicros + more : undefined);
      }),
    );
  });
});

describe('local hours', () => {
  it.each([
    [
      'UTC',
      '2026-03-18T10:20',
      { weekday: 3, hour: 10, startMs: at('2026-03-18T10:00'), endMs: at('2026-03-18T11:00') },
    ],
    // Kolkata is 5:30 ahead, so that its hours begin at half past.
    [
      'Asia/Kolkata',
      '2026-03-18T18:40',
      { weekday: 4, hour: 0, startMs: at('2026-03-18T18:30'), endMs: at('2026-03-18T19:30') },
    ],
    // The day on which Berlin sets its clocks forward has 23 hours: 12:00 is hour 11.
    [
      'Europe/Berlin',
      '2026-03-29T10:00',
      { weekday: 0, hour: 11, startMs: at('2026-03-29T10:00'), endMs: at('2026-03-29T11:00') },
    ],
    // Lord Howe sets its clocks forward by half an hour: the last hour is short.
    [
      'Australia/Lord_Howe',
      '2026-10-04T12:45',
      { weekday: 0, hour: 23, startMs: at('2026-10-04T12:30'), endMs: at('2026-10-04T13:00') },
    ],
  ])('%s at %s', (zone, iso, expected) => {
    expect(localHours(zoneOf(zone))(at(iso))).toEqual(expected);
  });

  it('follow each other without gaps, also over a change of zone', () => {
    const changed: ZoneHistory = [
      { zone: 'America/New_York', fromMs: 0 },
      { zone: 'Asia/Tokyo', fromMs: at('2026-03-19T15:00') },
    ];
    for (const history of [changed, zoneOf('Europe/Berlin'), zoneOf('Pacific/Apia'), zoneOf('America/Santiago')]) {
      const localHourAt = localHours(history);
      const broken: string[] = [];
      let previous = localHourAt(at('2026-03-10T00:00'));
      for (let i = 0; i < 24 * 40; i++) {
        const next = localHourAt(previous.endMs);
        const hour = next.weekday === previous.weekday ? previous.hour + 1 : 0;
        const isLast = localHourAt(next.endMs - 1).startMs === next.startMs;
        if (next.startMs !== previous.endMs || next.hour !== hour || !isLast || next.endMs <= next.startMs)
          broken.push(new Date(next.startMs).toISOString());
        previous = next;
      }
      expect(broken).toEqual([]);
    }
  });
});
