import type { AuditService } from '../../audit/audit.service.js';
import type { Actor } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { GatewayError, notFound, refuseAny, unavailable } from '../../lib/errors.js';
import type { BucketRegistry } from '../buckets/bucket.registry.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { unexpired } from '../buckets/expiry.js';
import type { LimitConfigStore } from '../levels/limit-config.store.js';
import { entityKey, placeName } from '../limiter-keys.js';
import {
  changedEntity,
  type Entity,
  type EntityChanges,
  entityChangeIssues,
  entityDetails,
  isSameEntity,
  type NewEntity,
  newEntityIssues,
  uncreatedEntity,
} from './entity.js';
import type { EntityStore } from './entity.store.js';
import { entityIssues, isEntityId } from './entity-id.js';
import type { NamespaceService } from './namespace.service.js';

const maxAttempts = 10;

export interface EntityDeps {
  readonly store: EntityStore;
  readonly configs: LimitConfigStore;
  readonly buckets: BucketStore;
  readonly registry: Pick<BucketRegistry, 'end'>;
  readonly namespaces: NamespaceService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly usageDays: number;
}

/** Creates, changes, deletes and finds entities. */
export class EntityService {
  constructor(private readonly deps: EntityDeps) {}

  /** Creates an entity. Its parent must exist. */
  async create(orgId: string, request: NewEntity, actor: Actor): Promise<Entity> {
    refuseAny(newEntityIssues(request, 'input.'));
    const { store, namespaces, changes, audit, clock } = this.deps;
    const { entityId, name, parentId, cascade, metadata } = request;
    const entity: Entity = {
      nodeType: 'Entity',
      orgId,
      entityId,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof parentId === 'string' ? { parentId } : {}),
      cascade,
      metadata,
      createdAt: new Date(clock.nowMs()),
      version: 1,
    };
    const details = { name: name ?? undefined, parent: parentId ?? undefined, cascade: cascade ? 'true' : undefined };
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const namespace = await namespaces.of(orgId);
      const places = [placeName(entityKey(namespace, entityId))];
      const auditEvent = audit.draft({ orgId, actor, action: 'entity_created', entityId, details });
      const riders = [auditEvent, changes.draftPlaceChange(orgId, places), namespaces.draftCheck(orgId, namespace)];
      const outcome = await changes.during(orgId, places, () => store.create(namespace, entity, riders));
      if (outcome === 'created') return entity;
      if (outcome === 'exists') throw new GatewayError('ALREADY_EXISTS', 'an entity with this id already exists');
      if (outcome === 'no parent') throw notFound('parent');
      namespaces.invalidate(orgId);
    }
    throw unavailable('the limiter of this org is being purged; nothing was created; retry');
  }

  /** Changes the name, parent, cascade or metadata of an entity that was created. */
  async update(orgId: string, entityId: string, requested: EntityChanges, actor: Actor): Promise<Entity> {
    refuseAny(entityChangeIssues(entityId, requested, 'input.'));
    const { store, namespaces, changes, audit } = this.deps;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const namespace = await namespaces.of(orgId);
      const [before] = await store.loadMany([{ orgId, namespace, entityId }]);
      if (!before) throw notFound('entity');
      const after = changedEntity(before, requested);
      // Nothing changes, so no cache has to become stale.
      if (isSameEntity(before, after)) return before;
      const places = [placeName(entityKey(namespace, entityId))];
      const auditEvent = audit.draft({
        orgId,
        actor,
        action: 'entity_updated',
        entityId,
        changes: entityDetails(before, after),
      });
      const riders = [auditEvent, changes.draftPlaceChange(orgId, places), namespaces.draftCheck(orgId, namespace)];
      const isMoved = typeof requested.parentId === 'string';
      const outcome = await changes.during(orgId, places, () =>
        store.update(namespace, { before, after, isMoved }, riders),
      );
      if (outcome === 'updated') return after;
      if (outcome === 'no parent') throw notFound('parent');
      namespaces.invalidate(orgId);
    }
    throw unavailable('the entity is being changed by other requests; nothing was changed; retry');
  }

  /**
   * Deletes an entity with its limits and buckets. The open hours of the buckets are booked first, so that all usage
   * stays on record. False if there was nothing to delete.
   */
  async delete(orgId: string, entityId: string, actor: Actor): Promise<boolean> {
    refuseAny(entityIssues(entityId, 'entityId'));
    const { store, namespaces, changes, audit, clock, usageDays } = this.deps;
    const namespace = await namespaces.of(orgId);
    const buckets = await this.endBuckets(namespace, entityId);
    const { keys, isLive } = await store.listOwnKeys(namespace, entityId);
    if (buckets === 0 && !isLive && !(await this.hasLiveUsage(namespace, entityId))) return false;
    const auditEvent = audit.draft({
      orgId,
      actor,
      action: 'entity_deleted',
      entityId,
      details: { records: keys.length + buckets },
    });
    const places = [entityKey(namespace, entityId), ...keys].map(placeName);
    const deletedAtMs = clock.nowMs();
    const deletion = { keys, deletedAtMs, tombstoneUntilSecs: epochSeconds(deletedAtMs) + usageDays * 86_400 };
    await changes.during(orgId, places, () =>
      store.delete(namespace, entityId, deletion, [auditEvent, changes.draftPlaceChange(orgId, places)]),
    );
    return true;
  }

  /** An entity that was created, or that has limits, buckets or past usage, even if it was deleted since. */
  async find(orgId: string, entityId: string): Promise<Entity | undefined> {
    if (!isEntityId(entityId)) return undefined;
    const { store, namespaces } = this.deps;
    const namespace = await namespaces.of(orgId);
    const [created] = await store.loadMany([{ orgId, namespace, entityId }]);
    if (created) return created;
    const uncreated = uncreatedEntity(orgId, entityId);
    if ((await store.listOwnKeys(namespace, entityId)).isLive || (await this.hasBuckets(namespace, entityId)))
      return uncreated;
    const { hasUsage, deletedAt } = await store.loadHistory(namespace, entityId);
    return hasUsage ? { ...uncreated, ...(deletedAt ? { deletedAt } : {}) } : undefined;
  }

  /** True if the entity has past usage and was not deleted since. */
  private async hasLiveUsage(namespace: string, entityId: string): Promise<boolean> {
    const { hasUsage, deletedAt } = await this.deps.store.loadHistory(namespace, entityId);
    return hasUsage && deletedAt === undefined;
  }

  private async hasBuckets(namespace: string, entityId: string): Promise<boolean> {
    const { buckets, clock } = this.deps;
    const found = await buckets.loadMany(await buckets.directory.listOfEntity(namespace, entityId));
    return found.some((shards) => unexpired(shards, clock.nowMs()).length > 0);
  }

  /** One result per ref, in the same order. Undefined if the entity was not created. */
  async loadMany(
    refs: readonly { readonly orgId: string; readonly entityId: string }[],
  ): Promise<(Entity | undefined)[]> {
    const { store, namespaces } = this.deps;
    return store.loadMany(
      await Promise.all(refs.map(async (ref) => ({ ...ref, namespace: await namespaces.of(ref.orgId) }))),
    );
  }

  /** The children of an entity, or the entities without a parent. */
  async listChildren(orgId: string, parentId: string | undefined, limit: number, after?: string): Promise<Entity[]> {
    const { store, namespaces } = this.deps;
    return store.list({ orgId, namespace: await namespaces.of(orgId), limit, after }, parentId);
  }

  /** Created entities, with or without a parent, whose id begins with the prefix. */
  async search(orgId: string, prefix: string, limit: number, after?: string): Promise<Entity[]> {
    const { store, namespaces } = this.deps;
    return store.search({ orgId, namespace: await namespaces.of(orgId), limit, after }, prefix);
  }

  /** Entities with limits of level ENTITY for the resource, created or not. */
  async listWithLimits(orgId: string, resource: string, limit: number, after?: string): Promise<Entity[]> {
    const { store, configs, namespaces } = this.deps;
    const namespace = await namespaces.of(orgId);
    const ids = await configs.listEntities(namespace, resource, limit, after);
    const created = await store.loadMany(ids.map((entityId) => ({ orgId, namespace, entityId })));
    return ids.map((entityId, i) => created[i] ?? uncreatedEntity(orgId, entityId));
  }

  /** Deletes the buckets. Returns the number of items deleted. */
  private async endBuckets(namespace: string, entityId: string): Promise<number> {
    const { buckets, registry } = this.deps;
    let ended = 0;
    for (const id of await buckets.directory.listOfEntity(namespace, entityId)) ended += await registry.end(id);
    return ended;
  }
}
