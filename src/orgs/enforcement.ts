import { dayAt, nextDate, type ZoneHistory } from './calendar.js';

export const quotaEnforcements = ['ADVISORY', 'HARD'] as const;
export type QuotaEnforcement = (typeof quotaEnforcements)[number];

/** An enforcement that is in force from a local day on, until the next change. */
export interface EnforcementChange {
  readonly enforcement: QuotaEnforcement;
  readonly from: string;
}

/** Oldest first. Before the first change the enforcement is ADVISORY. */
export type EnforcementHistory = readonly EnforcementChange[];

/** When a change of enforcement takes effect. */
export interface EnforcementTiming {
  readonly today: string;
  /** The first day that a change may apply to. */
  readonly firstDay: string;
}

const dayMs = 86_400_000;
/**
 * Other gateways see a change within 2 s, and a cost may be dated 5 minutes ahead. A day that begins sooner than this
 * may already have costs that were counted under the enforcement before.
 */
export const noticeMs = 5 * 60_000 + 10_000;
/** Longer than a late cost or the month of a budget looks back. */
const historyDays = 40;

/** The timing of a change that is made now: it takes effect on the next local day, with at least `noticeMs` notice. */
export const timingAt = (zones: ZoneHistory, nowMs: number): EnforcementTiming => ({
  today: dayAt(zones, nowMs),
  firstDay: nextDate(dayAt(zones, nowMs + noticeMs)),
});

/** For an org or app without costs: the change takes effect at once. */
export const atOnce: EnforcementTiming = { today: '1970-01-01', firstDay: '1970-01-01' };

/** The enforcement on a day. A pure function of the settings, so that all gateways agree on it. */
export function enforcementOn(history: EnforcementHistory, day: string): QuotaEnforcement {
  return history.findLast(({ from }) => from <= day)?.enforcement ?? 'ADVISORY';
}

/** The enforcement that was set last. It may not be in force yet. */
export const lastEnforcement = (history: EnforcementHistory): QuotaEnforcement =>
  history.at(-1)?.enforcement ?? 'ADVISORY';

/** The change that waits for a coming day. */
export const nextChange = (history: EnforcementHistory, today: string): EnforcementChange | undefined => {
  const last = history.at(-1);
  return last && last.from > today ? last : undefined;
};

/** The day since when a day has been HARD without interruption. Undefined if it is not HARD. */
export function hardSince(history: EnforcementHistory, day: string): string | undefined {
  const change = history.findLast(({ from }) => from <= day);
  return change?.enforcement === 'HARD' ? change.from : undefined;
}

/**
 * The history with a change. It replaces an earlier change that is not in force yet, unless that one takes effect so
 * soon that another gateway may not hear of its end in time.
 */
export function withEnforcement(
  history: EnforcementHistory,
  wanted: QuotaEnforcement,
  { today, firstDay }: EnforcementTiming,
): EnforcementHistory {
  const kept = recent(
    history.filter(({ from }) => from < firstDay),
    today,
  );
  return enforcementOn(kept, firstDay) === wanted ? kept : [...kept, { enforcement: wanted, from: firstDay }];
}

/** Without the changes that were followed by another one before the oldest day that matters. */
function recent(history: EnforcementHistory, today: string): EnforcementHistory {
  const oldest = new Date(Date.parse(today) - historyDays * dayMs).toISOString().slice(0, 10);
  return history.filter((_, i) => i === history.length - 1 || (history[i + 1] as EnforcementChange).from > oldest);
}
