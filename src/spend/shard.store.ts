import type { StoreClient } from '../dynamo/client.js';
import { and, beginsWith, equals } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { type SpendId, scopeKey, sliceOf } from '../orgs/scope.js';
import { noUsage, sum, type Usage } from './money.js';
import { activeKey, activePartitions, parseShardKey, shardKey, shardsKey, toUsage } from './spend.item.js';

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
  sumShards(ids: readonly SpendId[], shardCount: number): Promise<Usage[]> {
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    return this.sumActive(ids.map((id) => ({ id, shards })));
  }

  /** The current sum over the given shards. Throws if a shard cannot be read: it must not count as empty. */
  async sumActive(scopes: readonly ActiveScope[]): Promise<Usage[]> {
    const keys = scopes.flatMap(({ id, shards }) => shards.map((shard) => shardKey(id, shard)));
    const items = await this.client.getMany(shardTable, keys, { consistent: true });
    const usages = items.map((item) => (item ? toUsage(shardTable, item) : noUsage));
    return scopes.map(({ shards }) => sum(usages.splice(0, shards.length)));
  }

  /** The scopes and labels of one slice that have any cost on a day. The index is eventually consistent. */
  async listActive(day: string, slice: number): Promise<ActiveScope[]> {
    const found = new Map<string, { id: SpendId; shards: number[] }>();
    for (const partitionKey of await this.queryActive(day, slice)) {
      const { id, shard } = parseShardKey(partitionKey, day);
      const name = `${scopeKey(id)} ${id.label}`;
      const scope = found.get(name) ?? { id, shards: [] };
      scope.shards.push(shard);
      found.set(name, scope);
    }
    return [...found.values()];
  }

  /** The shards of one label of a scope that have any cost. */
  async listShards(id: SpendId): Promise<number[]> {
    const partitionKeys = await this.queryActive(id.day, sliceOf(id.orgId), shardsKey(id));
    return partitionKeys.map((partitionKey) => parseShardKey(partitionKey, id.day).shard);
  }

  private async queryActive(day: string, slice: number, prefix?: string): Promise<string[]> {
    const queries = activePartitions.map((part) => {
      const partition = equals('gsi1pk', activeKey(day, slice, part));
      return this.client.queryAll({
        table: shardTable,
        index: 'gsi1',
        where: prefix === undefined ? partition : and(partition, beginsWith('gsi1sk', prefix)),
      });
    });
    return (await Promise.all(queries)).flat().map((item) => fields(shardTable, item).string('PK'));
  }
}
