import type { AlertDraft, AlertKind } from '../../alerts/alert.js';
import { quotaPct } from '../money.js';
import { type Budget, usedUpPct } from './budget.js';
import type { BudgetState } from './budget-state.js';
import type { DateRange } from './period.js';

/** A budget in one of its periods, and the day of the org now. */
export interface BudgetInPeriod {
  readonly budget: Budget;
  readonly period: DateRange;
  readonly today: string;
}

/**
 * The alerts that a state implies. They come from the stored state, because the process that stored it may have
 * crashed before it raised them. Each is raised once per revision, threshold and period.
 */
export function alertsOf(of: BudgetInPeriod, state: BudgetState): AlertDraft[] {
  const { reachedPct, revision, isOver, recoveredRevision } = state;
  return [
    ...(reachedPct > 0 ? [draftOf(of, state, { kind: 'THRESHOLD', thresholdPct: reachedPct, revision })] : []),
    ...(recoveredRevision !== undefined && !isOver
      ? [draftOf(of, state, { kind: 'RECOVERED', thresholdPct: usedUpPct, revision: recoveredRevision })]
      : []),
  ];
}

/** The alert for a period whose projected spend exceeds the budget. */
export const projectedAlert = (of: BudgetInPeriod, state: BudgetState): AlertDraft =>
  draftOf(of, state, { kind: 'PROJECTED', thresholdPct: usedUpPct, revision: state.revision });

interface Event {
  readonly kind: AlertKind;
  readonly thresholdPct: number;
  readonly revision: number;
}

function draftOf(
  { budget, period, today }: BudgetInPeriod,
  { spentUsdMicros, amountUsdMicros }: BudgetState,
  { kind, thresholdPct, revision }: Event,
): AlertDraft {
  const { orgId, appId, label = '', name } = budget;
  return {
    orgId,
    ...(appId === undefined ? {} : { appId }),
    kind,
    label,
    day: today < period.lastDay ? today : period.lastDay,
    costUsdMicros: spentUsdMicros,
    quotaUsdMicros: amountUsdMicros,
    quotaPct: quotaPct(spentUsdMicros, amountUsdMicros),
    thresholdPct,
    budget: name,
    budgetRevision: revision,
    periodStart: period.firstDay,
    periodEnd: period.lastDay,
  };
}
