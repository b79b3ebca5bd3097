import fc from 'fast-check';
import { totalCost } from '../../../src/spend/catalog/cost-lines.js';
import { type Price, priceOf, tokenEntries } from '../../../src/spend/catalog/price.js';
import {
  amountIssues,
  costOf,
  modeOf,
  noUsage,
  plus,
  quotaPct,
  type SpendMode,
  type SubmittedAmounts,
  spendModes,
  sum,
  worstMode,
} from '../../../src/spend/money.js';
import { amount, figureNames, usage } from './fixtures.js';

const maxQuota = 1_000_000_000_000_000;
const price =
  (input: number, output: number, source: Price['source'] = 'CONFIG_DEFAULT') =>
  async (): Promise<Price> =>
    priceOf(tokenEntries(input, output), source);
const noPrice = async (): Promise<Price> => {
  throw new Error('a submitted cost needs no price');
};

describe('costOf', () => {
  const exactly = (inputTokens: number, outputTokens: number, inPrice: number, outPrice: number) =>
    totalCost({ inputTokens, outputTokens }, { input: inPrice, output: outPrice });

  it.each([
    [1_500, 800, 3_000_000, 15_000_000, 16_500],
    [0, 0, 3_000_000, 15_000_000, 0],
    [1, 0, 3_000_000, 15_000_000, 3],
    [1, 1, 250_000, 1_250_000, 1],
    [3, 3, 250_000, 250_000, 0], // 0.75 each: rounded together 1.5 would give 1
    [4, 3, 250_000, 250_000, 1],
    [7, 9, 999_999, 999_999, 14],
    [1_000_000, 1_000_000, 1, 1, 2],
    [999_999, 999_999, 1, 1, 0],
    [1_000_000_000_000, 0, 3_000_001, 0, 3_000_001_000_000],
    [999_999_999_999, 0, 3_000_001, 0, 3_000_000_999_996],
  ])('rounds down each of %d input and %d output tokens at %d and %d: %d', (input, output, inPrice, outPrice, cost) => {
    expect(exactly(input, output, inPrice, outPrice)).toBe(BigInt(cost));
  });

  it('is below the exact cost by less than one micro-dollar for each of input and output', () => {
    const perMillion = fc.integer({ min: 0, max: 1_000_000_000 });
    fc.assert(
      fc.property(amount, amount, perMillion, perMillion, (inputTokens, outputTokens, inPrice, outPrice) => {
        const cost = (input: number, output: number) => exactly(input, output, inPrice, outPrice);
        const [inputCost, outputCost] = [cost(inputTokens, 0), cost(0, outputTokens)];
        expect(cost(inputTokens, outputTokens)).toBe(inputCost + outputCost);
        for (const [rounded, tokens, perToken] of [
          [inputCost, inputTokens, inPrice],
          [outputCost, outputTokens, outPrice],
        ] as const) {
          const roundedOff = BigInt(tokens) * BigInt(perToken) - rounded * 1_000_000n;
          expect(roundedOff >= 0n && roundedOff < 1_000_000n).toBe(true);
        }
      }),
    );
  });

  it('may be up to 10^12, and not one micro-dollar more', async () => {
    const max = 1_000_000_000_000;
    const cost = (inputTokens: number) => costOf({ inputTokens, outputTokens: 0 }, price(1_000_000_000, 0));
    expect(await cost(max / 1000)).toMatchObject({ costUsdMicros: max });
    expect(await cost(max / 1000 + 1)).toMatchObject({ code: 'BAD_USER_INPUT' });
    // The product is 10^27.
    const component = { name: 'image', quantity: max };
    const prices = async () => priceOf([{ name: 'image', usdMicrosPer1M: 1_000_000_000_000_000, above: 0 }], 'CATALOG');
    expect(await costOf({ inputTokens: 0, outputTokens: 0, components: [component] }, prices)).toMatchObject({
      code: 'BAD_USER_INPUT',
    });
  });

  it('is the submitted cost, without reading a price; 0 is a submitted cost, null is not', async () => {
    await fc.assert(
      fc.asyncProperty(amount, amount, amount, async (inputTokens, outputTokens, costUsdMicros) => {
        expect(await costOf({ inputTokens, outputTokens, costUsdMicros }, noPrice)).toEqual({
          costUsdMicros,
          priceSource: 'SUBMITTED',
        });
      }),
    );
    const tokens = { inputTokens: 1_000_000, outputTokens: 0 };
    expect(await costOf({ ...tokens, costUsdMicros: 0 }, noPrice)).toEqual({
      costUsdMicros: 0,
      priceSource: 'SUBMITTED',
    });
    expect(await costOf({ ...tokens, costUsdMicros: null }, price(7, 7))).toEqual({
      costUsdMicros: 7,
      priceSource: 'CONFIG_DEFAULT',
      unitPrices: { input: 7 },
    });
    expect(await costOf(tokens, price(7, 7, 'PRICING_CACHE'))).toEqual({
      costUsdMicros: 7,
      priceSource: 'PRICING_CACHE',
      unitPrices: { input: 7 },
    });
  });
});

