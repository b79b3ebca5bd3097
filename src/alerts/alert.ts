import { hashSlot } from '../lib/id.js';

export const alertKinds = [
  'TIGHT_MODE',
  'QUOTA_EXCEEDED',
  'FALLBACK_ACTIVATED',
  'THRESHOLD',
  'RECOVERED',
  'PROJECTED',
  'GAP',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/**
 * An alert to raise. Of a quota it is raised once per scope, label, day and kind, of a budget once per revision,
 * period, kind and threshold.
 */
export interface AlertDraft {
  readonly orgId: string;
  /** Absent if the quota or budget is the org's. */
  readonly appId?: string;
  readonly kind: AlertKind;
  /** The label that is near or past its quota. Empty for a budget of all labels. */
  readonly label: string;
  /** The label now in use, if the alert is about a fallback. */
  readonly activeLabel?: string;
  readonly day: string;
  readonly costUsdMicros: number;
  readonly quotaUsdMicros: number;
  readonly quotaPct: number;
  readonly thresholdPct: number;
  /** The name of the budget that the alert is about. The fields below are set with it. */
  readonly budget?: string;
  readonly budgetRevision?: number;
  readonly periodStart?: string;
  readonly periodEnd?: string;
}

export interface QuotaAlert extends AlertDraft {
  readonly nodeType: 'QuotaAlert';
  readonly raisedAt: Date;
  /** Its position in the log of its partition. Numbers are contiguous and in the order of commit. */
  readonly number: number;
}

/** The parts of the name under which an alert is raised once, beside its scope. */
export const markOf = ({ day, label, kind, thresholdPct, ...draft }: AlertDraft): readonly (string | number)[] =>
  draft.budget === undefined
    ? [day, label, kind]
    : [draft.periodStart ?? day, 'BUDGET', draft.budget, draft.budgetRevision ?? 0, kind, thresholdPct];

/** The alert log has this many partitions. Each org belongs to one, which orders its alerts. */
export const partitionCount = 16;
export const partitionOf = (orgId: string): number => hashSlot(orgId, partitionCount);

/**
 * The alert that a subscriber gets where alerts after its cursor have expired. It is no longer known if the expired
 * alerts matched the subscription. `number` is the last missing one, so that the cursor continues with the first one
 * that exists.
 */
export const gapBefore = (orgId: string, number: number, nowMs: number): QuotaAlert => ({
  nodeType: 'QuotaAlert',
  orgId,
  kind: 'GAP',
  label: '',
  day: new Date(nowMs).toISOString().slice(0, 10),
  costUsdMicros: 0,
  quotaUsdMicros: 0,
  quotaPct: 0,
  thresholdPct: 0,
  raisedAt: new Date(nowMs),
  number,
});

/** The alerts that a subscriber asked for and may see. */
export interface AlertFilter {
  readonly orgId: string;
  /** Absent: every scope of the org. */
  readonly scope?: { readonly appId?: string };
  readonly kinds?: readonly AlertKind[];
}

/** A GAP matches every subscription of its org, whatever scope and kinds were asked for. */
export const matches = ({ orgId, scope, kinds }: AlertFilter, alert: QuotaAlert): boolean =>
  alert.orgId === orgId &&
  (alert.kind === 'GAP' || ((!scope || alert.appId === scope.appId) && (!kinds || kinds.includes(alert.kind))));
