import type { AlertService } from '../../alerts/alert.service.js';
import type { Clock } from '../../lib/clock.js';
import { dayAt, endOfDayMs } from '../../orgs/calendar.js';
import type { Org } from '../../orgs/settings.js';
import type { HeldStore } from '../held/held.store.js';
import { baseDays } from '../held/hold.service.js';
import type { Budget } from './budget.js';
import type { BudgetStore } from './budget.store.js';
import { alertsOf, type BudgetInPeriod, projectedAlert } from './budget-alert.js';
import { budgetForecast, forecastRange } from './budget-forecast.js';
import { type BudgetPeriodId, type BudgetState, differs, nextState, type Summed, stateFor } from './budget-state.js';
import type { BudgetStateStore, StoredState } from './budget-state.store.js';
import { type BudgetSumDeps, BudgetSums, sumDimensionDays, sumOf } from './budget-sums.service.js';
import type { Forecast, HourCost } from './forecast.js';
import { periodOf, periodsOf } from './period.js';

export interface BudgetCheckDeps extends BudgetSumDeps {
  readonly budgets: BudgetStore;
  readonly states: BudgetStateStore;
  readonly alerts: AlertService;
  readonly held: Pick<HeldStore, 'setBase'>;
  readonly clock: Clock;
}

/** An org whose totals were summed, and the days whose totals have changed. */
export interface SummedOrg {
  readonly org: Org;
  readonly changedDays: readonly string[];
}

export interface CheckOptions {
  /** The totals include every cost acknowledged before this time; 0 if it is not known. */
  readonly asOfMs: number;
  /** The name of the only budget to check. */
  readonly only?: string;
  /** True to judge the forecasts too, which reads the totals of four weeks. */
  readonly withForecasts?: boolean;
}

export interface BudgetCheck {
  /** False if a state or an alert could not be stored. The check is then to be repeated. */
  readonly isComplete: boolean;
  /** When the next raise ends, after which the budgets have to be judged again. */
  readonly raiseEndsAtMs: number | undefined;
}

/** A budget in one of its periods, with its stored state. */
interface BudgetTarget extends BudgetInPeriod {
  readonly id: BudgetPeriodId;
  readonly before: StoredState | undefined;
}

/**
 * Sums budgets from the daily totals, stores their states and raises their alerts. The worker does so after each round,
 * a gateway after each change of a budget. Any number of processes may do so at the same time.
 */
export class BudgetCheckService {
  constructor(private readonly deps: BudgetCheckDeps) {}

  /** Checks all budgets of an org, or only one, in the periods of these days and of today. */
  async check(org: Org, days: readonly string[], options: CheckOptions): Promise<BudgetCheck> {
    const { asOfMs, only, withForecasts = false } = options;
    const nowMs = this.deps.clock.nowMs();
    const all = await this.deps.budgets.list(org.orgId);
    const budgets = only === undefined ? all : all.filter(({ name }) => name === only);
    const today = dayAt(org.zones, nowMs);
    const changedDays = new Set([...days, today]);
    const targets = await this.targets(org, budgets, changedDays, today);
    const history = withForecasts ? budgets.map((budget) => ({ budget, period: forecastRange(today) })) : [];
    const sums = new BudgetSums(this.deps, [...targets, ...history]);
    let isComplete = true;
    for (const target of targets) {
      const spent = target.budget.dimension
        ? await this.dimensionSum(target, org, changedDays)
        : { spentUsdMicros: await sums.of(target) };
      const state = await this.saved(target, { ...spent, asOfMs, nowMs });
      if (!(await this.isBased(target, sums))) isComplete = false;
      if (state === 'failed') isComplete = false;
      if (typeof state !== 'object') continue;
      const hours = withForecasts ? await sums.hoursOf(target.budget, forecastRange(today)) : [];
      const projected = isProjected(target, org, { state, hours, nowMs }) ? [projectedAlert(target, state)] : [];
      const failed = await this.deps.alerts.raiseAll([...alertsOf(target, state), ...projected]);
      if (failed.length > 0) isComplete = false;
    }
    const raiseEnds = budgets.flatMap(({ raise }) => raise?.until.getTime() ?? []).filter((untilMs) => untilMs > nowMs);
    return { isComplete, raiseEndsAtMs: raiseEnds.length === 0 ? undefined : Math.min(...raiseEnds) };
  }

