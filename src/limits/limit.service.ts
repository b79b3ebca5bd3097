/*
 * Rate limits: an org's clients acquire tokens for an entity (a user, a team) on a resource (an API, a model).
 *
 * An acquire, step by step:
 *   1. `limit-input.ts` checks the input. Nothing is read yet.
 *   2. `levels/resolution.service.ts` finds the limits in force from its caches: entity + resource, entity default,
 *      resource, system. The first level that has limits applies. If the entity cascades, its parent is resolved too.
 *   3. `acquire.ts` turns the request into targets, one per bucket (entity and parent), and rejects amounts that the
 *      limits can never grant (BAD_USER_INPUT).
 *   4. If a bucket refused the same or less within the last second, the refusal is repeated without a write.
 *   5. `take.service.ts` takes from the buckets with conditional writes (`buckets/`; arithmetic: `buckets/bucket.ts`).
 *      A refusal is decided there: `buckets/plan.ts` finds no room for the take in a state that a write has confirmed.
 *   6. `grant.service.ts` builds the result: a lease with its sealed id, or a RateLimited with the time to retry.
 * With a request id, `acquire-once.service.ts` stores the lease in the same transaction, so that a retry finds it.
 * While the database is unavailable, the policy ALLOW of the org grants a degraded lease that holds nothing.
 *
 * Which file for which question:
 *   lease.service.ts    adjust, release, renew (rules: lease.ts, lease-moves.ts, lease-operation.ts)
 *   lease-codec.ts      the content of a lease id
 *   top-up.service.ts   give tokens to a bucket
 *   status.ts           statuses, wait times and the text of a refusal
 *   limit.ts            limits, their units and their version
 *   caller-limits.ts    who may send limits with an acquire
 *   limiter-keys.ts     every key of the limiter table
 *
 * Reading order: this file, acquire.ts, take.service.ts, then the rooms: levels/ (limits that are stored), entities/
 * (entities and the namespace of an org), buckets/ (state, sharding, writes), usage/ (reports and housekeeping).
 */
import type { Clock } from '../lib/clock.js';
import { type GatewayError, isOutage, refuseAny } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { isWholeWithin } from '../lib/int.js';
import type { Metrics } from '../lib/metrics.js';
import { type PendingAcquire, type TakeTarget, targetsOf } from './acquire.js';
import type { AcquireOnceService } from './acquire-once.service.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import { shardsUnder } from './buckets/convert.js';
import { entityIssues } from './entities/entity-id.js';
import type { NamespaceService } from './entities/namespace.service.js';
import { type GrantService, handleOf, type Lease } from './grant.service.js';
import { leaseMs } from './lease.js';
import type { TakePath } from './levels/resolution.js';
import type { ResolutionService } from './levels/resolution.service.js';
import { type AcquireRequest, acquireIssues, consumeIssues, resourceIssues } from './limit-input.js';
import { type LimitStatus, maxRetryAfterSecs, type RateLimited, statusesOf } from './status.js';
import type { TakeService } from './take.service.js';

export interface Leases {
  readonly kind: 'Leases';
  readonly leases: readonly Lease[];
}

export interface Availability {
  readonly statuses: readonly LimitStatus[];
  readonly retryAfterSecs: number;
}

export interface LimitDeps {
  readonly buckets: BucketRegistry;
  readonly takes: TakeService;
  readonly once: AcquireOnceService;
  readonly grants: GrantService;
  readonly namespaces: NamespaceService;
  readonly resolution: ResolutionService;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const defaultSlotSecs = 60;
const maxRequests = 8;

export class LimitService {
  constructor(private readonly deps: LimitDeps) {}

  /**
   * Takes all of the amounts or none, and returns once they are durably taken. A refusal is a result, not an error.
   * `unchecked` is set if the caller's token could not be checked because of an outage: then nothing is taken, and the
   * result is a degraded lease if the policy of the org is ALLOW.
   */
  async acquire(orgId: string, request: AcquireRequest, unchecked?: GatewayError): Promise<Lease | RateLimited> {
    refuseAny(acquireIssues(request, 'input'));
    try {
      if (unchecked) throw unchecked;
      const result = await this.acquireNow(orgId, request);
      this.deps.metrics.acquires.inc({
        outcome: result.kind === 'RateLimited' ? 'refused' : result.replayed ? 'replayed' : 'granted',
      });
      return result;
    } catch (error) {
      if (!isOutage(error) || this.deps.resolution.lastPolicy(orgId) !== 'ALLOW') throw error;
      return this.degradedLease(orgId, request);
    }
  }

