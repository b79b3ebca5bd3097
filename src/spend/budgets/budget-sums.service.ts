import { type Scope, scopeKey } from '../../orgs/scope.js';
import type { Org } from '../../orgs/settings.js';
import type { DimensionStore } from '../breakdown/dimension.store.js';
import type { LabelStore } from '../label.store.js';
import { daysBetween } from '../open-days.js';
import type { Total, TotalStore } from '../total.store.js';
import type { Budget } from './budget.js';
import { hoursIn } from './budget-forecast.js';
import type { HourCost } from './forecast.js';
import type { DateRange } from './period.js';

export interface BudgetSumDeps {
  readonly totals: Pick<TotalStore, 'listTotals'>;
  readonly labels: Pick<LabelStore, 'load'>;
  readonly dimensions: Pick<DimensionStore, 'sumValue'>;
}

/** A budget and the period to sum. */
interface Summand {
  readonly budget: Budget;
  readonly period: DateRange;
}

interface DayTotal {
  readonly day: string;
  readonly total: Total;
}

/** The sums of one check. Each label of a scope is read once, over all periods that are given for it. */
export class BudgetSums {
  private readonly ranges = new Map<string, DateRange>();
  private readonly read = new Map<string, Promise<readonly DayTotal[]>>();
  private labels: Promise<readonly string[]> | undefined;

  constructor(
    private readonly deps: BudgetSumDeps,
    summands: readonly Summand[],
  ) {
    for (const { budget, period } of summands) {
      const name = scopeKey(scopeOfBudget(budget));
      this.ranges.set(name, union(this.ranges.get(name) ?? period, period));
    }
  }

  /** The sum of the days of a period. Not for a dimension value, which has no totals. */
  async of({ budget, period }: Summand): Promise<number> {
    return sumOf((await this.totalsOf(budget, period)).map((total) => total.costUsdMicros));
  }

  /** The costs of a budget per hour of a range. None for a dimension value, which has no hours. */
  async hoursOf(budget: Budget, range: DateRange): Promise<HourCost[]> {
    return budget.dimension ? [] : hoursIn(await this.totalsOf(budget, range));
  }

  private async totalsOf(budget: Budget, { firstDay, lastDay }: DateRange): Promise<Total[]> {
    const labels = budget.label === undefined ? await this.allLabels(budget.orgId) : [budget.label];
    const found = await Promise.all(labels.map((label) => this.readTotals(scopeOfBudget(budget), label)));
    return found
      .flat()
      .filter(({ day }) => day >= firstDay && day <= lastDay)
      .map(({ total }) => total);
  }

  private allLabels(orgId: string): Promise<readonly string[]> {
    this.labels ??= this.deps.labels.load(orgId, { consistent: true });
    return this.labels;
  }

  private readTotals(scope: Scope, label: string): Promise<readonly DayTotal[]> {
    const name = `${scopeKey(scope)} ${label}`;
    const cached = this.read.get(name);
    if (cached) return cached;
    const { firstDay: from, lastDay: to } = this.ranges.get(scopeKey(scope)) as DateRange;
    const reading = this.deps.totals.listTotals(scope, label, { from, to }, { consistent: true });
    this.read.set(name, reading);
    return reading;
  }
}

/** A budget of a dimension value, with the sums that are known of its period. */
interface DimensionSummand extends Summand {
  readonly org: Org;
  readonly known: readonly number[];
  /** The days whose costs may have changed. */
  readonly changedDays: ReadonlySet<string>;
}

/**
 * The spend of each day of a period, up to the last one that may have a cost. Only days that are not known yet, or that
 * have changed, are summed from their counters.
 */
export function sumDimensionDays(
  { dimensions }: BudgetSumDeps,
  { budget: { orgId, dimension }, period: { firstDay, lastDay }, org, known, changedDays }: DimensionSummand,
): Promise<number[]> {
  const [last = lastDay] = [[...changedDays].sort().at(-1) ?? firstDay, lastDay].sort();
  const days = daysBetween(firstDay, last);
  const { name = '', value = '' } = dimension ?? {};
  return Promise.all(
    Array.from({ length: Math.max(days.length, known.length) }, async (_, i) => {
      const [day, sum] = [days[i], known[i]];
      if (sum !== undefined && (day === undefined || !changedDays.has(day))) return sum;
      const usage = await dimensions.sumValue({ orgId, name, day: day as string }, value, org.shardCount);
      return usage.costUsdMicros;
    }),
  );
}

const scopeOfBudget = ({ orgId, appId }: Budget): Scope => (appId === undefined ? { orgId } : { orgId, appId });

function union(a: DateRange, b: DateRange): DateRange {
  const days = [a.firstDay, b.firstDay, a.lastDay, b.lastDay].sort();
  return { firstDay: days[0] as string, lastDay: days[3] as string };
}

/** Saturates at 2^53 - 1, as all sums of costs do. */
export const sumOf = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => Math.min(sum + amount, Number.MAX_SAFE_INTEGER), 0);
