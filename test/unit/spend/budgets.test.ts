import fc from 'fast-check';
import type { AlertDraft } from '../../../src/alerts/alert.js';
import { dayAt, endOfDayMs, nextDate, withZone, type ZoneHistory } from '../../../src/orgs/calendar.js';
import {
  amountInForce,
  type Budget,
  type BudgetSettings,
  isObeyed,
  reachedPct,
  scopeText,
  tightest,
  usedUp,
} from '../../../src/spend/budgets/budget.js';
import { alertsOf, projectedAlert } from '../../../src/spend/budgets/budget-alert.js';
import {
  budgetIssues,
  budgetNameIssues,
  maxBudgetMicros,
  maxRaiseDays,
  maxThresholds,
} from '../../../src/spend/budgets/budget-input.js';
import { type BudgetState, differs, nextState, stateFor } from '../../../src/spend/budgets/budget-state.js';
import { budgetPeriods, periodOf, periodsOf } from '../../../src/spend/budgets/period.js';
import { orgWith } from './fixtures.js';

const dayMs = 86_400_000;
const nowMs = Date.parse('2030-03-13T12:00:00Z');

const budgetWith = (over: Partial<Budget> = {}): Budget => ({
  orgId: 'org-a',
  name: 'monthly',
  period: 'MONTH',
  usdMicros: 1000,
  thresholdsPct: [50, 80, 95],
  enforcement: 'ALERT',
  hardChanges: [],
  version: 1,
  revision: 7,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  ...over,
});

const anyDay = fc
  .integer({ min: 0, max: 60_000 })
  .map((days) => new Date(Date.parse('1990-01-01') + days * dayMs).toISOString().slice(0, 10));