  /** Takes the amounts of all requests or of none, in one transaction. */
  async acquireAll(orgId: string, requests: readonly AcquireRequest[]): Promise<Leases | RateLimited> {
    refuseAny(
      isWholeWithin(requests.length, 1, maxRequests)
        ? requests.flatMap((request, i) => acquireIssues(request, `input.requests.${i}`))
        : [{ path: 'input.requests', message: `must have 1 to ${maxRequests} requests` }],
    );
    const { namespaces, takes, grants, metrics } = this.deps;
    const namespace = await namespaces.of(orgId);
    const pending = requests.map((request) => this.pending(orgId, namespace, `l-${newUuid()}`, request));
    const targets = await Promise.all(pending.map((each, i) => takes.targets(each, `input.requests.${i}.consume`)));
    const outcome = await takes.take(targets.flat());
    metrics.acquires.inc({ outcome: outcome.kind === 'refused' ? 'refused' : 'granted' }, requests.length);
    if (outcome.kind === 'refused') return grants.refused(outcome);
    let from = 0;
    const leases = pending.map((each, i) => {
      const range = [from, from + (targets[i]?.length ?? 0)] as const;
      from = range[1];
      return grants.granted(each, {
        kind: 'taken',
        targets: outcome.targets.slice(...range),
        taken: outcome.taken.slice(...range),
        after: outcome.after.slice(...range),
      });
    });
    return { kind: 'Leases', leases };
  }

  /**
   * The statuses that an acquire would find. Nothing is taken. A bucket that was last written under other limits is
   * converted to those in force, because only then an acquire is certain to find what this returns.
   */
  async availability(
    orgId: string,
    request: Pick<AcquireRequest, 'entityId' | 'resource' | 'consume'>,
  ): Promise<Availability> {
    refuseAny([
      ...entityIssues(request.entityId, 'entityId'),
      ...resourceIssues(request.resource, 'resource'),
      ...consumeIssues(request.consume, 'consume'),
    ]);
    const { buckets, namespaces, takes, clock } = this.deps;
    const targets = await takes.targets(this.pending(orgId, await namespaces.of(orgId), 'none', request), 'consume');
    const found = await Promise.all(
      targets.map(async ({ bucket, set, mayExpire }) => {
        const shards = await buckets.load(bucket);
        return shards.length === 0 || shards[0]?.version === set.version
          ? shards
          : buckets.stamp(bucket, set, mayExpire);
      }),
    );
    const atMs = clock.nowMs();
    const statuses = targets.flatMap(({ bucket, set, amounts }, i) =>
      statusesOf(bucket, { shards: shardsUnder(found[i] ?? [], set, atMs), atMs }, amounts),
    );
    return { statuses, retryAfterSecs: maxRetryAfterSecs(statuses) };
  }

  private async acquireNow(orgId: string, request: AcquireRequest): Promise<Lease | RateLimited> {
    const { namespaces, takes, once, grants } = this.deps;
    const namespace = await namespaces.of(orgId);
    const { requestId } = request;
    if (requestId) return once.acquire(this.pending(orgId, namespace, `r-${requestId}`, request), requestId);
    const pending = this.pending(orgId, namespace, `l-${newUuid()}`, request);
    const targets = await takes.targets(pending, 'input.consume');
    const recent = this.recentRefusal(targets);
    if (recent) return recent;
    const [child, parent] = targets as [TakeTarget, TakeTarget?];
    const outcome = parent ? await takes.takeBoth(child, parent) : await takes.take([child]);
    return outcome.kind === 'refused' ? grants.refused(outcome) : grants.granted(pending, outcome);
  }

  /** The refusal, if one of the buckets has refused the same or less a moment ago. Reads and writes nothing. */
  private recentRefusal(targets: readonly TakeTarget[]): RateLimited | undefined {
    const { buckets, grants, clock } = this.deps;
    const refusals = targets.map(({ bucket, set, amounts }) => buckets.cachedRefusal(bucket, set, amounts));
    if (refusals.every((shards) => shards === undefined)) return undefined;
    const atMs = clock.nowMs();
    const views = targets.map(({ bucket, set }, i) => ({
      shards: shardsUnder(refusals[i] ?? buckets.cachedShards(bucket), set, atMs),
      atMs,
    }));
    return grants.refused({ kind: 'refused', targets, views });
  }

  /** A lease that holds nothing. A request that is invalid under the limits as last cached is still rejected. */
  private degradedLease(orgId: string, request: AcquireRequest): Lease {
    const { namespaces, resolution, grants, metrics } = this.deps;
    const { entityId, resource } = request;
    const namespace = namespaces.lastCached(orgId);
    const path = namespace === undefined ? undefined : resolution.lastPath({ namespace, entityId, resource });
    const pending = this.pending(orgId, namespace ?? '', 'none', request);
    if (path || request.limits) targetsOf(pending, path ?? emptyPath(entityId), 'input.consume');
    metrics.acquires.inc({ outcome: 'degraded' });
    return grants.leaseOf({ ...handleOf({ ...pending, namespace: '' }, []), degraded: true }, [], false);
  }

  private pending(orgId: string, namespace: string, leaseName: string, request: AcquireRequest): PendingAcquire {
    const nowMs = this.deps.clock.nowMs();
    const slotUntilMs = nowMs + (request.ttlSecs ?? defaultSlotSecs) * 1000;
    return { orgId, namespace, leaseName, request, slotUntilMs, expiresAtMs: nowMs + leaseMs };
  }
}

/** Nothing is cached about the entity: no parent, no stored limits. */
const emptyPath = (entityId: string): TakePath => ({
  entityId,
  resolved: { onUnavailable: 'ALLOW', isEntityLevel: false, levels: [] },
});
