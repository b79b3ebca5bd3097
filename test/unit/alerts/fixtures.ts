import { type AlertKind, partitionOf, type QuotaAlert } from '../../../src/alerts/alert.js';

export const orgA = 'org-a';
export const neighbour = Array.from({ length: 1000 }, (_, i) => `org ${i}`).find(
  (orgId) => partitionOf(orgId) === partitionOf(orgA),
) as string;
export const elsewhere = Array.from({ length: 1000 }, (_, i) => `org ${i}`).find(
  (orgId) => partitionOf(orgId) !== partitionOf(orgA),
) as string;

export interface Raised {
  readonly orgId?: string;
  readonly appId?: string;
  readonly kind?: AlertKind;
}

export const alertOf = (number: number, { orgId = orgA, appId, kind = 'TIGHT_MODE' }: Raised = {}): QuotaAlert => ({
  nodeType: 'QuotaAlert',
  orgId,
  ...(appId === undefined ? {} : { appId }),
  kind,
  label: 'premium',
  day: '2026-05-05',
  costUsdMicros: 95,
  quotaUsdMicros: 100,
  quotaPct: 95,
  thresholdPct: 95,
  raisedAt: new Date(0),
  number,
});
