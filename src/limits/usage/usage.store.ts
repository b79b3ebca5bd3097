import type { Item, Key, StoreClient } from '../../dynamo/client.js';
import { and, beginsWith, between, equals } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { usageOf } from '../buckets/bucket.item.js';
import { entityPartition, hourOfInstant, resourceIndexKey, resourceUsageRange, usageRange } from '../limiter-keys.js';
import { refusalsOf } from './refusal.store.js';
import type { HourUsage } from './usage.js';

const table = 'limiter';

/** A range of hours; `to` is exclusive. */
export interface HourRange {
  readonly from: number;
  readonly to: number;
}

/** Reads usage items: the hours that buckets have closed, and the refusals. An item past its TTL counts as absent. */
export class UsageStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
  ) {}

  /** The usage of an entity, of one resource or of all. */
  async ofEntity(
    namespace: string,
    entityId: string,
    resource: string | undefined,
    { from, to }: HourRange,
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

  /** The usage of a resource by all entities. */
  async ofResource(namespace: string, resource: string, hours: HourRange): Promise<HourUsage[]> {
    return this.loadMany((await this.keysOfResource(namespace, resource, hours)).keys);
  }

  /** The keys of the usage items of a resource, newest hour first, at most `max`. */
  async keysOfResource(
    namespace: string,
    resource: string,
    { from, to }: HourRange,
    max = Number.POSITIVE_INFINITY,
  ): Promise<FoundKeys> {
    const where = and(
      equals('GSI2PK', resourceIndexKey(namespace, resource)),
      between('GSI2SK', ...resourceUsageRange(from, to)),
    );
    const { items, truncated } = await this.client.queryUpTo({ table, index: 'GSI2', where, newestFirst: true }, max);
    return { keys: items.map(keyOf), truncated };
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
  /** True if there are more. */
  readonly truncated: boolean;
}

function keyOf(item: Item): Record<'PK' | 'SK', string> {
  const read = fields(table, item);
  return { PK: read.string('PK'), SK: read.string('SK') };
}

function toUsage(item: Item): HourUsage {
  const { PK, SK } = keyOf(item);
  const [, , resource = '', , instant = ''] = SK.split('#');
  return {
    entityId: PK.split('#')[1] ?? '',
    resource,
    hour: hourOfInstant(instant),
    ...usageOf(item),
    ...refusalsOf(item),
  };
}
