import fc from 'fast-check';
import {
  type Counters,
  countersOf,
  maxHours,
  noCounters,
  sumCounters,
  unattributed,
  usageOf,
} from '../../../src/spend/counters.js';
import { counterAttributes, toCounters } from '../../../src/spend/spend.item.js';

const amount = fc.integer({ min: 0, max: 1_000_000_000_000 });
const usage = fc.record({ costUsdMicros: amount, inputTokens: amount, outputTokens: amount, requests: fc.constant(1) });
const cost = fc
  .tuple(usage, fc.option(fc.integer({ min: 0, max: maxHours - 1 }), { nil: undefined }))
  .map(([figures, hour]) => countersOf(figures, hour));
const correction = fc.tuple(amount, fc.boolean(), fc.integer({ min: 0, max: maxHours - 1 })).map(
  ([micros, isDebit, hour]): Counters => ({
    ...noCounters,
    debitUsdMicros: isDebit ? micros : 0,
    creditUsdMicros: isDebit ? 0 : micros,
    corrections: 1,
    hours: new Map([[hour, { costUsdMicros: isDebit ? micros : -micros, requests: 0 }]]),
  }),
);
const counters = fc.array(fc.oneof(cost, correction), { maxLength: 60 });

describe('counters', () => {
  it('add up to the same in any order and grouping', () => {
    fc.assert(
      fc.property(counters, fc.nat(), (all, at) => {
        const cut = at % (all.length + 1);
        const whole = sumCounters(all);
        expect(sumCounters([...all].reverse())).toEqual(whole);
        expect(sumCounters([sumCounters(all.slice(0, cut)), sumCounters(all.slice(cut))])).toEqual(whole);
      }),
    );
  });

  it('are the same after they were stored', () => {
    fc.assert(
      fc.property(counters, (all) => {
        const sum = sumCounters(all);
        expect(toCounters('daily_total', { PK: 'a', SK: 'b', ...counterAttributes(sum) })).toEqual(sum);
      }),
    );
  });

  it('have hours that add up to the shown cost, with the part that has no hour', () => {
    fc.assert(
      fc.property(fc.array(cost, { maxLength: 60 }), (all) => {
        const sum = sumCounters(all);
        const hours = [...sum.hours.values()].reduce((total, { costUsdMicros }) => total + costUsdMicros, 0);
        expect(hours + unattributed(sum).costUsdMicros).toBe(usageOf(sum).costUsdMicros);
      }),
    );
  });

  it('show the cost with debits and without credits', () => {
    const { hours: _, ...figures } = sumCounters([
      countersOf({ costUsdMicros: 100, inputTokens: 1, outputTokens: 2, requests: 1 }, 3),
      { ...noCounters, debitUsdMicros: 7, corrections: 1 },
      { ...noCounters, creditUsdMicros: 30, corrections: 1 },
    ]);
    expect(usageOf({ ...figures, hours: new Map() })).toEqual({
      costUsdMicros: 77,
      inputTokens: 1,
      outputTokens: 2,
      requests: 1,
    });
    expect(figures.corrections).toBe(2);
  });

  it('saturate at 2^53 - 1', () => {
    const large = countersOf(
      { costUsdMicros: Number.MAX_SAFE_INTEGER, inputTokens: 0, outputTokens: 0, requests: 1 },
      0,
    );
    const sum = sumCounters([large, large]);
    expect(usageOf(sum).costUsdMicros).toBe(Number.MAX_SAFE_INTEGER);
    expect(sum.hours.get(0)?.costUsdMicros).toBe(Number.MAX_SAFE_INTEGER);
  });
});
