/** Capacity units and calls, as DynamoDB reported them. */
export interface Units {
  read: number;
  write: number;
  calls: number;
  /** Set when the operation has timed out: it may not read any more. */
  isOver?: boolean;
}

/**
 * Charges work to the complexity budget of an operation before it is done. 1 unit is about one item to read. Throws
 * past the budget.
 */
export type Charge = (units: number, advice?: string) => void;
