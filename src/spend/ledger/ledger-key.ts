import { key } from '../../dynamo/keys.js';
import { hashSlot, sha256 } from '../../lib/id.js';
import { compactDate } from '../../orgs/calendar.js';

/** The attributes of a cost that decide its place in the ledger. */
export interface LedgerPlace {
  readonly orgId: string;
  readonly appId: string;
  readonly requestId: string;
  readonly day: string;
  readonly occurredAtMs: number;
}

/**
 * How many partitions of the index a day of an org has. One accepts 1,000 writes per second. An org that expects many
 * costs has many shards, and their number never changes.
 */
export const ledgerPartitions = (shardCount: number): number => Math.max(4, shardCount / 4);

/** Enough for the milliseconds of the year 9999. */
const digits = 15;
/** 96 bits, so that two calls of one millisecond have different sort keys. */
const hashChars = 16;

export const ledgerKey = (orgId: string, day: string, partition: number): string =>
  key`LEDGER#${orgId}#${compactDate(day)}#${partition}`;

/** Sorts by time. Unique within its partition, so that a cursor names one call. */
export const ledgerSortKey = (place: LedgerPlace): string =>
  key`${String(place.occurredAtMs).padStart(digits, '0')}#${sha256(nameOf(place)).slice(0, hashChars)}`;

/** The index attributes of a cost that a ledger with so many partitions lists. */
export function ledgerIndex(place: LedgerPlace, partitions: number) {
  const partition = hashSlot(nameOf(place), partitions);
  return { gsi1pk: ledgerKey(place.orgId, place.day, partition), gsi1sk: ledgerSortKey(place) };
}

const nameOf = ({ appId, requestId }: LedgerPlace): string => `${appId} ${requestId}`;

/** A place in the list of an org's costs: the content of a cursor. */
export interface LedgerPosition {
  readonly day: string;
  readonly sortKey: string;
}

export const positionOf = (place: LedgerPlace): string => toPosition({ day: place.day, sortKey: ledgerSortKey(place) });
export const toPosition = ({ day, sortKey }: LedgerPosition): string => `${day} ${sortKey}`;

export function parsePosition(position: string): LedgerPosition {
  const [day = '', sortKey = ''] = position.split(' ');
  return { day, sortKey };
}