  /** The forecast for the current period of a budget. Null if there is too little data, or no data per hour. */
  async forecast(budget: Budget, { zones }: Org, spentUsdMicros: number): Promise<Forecast | null> {
    const nowMs = this.deps.clock.nowMs();
    const today = dayAt(zones, nowMs);
    const range = forecastRange(today);
    const hours = await new BudgetSums(this.deps, [{ budget, period: range }]).hoursOf(budget, range);
    return budgetForecast(budget, zones, { period: periodOf(budget.period, today), spentUsdMicros, hours, nowMs });
  }

  /**
   * The states are read before the totals. A state that is then stored on condition that none was stored since includes
   * at least what the one before it included. A period that was over when the budget was set is not judged by it.
   */
  private async targets(
    { zones }: Org,
    budgets: readonly Budget[],
    days: ReadonlySet<string>,
    today: string,
  ): Promise<BudgetTarget[]> {
    const found = budgets.flatMap((budget) =>
      periodsOf(budget.period, days)
        .filter(({ lastDay }) => endOfDayMs(zones, lastDay) > budget.updatedAt.getTime())
        .map((period) => ({ budget, period })),
    );
    const ids = found.map(({ budget: { orgId, name }, period: { firstDay } }) => ({ orgId, name, firstDay }));
    const states = await this.deps.states.loadMany(ids, { consistent: true });
    return found.map((each, i) => ({ ...each, today, id: ids[i] as BudgetPeriodId, before: states[i] }));
  }

  /** Adds the days before a budget became HARD to what it holds. False if another process has done so meanwhile. */
  private async isBased({ budget, period }: BudgetTarget, sums: BudgetSums): Promise<boolean> {
    const base = baseDays(budget, period);
    return !base || this.deps.held.setBase(base.limit, await sums.of({ budget, period: base.days }));
  }

  private async dimensionSum(
    target: BudgetTarget,
    org: Org,
    changedDays: ReadonlySet<string>,
  ): Promise<Pick<Summed, 'spentUsdMicros' | 'dayUsdMicros'>> {
    const known = stateFor(target.budget, target.before)?.dayUsdMicros ?? [];
    const dayUsdMicros = await sumDimensionDays(this.deps, { ...target, org, known, changedDays });
    return { spentUsdMicros: sumOf(dayUsdMicros), dayUsdMicros };
  }

  /** The state after it was stored. `none` if there is nothing to store. */
  private async saved(target: BudgetTarget, summed: Summed): Promise<BudgetState | 'none' | 'failed'> {
    const { budget, id, before } = target;
    const { alerts, states } = this.deps;
    const next = nextState(budget, before, summed);
    // The sums of the days of a dimension value are stored even if all are 0, because they are dear to find.
    if (!before && next.spentUsdMicros === 0 && !next.dayUsdMicros) return 'none';
    if (before && !differs(before, next)) return before;
    // The process that stored the state before may have crashed before it raised its alerts, and the state of another
    // revision no longer implies them.
    const ended = before?.revision === budget.revision ? undefined : stateFor(budget, before);
    if (ended && (await alerts.raiseAll(alertsOf(target, ended))).length > 0) return 'failed';
    return (await states.save(id, next, before)) ? next : 'failed';
  }
}

interface Projection {
  readonly state: BudgetState;
  readonly hours: readonly HourCost[];
  readonly nowMs: number;
}

/** True if the current period is expected to exceed a budget that is not used up yet. */
function isProjected(
  { budget, period, today }: BudgetTarget,
  { zones }: Org,
  { state, hours, nowMs }: Projection,
): boolean {
  const { spentUsdMicros, amountUsdMicros, isOver } = state;
  if (isOver || hours.length === 0 || today > period.lastDay) return false;
  const expected = budgetForecast(budget, zones, { period, spentUsdMicros, hours, nowMs });
  return expected !== null && expected.projectedUsdMicros > amountUsdMicros;
}
