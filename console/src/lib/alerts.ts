import { percent } from './numbers.js';

export interface AlertFacts {
  readonly kind: string;
  readonly appId: string | null;
  readonly label: string;
  readonly activeLabel: string | null;
  readonly quotaPct: number;
  readonly budget: string | null;
  readonly thresholdPct: number;
}

/** What an alert says, in one sentence. */
export function alertText({ kind, appId, label, activeLabel, quotaPct, budget, thresholdPct }: AlertFacts): string {
  const where = appId === null ? '' : `${appId}: `;
  switch (kind) {
    case 'TIGHT_MODE':
      return `${where}${label} is at ${percent(quotaPct)} of its quota`;
    case 'QUOTA_EXCEEDED':
      return `${where}the quota of ${label} is used up`;
    case 'FALLBACK_ACTIVATED':
      return `${where}fell back from ${label} to ${activeLabel ?? 'another label'}`;
    case 'THRESHOLD':
      return `${where}the budget ${budget ?? ''} has reached ${thresholdPct} %`;
    case 'RECOVERED':
      return `${where}the budget ${budget ?? ''} is no longer used up`;
    case 'PROJECTED':
      return `${where}the budget ${budget ?? ''} is expected to be exceeded`;
    case 'GAP':
      return 'Some alerts have expired before they were read';
    default:
      return `${where}${label} is at ${percent(quotaPct)}`;
  }
}
