import { hashSlot } from '../lib/id.js';

export const alertKinds = ['TIGHT_MODE', 'QUOTA_EXCEEDED', 'FALLBACK_ACTIVATED', 'GAP'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** An alert to raise: once per scope, label, day and kind. */
export interface AlertDraft {
  readonly orgId: string;
  /** Absent if the quota is the org's. */
  readonly appId?: string;
  readonly kind: AlertKind;
  /** The label that is near or past its quota. */
  readonly label: string;
  /** The label now in use, if a fallback moved on. */
  readonly activeLabel?: string;
  readonly day: string;
  readonly costUsdMicros: number;
  readonly quotaUsdMicros: number;
  readonly quotaPct: number;
  readonly thresholdPct: number;
}

export interface QuotaAlert extends AlertDraft {
  readonly nodeType: 'QuotaAlert';
  readonly raisedAt: Date;
  /** Its place in the log of its partition: contiguous, in the order of commit. */
  readonly number: number;
}

/** The log is kept in partitions, each of which orders the alerts of its orgs. */
export const partitionCount = 16;
export const partitionOf = (orgId: string): number => hashSlot(orgId, partitionCount);

/**
 * What a subscriber gets first if alerts after its cursor have expired: whether any of them was its own is no longer known.
 * `number` is the last one missing, so that its cursor goes on with the first one kept.
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

/** Which alerts a subscriber wants and may have. */
export interface AlertFilter {
  readonly orgId: string;
  /** Absent: of every scope of the org. */
  readonly scope?: { readonly appId?: string };
  readonly kinds?: readonly AlertKind[];
}

/** A gap concerns every subscriber of its org, whatever else it asked for. */
export const matches = ({ orgId, scope, kinds }: AlertFilter, alert: QuotaAlert): boolean =>
  alert.orgId === orgId &&
  (alert.kind === 'GAP' || ((!scope || alert.appId === scope.appId) && (!kinds || kinds.includes(alert.kind))));
