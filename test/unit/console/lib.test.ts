import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { buildSchema, parse, validate } from 'graphql';
import { explain, Problem, problemOf } from '../../../console/src/data/problem.js';
import { EventParser } from '../../../console/src/data/sse.js';
import { alertText } from '../../../console/src/lib/alerts.js';
import { parsePercentages, scopeText } from '../../../console/src/lib/budgets.js';
import { commandsFor } from '../../../console/src/lib/commands.js';
import { addDays, daysIn, isDay, longDay } from '../../../console/src/lib/days.js';
import { deviceState, sharesOf } from '../../../console/src/lib/fleet.js';
import { draftOf, inputOf, type LimitShape, limitText, newDraft, periodText } from '../../../console/src/lib/limits.js';
import { parseUsd, usd, usdExact, usdInput, usdShort } from '../../../console/src/lib/money.js';
import { percent, plural, short } from '../../../console/src/lib/numbers.js';
import { furtherPrices, priceAt, priceSourceText, priceText } from '../../../console/src/lib/prices.js';
import { clamped, presetOf, presetRange, rangeOf } from '../../../console/src/lib/range.js';
import { ticks } from '../../../console/src/lib/scale.js';
import { stepSecs, valuesText } from '../../../console/src/lib/sensors.js';
import { clock, duration, fullTime, momentAgo, momentsSince } from '../../../console/src/lib/time.js';

const micros = fc.integer({ min: 0, max: 10 ** 15 });

describe('an amount', () => {
  it.each([
    [0, '$0.00'],
    [1, '$0.000001'],
    [16_512, '$0.0165'],
    [965_300, '$0.97'],
    [999_999, '$1.00'],
    [1_234_565_000, '$1,234.57'],
    [-5_000_000, '−$5.00'],
  ])('of %d micro-dollars is %s', (amount, text) => {
    expect(usd(amount)).toBe(text);
  });

  it('is read back from its exact form and from the value of a field', () => {
    fc.assert(
      fc.property(micros, (amount) => {
        expect(parseUsd(usdExact(amount))).toBe(amount);
        expect(parseUsd(usdInput(amount))).toBe(amount);
      }),
    );
  });

  it.each(['', 'ten', '-1', '1.0000001', '1,00', '1e3', '.5'])('is not read from %j', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });

  it('is short on an axis', () => {
    expect([0, 50_000, 12_000_000, 2_500_000_000, 3e12].map(usdShort)).toEqual(['$0', '$0.05', '$12', '$2.5k', '$3M']);
  });
});

describe('a number', () => {
  it('is short in a narrow column', () => {
    expect([999, 1500, 4_309_480, 2e12].map(short)).toEqual(['999', '1.5k', '4.31M', '2T']);
    expect([plural(1, 'day'), plural(2, 'day')]).toEqual(['1 day', '2 days']);
  });

  it('never says 100 % before it is reached', () => {
    expect([0, 7.58, 99.99, 100, 120.4].map(percent)).toEqual(['0 %', '7.5 %', '99 %', '100 %', '120 %']);
  });
});

