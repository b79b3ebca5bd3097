import fc from 'fast-check';
import { addTo, emptySums, pointsOf, type SeriesRange, seriesIssues, tooLong } from '../../../src/devices/series.js';

const nowMs = Date.UTC(2026, 5, 1, 12);
const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);

interface Measured {
  readonly atMs: number;
  readonly value: number;
}

function seriesOf(range: SeriesRange, measured: readonly Measured[]) {
  const sums = emptySums(range);
  for (const { atMs, value } of measured) addTo(sums, range, atMs, value);
  return pointsOf(range, sums);
}

describe('seriesIssues', () => {
  const range: SeriesRange = { fromMs: nowMs, toMs: nowMs + 3_600_000, stepSecs: 60 };
  const yearSecs = 366 * 86_400;

  it.each<[string, Partial<SeriesRange>, string[]]>([
    ['a valid range', {}, []],
    ['the shortest step', { stepSecs: 1, toMs: nowMs + 1000 }, []],
    ['a step of 0', { stepSecs: 0 }, ['stepSecs']],
    ['a negative step', { stepSecs: -60 }, ['stepSecs']],
    ['a fractional step', { stepSecs: 1.5 }, ['stepSecs']],
    ['a step of NaN', { stepSecs: Number.NaN }, ['stepSecs']],
    ['a step of a year', { stepSecs: yearSecs }, []],
    ['a step of a year and a second', { stepSecs: yearSecs + 1 }, ['stepSecs']],
    ['an empty range', { toMs: nowMs }, ['from']],
    ['an end before the start', { toMs: nowMs - 1 }, ['from']],
    ['a range of a millisecond', { toMs: nowMs + 1 }, []],
    ['1000 points', { stepSecs: 1, toMs: nowMs + 1_000_000 }, []],
    ['1000 points and a millisecond', { stepSecs: 1, toMs: nowMs + 1_000_001 }, ['stepSecs']],
  ])('accepts %s, or names the argument to change', (_, change, expected) => {
    expect(paths(seriesIssues({ ...range, ...change }))).toEqual(expected);
  });

  it('says how many points the range would have', () => {
    expect(seriesIssues({ ...range, stepSecs: 1 })[0]?.message).toContain('3600 points');
  });

  it('accepts a range exactly if it has at most 1000 points', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000_000 }), fc.integer({ min: 1, max: 5 }), (lengthMs, stepSecs) => {
        const given = { fromMs: nowMs, toMs: nowMs + lengthMs, stepSecs };
        return (seriesIssues(given).length === 0) === seriesOf(given, []).length <= 1000;
      }),
    );
  });
});

describe('tooLong', () => {
  it('names the time down to which the range was read', () => {
    const error = tooLong(
      { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 1, 1), stepSecs: 60 },
      Date.UTC(2026, 0, 20),
      'exceeds',
    );
    expect(error.extensions.issues).toEqual([
      { path: 'from', message: expect.stringContaining('set `from` to 2026-01-20T00:00:00.000Z or later') },
    ]);
  });
});

describe('pointsOf', () => {
  const ranges = fc
    .record({
      fromMs: fc.integer({ min: 0, max: 5000 }),
      lengthMs: fc.integer({ min: 1, max: 60_000 }),
      stepSecs: fc.integer({ min: 1, max: 20 }),
    })
    .map(({ fromMs, lengthMs, stepSecs }): SeriesRange => ({ fromMs, toMs: fromMs + lengthMs, stepSecs }));
  const measuredIn = ({ fromMs, toMs }: SeriesRange): fc.Arbitrary<Measured[]> =>
    fc.array(
      fc.record({ atMs: fc.integer({ min: fromMs, max: toMs - 1 }), value: fc.integer({ min: -40, max: 1100 }) }),
      { maxLength: 60 },
    );

  it('counts each value in the one point of its time', () => {
    fc.assert(
      fc.property(
        ranges.chain((given) => fc.tuple(fc.constant(given), measuredIn(given))),
        ([given, measured]) => {
          expect(seriesIssues(given)).toEqual([]);
          const points = seriesOf(given, measured);
          const stepMs = given.stepSecs * 1000;
          expect(points.map(({ at }) => at.getTime())).toEqual(
            Array.from(
              { length: Math.ceil((given.toMs - given.fromMs) / stepMs) },
              (_, i) => given.fromMs + i * stepMs,
            ),
          );
          expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(measured.length);
          for (const { at, count, min, max, mean } of points) {
            const within = measured
              .filter(({ atMs }) => atMs >= at.getTime() && atMs < at.getTime() + stepMs)
              .map(({ value }) => value);
            const expected =
              within.length === 0
                ? { min: null, max: null, mean: null }
                : {
                    min: Math.min(...within),
                    max: Math.max(...within),
                    mean: within.reduce((sum, value) => sum + value, 0) / within.length,
                  };
            expect({ count, min, max, mean }).toEqual({ count: within.length, ...expected });
          }
        },
      ),
    );
  });

  it('ignores values outside the range', () => {
    const short = { fromMs: 10_000, toMs: 20_000, stepSecs: 10 };
    const outside = [9999, 20_000, -5, 1e15].map((atMs) => ({ atMs, value: 1 }));
    expect(seriesOf(short, outside)).toEqual([{ at: new Date(10_000), count: 0, min: null, max: null, mean: null }]);
  });

  it('returns a mean between min and max, for floats too', () => {
    const value = fc.double({ min: -55, max: 1100, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
        const [point] = seriesOf(
          { fromMs: 0, toMs: 1000, stepSecs: 1 },
          values.map((each) => ({ atMs: 0, value: each })),
        );
        const { min, max, mean } = point as { min: number; max: number; mean: number };
        expect([min, max]).toEqual([Math.min(...values), Math.max(...values)]);
        expect(mean).toBeGreaterThanOrEqual(min - 1e-9);
        expect(mean).toBeLessThanOrEqual(max + 1e-9);
      }),
    );
  });
});
