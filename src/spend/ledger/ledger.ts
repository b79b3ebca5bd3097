import { daysBetween } from '../open-days.js';

export const maxLedgerDays = 31;

/** How a caller switches the ledger on. */
export const ledgerOff =
  'the ledger of this org is off; switch it on with `updateOrg(input: { ledger: true })`; ' +
  'it lists the costs that are recorded from then on';

export const newestFirst = (from: string, to: string): string[] => daysBetween(from, to).reverse();