describe('a day', () => {
  const day = fc
    .date({ min: new Date('1970-01-01'), max: new Date('2400-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));

  it('is counted as the Gregorian calendar does', () => {
    fc.assert(
      fc.property(day, fc.integer({ min: -800, max: 800 }), (from, days) => {
        const expected = new Date(Date.parse(from) + days * 86_400_000).toISOString().slice(0, 10);
        expect(addDays(from, days)).toBe(expected);
        expect(daysIn(from, expected)).toBe(days + 1);
        expect(longDay(from).slice(0, 3)).toBe(
          new Date(from).toLocaleDateString('en-GB', { weekday: 'short', timeZone: 'UTC' }),
        );
      }),
    );
  });

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', 'today', ''])('is not %j', (text) => {
    expect(isDay(text)).toBe(false);
  });
});

describe('a range', () => {
  const today = '2026-11-17';
  const of = (search: string) => rangeOf(new URLSearchParams(search), today, 14);

  it.each([
    ['', '2026-11-04', today],
    ['days=7', '2026-11-11', today],
    ['days=9999', '2026-11-04', today],
    ['from=2026-10-01&to=2026-10-31', '2026-10-01', '2026-10-31'],
    ['from=2026-10-01&to=2027-01-01', '2026-10-01', today],
    ['from=2026-11-20&to=2026-11-01', '2026-11-01', '2026-11-01'],
    ['from=1999-01-01&to=2026-11-17', '2025-11-17', today],
    ['from=x&to=y', '2026-11-04', today],
  ])('of the address %j is valid', (search, from, to) => {
    expect(of(search)).toEqual({ from, to });
  });

  it('is known as a preset', () => {
    expect(presetOf(of('days=7'), today)).toBe('7');
    expect(presetOf(clamped({ from: '2026-11-01', to: '2026-11-02' }, today), today)).toBeUndefined();
  });

  it('of single calls is shorter', () => {
    expect(rangeOf(new URLSearchParams('from=2026-01-01&to=2026-11-10'), today, 7, 31)).toEqual({
      from: '2026-10-11',
      to: '2026-11-10',
    });
    expect(rangeOf(new URLSearchParams('days=90'), today, 7, 31)).toEqual(presetRange(7, today));
  });
});

describe('a time', () => {
  it('is shown in the zone of the org, with its zone in the whole form', () => {
    const at = '2026-11-01T05:30:00.000Z';
    expect(clock(at, 'America/New_York')).toBe('01:30');
    expect(fullTime(at, 'Asia/Kathmandu')).toBe('1 Nov 2026, 11:15:00 GMT+5:45');
    expect([400, 61_000, 7_300_000, 200_000_000].map(duration)).toEqual(['0 s', '1 min', '2 h', '2 d']);
  });
});

describe('a limit', () => {
  const amount = fc.integer({ min: 1, max: 1_000_000 });
  const rate: fc.Arbitrary<LimitShape> = fc
    .tuple(amount, amount, amount, amount, fc.boolean())
    .map(([capacity, more, refillAmount, refillPeriodSecs, enforce]) => ({
      name: 'rpm',
      capacity,
      burst: capacity + more - 1,
      refillAmount,
      refillPeriodSecs,
      kind: 'RATE',
      window: null,
      enforce,
    }));

  it('survives its form', () => {
    fc.assert(
      fc.property(rate, (limit) => {
        const { name, capacity, enforce, kind, ...given } = inputOf(draftOf(limit, 1));
        const full = { burst: capacity, refillAmount: capacity, refillPeriodSecs: 60, window: null, ...given };
        expect({ name, capacity, enforce, kind, ...full }).toEqual(limit);
      }),
    );
  });

  it.each([
    [{ kind: 'RATE' as const, window: null, burst: 90 }, '60 per minute, up to 90 at once'],
    [{ kind: 'RATE' as const, window: null, burst: 60 }, '60 per minute'],
    [{ kind: 'RATE' as const, window: 'WEEK' as const, burst: 60 }, '60 per week'],
    [{ kind: 'CONCURRENCY' as const, window: null, burst: 60 }, '60 at the same time'],
  ])('of %j is %j', (shape, text) => {
    const limit = { name: 'rpm', capacity: 60, refillAmount: 60, refillPeriodSecs: 60, enforce: true, ...shape };
    expect(limitText(limit)).toBe(text);
    expect(inputOf(draftOf(limit, 1))).toMatchObject({ kind: shape.kind, capacity: 60 });
  });

  it('names what is not a whole number', () => {
    expect(() => inputOf({ ...newDraft(1), name: 'rpm', capacity: '1.5' })).toThrow('The capacity of rpm');
    expect([periodText(60), periodText(900), periodText(90)]).toEqual(['minute', '15 minutes', '90 seconds']);
  });
});

describe('the fleet', () => {
  const now = Date.parse('2026-11-17T12:00:00Z');
  it.each([
    ['2026-11-17T11:30:00Z', 'online'],
    ['2026-11-17T01:00:00Z', 'stale'],
    ['2026-11-15T01:00:00Z', 'missing'],
  ])('has a device seen at %s as %s', (seen, state) => {
    expect(deviceState(seen, now)).toBe(state);
  });

  it('is counted by value, the largest first', () => {
    expect(sharesOf(['b', 'a', 'b', 'c'])).toEqual([
      { name: 'b', count: 2 },
      { name: 'a', count: 1 },
      { name: 'c', count: 1 },
    ]);
  });

  it('is drawn in steps that have a reading', () => {
    const every = (secs: number) => Array.from({ length: 10 }, (_, i) => i * secs * 1000);
    expect([stepSecs(60, every(10)), stepSecs(60, every(900)), stepSecs(600, [])]).toEqual([60, 1800, 600]);
    const none = { bme280TempC: null, ds18b20TempC: null, humidityPct: 45, pressureHpa: null, soilMoisturePct: null };
    expect(valuesText({ ...none, bme280TempC: 21.46 })).toBe('21.5 °C · 45 % air');
  });
});

describe('an event stream', () => {
  it('gives the same events however its text is cut', () => {
    const text = ':\n\nevent: next\ndata: {"a":1}\nid: x\n\nevent: next\r\ndata: {"b":\r\ndata: 2}\r\n\r\n: beat\n\n';
    const whole = new EventParser().push(text);
    expect(whole).toEqual([
      { event: 'next', data: '{"a":1}' },
      { event: 'next', data: '{"b":\n2}' },
    ]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const parser = new EventParser();
        expect(at.slice(1).flatMap((end, i) => parser.push(text.slice(at[i], end)))).toEqual(whole);
      }),
    );
  });
});

