import { endOfDayMs, startOfDayMs, type ZoneHistory } from '../../orgs/calendar.js';
import { dateOf, midnightOf } from '../../orgs/zone-dates.js';
import type { Counters } from '../counters.js';
import { amountInForce, type Budget } from './budget.js';
import { type Forecast, forecast, forecastDays, type HourCost } from './forecast.js';
import { hourMs, localHours } from './local-hours.js';
import type { DateRange } from './period.js';

/** The day and the hours of a total. */
export interface HourlyTotal {
  readonly counters: Counters;
  /** Absent if no hours were counted yet. */
  readonly startsAt?: Date;
}

/** The cost of each hour of some totals. */
export const hoursIn = (totals: readonly HourlyTotal[]): HourCost[] =>
  totals.flatMap(({ counters, startsAt }) =>
    startsAt
      ? [...counters.hours].map(([hour, { costUsdMicros }]) => ({
          startMs: startsAt.getTime() + hour * hourMs,
          costUsdMicros,
        }))
      : [],
  );

/** The days whose hours a forecast needs. */
export const forecastRange = (today: string): DateRange => ({
  firstDay: dateOf(midnightOf(today) - forecastDays * 24 * hourMs),
  lastDay: today,
});

/** What is known about a period of a budget. */
export interface PeriodSpend {
  readonly period: DateRange;
  readonly spentUsdMicros: number;
  readonly hours: readonly HourCost[];
  readonly nowMs: number;
}

/** The forecast for a period of a budget. Null if there is too little data. */
export const budgetForecast = (
  budget: Budget,
  zones: ZoneHistory,
  { period, spentUsdMicros, hours, nowMs }: PeriodSpend,
): Forecast | null =>
  forecast({
    nowMs,
    periodStartMs: startOfDayMs(zones, period.firstDay),
    periodEndMs: endOfDayMs(zones, period.lastDay),
    spentUsdMicros,
    boundUsdMicros: amountInForce(budget, nowMs),
    hours,
    localHourAt: localHours(zones),
  });
