import fc from 'fast-check';
import { GatewayError } from '../../../../src/lib/errors.js';
import {
  type CallUsage,
  type CostComponent,
  componentIssues,
  linesOf,
  maxComponentsPerCall,
  tierTokens,
  totalCost,
  type UnitPrices,
  unitPricesFor,
} from '../../../../src/spend/catalog/cost-lines.js';
import type { PriceEntry } from '../../../../src/spend/catalog/price.js';
import { payloadHashOf } from '../../../../src/spend/payload-hash.js';

type Prices = Readonly<Record<string, number>>;

/** `{ input: 3 }` are dollars per million; `'input>200000'` is a tier. */
const priced = (dollars: Prices): PriceEntry[] =>
  Object.entries(dollars).map(([key, dollarsPer1M]) => {
    const [name = '', above = '0'] = key.split('>');
    return { name, above: Number(above), usdMicrosPer1M: Math.round(dollarsPer1M * 1_000_000) };
  });
const usage = (inputTokens: number, outputTokens: number, components: Prices = {}): CallUsage => ({
  inputTokens,
  outputTokens,
  components: Object.entries(components).map(([name, quantity]) => ({ name, quantity })),
});
function costOf(
  call: CallUsage,
  entries: readonly PriceEntry[],
): { readonly cost: bigint; readonly prices: UnitPrices } {
  const prices = unitPricesFor(call, entries);
  if (prices instanceof GatewayError) throw prices;
  return { cost: totalCost(call, prices), prices };
}

const sonnet = priced({
  input: 3,
  output: 15,
  cacheRead: 0.3,
  cacheWrite5m: 3.75,
  cacheWrite1h: 6,
  'input>200000': 6,
  'output>200000': 22.5,
  'cacheRead>200000': 0.6,
  'cacheWrite5m>200000': 7.5,
  'cacheWrite1h>200000': 12,
});
const gpt = priced({ input: 1.25, output: 10, cacheRead: 0.125 });
const flash = priced({ input: 0.3, output: 2.5, cacheRead: 0.03, reasoning: 2.5, inputAudio: 1 });
const gemini = priced({ input: 2, output: 12, 'input>200000': 4, 'output>200000': 18, cacheRead: 0.2 });
const canvas = priced({ image: 60_000 });
const whisper = priced({ audioSecond: 100 });
const sonar = priced({ input: 1, output: 1, request: 5_000 });
const long = priced({ input: 0.05, output: 0.4, 'input>256000': 0.25, 'output>256000': 2, 'input>1000000': 1 });

/** Computed by hand: micro-dollars are quantity × dollars per million, rounded down for each addend. */
const vectors: readonly [what: string, call: CallUsage, entries: readonly PriceEntry[], costUsdMicros: number][] = [
  // Bedrock's `inputTokens` has no cached tokens. 1,500 × 3 + 800 × 15
  ['Bedrock: input and output', usage(1_500, 800), sonnet, 4_500 + 12_000],
  // 1,000 × 3 + 500 × 15 + 20,000 × 0.3
  ['Bedrock: read from the cache', usage(1_000, 500, { cacheRead: 20_000 }), sonnet, 3_000 + 7_500 + 6_000],
  // 21 × 3 + 393 × 15 + 188,086 × 3.75 = 705,322.5
  ['Anthropic: cache write, 5 minutes', usage(21, 393, { cacheWrite5m: 188_086 }), sonnet, 63 + 5_895 + 705_322],
  // 100 × 3 + 200 × 15 + 10,000 × 6
  ['Anthropic: cache write, 1 hour', usage(100, 200, { cacheWrite1h: 10_000 }), sonnet, 300 + 3_000 + 60_000],
  [
    // 50 × 3 + 500 × 15 + 1,800 × 0.3 + 456 × 3.75 + 100 × 6
    'Anthropic: read and both writes',
    usage(50, 500, { cacheRead: 1_800, cacheWrite5m: 456, cacheWrite1h: 100 }),
    sonnet,
    150 + 7_500 + 540 + 1_710 + 600,
  ],
  // OpenAI counts cached tokens inside the prompt: 2,006 with 1,920 cached. 86 × 1.25 = 107.5; 1,920 × 0.125
  ['OpenAI: cached input', usage(2_006 - 1_920, 300, { cacheRead: 1_920 }), gpt, 107 + 3_000 + 240],
  // OpenAI counts reasoning inside the output at the same price, so it is not sent again. 75 × 1.25 = 93.75
  ['OpenAI: reasoning inside the output', usage(75, 1_186), gpt, 93 + 11_860],
  // 1,000 × 0.3 + 10 × 2.5 + 2,000 × 2.5
  ['Gemini: reasoning beside the output', usage(1_000, 10, { reasoning: 2_000 }), flash, 300 + 25 + 5_000],
  // 25 × 0.3 = 7.5; 3 × 2.5 = 7.5; 1,499 × 1
  ['Gemini: audio tokens, rounded down for each', usage(25, 3, { inputAudio: 1_499 }), flash, 7 + 7 + 1_499],
  // Exactly 200,000 is not above 200,000.
  ['a tier: 200,000 tokens', usage(200_000, 1_000), sonnet, 600_000 + 15_000],
  // The whole call has the price of the tier, its output too. 200,001 × 6 + 1,000 × 22.5
  ['a tier: 200,001 tokens', usage(200_001, 1_000), sonnet, 1_200_006 + 22_500],
  [
    // 1,000 + 190,000 + 9,001 tokens of input. 1,000 × 6 + 10 × 22.5 + 190,000 × 0.6 + 9,001 × 7.5 = 67,507.5
    'a tier: cached tokens count',
    usage(1_000, 10, { cacheRead: 190_000, cacheWrite5m: 9_001 }),
    sonnet,
    6_000 + 225 + 114_000 + 67_507,
  ],
  // Cached tokens have no price of this tier, so their base price stays. 300,000 × 4 + 1 × 18 + 100 × 0.2
  ['a tier: a name without a tier', usage(300_000, 1, { cacheRead: 100 }), gemini, 1_200_000 + 18 + 20],
  // 1,000,001 × 1, and the output of the tier before: 10 × 2
  ['the highest of several tiers', usage(1_000_001, 10), long, 1_000_001 + 20],
  // 3 images at $0.06
  ['images', usage(0, 0, { image: 3 }), canvas, 180_000],
  // 61 seconds at $0.0001
  ['seconds of audio', usage(0, 0, { audioSecond: 61 }), whisper, 6_100],
  // 7 × 1 + 9 × 1 + $0.005
  ['a price per request', usage(7, 9, { request: 1 }), sonar, 7 + 9 + 5_000],
  ['a component of 0 needs no price', usage(1_000, 0, { image: 0 }), gpt, 1_250],
  ['nothing', usage(0, 0), [], 0],
];

