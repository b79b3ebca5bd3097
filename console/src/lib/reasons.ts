/** Why a selection recommends its label, in words. */
const texts: Readonly<Record<string, string>> = {
  WITHIN_QUOTA: 'within its quota',
  QUOTA_EXCEEDED: 'the quotas before it are used up',
  STICKY_FALLBACK: 'fell back earlier today',
  MANUAL_OVERRIDE: 'set by hand for today',
  ALL_QUOTAS_EXCEEDED: 'all quotas are used up',
  NO_USABLE_MODEL: 'no label of the chain has a model',
  BUDGET_EXCEEDED: 'a budget is used up',
};

/** The words for a reason. A reason that this console does not know is shown as the gateway names it. */
export const reasonText = (reason: string): string => texts[reason] ?? reason.toLowerCase().replaceAll('_', ' ');
