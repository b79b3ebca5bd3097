import { key, slashed } from '../dynamo/keys.js';
import { hashSlot } from '../lib/id.js';
import type { ConfigPlace } from './levels/resolution.js';

/** A bucket in the namespace of an org. */
export interface BucketId {
  readonly namespace: string;
  readonly entityId: string;
  readonly resource: string;
  /** True for the bucket of limits that callers send. It shares nothing with the bucket of the stored limits. */
  readonly isOwn?: true;
}
export interface ShardId extends BucketId {
  readonly shard: number;
}

/** The name of a shard within its entity and resource. */
const shardLabel = ({ shard, isOwn }: ShardId): string => (isOwn ? `own${shard}` : String(shard));

export const shardKey = (id: ShardId) => ({
  PK: key`${id.namespace}/BUCKET#${id.entityId}#${slashed(id.resource)}#${shardLabel(id)}`,
  SK: '#STATE',
});

/**
 * The key of a bucket's directory entry. The entry has the index keys, so that a write of a shard touches no index. It
 * is in a partition of its own, because the shards are in several.
 */
export const directoryKey = (id: BucketId) => ({
  PK: key`${id.namespace}/DIR#${id.entityId}#${slashed(id.resource)}#${directoryLabel(id)}`,
  SK: '#DIR',
});
const directoryLabel = ({ isOwn }: BucketId): string => (isOwn ? 'own' : 'stored');

export const directoryIndexKeys = (id: BucketId) => ({
  GSI2PK: resourceIndexKey(id.namespace, id.resource),
  GSI2SK: key`BUCKET#${id.entityId}#${directoryLabel(id)}`,
  GSI3PK: key`${id.namespace}/ENTITY#${id.entityId}`,
  GSI3SK: key`BUCKET#${slashed(id.resource)}#${directoryLabel(id)}`,
  ...namespaceIndexKeys(id.namespace, directoryKey(id).PK),
});

/** The prefix of the partition keys of all directory entries of a namespace. */
export const directoryPrefix = (namespace: string): string => key`${namespace}/DIR#`;

/** The bucket of a directory entry, by the partition key of the entry. */
export function bucketOfDirectoryKey(namespace: string, partitionKey: string): BucketId {
  const [entityId = '', resource = '', label] = partitionKey.slice(directoryPrefix(namespace).length).split('#');
  return { namespace, entityId, resource, ...(label === 'own' ? { isOwn: true } : {}) };
}

/**
 * A purge finds all items of a namespace by these keys, except leases and shards. It finds shards by the directory.
 */
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
/** The index partition of entities without a parent. */
export const rootsIndexKey = (namespace: string): string => key`${namespace}/PARENT#`;
export const childIndexKey = (entityId: string): string => key`CHILD#${entityId}`;

/** The index partition of all created entities of a namespace, sorted by id. */
export const entitiesIndexKey = (namespace: string): string => key`${namespace}/ENTITIES#`;

/** The name of the change counter of an item. */
export const placeName = (item: Readonly<Record<'PK' | 'SK', string>>): string => `${item.PK} ${item.SK}`;

/** In the place of a resource. No resource can have this name, because names begin with a letter. */
const anyResource = '_default_';

export function configKey(namespace: string, place: ConfigPlace): { PK: string; SK: string } {
  switch (place.level) {
    case 'SYSTEM':
      return { PK: key`${namespace}/SYSTEM#`, SK: '#CONFIG' };
    case 'RESOURCE':
      return { PK: resourceIndexKey(namespace, place.resource), SK: '#CONFIG' };
    case 'ENTITY_DEFAULT':
      return { PK: entityPartition(namespace, place.entityId), SK: key`#CONFIG#${anyResource}` };
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

/** One item per hour and life of a shard (`incarnation`), so that the bucket knows every limit name in it. */
export const usageKey = (id: ShardId, hour: number, incarnation: string) => ({
  PK: entityPartition(id.namespace, id.entityId),
  SK: key`#USAGE#${slashed(id.resource)}#HOUR#${instant(hour)}#${shardLabel(id)}#${incarnation}`,
});
export const usageIndexKeys = (id: ShardId, hour: number, incarnation: string) => ({
  GSI2PK: resourceIndexKey(id.namespace, id.resource),
  GSI2SK: key`USAGE#${instant(hour)}#${id.entityId}#${shardLabel(id)}#${incarnation}`,
  ...namespaceIndexKeys(id.namespace, entityPartition(id.namespace, id.entityId)),
});
/**
 * Refusals of a bucket in an hour. Each process has its own item (`id`), so that no two processes write the same item.
 */
export const refusalKey = ({ namespace, entityId, resource }: BucketId, hour: number, id: string) => ({
  PK: entityPartition(namespace, entityId),
  SK: key`#USAGE#${slashed(resource)}#HOUR#${instant(hour)}#r-${id}`,
});
export const refusalIndexKeys = ({ namespace, entityId, resource }: BucketId, hour: number, id: string) => ({
  GSI2PK: resourceIndexKey(namespace, resource),
  GSI2SK: key`USAGE#${instant(hour)}#${entityId}#r-${id}`,
  ...namespaceIndexKeys(namespace, entityPartition(namespace, entityId)),
});
/** Sort key bounds of the hours of one resource. `toHour` is exclusive. */
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
/** All partitions with leases of a namespace. Leases are in no index, so a purge queries these partitions. */
export const leasePartitions = (namespace: string): string[] =>
  Array.from({ length: leasePartitionCount }, (_, number) => leasePartition(namespace, number));
export const leaseKey = (namespace: string, leaseName: string) => ({
  PK: leasePartition(namespace, hashSlot(leaseName, leasePartitionCount)),
  SK: key`${leaseName}`,
});
export const namespaceKey = (orgId: string) => ({ PK: '_/SYSTEM#', SK: key`#NAMESPACE#${orgId}` });
export const namespaceIdKey = (namespace: string) => ({ PK: '_/SYSTEM#', SK: key`#NSID#${namespace}` });
export const taskKey = (task: string) => ({ PK: '_/SYSTEM#', SK: key`#TASK#${task}` });
