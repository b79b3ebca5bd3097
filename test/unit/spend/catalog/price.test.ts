import fc from 'fast-check';
import { fromPriceMap, toModel, toModelItem, toPriceMap } from '../../../../src/spend/catalog/catalog.item.js';
import { invalidLabel, LiveCatalog } from '../../../../src/spend/catalog/catalog.js';
import { factIssues, labelIssues, priceIssues } from '../../../../src/spend/catalog/catalog-input.js';
import { entriesIssues, type PriceEntry, sortedEntries, tokenEntries } from '../../../../src/spend/catalog/price.js';
import {
  entriesAt,
  maxPriceChanges,
  nextHistory,
  type PriceChange,
  withChange,
} from '../../../../src/spend/catalog/price-history.js';
import { modelOf } from '../fixtures.js';

const dayMs = 86_400_000;
const nowMs = 1_000 * dayMs;
const entry = (name: string, usdMicrosPer1M = 1, above = 0): PriceEntry => ({ name, usdMicrosPer1M, above });

describe('the entries of a price', () => {
  it.each<[string, PriceEntry, string[]]>([
    ['the maximum', entry('a', 1_000_000_000_000_000, 1_000_000_000_000), []],
    ['a price above it', entry('a', 1_000_000_000_000_001), ['p.0.usdMicrosPer1M']],
    ['a negative price', entry('a', -1), ['p.0.usdMicrosPer1M']],
    ['a fraction', entry('a', 0.5), ['p.0.usdMicrosPer1M']],
    ['a tier above 10^12', entry('a', 1, 1_000_000_000_001), ['p.0.above']],
    ['a name with a separator', entry('a>1'), ['p.0.name']],
  ])('are validated: %s', (_, each, paths) => {
    expect(entriesIssues([each], 'p').map(({ path }) => path)).toEqual(paths);
  });

  it('are 1 to 64, each name and tier once', () => {
    expect(entriesIssues([], 'p')).toMatchObject([{ path: 'p' }]);
    const many = (count: number) => Array.from({ length: count }, (__, i) => entry('a', 1, i));
    expect(entriesIssues(many(64), 'p')).toEqual([]);
    expect(entriesIssues(many(65), 'p')).toMatchObject([{ path: 'p' }]);
    expect(entriesIssues([entry('a'), entry('a', 2), entry('a', 2, 5)], 'p')).toMatchObject([{ path: 'p.1' }]);
  });

  it('are sorted: input, output, by name, by tier', () => {
    const sorted = [
      entry('input'),
      entry('input', 2, 9),
      entry('output'),
      entry('a'),
      entry('b', 1, 2),
      entry('b', 1, 3),
    ];
    expect(sortedEntries([...sorted].reverse())).toEqual(sorted);
  });

  it('survive being stored', () => {
    const any = fc.record({
      name: fc.stringMatching(/^[a-z][A-Za-z0-9_]{0,31}$/),
      usdMicrosPer1M: fc.nat(1_000_000_000_000_000),
      above: fc.nat(1_000_000_000_000),
    });
    const unique = fc.uniqueArray(any, { selector: ({ name, above }) => `${name} ${above}` });
    fc.assert(
      fc.property(unique, (entries) => expect(fromPriceMap(toPriceMap(entries))).toEqual(sortedEntries(entries))),
    );
  });
});

describe('a history of prices', () => {
  const at = (fromMs: number, price = fromMs): PriceChange => ({ fromMs, entries: [entry('input', price)] });
  const cleared = (fromMs: number): PriceChange => ({ fromMs, entries: [] });
  const history = [at(10), at(20), cleared(30), at(40)];

  it.each([
    [9, undefined],
    [10, 10],
    [19, 10],
    [20, 20],
    [29, 20],
    [30, undefined],
    [39, undefined],
    [40, 40],
    [1_000, 40],
  ])('has at %d the price %p', (atMs, price) => {
    expect(entriesAt(history, atMs)?.[0]?.usdMicrosPer1M).toBe(price);
  });

  it('keeps its order, replaces a change from the same time, and decides only until the next change', () => {
    const changed = withChange(history, at(15), 50);
    expect(changed.map(({ fromMs }) => fromMs)).toEqual([10, 15, 20, 30, 40]);
    expect(entriesAt(changed, 20)?.[0]?.usdMicrosPer1M).toBe(20);
    expect(withChange(history, at(20, 7), 50).map(({ entries }) => entries[0]?.usdMicrosPer1M)).toEqual([
      10,
      7,
      undefined,
      40,
    ]);
  });

  it('drops what is older than 40 days, but not what was in force then', () => {
    const days = (...ago: number[]) => ago.map((day) => at(nowMs - day * dayMs, 1));
    const agoOf = (changes: readonly PriceChange[]) => changes.map(({ fromMs }) => (nowMs - fromMs) / dayMs);
    expect(agoOf(withChange(days(90, 50, 41, 39, 1), at(nowMs), nowMs))).toEqual([41, 39, 1, 0]);
    expect(agoOf(withChange(days(39, 1), at(nowMs), nowMs))).toEqual([39, 1, 0]);
    expect(agoOf(withChange(days(90), at(nowMs + dayMs), nowMs))).toEqual([90, -1]);
  });

  it('has at most 32 changes', () => {
    const full = Array.from({ length: maxPriceChanges }, (_, i) => at(nowMs - i * 1000)).reverse();
    const set = (fromMs: number) => nextHistory(full, { effectiveFrom: new Date(fromMs), prices: [entry('a')] }, nowMs);
    expect(set(nowMs)).toHaveLength(32);
    expect(() => set(nowMs + 1)).toThrow('more than 32 price changes');
  });

  it('begins now by default, and is cleared by no price', () => {
    expect(nextHistory([], { prices: [entry('b'), entry('a')] }, 5)).toEqual([
      { fromMs: 5, entries: [entry('a'), entry('b')] },
    ]);
    expect(nextHistory([at(1)], { prices: null }, 5)).toEqual([at(1), cleared(5)]);
  });
});

