import type { Sealer } from '../lib/seal.js';
import type { PendingAcquire, RefusedOutcome, TakenOutcome, TakeTarget } from './acquire.js';
import type { Holding } from './buckets/holding.js';
import { type BucketView, heldBy, type Taken } from './buckets/operation.js';
import { holdsSlots, type LeaseHandle, leaseContext } from './lease.js';
import { encodeHandle } from './lease-codec.js';
import {
  type LimitStatus,
  type RateLimited,
  refusal,
  statusesAfter,
  statusesByBucket,
  violationsOf,
} from './status.js';
import type { RefusalService } from './usage/refusal.service.js';

export interface Lease {
  readonly kind: 'Lease';
  readonly leaseId: string;
  readonly entityId: string;
  readonly resource: string;
  readonly statuses: readonly LimitStatus[];
  readonly degraded: boolean;
  readonly expiresAt: Date;
  readonly renewBy?: Date;
  readonly replayed: boolean;
}

export interface GrantDeps {
  readonly refusals: Pick<RefusalService, 'note'>;
  readonly sealer: Sealer;
}

/** Builds the results of acquires, leases and refusals, and counts the refusals for usage reports. */
export class GrantService {
  constructor(private readonly deps: GrantDeps) {}

  /** The lease of an acquire that was granted. Counts the shadow limits that would have refused it. */
  granted(pending: PendingAcquire, { targets, taken, after }: TakenOutcome): Lease {
    const statuses = targets.flatMap(({ bucket, amounts }, i) =>
      statusesAfter(bucket, after[i] as BucketView, amounts, (taken[i] as Taken).wouldRefuse),
    );
    for (const [i, { wouldRefuse }] of taken.entries())
      if (wouldRefuse.length > 0)
        this.deps.refusals.note((targets[i] as TakeTarget).bucket, wouldRefuse, 'wouldRefuse');
    const holdings = heldBy(taken);
    const lease = this.leaseOf(handleOf(pending, holdings), statuses, false);
    return holdsSlots(holdings) ? { ...lease, renewBy: new Date(pending.slotUntilMs) } : lease;
  }

  /** The refusal of an acquire. Counts it under each limit that was short. */
  refused({ targets, views }: RefusedOutcome): RateLimited {
    const buckets = statusesByBucket(targets, views);
    for (const { bucket, statuses } of buckets) {
      const limits = violationsOf(statuses).map(({ limit }) => limit.name);
      if (limits.length > 0) this.deps.refusals.note(bucket, limits, 'refused');
    }
    return refusal(buckets);
  }

  leaseOf(handle: LeaseHandle, statuses: readonly LimitStatus[], replayed: boolean): Lease {
    const { entityId, resource, degraded, expiresAtMs } = handle;
    const leaseId = this.deps.sealer.seal(leaseContext, encodeHandle(handle));
    const expiresAt = new Date(expiresAtMs);
    return { kind: 'Lease', leaseId, entityId, resource, statuses, degraded, expiresAt, replayed };
  }
}

export function handleOf(pending: PendingAcquire, holdings: readonly Holding[]): LeaseHandle {
  const { orgId, namespace, leaseName: name, request, expiresAtMs } = pending;
  const { entityId, resource } = request;
  return { orgId, namespace, name, entityId, resource, holdings, expiresAtMs, degraded: false };
}
