import fc from 'fast-check';
import { orgScope, scopeOf, sliceCount, sliceOf } from '../../src/orgs/scope.js';
import { type App, inForce, type Org, type QuotaScope, type Settings } from '../../src/orgs/settings.js';
import {
  amountIssues,
  costOf,
  modeOf,
  mostACall,
  noUsage,
  plus,
  quotaPct,
  type SpendMode,
  type Submitted,
  spendModes,
  sum,
  type Usage,
  worstMode,
} from '../../src/spend/money.js';
import type { Catalog, Price } from '../../src/spend/price.js';
import { alertFor, fallbackAlert } from '../../src/spend/quota-alert.js';
import {
  appSubject,
  type DayView,
  daySpend,
  type Figures,
  labelSpend,
  orgSubject,
  type Subject,
} from '../../src/spend/report.js';
import { type ChainLink, choose, recheckAfterSecs, type Sticky, stickyReasons } from '../../src/spend/selection.js';

const mostQuota = 1_000_000_000_000_000;
const amount = fc.integer({ min: 0, max: mostACall });
const usage: fc.Arbitrary<Usage> = fc.record({
  costUsdMicros: amount,
  inputTokens: amount,
  outputTokens: amount,
  requests: fc.nat(),
});
const figureNames = ['costUsdMicros', 'inputTokens', 'outputTokens', 'requests'] as const;
const price = (inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number): Price => ({
  inputUsdMicrosPer1M,
  outputUsdMicrosPer1M,
  source: 'CONFIG_DEFAULT',
});

describe('costOf', () => {
  it.each([
    [1_500, 800, 3_000_000, 15_000_000, 16_500],
    [0, 0, 3_000_000, 15_000_000, 0],
    [1, 0, 3_000_000, 15_000_000, 3],
    [1, 1, 250_000, 1_250_000, 1],
    [3, 3, 250_000, 250_000, 0], // 0.75 on each side: 1.5 together would give 1
    [4, 3, 250_000, 250_000, 1],
    [7, 9, 999_999, 999_999, 14],
    [1_000_000, 1_000_000, 1, 1, 2],
    [999_999, 999_999, 1, 1, 0],
    [1_000_000_000_000, 0, 3_000_001, 0, 3_000_001_000_000],
    [999_999_999_999, 0, 3_000_001, 0, 3_000_000_999_996],
  ])('of %d tokens in and %d out at %d and %d is %d', (inputTokens, outputTokens, inPrice, outPrice, cost) => {
    expect(costOf({ inputTokens, outputTokens }, price(inPrice, outPrice))).toEqual({
      costUsdMicros: cost,
      priceSource: 'CONFIG_DEFAULT',
    });
  });

  it('is never above what the tokens cost, and short of it by less than a micro-dollar a side', () => {
    const perMillion = fc.integer({ min: 0, max: 1_000_000_000 });
    fc.assert(
      fc.property(amount, amount, perMillion, perMillion, (inputTokens, outputTokens, inPrice, outPrice) => {
        const of = (input: number, output: number) =>
          BigInt(costOf({ inputTokens: input, outputTokens: output }, price(inPrice, outPrice)).costUsdMicros);
        const [inSide, outSide] = [of(inputTokens, 0), of(0, outputTokens)];
        expect(of(inputTokens, outputTokens)).toBe(inSide + outSide);
        for (const [side, tokens, each] of [
          [inSide, inputTokens, inPrice],
          [outSide, outputTokens, outPrice],
        ] as const) {
          const shortBy = BigInt(tokens) * BigInt(each) - side * 1_000_000n;
          expect(shortBy >= 0n && shortBy < 1_000_000n).toBe(true);
        }
      }),
    );
  });

  it('is what was submitted, whatever the tokens; a submitted nothing is free, a null is not submitted', () => {
    fc.assert(
      fc.property(amount, amount, amount, (inputTokens, outputTokens, costUsdMicros) => {
        expect(costOf({ inputTokens, outputTokens, costUsdMicros }, price(3, 4))).toEqual({
          costUsdMicros,
          priceSource: 'SUBMITTED',
        });
      }),
    );
    const tokens = { inputTokens: 1_000_000, outputTokens: 0 };
    expect(costOf({ ...tokens, costUsdMicros: 0 }, price(7, 7))).toEqual({
      costUsdMicros: 0,
      priceSource: 'SUBMITTED',
    });
    expect(costOf({ ...tokens, costUsdMicros: null }, price(7, 7))).toEqual({
      costUsdMicros: 7,
      priceSource: 'CONFIG_DEFAULT',
    });
    expect(costOf(tokens, { ...price(7, 7), source: 'PRICING_CACHE' })).toEqual({
      costUsdMicros: 7,
      priceSource: 'PRICING_CACHE',
    });
  });
});

