import type { AlertDraft, AlertKind } from '../alerts/alert.js';
import { quotaPct } from './money.js';
import type { LabelSpend, Subject } from './report.js';

/** The alert that a label's figures call for. A jump over both lines is QUOTA_EXCEEDED alone. Nothing spent, no alert. */
export function alertFor(subject: Subject, spend: LabelSpend, day: string): AlertDraft | undefined {
  if (subject.isRollup || spend.mode === 'NORMAL' || spend.quotaUsdMicros === undefined || spend.requests === 0)
    return undefined;
  return draftOf(subject, spend, day, spend.mode === 'TIGHT' ? 'TIGHT_MODE' : 'QUOTA_EXCEEDED');
}

/** For when the sticky state has moved from a used-up label to the next one. */
export const fallbackAlert = (subject: Subject, usedUp: LabelSpend, activeLabel: string, day: string): AlertDraft => ({
  ...draftOf(subject, usedUp, day, 'FALLBACK_ACTIVATED'),
  activeLabel,
});

function draftOf(
  { scope }: Subject,
  { label, costUsdMicros, quotaUsdMicros = 0, thresholdPct }: LabelSpend,
  day: string,
  kind: AlertKind,
): AlertDraft {
  return {
    ...scope,
    kind,
    label,
    day,
    costUsdMicros,
    quotaUsdMicros,
    quotaPct: quotaPct(costUsdMicros, quotaUsdMicros),
    thresholdPct,
  };
}
