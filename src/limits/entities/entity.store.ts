import type { Check, Item, StoreClient, Write } from '../../dynamo/client.js';
import { absent, and, beginsWith, between, equals, present, type Value } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
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
const maxWritesPerTransaction = 100;
/** Sorts before the usage items of an entity, so that one query with a limit of 2 finds both. */
const tombstone = '#TOMBSTONE';

interface ItemKey extends Readonly<Record<'PK' | 'SK', string>> {
  /**
   * Set for a level. The version outlives the entity, so that a bucket made meanwhile never seems to have later limits.
   */
  readonly levelVersion?: number;
}

export interface StoredEntityRef {
  readonly orgId: string;
  readonly namespace: string;
  readonly entityId: string;
}

export interface EntityPage {
  readonly orgId: string;
  readonly namespace: string;
  readonly limit: number;
  /** The id of the last entity of the previous page. */
  readonly after?: string | undefined;
}

/** What is stored about an entity apart from its limits and buckets. */
export interface EntityHistory {
  readonly hasUsage: boolean;
  readonly deletedAt?: Date;
}

/** Stores created entities and the marks of deleted ones. */
export class EntityStore {
  constructor(private readonly client: StoreClient) {}

  /** One result per ref, in the same order. Undefined if the entity was not created. */
  async loadMany(refs: readonly StoredEntityRef[]): Promise<(Entity | undefined)[]> {
    const items = await this.client.getMany(
      table,
      refs.map(({ namespace, entityId }) => entityKey(namespace, entityId)),
      { consistent: true },
    );
    return items.map((item, i) => item && toEntity(item, (refs[i] as StoredEntityRef).orgId));
  }

  /** Tells if the entity has past usage, and when it was deleted. */
  async loadHistory(namespace: string, entityId: string): Promise<EntityHistory> {
    const where = and(equals('PK', entityPartition(namespace, entityId)), between('SK', tombstone, '#USAGE#~'));
    const { items } = await this.client.query({ table, where, limit: 2, consistent: true });
    const mark = items.find(({ SK }) => SK === tombstone);
    return {
      hasUsage: items.some(({ SK }) => SK !== tombstone),
      ...(mark ? { deletedAt: fields(table, mark).date('deleted_at_ms') } : {}),
    };
  }

  /** Creates an entity. The transaction checks that its parent exists. 'conflict': the condition of a rider failed. */
  async create(
    namespace: string,
    entity: Entity,
    riders: readonly TransactItem[],
  ): Promise<'created' | 'exists' | 'no parent' | 'conflict'> {
    const { parentId } = entity;
    const parent = parentId === undefined ? [] : [parentCheck(namespace, parentId)];
    const create: Write = { table, put: toItem(namespace, entity), condition: absent('PK') };
    const outcome = await this.client.transact('fresh', [create, ...parent], { riders });
    if (outcome.done) return 'created';
    const [ofEntity, ofParent] = outcome.reasons;
    if (ofEntity?.kind === 'condition') return 'exists';
    return ofParent?.kind === 'condition' ? 'no parent' : 'conflict';
  }

  /**
   * Replaces an entity if it is unchanged since it was read. If `isMoved`, the transaction checks that its parent
   * exists. 'conflict': the entity was changed meanwhile, or the condition of a rider failed.
   */
  async update(
    namespace: string,
    { before, after, isMoved }: { readonly before: Entity; readonly after: Entity; readonly isMoved: boolean },
    riders: readonly TransactItem[],
  ): Promise<'updated' | 'no parent' | 'conflict'> {
    const parent = isMoved && after.parentId !== undefined ? [parentCheck(namespace, after.parentId)] : [];
    const isVersion = before.version === 0 ? absent('entity_version') : equals('entity_version', before.version);
    const isSame = and(equals('created_at_ms', before.createdAt?.getTime() ?? 0), isVersion);
    const replace: Write = { table, put: toItem(namespace, after), condition: isSame };
    const outcome = await this.client.transact('fresh', [replace, ...parent], { riders });
    if (outcome.done) return 'updated';
    const [ofEntity, ofParent] = outcome.reasons;
    return ofParent?.kind === 'condition' && ofEntity?.kind !== 'condition' ? 'no parent' : 'conflict';
  }

