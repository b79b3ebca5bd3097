import { Arg, Authorized, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { Uuid } from '../graphql/scalars.js';
import { maySeeOrg, orgIdFor, type Policy } from '../identity/viewer.js';
import { notFound } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import type { LeaseHandle } from './lease.js';
import {
  AcquireInput,
  AcquireResultType,
  AdjustLeaseInput,
  AvailabilityType,
  ConsumeInput,
  DeleteLimitsInput,
  LeaseAdjustmentType,
  LimitConfigType,
  LimitLevelType,
  SetLimitsInput,
} from './limit.types.js';
import type { LimitConfig, LimitLevel } from './resolution.js';

/** A lease of an org the caller may not see is as good as forged. */
function leaseFor({ viewer, leases }: Context, leaseId: string): LeaseHandle {
  const handle = leases.open(leaseId);
  if (!handle || !maySeeOrg(viewer, handle.orgId)) throw notFound('lease');
  return handle;
}

@Resolver()
export class LimitResolver {
  @Authorized<Policy>('limits:use')
  @Query(() => AvailabilityType, { description: 'What an acquire would find, changing nothing.' })
  availability(
    @Arg('orgId', () => Uuid, { nullable: true }) orgId: string | null | undefined,
    @Arg('entityId', () => String) entityId: string,
    @Arg('resource', () => String) resource: string,
    @Arg('consume', () => [ConsumeInput], { nullable: true, description: 'Absent: 0 of each limit.' }) consume: ConsumeInput[] | null | undefined,
    @Ctx() { viewer, limits }: Context,
  ) {
    return limits.availability(orgIdFor(viewer, orgId), { entityId, resource, consume: consume ?? [] });
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => AcquireResultType, { nullable: true, description: 'Takes tokens, or says when to try again.' })
  async acquire(@Arg('input', () => AcquireInput) input: AcquireInput, @Ctx() { viewer, limits, limited }: Context) {
    const result = await limits.acquire(orgIdFor(viewer, input.orgId, 'input.orgId'), input);
    if (result.kind === 'RateLimited') limited(result);
    return result;
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => LeaseAdjustmentType, { nullable: true, description: 'Corrects what a lease took, once the true cost is known.' })
  adjustLease(@Arg('input', () => AdjustLeaseInput) { leaseId, adjust, idempotencyKey }: AdjustLeaseInput, @Ctx() context: Context) {
    return context.leases.adjust(leaseId, leaseFor(context, leaseId), adjust, idempotencyKey ?? newUuid());
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => LeaseAdjustmentType, { nullable: true, description: 'Gives back all that the lease took; applies once.' })
  releaseLease(@Arg('leaseId', () => String) leaseId: string, @Ctx() context: Context) {
    return context.leases.release(leaseId, leaseFor(context, leaseId));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => LimitConfigType, { nullable: true, description: 'Sets the limits of a level, in place of all that it had.' })
  setLimits(@Arg('input', () => SetLimitsInput) { orgId, ...request }: SetLimitsInput, @Ctx() { viewer, actor, limitConfigs }: Context) {
    return limitConfigs.set(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, { nullable: true, description: 'False where there was nothing.' })
  deleteLimits(@Arg('input', () => DeleteLimitsInput) { orgId, ...request }: DeleteLimitsInput, @Ctx() { viewer, actor, limitConfigs }: Context) {
    return limitConfigs.delete(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description: 'Deletes every limiter item of the org. Leases that are out are then unknown; the audit trail stays.',
  })
  purgeLimiter(@Arg('orgId', () => Uuid, { nullable: true }) orgId: string | null | undefined, @Ctx() { viewer, actor, namespaces }: Context) {
    return namespaces.purge(orgIdFor(viewer, orgId), actor);
  }
}

@Resolver(() => LimitConfigType)
export class LimitConfigResolver {
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
  @FieldResolver(() => LimitConfigType, { nullable: true })
  limitConfig(
    @Root() { orgId }: Org,
    @Arg('level', () => LimitLevelType) level: LimitLevel,
    @Arg('resource', () => String, { nullable: true }) resource: string | null | undefined,
    @Arg('entityId', () => String, { nullable: true }) entityId: string | null | undefined,
    @Ctx() { limitConfigs }: Context,
  ) {
    return limitConfigs.load(orgId, { level, resource, entityId });
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [LimitConfigType], { description: "The system's and every resource's." })
  limitConfigs(@Root() { orgId }: Org, @Ctx() { limitConfigs, loaders, work }: Context) {
    return loaders.once(`limitConfigs ${orgId}`, () => limitConfigs.listDefaults(orgId, work.charge));
  }
}
