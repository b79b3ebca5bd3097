import type { Check, Item, StoreClient, Write } from '../../dynamo/client.js';
import { absent, and, beginsWith, between, equals, present } from '../../dynamo/expression.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { deletedLevel, isDeletedLevel } from '../levels/limit-config.store.js';
import {
  childIndexKey,
  entitiesIndexKey,
  entityKey,
  entityPartition,
  namespaceIndexKeys,
  parentIndexKey,
  rootsIndexKey,
} from '../limiter-keys.js';
import type { Entity, Metadata } from './entity.js';

const table = 'limiter';
const mostWritesATransaction = 100;
/** Stands before all past use of an entity, so that one look finds either. */
const tombstone = '#TOMBSTONE';

interface ItemKey extends Readonly<Record<'PK' | 'SK', string>> {
  /** Of a level. It outlives the entity, because a bucket that was made meanwhile must not seem to be under later limits. */
  readonly levelVersion?: number;
}

export interface EntityRef {
  readonly orgId: string;
  readonly namespace: string;
  readonly entityId: string;
}

/** What is left of an entity apart from its limits and buckets. */
export interface Past {
  readonly hasUse: boolean;
  readonly deletedAt?: Date;
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

  /** Whether there is past use of an entity, and when it was deleted. */
  async loadPast(namespace: string, entityId: string): Promise<Past> {
    const where = and(equals('PK', entityPartition(namespace, entityId)), between('SK', tombstone, '#USAGE#~'));
    const { items } = await this.client.query({ table, where, limit: 2, consistent: true });
    const mark = items.find(({ SK }) => SK === tombstone);
    return {
      hasUse: items.some(({ SK }) => SK !== tombstone),
      ...(mark ? { deletedAt: new Date(mark.deleted_at_ms as number) } : {}),
    };
  }

  /** Creates an entity; its parent must exist in the same moment. 'again': a draft's condition did not hold. */
  async create(
    namespace: string,
    entity: Entity,
    drafts: readonly TransactItem[],
  ): Promise<'created' | 'exists' | 'no parent' | 'again'> {
    const { parentId } = entity;
    const parent = parentId === undefined ? [] : [parentCheck(namespace, parentId)];
    const create: Write = { table, put: toItem(namespace, entity), condition: absent('PK') };
    const outcome = await this.client.transact('fresh', [create, ...parent], { riders: drafts });
    if (outcome.done) return 'created';
    const [ofEntity, ofParent] = outcome.reasons;
    if (ofEntity?.kind === 'condition') return 'exists';
    return ofParent?.kind === 'condition' ? 'no parent' : 'again';
  }

  /**
   * Replaces an entity if it is still the one that was read. If `isMoved`, its parent must exist in the same moment.
   * 'again': the entity is another by now, or a draft's condition did not hold.
   */
  async update(
    namespace: string,
    { before, after, isMoved }: { readonly before: Entity; readonly after: Entity; readonly isMoved: boolean },
    drafts: readonly TransactItem[],
  ): Promise<'updated' | 'no parent' | 'again'> {
    const parent = isMoved && after.parentId !== undefined ? [parentCheck(namespace, after.parentId)] : [];
    const isVersion = before.version === 0 ? absent('entity_version') : equals('entity_version', before.version);
    const isSame = and(equals('created_at_ms', before.createdAt?.getTime() ?? 0), isVersion);
    const replace: Write = { table, put: toItem(namespace, after), condition: isSame };
    const outcome = await this.client.transact('fresh', [replace, ...parent], { riders: drafts });
    if (outcome.done) return 'updated';
    const [ofEntity, ofParent] = outcome.reasons;
    return ofParent?.kind === 'condition' && ofEntity?.kind !== 'condition' ? 'no parent' : 'again';
  }

  /** The items of the entity itself and of its levels; `isLive`: whether any of them is more than the version of a deleted level. */
  async listOwnKeys(
    namespace: string,
    entityId: string,
  ): Promise<{ readonly keys: readonly ItemKey[]; readonly isLive: boolean }> {
    const where = and(equals('PK', entityPartition(namespace, entityId)), between('SK', '#CONFIG', '#META'));
    const items = await this.client.queryAll({ table, where, consistent: true });
    const keys = items.map(({ PK, SK, config_version: version }) => ({
      ...{ PK: PK as string, SK: SK as string },
      ...(version === undefined ? {} : { levelVersion: version as number }),
    }));
    return { keys, isLive: items.some((item) => !isDeletedLevel(item)) };
  }

