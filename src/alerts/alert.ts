import { bucketOf } from '../lib/id.js';

export const alertKinds = ['TIGHT_MODE', 'QUOTA_EXCEEDED', 'FALLBACK_ACTIVATED'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** What there is to tell; it is told once per scope, label, day and kind. */
export interface AlertDraft {
  readonly orgId: string;
  /** Absent where the quota is the org's. */
  readonly appId?: string;
  readonly kind: AlertKind;
  /** The label that is near or past its quota. */
  readonly label: string;
  /** The label now in use, where a fallback moved on. */
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
  /** Its place in its lane's log: contiguous, in the order of commit. */
  readonly number: number;
}

export const laneCount = 16;
export const laneOf = (orgId: string): number => bucketOf(orgId, laneCount);

/** Which alerts a subscriber wants and may have. */
export interface AlertFilter {
  readonly orgId: string;
  /** Absent: of every scope of the org. */
  readonly scope?: { readonly appId?: string };
  readonly kinds?: readonly AlertKind[];
}

export const matches = ({ orgId, scope, kinds }: AlertFilter, alert: QuotaAlert): boolean =>
  alert.orgId === orgId && (!scope || alert.appId === scope.appId) && (!kinds || kinds.includes(alert.kind));
