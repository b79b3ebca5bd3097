import { key, slashed } from '../dynamo/keys.js';
import { hashSlot } from '../lib/id.js';
import type { ConfigPlace } from './levels/resolution.js';

/** A bucket of an org's namespace. */
export interface BucketId {
  readonly namespace: string;
  readonly entityId: string;
  readonly resource: string;
  /** The bucket for limits that callers bring along. It shares nothing with the bucket of the levels. */
  readonly isOwn?: true;
}
export interface ShardId extends BucketId {
  readonly shard: number;
}

/** How a shard is called among those of its entity and resource. */
const shardLabel = ({ shard, isOwn }: ShardId): string => (isOwn ? `own${shard}` : String(shard));
export const isOwnLabel = (label: string): boolean => label.startsWith('own');

export const shardKey = (id: ShardId) => ({
  PK: key`${id.namespace}/BUCKET#${id.entityId}#${slashed(id.resource)}#${shardLabel(id)}`,
  SK: '#STATE',
});

/** What a bucket's item carries for the indexes; never changed after it is made. */
export const shardIndexKeys = (id: ShardId) => ({
  GSI2PK: resourceIndexKey(id.namespace, id.resource),
  GSI2SK: key`BUCKET#${id.entityId}#${shardLabel(id)}`,
  GSI3PK: key`${id.namespace}/ENTITY#${id.entityId}`,
  GSI3SK: key`BUCKET#${slashed(id.resource)}#${shardLabel(id)}`,
  ...namespaceIndexKeys(id.namespace, shardKey(id).PK),
});

/** By this a purge finds everything of a namespace. */
export const namespaceIndexKeys = (namespace: string, partitionKey: string) => ({
  GSI4PK: namespace,
  GSI4SK: partitionKey,
});

export const resourceIndexKey = (namespace: string, resource: string): string =>
  key`${namespace}/RESOURCE#${slashed(resource)}`;
export const entityPartition = (namespace: string, entityId: string): string => key`${namespace}/ENTITY#${entityId}`;
export const entityKey = (namespace: string, entityId: string) => ({
  PK: entityPartition(namespace, entityId),
  SK: '#META',
});
export const parentIndexKey = (namespace: string, parentId: string): string => key`${namespace}/PARENT#${parentId}`;
/** Entities without a parent are listed under none. */
export const rootsIndexKey = (namespace: string): string => key`${namespace}/PARENT#`;
export const childIndexKey = (entityId: string): string => key`CHILD#${entityId}`;

/** All created entities of a namespace are listed here by id. */
export const entitiesIndexKey = (namespace: string): string => key`${namespace}/ENTITIES#`;

/** The name under which changes of an item are counted. */
export const placeName = (item: Readonly<Record<'PK' | 'SK', string>>): string => `${item.PK} ${item.SK}`;

/** Stands where a resource would, which no resource can be called. */
const everyResource = '_default_';

export function configKey(namespace: string, place: ConfigPlace): { PK: string; SK: string } {
  switch (place.level) {
    case 'SYSTEM':
      return { PK: key`${namespace}/SYSTEM#`, SK: '#CONFIG' };
    case 'RESOURCE':
      return { PK: resourceIndexKey(namespace, place.resource), SK: '#CONFIG' };
    case 'ENTITY_DEFAULT':
      return { PK: entityPartition(namespace, place.entityId), SK: key`#CONFIG#${everyResource}` };
    case 'ENTITY':
      return { PK: entityPartition(namespace, place.entityId), SK: key`#CONFIG#${slashed(place.resource)}` };
  }
}

export const resourceConfigsIndexKey = (namespace: string): string => key`${namespace}/RESOURCE_CONFIG`;
export const entityConfigsIndexKey = (namespace: string, resource: string): string =>
  key`${namespace}/ENTITY_CONFIG#${slashed(resource)}`;

export function configIndexKeys(namespace: string, place: ConfigPlace) {
  const all = namespaceIndexKeys(namespace, configKey(namespace, place).PK);
  if (place.level === 'RESOURCE') return { ...all, GSI3PK: resourceConfigsIndexKey(namespace), GSI3SK: place.resource };
  if (place.level === 'ENTITY')
    return { ...all, GSI3PK: entityConfigsIndexKey(namespace, place.resource), GSI3SK: place.entityId };
  return all;
}

const instant = (hour: number): string => `${new Date(hour * 3_600_000).toISOString().slice(0, 13)}Z`;
export const hourOfInstant = (text: string): number => Date.parse(text.replace('Z', ':00:00Z')) / 3_600_000;

/** One item for each life of a shard: so a bucket knows every name in it. */
export const usageKey = (id: ShardId, hour: number, birth: string) => ({
  PK: entityPartition(id.namespace, id.entityId),
  SK: key`#USAGE#${slashed(id.resource)}#HOUR#${instant(hour)}#${shardLabel(id)}#${birth}`,
});
export const usageIndexKeys = (id: ShardId, hour: number, birth: string) => ({
  GSI2PK: resourceIndexKey(id.namespace, id.resource),
  GSI2SK: key`USAGE#${instant(hour)}#${id.entityId}#${shardLabel(id)}#${birth}`,
  ...namespaceIndexKeys(id.namespace, entityPartition(id.namespace, id.entityId)),
});
/** Refusals of a bucket in an hour. Each item has an id of its own, so that only the process that made it writes it. */
export const refusalKey = ({ namespace, entityId, resource }: BucketId, hour: number, id: string) => ({
  PK: entityPartition(namespace, entityId),
  SK: key`#USAGE#${slashed(resource)}#HOUR#${instant(hour)}#r-${id}`,
});
export const refusalIndexKeys = ({ namespace, entityId, resource }: BucketId, hour: number, id: string) => ({
  GSI2PK: resourceIndexKey(namespace, resource),
  GSI2SK: key`USAGE#${instant(hour)}#${entityId}#r-${id}`,
  ...namespaceIndexKeys(namespace, entityPartition(namespace, entityId)),
});
/** Bounds of the hours of one resource, the last one exclusive. */
export const usageRange = (resource: string, fromHour: number, toHour: number): [string, string] => [
  key`#USAGE#${slashed(resource)}#HOUR#${instant(fromHour)}`,
  key`#USAGE#${slashed(resource)}#HOUR#${instant(toHour)}`,
];
export const resourceUsageRange = (fromHour: number, toHour: number): [string, string] => [
  key`USAGE#${instant(fromHour)}`,
  key`USAGE#${instant(toHour)}`,
];

const leasePartitionCount = 64;
const leasePartition = (namespace: string, number: number): string =>
  key`${namespace}/LEASE#${number.toString(16).padStart(2, '0')}`;
/** All partitions that leases of a namespace are in: they are in no index, so a purge looks here. */
export const leasePartitions = (namespace: string): string[] =>
  Array.from({ length: leasePartitionCount }, (_, number) => leasePartition(namespace, number));
export const leaseKey = (namespace: string, leaseName: string) => ({
  PK: leasePartition(namespace, hashSlot(leaseName, leasePartitionCount)),
  SK: key`${leaseName}`,
});
export const namespaceKey = (orgId: string) => ({ PK: '_/SYSTEM#', SK: key`#NAMESPACE#${orgId}` });
export const namespaceIdKey = (namespace: string) => ({ PK: '_/SYSTEM#', SK: key`#NSID#${namespace}` });
export const taskKey = (task: string) => ({ PK: '_/SYSTEM#', SK: key`#TASK#${task}` });