describe('periodOf', () => {
  it.each([
    ['DAY', '2030-03-13', '2030-03-13', '2030-03-13'],
    ['WEEK', '2030-03-11', '2030-03-11', '2030-03-17'],
    ['WEEK', '2030-03-13', '2030-03-11', '2030-03-17'],
    ['WEEK', '2030-03-17', '2030-03-11', '2030-03-17'],
    ['WEEK', '2030-01-01', '2029-12-31', '2030-01-06'],
    ['MONTH', '2030-03-01', '2030-03-01', '2030-03-31'],
    ['MONTH', '2030-02-28', '2030-02-01', '2030-02-28'],
    ['MONTH', '2028-02-29', '2028-02-01', '2028-02-29'],
    ['MONTH', '2030-12-31', '2030-12-01', '2030-12-31'],
  ] as const)('of kind %s on %s is %s to %s', (kind, day, firstDay, lastDay) => {
    expect(periodOf(kind, day)).toEqual({ firstDay, lastDay });
  });

  it('puts every day into exactly one period, and periods follow each other without a gap', () => {
    fc.assert(
      fc.property(fc.constantFrom(...budgetPeriods), anyDay, (kind, day) => {
        const period = periodOf(kind, day);
        expect(day >= period.firstDay && day <= period.lastDay).toBe(true);
        expect(periodOf(kind, period.firstDay)).toEqual(period);
        expect(periodOf(kind, period.lastDay)).toEqual(period);
        expect(periodOf(kind, nextDate(period.lastDay)).firstDay).toBe(nextDate(period.lastDay));
      }),
    );
  });

  it('lists each period of some days once, oldest first', () => {
    expect(periodsOf('MONTH', ['2030-04-01', '2030-03-31', '2030-03-02'])).toEqual([
      periodOf('MONTH', '2030-03-02'),
      periodOf('MONTH', '2030-04-01'),
    ]);
    expect(periodsOf('DAY', ['2030-03-31', '2030-03-31'])).toHaveLength(1);
  });

  it('ends at an instant from which on the org is in the next period, across zone changes and DST', () => {
    const zones = ['America/New_York', 'Pacific/Auckland', 'Pacific/Apia', 'Asia/Kathmandu', 'Etc/GMT+12', 'UTC'];
    fc.assert(
      fc.property(
        fc.constantFrom(...budgetPeriods),
        fc.integer({ min: Date.parse('2011-12-20'), max: Date.parse('2012-04-10') }),
        fc.array(fc.tuple(fc.constantFrom(...zones), fc.integer({ min: 1, max: 6 * dayMs })), { maxLength: 3 }),
        (kind, startMs, changes) => {
          let history: ZoneHistory = [{ zone: 'America/New_York', fromMs: 0 }];
          let atMs = startMs;
          for (const [zone, laterMs] of changes) {
            history = withZone(history, zone, atMs);
            atMs += laterMs;
          }
          const { firstDay, lastDay } = periodOf(kind, dayAt(history, atMs));
          const endMs = endOfDayMs(history, lastDay);
          expect(endMs).toBeGreaterThan(atMs);
          expect(dayAt(history, endMs - 1) <= lastDay).toBe(true);
          expect(dayAt(history, endMs - 1) >= firstDay).toBe(true);
          expect(dayAt(history, endMs) > lastDay).toBe(true);
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });
});

describe('a raise', () => {
  const until = new Date(nowMs);
  const raised = budgetWith({ raise: { until, usdMicros: 5000 } });

  it('replaces the amount until it ends, and not a millisecond longer', () => {
    expect(amountInForce(raised, nowMs - 1)).toBe(5000);
    expect(amountInForce(raised, nowMs)).toBe(1000);
    expect(amountInForce(budgetWith(), nowMs)).toBe(1000);
  });
});

describe('reachedPct', () => {
  it.each([
    [0, 0],
    [499, 0],
    [500, 50],
    [799, 50],
    [949, 80],
    [950, 95],
    [999, 95],
    [1000, 100],
    [9000, 100],
  ])('of %d of 1000 is %d', (spent, pct) => {
    expect(reachedPct([50, 80, 95], spent, 1000)).toBe(pct);
  });

  it('is exact for amounts whose products exceed 2^53', () => {
    const amount = maxBudgetMicros - 1;
    const limit = (BigInt(amount) * 95n + 99n) / 100n;
    expect(reachedPct([95], Number(limit), amount)).toBe(95);
    expect(reachedPct([95], Number(limit) - 1, amount)).toBe(0);
    expect(reachedPct([], amount - 1, amount)).toBe(0);
  });
});

describe('the state of a budget', () => {
  const summed = (spentUsdMicros: number, atMs = nowMs) => ({ spentUsdMicros, asOfMs: atMs, nowMs: atMs });
  const of = (budget: Budget) => ({ budget, period: periodOf('MONTH', '2030-03-13'), today: '2030-03-13' });
  const kinds = (drafts: readonly AlertDraft[]) => drafts.map(({ kind, thresholdPct }) => `${kind} ${thresholdPct}`);
  /** The alerts of a series of changes, each only once, as the marker of an alert makes it. */
  const raisedBy = (steps: readonly (readonly [Budget, number])[]): string[] => {
    const raised = new Set<string>();
    let state: BudgetState | undefined;
    for (const [budget, spent] of steps) {
      state = nextState(budget, state, summed(spent));
      for (const { kind, thresholdPct, budgetRevision } of alertsOf(of(budget), state))
        raised.add(`${kind} ${thresholdPct} of ${budgetRevision}`);
    }
    return [...raised];
  };

  it('raises each threshold once, and only the highest of a jump', () => {
    const budget = budgetWith();
    const spends = [100, 500, 600, 960, 999, 1000, 5000];
    expect(raisedBy(spends.map((spent) => [budget, spent]))).toEqual([
      'THRESHOLD 50 of 7',
      'THRESHOLD 95 of 7',
      'THRESHOLD 100 of 7',
    ]);
  });

  it('does not raise a lower threshold when a credit follows a jump', () => {
    expect(
      raisedBy([
        [budgetWith(), 850],
        [budgetWith(), 600],
      ]),
    ).toEqual(['THRESHOLD 80 of 7']);
  });

  it('recovers by a raise, a larger budget or a credit, once per revision', () => {
    const budget = budgetWith();
    const raise = { until: new Date(nowMs + dayMs), usdMicros: 4000 };
    expect(
      raisedBy([
        [budget, 1200],
        [budgetWith({ raise, revision: 8 }), 1200],
      ]),
    ).toEqual(['THRESHOLD 100 of 7', 'RECOVERED 100 of 8']);
    expect(
      raisedBy([
        [budget, 1200],
        [budgetWith({ usdMicros: 2000, revision: 8 }), 1200],
      ]),
    ).toEqual(['THRESHOLD 100 of 7', 'THRESHOLD 50 of 8', 'RECOVERED 100 of 8']);
    expect(raisedBy([1200, 900, 1300, 900].map((spent) => [budget, spent]))).toEqual([
      'THRESHOLD 100 of 7',
      'RECOVERED 100 of 7',
    ]);
  });

  it('does not recover without having been used up, or a second time after another change', () => {
    expect(
      raisedBy([
        [budgetWith(), 400],
        [budgetWith({ usdMicros: 5000, revision: 8 }), 400],
      ]),
    ).toEqual([]);
    const larger = { usdMicros: 100_000 };
    const steps = [
      [budgetWith(), 1200],
      [budgetWith({ ...larger, revision: 8 }), 1200],
      [budgetWith({ ...larger, enforcement: 'HARD', revision: 9 }), 1300],
    ] as const;
    expect(raisedBy(steps)).toEqual(['THRESHOLD 100 of 7', 'RECOVERED 100 of 8']);
  });

  it('alerts again when a raise has ended', () => {
    const budget = budgetWith({ raise: { until: new Date(nowMs), usdMicros: 4000 } });
    const during = nextState(budget, undefined, summed(1200, nowMs - 1));
    expect(during).toMatchObject({ amountUsdMicros: 4000, reachedPct: 0, isOver: false });
    const after = nextState(budget, during, summed(1200, nowMs));
    expect(after).toMatchObject({ amountUsdMicros: 1000, reachedPct: 100, isOver: true });
    expect(kinds(alertsOf(of(budget), after))).toEqual(['THRESHOLD 100']);
  });

  it('begins again with another scope, and is not shown for it', () => {
    const used = nextState(budgetWith(), undefined, summed(1200));
    const other = budgetWith({ label: 'premium', revision: 8 });
    expect(stateFor(budgetWith({ usdMicros: 1, revision: 8 }), used)).toBe(used);
    expect(stateFor(other, used)).toBeUndefined();
    expect(nextState(other, used, summed(10))).toEqual({
      scope: scopeText(other),
      spentUsdMicros: 10,
      asOf: new Date(nowMs),
      revision: 8,
      amountUsdMicros: 1000,
      reachedPct: 0,
      isOver: false,
    });
  });

  it('keeps the later of two times, and is the same state with another one', () => {
    const early = nextState(budgetWith(), undefined, summed(10, nowMs));
    const late = nextState(budgetWith(), early, { spentUsdMicros: 10, asOfMs: 0, nowMs });
    expect(late.asOf).toEqual(new Date(nowMs));
    expect(differs(early, { ...early, asOf: new Date(0) })).toBe(false);
    expect(differs(early, nextState(budgetWith(), early, summed(11)))).toBe(true);
    expect(differs({ ...early, dayUsdMicros: [10, 0] }, { ...early, dayUsdMicros: [0, 10] })).toBe(true);
  });

  it('never raises a threshold that its spend has not reached, and reaches the one of the maximum', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 20 }), (spends) => {
        let state: BudgetState | undefined;
        for (const spent of spends) state = nextState(budgetWith(), state, summed(spent));
        expect(state?.reachedPct).toBe(reachedPct([50, 80, 95], Math.max(...spends), 1000));
        expect(state?.isOver).toBe((spends.at(-1) as number) >= 1000);
      }),
    );
  });

  it('makes alerts with the budget, its period and its figures', () => {
    const budget = budgetWith({ appId: 'chat', label: 'premium' });
    const state = nextState(budget, undefined, summed(970));
    const expected = {
      orgId: 'org-a',
      appId: 'chat',
      kind: 'THRESHOLD',
      label: 'premium',
      day: '2030-03-13',
      costUsdMicros: 970,
      quotaUsdMicros: 1000,
      quotaPct: 97,
      thresholdPct: 95,
      budget: 'monthly',
      budgetRevision: 7,
      periodStart: '2030-03-01',
      periodEnd: '2030-03-31',
    };
    expect(alertsOf(of(budget), state)).toEqual([expected]);
    expect(projectedAlert(of(budget), state)).toEqual({ ...expected, kind: 'PROJECTED', thresholdPct: 100 });
    const later = { ...of(budgetWith()), today: '2030-04-02' };
    expect(alertsOf(later, state)).toMatchObject([{ label: '', day: '2030-03-31' }]);
  });
});

