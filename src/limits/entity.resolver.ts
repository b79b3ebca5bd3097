import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { refuseAny } from '../lib/errors.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import type { Entity } from './entity.js';
import {
  BucketType,
  CreateEntityInput,
  EntityConnection,
  EntityType,
  ResourceCapacityType,
  ResourceUsageType,
  UsageSnapshotConnection,
  UsageWindowType,
} from './entity.types.js';
import { resourceIssues, tokensOf } from './limit.js';
import { AvailabilityType, ConsumeInput, EffectiveLimitsType } from './limit.types.js';
import type { Bucket } from './report.service.js';
import type { UsageWindow, WindowUsage } from './usage.js';

@Resolver(() => OrgType)
export class OrgEntityResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityType, { nullable: true, description: 'Also one that was only ever acquired for; its createdAt is then null.' })
  entity(@Root() { orgId }: Org, @Arg('entityId', () => String) entityId: string, @Ctx() { entities }: Context) {
    return entities.find(orgId, entityId);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityConnection, { description: 'Those created without a parent.' })
  entities(@Root() { orgId }: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() { entities, cursors }: Context) {
    return paginate(page, { cursors, tenant: orgId, field: 'Org.entities' }, idOf, (limit, after) => entities.listChildren(orgId, undefined, limit, after));
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityConnection, { description: 'Those with limits of their own for the resource.' })
  entitiesWithLimits(
    @Root() { orgId }: Org,
    @Arg('resource', () => String) resource: string,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { entities, cursors }: Context,
  ) {
    refuseAny(resourceIssues(resource, 'resource'));
    const listing = { cursors, tenant: orgId, field: `Org.entitiesWithLimits ${resource}` };
    return paginate(page, listing, idOf, (limit, after) => entities.listWithLimits(orgId, resource, limit, after));
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => ResourceCapacityType)
  resourceCapacity(
    @Root() { orgId }: Org,
    @Arg('resource', () => String) resource: string,
    @Arg('limit', () => String) limit: string,
    @Arg('parentsOnly', () => Boolean, { defaultValue: false, description: 'Only entities created without a parent.' }) parentsOnly: boolean,
    @Ctx() { reports, work }: Context,
  ) {
    return reports.capacity(orgId, { resource, limit, parentsOnly }, work.charge);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [ResourceUsageType], { description: 'Over all entities. Windows that begin in the range, oldest first.' })
  async resourceUsage(
    @Root() { orgId }: Org,
    @Arg('resource', () => String) resource: string,
    @Arg('window', () => UsageWindowType) window: UsageWindow,
    @Arg('from', () => DateTime) from: Date,
    @Arg('to', () => DateTime) to: Date,
    @Ctx() { reports, work }: Context,
  ) {
    const windows = await reports.usageOfResource(orgId, resource, { window, from, to }, work.charge);
    return windows.map((usage) => ({ ...inTokens(usage), entities: usage.entities.size }));
  }
}

