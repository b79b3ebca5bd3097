import { Arg, Authorized, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { Uuid } from '../graphql/scalars.js';
import { maySeeOrg, orgIdFor, type Policy, uncheckedError } from '../identity/viewer.js';
import { notFound } from '../lib/errors.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import { requireMayBringLimits } from './brought-limits.js';
import type { LeaseHandle } from './lease.js';
import {
  AcquireAllInput,
  type AcquireAllRequestInput,
  AcquireAllResultType,
  AcquireInput,
  AcquireResultType,
  AdjustLeaseInput,
  LeaseAdjustmentType,
  LeaseRenewalType,
  TopUpInput,
  TopUpType,
} from './lease.types.js';
import type { LimitConfig, LimitLevel } from './levels/resolution.js';
import {
  AvailabilityType,
  ConsumeInput,
  DeleteLimitsInput,
  LimitConfigType,
  LimitLevelType,
  SetLimitsInput,
} from './limit.types.js';

/** A lease of an org the caller may not see is as good as forged. A token that could not be checked reaches only leases that hold nothing. */
function leaseFor({ viewer, leases, resolution }: Context, leaseId: string): LeaseHandle {
  const unchecked = uncheckedError(viewer);
  if (unchecked && resolution.lastPolicy(orgIdFor(viewer, undefined)) !== 'ALLOW') throw unchecked;
  const handle = leases.open(leaseId);
  if (!handle || !maySeeOrg(viewer, handle.orgId)) throw notFound('lease');
  if (unchecked && !handle.degraded) throw unchecked;
  return handle;
}

@Resolver()
export class LimitResolver {
  @Authorized<Policy>('limits:use')
  @Query(() => AvailabilityType, { description: 'The answer that an acquire would get now. Nothing is taken.' })
  availability(
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
    })
    orgId: string | null | undefined,
    @Arg('entityId', () => String, { description: 'The id of the entity.' }) entityId: string,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Arg('consume', () => [ConsumeInput], {
      nullable: true,
      description: 'The amounts that the acquire would take. Default: 0 of each limit.',
    })
    consume: ConsumeInput[] | null | undefined,
    @Ctx() { viewer, limits }: Context,
  ) {
    return limits.availability(orgIdFor(viewer, orgId), { entityId, resource, consume: consume ?? [] });
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => AcquireResultType, {
    nullable: true,
    description: 'Takes tokens from the bucket of an entity, or says when to retry. Idempotent with `requestId`.',
  })
  async acquire(
    @Arg('input', () => AcquireInput, { description: 'What to take, and for whom.' }) input: AcquireInput,
    @Ctx() { viewer, limits, tenants, limited }: Context,
  ) {
    const orgId = orgIdFor(viewer, input.orgId, 'input.orgId');
    await requireMayBringLimits(viewer, input.limits, () => tenants.org(orgId));
    const result = await limits.acquire(orgId, input, uncheckedError(viewer));
    const { entityId } = input;
    limited({
      entityId,
      statuses: result.statuses,
      ...(result.kind === 'RateLimited' ? { retryAfterSecs: result.retryAfterSecs } : {}),
    });
    return result;
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => AcquireAllResultType, {
    nullable: true,
    description: 'Takes tokens for several requests, all or none. A retry takes again: there is no `requestId`.',
  })
  async acquireAll(
    @Arg('input', () => AcquireAllInput, { description: 'The requests.' }) { orgId, requests }: AcquireAllInput,
    @Ctx() { viewer, limits, limited }: Context,
  ) {
    const result = await limits.acquireAll(orgIdFor(viewer, orgId, 'input.orgId'), requests);
    if (result.kind === 'RateLimited')
      limited({ ...result, entityId: (requests[0] as AcquireAllRequestInput).entityId });
    return result;
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => LeaseRenewalType, {
    nullable: true,
    description: 'Keeps the slots of concurrency limits that a lease holds for another while.',
  })
  renewLease(
    @Arg('leaseId', () => String, { description: 'The `leaseId` of a Lease that holds a slot.' }) leaseId: string,
    @Arg('ttlSecs', () => Int, {
      defaultValue: 60,
      description: 'For how long from now, in seconds, 1–86,400; at most until the lease expires.',
    })
    ttlSecs: number,
    @Ctx() context: Context,
  ) {
    return context.leases.renew(leaseId, leaseFor(context, leaseId), ttlSecs);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => TopUpType, {
    nullable: true,
    description: 'Gives tokens to a bucket, up to its burst. Idempotent with `operationId`.',
  })
  topUp(
    @Arg('input', () => TopUpInput, { description: 'The bucket and the amount.' }) { orgId, ...request }: TopUpInput,
    @Ctx() { viewer, actor, topUps }: Context,
  ) {
    return topUps.topUp(orgIdFor(viewer, orgId, 'input.orgId'), request, actor);
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => LeaseAdjustmentType, {
    nullable: true,
    description: 'Corrects what a lease has taken when the true cost is known. Idempotent with `idempotencyKey`.',
  })
  adjustLease(
    @Arg('input', () => AdjustLeaseInput, { description: 'The lease and the correction.' }) {
      leaseId,
      adjust,
      idempotencyKey,
    }: AdjustLeaseInput,
    @Ctx() context: Context,
  ) {
    return context.leases.adjust(leaseId, leaseFor(context, leaseId), adjust, idempotencyKey ?? undefined);
  }

  @Authorized<Policy>('limits:use')
  @Mutation(() => LeaseAdjustmentType, {
    nullable: true,
    description: 'Gives back all tokens that the lease has out. Idempotent.',
  })
  releaseLease(
    @Arg('leaseId', () => String, { description: 'The `leaseId` of a Lease that has not expired.' }) leaseId: string,
    @Ctx() context: Context,
  ) {
    return context.leases.release(leaseId, leaseFor(context, leaseId));
  }

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

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description:
      'Deletes all limits, entities, buckets, leases and usage of the org. Leases that are out become NOT_FOUND. The audit trail stays. False if there was nothing.',
  })
  purgeLimiter(
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
    })
    orgId: string | null | undefined,
    @Ctx() { viewer, actor, namespaces }: Context,
  ) {
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
