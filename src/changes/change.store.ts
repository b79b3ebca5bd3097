import type { StoreClient } from '../dynamo/client.js';
import { equals } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { hashSlot, newUuid } from '../lib/id.js';

const table = 'config';
const PK = '#CHANGES';
/**
 * With one item, the transactions of one org would make those of all others wait, because a transaction locks its
 * items.
 */
const slots = [0, 1, 2, 3, 4, 5, 6, 7];
/** All in one partition, so that one query of 1 read unit returns them. */
export const changeKey = (slot: number) => ({ PK, SK: key`${slot}` });
export const changeSlotOf = (orgId: string): number => hashSlot(orgId, slots.length);

/** Place counters per change item. With short names and ten digits each, the item stays below 1 KB. */
export const countersPerSlot = 64;
export const counterCount = slots.length * countersPerSlot;
/**
 * The counter of a place of an org, such as one level of its limits: one of `counterCount`. Places may share a counter.
 */
export const counterOf = (orgId: string, place: string): number =>
  changeSlotOf(orgId) * countersPerSlot + hashSlot(place, countersPerSlot);
const counterName = (counter: number): string => `c${counter % countersPerSlot}`;
const counterNames = Array.from({ length: countersPerSlot }, (_, i) => counterName(i));

/** One of the eight small items that every gateway reads once per second. Each item serves an eighth of the orgs. */
export interface ChangeItem {
  /**
   * Incremented in the transaction of every revocation and every change of settings. Cache entries of older versions
   * are stale.
   */
  readonly version: number;
  /** True if this process made the last change. */
  readonly isOwn: boolean;
  /** How often the limiter of one of these orgs was purged, and the org of the last purge. */
  readonly purges: number;
  readonly lastPurged?: string;
  /** The counters of the places of these orgs. Sessions do not depend on them. */
  readonly counters: readonly number[];
}

/** The cluster-wide change counter: eight items that count what gateways must not serve from an old cache. */
export class ChangeStore {
  private readonly writer = newUuid();

  constructor(private readonly client: StoreClient) {}

  async load(): Promise<ChangeItem[]> {
    const { items } = await this.client.query({ table, where: equals('PK', PK), consistent: true });
    return slots.map((slot) => {
      const { SK } = changeKey(slot);
      return this.toChangeItem(fields(table, items.find((item) => item.SK === SK) ?? {}));
    });
  }

  /**
   * For any transaction after which cached tokens, secrets, keys or settings are stale. Counting a change twice is
   * harmless.
   */
  draftChange(orgId: string): TransactItem {
    const update = changeKey(changeSlotOf(orgId));
    return transactItem({ table, update, add: { version: 1 }, set: { changed_by: this.writer } });
  }

  /** For the transaction that gives an org's limiter another namespace. */
  draftPurge(orgId: string): TransactItem {
    const update = changeKey(changeSlotOf(orgId));
    const set = { changed_by: this.writer, last_purged: orgId };
    return transactItem({ table, update, add: { version: 1, purges: 1 }, set });
  }

  /** For the transaction that changes places of an org, after which no gateway may use what it has cached of them. */
  draftPlaceChange(orgId: string, places: readonly string[]): TransactItem {
    const add = Object.fromEntries(places.map((place) => [counterName(counterOf(orgId, place)), 1]));
    return transactItem({ table, update: changeKey(changeSlotOf(orgId)), add });
  }

  private toChangeItem(item: Fields): ChangeItem {
    const lastPurged = item.optionalString('last_purged');
    return {
      version: item.optionalNumber('version') ?? 0,
      isOwn: item.optionalString('changed_by') === this.writer,
      purges: item.optionalNumber('purges') ?? 0,
      ...(lastPurged === undefined ? {} : { lastPurged }),
      counters: counterNames.map((name) => item.optionalNumber(name) ?? 0),
    };
  }
}
