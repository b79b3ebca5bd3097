import type { Item } from '../../dynamo/expression.js';
import { type Fields, fields } from '../../dynamo/fields.js';
import { type CostRecord, costTable, type RequestRef, requestKey, toCostRecord, unpacked } from '../cost.item.js';
import { type HeldRef, heldText, parseHeldText } from './held.item.js';

const states = ['RESERVED', 'RECORDED', 'CANCELLED'] as const;

/** An admitted call. Its request item is the one that its cost replaces. */
export interface Reservation extends RequestRef {
  readonly label: string;
  readonly day: string;
  /** Reserved on each of `holds`. 0 without any. */
  readonly amountUsdMicros: number;
  readonly slot: number;
  readonly holds: readonly HeldRef[];
  /** Identifies the attempt that made it. */
  readonly nonce: string;
  /** The hash of the input of `admit`. Tells a retry from another call. */
  readonly admitHash: string;
  /** The rate leases of the call. */
  readonly leases: readonly string[];
  /** The estimated input. Absent if the estimate had no tokens. */
  readonly input?: { readonly tokens: number; readonly costUsdMicros: number };
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
}

/** An admitted call that is over. */
export interface EndedCall {
  readonly payloadHash: string;
  readonly label: string;
  readonly day: string;
  /** Absent if the cost was never admitted. */
  readonly admitHash?: string;
  readonly leases: readonly string[];
}

/** A request as it is stored. */
export type StoredRequest =
  | { readonly state: 'RESERVED'; readonly reservation: Reservation }
  | ({ readonly state: 'RECORDED'; readonly record: CostRecord } & EndedCall)
  | ({ readonly state: 'CANCELLED' } & EndedCall);

export const toReservationItem = (reservation: Reservation): Item => ({
  ...requestKey(reservation),
  state: 'RESERVED',
  org_id: reservation.orgId,
  app_id: reservation.appId,
  request_id: reservation.requestId,
  model_label: reservation.label,
  day: reservation.day,
  reserved_usd_micros: reservation.amountUsdMicros,
  slot: reservation.slot,
  holds: reservation.holds.map(heldText),
  nonce: reservation.nonce,
  ...admissionAttributes(reservation),
  input_tokens: reservation.input?.tokens,
  input_usd_micros: reservation.input?.costUsdMicros,
  reserved_at_ms: reservation.reservedAtMs,
  until_ms: reservation.expiresAtMs,
});

/** What stays of a reservation after its call is over, for retries of `admit` and `settle`. */
export const admissionAttributes = ({ admitHash, leases }: Pick<Reservation, 'admitHash' | 'leases'>): Item => ({
  admit_hash: admitHash,
  leases: leases.length > 0 ? leases : undefined,
});

/** The item of a call that was cancelled before it was sent. It is no cost. */
export const toCancelledItem = (reservation: Reservation, payloadHash: string): Item => ({
  ...requestKey(reservation),
  state: 'CANCELLED',
  model_label: reservation.label,
  day: reservation.day,
  payload_hash: payloadHash,
  ...admissionAttributes(reservation),
});

/** True if the item is a cost. */
export const isCost = (item: Item): boolean => item.state === undefined || item.state === 'RECORDED';

export function toStoredRequest(item: Item): StoredRequest {
  const read = fields(costTable, unpacked(item));
  const state = read.optionalOneOf('state', states) ?? 'RECORDED';
  if (state === 'RESERVED') return { state, reservation: toReservation(read) };
  const admitHash = read.optionalString('admit_hash');
  const ended = {
    payloadHash: read.string('payload_hash'),
    label: read.string('model_label'),
    day: read.string('day'),
    leases: read.optionalStrings('leases') ?? [],
    ...(admitHash === undefined ? {} : { admitHash }),
  };
  return state === 'CANCELLED' ? { state, ...ended } : { state, record: toCostRecord(item), ...ended };
}

function toReservation(read: Fields): Reservation {
  const place = {
    orgId: read.string('org_id'),
    appId: read.string('app_id'),
    label: read.string('model_label'),
    day: read.string('day'),
  };
  const [tokens, costUsdMicros] = [read.optionalNumber('input_tokens'), read.optionalNumber('input_usd_micros')];
  return {
    ...place,
    requestId: read.string('request_id'),
    amountUsdMicros: read.number('reserved_usd_micros'),
    slot: read.number('slot'),
    holds: read.strings('holds').map((text) => parseHeldText(text, place)),
    nonce: read.string('nonce'),
    admitHash: read.string('admit_hash'),
    leases: read.optionalStrings('leases') ?? [],
    ...(tokens === undefined || costUsdMicros === undefined ? {} : { input: { tokens, costUsdMicros } }),
    reservedAtMs: read.number('reserved_at_ms'),
    expiresAtMs: read.number('until_ms'),
  };
}