@Resolver(() => EntityType)
export class EntityResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => EntityType, { nullable: true })
  createEntity(@Arg('input', () => CreateEntityInput) { orgId, ...request }: CreateEntityInput, @Ctx() { viewer, actor, entities }: Context) {
    return entities.create(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, { nullable: true, description: 'With its limits and buckets; what it has used stays on record. False where there was nothing.' })
  deleteEntity(
    @Arg('orgId', () => Uuid, { nullable: true }) orgId: string | null | undefined,
    @Arg('entityId', () => String) entityId: string,
    @Ctx() { viewer, actor, entities }: Context,
  ) {
    return entities.delete(orgIdFor(viewer, orgId), entityId, actor);
  }

  @FieldResolver(() => ID)
  id(@Root() { orgId, entityId }: Entity) {
    return nodeId('Entity', orgId, entityId);
  }

  @FieldResolver(() => EntityType, { nullable: true })
  parent(@Root() { orgId, parentId }: Entity, @Ctx() { loaders }: Context) {
    return parentId === undefined ? null : loaders.entity({ orgId, entityId: parentId });
  }

  @FieldResolver(() => EntityConnection)
  children(@Root() { orgId, entityId }: Entity, @Args(() => PageArgs) page: PageArgs, @Ctx() { entities, cursors }: Context) {
    const listing = { cursors, tenant: orgId, field: `Entity.children ${entityId}` };
    return paginate(page, listing, idOf, (limit, after) => entities.listChildren(orgId, entityId, limit, after));
  }

  @FieldResolver(() => [BucketType], { description: 'By resource.' })
  buckets(@Root() { orgId, entityId }: Entity, @Ctx() { reports, work }: Context) {
    return reports.bucketsOf(orgId, entityId, work.charge);
  }

  @FieldResolver(() => BucketType, { nullable: true })
  bucket(@Root() { orgId, entityId }: Entity, @Arg('resource', () => String) resource: string, @Ctx() { reports }: Context) {
    return reports.bucket(orgId, entityId, resource);
  }

  @FieldResolver(() => EffectiveLimitsType)
  async effectiveLimits(@Root() { orgId, entityId }: Entity, @Arg('resource', () => String) resource: string, @Ctx() { namespaces, resolution }: Context) {
    refuseAny(resourceIssues(resource, 'resource'));
    const { set, source, onUnavailable } = await resolution.resolve(orgId, await namespaces.of(orgId), entityId, resource);
    return { limits: set?.limits ?? [], source, onUnavailable };
  }

  @FieldResolver(() => AvailabilityType, { description: 'What an acquire would find, changing nothing.' })
  availability(
    @Root() { orgId, entityId }: Entity,
    @Arg('resource', () => String) resource: string,
    @Arg('consume', () => [ConsumeInput], { nullable: true, description: 'Absent: 0 of each limit.' }) consume: ConsumeInput[] | null | undefined,
    @Ctx() { limits }: Context,
  ) {
    return limits.availability(orgId, { entityId, resource, consume: consume ?? [] });
  }

  @FieldResolver(() => UsageSnapshotConnection, { description: 'Windows that begin in the range, oldest first, the current one included.' })
  usage(
    @Root() { orgId, entityId }: Entity,
    @Arg('window', () => UsageWindowType) window: UsageWindow,
    @Arg('resource', () => String, { nullable: true, description: 'Absent: each of them.' }) resource: string | null | undefined,
    @Arg('from', () => DateTime, { nullable: true, description: 'Absent: as far back as there is any.' }) from: Date | null | undefined,
    @Arg('to', () => DateTime, { nullable: true, description: 'Absent: now.' }) to: Date | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { reports, cursors, work }: Context,
  ) {
    const listing = { cursors, tenant: orgId, field: `Entity.usage ${entityId} ${window} ${resource ?? ''}` };
    return paginate(page, listing, positionOf, async (limit, after) => {
      const windows = await reports.usageOf(orgId, { entityId, resource }, { window, from, to }, work.charge);
      const start = after === undefined ? 0 : windows.findIndex((usage) => positionOf({ ...usage, windowStart: new Date(usage.startMs) }) > after);
      return start < 0 ? [] : windows.slice(start, start + limit).map((usage) => ({ ...inTokens(usage), entityId, window, totalEvents: usage.events }));
    });
  }
}

@Resolver(() => BucketType)
export class BucketResolver {
  @FieldResolver(() => ID)
  id(@Root() { orgId, entityId, resource }: Bucket) {
    return nodeId('Bucket', orgId, entityId, resource);
  }
}

const idOf = ({ entityId }: Entity): string => entityId;

/** Sorts as the windows do. */
const positionOf = ({ windowStart, resource }: { readonly windowStart: Date; readonly resource: string }): string => `${windowStart.toISOString()} ${resource}`;

const inTokens = ({ startMs, endMs, resource, consumed }: WindowUsage) => ({
  windowStart: new Date(startMs),
  windowEnd: new Date(endMs),
  resource,
  counters: Object.entries(consumed)
    .map(([limit, milli]) => ({ limit, consumed: tokensOf(milli) }))
    .sort((a, b) => (a.limit < b.limit ? -1 : 1)),
});
