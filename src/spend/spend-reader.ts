import type { Scope, SpendId } from '../orgs/scope.js';
import type { BudgetPeriodId, BudgetState } from './budgets/budget-state.js';
import type { Figures } from './day-spend.js';
import type { Sticky } from './selection.js';

/** The reads of a selection, batched with the other reads of the request. */
export interface SelectionReader {
  total(id: SpendId): Promise<Figures | undefined>;
  sticky(id: Scope & { readonly day: string }): Promise<Sticky | undefined>;
  budgetState(id: BudgetPeriodId): Promise<BudgetState | undefined>;
}

/** The reads of a report. */
export interface SpendReader extends SelectionReader {
  /** Every label that the org has ever spent on. */
  labels(orgId: string): Promise<readonly string[]>;
  /** Charges work to the operation before it is done. Throws if the operation would exceed its complexity bound. */
  charge(units: number, advice: string): void;
  /** Does a piece of work once per operation and name. Later calls get the same result. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>;
}
