import type { AuditService } from '../../audit/audit.service.js';
import type { Actor } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { GatewayError, notFound, refuseAny, unavailable } from '../../lib/errors.js';
import type { BucketRegistry } from '../buckets/bucket.registry.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { unexpired } from '../buckets/expiry.js';
import type { LimitConfigStore } from '../levels/limit-config.store.js';
import { entityIssues, isEntityId } from '../limit.js';
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
  unnamedEntity,
} from './entity.js';
import type { EntityStore } from './entity.store.js';
import type { NamespaceService } from './namespace.service.js';

const attempts = 10;

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

export class EntityService {
  constructor(private readonly parts: EntityDeps) {}

  async create(orgId: string, request: NewEntity, actor: Actor): Promise<Entity> {
    refuseAny(newEntityIssues(request, 'input.'));
    const { store, namespaces, changes, audit, clock } = this.parts;
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
    for (let attempt = 0; attempt < attempts; attempt++) {
      const namespace = await namespaces.of(orgId);
      const places = [placeName(entityKey(namespace, entityId))];
      const act = audit.draft({ orgId, actor, action: 'entity_created', entityId, details });
      const drafts = [act, changes.draftPlaceChange(orgId, places), namespaces.draftCheck(orgId, namespace)];
      const outcome = await changes.during(orgId, places, () => store.create(namespace, entity, drafts));
      if (outcome === 'created') return entity;
      if (outcome === 'exists')
        throw new GatewayError('ALREADY_EXISTS', 'an entity with this id has been created already');
      if (outcome === 'no parent') throw notFound('parent');
      namespaces.forget(orgId);
    }
    throw unavailable('the limiter of this org is being purged; nothing was created: try again');
  }

  /** Changes what was told of an entity when it was created. */
  async update(orgId: string, entityId: string, wanted: EntityChanges, actor: Actor): Promise<Entity> {
    refuseAny(entityChangeIssues(entityId, wanted, 'input.'));
    const { store, namespaces, changes, audit } = this.parts;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const namespace = await namespaces.of(orgId);
      const [before] = await store.loadMany([{ orgId, namespace, entityId }]);
      if (!before) throw notFound('entity');
      const after = changedEntity(before, wanted);
      // A change that changes nothing is not told to every gateway.
      if (isSameEntity(before, after)) return before;
      const places = [placeName(entityKey(namespace, entityId))];
      const act = audit.draft({
        orgId,
        actor,
        action: 'entity_updated',
        entityId,
        changes: entityDetails(before, after),
      });
      const drafts = [act, changes.draftPlaceChange(orgId, places), namespaces.draftCheck(orgId, namespace)];
      const isMoved = typeof wanted.parentId === 'string';
      const outcome = await changes.during(orgId, places, () =>
        store.update(namespace, { before, after, isMoved }, drafts),
      );
      if (outcome === 'updated') return after;
      if (outcome === 'no parent') throw notFound('parent');
      namespaces.forget(orgId);
    }
    throw unavailable('this entity is being changed by others at the same time; nothing was changed: try again');
  }

  /** Deletes an entity with its limits and buckets, the use of their hours booked first; what it has used stays on record. False where there was nothing. */
  async delete(orgId: string, entityId: string, actor: Actor): Promise<boolean> {
    refuseAny(entityIssues(entityId, 'entityId'));
    const { store, namespaces, changes, audit, clock, usageDays } = this.parts;
    const namespace = await namespaces.of(orgId);
    const buckets = await this.endBuckets(namespace, entityId);
    const { keys, isLive } = await store.listOwnKeys(namespace, entityId);
    if (buckets === 0 && !isLive && !(await this.isUsed(namespace, entityId))) return false;
    const act = audit.draft({
      orgId,
      actor,
      action: 'entity_deleted',
      entityId,
      details: { records: keys.length + buckets },
    });
    const places = [entityKey(namespace, entityId), ...keys].map(placeName);
    const deletedAtMs = clock.nowMs();
    const doomed = { keys, deletedAtMs, markedUntilSecs: epochSeconds(deletedAtMs) + usageDays * 86_400 };
    await changes.during(orgId, places, () =>
      store.delete(namespace, entityId, doomed, [act, changes.draftPlaceChange(orgId, places)]),
    );
    return true;
  }

  /** An entity that was created, or is only known by its limits, its buckets or what it has used, even if it was deleted since. */
  async find(orgId: string, entityId: string): Promise<Entity | undefined> {
    if (!isEntityId(entityId)) return undefined;
    const { store, namespaces } = this.parts;
    const namespace = await namespaces.of(orgId);
    const [created] = await store.loadMany([{ orgId, namespace, entityId }]);
    if (created) return created;
    const unnamed = unnamedEntity(orgId, entityId);
    if ((await store.listOwnKeys(namespace, entityId)).isLive || (await this.hasBuckets(namespace, entityId)))
      return unnamed;
    const { hasUse, deletedAt } = await store.loadPast(namespace, entityId);
    return hasUse ? { ...unnamed, ...(deletedAt ? { deletedAt } : {}) } : undefined;
  }

  /** Whether an entity has past use and was not deleted since. */
  private async isUsed(namespace: string, entityId: string): Promise<boolean> {
    const { hasUse, deletedAt } = await this.parts.store.loadPast(namespace, entityId);
    return hasUse && deletedAt === undefined;
  }

  private async hasBuckets(namespace: string, entityId: string): Promise<boolean> {
    const { buckets, clock } = this.parts;
    const found = await buckets.loadMany(await buckets.listOfEntity(namespace, entityId));
    return found.some((shards) => unexpired(shards, clock.nowMs()).length > 0);
  }

  /** Those that were created, one answer each. */
  async loadMany(
    refs: readonly { readonly orgId: string; readonly entityId: string }[],
  ): Promise<(Entity | undefined)[]> {
    const { store, namespaces } = this.parts;
    return store.loadMany(
      await Promise.all(refs.map(async (ref) => ({ ...ref, namespace: await namespaces.of(ref.orgId) }))),
    );
  }

  async listChildren(orgId: string, parentId: string | undefined, limit: number, after?: string): Promise<Entity[]> {
    return this.parts.store.list(orgId, await this.parts.namespaces.of(orgId), parentId, limit, after);
  }

  /** Created entities, parents and children alike, whose id begins with the prefix. */
  async search(orgId: string, prefix: string, limit: number, after?: string): Promise<Entity[]> {
    return this.parts.store.search(orgId, await this.parts.namespaces.of(orgId), prefix, limit, after);
  }

  /** Those with limits of their own for the resource, created or not. */
  async listWithLimits(orgId: string, resource: string, limit: number, after?: string): Promise<Entity[]> {
    const { store, configs, namespaces } = this.parts;
    const namespace = await namespaces.of(orgId);
    const ids = await configs.listEntities(namespace, resource, limit, after);
    const created = await store.loadMany(ids.map((entityId) => ({ orgId, namespace, entityId })));
    return ids.map((entityId, i) => created[i] ?? unnamedEntity(orgId, entityId));
  }

  /** Returns how many items the buckets were. */
  private async endBuckets(namespace: string, entityId: string): Promise<number> {
    const { buckets, registry } = this.parts;
    let ended = 0;
    for (const id of await buckets.listOfEntity(namespace, entityId)) ended += await registry.end(id);
    return ended;
  }
}
