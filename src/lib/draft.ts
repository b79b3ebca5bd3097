/** A write made by one feature that rides in another's transaction: services pass it on, only stores look inside. */
export interface Draft {
  readonly table: string;
}