describe('amountIssues', () => {
  const sound: Submitted = { inputTokens: 1, outputTokens: 2, costUsdMicros: 3 };
  const names = ['inputTokens', 'outputTokens', 'costUsdMicros'] as const;

  it.each<[string, number, boolean]>([
    ['nothing', 0, true],
    ['one', 1, true],
    ['the most', 1_000_000_000_000, true],
    ['one above the most', 1_000_000_000_001, false],
    ['a negative', -1, false],
    ['a fraction', 0.5, false],
    ['a fraction at the top', 999_999_999_999.5, false],
    ['no number', Number.NaN, false],
    ['no end', Number.POSITIVE_INFINITY, false],
    ['no beginning', Number.NEGATIVE_INFINITY, false],
    ['2^53', 2 ** 53, false],
  ])('%s (%d) is taken: %p, at any of the three', (_, value, taken) => {
    for (const name of names) {
      expect(amountIssues({ ...sound, [name]: value }).map(({ path }) => path)).toEqual(taken ? [] : [`input.${name}`]);
    }
  });

  it('names every amount that is wrong, and asks for no cost', () => {
    expect(
      amountIssues({ inputTokens: -1, outputTokens: 0.5, costUsdMicros: Number.NaN }).map(({ path }) => path),
    ).toEqual(names.map((name) => `input.${name}`));
    for (const costUsdMicros of [undefined, null])
      expect(amountIssues({ inputTokens: 1, outputTokens: 1, costUsdMicros })).toEqual([]);
  });
});

