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

/** What an alert says, in one sentence that begins with the app, if it is about one. */
export function alertText(alert: AlertFacts): string {
  const text = factText(alert);
  return alert.appId === null ? text.charAt(0).toUpperCase() + text.slice(1) : `${alert.appId}: ${text}`;
}

function factText({ kind, label, activeLabel, quotaPct, budget, thresholdPct }: AlertFacts): string {
  switch (kind) {
    case 'TIGHT_MODE':
      return `${label} is at ${percent(quotaPct)} of its quota`;
    case 'QUOTA_EXCEEDED':
      return `the quota of ${label} is used up`;
    case 'FALLBACK_ACTIVATED':
      return `fell back from ${label} to ${activeLabel ?? 'another label'}`;
    case 'THRESHOLD':
      return `the budget ${budget ?? ''} has reached ${thresholdPct} %`;
    case 'RECOVERED':
      return `the budget ${budget ?? ''} is no longer used up`;
    case 'PROJECTED':
      return `the budget ${budget ?? ''} is expected to be exceeded`;
    case 'GAP':
      return 'some alerts have expired before they were read';
    default:
      return `${label} is at ${percent(quotaPct)}`;
  }
}
