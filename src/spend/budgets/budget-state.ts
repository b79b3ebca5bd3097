import { amountInForce, type Budget, reachedPct, scopeText } from './budget.js';

/** One period of a budget, by its first day. */
export interface BudgetPeriodId {
  readonly orgId: string;
  readonly name: string;
  readonly firstDay: string;
}

/** The spend of a budget in one period as last summed, and how the budget was judged by it. */
export interface BudgetState {
  /** What was summed, from `scopeText`. */
  readonly scope: string;
  readonly spentUsdMicros: number;
  /**
   * Only of a dimension value, which has no daily totals: the spend of each day from the first one on, so that a check
   * sums only the days that have changed.
   */
  readonly dayUsdMicros?: readonly number[];
  /** All costs acknowledged before this time are included. */
  readonly asOf: Date;
  /** The revision of the budget that was judged, and its amount in force then. */
  readonly revision: number;
  readonly amountUsdMicros: number;
  /**
   * The highest threshold that this revision has reached in the period; 0 for none. It does not fall with the spend: a
   * credit after a jump over several thresholds must not raise one of the lower ones.
   */
  readonly reachedPct: number;
  /** True if the budget is used up. */
  readonly isOver: boolean;
  /** The revision under which the budget was last no longer used up. Absent if it never recovered. */
  readonly recoveredRevision?: number;
}

/** What a round found out about a budget. */
export interface Summed {
  readonly spentUsdMicros: number;
  readonly dayUsdMicros?: readonly number[];
  readonly asOfMs: number;
  readonly nowMs: number;
}

/** The next state of a budget. `before` is the stored one, of any revision or scope. */
export function nextState(
  budget: Budget,
  before: BudgetState | undefined,
  { spentUsdMicros, dayUsdMicros, asOfMs, nowMs }: Summed,
): BudgetState {
  const scope = scopeText(budget);
  const amountUsdMicros = amountInForce(budget, nowMs);
  const earlier = before?.scope === scope ? before : undefined;
  const reachedNow = reachedPct(budget.thresholdsPct, spentUsdMicros, amountUsdMicros);
  const reachedBefore = earlier?.revision === budget.revision ? earlier.reachedPct : 0;
  const isOver = spentUsdMicros >= amountUsdMicros;
  const recoveredRevision = earlier?.isOver && !isOver ? budget.revision : earlier?.recoveredRevision;
  return {
    scope,
    spentUsdMicros,
    ...(dayUsdMicros ? { dayUsdMicros } : {}),
    // The totals were read after the stored state, so they include at least what it includes.
    asOf: new Date(Math.max(asOfMs, earlier?.asOf.getTime() ?? 0)),
    revision: budget.revision,
    amountUsdMicros,
    reachedPct: Math.max(reachedNow, reachedBefore),
    isOver,
    ...(recoveredRevision === undefined ? {} : { recoveredRevision }),
  };
}

const compared = [
  'scope',
  'spentUsdMicros',
  'revision',
  'amountUsdMicros',
  'reachedPct',
  'isOver',
  'recoveredRevision',
] as const satisfies readonly (keyof BudgetState)[];

/** True if two states differ in more than the time of their sums. */
export const differs = (a: BudgetState, b: BudgetState): boolean =>
  compared.some((field) => a[field] !== b[field]) || String(a.dayUsdMicros) !== String(b.dayUsdMicros);

/** The state, if it was summed for the scope that the budget has now. */
export const stateFor = (budget: Budget, state: BudgetState | undefined): BudgetState | undefined =>
  state?.scope === scopeText(budget) ? state : undefined;