describe('amountIssues', () => {
  const valid: SubmittedAmounts = { inputTokens: 1, outputTokens: 2, costUsdMicros: 3 };
  const names = ['inputTokens', 'outputTokens', 'costUsdMicros'] as const;

  it.each<[string, number, boolean]>([
    ['zero', 0, true],
    ['one', 1, true],
    ['the maximum', 1_000_000_000_000, true],
    ['the maximum plus one', 1_000_000_000_001, false],
    ['a negative number', -1, false],
    ['a fraction', 0.5, false],
    ['a fraction near the maximum', 999_999_999_999.5, false],
    ['NaN', Number.NaN, false],
    ['infinity', Number.POSITIVE_INFINITY, false],
    ['negative infinity', Number.NEGATIVE_INFINITY, false],
    ['2^53', 2 ** 53, false],
  ])('validates %s (%d) as %p for each of the three amounts', (_, value, isValid) => {
    for (const name of names) {
      expect(amountIssues({ ...valid, [name]: value }).map(({ path }) => path)).toEqual(
        isValid ? [] : [`input.${name}`],
      );
    }
  });

  it('names every invalid component', () => {
    const components = [
      { name: 'cacheRead', quantity: -1 },
      { name: 'input', quantity: 1 },
    ];
    expect(amountIssues({ ...valid, components }).map(({ path }) => path)).toEqual([
      'input.components.0.quantity',
      'input.components.1.name',
    ]);
  });

  it('names every invalid amount, and does not require a cost', () => {
    expect(
      amountIssues({ inputTokens: -1, outputTokens: 0.5, costUsdMicros: Number.NaN }).map(({ path }) => path),
    ).toEqual(names.map((name) => `input.${name}`));
    for (const costUsdMicros of [undefined, null])
      expect(amountIssues({ inputTokens: 1, outputTokens: 1, costUsdMicros })).toEqual([]);
  });
});

describe('usage', () => {
  it('sums each figure exactly, in any order and grouping', () => {
    fc.assert(
      fc.property(fc.array(usage, { maxLength: 20 }), fc.nat(20), (usages, cut) => {
        const total = sum(usages);
        for (const name of figureNames) {
          let expected = 0n;
          for (const entry of usages) expected += BigInt(entry[name]);
          expect(BigInt(total[name])).toBe(expected);
        }
        expect(sum([...usages].reverse())).toEqual(total);
        expect(plus(sum(usages.slice(0, cut)), sum(usages.slice(cut)))).toEqual(total);
      }),
    );
  });

  it('is zero for an empty list, and zero is the neutral element', () => {
    expect(sum([])).toEqual({ costUsdMicros: 0, inputTokens: 0, outputTokens: 0, requests: 0 });
    fc.assert(fc.property(usage, (some) => expect(plus(some, noUsage)).toEqual(some)));
  });
});

