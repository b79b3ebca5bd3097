import { shortDay } from './days.js';

export type QuotaEnforcement = 'ADVISORY' | 'HARD';

/** The enforcement of a quota or a budget that is in force today, and the change that waits for a coming day. */
export interface Enforced {
  readonly enforcement: string;
  readonly nextEnforcement?: { readonly enforcement: string; readonly from: string } | null;
}

const names: Readonly<Record<string, string>> = { ALERT: 'alerts only' };

const nameOf = (enforcement: string): string => names[enforcement] ?? enforcement.toLowerCase();

/** `advisory`, or `advisory; hard from 19 Nov`. */
export const enforcementText = ({ enforcement, nextEnforcement: next }: Enforced): string =>
  next ? `${nameOf(enforcement)}; ${nameOf(next.enforcement)} from ${shortDay(next.from)}` : nameOf(enforcement);

/** What happens to the enforcement of a quota if the chosen one is saved. Undefined if it stays as it is today. */
export function noticeOf(label: string, { enforcement, nextEnforcement: next }: Enforced, chosen: string) {
  if (next && next.enforcement === chosen)
    return `${label} is ${nameOf(enforcement)} today, and ${nameOf(chosen)} from ${shortDay(next.from)}.`;
  if (enforcement !== chosen)
    return `${label} becomes ${nameOf(chosen)} on a coming day. It is ${nameOf(enforcement)} until then.`;
  return next ? `${label} stays ${nameOf(chosen)}: the change of ${shortDay(next.from)} is withdrawn.` : undefined;
}