describe('the input of a change', () => {
  const pathsOf = (issues: readonly { path: string }[]) => issues.map(({ path }) => path);

  it.each([
    [-35 * dayMs, true],
    [-35 * dayMs - 1, false],
    [365 * dayMs, true],
    [365 * dayMs + 1, false],
  ])('may take effect %d ms from now: %p', (offsetMs, isValid) => {
    const issues = priceIssues({ effectiveFrom: new Date(nowMs + offsetMs) }, nowMs);
    expect(pathsOf(issues)).toEqual(isValid ? [] : ['input.effectiveFrom']);
  });

  it.each([
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', true],
    ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0', true],
    ['a model # 1', true],
    ['模'.repeat(256), true],
    ['a'.repeat(257), false],
    ['', false],
    [' ', false],
    ['a\nb', false],
    ['a\u202eb', false],
    ['\ud800', false],
  ])('accepts the model id %j: %p', (modelId, isValid) => {
    expect(pathsOf(factIssues({ modelId }))).toEqual(isValid ? [] : ['input.modelId']);
  });

  it('bounds the other facts and the label', () => {
    const long = (max: number) => 'a'.repeat(max + 1);
    const facts = { provider: long(64), tier: long(64), family: long(64), description: long(500) };
    expect(pathsOf(factIssues(facts))).toEqual(
      ['provider', 'tier', 'family', 'description'].map((name) => `input.${name}`),
    );
    expect(pathsOf(factIssues({ provider: 'a'.repeat(64), description: 'a'.repeat(500) }))).toEqual([]);
    for (const label of ['A', '', 'a#b', 'a'.repeat(65)]) expect(labelIssues(label, 'p')).toHaveLength(1);
    expect(labelIssues('gpt-5.5_x', 'p')).toEqual([]);
  });
});

describe('the catalog in memory', () => {
  const models = [
    modelOf('b', { addedAtMs: 1, position: 1 }),
    modelOf('c', { addedAtMs: 1, position: 0 }),
    modelOf('a', { addedAtMs: 2, retiredAt: new Date(3) }),
  ];

  it('is a map of the models in use, in the order in which they were added', () => {
    const catalog = new LiveCatalog();
    catalog.replace(models);
    expect([...catalog.keys()]).toEqual(['c', 'b']);
    expect([...catalog].map(([label, model]) => label === model.label)).toEqual([true, true]);
    expect([catalog.size, catalog.has('a'), catalog.get('a'), catalog.get('b')?.modelId]).toEqual([
      2,
      false,
      undefined,
      'm-b',
    ]);
    const visited: string[] = [];
    catalog.forEach((model, label, all) => void visited.push(`${label} ${model.modelId} ${all.size}`));
    expect(visited).toEqual(['c m-c 2', 'b m-b 2']);
    expect([...catalog.entries()].length + [...catalog.values()].length).toBe(4);
    expect(catalog.listAll().map(({ label }) => label)).toEqual(['c', 'b', 'a']);
  });

  it('survives being stored', () => {
    const model = modelOf('a', {
      provider: 'openai',
      description: 'd',
      retiredAt: new Date(3),
      origin: 'SET',
      changes: [{ fromMs: 5, entries: tokenEntries(3, 4) }],
    });
    expect(toModel(toModelItem(model))).toEqual(model);
    expect(toModel(toModelItem(modelOf('a')))).toEqual(modelOf('a'));
  });

  it('lists at most 50 labels in an error', () => {
    const { message, extensions } = invalidLabel(Array.from({ length: 500 }, (_, i) => `label-${i}`));
    expect(extensions.validLabels).toHaveLength(50);
    expect(message).toMatch(/label-49 and 450 more$/);
  });
});