describe('a problem', () => {
  const body = (code: string, extensions = {}) => ({ errors: [{ message: 'm', extensions: { code, ...extensions } }] });

  it('keeps the code, the request id and the issues of the gateway', () => {
    const issues = [{ path: 'input.name', message: 'is required' }];
    const problem = problemOf(body('BAD_USER_INPUT', { requestId: 'r', issues }), 400);
    expect([problem.code, problem.isTemporary, problem.details.requestId]).toEqual(['BAD_USER_INPUT', false, 'r']);
    expect(problem.details.issues).toEqual(issues);
    expect(problemOf({ error: { code: 'BAD_USER_INPUT', message: 'm', requestId: 'r' } }, 400).details.requestId).toBe(
      'r',
    );
  });

  it.each([
    ['SERVICE_UNAVAILABLE', 503, true],
    ['HTTP_502', 502, true],
    ['FORBIDDEN', 403, false],
  ])('%s may be tried again without a change only if it is temporary', (code, status, isTemporary) => {
    const problem = problemOf(code.startsWith('HTTP') ? undefined : body(code), status);
    expect([problem.code, problem.isTemporary]).toEqual([code, isTemporary]);
  });

  it('says how long to wait, and that nothing was changed', () => {
    expect(explain(problemOf(body('RATE_LIMITED', { retryAfterSecs: 1.2 }), 429))).toContain('Wait 2 s');
    expect(explain(new Problem('x', { code: 'VERSION_CONFLICT' }))).toContain('Nothing was changed');
    expect(explain(new Error('no amount'))).toBe('no amount');
    const outdated = problemOf(
      body('BAD_USER_INPUT', { issues: [{ path: 'documentId', message: 'is unknown' }] }),
      400,
    );
    expect(explain(outdated)).toContain('new version');
  });
});

describe('an axis', () => {
  it('has at most five round steps and reaches the largest value', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e15, noNaN: true }), (max) => {
        const lines = ticks(max);
        expect(lines.length).toBeLessThanOrEqual(6);
        expect(lines.at(-1)).toBeGreaterThanOrEqual(max * (1 - 1e-9));
      }),
    );
    expect(ticks(0)).toEqual([0, 1]);
  });
});

