import { key, slashed } from '../../dynamo/keys.js';
import { compactDate } from '../../orgs/calendar.js';

/** The counters of one dimension of an org on one local day, in one shard. */
export interface DimensionShard {
  readonly orgId: string;
  readonly name: string;
  readonly day: string;
  readonly shard: number;
}

/** One counter: a value, as one app used it with one label. */
export interface DimensionCounter {
  readonly value: string;
  readonly appId: string;
  readonly label: string;
}

export const dimensionPartition = ({ orgId, name, day, shard }: DimensionShard): string =>
  key`ORG#${orgId}#DIM#${name}#${compactDate(day)}#SH#${shard}`;

/** With app and label, so that two queues of one process never write to the same item. */
export const dimensionShardKey = (id: DimensionShard, { value, appId, label }: DimensionCounter) => ({
  PK: dimensionPartition(id),
  SK: key`${slashed(value)}#${appId}#${label}`,
});

/** The sort keys of all counters of a value begin with this. */
export const valuePrefix = (value: string): string => key`${slashed(value)}#`;

/** Splits a sort key made by `dimensionShardKey`. */
export function parseDimensionKey(sortKey: string): DimensionCounter {
  const [value = '', appId = '', label = ''] = sortKey.split('#');
  return { value, appId, label };
}
