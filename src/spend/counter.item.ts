import type { Key, Update } from '../dynamo/client.js';
import type { Item } from '../dynamo/expression.js';
import { type Scope, type SpendId, sliceOf } from '../orgs/scope.js';
import { dimensionShardKey } from './breakdown/dimension.item.js';
import type { CostRecord } from './cost.item.js';
import type { Counters } from './counters.js';
import { shardTable } from './shard.store.js';
import { activeKey, activeSortKey, counterAttributes, shardKey } from './spend.item.js';

/** One of the items that a cost is counted in. */
export interface CounterItem {
  readonly key: Key;
  /** Set once, when the item is created. Later writes then do not write to the index. A function, because it hashes. */
  readonly index: () => Item;
  /** False for the counter of a dimension value, which has no hours. */
  readonly hasHours: boolean;
}

/**
 * The items that a cost is counted in: its scope, its app if the org attributes costs to apps, and each of its
 * dimension values.
 */
export function counterItems(
  scope: Scope,
  { orgId, appId, label, day, isAttributed, dimensions = [] }: CostRecord,
  shard: number,
): CounterItem[] {
  const ids: SpendId[] = [{ ...scope, label, day }, ...(isAttributed ? [{ orgId, appId, label, day }] : [])];
  return [
    ...ids.map((id) => ({
      key: shardKey(id, shard),
      index: () => ({ gsi1pk: activeKey(day, sliceOf(orgId), shard), gsi1sk: activeSortKey(id) }),
      hasHours: true,
    })),
    ...dimensions.map(({ name, value }) => ({
      key: dimensionShardKey({ orgId, name, day, shard }, { value, appId, label }),
      index: () => ({}),
      hasHours: false,
    })),
  ];
}

/** Adds to a counter item. Not idempotent, so it needs a guarded transaction. */
export const counterWrite = (
  { key, index, hasHours }: CounterItem,
  counters: Counters,
  { nowSecs, expiresAtSecs }: { readonly nowSecs: number; readonly expiresAtSecs: number },
): Update => ({
  table: shardTable,
  update: key,
  add: counterAttributes(hasHours ? counters : { ...counters, hours: new Map() }),
  set: { updated_at_epoch: nowSecs },
  setIfAbsent: { ...index(), expires_at_epoch: expiresAtSecs },
});
