import type { SpendMode } from '../../../src/spend/money.js';
import { type ChainLink, choose, recheckAfterSecs, type Sticky, stickyReasons } from '../../../src/spend/selection.js';

describe('choose', () => {
  const labels = ['a', 'b', 'c', 'd'];
  const costOf = { under: 10, tight: 95, over: 100 } as const;
  type Level = keyof typeof costOf;
  const modes: Record<Level, SpendMode> = { under: 'NORMAL', tight: 'TIGHT', over: 'EXCEEDED' };
  const chainOf = (levels: readonly Level[]): ChainLink[] =>
    levels.map((level, i) => ({
      label: labels[i] as string,
      costUsdMicros: costOf[level],
      quotaUsdMicros: 100,
      hasModel: true,
    }));
  const withoutModel = (label: string, chain: readonly ChainLink[]): ChainLink[] =>
    chain.map((link) => ({ ...link, hasModel: link.label !== label }));
  const stickyAt = (activeLabel: string, reason: Sticky['reason'] = 'QUOTA_EXCEEDED'): Sticky => ({
    activeLabel,
    reason,
    activatedAt: new Date(0),
  });

  const chains: Level[][] = [[]];
  for (let from = 0; chains.length < 1 + 3 + 9 + 27 + 81; from++)
    for (const level of ['under', 'tight', 'over'] as const) chains.push([...(chains[from] as Level[]), level]);
  const cases = chains.slice(1).flatMap((levels) => {
    const stickies = [
      undefined,
      ...stickyReasons.flatMap((reason) =>
        [...labels.slice(0, levels.length), 'removed'].map((label) => stickyAt(label, reason)),
      ),
    ];
    return stickies.flatMap((sticky) => [true, false].map((enabled) => ({ levels, sticky, enabled })));
  });

  /** Every case, with the choice and the positions of the chosen and the sticky label in the chain. */
  const outcomes = cases.map(({ levels, sticky, enabled }) => {
    const choice = choose(chainOf(levels), sticky, enabled, 95);
    const chain = labels.slice(0, levels.length);
    const stuck = sticky ? chain.indexOf(sticky.activeLabel) : -1;
    const overridden = stuck >= 0 && sticky?.reason === 'MANUAL_OVERRIDE';
    return {
      levels,
      sticky,
      enabled,
      choice,
      chosen: choice.label === undefined ? -1 : chain.indexOf(choice.label),
      stuck,
      overridden,
    };
  });
  type Outcome = (typeof outcomes)[number];
  const where = (isMatch: (outcome: Outcome) => boolean) => {
    const found = outcomes.filter(isMatch);
    // A check of an empty list would always pass.
    expect(found.length).toBeGreaterThan(0);
    return found;
  };
  const violations = (checked: readonly Outcome[], isKept: (outcome: Outcome) => boolean) =>
    checked.filter((outcome) => !isKept(outcome));

  it('is tested with every chain of one to four labels and every sticky state', () => {
    const perChain = (length: number) => 3 ** length * (1 + 2 * (length + 1)) * 2;
    expect(outcomes).toHaveLength([1, 2, 3, 4].reduce((all, length) => all + perChain(length), 0));
  });

  it('never picks a used-up label, except by override', () => {
    const free = where(({ chosen, overridden }) => chosen >= 0 && !overridden);
    expect(violations(free, ({ levels, chosen }) => levels[chosen] !== 'over')).toEqual([]);
  });

  it('never skips a label that is under its quota', () => {
    const free = where(({ overridden }) => !overridden);
    const startOf = ({ enabled, stuck }: Outcome) => (enabled && stuck > 0 ? stuck : 0);
    expect(
      violations(free, (outcome) => {
        const passed = outcome.levels.slice(startOf(outcome), outcome.chosen < 0 ? undefined : outcome.chosen);
        return passed.every((level) => level === 'over');
      }),
    ).toEqual([]);
  });

  it('never moves back from the sticky label', () => {
    const held = where(({ enabled, stuck, overridden, chosen }) => enabled && stuck >= 0 && !overridden && chosen >= 0);
    expect(violations(held, ({ chosen, stuck }) => chosen >= stuck)).toEqual([]);
  });

  it('ignores a sticky label that is no longer in the chain and, with sticky fallback off, any sticky label', () => {
    const ignored = where(
      ({ sticky, stuck, enabled, overridden }) => sticky !== undefined && !overridden && (stuck < 0 || !enabled),
    );
    for (const { levels, enabled, choice } of ignored)
      expect(choice).toEqual(choose(chainOf(levels), undefined, enabled, 95));
  });

  it('applies an override with sticky fallback on or off, used up or not, and does not move the sticky state', () => {
    for (const { levels, stuck, choice } of where(({ overridden }) => overridden)) {
      expect(choice).toEqual({ label: labels[stuck], reason: 'MANUAL_OVERRIDE', mode: modes[levels[stuck] as Level] });
    }
  });

  it('picks no label, with the reason, if all labels from the start of the walk are used up', () => {
    for (const { choice } of where(({ chosen }) => chosen < 0))
      expect(choice).toEqual({ label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' });
    const usedUp = where(({ levels, overridden }) => !overridden && levels.every((level) => level === 'over'));
    expect(violations(usedUp, ({ chosen }) => chosen < 0)).toEqual([]);
    expect(choose([], undefined, true, 95)).toEqual({
      label: undefined,
      reason: 'ALL_QUOTAS_EXCEEDED',
      mode: 'EXCEEDED',
    });
  });

  it('moves the sticky state if and only if sticky fallback is on and the choice is further along the chain', () => {
    for (const { choice, chosen, stuck, enabled, overridden } of outcomes) {
      const start = enabled && stuck > 0 ? stuck : 0;
      const isMove = enabled && !overridden && chosen > start;
      expect(choice.move).toEqual(isMove ? { from: labels[start], to: choice.label } : undefined);
      expect('move' in choice).toBe(isMove);
    }
  });

  it('returns the mode of the chosen label and the reason for the choice', () => {
    for (const { levels, choice, chosen, stuck, enabled } of where(
      ({ chosen: label, overridden }) => label >= 0 && !overridden,
    )) {
      const start = enabled && stuck > 0 ? stuck : 0;
      expect(choice.mode).toBe(modes[levels[chosen] as Level]);
      expect(choice.reason).toBe(chosen > start ? 'QUOTA_EXCEEDED' : start > 0 ? 'STICKY_FALLBACK' : 'WITHIN_QUOTA');
    }
  });

  it.each<[string, ChainLink[], Sticky | undefined, ReturnType<typeof choose>]>([
    ['the first label', chainOf(['under', 'under']), undefined, { label: 'a', reason: 'WITHIN_QUOTA', mode: 'NORMAL' }],
    [
      'the next label if the first one is used up',
      chainOf(['over', 'tight']),
      undefined,
      { label: 'b', reason: 'QUOTA_EXCEEDED', mode: 'TIGHT', move: { from: 'a', to: 'b' } },
    ],
    [
      'the sticky label, though an earlier one is under its quota',
      chainOf(['under', 'under']),
      stickyAt('b'),
      { label: 'b', reason: 'STICKY_FALLBACK', mode: 'NORMAL' },
    ],
    [
      'the label after a sticky one that is used up',
      chainOf(['under', 'over', 'over', 'under']),
      stickyAt('b'),
      { label: 'd', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'b', to: 'd' } },
    ],
    [
      'no label if the sticky one is used up, though an earlier one is under its quota',
      chainOf(['under', 'over']),
      stickyAt('b'),
      { label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' },
    ],
    [
      'the label after one with a quota of 0',
      [{ label: 'a', costUsdMicros: 0, quotaUsdMicros: 0, hasModel: true }, ...chainOf(['over', 'under']).slice(1)],
      undefined,
      { label: 'b', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'a', to: 'b' } },
    ],
    [
      'the first label with a model',
      withoutModel('a', chainOf(['under', 'under'])),
      undefined,
      { label: 'b', reason: 'WITHIN_QUOTA', mode: 'NORMAL' },
    ],
    [
      'a label after one without a model, and does not move the shared sticky state',
      withoutModel('b', chainOf(['over', 'under', 'under'])),
      undefined,
      { label: 'c', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL' },
    ],
    [
      'a label after one without a model that is used up too',
      withoutModel('b', chainOf(['over', 'over', 'under'])),
      undefined,
      { label: 'c', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'a', to: 'c' } },
    ],
    [
      'the label after a sticky one without a model',
      withoutModel('b', chainOf(['over', 'under', 'under'])),
      stickyAt('b'),
      { label: 'c', reason: 'STICKY_FALLBACK', mode: 'NORMAL' },
    ],
    [
      'no label if the override names one without a model',
      withoutModel('b', chainOf(['under', 'under'])),
      stickyAt('b', 'MANUAL_OVERRIDE'),
      { label: undefined, reason: 'NO_USABLE_MODEL', mode: 'EXCEEDED' },
    ],
    [
      'no label if the remaining ones have no model',
      withoutModel('b', chainOf(['over', 'under'])),
      undefined,
      { label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' },
    ],
    [
      'no label if none has a model',
      withoutModel('a', chainOf(['under'])),
      undefined,
      { label: undefined, reason: 'NO_USABLE_MODEL', mode: 'EXCEEDED' },
    ],
    [
      'the label of an override, though it is used up',
      chainOf(['under', 'over']),
      stickyAt('b', 'MANUAL_OVERRIDE'),
      { label: 'b', reason: 'MANUAL_OVERRIDE', mode: 'EXCEEDED' },
    ],
    [
      'an earlier label by override',
      chainOf(['under', 'under']),
      stickyAt('a', 'MANUAL_OVERRIDE'),
      { label: 'a', reason: 'MANUAL_OVERRIDE', mode: 'NORMAL' },
    ],
  ])('picks %s', (_, chain, sticky, choice) => {
    expect(choose(chain, sticky, true, 95)).toEqual(choice);
  });
});

describe('choose, with used-up budgets', () => {
  const link = (
    label: string,
    costUsdMicros: number,
    budget?: readonly [name: string, usedPct: number],
  ): ChainLink => ({
    label,
    costUsdMicros,
    quotaUsdMicros: 100,
    hasModel: true,
    ...(budget ? { usedUpBudget: { name: budget[0], usedPct: budget[1] } } : {}),
  });
  const override: Sticky = { activeLabel: 'a', reason: 'MANUAL_OVERRIDE', activatedAt: new Date(0) };
  const sticky: Sticky = { activeLabel: 'b', reason: 'QUOTA_EXCEEDED', activatedAt: new Date(0) };

  it.each<[string, ChainLink[], Sticky | undefined, ReturnType<typeof choose>]>([
    [
      'the next label, without a move of the sticky state, because the budget may be raised',
      [link('a', 0, ['team', 100]), link('b', 95)],
      undefined,
      { label: 'b', reason: 'BUDGET_EXCEEDED', mode: 'TIGHT', budget: 'team' },
    ],
    [
      'the label after a used-up quota and a used-up budget, without a move',
      [link('a', 100), link('b', 0, ['team', 100]), link('c', 0)],
      undefined,
      { label: 'c', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', budget: 'team' },
    ],
    [
      'the label after one whose quota and budget are used up, for which the quota decides',
      [link('a', 100, ['team', 100]), link('b', 0)],
      undefined,
      { label: 'b', reason: 'QUOTA_EXCEEDED', mode: 'NORMAL', move: { from: 'a', to: 'b' } },
    ],
    [
      'no label if budgets exclude all that quotas allow, by the tightest of them',
      [link('a', 100, ['x', 900]), link('b', 0, ['team', 101]), link('c', 0, ['org', 120])],
      undefined,
      { label: undefined, reason: 'BUDGET_EXCEEDED', mode: 'EXCEEDED', budget: 'org' },
    ],
    [
      'no label because of quotas if budgets exclude only what quotas exclude too',
      [link('a', 100, ['x', 900])],
      undefined,
      { label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' },
    ],
    [
      'the label after a sticky one that a budget excludes',
      [link('a', 0), link('b', 0, ['team', 100]), link('c', 0)],
      sticky,
      { label: 'c', reason: 'BUDGET_EXCEEDED', mode: 'NORMAL', budget: 'team' },
    ],
    [
      'the label of an override, though a budget excludes it',
      [link('a', 0, ['team', 100]), link('b', 0)],
      override,
      { label: 'a', reason: 'MANUAL_OVERRIDE', mode: 'NORMAL' },
    ],
    [
      'the first label if a budget excludes only a later one',
      [link('a', 0), link('b', 0, ['team', 100])],
      undefined,
      { label: 'a', reason: 'WITHIN_QUOTA', mode: 'NORMAL' },
    ],
    [
      'no usable model if the excluded labels have none',
      [{ ...link('a', 0, ['team', 100]), hasModel: false }],
      undefined,
      { label: undefined, reason: 'NO_USABLE_MODEL', mode: 'EXCEEDED' },
    ],
  ])('picks %s', (_, chain, stuck, choice) => {
    expect(choose(chain, stuck, true, 95)).toEqual(choice);
  });
});

describe('recheckAfterSecs', () => {
  it.each([
    ['the interval', 300, 3_600_000, false, 300],
    ['the rest of the day if that is shorter', 300, 7900, false, 8],
    ['at least one second', 300, 0, false, 1],
    ['the rest of the day if all quotas are used up', 300, 3_600_000, true, 3600],
  ])('is %s', (_, intervalSecs, restOfDayMs, isAllUsedUp, secs) => {
    expect(recheckAfterSecs(intervalSecs, 1000, 1000 + restOfDayMs, isAllUsedUp)).toBe(secs);
  });
});
