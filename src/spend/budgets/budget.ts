import { type EnforcementHistory, enforcementOn, nextChange } from '../../orgs/enforcement.js';
import { quotaPct } from '../money.js';
import type { BudgetPeriod } from './period.js';

// Reading order of this folder. Rules: period, budget (this file), budget-input, budget-state, budget-alert, forecast.
// Settings: budget.service, budget.store. Sums and alerts: budget.rollup (the worker), budget-check.service,
// budget-state.store.

export const enforcements = ['ALERT', 'ADVISORY', 'HARD'] as const;
export type Enforcement = (typeof enforcements)[number];

/** The budget itself is always a threshold. */
export const usedUpPct = 100;

/** A larger amount that is in force until an instant. */
export interface Raise {
  readonly until: Date;
  readonly usdMicros: number;
}

export interface BudgetDimension {
  readonly name: string;
  readonly value: string;
}

/** The costs that a budget sums, and for how long. */
export interface BudgetScope {
  /** Absent: all apps of the org. */
  readonly appId?: string;
  /** Absent: all labels. */
  readonly label?: string;
  /** Absent: any value. */
  readonly dimension?: BudgetDimension;
  readonly period: BudgetPeriod;
}

/** The settings of a budget that a caller chooses. */
export interface BudgetSettings extends BudgetScope {
  readonly usdMicros: number;
  /** Ascending. */
  readonly thresholdsPct: readonly number[];
  readonly enforcement: Enforcement;
  readonly raise?: Raise;
}

export interface Budget extends BudgetSettings {
  /** The days from and to which it is HARD. `enforcement` is what was set last, and may not be in force yet. */
  readonly hardChanges: EnforcementHistory;
  readonly orgId: string;
  readonly name: string;
  /** Incremented by every change, from 1. */
  readonly version: number;
  /**
   * The value of the org's `budgetsVersion` that the last change made. Unlike `version` it does not begin again if a
   * budget is deleted and set again, so that "once per version" holds for both budgets.
   */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type Enforced = Pick<Budget, 'enforcement' | 'hardChanges'>;

const softly = (enforcement: Enforcement): Enforcement => (enforcement === 'HARD' ? 'ADVISORY' : enforcement);

/** The enforcement in force on a day. A budget that is to be HARD is ADVISORY until then. */
export const enforcementOfBudget = ({ enforcement, hardChanges }: Enforced, day: string): Enforcement =>
  enforcementOn(hardChanges, day) === 'HARD' ? 'HARD' : softly(enforcement);

/** The change that waits for a coming day. */
export function nextEnforcementOf(
  { enforcement, hardChanges }: Enforced,
  today: string,
): { readonly enforcement: Enforcement; readonly from: string } | undefined {
  const next = nextChange(hardChanges, today);
  return next && { enforcement: next.enforcement === 'HARD' ? 'HARD' : softly(enforcement), from: next.from };
}

/** The amount in force: the raised one until the raise ends. */
export const amountInForce = ({ usdMicros, raise }: BudgetSettings, nowMs: number): number =>
  raise && nowMs < raise.until.getTime() ? raise.usdMicros : usdMicros;

/** Identifies what a budget sums. Sums of another scope do not count for it. */
export const scopeText = ({ appId, label, dimension, period }: BudgetScope): string =>
  JSON.stringify([period, appId ?? null, label ?? null, dimension ? [dimension.name, dimension.value] : null]);

/** The highest threshold that a spend has reached: one of the budget's own, or 100. 0 if it has reached none. */
export function reachedPct(thresholdsPct: readonly number[], spentUsdMicros: number, amountUsdMicros: number): number {
  // Multiplied instead of divided, so that rounding cannot decide.
  const isReached = (pct: number) => BigInt(spentUsdMicros) * 100n >= BigInt(amountUsdMicros) * BigInt(pct);
  return Math.max(0, ...[...thresholdsPct, usedUpPct].filter(isReached));
}

/** A budget that selections obey and that is used up. */
export interface UsedUpBudget {
  readonly name: string;
  /** Absent: it excludes every label. */
  readonly label?: string;
  readonly usedPct: number;
}

/** The budget as used up; undefined if it is not. */
export function usedUp(budget: Budget, spentUsdMicros: number, nowMs: number): UsedUpBudget | undefined {
  const amount = amountInForce(budget, nowMs);
  if (spentUsdMicros < amount) return undefined;
  const { name, label } = budget;
  return { name, ...(label === undefined ? {} : { label }), usedPct: quotaPct(spentUsdMicros, amount) };
}

/** The tightest of some used-up budgets: the one with the largest share used, then the first by name. */
export function tightest(budgets: readonly UsedUpBudget[]): UsedUpBudget | undefined {
  const [first, ...others] = budgets;
  const isTighter = (a: UsedUpBudget, b: UsedUpBudget) =>
    a.usedPct > b.usedPct || (a.usedPct === b.usedPct && a.name < b.name);
  return first && others.reduce((best, each) => (isTighter(each, best) ? each : best), first);
}

/** True if selections for an app, or for the whole org, obey the budget. */
export const isObeyed = ({ enforcement, dimension, appId }: Budget, selectedAppId: string | undefined): boolean =>
  // A selection does not know the dimensions of the costs that will follow it.
  enforcement !== 'ALERT' && dimension === undefined && (appId === undefined || appId === selectedAppId);
