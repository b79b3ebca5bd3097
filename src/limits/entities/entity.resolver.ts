import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { PageArgs, paginate } from '../../graphql/connection.js';
import type { Context } from '../../graphql/context.js';
import { globalIdText, nodeId } from '../../graphql/node.js';
import { DateTime, Uuid } from '../../graphql/scalars.js';
import { orgIdFor, type Policy } from '../../identity/viewer.js';
import { refuseAny } from '../../lib/errors.js';
import { OrgType } from '../../orgs/org.types.js';
import type { Org } from '../../orgs/settings.js';
import { EffectiveLimitsType } from '../levels/limit-config.types.js';
import { AvailabilityType, ConsumeInput, orgIdText } from '../limit.types.js';
import { resourceIssues } from '../limit-input.js';
import type { BucketReport } from '../usage/report.service.js';
import type { UsageWindow } from '../usage/usage.js';
import { inTokens } from '../usage/usage.resolver.js';
import { UsageSnapshotConnection, UsageWindowType } from '../usage/usage.types.js';
import type { Entity } from './entity.js';
import {
  BucketType,
  CreateEntityInput,
  EntityConnection,
  EntityType,
  ResourceCapacityType,
  UpdateEntityInput,
} from './entity.types.js';
import { entityIssues } from './entity-id.js';

@Resolver(() => OrgType)
export class OrgEntityResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityType, {
    nullable: true,
    description:
      'The entity with this id. An entity that was never created, or was deleted, is found if it has limits or ' +
      'usage. Null if there is none.',
  })
  entity(
    @Root() { orgId }: Org,
    @Arg('entityId', () => String, { description: 'The id of the entity.' }) entityId: string,
    @Ctx() { entities }: Context,
  ) {
    return entities.find(orgId, entityId);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityConnection, { description: 'Entities that were created without a parent, sorted by id.' })
  entities(@Root() { orgId }: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() { entities, cursors }: Context) {
    return paginate(page, { cursors, tenant: orgId, field: 'Org.entities' }, idOf, (limit, after) =>
      entities.listChildren(orgId, undefined, limit, after),
    );
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityConnection, {
    description: 'Created entities whose id begins with the prefix, with or without a parent, sorted by id.',
  })
  searchEntities(
    @Root() { orgId }: Org,
    @Arg('prefix', () => String, {
      description: 'The first characters of the id: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit.',
    })
    prefix: string,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { entities, cursors }: Context,
  ) {
    refuseAny(entityIssues(prefix, 'prefix'));
    const listing = { cursors, tenant: orgId, field: `Org.searchEntities ${prefix}` };
    return paginate(page, listing, idOf, (limit, after) => entities.search(orgId, prefix, limit, after));
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => EntityConnection, {
    description: 'Entities that have limits of level ENTITY for the resource, sorted by id.',
  })
  entitiesWithLimits(
    @Root() { orgId }: Org,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { entities, cursors }: Context,
  ) {
    refuseAny(resourceIssues(resource, 'resource'));
    const listing = { cursors, tenant: orgId, field: `Org.entitiesWithLimits ${resource}` };
    return paginate(page, listing, idOf, (limit, after) => entities.listWithLimits(orgId, resource, limit, after));
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => ResourceCapacityType, {
    description: 'Capacity and available tokens of a limit for all entities together.',
  })
  resourceCapacity(
    @Root() { orgId }: Org,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Arg('limit', () => String, { description: 'The name of the limit.' }) limit: string,
    @Arg('parentsOnly', () => Boolean, {
      defaultValue: false,
      description: 'If true, counts only entities that were created without a parent.',
    })
    parentsOnly: boolean,
    @Ctx() { reports, work }: Context,
  ) {
    return reports.capacity(orgId, { resource, limit, parentsOnly }, work.charge);
  }
}

