import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, equals, or } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import {
  type AcquireRecord,
  type AdjustmentRecord,
  initialState,
  type LeaseHandle,
  type LeaseState,
  type OperationRecord,
} from './lease.js';
import { decodeHandle, decodeHoldings, encodeHandle, encodeHoldings } from './lease-codec.js';
import { leaseKey } from './limiter-keys.js';

const table = 'limiter';
/** How long an item is kept after its lease has ended. */
const retentionSecs = 86_400;

/** A lease as it is stored. The end of the lease tells apart two leases with the same request id. */
export interface StoredLeaseState extends LeaseState {
  readonly expiresAtMs: number;
}

/**
 * Stores leases with a request id and leases that were adjusted or released. Other leases exist only in their lease id.
 * The methods that return a `TransactItem` build a write that rides in the transaction of a bucket operation.
 */
export class LeaseStore {
  constructor(private readonly client: StoreClient) {}

  /** The write of a lease that an acquire with a request id makes. Fails if the id was used within 24 hours. */
  recordAcquire({ handle, requestHash, nonce }: Omit<AcquireRecord, 'isReleased'>, nowMs: number): TransactItem {
    const { namespace, name, expiresAtMs } = handle;
    return transactItem({
      table,
      put: {
        ...leaseKey(namespace, name),
        v: 0,
        handle: encodeHandle(handle),
        request_hash: requestHash,
        nonce,
        exp_ms: expiresAtMs,
        ttl: epochSeconds(expiresAtMs) + retentionSecs,
      },
      condition: or(absent('PK'), atMost('exp_ms', nowMs)),
    });
  }

  /** The write of the next state of a lease. Fails if the stored state is not the one before it. */
  recordChange(
    { namespace, name, expiresAtMs }: LeaseHandle,
    { version, holdings, adjusted, releasedBy }: LeaseState,
  ): TransactItem {
    // After a day a request id may have been used again: that is another lease, with another end.
    const isPrevious = and(equals('v', version - 1), equals('exp_ms', expiresAtMs));
    return transactItem({
      table,
      update: leaseKey(namespace, name),
      set: {
        v: version,
        holdings: encodeHoldings(holdings) as never,
        adjusted: adjusted as never,
        released_by: releasedBy,
        exp_ms: expiresAtMs,
        ttl: epochSeconds(expiresAtMs) + retentionSecs,
      },
      condition: version === 1 ? or(absent('PK'), isPrevious) : isPrevious,
    });
  }

  /** The write that makes an operation happen once per name. Fails if the name was used before. */
  recordOperation(
    namespace: string,
    name: string,
    { requestHash, nonce }: OperationRecord,
    untilMs: number,
  ): TransactItem {
    return transactItem({
      table,
      put: {
        ...leaseKey(namespace, name),
        request_hash: requestHash,
        nonce,
        exp_ms: untilMs,
        ttl: epochSeconds(untilMs) + retentionSecs,
      },
      condition: absent('PK'),
    });
  }

  /** The stored state of a lease. Undefined if nothing was stored yet. */
  async loadState({ namespace, name }: LeaseHandle): Promise<StoredLeaseState | undefined> {
    const item = await this.client.get(table, leaseKey(namespace, name), { consistent: true });
    return item && toState(item);
  }

  /** The acquire that was recorded under the name. Undefined if there is none or its lease has expired. */
  async loadAcquire(namespace: string, name: string, nowMs: number): Promise<AcquireRecord | undefined> {
    const item = await this.client.get(table, leaseKey(namespace, name), { consistent: true });
    return item && fields(table, item).number('exp_ms') > nowMs ? toAcquireRecord(item) : undefined;
  }
}

// The readers below get the item that made the condition of a rider fail, which services pass on as unknown.

export function toAcquireRecord(item: unknown): AcquireRecord {
  const read = fields(table, item as Item);
  return { ...operationRecord(read), handle: decodeHandle(read.string('handle')), isReleased: read.has('released_by') };
}

export const toOperationRecord = (item: unknown): OperationRecord => operationRecord(fields(table, item as Item));

const operationRecord = (read: Fields): OperationRecord => ({
  requestHash: read.string('request_hash'),
  nonce: read.string('nonce'),
});

/** The state of a lease. Before the first change (version 0) the item has only the handle. */
export function toState(item: unknown): StoredLeaseState {
  const read = fields(table, item as Item);
  const version = read.number('v');
  const expiresAtMs = read.number('exp_ms');
  if (version === 0) return { ...initialState(decodeHandle(read.string('handle'))), expiresAtMs };
  const releasedBy = read.optionalString('released_by');
  return {
    version,
    holdings: decodeHoldings(read.list('holdings') as never),
    adjusted: adjustments(read.map('adjusted')),
    ...(releasedBy === undefined ? {} : { releasedBy }),
    expiresAtMs,
  };
}

function adjustments(item: Item): Record<string, AdjustmentRecord> {
  const byKey = fields(table, item);
  return Object.fromEntries(
    Object.keys(item).map((key) => {
      const read = fields(table, byKey.map(key));
      return [key, { hash: read.string('hash'), nonce: read.string('nonce') }];
    }),
  );
}
