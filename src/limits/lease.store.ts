import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, equals, or } from '../dynamo/expression.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import {
  decodeHandle,
  decodeHoldings,
  encodeHandle,
  encodeHoldings,
  type FirstLease,
  firstState,
  type LeaseHandle,
  type LeaseState,
} from './lease.js';
import { leaseKey } from './limiter-keys.js';

const table = 'limiter';
/** Leases that something was written about are kept for this long after they end. */
const keptSecs = 86_400;

/** Leases that something was written about: those with a request id, adjusted or released. */
export class LeaseStore {
  constructor(private readonly client: StoreClient) {}

  /** The write of a lease that an acquire with a request id takes out: once a day and id. */
  first({ handle, requestHash, nonce }: Omit<FirstLease, 'isReleased'>, nowMs: number): TransactItem {
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
        ttl: epochSeconds(expiresAtMs) + keptSecs,
      },
      condition: or(absent('PK'), atMost('exp_ms', nowMs)),
    });
  }

  /** The write of a change, on condition that it is the next. */
  change(
    { namespace, name, expiresAtMs }: LeaseHandle,
    { version, holdings, adjusted, releasedBy }: LeaseState,
  ): TransactItem {
    // A request id may have been used again after a day: that is another lease.
    const before = and(equals('v', version - 1), equals('exp_ms', expiresAtMs));
    return transactItem({
      table,
      update: leaseKey(namespace, name),
      set: {
        v: version,
        holdings: encodeHoldings(holdings) as never,
        adjusted: adjusted as never,
        released_by: releasedBy,
        exp_ms: expiresAtMs,
        ttl: epochSeconds(expiresAtMs) + keptSecs,
      },
      condition: version === 1 ? or(absent('PK'), before) : before,
    });
  }

  /** A note that something was done under a name, once. */
  once(namespace: string, name: string, hash: string, nonce: string, untilMs: number): TransactItem {
    return transactItem({
      table,
      put: {
        ...leaseKey(namespace, name),
        request_hash: hash,
        nonce,
        exp_ms: untilMs,
        ttl: epochSeconds(untilMs) + keptSecs,
      },
      condition: absent('PK'),
    });
  }

  /** How a lease stands; undefined where nothing was written about it yet. */
  async loadState({ namespace, name }: LeaseHandle): Promise<ReturnType<typeof toState> | undefined> {
    const item = await this.client.get(table, leaseKey(namespace, name), { consistent: true });
    return item && toState(item);
  }

  async loadFirst(namespace: string, name: string, nowMs: number): Promise<FirstLease | undefined> {
    const item = await this.client.get(table, leaseKey(namespace, name), { consistent: true });
    return item && (item.exp_ms as number) > nowMs ? toFirst(item) : undefined;
  }
}

/** Of the item that stood in the way of a first lease. */
export function toFirst(old: unknown): FirstLease {
  const item = old as Item;
  return {
    handle: decodeHandle(item.handle as string),
    requestHash: item.request_hash as string,
    nonce: item.nonce as string,
    isReleased: item.released_by !== undefined,
  };
}

/** Of the item that stood in the way of a note. */
export const toNote = (old: unknown): Pick<FirstLease, 'requestHash' | 'nonce'> => {
  const item = old as Item;
  return { requestHash: item.request_hash as string, nonce: item.nonce as string };
};

/** How a lease stands. Before its first change nothing of that is in the item but what it held from the start. */
export function toState(old: unknown): LeaseState & { readonly expiresAtMs: number } {
  const item = old as Item;
  const expiresAtMs = item.exp_ms as number;
  if (item.v === 0) return { ...firstState(decodeHandle(item.handle as string)), expiresAtMs };
  return {
    version: item.v as number,
    holdings: decodeHoldings(item.holdings as never),
    adjusted: item.adjusted as unknown as LeaseState['adjusted'],
    ...(item.released_by === undefined ? {} : { releasedBy: item.released_by as string }),
    expiresAtMs,
  };
}
