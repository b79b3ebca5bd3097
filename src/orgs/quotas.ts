import type { Issue } from '../lib/errors.js';
import {
  type EnforcementHistory,
  type EnforcementTiming,
  enforcementOn,
  lastEnforcement,
  type QuotaEnforcement,
  withEnforcement,
} from './enforcement.js';

/** The daily quota of a label. */
export interface ModelQuota {
  readonly label: string;
  readonly dailyUsdMicros: number;
  /** Absent if the quota has always been ADVISORY. */
  readonly changes?: EnforcementHistory;
}

/** A quota as a caller sends it. */
export interface QuotaRequest {
  readonly label: string;
  readonly dailyUsdMicros: number;
  /** Absent or null: unchanged. */
  readonly enforcement?: QuotaEnforcement | null | undefined;
}

/** Quotas in the order of the chain, then by label. They are stored in a map, which has no order. */
export function inChainOrder(quotas: readonly ModelQuota[], ordering: readonly string[]): ModelQuota[] {
  const rank = (label: string) => (ordering.includes(label) ? ordering.indexOf(label) : ordering.length);
  return [...quotas].sort((a, b) => rank(a.label) - rank(b.label) || (a.label < b.label ? -1 : 1));
}

/** The quotas with their enforcement. `before`: the quotas that were in force until now. */
export const resolvedQuotas = (
  requested: readonly QuotaRequest[],
  before: readonly ModelQuota[],
  timing: EnforcementTiming,
): ModelQuota[] =>
  requested.map(({ label, dailyUsdMicros, enforcement }) => {
    const history = changesOf(before, label);
    const changes = withEnforcement(history, enforcement ?? lastEnforcement(history), timing);
    return { label, dailyUsdMicros, ...(changes.length > 0 ? { changes } : {}) };
  });

const changesOf = (quotas: readonly ModelQuota[], label: string): EnforcementHistory =>
  quotas.find((quota) => quota.label === label)?.changes ?? [];

/** True if the quota of a label is HARD on a day. */
export const isHardOn = (quotas: readonly ModelQuota[], label: string, day: string): boolean =>
  enforcementOn(changesOf(quotas, label), day) === 'HARD';

/** True if a quota becomes HARD that was not to be HARD before. */
export const becomesHard = (before: readonly ModelQuota[], after: readonly ModelQuota[]): boolean =>
  after.some(
    ({ label, changes = [] }) =>
      lastEnforcement(changes) === 'HARD' && lastEnforcement(changesOf(before, label)) !== 'HARD',
  );

/**
 * The issues of an app that would get the quotas of its org with another enforcement than today's. A change of
 * enforcement must wait for the next day, because the costs of a HARD day are counted in another way.
 */
export function suddenIssues(before: readonly ModelQuota[], after: readonly ModelQuota[], today: string): Issue[] {
  return after
    .filter(({ label }) => isHardOn(after, label, today) !== isHardOn(before, label, today))
    .map(({ label, changes = [] }) => ({
      path: 'input.quotas',
      message:
        `the org enforces the quota of ${label} otherwise than this app today: give the app a quota of ${label} with ` +
        `enforcement ${enforcementOn(changes, today)}, and inherit the quotas on the day after it takes effect`,
    }));
}