describe('an alert', () => {
  it.each([
    ['TIGHT_MODE', 'chat: premium is at 96 % of its quota'],
    ['QUOTA_EXCEEDED', 'chat: the quota of premium is used up'],
    ['FALLBACK_ACTIVATED', 'chat: fell back from premium to standard'],
    ['THRESHOLD', 'chat: the budget team has reached 80 %'],
  ])('of kind %s is a sentence', (kind, text) => {
    const facts = {
      appId: 'chat',
      label: 'premium',
      activeLabel: 'standard',
      quotaPct: 96,
      budget: 'team',
      thresholdPct: 80,
    };
    expect(alertText({ kind, ...facts })).toBe(text);
    expect(alertText({ kind, ...facts, appId: null }).charAt(0)).toMatch(/[A-Z]/);
  });
});

describe('a budget', () => {
  it('says what it counts', () => {
    const org = { appId: null, label: null, dimension: null };
    expect(scopeText(org)).toBe('the whole org');
    expect(scopeText({ ...org, appId: 'chat', label: 'premium' })).toBe('app chat, label premium');
    expect(scopeText({ ...org, dimension: { name: 'user', value: 'ann' } })).toBe('user ann');
  });

  it('has thresholds that are whole percentages, in order', () => {
    expect(parsePercentages('95, 50;80 %')).toEqual([50, 80, 95]);
    expect(() => parsePercentages('50, 0')).toThrow('whole percentages');
  });
});

describe('a command to paste', () => {
  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

  it.each(Object.entries(commandsFor('https://tollgate.example')))('%s is one valid operation', (_name, command) => {
    const text = command('chat', 'premium');
    const [, body = ''] =
      /^curl -s https:\/\/tollgate\.example\/graphql (?:-H \S.*){2} \\\n {2}-d '([^']+)'$/.exec(text) ?? [];
    expect(validate(schema, parse((JSON.parse(body) as { query: string }).query))).toEqual([]);
  });
});

describe('a price', () => {
  const entry = (name: string, usdMicrosPer1M: number, above = 0) => ({ name, usdMicrosPer1M, above });
  const first = { effectiveFrom: null, entries: [entry('input', 3_000_000)] };
  const second = { effectiveFrom: '2026-11-17T00:00:00.000Z', entries: [] };
  const third = { effectiveFrom: '2026-11-19T00:00:00.000Z', entries: [entry('input', 1_000_000)] };

  it.each([
    ['2026-11-16T23:59:59.999Z', first, second],
    ['2026-11-17T00:00:00.000Z', second, third],
    ['2026-11-19T00:00:00.000Z', third, undefined],
  ])('is in force at %s until the next change', (at, current, next) => {
    expect(priceAt([first, second, third], Date.parse(at))).toEqual({ current, next });
  });

  it('is none before the first change', () => {
    expect(priceAt([second], 0)).toEqual({ current: undefined, next: second });
    expect(priceAt([], 0)).toEqual({ current: undefined, next: undefined });
  });

  it('is told in words', () => {
    const entries = [entry('input', 3_000_000), entry('input', 6_000_000, 200_000), entry('cacheRead', 300_000)];
    expect(priceText(entries)).toBe('input $3.00, input above 200k $6.00, cacheRead $0.30');
    expect(furtherPrices(entries)).toBe('input above 200k $6.00, cacheRead $0.30');
    expect([priceSourceText('ORG_OVERRIDE'), priceSourceText('NEW_KIND')]).toEqual([
      'own price of the org',
      'new kind',
    ]);
  });
});

describe('the windows of usage', () => {
  it('begin at the start of a step, have no gaps, and end with the current one', () => {
    const hourMs = 3_600_000;
    const moments = momentsSince(momentAgo(47 * hourMs, hourMs), hourMs).map((moment) => Date.parse(moment));
    expect([48, 49]).toContain(moments.length);
    expect(moments.every((at, i) => at % hourMs === 0 && at - (moments[0] ?? 0) === i * hourMs)).toBe(true);
    expect(momentsSince(momentAgo(-hourMs, 1), hourMs)).toEqual([]);
  });
});