  /**
   * The keys of the entity and its levels. `isLive` is true if any of them is more than the version of a deleted level.
   */
  async listOwnKeys(
    namespace: string,
    entityId: string,
  ): Promise<{ readonly keys: readonly ItemKey[]; readonly isLive: boolean }> {
    const where = and(equals('PK', entityPartition(namespace, entityId)), between('SK', '#CONFIG', '#META'));
    const items = await this.client.queryAll({ table, where, consistent: true });
    const keys = items.map((item) => {
      const read = fields(table, item);
      const levelVersion = read.optionalNumber('config_version');
      return {
        PK: read.string('PK'),
        SK: read.string('SK'),
        ...(levelVersion === undefined ? {} : { levelVersion }),
      };
    });
    return { keys, isLive: items.some((item) => !isDeletedLevel(item)) };
  }

  /**
   * Deletes these items of an entity and leaves a tombstone for as long as its usage is kept. The transaction comes
   * last: once its riders have taken effect, a read finds the entity deleted.
   */
  async delete(
    namespace: string,
    entityId: string,
    {
      keys,
      deletedAtMs,
      tombstoneUntilSecs,
    }: { readonly keys: readonly ItemKey[]; readonly deletedAtMs: number; readonly tombstoneUntilSecs: number },
    riders: readonly TransactItem[],
  ): Promise<void> {
    const PK = entityPartition(namespace, entityId);
    const mark: Write = {
      table,
      put: {
        PK,
        SK: tombstone,
        ...namespaceIndexKeys(namespace, PK),
        deleted_at_ms: deletedAtMs,
        ttl: tombstoneUntilSecs,
      },
    };
    const last = keys.slice(-(maxWritesPerTransaction - riders.length - 1));
    const deletion = ({ levelVersion, ...key }: ItemKey) =>
      levelVersion === undefined
        ? { delete: key }
        : { put: { ...key, ...namespaceIndexKeys(namespace, key.PK), ...deletedLevel(levelVersion) } };
    await this.client.writeMany(table, keys.slice(0, keys.length - last.length).map(deletion));
    await this.client.transact('fresh', [...last.map((key): Write => ({ table, ...deletion(key) })), mark], {
      riders,
    });
  }

  /** The children of an entity, or the entities without a parent if `parentId` is undefined. Sorted by id. */
  list({ orgId, namespace, limit, after }: EntityPage, parentId: string | undefined): Promise<Entity[]> {
    const GSI1PK = parentId === undefined ? rootsIndexKey(namespace) : parentIndexKey(namespace, parentId);
    const where = equals('GSI1PK', GSI1PK);
    const start =
      after === undefined ? {} : { after: { ...entityKey(namespace, after), GSI1PK, GSI1SK: childIndexKey(after) } };
    return this.listIndexed({ table, index: 'GSI1', where, limit, ...start }, orgId);
  }

  /** Created entities whose id begins with the prefix. Sorted by id. */
  search({ orgId, namespace, limit, after }: EntityPage, prefix: string): Promise<Entity[]> {
    const GSI2PK = entitiesIndexKey(namespace);
    const where = and(equals('GSI2PK', GSI2PK), beginsWith('GSI2SK', prefix));
    const start = after === undefined ? {} : { after: { ...entityKey(namespace, after), GSI2PK, GSI2SK: after } };
    return this.listIndexed({ table, index: 'GSI2', where, limit, ...start }, orgId);
  }

  private async listIndexed(query: Parameters<StoreClient['queryIndexed']>[0], orgId: string): Promise<Entity[]> {
    return (await this.client.queryIndexed(query)).map(({ item }) => toEntity(item, orgId));
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

export function toEntity(item: Item, orgId: string): Entity {
  const read = fields(table, item);
  const name = read.optionalString('name');
  const parentId = read.optionalString('parent_id');
  return {
    nodeType: 'Entity',
    orgId,
    entityId: read.string('entity_id'),
    ...(name === undefined ? {} : { name }),
    ...(parentId === undefined ? {} : { parentId }),
    cascade: read.boolean('cascade'),
    metadata: read.list('metadata').map(toMetadata),
    createdAt: read.date('created_at_ms'),
    // Absent if the entity was created before entities could be changed.
    version: read.optionalNumber('entity_version') ?? 0,
  };
}

function toMetadata(pair: Value): Metadata {
  const read = fields(table, pair as Item);
  return { name: read.string('name'), value: read.string('value') };
}