describe('the cost of a call', () => {
  it.each(vectors)('is the one computed by hand: %s', (_, call, entries, costUsdMicros) => {
    const { cost, prices } = costOf(call, entries);
    expect(cost).toBe(BigInt(costUsdMicros));
    const lines = linesOf(call, prices);
    expect(lines.reduce((sum, line) => sum + line.costUsdMicros, 0)).toBe(costUsdMicros);
  });

  it('shows its lines: input, output, then components by name', () => {
    const call = usage(1_000, 10, { cacheWrite5m: 9_001, cacheRead: 190_000 });
    expect(linesOf(call, costOf(call, sonnet).prices)).toEqual([
      { name: 'input', quantity: 1_000, usdMicrosPer1M: 6_000_000, costUsdMicros: 6_000 },
      { name: 'output', quantity: 10, usdMicrosPer1M: 22_500_000, costUsdMicros: 225 },
      { name: 'cacheRead', quantity: 190_000, usdMicrosPer1M: 600_000, costUsdMicros: 114_000 },
      { name: 'cacheWrite5m', quantity: 9_001, usdMicrosPer1M: 7_500_000, costUsdMicros: 67_507 },
    ]);
  });

  it('has no lines if it was submitted, whatever its components are called', () => {
    expect(linesOf(usage(1, 2, { cacheRead: 3, constructor: 4 }))).toEqual([]);
  });

  it('is the sum of its parts, for any usage and prices', () => {
    const names = ['input', 'output', 'cacheRead', 'image', 'constructor'] as const;
    const entry = fc.record({
      name: fc.constantFrom(...names),
      usdMicrosPer1M: fc.integer({ min: 0, max: 1_000_000_000_000_000 }),
      above: fc.constantFrom(0, 1_000, 200_000),
    });
    const entries = fc.uniqueArray(entry, { selector: ({ name, above }) => `${name} ${above}`, maxLength: 15 });
    const amount = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300_000 }), fc.nat(1_000_000_000_000));
    const call = fc.tuple(amount, amount, amount, amount, amount);
    fc.assert(
      fc.property(entries, call, (all, [input, output, cacheRead, image, odd]) => {
        const each = usage(input, output, { cacheRead, image, constructor: odd });
        const prices = unitPricesFor(each, all);
        const isAbove = ({ above }: PriceEntry) => above === 0 || above < input + cacheRead;
        const parts = [input, output, cacheRead, image, odd].map((quantity, i) => {
          const mine = all.filter((found) => found.name === names[i] && isAbove(found));
          const price = mine.sort((a, b) => b.above - a.above)[0]?.usdMicrosPer1M;
          if (quantity === 0) return 0n;
          return price === undefined ? undefined : (BigInt(quantity) * BigInt(price)) / 1_000_000n;
        });
        if (prices instanceof GatewayError) return expect(parts).toContain(undefined);
        expect(totalCost(each, prices)).toBe(parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n));
      }),
    );
  });
});