describe('a used-up budget', () => {
  it('is one whose spend has reached the amount in force', () => {
    expect(usedUp(budgetWith(), 999, nowMs)).toBeUndefined();
    expect(usedUp(budgetWith({ label: 'premium' }), 1000, nowMs)).toEqual({
      name: 'monthly',
      label: 'premium',
      usedPct: 100,
    });
    expect(usedUp(budgetWith({ raise: { until: new Date(nowMs + 1), usdMicros: 1001 } }), 1000, nowMs)).toBeUndefined();
  });

  it('is obeyed by selections unless it only alerts, is of a dimension, or is of another app', () => {
    const obeyed = (over: Partial<Budget>, appId?: string) => isObeyed(budgetWith(over), appId);
    expect([obeyed({}), obeyed({ enforcement: 'ADVISORY' }), obeyed({ enforcement: 'HARD' })]).toEqual([
      false,
      true,
      true,
    ]);
    expect(obeyed({ enforcement: 'HARD', dimension: { name: 'user', value: 'u' } })).toBe(false);
    const chat = { enforcement: 'HARD', appId: 'chat' } as const;
    expect([obeyed(chat, 'chat'), obeyed(chat, 'batch'), obeyed(chat)]).toEqual([true, false, false]);
  });

  it('is the tightest one by the share used, then by name', () => {
    const all = [
      { name: 'c', usedPct: 110 },
      { name: 'b', usedPct: 120 },
      { name: 'a', usedPct: 120 },
    ];
    expect(tightest(all)?.name).toBe('a');
    expect(tightest([])).toBeUndefined();
  });
});

