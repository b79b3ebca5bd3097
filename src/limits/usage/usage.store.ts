import type { Item, Key, StoreClient } from '../../dynamo/client.js';
import { and, beginsWith, between, equals } from '../../dynamo/expression.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { usageOf } from '../buckets/bucket.item.js';
import { entityPartition, hourOfInstant, resourceIndexKey, resourceUsageRange, usageRange } from '../limiter-keys.js';
import { refusalsOf } from './refusal.store.js';
import type { HourUsage } from './usage.js';

const table = 'limiter';

/** Hours from the first to before the last. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

/** What is on record: the hours that the buckets have closed, and the refusals. An item that has expired counts as absent. */
export class UsageStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
  ) {}

  /** An entity's, of one resource or of all. */
  async ofEntity(
    namespace: string,
    entityId: string,
    resource: string | undefined,
    { from, to }: Hours,
  ): Promise<HourUsage[]> {
    const range =
      resource === undefined ? beginsWith('SK', '#USAGE#') : between('SK', ...usageRange(resource, from, to));
    const items = await this.client.queryAll({
      table,
      where: and(equals('PK', entityPartition(namespace, entityId)), range),
      consistent: true,
    });
    return this.unexpired(items)
      .map(toUsage)
      .filter(({ hour }) => hour >= from && hour < to);
  }

  /** Everyone's of a resource. */
  async ofResource(namespace: string, resource: string, hours: Hours): Promise<HourUsage[]> {
    return this.loadMany((await this.keysOfResource(namespace, resource, hours)).keys);
  }

  /** The keys of everyone's items of a resource, newest hour first, up to `max` of them. */
  async keysOfResource(
    namespace: string,
    resource: string,
    { from, to }: Hours,
    max = Number.POSITIVE_INFINITY,
  ): Promise<FoundKeys> {
    const where = and(
      equals('GSI2PK', resourceIndexKey(namespace, resource)),
      between('GSI2SK', ...resourceUsageRange(from, to)),
    );
    const { items, truncated } = await this.client.queryUpTo({ table, index: 'GSI2', where, newestFirst: true }, max);
    return { keys: items.map(({ PK, SK }) => ({ PK: PK as string, SK: SK as string })), truncated };
  }

  async loadMany(keys: readonly Key[]): Promise<HourUsage[]> {
    const items = await this.client.getMany(table, keys, { consistent: true });
    return this.unexpired(items.filter((item) => item !== undefined)).map(toUsage);
  }

  private unexpired(items: readonly Item[]): readonly Item[] {
    const nowSecs = epochSeconds(this.clock.nowMs());
    return items.filter(({ ttl }) => typeof ttl !== 'number' || ttl > nowSecs);
  }
}

export interface FoundKeys {
  readonly keys: readonly Key[];
  /** There are more. */
  readonly truncated: boolean;
}

function toUsage(item: Item): HourUsage {
  const [, , resource = '', , instant = ''] = (item.SK as string).split('#');
  return {
    entityId: (item.PK as string).split('#')[1] ?? '',
    resource,
    hour: hourOfInstant(instant),
    ...usageOf(item),
    ...refusalsOf(item),
  };
}
