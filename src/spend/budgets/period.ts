import { dateOf, midnightOf } from '../../orgs/zone-dates.js';

export const budgetPeriods = ['DAY', 'WEEK', 'MONTH'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** Local dates of an org, both ends included. No time is part of it, so a change of zone or clock cannot split it. */
export interface DateRange {
  readonly firstDay: string;
  readonly lastDay: string;
}

const dayMs = 86_400_000;

/** The period that a day belongs to. Weeks begin on Monday, months on the 1st. */
export function periodOf(kind: BudgetPeriod, day: string): DateRange {
  if (kind === 'DAY') return { firstDay: day, lastDay: day };
  const midnightMs = midnightOf(day);
  const date = new Date(midnightMs);
  if (kind === 'WEEK') {
    const firstMs = midnightMs - ((date.getUTCDay() + 6) % 7) * dayMs;
    return { firstDay: dateOf(firstMs), lastDay: dateOf(firstMs + 6 * dayMs) };
  }
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { firstDay: dateOf(Date.UTC(year, month, 1)), lastDay: dateOf(Date.UTC(year, month + 1, 0)) };
}

/** The different periods that some days belong to, oldest first. */
export function periodsOf(kind: BudgetPeriod, days: Iterable<string>): DateRange[] {
  const periods = new Map<string, DateRange>();
  for (const day of [...days].sort()) {
    const period = periodOf(kind, day);
    periods.set(period.firstDay, period);
  }
  return [...periods.values()];
}
