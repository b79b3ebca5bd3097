import type { AlertDraft, AlertKind } from '../alerts/alert.js';
import type { LabelSpend } from './day-spend.js';
import { quotaPct } from './money.js';
import type { Subject } from './subject.js';

/**
 * The alert for the figures of a label, if any. A cost that passes the threshold and the quota at once raises only
 * QUOTA_EXCEEDED. A label without spend raises no alert, even if its quota is 0.
 */
export function alertFor(subject: Subject, spend: LabelSpend, day: string): AlertDraft | undefined {
  if (subject.isRollup || spend.mode === 'NORMAL' || spend.quotaUsdMicros === undefined || spend.requests === 0)
    return undefined;
  return draftOf(subject, spend, day, spend.mode === 'TIGHT' ? 'TIGHT_MODE' : 'QUOTA_EXCEEDED');
}

/** The alert for a sticky state that has moved from a used-up label to the next one. */
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
