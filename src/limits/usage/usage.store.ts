import type { Item, StoreClient } from '../../dynamo/client.js';
import { and, beginsWith, between, equals } from '../../dynamo/expression.js';
import { usageOf } from '../buckets/bucket.item.js';
import { entityPartition, hourOfInstant, resourceIndexKey, resourceUsageRange, usageRange } from '../limiter-keys.js';
import type { HourUsage } from './usage.js';

const table = 'limiter';

/** Hours from the first to before the last. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

/** The closed hours: what the buckets have booked. */
export class UsageStore {
  constructor(private readonly client: StoreClient) {}

  /** An entity's, of one resource or of all. */
  async ofEntity(namespace: string, entityId: string, resource: string | undefined, { from, to }: Hours): Promise<HourUsage[]> {
    const range = resource === undefined ? beginsWith('SK', '#USAGE#') : between('SK', ...usageRange(resource, from, to));
    const items = await this.client.queryAll({ table, where: and(equals('PK', entityPartition(namespace, entityId)), range), consistent: true });
    return items.map(toUsage).filter(({ hour }) => hour >= from && hour < to);
  }

  /** Everyone's of a resource. */
  async ofResource(namespace: string, resource: string, { from, to }: Hours): Promise<HourUsage[]> {
    const where = and(equals('GSI2PK', resourceIndexKey(namespace, resource)), between('GSI2SK', ...resourceUsageRange(from, to)));
    const keys = (await this.client.queryAll({ table, index: 'GSI2', where })).map(({ PK, SK }) => ({ PK: PK as string, SK: SK as string }));
    const items = await this.client.getMany(table, keys, { consistent: true });
    return items.filter((item) => item !== undefined).map(toUsage);
  }
}

function toUsage(item: Item): HourUsage {
  const [, , resource = '', , instant = ''] = (item.SK as string).split('#');
  return { entityId: (item.PK as string).split('#')[1] ?? '', resource, hour: hourOfInstant(instant), ...usageOf(item) };
}