describe('the input of a budget', () => {
  const labels = new Map([['premium', {}]]);
  const rules = { org: orgWith('APP'), labels, nowMs };
  const valid: BudgetSettings = { period: 'MONTH', usdMicros: 1, thresholdsPct: [], enforcement: 'ALERT' };
  const paths = (over: Partial<BudgetSettings>, some: Partial<typeof rules> = {}) =>
    budgetIssues({ ...valid, ...over }, { ...rules, ...some }).map(({ path }) => path);
  const inMs = (ms: number) => new Date(nowMs + ms);

  it('is accepted at its bounds', () => {
    expect(paths({})).toEqual([]);
    expect(paths({ usdMicros: maxBudgetMicros, thresholdsPct: [1, 100], label: 'premium', appId: 'chat' })).toEqual([]);
    const many = Array.from({ length: maxThresholds }, (_, i) => i + 1);
    expect(paths({ thresholdsPct: many })).toEqual([]);
    expect(paths({ raise: { until: inMs(maxRaiseDays * dayMs), usdMicros: 1 } })).toEqual([]);
    expect(budgetNameIssues('a'.repeat(64))).toEqual([]);
  });

  it.each<[string, Partial<BudgetSettings>, string]>([
    ['an amount of 0', { usdMicros: 0 }, 'input.usdMicros'],
    ['a fraction', { usdMicros: 1.5 }, 'input.usdMicros'],
    ['an amount past the maximum', { usdMicros: maxBudgetMicros + 1 }, 'input.usdMicros'],
    ['a threshold of 0', { thresholdsPct: [0] }, 'input.thresholdsPct'],
    ['a threshold of 101', { thresholdsPct: [101] }, 'input.thresholdsPct'],
    ['a threshold twice', { thresholdsPct: [50, 50] }, 'input.thresholdsPct'],
    ['descending thresholds', { thresholdsPct: [80, 50] }, 'input.thresholdsPct'],
    ['too many thresholds', { thresholdsPct: Array(maxThresholds + 1).fill(1) }, 'input.thresholdsPct'],
    ['an unknown label', { label: 'gold' }, 'input.label'],
    ['a day of a label, which has a quota', { label: 'premium', period: 'DAY' }, 'input.period'],
    ['a raise that has ended', { raise: { until: inMs(0), usdMicros: 1 } }, 'input.raise.until'],
    [
      'a raise that lasts too long',
      { raise: { until: inMs(maxRaiseDays * dayMs + 1), usdMicros: 1 } },
      'input.raise.until',
    ],
    ['a raise to less', { usdMicros: 5, raise: { until: inMs(1), usdMicros: 4 } }, 'input.raise.usdMicros'],
    ['an unknown dimension', { dimension: { name: 'team', value: 'x' } }, 'input.dimension.name'],
  ])('is refused with %s', (_, over, path) => {
    expect(paths(over)).toEqual([path]);
  });

  it.each(['', 'Big', 'a b', 'a#b', 'a'.repeat(65)])('is refused with the name %j', (name) => {
    expect(budgetNameIssues(name)).toHaveLength(1);
  });

  it('needs attributeApps for an app under quotaScope ORG, and says so', () => {
    const org = orgWith('ORG');
    expect(paths({ appId: 'chat' }, { org })).toEqual(['input.appId']);
    expect(budgetIssues({ ...valid, appId: 'chat' }, { ...rules, org })[0]?.message).toMatch('attributeApps');
    expect(paths({ appId: 'chat' }, { org: { ...org, attributeApps: true } })).toEqual([]);
  });

  it('accepts a value of a dimension of the org, alone', () => {
    const org = { ...orgWith('APP'), dimensions: ['user'] };
    const dimension = { name: 'user', value: 'u-1' };
    expect(paths({ dimension, period: 'DAY' }, { org })).toEqual([]);
    expect(paths({ dimension, appId: 'chat' }, { org })).toEqual(['input.dimension']);
    expect(paths({ dimension, label: 'premium' }, { org })).toEqual(['input.dimension']);
    expect(paths({ dimension: { name: 'user', value: 'a#b' } }, { org })).toEqual(['input.dimension.value']);
  });
});
