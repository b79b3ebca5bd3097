import fc from 'fast-check';
import { addShares, breakdownOf, topShares } from '../../../src/spend/breakdown/breakdown.js';
import {
  dimensionPartition,
  dimensionShardKey,
  parseDimensionKey,
} from '../../../src/spend/breakdown/dimension.item.js';
import { isValue } from '../../../src/spend/breakdown/dimension.js';
import { seriesPoints } from '../../../src/spend/breakdown/spend-series.js';
import { countersOf, noCounters } from '../../../src/spend/counters.js';
import { rangeIssues } from '../../../src/spend/day-range.js';
import { sum } from '../../../src/spend/money.js';

const figure = fc.integer({ min: 0, max: 1_000_000_000 });
const usage = fc.record({ costUsdMicros: figure, inputTokens: figure, outputTokens: figure, requests: figure });
const shares = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), usage).map(([name, rest]) => ({ name, ...rest })),
);

describe('a breakdown', () => {
  it('has rows and a rest that add up to its total, which is at least the whole', () => {
    fc.assert(
      fc.property(shares, usage, fc.integer({ min: 1, max: 5 }), (all, whole, count) => {
        const { total, rows, rest } = breakdownOf('LABEL', whole, addShares(all), count);
        expect(sum([...rows, rest])).toEqual(total);
        expect(total.costUsdMicros).toBeGreaterThanOrEqual(whole.costUsdMicros);
        expect(rows.length).toBeLessThanOrEqual(count);
      }),
    );
  });

  it('lists the largest costs first, and no share without a call', () => {
    const share = (name: string, costUsdMicros: number, requests = 1) => ({
      name,
      costUsdMicros,
      inputTokens: 0,
      outputTokens: 0,
      requests,
    });
    const all = [share('b', 5), share('a', 5), share('c', 9), share('none', 0, 0), share('free', 0)];
    expect(topShares(all, 3).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
    expect(topShares(all, 9).map(({ name }) => name)).toEqual(['c', 'a', 'b', 'free']);
  });
});

describe('the key of a dimension value', () => {
  it('can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 128 }).filter(isValue), (value) => {
        const shard = { orgId: 'o', name: 'user', day: '2026-01-02', shard: 3 };
        const key = dimensionShardKey(shard, { value, appId: 'chat', label: 'premium' });
        expect(key.PK).toBe(dimensionPartition(shard));
        expect(parseDimensionKey(key.SK)).toEqual({ value, appId: 'chat', label: 'premium' });
      }),
    );
  });

  it.each(['', 'a#b', 'a\nb', '\u0000', '\ud800', 'x'.repeat(129)])('is not made of %j', (value) => {
    expect(isValue(value)).toBe(false);
  });
});

describe('a range of days', () => {
  it.each([
    [{ from: '2026-01-01', to: '2026-01-31' }, []],
    [{ from: '2026-01-01', to: '2026-02-01' }, ['from']],
    [{ from: '2026-01-02', to: '2026-01-01' }, ['to']],
    [{ from: '2026-02-02', to: '2026-02-03' }, ['to']],
  ])('%j has issues %j', (range, paths) => {
    expect(rangeIssues(range, 31, '2026-02-02').map(({ path }) => path)).toEqual(paths);
  });
});

describe('a series', () => {
  const zones = [{ zone: 'UTC', fromMs: 0 }] as const;
  const day = '2026-03-04';
  const usageOf5 = { costUsdMicros: 5, inputTokens: 0, outputTokens: 0, requests: 1 };

  it('of today ends with the current hour', () => {
    const points = seriesPoints([{ day, counters: noCounters }], 'HOUR', zones, Date.parse(`${day}T03:00:00Z`));
    expect(points.map(({ startsAt }) => startsAt.getUTCHours())).toEqual([0, 1, 2, 3]);
  });

  it('shows an hour that has a cost even if it has not begun', () => {
    const counters = countersOf(usageOf5, 4);
    const points = seriesPoints([{ day, counters }], 'HOUR', zones, Date.parse(`${day}T03:59:00Z`));
    expect(points).toHaveLength(5);
    expect(points[4]).toMatchObject({ costUsdMicros: 5, requests: 1 });
  });

  it('uses the stored begin of a day, and gives it 24 hours if its end is not known', () => {
    const startsAt = new Date(`${day}T20:00:00Z`);
    const stored = { day, counters: noCounters, startsAt: new Date(Date.parse(`${day}T20:00:00Z`) + 86_400_000) };
    const [first] = seriesPoints([{ day, counters: noCounters, startsAt }], 'DAY', zones, 0);
    expect([first?.startsAt, first?.endsAt]).toEqual([startsAt, new Date('2026-03-05T00:00:00Z')]);
    const [second] = seriesPoints([stored], 'DAY', zones, 0);
    expect(second?.endsAt.getTime()).toBe(stored.startsAt.getTime() + 86_400_000);
  });
});
