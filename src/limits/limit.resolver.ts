import { Arg, Authorized, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { Uuid } from '../graphql/scalars.js';
import { maySeeOrg, orgIdFor, type Policy, uncheckedError } from '../identity/viewer.js';
import { notFound } from '../lib/errors.js';
import {
  AcquireAllInput,
  type AcquireAllRequestInput,
  AcquireAllResultType,
  AcquireInput,
  AcquireResultType,
} from './acquire.types.js';
import { requireMayBringLimits } from './caller-limits.js';
import type { LeaseHandle } from './lease.js';
import { AdjustLeaseInput, LeaseAdjustmentType, LeaseRenewalType } from './lease.types.js';
import { AvailabilityType, ConsumeInput, orgIdText } from './limit.types.js';
import { TopUpInput, TopUpType } from './top-up.types.js';

/**
 * Opens a lease id. A lease of another org gets the same error as a forged id. A caller whose token could not be
 * checked because of an outage may use only degraded leases, which hold nothing.
 */
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
  @Query(() => AvailabilityType, { description: 'The result that an acquire would have now. Nothing is taken.' })
  availability(
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: orgIdText,
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
    @Arg('input', () => AcquireInput, { description: 'The tokens to take and the entity to take them for.' })
    input: AcquireInput,
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
    description: 'Extends the time for which a lease holds its slots of concurrency limits.',
  })
  renewLease(
    @Arg('leaseId', () => String, { description: 'The `leaseId` of a Lease that holds a slot.' }) leaseId: string,
    @Arg('ttlSecs', () => Int, {
      defaultValue: 60,
      description: 'Seconds from now, 1–86,400. The lease never holds slots after it expires.',
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
    description: 'Corrects the amounts of a lease when the true cost is known. Idempotent with `idempotencyKey`.',
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
    description: 'Gives back all tokens that the lease holds. Idempotent.',
  })
  releaseLease(
    @Arg('leaseId', () => String, { description: 'The `leaseId` of a Lease that has not expired.' }) leaseId: string,
    @Ctx() context: Context,
  ) {
    return context.leases.release(leaseId, leaseFor(context, leaseId));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description:
      'Deletes all limits, entities, buckets, leases and usage of the org. Existing leases become NOT_FOUND. The ' +
      'audit trail stays. False if there was nothing.',
  })
  purgeLimiter(
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: orgIdText,
    })
    orgId: string | null | undefined,
    @Ctx() { viewer, actor, namespaces }: Context,
  ) {
    return namespaces.purge(orgIdFor(viewer, orgId), actor);
  }
}
