import { tightest, type UsedUpBudget } from './budgets/budget.js';
import { modeOf, type SpendMode } from './money.js';

export const stickyReasons = ['QUOTA_EXCEEDED', 'MANUAL_OVERRIDE'] as const;
export type StickyReason = (typeof stickyReasons)[number];

/** The label that a scope uses for the rest of its day, because of a fallback or an override. */
export interface Sticky {
  readonly activeLabel: string;
  readonly previousLabel?: string;
  readonly reason: StickyReason;
  readonly activatedAt: Date;
}

export const selectionReasons = [
  'WITHIN_QUOTA',
  'QUOTA_EXCEEDED',
  'STICKY_FALLBACK',
  'MANUAL_OVERRIDE',
  'ALL_QUOTAS_EXCEEDED',
  'BUDGET_EXCEEDED',
  'NO_USABLE_MODEL',
] as const;
export type SelectionReason = (typeof selectionReasons)[number];

export const skipReasons = ['UNKNOWN_LABEL'] as const;
export type SkipReason = (typeof skipReasons)[number];

/** One label of the chain, with its spend of today. */
export interface ChainLink {
  readonly label: string;
  readonly costUsdMicros: number;
  /** 0 for a label without a quota, because spend must be bounded. */
  readonly quotaUsdMicros: number;
  /** False if the catalog has no model for the label. It is then never recommended. */
  readonly hasModel: boolean;
  /** The tightest used-up budget that excludes the label. */
  readonly usedUpBudget?: UsedUpBudget;
}

export interface Choice {
  /** Undefined if no label can be called. */
  readonly label: string | undefined;
  readonly reason: SelectionReason;
  readonly mode: SpendMode;
  /** The tightest of the budgets that alone excluded a label. Absent if no budget decided. */
  readonly budget?: string;
  /** Present if the sticky state has to move from one label to another. */
  readonly move?: { readonly from: string; readonly to: string };
}

/**
 * Walks the chain from the sticky label, or from the start, to the first label that has a model, is under its quota and
 * is not excluded by a budget. The quota of the sticky label is checked too. An override applies without a check of
 * quota and budgets if its label has a model.
 */
export function choose(
  chain: readonly ChainLink[],
  sticky: Sticky | undefined,
  stickyEnabled: boolean,
  thresholdPct: number,
): Choice {
  const modeAt = ({ costUsdMicros, quotaUsdMicros }: ChainLink) => modeOf(costUsdMicros, quotaUsdMicros, thresholdPct);
  const stuckAt = sticky ? chain.findIndex(({ label }) => label === sticky.activeLabel) : -1;
  const stuck = chain[stuckAt];
  if (sticky?.reason === 'MANUAL_OVERRIDE' && stuck?.hasModel)
    return { label: stuck.label, reason: 'MANUAL_OVERRIDE', mode: modeAt(stuck) };

  // A sticky label that has been removed from the ordering is ignored.
  const start = stickyEnabled && stuck ? stuckAt : 0;
  const isWithinQuota = (link: ChainLink) => link.hasModel && modeAt(link) !== 'EXCEEDED';
  const found = chain.findIndex((link, i) => i >= start && isWithinQuota(link) && !link.usedUpBudget);
  const chosen = chain[found];
  const passed = chain.slice(start, chosen ? found : undefined);
  const excluding = tightest(passed.filter(isWithinQuota).flatMap(({ usedUpBudget }) => usedUpBudget ?? []));
  const budget = excluding ? { budget: excluding.name } : {};
  if (!chosen) return { label: undefined, reason: noLabelReason(passed, excluding), mode: 'EXCEEDED', ...budget };
  const choice = { label: chosen.label, mode: modeAt(chosen), ...budget };
  if (!passed.some((link) => modeAt(link) === 'EXCEEDED')) {
    if (excluding) return { ...choice, reason: 'BUDGET_EXCEEDED' };
    return { ...choice, reason: start > 0 ? 'STICKY_FALLBACK' : 'WITHIN_QUOTA' };
  }
  // All gateways share the sticky state, and another one may have a model for a label that this one skipped. So the
  // state moves only if the quotas of all passed labels are used up. A used-up budget does not move it: the label is
  // to come back as soon as the budget is raised, and a budget of one app must not move the state of all apps.
  const [from] = passed;
  const isMove = stickyEnabled && from && passed.every((link) => modeAt(link) === 'EXCEEDED');
  return {
    ...choice,
    reason: 'QUOTA_EXCEEDED',
    ...(isMove ? { move: { from: from.label, to: chosen.label } } : {}),
  };
}

function noLabelReason(rest: readonly ChainLink[], excluding: UsedUpBudget | undefined): SelectionReason {
  if (rest.length > 0 && rest.every(({ hasModel }) => !hasModel)) return 'NO_USABLE_MODEL';
  return excluding ? 'BUDGET_EXCEEDED' : 'ALL_QUOTAS_EXCEEDED';
}

/**
 * How long a client may use a selection: the interval of its mode, but not past the end of the day. If all quotas are
 * used up, until the end of the day.
 */
export function recheckAfterSecs(
  intervalSecs: number,
  nowMs: number,
  resetsAtMs: number,
  isAllUsedUp: boolean,
): number {
  const untilResetSecs = Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000));
  return isAllUsedUp ? untilResetSecs : Math.min(intervalSecs, untilResetSecs);
}
