/** Capacity units and calls, as the store itself counted them. */
export interface Units {
  read: number;
  write: number;
  calls: number;
  /** Set when nobody waits for the operation any more: it gets no further read. */
  isOver?: boolean;
}

/** Counts work against the bound of an operation before it is done: 1 unit is about one stored item to read. Throws past the bound. */
export type Charge = (units: number, advice?: string) => void;
