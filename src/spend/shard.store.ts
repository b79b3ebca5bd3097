import type { StoreClient } from '../dynamo/client.js';
import { and, equals } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { type SpendId, scopeKey, sliceOf } from '../orgs/scope.js';
import { type Counters, noCounters, sumCounters } from './counters.js';
import { toHeld } from './held/held.item.js';
import type { HeldItem } from './held/held.store.js';
import { activeKey, activePartitions, activeSortKey, parseShardKey, shardKey, toCounters } from './spend.item.js';

export const shardTable = 'usage_agg_sharded';

/** A label of a scope on one day, and its shards that have any cost. */
export interface ActiveScope {
  readonly id: SpendId;
  readonly shards: readonly number[];
}

/** Reads the shards that `CostStore` counts costs in. */
export class ShardStore {
  constructor(private readonly client: StoreClient) {}

  /** The current sum over all shards of each label. */
  sumShards(ids: readonly SpendId[], shardCount: number): Promise<Counters[]> {
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    return this.sumActive(ids.map((id) => ({ id, shards })));
  }

  /**
   * The current sum over the given shards. Throws if a shard cannot be read: it must not count as empty. `onHeld` gets
   * the shards that also hold what is reserved.
   */
  async sumActive(scopes: readonly ActiveScope[], onHeld?: (item: HeldItem) => void): Promise<Counters[]> {
    const keys = scopes.flatMap(({ id, shards }) => shards.map((shard) => shardKey(id, shard)));
    const items = await this.client.getMany(shardTable, keys, { consistent: true });
    for (const [i, item] of items.entries()) {
      const at = keys[i];
      if (onHeld && at && item?.held !== undefined) onHeld({ at, image: toHeld(item) });
    }
    const counters = items.map((item) => (item ? toCounters(shardTable, item) : noCounters));
    return scopes.map(({ shards }) => sumCounters(counters.splice(0, shards.length)));
  }

  /** The scopes and labels of one slice that have any cost on a day. The index is eventually consistent. */
  async listActive(day: string, slice: number): Promise<ActiveScope[]> {
    const found = new Map<string, { id: SpendId; shards: number[] }>();
    for (const partitionKey of await this.queryActive(day, slice)) {
      const { id, shard } = parseShardKey(partitionKey, day);
      const name = nameOf(id);
      const scope = found.get(name) ?? { id, shards: [] };
      scope.shards.push(shard);
      found.set(name, scope);
    }
    return [...found.values()];
  }

  /** The shards of one label of a scope that have any cost. */
  async listShards(id: SpendId): Promise<number[]> {
    const partitionKeys = await this.queryActive(id.day, sliceOf(id.orgId), activeSortKey(id));
    const name = nameOf(id);
    return partitionKeys
      .map((partitionKey) => parseShardKey(partitionKey, id.day))
      .filter((found) => nameOf(found.id) === name)
      .map(({ shard }) => shard);
  }

  private async queryActive(day: string, slice: number, sortKey?: string): Promise<string[]> {
    const queries = activePartitions.map((part) => {
      const partition = equals('gsi1pk', activeKey(day, slice, part));
      return this.client.queryAll({
        table: shardTable,
        index: 'gsi1',
        where: sortKey === undefined ? partition : and(partition, equals('gsi1sk', sortKey)),
      });
    });
    return (await Promise.all(queries)).flat().map((item) => fields(shardTable, item).string('PK'));
  }
}

const nameOf = (id: SpendId): string => `${scopeKey(id)} ${id.label}`;
