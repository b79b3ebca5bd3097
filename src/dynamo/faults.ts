import { GatewayError } from '../lib/errors.js';
import type { Item } from './expression.js';

/** Why a write of a transaction did not happen: its own condition, or nothing of its own doing. */
export type CancellationReason =
  | { readonly kind: 'none' | 'conflict' | 'throttled' }
  | { readonly kind: 'condition'; readonly old?: Item };

/** What a failed store call means for its caller. */
export type Fault =
  | { readonly kind: 'condition'; readonly old?: Item }
  | { readonly kind: 'cancelled'; readonly reasons: readonly CancellationReason[] }
  /** Certainly not applied: may be sent again whatever it was. */
  | { readonly kind: 'conflict' | 'throttled' | 'refused' }
  /** Applied or not: may be sent again only where repeating is safe. */
  | { readonly kind: 'unknown' }
  /** A malformed call: ours to mend, never to repeat. */
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
/** Credentials that could not be had, have run out, or are not valid yet: the call was not even looked at, and the next may be. */
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

/** Maps what the transport threw; `decode` turns a marshalled item into ours. */
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
  // ValidationError and the like: the whole transaction is malformed.
  throw new Error(`transaction cancelled: ${code}`);
}

/** Whether a call that got no answer has changed anything; a read never has. */
export type Applied = 'no' | 'unknown' | 'read';

const consequences: Readonly<Record<Applied, string>> = {
  no: 'the store did not answer; nothing was changed: try again',
  unknown: 'the store did not answer in time; the change may or may not have been made: try again',
  read: 'the store did not answer: try again',
};

/** The store did not do its part in time. */
export class StoreUnavailable extends GatewayError {
  constructor(
    readonly applied: Applied,
    options: ErrorOptions,
  ) {
    super('SERVICE_UNAVAILABLE', consequences[applied], { retryable: true }, options);
  }
}