describe('modeOf', () => {
  it.each<[number, number, number, SpendMode]>([
    [0, 100, 95, 'NORMAL'],
    [94, 100, 95, 'NORMAL'],
    [95, 100, 95, 'TIGHT'],
    [99, 100, 95, 'TIGHT'],
    [100, 100, 95, 'EXCEEDED'],
    [101, 100, 95, 'EXCEEDED'],
    [949_999, 1_000_000, 95, 'NORMAL'],
    [950_000, 1_000_000, 95, 'TIGHT'],
    [999_999, 1_000_000, 95, 'TIGHT'],
    [1_000_000, 1_000_000, 95, 'EXCEEDED'],
    [0, 0, 95, 'EXCEEDED'],
    [1, 0, 95, 'EXCEEDED'],
    [0, 1, 95, 'NORMAL'],
    [1, 1, 95, 'EXCEEDED'],
    [9, 10, 95, 'NORMAL'], // 95 % is 9.5
    [18, 19, 95, 'NORMAL'], // 94.7 %
    [99, 100, 100, 'NORMAL'],
    [100, 100, 100, 'EXCEEDED'],
    [1, 100, 1, 'TIGHT'],
    [0, 100, 1, 'NORMAL'],
    [949_999_999_999_999, maxQuota, 95, 'NORMAL'],
    [950_000_000_000_000, maxQuota, 95, 'TIGHT'],
    [999_999_999_999_999, maxQuota, 95, 'TIGHT'],
  ])('for a cost of %d, a quota of %d and a threshold of %d %% is %s', (cost, quota, threshold, mode) => {
    expect(modeOf(cost, quota, threshold)).toBe(mode);
  });

  it('changes at exactly the first whole amount that reaches the threshold or the quota, for any of both', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: maxQuota }), fc.integer({ min: 1, max: 100 }), (quota, threshold) => {
        const product = BigInt(quota) * BigInt(threshold);
        const tightFrom = Number(product / 100n) + (product % 100n > 0n ? 1 : 0);
        expect(modeOf(tightFrom - 1, quota, threshold)).toBe('NORMAL');
        expect(modeOf(tightFrom, quota, threshold)).toBe(tightFrom === quota ? 'EXCEEDED' : 'TIGHT');
        expect(modeOf(quota - 1, quota, threshold)).toBe(quota - 1 >= tightFrom ? 'TIGHT' : 'NORMAL');
        expect(modeOf(quota, quota, threshold)).toBe('EXCEEDED');
      }),
    );
  });

  it('never improves when the cost grows', () => {
    const micros = fc.integer({ min: 0, max: maxQuota });
    fc.assert(
      fc.property(micros, micros, micros, fc.integer({ min: 1, max: 100 }), (cost, more, quota, threshold) => {
        const rank = (spent: number) => spendModes.indexOf(modeOf(spent, quota, threshold));
        return rank(cost) <= rank(cost + more);
      }),
    );
  });
});

describe('worstMode', () => {
  it.each<[SpendMode[], SpendMode]>([
    [[], 'NORMAL'],
    [['NORMAL'], 'NORMAL'],
    [['NORMAL', 'TIGHT', 'NORMAL'], 'TIGHT'],
    [['TIGHT', 'EXCEEDED', 'NORMAL'], 'EXCEEDED'],
    [['EXCEEDED', 'TIGHT'], 'EXCEEDED'],
  ])('of %j is %s', (modes, worst) => {
    expect(worstMode(modes)).toBe(worst);
  });
});

describe('quotaPct', () => {
  it.each([
    [0, 100, 0],
    [95, 100, 95],
    [1, 3, 33.3333],
    [250, 100, 250],
    [0, 0, 100],
    [5, 0, 100],
    [2, 1000, 0.2],
    [29, 100, 29], // 29 / 100 * 100 would be 28.999999999999996
    [360_287_970_189_641, 360_287_970_189_641, 100], // 100 times as much exceeds 2^53
  ])('for a cost of %d and a quota of %d is %d', (cost, quota, pct) => {
    expect(quotaPct(cost, quota)).toBe(pct);
  });

  it('is 100 or more if and only if the quota is used up', () => {
    const micros = fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: maxQuota }));
    fc.assert(
      fc.property(micros, fc.integer({ min: -3, max: 3 }), (quota, off) => {
        const cost = Math.max(0, quota + off);
        expect({ cost, quota, full: quotaPct(cost, quota) >= 100 }).toEqual({ cost, quota, full: cost >= quota });
      }),
      { numRuns: 2000 },
    );
  });
});