@Resolver(() => EntityType)
export class EntityResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => EntityType, {
    nullable: true,
    description: 'Creates an entity. An acquire does not need the entity to be created.',
  })
  createEntity(
    @Arg('input', () => CreateEntityInput, { description: 'The entity.' }) { orgId, ...request }: CreateEntityInput,
    @Ctx() { viewer, actor, entities }: Context,
  ) {
    return entities.create(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => EntityType, {
    nullable: true,
    description:
      'Changes an entity that was created. A new parent or cascade takes effect on all gateways within 2 s. Tokens ' +
      'taken before stay where they were taken.',
  })
  updateEntity(
    @Arg('input', () => UpdateEntityInput, { description: 'The entity and its changes.' }) {
      orgId,
      entityId,
      ...changes
    }: UpdateEntityInput,
    @Ctx() { viewer, actor, entities }: Context,
  ) {
    return entities.update(orgIdFor(viewer, orgId, 'input.orgId'), entityId, changes, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description:
      'Deletes an entity with its limits and buckets. Its usage stays on record. False if there was nothing.',
  })
  deleteEntity(
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: orgIdText,
    })
    orgId: string | null | undefined,
    @Arg('entityId', () => String, { description: 'The id of the entity.' }) entityId: string,
    @Ctx() { viewer, actor, entities }: Context,
  ) {
    return entities.delete(orgIdFor(viewer, orgId), entityId, actor);
  }

  @FieldResolver(() => ID, { description: globalIdText })
  id(@Root() { orgId, entityId }: Entity) {
    return nodeId('Entity', orgId, entityId);
  }

  @FieldResolver(() => EntityType, { nullable: true, description: 'The parent. Null if the entity has none.' })
  parent(@Root() { orgId, parentId }: Entity, @Ctx() { loaders }: Context) {
    return parentId === undefined ? null : loaders.entity({ orgId, entityId: parentId });
  }

  @FieldResolver(() => EntityConnection, {
    description: 'Entities that have this entity as their parent, sorted by id.',
  })
  children(
    @Root() { orgId, entityId }: Entity,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { entities, cursors }: Context,
  ) {
    const listing = { cursors, tenant: orgId, field: `Entity.children ${entityId}` };
    return paginate(page, listing, idOf, (limit, after) => entities.listChildren(orgId, entityId, limit, after));
  }

  @FieldResolver(() => [BucketType], { description: 'The buckets of the entity, sorted by resource.' })
  buckets(@Root() { orgId, entityId }: Entity, @Ctx() { reports, work }: Context) {
    return reports.bucketsOf(orgId, entityId, work.charge);
  }

  @FieldResolver(() => BucketType, {
    nullable: true,
    description: 'The bucket for a resource. Null if nothing was ever taken from it, or it has expired.',
  })
  bucket(
    @Root() { orgId, entityId }: Entity,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Ctx() { reports }: Context,
  ) {
    return reports.bucket(orgId, entityId, resource);
  }

  @FieldResolver(() => EffectiveLimitsType, { description: 'The limits that apply to an acquire for this entity.' })
  async effectiveLimits(
    @Root() { orgId, entityId }: Entity,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Ctx() { namespaces, resolution }: Context,
  ) {
    refuseAny(resourceIssues(resource, 'resource'));
    const key = { orgId, namespace: await namespaces.of(orgId), entityId, resource };
    const { set, source, onUnavailable } = await resolution.resolve(key);
    return { limits: set?.limits ?? [], source, onUnavailable };
  }

  @FieldResolver(() => AvailabilityType, {
    description: 'The result that an acquire would have now. Nothing is taken.',
  })
  availability(
    @Root() { orgId, entityId }: Entity,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Arg('consume', () => [ConsumeInput], {
      nullable: true,
      description: 'The amounts that the acquire would take. Default: 0 of each limit.',
    })
    consume: ConsumeInput[] | null | undefined,
    @Ctx() { limits }: Context,
  ) {
    return limits.availability(orgId, { entityId, resource, consume: consume ?? [] });
  }

  @FieldResolver(() => UsageSnapshotConnection, {
    description: 'Usage by this entity. Windows that begin in the range, oldest first, including the current one.',
  })
  usage(
    @Root() { orgId, entityId }: Entity,
    @Arg('window', () => UsageWindowType, { description: 'The length of the windows.' }) window: UsageWindow,
    @Arg('resource', () => String, { nullable: true, description: 'The resource. Default: all resources.' }) resource:
      | string
      | null
      | undefined,
    @Arg('from', () => DateTime, {
      nullable: true,
      description: 'Start of the range, included. Default: as far back as usage is kept.',
    })
    from: Date | null | undefined,
    @Arg('to', () => DateTime, { nullable: true, description: 'End of the range, not included. Default: now.' }) to:
      | Date
      | null
      | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { usage, cursors, work }: Context,
  ) {
    const listing = { cursors, tenant: orgId, field: `Entity.usage ${entityId} ${window} ${resource ?? ''}` };
    return paginate(page, listing, positionOf, async (limit, after) => {
      const windows = await usage.ofEntity(orgId, { entityId, resource }, { window, from, to }, work.charge);
      const start =
        after === undefined
          ? 0
          : windows.findIndex((found) => positionOf({ ...found, windowStart: new Date(found.startMs) }) > after);
      return start < 0
        ? []
        : windows
            .slice(start, start + limit)
            .map((found) => ({ ...inTokens(found), entityId, window, totalEvents: found.events }));
    });
  }
}

@Resolver(() => BucketType)
export class BucketResolver {
  @FieldResolver(() => ID, { description: globalIdText })
  id(@Root() { orgId, entityId, resource }: BucketReport) {
    return nodeId('Bucket', orgId, entityId, resource);
  }
}

const idOf = ({ entityId }: Entity): string => entityId;

/** The cursor position. It sorts like the windows. */
const positionOf = ({ windowStart, resource }: { readonly windowStart: Date; readonly resource: string }): string =>
  `${windowStart.toISOString()} ${resource}`;
