export const overrunKinds = ['ABOVE_RESERVATION', 'LATE_SETTLE', 'UNRESERVED'] as const;
export type OverrunKind = (typeof overrunKinds)[number];

export const maxOverrunDays = 31;

/** The part of a cost that no reservation covered. */
export interface Overrun {
  readonly kind: OverrunKind;
  readonly overUsdMicros: number;
}

/** An overrun as it is listed. */
export interface ListedOverrun extends Overrun {
  readonly requestId: string;
  readonly appId: string;
  readonly label: string;
  readonly day: string;
  readonly occurredAt: Date;
}
