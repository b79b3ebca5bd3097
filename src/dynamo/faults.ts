import { GatewayError } from '../lib/errors.js';
import type { Item } from './expression.js';

/** Why one write of a cancelled transaction was not applied. `none`: because of the other writes only. */
export type CancellationReason =
  | { readonly kind: 'none' | 'conflict' | 'throttled' }
  | { readonly kind: 'condition'; readonly old?: Item };

/** What a failed store call means. */
export type Fault =
  | { readonly kind: 'condition'; readonly old?: Item }
  | { readonly kind: 'cancelled'; readonly reasons: readonly CancellationReason[] }
  /** Certainly not applied, so every call may be retried. */
  | { readonly kind: 'conflict' | 'throttled' | 'refused' }
  /** Possibly applied, so only an idempotent call may be retried. */
  | { readonly kind: 'unknown' }
  /** A malformed call. It is a bug, so it is never retried. */
  | { readonly kind: 'bug' };

const throttles = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const conflicts = new Set(['TransactionConflictException', 'TransactionConflict']);
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/**
 * The credentials are missing, expired or not valid yet. DynamoDB did not process the call, and a retry may succeed.
 */
const notSigned = new Set([
  'CredentialsProviderError',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'UnrecognizedClientException',
  'MissingAuthenticationTokenException',
]);

interface RawFault {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $fault?: 'client' | 'server';
  readonly Item?: unknown;
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: unknown }[];
}

/** Classifies an error of the transport. `decode` unmarshals the item in it. */
export function classify(error: unknown, decode: (item: unknown) => Item): Fault {
  const raw = (error ?? {}) as RawFault;
  const name = raw.name ?? '';
  if (name === 'ConditionalCheckFailedException')
    return raw.Item ? { kind: 'condition', old: decode(raw.Item) } : { kind: 'condition' };
  if (name === 'TransactionCanceledException') {
    return {
      kind: 'cancelled',
      reasons: (raw.CancellationReasons ?? []).map((reason) => cancellation(reason.Code, reason.Item, decode)),
    };
  }
  if (throttles.has(name)) return { kind: 'throttled' };
  if (conflicts.has(name)) return { kind: 'conflict' };
  if (
    notSigned.has(name) ||
    (raw.code && neverSent.has(raw.code)) ||
    /did not establish a connection/.test(raw.message ?? '')
  )
    return { kind: 'refused' };
  if (raw.$fault === 'client' && name !== 'TimeoutError' && name !== 'RequestTimeout') return { kind: 'bug' };
  return { kind: 'unknown' };
}

function cancellation(code: string | undefined, item: unknown, decode: (item: unknown) => Item): CancellationReason {
  if (!code || code === 'None') return { kind: 'none' };
  if (code === 'ConditionalCheckFailed') return item ? { kind: 'condition', old: decode(item) } : { kind: 'condition' };
  if (conflicts.has(code)) return { kind: 'conflict' };
  if (throttles.has(code)) return { kind: 'throttled' };
  // ValidationError and similar: the whole transaction is malformed.
  throw new Error(`transaction cancelled: ${code}`);
}

/** The outcome of one of several independent writes. */
export type EachOutcome =
  | { readonly kind: 'done'; readonly item?: Item }
  /** The condition failed, or the item to insert exists. The old image is there only if the engine returned it. */
  | { readonly kind: 'condition'; readonly old?: Item }
  /** `no`: certainly not applied. `unknown`: the response is lost or was an internal error. */
  | { readonly kind: 'failed'; readonly applied: 'no' | 'unknown'; readonly isThrottled: boolean };

export interface StatementResponse {
  readonly Item?: Item;
  readonly Error?: { readonly Code?: string; readonly Message?: string; readonly Item?: Item };
}

/** The outcome of one statement of a batch. */
export function statementOutcome({ Item, Error: error }: StatementResponse): EachOutcome {
  if (!error) return Item ? { kind: 'done', item: Item } : { kind: 'done' };
  const code = error.Code ?? '';
  if (code === 'ConditionalCheckFailed' || code === 'DuplicateItem')
    return error.Item ? { kind: 'condition', old: error.Item } : { kind: 'condition' };
  if (throttles.has(code)) return { kind: 'failed', applied: 'no', isThrottled: true };
  if (code === 'InternalServerError') return { kind: 'failed', applied: 'unknown', isThrottled: false };
  // A conflict, or a malformed statement. An exception would fail the other statements too, which may belong to other
  // tenants. So the caller sends this write again by a call of its own, which throws.
  return { kind: 'failed', applied: 'no', isThrottled: false };
}

/** Whether a call without a response changed anything. A read never does. */
export type Applied = 'no' | 'unknown' | 'read';

/** True if the call, or one write of its transaction, failed for this reason. */
export const hasKind = (fault: Fault, wanted: 'throttled' | 'conflict'): boolean =>
  fault.kind === wanted || (fault.kind === 'cancelled' && fault.reasons.some(({ kind }) => kind === wanted));

/** A failed call whose failure is a result. */
export type Definite = Extract<Fault, { kind: 'condition' | 'cancelled' }>;

/**
 * A cancelled transaction is a result only if a condition failed. After conflicts and throttling alone it is retried.
 */
export function definite(fault: Fault, applied: Applied): Definite | undefined {
  if (fault.kind === 'condition') return fault;
  if (fault.kind !== 'cancelled') return undefined;
  const isAnswer = ({ kind }: CancellationReason) => kind === 'condition' || kind === 'none';
  // After a lost response every reason is needed, because the missing one may show that the first attempt succeeded.
  const isDefinite = applied === 'unknown' ? fault.reasons.every(isAnswer) : true;
  return isDefinite && fault.reasons.some(({ kind }) => kind === 'condition') ? fault : undefined;
}

export const isFault = (output: Record<string, unknown> | Definite): output is Definite =>
  output.kind === 'condition' || output.kind === 'cancelled';

const consequences: Readonly<Record<Applied, string>> = {
  no: 'the database did not respond; nothing was changed; retry',
  unknown: 'the database did not respond in time; the change may or may not have been made; retry',
  read: 'the database did not respond; retry',
};

/** DynamoDB did not respond in time, or refused the call for lack of capacity. */
export class StoreUnavailable extends GatewayError {
  constructor(
    readonly applied: Applied,
    options: ErrorOptions,
  ) {
    super('SERVICE_UNAVAILABLE', consequences[applied], { retryable: true }, options);
  }
}
