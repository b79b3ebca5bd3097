import type { Item, Key, StoreClient, Write } from '../../dynamo/client.js';
import { absent, and, between, equals, present } from '../../dynamo/expression.js';
import type { Draft } from '../../lib/draft.js';
import { childIndexKey, entityKey, entityPartition, namespaceIndexKeys, parentIndexKey, rootsIndexKey } from '../limiter-keys.js';
import type { Entity, Metadata } from './entity.js';

const table = 'limiter';
const mostWritesATransaction = 100;
/** Stands before all past use of an entity, so that one look finds either. */
const tombstone = '#TOMBSTONE';

export interface EntityRef {
  readonly orgId: string;
  readonly namespace: string;
  readonly entityId: string;
}

export class EntityStore {
  constructor(private readonly client: StoreClient) {}

  /** Those that were created, one answer each. */
  async loadMany(refs: readonly EntityRef[]): Promise<(Entity | undefined)[]> {
    const items = await this.client.getMany(
      table,
      refs.map(({ namespace, entityId }) => entityKey(namespace, entityId)),
      { consistent: true },
    );
    return items.map((item, i) => item && toEntity(item, (refs[i] as EntityRef).orgId));
  }

  /** Whether there is past use to be seen of an entity: not of one that was deleted. */
  async hasUse(namespace: string, entityId: string): Promise<boolean> {
    const where = and(equals('PK', entityPartition(namespace, entityId)), between('SK', tombstone, '#USAGE#~'));
    const { items } = await this.client.query({ table, where, limit: 1, consistent: true });
    return items[0] !== undefined && items[0].SK !== tombstone;
  }

  /** Creates an entity; its parent must exist in the same moment. 'again': a draft's condition did not hold. */
  async create(namespace: string, entity: Entity, drafts: readonly Draft[]): Promise<'created' | 'exists' | 'no parent' | 'again'> {
    const { parentId } = entity;
    const parent = parentId === undefined ? [] : [{ table, check: entityKey(namespace, parentId), condition: present('PK') } as const];
    const outcome = await this.client.transact('fresh', [
      { table, put: toItem(namespace, entity), condition: absent('PK') },
      ...(drafts as readonly Write[]),
      ...parent,
    ]);
    if (outcome.done) return 'created';
    if (outcome.reasons[0]?.kind === 'condition') return 'exists';
    return parent.length > 0 && outcome.reasons.at(-1)?.kind === 'condition' ? 'no parent' : 'again';
  }

  /** What is kept under the entity itself, past use not counted. */
  async listOwnKeys(namespace: string, entityId: string): Promise<Key[]> {
    const where = and(equals('PK', entityPartition(namespace, entityId)), between('SK', '#CONFIG', '#META'));
    const items = await this.client.queryAll({ table, where, consistent: true });
    return items.map(({ PK, SK }) => ({ PK: PK as string, SK: SK as string }));
  }

  /** Deletes these items of an entity, and leaves a mark that it was deleted for as long as its use is kept. */
  async delete(namespace: string, entityId: string, keys: readonly Key[], markedUntilSecs: number, drafts: readonly Draft[]): Promise<void> {
    const PK = entityPartition(namespace, entityId);
    const mark: Write = { table, put: { PK, SK: tombstone, ...namespaceIndexKeys(namespace, PK), ttl: markedUntilSecs } };
    const first = keys.slice(0, mostWritesATransaction - drafts.length - 1);
    await this.client.transact('fresh', [...first.map((key): Write => ({ table, delete: key })), mark, ...(drafts as readonly Write[])]);
    await this.client.writeMany(
      table,
      keys.slice(first.length).map((key) => ({ delete: key })),
    );
  }

  /** The children of an entity, or those created without a parent: by id, after the one named. */
  async list(orgId: string, namespace: string, parentId: string | undefined, limit: number, after?: string): Promise<Entity[]> {
    const GSI1PK = parentId === undefined ? rootsIndexKey(namespace) : parentIndexKey(namespace, parentId);
    const start = after === undefined ? {} : { after: { ...entityKey(namespace, after), GSI1PK, GSI1SK: childIndexKey(after) } };
    const found = await this.client.queryIndexed({ table, index: 'GSI1', where: equals('GSI1PK', GSI1PK), limit, ...start });
    return found.map(({ item }) => toEntity(item, orgId));
  }
}

const toItem = (namespace: string, { entityId, name, parentId, cascade, metadata, createdAt }: Entity): Item => {
  const keys = entityKey(namespace, entityId);
  return {
    ...keys,
    ...namespaceIndexKeys(namespace, keys.PK),
    GSI1PK: parentId === undefined ? rootsIndexKey(namespace) : parentIndexKey(namespace, parentId),
    GSI1SK: childIndexKey(entityId),
    entity_id: entityId,
    name,
    parent_id: parentId,
    cascade,
    metadata: metadata.map(({ name: key, value }) => ({ name: key, value })),
    created_at_ms: createdAt?.getTime(),
  };
};

const toEntity = (item: Item, orgId: string): Entity => ({
  nodeType: 'Entity',
  orgId,
  entityId: item.entity_id as string,
  ...(item.name === undefined ? {} : { name: item.name as string }),
  ...(item.parent_id === undefined ? {} : { parentId: item.parent_id as string }),
  cascade: item.cascade as boolean,
  metadata: item.metadata as unknown as Metadata[],
  createdAt: new Date(item.created_at_ms as number),
});