describe('usage', () => {
  it('adds up figure by figure, in any order and in any grouping', () => {
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

  it('is nothing when there is none, and nothing adds nothing', () => {
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
    [949_999_999_999_999, mostQuota, 95, 'NORMAL'],
    [950_000_000_000_000, mostQuota, 95, 'TIGHT'],
    [999_999_999_999_999, mostQuota, 95, 'TIGHT'],
  ])('of %d used of %d with a threshold of %d is %s', (cost, quota, threshold, mode) => {
    expect(modeOf(cost, quota, threshold)).toBe(mode);
  });

  it('changes at exactly the first whole amount on or past each line, for any quota and threshold', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: mostQuota }), fc.integer({ min: 1, max: 100 }), (quota, threshold) => {
        const product = BigInt(quota) * BigInt(threshold);
        const line = Number(product / 100n) + (product % 100n > 0n ? 1 : 0);
        expect(modeOf(line - 1, quota, threshold)).toBe('NORMAL');
        expect(modeOf(line, quota, threshold)).toBe(line === quota ? 'EXCEEDED' : 'TIGHT');
        expect(modeOf(quota - 1, quota, threshold)).toBe(quota - 1 >= line ? 'TIGHT' : 'NORMAL');
        expect(modeOf(quota, quota, threshold)).toBe('EXCEEDED');
      }),
    );
  });

  it('never gets better as more is spent', () => {
    const micros = fc.integer({ min: 0, max: mostQuota });
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
    [360_287_970_189_641, 360_287_970_189_641, 100], // 100 times as much is past 2^53
  ])('of %d used of %d is %d', (cost, quota, pct) => {
    expect(quotaPct(cost, quota)).toBe(pct);
  });

  it('is 100 or more where the quota is used up, and only there', () => {
    const micros = fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: mostQuota }));
    fc.assert(
      fc.property(micros, fc.integer({ min: -3, max: 3 }), (quota, off) => {
        const cost = Math.max(0, quota + off);
        expect({ cost, quota, full: quotaPct(cost, quota) >= 100 }).toEqual({ cost, quota, full: cost >= quota });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('choose', () => {
  const labels = ['a', 'b', 'c', 'd'];
  const usedOf = { under: 10, tight: 95, over: 100 } as const;
  type Used = keyof typeof usedOf;
  const modes: Record<Used, SpendMode> = { under: 'NORMAL', tight: 'TIGHT', over: 'EXCEEDED' };
  const chainOf = (used: readonly Used[]): ChainLink[] =>
    used.map((state, i) => ({
      label: labels[i] as string,
      costUsdMicros: usedOf[state],
      quotaUsdMicros: 100,
      hasModel: true,
    }));
  const without = (label: string, chain: readonly ChainLink[]): ChainLink[] =>
    chain.map((link) => ({ ...link, hasModel: link.label !== label }));
  const stuckAt = (activeLabel: string, reason: Sticky['reason'] = 'QUOTA_EXCEEDED'): Sticky => ({
    activeLabel,
    reason,
    activatedAt: new Date(0),
  });

  const chains: Used[][] = [[]];
  for (let from = 0; chains.length < 1 + 3 + 9 + 27 + 81; from++)
    for (const state of ['under', 'tight', 'over'] as const) chains.push([...(chains[from] as Used[]), state]);
  const cases = chains.slice(1).flatMap((used) => {
    const stickies = [
      undefined,
      ...stickyReasons.flatMap((reason) =>
        [...labels.slice(0, used.length), 'gone'].map((label) => stuckAt(label, reason)),
      ),
    ];
    return stickies.flatMap((sticky) => [true, false].map((enabled) => ({ used, sticky, enabled })));
  });

  /** Every case there is, with what was chosen and where things lie in the chain. */
  const outcomes = cases.map(({ used, sticky, enabled }) => {
    const choice = choose(chainOf(used), sticky, enabled, 95);
    const inChain = labels.slice(0, used.length);
    const stuck = sticky ? inChain.indexOf(sticky.activeLabel) : -1;
    const overridden = stuck >= 0 && sticky?.reason === 'MANUAL_OVERRIDE';
    return {
      used,
      sticky,
      enabled,
      choice,
      chosen: choice.label === undefined ? -1 : inChain.indexOf(choice.label),
      stuck,
      overridden,
    };
  });
  const where = (found: (outcome: (typeof outcomes)[number]) => boolean) => {
    const those = outcomes.filter(found);
    // A promise about nothing would always be kept.
    expect(those.length).toBeGreaterThan(0);
    return those;
  };
  const breaches = (of: typeof outcomes, kept: (outcome: (typeof outcomes)[number]) => boolean) =>
    of.filter((outcome) => !kept(outcome));

  it('goes through every chain of one to four labels with every sticky state', () => {
    const perChain = (length: number) => 3 ** length * (1 + 2 * (length + 1)) * 2;
    expect(outcomes).toHaveLength([1, 2, 3, 4].reduce((all, length) => all + perChain(length), 0));
  });

  it('never picks a label that is used up, except by override', () => {
    const free = where(({ chosen, overridden }) => chosen >= 0 && !overridden);
    expect(breaches(free, ({ used, chosen }) => used[chosen] !== 'over')).toEqual([]);
  });

  it('passes over no label that is under its quota', () => {
    const free = where(({ overridden }) => !overridden);
    const startOf = ({ enabled, stuck }: (typeof outcomes)[number]) => (enabled && stuck > 0 ? stuck : 0);
    expect(
      breaches(free, (outcome) => {
        const passed = outcome.used.slice(startOf(outcome), outcome.chosen < 0 ? undefined : outcome.chosen);
        return passed.every((state) => state === 'over');
      }),
    ).toEqual([]);
  });

  it('never moves back from the sticky label', () => {
    const held = where(({ enabled, stuck, overridden, chosen }) => enabled && stuck >= 0 && !overridden && chosen >= 0);
    expect(breaches(held, ({ chosen, stuck }) => chosen >= stuck)).toEqual([]);
  });

  it('is bound neither by a label that has left the chain nor, with sticky off, by one that is in it', () => {
    const unbound = where(
      ({ sticky, stuck, enabled, overridden }) => sticky !== undefined && !overridden && (stuck < 0 || !enabled),
    );
    for (const { used, enabled, choice } of unbound)
      expect(choice).toEqual(choose(chainOf(used), undefined, enabled, 95));
  });

  it('obeys an override as it stands: sticky on or off, used up or not, and moves nothing', () => {
    for (const { used, stuck, choice } of where(({ overridden }) => overridden)) {
      expect(choice).toEqual({ label: labels[stuck], reason: 'MANUAL_OVERRIDE', mode: modes[used[stuck] as Used] });
    }
  });

  it('picks nothing, and says why, where all from the start of the walk are used up', () => {
    for (const { choice } of where(({ chosen }) => chosen < 0))
      expect(choice).toEqual({ label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' });
    const usedUp = where(({ used, overridden }) => !overridden && used.every((state) => state === 'over'));
    expect(breaches(usedUp, ({ chosen }) => chosen < 0)).toEqual([]);
    expect(choose([], undefined, true, 95)).toEqual({
      label: undefined,
      reason: 'ALL_QUOTAS_EXCEEDED',
      mode: 'EXCEEDED',
    });
  });

  it('moves the sticky state exactly where sticky is on and the choice is further along', () => {
    for (const { choice, chosen, stuck, enabled, overridden } of outcomes) {
      const start = enabled && stuck > 0 ? stuck : 0;
      const moves = enabled && !overridden && chosen > start;
      expect(choice.move).toEqual(moves ? { from: labels[start], to: choice.label } : undefined);
      expect('move' in choice).toBe(moves);
    }
  });

  it("says the chosen label's mode, and why it was chosen", () => {
    for (const { used, choice, chosen, stuck, enabled } of where(
      ({ chosen: label, overridden }) => label >= 0 && !overridden,
    )) {
      const start = enabled && stuck > 0 ? stuck : 0;
      expect(choice.mode).toBe(modes[used[chosen] as Used]);
      expect(choice.reason).toBe(chosen > start ? 'QUOTA_EXCEEDED' : start > 0 ? 'STICKY_FALLBACK' : 'WITHIN_QUOTA');
    }
  });

  it.each<[string, ChainLink[], Sticky | undefined, ReturnType<typeof choose>]>([
    ['the first label', chainOf(['under', 'under']), undefined, { label: 'a', reason: 'WITHIN_QUOTA', mode: 'NORMAL' }],
    [
      'the next one',
      chainOf(['over', 'tight']),
      undefined,
      { label: 'b', reason: 'QUOTA_EXCEEDED', mode: 'TIGHT', move: { from: 'a', to: 'b' } },
    ],
    [
      'the sticky one, though an earlier one is free',
      chainOf(['under', 'under']),
      stuckAt('b'),
      { label: 'b', reason: 'STICKY_FALLBACK', mode: 'NORMAL' },
    ],
    [
      'the one after a sticky one that is used up',
      chainOf(['under', 'over', 'over', 'under']),
      stuckAt('b'),
      { label: 'd', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'b', to: 'd' } },
    ],
    [
      'none, though an earlier one is free',
      chainOf(['under', 'over']),
      stuckAt('b'),
      { label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' },
    ],
    [
      'the next one after a quota of nothing',
      [{ label: 'a', costUsdMicros: 0, quotaUsdMicros: 0, hasModel: true }, ...chainOf(['over', 'under']).slice(1)],
      undefined,
      { label: 'b', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'a', to: 'b' } },
    ],
    [
      'the first one with a model',
      without('a', chainOf(['under', 'under'])),
      undefined,
      { label: 'b', reason: 'WITHIN_QUOTA', mode: 'NORMAL' },
    ],
    [
      'past one without a model, and moves nothing that other gateways go by',
      without('b', chainOf(['over', 'under', 'under'])),
      undefined,
      { label: 'c', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL' },
    ],
    [
      'past one without a model that is used up as well',
      without('b', chainOf(['over', 'over', 'under'])),
      undefined,
      { label: 'c', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'a', to: 'c' } },
    ],
    [
      'the next one after a sticky one without a model',
      without('b', chainOf(['over', 'under', 'under'])),
      stuckAt('b'),
      { label: 'c', reason: 'STICKY_FALLBACK', mode: 'NORMAL' },
    ],
    [
      'no override to one without a model',
      without('b', chainOf(['under', 'under'])),
      stuckAt('b', 'MANUAL_OVERRIDE'),
      { label: undefined, reason: 'NO_USABLE_MODEL', mode: 'EXCEEDED' },
    ],
    [
      'none, where the rest has no model',
      without('b', chainOf(['over', 'under'])),
      undefined,
      { label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' },
    ],
    [
      'none, where none has a model',
      without('a', chainOf(['under'])),
      undefined,
      { label: undefined, reason: 'NO_USABLE_MODEL', mode: 'EXCEEDED' },
    ],
    [
      'the overridden one, used up',
      chainOf(['under', 'over']),
      stuckAt('b', 'MANUAL_OVERRIDE'),
      { label: 'b', reason: 'MANUAL_OVERRIDE', mode: 'EXCEEDED' },
    ],
    [
      'back by override',
      chainOf(['under', 'under']),
      stuckAt('a', 'MANUAL_OVERRIDE'),
      { label: 'a', reason: 'MANUAL_OVERRIDE', mode: 'NORMAL' },
    ],
  ])('picks %s', (_, chain, sticky, choice) => {
    expect(choose(chain, sticky, true, 95)).toEqual(choice);
  });
});

describe('recheckAfterSecs', () => {
  it.each([
    ['the interval', 300, 3_600_000, false, 300],
    ['what is left of the day', 300, 7900, false, 8],
    ['one second at the least', 300, 0, false, 1],
    ['what is left of the day, with nothing left to call', 300, 3_600_000, true, 3600],
  ])('is %s', (_, intervalSecs, leftMs, isAllUsedUp, secs) => {
    expect(recheckAfterSecs(intervalSecs, 1000, 1000 + leftMs, isAllUsedUp)).toBe(secs);
  });
});

const catalog: Catalog = new Map(
  ['premium', 'standard', 'economy'].map((label) => [
    label,
    { label, bedrockModelId: `m-${label}`, inputUsdMicrosPer1M: 1, outputUsdMicrosPer1M: 2 },
  ]),
);
const settings: Settings = {
  modelOrdering: ['premium', 'standard'],
  quotas: [
    { label: 'standard', dailyUsdMicros: 1_000 },
    { label: 'premium', dailyUsdMicros: 100 },
  ],
  tightModeThresholdPct: 95,
  refreshIntervalNormalSecs: 300,
  refreshIntervalTightSecs: 30,
};
const registered = {
  orgId: 'org-a',
  credentials: { clientId: 'c', role: 'FULL' as const, rotation: 1, generation: 0 },
  createdAt: new Date(0),
  updatedAt: new Date(0),
};
const orgWith = (quotaScope: QuotaScope, version = 1, over: Partial<Settings> = {}): Org => ({
  ...registered,
  ...settings,
  ...over,
  nodeType: 'Org',
  name: 'Acme',
  timezone: 'UTC',
  zones: [{ zone: 'UTC', fromMs: 0 }],
  quotaScope,
  stickyFallbackEnabled: true,
  shardCount: 8,
  appsMayBringLimits: false,
  version,
});
const appOf = (org: Org, appId = 'web', version = 1, own: Partial<Settings> = {}): App =>
  inForce(org, { ...registered, appId, name: 'Web', version, own });
const spent = (costUsdMicros: number, requests = 1): Usage => ({
  costUsdMicros,
  inputTokens: 10 * costUsdMicros,
  outputTokens: 3,
  requests,
});

describe('scope', () => {
  it("is the org's under quotaScope ORG, whatever the app, and the app's own under APP", () => {
    expect([scopeOf(appOf(orgWith('ORG'), 'web')), scopeOf(appOf(orgWith('ORG'), 'batch'))]).toEqual([
      { orgId: 'org-a' },
      { orgId: 'org-a' },
    ]);
    expect(scopeOf(appOf(orgWith('APP'), 'web'))).toEqual({ orgId: 'org-a', appId: 'web' });
    expect('appId' in scopeOf(appOf(orgWith('ORG')))).toBe(false);
    for (const quotaScope of ['ORG', 'APP'] as const) expect(orgScope(orgWith(quotaScope))).toEqual({ orgId: 'org-a' });
  });

  it('lies in one of sixteen slices, all of them in use and each where it has always been', () => {
    fc.assert(
      fc.property(fc.string(), (orgId) => {
        const slice = sliceOf(orgId);
        return Number.isInteger(slice) && slice >= 0 && slice < 16;
      }),
    );
    expect(new Set(Array.from({ length: 500 }, (_, i) => sliceOf(`org ${i}`))).size).toBe(sliceCount);
    expect(['org-a', 'org-b', '00000000-0000-4000-8000-000000000000'].map(sliceOf)).toEqual([10, 1, 0]);
  });
});

describe('a subject', () => {
  it('is a roll-up only as an org whose apps have the quotas', () => {
    const [shared, apart] = [orgWith('ORG'), orgWith('APP')];
    expect(
      [orgSubject(shared), appSubject(appOf(shared)), orgSubject(apart), appSubject(appOf(apart))].map(
        ({ isRollup }) => isRollup,
      ),
    ).toEqual([false, false, true, false]);
  });

  it('has one version of the chain for all who share it, and a higher one after every change', () => {
    const version = fc.integer({ min: 1, max: 1000 });
    fc.assert(
      fc.property(version, version, version, (orgVersion, one, other) => {
        const shared = orgWith('ORG', orgVersion);
        expect(appSubject(appOf(shared, 'web', one)).orderingVersion).toBe(
          appSubject(appOf(shared, 'batch', other)).orderingVersion,
        );
        expect(appSubject(appOf(shared, 'web', one)).orderingVersion).toBe(orgSubject(shared).orderingVersion);
        expect(orgSubject(orgWith('ORG', orgVersion + 1)).orderingVersion).toBeGreaterThan(
          orgSubject(shared).orderingVersion,
        );

        const versionOf = (ofOrg: number, ofApp: number) =>
          appSubject(appOf(orgWith('APP', ofOrg), 'web', ofApp)).orderingVersion;
        expect(versionOf(orgVersion + 1, one)).toBeGreaterThan(versionOf(orgVersion, one));
        expect(versionOf(orgVersion, one + 1)).toBeGreaterThan(versionOf(orgVersion, one));
      }),
    );
  });

  it("has the app's own settings where it set them", () => {
    const { settings: own } = appSubject(appOf(orgWith('APP'), 'web', 1, { tightModeThresholdPct: 50 }));
    expect([own.tightModeThresholdPct, own.modelOrdering]).toEqual([50, settings.modelOrdering]);
  });
});

const today = (subject: Subject): DayView => ({ subject, catalog, day: '2026-05-05', isOver: false });

describe('labelSpend', () => {
  const subject = orgSubject(orgWith('ORG'));

  it.each<[number, SpendMode, number]>([
    [0, 'NORMAL', 0],
    [94, 'NORMAL', 94],
    [95, 'TIGHT', 95],
    [100, 'EXCEEDED', 100],
    [250, 'EXCEEDED', 250],
  ])('of %d micro-dollars of 100 is %s at %d %%', (cost, mode, pct) => {
    expect(labelSpend(today(subject), 'premium', spent(cost))).toEqual({
      ...spent(cost),
      label: 'premium',
      bedrockModelId: 'm-premium',
      quotaUsdMicros: 100,
      quotaPct: pct,
      thresholdPct: 95,
      mode,
    });
  });

  it('is nothing, as of no time, before the first aggregation', () => {
    const none = labelSpend(today(subject), 'standard', undefined);
    expect(none).toEqual({
      ...noUsage,
      label: 'standard',
      bedrockModelId: 'm-standard',
      quotaUsdMicros: 1_000,
      quotaPct: 0,
      thresholdPct: 95,
      mode: 'NORMAL',
    });
    expect('asOf' in none).toBe(false);
  });

  it('says when its figures were true', () => {
    const asOf = new Date(5);
    expect(labelSpend(today(subject), 'premium', { ...spent(1), asOf }).asOf).toBe(asOf);
  });

  it('has no quota and no per cent where none is set, and no model that the catalog does not know', () => {
    expect(labelSpend(today(subject), 'economy', spent(7))).toEqual({
      ...spent(7),
      label: 'economy',
      bedrockModelId: 'm-economy',
      thresholdPct: 95,
      mode: 'NORMAL',
    });
    expect(labelSpend(today(subject), 'retired', spent(7))).toEqual({
      ...spent(7),
      label: 'retired',
      thresholdPct: 95,
      mode: 'NORMAL',
    });
  });

  it('judges by the quota in force, not by a mode once stored', () => {
    expect(labelSpend(today(subject), 'premium', { ...spent(1), mode: 'EXCEEDED' }).mode).toBe('NORMAL');
  });

  it('judges a day that is over by the rules it ended with', () => {
    const past = { ...today(subject), isOver: true };
    const rules = { quotaUsdMicros: 1000, thresholdPct: 50 };
    expect(labelSpend(past, 'premium', { ...spent(600), rules })).toMatchObject({
      quotaUsdMicros: 1000,
      quotaPct: 60,
      thresholdPct: 50,
      mode: 'TIGHT',
    });
    expect(labelSpend(today(subject), 'premium', { ...spent(600), rules })).toMatchObject({
      quotaUsdMicros: 100,
      mode: 'EXCEEDED',
    });
    const unlimited = labelSpend(past, 'premium', { ...spent(600), rules: { thresholdPct: 50 } });
    expect([unlimited.quotaUsdMicros, unlimited.mode]).toEqual([undefined, 'NORMAL']);
  });

  it('knows no quota of a day that is over and had no spend, and takes that of today for one not summed yet', () => {
    const past = { ...today(subject), isOver: true };
    expect(labelSpend(past, 'premium')).toEqual({
      ...noUsage,
      label: 'premium',
      bedrockModelId: 'm-premium',
      thresholdPct: 95,
      mode: 'NORMAL',
    });
    expect(labelSpend(past, 'premium', spent(95))).toMatchObject({ quotaUsdMicros: 100, mode: 'TIGHT' });
  });

  it('has on a roll-up no quota, and the worst mode of its apps', () => {
    const rollup = orgSubject(orgWith('APP'));
    expect(labelSpend(today(rollup), 'premium', { ...spent(1), mode: 'TIGHT' })).toEqual({
      ...spent(1),
      label: 'premium',
      bedrockModelId: 'm-premium',
      thresholdPct: 95,
      mode: 'TIGHT',
    });
    expect(labelSpend(today(rollup), 'premium', spent(1_000)).mode).toBe('NORMAL');
  });
});

describe('daySpend', () => {
  const subjects: readonly [string, Subject, 'ORG' | 'APP'][] = [
    ['an org', orgSubject(orgWith('ORG')), 'ORG'],
    ['a roll-up', orgSubject(orgWith('APP')), 'ORG'],
    ['an app', appSubject(appOf(orgWith('APP'))), 'APP'],
    ["an app in its org's quota", appSubject(appOf(orgWith('ORG'))), 'ORG'],
  ];
  const anyLabel = fc.constantFrom('premium', 'standard', 'economy', 'retired', 'old');
  const figures = fc
    .array(fc.tuple(anyLabel, fc.option(usage, { nil: undefined })))
    .map((entries): ReadonlyMap<string, Figures | undefined> => new Map(entries));

  it.each(subjects)(
    'of %s names the labels of the chain in its order, then what else was spent on, and sums them all',
    (_, subject, scope) => {
      fc.assert(
        fc.property(figures, (given) => {
          const day = daySpend(today(subject), given);
          const others = [...given].filter(
            ([label, used]) => !settings.modelOrdering.includes(label) && used !== undefined && used.requests > 0,
          );
          expect(day.labels.map(({ label }) => label)).toEqual([
            'premium',
            'standard',
            ...others.map(([label]) => label),
          ]);
          expect([day.day, day.scope, day.subject]).toEqual(['2026-05-05', scope, subject]);
          for (const name of figureNames) {
            let total = 0;
            for (const label of day.labels) total += label[name];
            expect(day[name]).toBe(total);
          }
          for (const { label, costUsdMicros, requests } of day.labels) {
            expect([costUsdMicros, requests]).toEqual([
              given.get(label)?.costUsdMicros ?? 0,
              given.get(label)?.requests ?? 0,
            ]);
          }
        }),
      );
    },
  );

  it('is in the worst mode of its labels', () => {
    const modeWith = (premium: number, standard: number) =>
      daySpend(
        today(orgSubject(orgWith('ORG'))),
        new Map([
          ['premium', spent(premium)],
          ['standard', spent(standard)],
        ]),
      ).mode;
    expect([modeWith(1, 1), modeWith(1, 950), modeWith(95, 1), modeWith(100, 950)]).toEqual([
      'NORMAL',
      'TIGHT',
      'TIGHT',
      'EXCEEDED',
    ]);
  });

  it('has no quota on any label of a roll-up, however much was spent', () => {
    const { labels, mode } = daySpend(today(orgSubject(orgWith('APP'))), new Map([['premium', spent(1_000_000)]]));
    expect(labels.map((label) => ['quotaUsdMicros' in label, 'quotaPct' in label])).toEqual([
      [false, false],
      [false, false],
    ]);
    expect(mode).toBe('NORMAL');
  });
});

describe('alertFor', () => {
  const day = '2026-05-05';
  const app = appSubject(appOf(orgWith('APP')));
  const org = orgSubject(orgWith('ORG'));
  const of = (subject: Subject, label: string, figures: Figures | undefined) =>
    alertFor(subject, labelSpend(today(subject), label, figures), day);

  it.each<[number, string | undefined]>([
    [0, undefined],
    [94, undefined],
    [95, 'TIGHT_MODE'],
    [99, 'TIGHT_MODE'],
    [100, 'QUOTA_EXCEEDED'],
    [5_000, 'QUOTA_EXCEEDED'],
  ])('at %d %% of the quota is %s', (cost, kind) => {
    expect(of(app, 'premium', spent(cost))?.kind).toBe(kind);
  });

  it('tells whose quota it is, which label, and the figures', () => {
    expect(of(app, 'premium', spent(97))).toEqual({
      orgId: 'org-a',
      appId: 'web',
      kind: 'TIGHT_MODE',
      label: 'premium',
      day,
      costUsdMicros: 97,
      quotaUsdMicros: 100,
      quotaPct: 97,
      thresholdPct: 95,
    });
    const shared = of(org, 'standard', spent(1_500));
    expect(shared).toEqual({
      orgId: 'org-a',
      kind: 'QUOTA_EXCEEDED',
      label: 'standard',
      day,
      costUsdMicros: 1_500,
      quotaUsdMicros: 1_000,
      quotaPct: 150,
      thresholdPct: 95,
    });
    expect(shared && 'appId' in shared).toBe(false);
  });

  it('is none for a roll-up, whatever its apps are at', () => {
    const rollup = orgSubject(orgWith('APP'));
    for (const mode of spendModes) expect(of(rollup, 'premium', { ...spent(1_000), mode })).toBeUndefined();
    // Not even where the figures came with a quota.
    expect(alertFor(rollup, labelSpend(today(org), 'premium', spent(100)), day)).toBeUndefined();
  });

  it('is none where nothing was spent, also of a quota of nothing, and one from the first request', () => {
    const closed = orgSubject(orgWith('ORG', 1, { quotas: [{ label: 'premium', dailyUsdMicros: 0 }] }));
    expect(labelSpend(today(closed), 'premium', undefined).mode).toBe('EXCEEDED');
    expect(of(closed, 'premium', undefined)).toBeUndefined();
    expect(of(closed, 'premium', spent(0, 0))).toBeUndefined();
    expect(of(closed, 'premium', spent(0, 1))).toMatchObject({
      kind: 'QUOTA_EXCEEDED',
      quotaUsdMicros: 0,
      quotaPct: 100,
    });
  });

  it('is none for a label without a quota', () => {
    expect(of(org, 'economy', { ...spent(1_000_000), mode: 'EXCEEDED' })).toBeUndefined();
  });

  it('tells of a fallback which label was used up and which is in use now', () => {
    expect(fallbackAlert(app, labelSpend(today(app), 'premium', spent(100)), 'standard', day)).toEqual({
      orgId: 'org-a',
      appId: 'web',
      kind: 'FALLBACK_ACTIVATED',
      label: 'premium',
      activeLabel: 'standard',
      day,
      costUsdMicros: 100,
      quotaUsdMicros: 100,
      quotaPct: 100,
      thresholdPct: 95,
    });
  });

  it('tells of a fallback from a label without a quota as from one with none left', () => {
    expect(fallbackAlert(org, labelSpend(today(org), 'economy', undefined), 'standard', day)).toMatchObject({
      quotaUsdMicros: 0,
      quotaPct: 100,
    });
  });
});
