import type { Check, Write } from './client.js';

declare const isTransactItem: unique symbol;

/**
 * A write of one feature that rides in the transaction of another: an audit event, a change counter, a lease. Services
 * pass it on without looking inside; only `StoreClient.transact` does.
 */
export interface TransactItem {
  readonly [isTransactItem]: true;
}

export const transactItem = (write: Write | Check): TransactItem => write as unknown as TransactItem;
