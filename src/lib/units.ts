/** Capacity units and calls, as the store itself counted them. */
export interface Units {
  read: number;
  write: number;
  calls: number;
  /** Set when nobody waits for the operation any more: it gets no further read. */
  isOver?: boolean;
}
