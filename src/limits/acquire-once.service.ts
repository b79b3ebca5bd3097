import type { Clock } from '../lib/clock.js';
import { GatewayError } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { type PendingAcquire, requestHash } from './acquire.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import { heldBy } from './buckets/operation.js';
import { type GrantService, handleOf, type Lease } from './grant.service.js';
import { type AcquireRecord, type OperationRecord, slotsUntilMs, sumFor } from './lease.js';
import { type LeaseStore, toAcquireRecord } from './lease.store.js';
import { bucketsOf } from './lease-operation.js';
import { type RateLimited, statusesAfter } from './status.js';
import type { TakeService } from './take.service.js';

export interface AcquireOnceDeps {
  readonly buckets: Pick<BucketRegistry, 'load'>;
  readonly leases: LeaseStore;
  readonly takes: TakeService;
  readonly grants: GrantService;
  readonly clock: Clock;
}

/** Acquires with a request id: idempotent for 24 hours. */
export class AcquireOnceService {
  constructor(private readonly deps: AcquireOnceDeps) {}

  /**
   * Takes the tokens, or returns the lease that an earlier call with the same request id has taken. The earlier lease
   * comes back even if the bucket or the limits would refuse the request now.
   */
  async acquire(pending: PendingAcquire, requestId: string): Promise<Lease | RateLimited> {
    const { leases, clock } = this.deps;
    const attempt = { requestHash: requestHash(pending.request), nonce: newUuid() };
    let refused: GatewayError | RateLimited;
    try {
      const result = await this.takeOnce(pending, attempt);
      if ('handle' in result) return await this.replay(result, requestId, attempt);
      if (result.kind === 'Lease') return result;
      refused = result;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'BAD_USER_INPUT') throw error;
      refused = error;
    }
    const earlier = await leases
      .loadAcquire(pending.namespace, pending.leaseName, clock.nowMs())
      .catch((error: unknown) => {
        throw refused instanceof GatewayError ? refused : error;
      });
    if (earlier) return this.replay(earlier, requestId, attempt);
    if (refused instanceof GatewayError) throw refused;
    return refused;
  }

  /**
   * Takes the tokens and stores the lease in one transaction. Returns the stored record if the request id was used
   * before.
   */
  private async takeOnce(
    pending: PendingAcquire,
    attempt: OperationRecord,
  ): Promise<Lease | RateLimited | AcquireRecord> {
    const { leases, takes, grants, clock } = this.deps;
    const outcome = await takes.takeWith(await takes.targets(pending, 'input.consume'), {
      name: `${pending.namespace} ${pending.leaseName}`,
      draft: (results) =>
        leases.recordAcquire({ handle: handleOf(pending, heldBy(results)), ...attempt }, clock.nowMs()),
    });
    if (outcome.kind === 'riderConflict') return toAcquireRecord(outcome.old);
    return outcome.kind === 'refused' ? grants.refused(outcome) : grants.granted(pending, outcome);
  }

  private async replay(record: AcquireRecord, requestId: string, attempt: OperationRecord): Promise<Lease> {
    const { handle } = record;
    if (record.requestHash !== attempt.requestHash)
      throw new GatewayError(
        'IDEMPOTENCY_CONFLICT',
        `requestId ${requestId} was already used with a different acquire input`,
      );
    if (record.isReleased)
      throw new GatewayError(
        'LEASE_EXPIRED',
        `the lease of requestId ${requestId} was released; acquire with a new requestId`,
      );
    const { grants, clock } = this.deps;
    const buckets = bucketsOf(handle, handle.holdings);
    const found = await Promise.all(buckets.map((id) => this.deps.buckets.load(id)));
    const atMs = clock.nowMs();
    const statuses = buckets.flatMap((id, i) =>
      statusesAfter(id, { shards: found[i] ?? [], atMs }, sumFor(id.entityId, handle.holdings)),
    );
    // The record has this call's own nonce if the first response of the database was lost: that is not a replay.
    const lease = grants.leaseOf(handle, statuses, record.nonce !== attempt.nonce);
    const untilMs = slotsUntilMs(handle, found.flat());
    return untilMs === undefined ? lease : { ...lease, renewBy: new Date(untilMs) };
  }
}
