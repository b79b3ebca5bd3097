import type { Rejection } from './reading.js';

/** The outcome of one reading of an ingest. */
export type Verdict =
  | { readonly kind: 'STORED' | 'DUPLICATE' }
  | { readonly kind: 'CONFLICT' | 'RETRY'; readonly message: string }
  | { readonly kind: 'REJECTED'; readonly rejection: Rejection };

/** The verdict on a reading, with the ids under which it was sent (empty if missing). */
export interface ReadingOutcome {
  readonly hardwareId: string;
  readonly batchId: string;
  readonly verdict: Verdict;
}

export const conflict: Verdict = {
  kind: 'CONFLICT',
  message: 'batchId: this device has sent a reading with other content under this id; the first one stays stored',
};
export const retry: Verdict = {
  kind: 'RETRY',
  message: 'not stored: the database is temporarily unavailable; retry this reading',
};
export const rejected = (rejection: Rejection): Verdict => ({ kind: 'REJECTED', rejection });

/**
 * The verdict on the second of two readings with the same batch id in one call, by the verdict on the first.
 * `undecided`: the first one says nothing about it, so it must be stored on its own.
 */
export function verdictAfter(first: Verdict, isSame: boolean): Verdict | 'undecided' {
  if (first.kind === 'RETRY') return retry;
  if (first.kind === 'REJECTED' || first.kind === 'CONFLICT') return 'undecided';
  return isSame ? { kind: 'DUPLICATE' } : conflict;
}

/**
 * The batch ids whose readings are stored, by this call or before. If several devices of the call use the same id, it
 * is settled only if it is settled for each of them, because the caller may drop all readings with a settled id.
 */
export function settledBatchIds(outcomes: readonly ReadingOutcome[]): string[] {
  const nameOf = ({ hardwareId, batchId }: ReadingOutcome): string => `${hardwareId} ${batchId}`;
  const stored = new Set(outcomes.filter(({ verdict }) => isStored(verdict)).map(nameOf));
  const unsettled = new Set(outcomes.filter((each) => !stored.has(nameOf(each))).map(({ batchId }) => batchId));
  return [...new Set(outcomes.map(({ batchId }) => batchId))].filter((batchId) => !unsettled.has(batchId));
}

const isStored = ({ kind }: Verdict): boolean => kind === 'STORED' || kind === 'DUPLICATE';
