import { percent } from './numbers.js';

export interface AlertFacts {
  readonly kind: string;
  readonly appId: string | null;
  readonly label: string;
  readonly activeLabel: string | null;
  readonly quotaPct: number;
}

/** What an alert says, in one sentence. */
export function alertText({ kind, appId, label, activeLabel, quotaPct }: AlertFacts): string {
  const where = appId === null ? '' : `${appId}: `;
  switch (kind) {
    case 'TIGHT_MODE':
      return `${where}${label} is at ${percent(quotaPct)} of its quota`;
    case 'QUOTA_EXCEEDED':
      return `${where}the quota of ${label} is used up`;
    case 'FALLBACK_ACTIVATED':
      return `${where}fell back from ${label} to ${activeLabel ?? 'another label'}`;
    case 'GAP':
      return 'Some alerts have expired before they were read';
    default:
      return `${where}${label} is at ${percent(quotaPct)}`;
  }
}
