import { Arg, Authorized, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../../graphql/context.js';
import { orgIdFor, type Policy } from '../../identity/viewer.js';
import { OrgType } from '../../orgs/org.types.js';
import type { Org } from '../../orgs/settings.js';
import { DeleteLimitsInput, LimitConfigType, LimitLevelType, SetLimitsInput } from './limit-config.types.js';
import type { LimitConfig, LimitLevel } from './resolution.js';

@Resolver(() => LimitConfigType)
export class LimitConfigResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => LimitConfigType, {
    nullable: true,
    description: 'Sets the limits of a level and replaces all that it had. Buckets are converted at their next use.',
  })
  setLimits(
    @Arg('input', () => SetLimitsInput, { description: 'The level and its limits.' }) {
      orgId,
      ...request
    }: SetLimitsInput,
    @Ctx() { viewer, actor, limitConfigs }: Context,
  ) {
    return limitConfigs.set(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description: 'Deletes the limits of a level. False if the level had none.',
  })
  deleteLimits(
    @Arg('input', () => DeleteLimitsInput, { description: 'The level.' }) { orgId, ...request }: DeleteLimitsInput,
    @Ctx() { viewer, actor, limitConfigs }: Context,
  ) {
    return limitConfigs.delete(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @FieldResolver(() => LimitLevelType)
  level(@Root() { place }: LimitConfig) {
    return place.level;
  }

  @FieldResolver(() => String, { nullable: true })
  resource(@Root() { place }: LimitConfig) {
    return 'resource' in place ? place.resource : null;
  }

  @FieldResolver(() => String, { nullable: true })
  entityId(@Root() { place }: LimitConfig) {
    return 'entityId' in place ? place.entityId : null;
  }
}

@Resolver(() => OrgType)
export class OrgLimitResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => LimitConfigType, {
    nullable: true,
    description: 'The limits that are set at one level. Null if none are set there.',
  })
  limitConfig(
    @Root() { orgId }: Org,
    @Arg('level', () => LimitLevelType, { description: 'The level.' }) level: LimitLevel,
    @Arg('resource', () => String, {
      nullable: true,
      description: 'The resource. Required at levels RESOURCE and ENTITY.',
    })
    resource: string | null | undefined,
    @Arg('entityId', () => String, {
      nullable: true,
      description: 'The entity. Required at levels ENTITY_DEFAULT and ENTITY.',
    })
    entityId: string | null | undefined,
    @Ctx() { limitConfigs }: Context,
  ) {
    return limitConfigs.load(orgId, { level, resource, entityId });
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [LimitConfigType], {
    description: 'The limits of level SYSTEM and of each resource (level RESOURCE).',
  })
  limitConfigs(@Root() { orgId }: Org, @Ctx() { limitConfigs, loaders, work }: Context) {
    return loaders.once(`limitConfigs ${orgId}`, () => limitConfigs.listDefaults(orgId, work.charge));
  }
}