describe('a component without a price', () => {
  const refusal = (call: CallUsage, entries: readonly PriceEntry[]) => unitPricesFor(call, entries) as GatewayError;

  it('is refused with its name and the names that have one, never 0', () => {
    const error = refusal(usage(1, 1, { cacheRead: 1, image: 2 }), gpt);
    expect(error.code).toBe('BAD_USER_INPUT');
    expect(error.message).toBe(
      'input.components.1.name: image has no price; the model has prices for input, output, cacheRead; use one of ' +
        'these names, or send costUsdMicros',
    );
  });

  it('may be the input or the output', () => {
    expect(refusal(usage(1, 0, { image: 1 }), canvas).extensions.issues).toMatchObject([{ path: 'input.inputTokens' }]);
    expect(refusal(usage(0, 1), []).message).toContain(
      'input.outputTokens: output has no price; the model has no price',
    );
  });

  it('may have a price only above a number of tokens', () => {
    const entries = priced({ input: 1, 'cacheRead>200000': 1 });
    expect(refusal(usage(1, 0, { cacheRead: 200_000 }), entries)).not.toBeInstanceOf(GatewayError);
    expect(refusal(usage(0, 0, { cacheRead: 200_000 }), entries)).toBeInstanceOf(GatewayError);
  });

  it('is refused with a bounded message', () => {
    const entries = Array.from({ length: 64 }, (_, i) => ({
      name: `n${i}_`.padEnd(32, 'x'),
      usdMicrosPer1M: 1,
      above: 0,
    }));
    expect(refusal(usage(1, 0), entries).message.length).toBeLessThan(1000);
  });
});

describe('the tier tokens', () => {
  it('are the input and every component whose name begins with cache', () => {
    expect(tierTokens(usage(1, 10, { cacheRead: 100, cacheWrite1h: 1_000, cachedThing: 10_000, image: 100_000 }))).toBe(
      11_101,
    );
    expect(tierTokens({ inputTokens: 1, outputTokens: 1, components: null })).toBe(1);
  });
});

describe('componentIssues', () => {
  const pathsOf = (components: readonly CostComponent[]) => componentIssues(components).map(({ path }) => path);
  const named = (name: string, quantity = 1) => ({ name, quantity });

  it.each([
    ['a', true],
    ['cacheWrite_5m', true],
    ['a'.repeat(32), true],
    ['a'.repeat(33), false],
    ['', false],
    ['Cache', false],
    ['5m', false],
    ['cache read', false],
    ['cache>1', false],
    ['__proto__', false],
    ['input', false],
    ['output', false],
  ])('validates the name %j as %p', (name, isValid) => {
    expect(pathsOf([named(name)])).toEqual(isValid ? [] : ['input.components.0.name']);
  });

  it.each([
    [0, true],
    [1_000_000_000_000, true],
    [1_000_000_000_001, false],
    [-1, false],
    [0.5, false],
  ])('validates the quantity %d as %p', (quantity, isValid) => {
    expect(pathsOf([named('image', quantity)])).toEqual(isValid ? [] : ['input.components.0.quantity']);
  });

  it('refuses a name that is listed twice, and more than 16 components', () => {
    expect(pathsOf([named('image'), named('image', 2)])).toEqual(['input.components.1.name']);
    const many = (count: number) => Array.from({ length: count }, (_, i) => named(`c${i}`));
    expect(pathsOf(many(maxComponentsPerCall))).toEqual([]);
    expect(pathsOf(many(17))).toEqual(['input.components']);
  });
});

describe('the hash of a payload', () => {
  const payload = { modelLabel: 'premium', inputTokens: 1500, outputTokens: 800, callStatus: 'OK' } as const;
  /** Computed by the version before components: SHA-256 of ["chat","premium",1500,800,null,"OK",null]. */
  const stored = 'G64yqmzG-oKpjOivDuFgUyCVmKN7yBZX6dE1gR4HR6U';

  it('is the one of the version before components, if there are none', () => {
    for (const components of [undefined, null, []])
      expect(payloadHashOf('chat', { ...payload, components })).toBe(stored);
  });

  it('covers the components and the dimensions', () => {
    const component = { name: 'cacheRead', quantity: 1 };
    const dimension = { name: 'cacheRead', value: '1' };
    const hashes = [
      payloadHashOf('chat', payload),
      payloadHashOf('chat', { ...payload, components: [component] }),
      payloadHashOf('chat', { ...payload, components: [{ ...component, quantity: 2 }] }),
      payloadHashOf('chat', { ...payload, components: [{ ...component, name: 'image' }] }),
      payloadHashOf('chat', { ...payload, dimensions: [dimension] }),
      payloadHashOf('chat', { ...payload, dimensions: [dimension], components: [component] }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