  /**
   * Deletes these items of an entity, and leaves a mark that it was deleted for as long as its use is kept. The transaction
   * comes last: whatever is read after its drafts have taken effect is what is left.
   */
  async delete(
    namespace: string,
    entityId: string,
    {
      keys,
      deletedAtMs,
      markedUntilSecs,
    }: { readonly keys: readonly ItemKey[]; readonly deletedAtMs: number; readonly markedUntilSecs: number },
    drafts: readonly TransactItem[],
  ): Promise<void> {
    const PK = entityPartition(namespace, entityId);
    const mark: Write = {
      table,
      put: {
        PK,
        SK: tombstone,
        ...namespaceIndexKeys(namespace, PK),
        deleted_at_ms: deletedAtMs,
        ttl: markedUntilSecs,
      },
    };
    const last = keys.slice(-(mostWritesATransaction - drafts.length - 1));
    const gone = ({ levelVersion, ...key }: ItemKey) =>
      levelVersion === undefined
        ? { delete: key }
        : { put: { ...key, ...namespaceIndexKeys(namespace, key.PK), ...deletedLevel(levelVersion) } };
    await this.client.writeMany(table, keys.slice(0, keys.length - last.length).map(gone));
    await this.client.transact('fresh', [...last.map((key): Write => ({ table, ...gone(key) })), mark], {
      riders: drafts,
    });
  }

  /** The children of an entity, or those created without a parent: by id, after the one named. */
  async list(
    orgId: string,
    namespace: string,
    parentId: string | undefined,
    limit: number,
    after?: string,
  ): Promise<Entity[]> {
    const GSI1PK = parentId === undefined ? rootsIndexKey(namespace) : parentIndexKey(namespace, parentId);
    const start =
      after === undefined ? {} : { after: { ...entityKey(namespace, after), GSI1PK, GSI1SK: childIndexKey(after) } };
    const found = await this.client.queryIndexed({
      table,
      index: 'GSI1',
      where: equals('GSI1PK', GSI1PK),
      limit,
      ...start,
    });
    return found.map(({ item }) => toEntity(item, orgId));
  }

  /** Created entities whose id begins with the prefix: by id, after the one named. */
  async search(orgId: string, namespace: string, prefix: string, limit: number, after?: string): Promise<Entity[]> {
    const GSI2PK = entitiesIndexKey(namespace);
    const start = after === undefined ? {} : { after: { ...entityKey(namespace, after), GSI2PK, GSI2SK: after } };
    const where = and(equals('GSI2PK', GSI2PK), beginsWith('GSI2SK', prefix));
    const found = await this.client.queryIndexed({ table, index: 'GSI2', where, limit, ...start });
    return found.map(({ item }) => toEntity(item, orgId));
  }
}

const parentCheck = (namespace: string, parentId: string): Check => ({
  table,
  check: entityKey(namespace, parentId),
  condition: present('PK'),
});

const toItem = (
  namespace: string,
  { entityId, name, parentId, cascade, metadata, createdAt, version }: Entity,
): Item => {
  const keys = entityKey(namespace, entityId);
  return {
    ...keys,
    ...namespaceIndexKeys(namespace, keys.PK),
    GSI1PK: parentId === undefined ? rootsIndexKey(namespace) : parentIndexKey(namespace, parentId),
    GSI1SK: childIndexKey(entityId),
    GSI2PK: entitiesIndexKey(namespace),
    GSI2SK: entityId,
    entity_id: entityId,
    name,
    parent_id: parentId,
    cascade,
    metadata: metadata.map(({ name: key, value }) => ({ name: key, value })),
    created_at_ms: createdAt?.getTime(),
    entity_version: version,
  };
};

export const toEntity = (item: Item, orgId: string): Entity => ({
  nodeType: 'Entity',
  orgId,
  entityId: item.entity_id as string,
  ...(item.name === undefined ? {} : { name: item.name as string }),
  ...(item.parent_id === undefined ? {} : { parentId: item.parent_id as string }),
  cascade: item.cascade as boolean,
  metadata: item.metadata as unknown as Metadata[],
  createdAt: new Date(item.created_at_ms as number),
  // Absent from one that was created before entities could be changed.
  version: (item.entity_version as number | undefined) ?? 0,
});
