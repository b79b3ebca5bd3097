import type { Item, StoreClient } from '../../dynamo/client.js';
import { absent, and, beginsWith, between, equals, lessThan, or } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { epochSeconds } from '../../lib/clock.js';
import { sum, type Usage } from '../money.js';
import { shardTable } from '../shard.store.js';
import { dayIn, dayKey, toUsage, usageAttributes } from '../spend.item.js';
import { addShares, type SpendShare } from './breakdown.js';
import { dimensionPartition, parseDimensionKey, valuePrefix } from './dimension.item.js';
import type { DimensionDay } from './dimension-value.store.js';

const totalTable = 'daily_total';

/** The values of a dimension with the largest costs of a day, and the sum over all its values. */
export interface DimensionTotal {
  readonly top: readonly SpendShare[];
  readonly all: Usage;
}

const totalsPartition = ({ orgId, name }: Pick<DimensionDay, 'orgId' | 'name'>): string =>
  key`ORG#${orgId}#DIM#${name}`;
export const dimensionTotalKey = (id: DimensionDay) => ({ PK: totalsPartition(id), SK: dayKey(id.day) });

/** The spend per value of a dimension: counted with each cost, and stored as a total when a day is closed. */
export class DimensionStore {
  constructor(
    private readonly client: StoreClient,
    private readonly totalDays: number,
  ) {}

  /** The spend of every value on a day, summed from its counters. */
  async sumDay(id: DimensionDay, shardCount: number): Promise<SpendShare[]> {
    const shares: SpendShare[] = [];
    for (let shard = 0; shard < shardCount; shard++) {
      const items = await this.client.queryAll({
        table: shardTable,
        where: equals('PK', dimensionPartition({ ...id, shard })),
        consistent: true,
      });
      // Added up per shard, because a value may have as many counters as there are apps and labels.
      shares.push(...addShares(items.map(toShare)));
    }
    return addShares(shares);
  }

  /** The spend of one value on a day, summed from its counters. */
  async sumValue(id: DimensionDay, value: string, shardCount: number): Promise<Usage> {
    const parts: Usage[] = [];
    for (let shard = 0; shard < shardCount; shard++) {
      const partition = equals('PK', dimensionPartition({ ...id, shard }));
      const where = and(partition, beginsWith('SK', valuePrefix(value)));
      const items = await this.client.queryAll({ table: shardTable, where, consistent: true });
      parts.push(...items.map((item) => toUsage(shardTable, item)));
    }
    return sum(parts);
  }

  /** Saves the total of a closed day, unless one of a later sum is stored. */
  async saveTotal(id: DimensionDay, { top, all }: DimensionTotal, asOfMs: number): Promise<void> {
    const put = {
      ...dimensionTotalKey(id),
      ...usageAttributes(all),
      top: top.map(({ name, ...usage }) => ({ value: name, ...usageAttributes(usage) })),
      as_of_ms: asOfMs,
      expires_at_epoch: epochSeconds(asOfMs) + this.totalDays * 86_400,
    };
    const condition = or(absent('PK'), lessThan('as_of_ms', asOfMs));
    await this.client.write({ table: totalTable, put, condition }, { repeat: 'idempotent' });
  }

  /** The totals of closed days, by day. */
  async listTotals(
    id: Pick<DimensionDay, 'orgId' | 'name'>,
    from: string,
    to: string,
  ): Promise<ReadonlyMap<string, DimensionTotal>> {
    const items = await this.client.queryAll({
      table: totalTable,
      where: and(equals('PK', totalsPartition(id)), between('SK', dayKey(from), dayKey(to))),
    });
    return new Map(items.map((item) => [dayIn(fields(totalTable, item).string('SK')), toTotal(item)]));
  }
}

function toShare(item: Item): SpendShare {
  const { value } = parseDimensionKey(fields(shardTable, item).string('SK'));
  return { name: value, ...toUsage(shardTable, item) };
}

function toTotal(item: Item): DimensionTotal {
  const top = fields(totalTable, item)
    .maps('top')
    .map((entry) => ({ name: fields(totalTable, entry).string('value'), ...toUsage(totalTable, entry) }));
  return { top, all: toUsage(totalTable, item) };
}
