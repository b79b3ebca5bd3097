import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { jsonEntries } from '../../../../src/spend/catalog/json-entries.js';
import { liteLlmPrices, microsPer1M } from '../../../../src/spend/catalog/litellm.js';
import { parsePriceList } from '../../../../src/spend/catalog/price-list.js';
import { modelOf } from '../fixtures.js';

const fixture = readFileSync(new URL('../../../support/litellm-prices.json', import.meta.url), 'utf8');

const modelsOf = (...modelIds: string[]) => modelIds.map((modelId, i) => modelOf(`label-${i}`, { modelId }));
/** `cacheRead>200000: 600000` per entry. */
const shown = (entries: readonly { name: string; above: number; usdMicrosPer1M: number }[]) =>
  Object.fromEntries(
    entries.map(({ name, above, usdMicrosPer1M }) => [above > 0 ? `${name}>${above}` : name, usdMicrosPer1M]),
  );
const read = async (modelId: string, text = fixture) => {
  const { prices, faults } = await parsePriceList(text, modelsOf(modelId));
  return prices[0] ? shown(prices[0].entries) : faults[0];
};

describe("LiteLLM's price file", () => {
  it('gives a Bedrock model its cache prices and its tier above 200,000 tokens', async () => {
    expect(await read('anthropic.claude-sonnet-4-5-20250929-v1:0')).toEqual({
      input: 3_000_000,
      'input>200000': 6_000_000,
      output: 15_000_000,
      'output>200000': 22_500_000,
      cacheRead: 300_000,
      'cacheRead>200000': 600_000,
      cacheWrite5m: 3_750_000,
      'cacheWrite5m>200000': 7_500_000,
      cacheWrite1h: 6_000_000,
      'cacheWrite1h>200000': 12_000_000,
    });
  });

  it.each<[string, object]>([
    // The prices of service tiers are not read.
    [
      'gpt-5.5',
      {
        input: 5_000_000,
        'input>272000': 10_000_000,
        output: 30_000_000,
        'output>272000': 45_000_000,
        cacheRead: 500_000,
        'cacheRead>272000': 1_000_000,
      },
    ],
    [
      'gemini/gemini-2.5-flash',
      { input: 300_000, output: 2_500_000, cacheRead: 30_000, reasoning: 2_500_000, inputAudio: 1_000_000 },
    ],
    ['amazon.nova-canvas-v1:0', { image: 60_000_000_000 }],
    ['whisper-1', { audioSecond: 100_000_000, outputSecond: 100_000_000 }],
    [
      'amazon.nova-2-multimodal-embeddings-v1:0',
      { input: 135_000, output: 0, image: 60_000_000, audioSecond: 140_000_000, videoSecond: 700_000_000 },
    ],
    ['perplexity/pplx-70b-online', { input: 0, output: 2_800_000, request: 5_000_000_000 }],
    ['deepseek/deepseek-chat', { input: 280_000, output: 420_000, cacheRead: 28_000, cacheWrite5m: 0 }],
    ['dashscope/qwen-flash', { input: 50_000, output: 400_000, 'input>256000': 250_000, 'output>256000': 2_000_000 }],
    // In the format of Tollgate, in the same file.
    ['own-model', { input: 1, output: 2, 'cacheRead>200000': 3 }],
  ])('is read for %s', async (modelId, prices) => {
    expect(await read(modelId)).toEqual(prices);
  });

  it('reports a model without a price, and one that it does not have', async () => {
    expect(await read('without-price')).toMatchObject({
      kind: 'invalid',
      message: 'has no price that Tollgate knows',
    });
    expect(await read('nobody')).toEqual({ label: 'label-0', kind: 'missing', message: 'no entry for nobody' });
  });

  it('gives a model that reads and makes images a price for each', () => {
    const { entries } = liteLlmPrices({ input_cost_per_image: 0.01, output_cost_per_image: 0.04 });
    expect(shown(entries)).toEqual({ inputImage: 10_000_000_000, image: 40_000_000_000 });
  });

  it('uses no price of a model if one of them is wrong', async () => {
    const wrong = { m: { input_cost_per_token: 1e-6, output_cost_per_token: -1 } };
    expect(await read('m', JSON.stringify(wrong))).toEqual({
      label: 'label-0',
      kind: 'invalid',
      message: 'output_cost_per_token: is not a price in dollars',
    });
    const tiny = { m: { input_cost_per_token: 4e-13, output_cost_per_token: 1e-6 } };
    expect(await read('m', JSON.stringify(tiny))).toMatchObject({
      message: 'input_cost_per_token: is less than half a micro-dollar per million',
    });
  });
});

describe('dollars per unit', () => {
  it.each<[unknown, number | string]>([
    [3e-6, 3_000_000],
    [0.000003, 3_000_000],
    ['3e-7', 300_000],
    [1.1e-6, 1_100_000],
    [3.125e-7, 312_500],
    [0, 0],
    [0.06, 60_000_000_000],
    [1000, 1_000_000_000_000_000],
    [1000.1, 'is more than'],
    [1e21, 'is more than'],
    [0.0002833333333333333, 283_333_333],
    [1.59263611e-7, 159_264],
    [5e-13, 1],
    [4.9e-13, 'is less than half'],
    [1.5e-12, 2],
    [2.4e-12, 2],
    [-1e-6, 'is not a price'],
    ['free', 'is not a price'],
    [true, 'is not a price'],
    [{}, 'is not a price'],
    [Number.NaN, 'is not a price'],
  ])('%p are %p micro-dollars per million', (dollars, micros) => {
    expect(microsPer1M(dollars)).toEqual(typeof micros === 'number' ? micros : expect.stringContaining(micros));
  });

  it('are exact for every price of whole micro-dollars per million', () => {
    // As JSON has it: 0.000003 is 3000000 with twelve places.
    fc.assert(
      fc.property(fc.nat(999_999_999_999_999), (micros) => {
        const digits = String(micros).padStart(13, '0');
        expect(microsPer1M(JSON.parse(`${digits.slice(0, -12).replace(/^0+(?=\d)/, '')}.${digits.slice(-12)}`))).toBe(
          micros,
        );
      }),
    );
  });
});

describe('the entries of a JSON object', () => {
  const all = (text: string, charsPerPause = 8) => [...jsonEntries(text, charsPerPause)].filter((entry) => entry);

  it('are the same as JSON.parse finds, for any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.nat(2), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const parsed = all(text).map((entry) => [entry?.[0], JSON.parse(entry?.[1] ?? '')]);
        expect(parsed).toEqual(Object.entries(JSON.parse(text)));
      }),
    );
  });

  it('come with pauses', () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`name-${i}`, i])));
    expect([...jsonEntries(text, 100)].filter((entry) => !entry).length).toBeGreaterThan(10);
  });

  it.each([
    '',
    '[1]',
    'null',
    '<html>',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":[1}',
    '{"a":"b',
    '{"a":1} x',
    '{a:1}',
    '{"a" 1}',
    '{"a":,"b":1}',
  ])('are refused: %s', (text) => {
    expect(() => all(text)).toThrow();
  });
});
