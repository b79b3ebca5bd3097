import type { LimitStatus } from '../limits/status.js';
import type { Price } from '../spend/catalog/price.js';
import type { Subject } from '../spend/subject.js';

/*
 * Admission: one call that decides if a model call may be made. `admit` takes the tokens of rate limits, then reserves
 * money on the first label that fits. `settle` records the cost and returns the rest.
 *
 * Reading order: this file, estimate.ts, money-decision.ts (rules), admission.service.ts (the calls),
 * admission-money.service.ts (labels and reservations), admission-limits.service.ts (rate limits), waiting-line.ts.
 * Money that is held is in spend/held/.
 */

export const bindingKinds = ['BUDGET', 'QUOTA', 'LIMIT'] as const;
export type BindingKind = (typeof bindingKinds)[number];

export const maxLabels = 10;
export const maxLimits = 3;
export const maxTtlSecs = 900;
export const maxWaitMs = 4000;

/** The bound that refused a call. */
export interface DeniedBinding {
  readonly kind: BindingKind;
  readonly name: string;
  readonly label?: string;
  readonly entityId?: string;
  readonly missing: number;
  readonly wouldPass: number;
}

export interface Admitted {
  readonly kind: 'Admitted';
  readonly admissionId: string;
  readonly requestId: string;
  readonly label: string;
  readonly modelId: string;
  readonly price?: Price;
  readonly reservedUsdMicros: number;
  readonly expiresAt: Date;
  readonly statuses: readonly LimitStatus[];
  readonly replayed: boolean;
  readonly degraded: boolean;
  readonly subject: Subject;
  readonly day: string;
}

export interface Denied {
  readonly kind: 'Denied';
  readonly binding: DeniedBinding;
  readonly retryAt?: Date;
  readonly statuses: readonly LimitStatus[];
  readonly subject: Subject;
  readonly day: string;
}

export type Admission = Admitted | Denied;
