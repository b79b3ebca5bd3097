import type { Clock } from '../../lib/clock.js';
import { endOfDayMs, previousDate } from '../../orgs/calendar.js';
import { hardSince } from '../../orgs/enforcement.js';
import { isHardOn } from '../../orgs/quotas.js';
import { scopeOf } from '../../orgs/scope.js';
import type { App, Org } from '../../orgs/settings.js';
import { amountInForce, type Budget, scopeText } from '../budgets/budget.js';
import type { BudgetService } from '../budgets/budget.service.js';
import { type BudgetSumDeps, BudgetSums } from '../budgets/budget-sums.service.js';
import { type DateRange, periodOf } from '../budgets/period.js';
import { type HeldLimit, type HeldRef, heldName, scopeHashOf } from './held.item.js';
import type { HeldStore } from './held.store.js';

export interface HoldDeps {
  readonly budgets: Pick<BudgetService, 'list'>;
  readonly clock: Clock;
}

/** Which HARD quota and budgets a cost counts against. */
export class HoldService {
  constructor(private readonly deps: HoldDeps) {}

  /** A pure function of settings, budgets and day. Reads nothing if the org has no budgets, or if they are cached. */
  async limitsOf(app: App, label: string, day: string): Promise<HeldLimit[]> {
    const quota = quotaLimit(app, label, day);
    if (app.org.budgetsVersion === 0) return quota;
    const nowMs = this.deps.clock.nowMs();
    const budgets = (await this.deps.budgets.list(app.org)).filter((budget) => appliesTo(budget, app.appId, label));
    return [...quota, ...budgets.flatMap((budget) => budgetLimit(budget, app.org, day, nowMs))];
  }
}

function quotaLimit(app: App, label: string, day: string): HeldLimit[] {
  if (!isHardOn(app.quotas, label, day)) return [];
  const ref: HeldRef = { kind: 'quota', id: { ...scopeOf(app), label, day } };
  const limitUsdMicros = app.quotas.find((quota) => quota.label === label)?.dailyUsdMicros ?? 0;
  const endsAtMs = endOfDayMs(app.org.zones, day);
  return [{ name: heldName(ref), ref, limitUsdMicros, title: label, endsAtMs, lastDay: day, needsBase: false }];
}

const appliesTo = (budget: Budget, appId: string, label: string): boolean =>
  !budget.dimension &&
  (budget.appId === undefined || budget.appId === appId) &&
  (budget.label === undefined || budget.label === label);

/** The item of a budget for the costs of a day. None if the budget is not HARD on that day. */
function budgetLimit(budget: Budget, { zones }: Org, day: string, nowMs: number): HeldLimit[] {
  const since = hardSince(budget.hardChanges, day);
  if (since === undefined) return [];
  const period = periodOf(budget.period, day);
  return [
    {
      ...budgetItem(budget, period, since),
      limitUsdMicros: amountInForce(budget, nowMs),
      endsAtMs: endOfDayMs(zones, period.lastDay),
    },
  ];
}

function budgetItem(budget: Budget, { firstDay, lastDay }: DateRange, since: string) {
  const { orgId, name } = budget;
  const scopeHash = scopeHashOf(scopeText(budget));
  const ref: HeldRef = { kind: 'budget', orgId, budget: name, scopeHash, firstDay, since };
  return { name: heldName(ref), ref, title: name, lastDay, needsBase: since > firstDay };
}

/** The days of a period before a budget became HARD, and the item that their sum belongs to. */
export interface BaseDays {
  readonly limit: HeldLimit;
  readonly days: DateRange;
}

/** Undefined if all days of the period are counted as they come, or none. */
export function baseDays(budget: Budget, period: DateRange): BaseDays | undefined {
  const since = budget.dimension ? undefined : hardSince(budget.hardChanges, period.lastDay);
  if (since === undefined || since <= period.firstDay) return undefined;
  const limit = { ...budgetItem(budget, period, since), limitUsdMicros: 0, endsAtMs: 0 };
  return { limit, days: { firstDay: period.firstDay, lastDay: previousDate(since) } };
}

export interface BaseDeps extends BudgetSumDeps {
  readonly held: HeldStore;
  readonly budgets: Pick<BudgetService, 'list'>;
}

/** Sums the days before a budget became HARD when a reservation needs them before the aggregator has done so. */
export class BaseService {
  constructor(private readonly deps: BaseDeps) {}

  /** Does nothing if the budget no longer exists. */
  async ensure(org: Org, { ref }: HeldLimit): Promise<void> {
    if (ref.kind === 'quota') return;
    const budget = (await this.deps.budgets.list(org)).find(({ name }) => name === ref.budget);
    const base = budget && baseDays(budget, periodOf(budget.period, ref.firstDay));
    if (!base) return;
    const sum = await new BudgetSums(this.deps, [{ budget, period: base.days }]).of({ budget, period: base.days });
    await this.deps.held.setBase(base.limit, sum);
  }
}
