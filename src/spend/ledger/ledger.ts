import type { Issue } from '../../lib/errors.js';
import { daysBetween } from '../open-days.js';

export const maxLedgerDays = 31;

/** How a caller switches the ledger on. */
export const ledgerOff =
  'the ledger of this org is off; switch it on with `updateOrg(input: { ledger: true })`; ' +
  'it lists the costs that are recorded from then on';

/** How many days a range has, both ends included. Below 1 if it ends before it begins. */
export const dayCount = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;

/** The issues of a range of days. */
export function rangeIssues(from: string, to: string, maxDays: number): Issue[] {
  const count = dayCount(from, to);
  return [
    ...(count < 1 ? [{ path: 'to', message: 'is before `from`' }] : []),
    ...(count > maxDays
      ? [{ path: 'from', message: `the range has ${count} days, more than the maximum of ${maxDays}` }]
      : []),
  ];
}

export const newestFirst = (from: string, to: string): string[] => daysBetween(from, to).reverse();
