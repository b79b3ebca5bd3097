import { type Clock, systemClock } from '../lib/clock.js';
import { dayEndMs, localDate, startOfDayMs } from '../orgs/calendar.js';
import { dateOf, midnightOf } from '../orgs/zone-dates.js';

export const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** One hour of the history, or the part of the current hour that has passed. */
export interface DemoHour {
  readonly fromMs: number;
  /** The first moment after it. */
  readonly toMs: number;
  /** The local date. */
  readonly day: string;
  /** Whole hours since the local day began. */
  readonly hourOfDay: number;
  readonly isWeekend: boolean;
  /** 0 for today. */
  readonly daysAgo: number;
  /** From 0 at the beginning of the history up to 1 at its end. */
  readonly progress: number;
  /** The part of the hour that has passed. 1 for all hours but the last. */
  readonly share: number;
  readonly isEndOfDay: boolean;
}

/** When the local day `daysAgo` days before now began. */
export const dayStartMs = (zone: string, nowMs: number, daysAgo: number): number =>
  startOfDayMs([{ zone, fromMs: 0 }], dateOf(midnightOf(localDate(zone, nowMs)) - daysAgo * dayMs));

/** The hours from the beginning of the local day `days` days ago to now, oldest first. */
export function hoursOf(zone: string, days: number, nowMs: number): DemoHour[] {
  const firstMs = dayStartMs(zone, nowMs, days);
  const hours: DemoHour[] = [];
  let startMs = firstMs;
  for (let daysAgo = days; daysAgo >= 0; daysAgo--) {
    const endMs = dayEndMs(zone, startMs);
    const day = localDate(zone, startMs);
    const weekday = new Date(midnightOf(day)).getUTCDay();
    for (let fromMs = startMs; fromMs < Math.min(endMs, nowMs); fromMs += hourMs) {
      const toMs = Math.min(fromMs + hourMs, endMs, nowMs);
      hours.push({
        fromMs,
        toMs,
        day,
        hourOfDay: Math.floor((fromMs - startMs) / hourMs),
        isWeekend: weekday === 0 || weekday === 6,
        daysAgo,
        progress: (fromMs - firstMs) / (nowMs - firstMs),
        share: (toMs - fromMs) / hourMs,
        isEndOfDay: toMs === endMs || toMs === nowMs,
      });
    }
    startMs = endMs;
  }
  return hours;
}

/**
 * The clock that the services of the demo run on. It stands still at a past time until it is moved forward, and runs
 * with the real time at the end. Ages and deadlines inside the process always run with the real time.
 */
export class HistoryClock implements Clock {
  private frozenMs: number | undefined;

  constructor(startMs: number) {
    this.frozenMs = startMs;
  }

  nowMs(): number {
    return this.frozenMs ?? systemClock.nowMs();
  }

  monotonicMs(): number {
    return systemClock.monotonicMs();
  }

  /** Moves the clock. It never goes back, because the services expect that of a clock. */
  moveTo(atMs: number): void {
    if (this.frozenMs !== undefined) this.frozenMs = Math.max(this.frozenMs, atMs);
  }

  /** The history is over: from now on the clock shows the real time. */
  release(): void {
    this.frozenMs = undefined;
  }
}
