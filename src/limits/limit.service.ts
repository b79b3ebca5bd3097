import type { Clock } from '../lib/clock.js';
import { GatewayError, isOutage, refuseAny } from '../lib/errors.js';
import { newUuid, sha256 } from '../lib/id.js';
import { isWholeWithin } from '../lib/int.js';
import type { Metrics } from '../lib/metrics.js';
import type { Sealer } from '../lib/seal.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import { shardsUnder } from './buckets/convert.js';
import type { Holding } from './buckets/holding.js';
import { type BucketView, heldBy, type Taken } from './buckets/operation.js';
import type { NamespaceService } from './entities/namespace.service.js';
import {
  encodeHandle,
  type FirstLease,
  holdsSlots,
  type LeaseHandle,
  leaseContext,
  leaseMs,
  slotsUntilMs,
  sumFor,
} from './lease.js';
import { type LeaseStore, toFirst } from './lease.store.js';
import { bucketsOf } from './lease-parts.js';
import type { ResolutionService, TakePath } from './levels/resolution.service.js';
import { acquireIssues, completeLimit, consumeIssues, entityIssues, limitSet, resourceIssues } from './limit.js';
import {
  askedOf,
  type LimitStatus,
  longestWaitSecs,
  type RateLimited,
  refusal,
  standingOf,
  statusesAfter,
  statusesOf,
  violationsOf,
} from './status.js';
import type { AcquireRequest, Draft, TakeService, Taking, Target } from './take.service.js';
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

export interface Availability {
  readonly statuses: readonly LimitStatus[];
  readonly retryAfterSecs: number;
}

export interface LimitDeps {
  readonly buckets: BucketRegistry;
  readonly leases: LeaseStore;
  readonly takes: TakeService;
  readonly namespaces: NamespaceService;
  readonly resolution: ResolutionService;
  readonly refusals: Pick<RefusalService, 'note'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const defaultSlotSecs = 60;
const maxRequests = 8;

export class LimitService {
  constructor(private readonly parts: LimitDeps) {}

  /**
   * Takes all of the amounts or none, and answers only once they are durably taken. A refusal is an answer. `unchecked` is set
   * if the caller's token could not be checked: then nothing is taken, and only the policy ALLOW lets it through.
   */
  async acquire(orgId: string, request: AcquireRequest, unchecked?: GatewayError): Promise<Lease | RateLimited> {
    refuseAny(acquireIssues(request, 'input'));
    try {
      if (unchecked) throw unchecked;
      const result = await this.decide(orgId, request);
      this.parts.metrics.acquires.inc({
        outcome: result.kind === 'RateLimited' ? 'refused' : result.replayed ? 'replayed' : 'granted',
      });
      return result;
    } catch (error) {
      if (!isOutage(error) || this.parts.resolution.lastPolicy(orgId) !== 'ALLOW') throw error;
      return this.letThrough(orgId, request);
    }
  }

  /** A lease that holds nothing. What is not valid by the limits as last known is let through by no policy. */
  private letThrough(orgId: string, request: AcquireRequest): Lease {
    const { namespaces, resolution, takes, metrics } = this.parts;
    const { entityId, resource } = request;
    const namespace = namespaces.lastKnown(orgId);
    const path = namespace === undefined ? undefined : resolution.lastPath(namespace, entityId, resource);
    const draft = this.draft(orgId, namespace ?? '', 'none', request);
    if (path || request.limits) takes.judgeAll(draft, path ?? unknownPath(entityId), 'input.consume');
    metrics.acquires.inc({ outcome: 'degraded' });
    return this.leaseOf({ ...this.handleOf({ ...draft, namespace: '' }, []), degraded: true }, [], false);
  }

  /** Takes for several requests: all of them or none. */
  async acquireAll(
    orgId: string,
    requests: readonly AcquireRequest[],
  ): Promise<{ readonly kind: 'Leases'; readonly leases: readonly Lease[] } | RateLimited> {
    refuseAny(
      isWholeWithin(requests.length, 1, maxRequests)
        ? requests.flatMap((request, i) => acquireIssues(request, `input.requests.${i}`))
        : [{ path: 'input.requests', message: `must have 1 to ${maxRequests} requests` }],
    );
    const { namespaces, takes, metrics } = this.parts;
    const namespace = await namespaces.of(orgId);
    const drafts = requests.map((request) => this.draft(orgId, namespace, `l-${newUuid()}`, request));
    const asked = await Promise.all(drafts.map((draft, i) => takes.targets(draft, `input.requests.${i}.consume`)));
    const taking = await takes.take(asked.flat());
    metrics.acquires.inc({ outcome: taking.kind === 'short' ? 'refused' : 'granted' }, requests.length);
    if (taking.kind === 'short') return this.refused(taking);
    let from = 0;
    const leases = drafts.map((draft, i) => {
      const until = from + (asked[i]?.length ?? 0);
      const [targets, taken, after] = [
        taking.targets.slice(from, until),
        taking.taken.slice(from, until),
        taking.after.slice(from, until),
      ];
      from = until;
      return this.leased(draft, { kind: 'taken', targets, taken, after });
    });
    return { kind: 'Leases', leases };
  }

  /** What an acquire would find; nothing is taken. A bucket under other limits than those in force is stamped, so that what is promised is kept. */
  async availability(
    orgId: string,
    request: Pick<AcquireRequest, 'entityId' | 'resource' | 'consume'>,
  ): Promise<Availability> {
    refuseAny([
      ...entityIssues(request.entityId, 'entityId'),
      ...resourceIssues(request.resource, 'resource'),
      ...consumeIssues(request.consume, 'consume'),
    ]);
    const { buckets, namespaces, takes, clock } = this.parts;
    const targets = await takes.targets(this.draft(orgId, await namespaces.of(orgId), 'none', request), 'consume');
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
      statusesOf(standingOf(bucket, { shards: shardsUnder(found[i] ?? [], set, atMs), atMs }), amounts),
    );
    return { statuses, retryAfterSecs: longestWaitSecs(statuses) };
  }

  private async decide(orgId: string, request: AcquireRequest): Promise<Lease | RateLimited> {
    const { namespaces, takes } = this.parts;
    const namespace = await namespaces.of(orgId);
    if (request.requestId)
      return this.acquireOnce(this.draft(orgId, namespace, `r-${request.requestId}`, request), request.requestId);
    const draft = this.draft(orgId, namespace, `l-${newUuid()}`, request);
    const targets = await takes.targets(draft, 'input.consume');
    const lately = this.refusedLately(targets);
    if (lately) return lately;
    const [child, parent] = targets as [Target, Target?];
    const taking = parent ? await takes.takeBoth(child, parent) : await takes.take([child]);
    return taking.kind === 'short' ? this.refused(taking) : this.leased(draft, taking);
  }

  /** An acquire with a request id: what was granted once comes back, whatever has become of the bucket and its limits since. */
  private async acquireOnce(draft: Draft, requestId: string): Promise<Lease | RateLimited> {
    const { leases, clock } = this.parts;
    const attempt = { requestHash: hashOf(draft.request), nonce: newUuid() };
    let answer: GatewayError | RateLimited;
    try {
      const result = await this.takeOnce(draft, attempt);
      if ('handle' in result) return await this.replay(result, requestId, attempt);
      if (result.kind === 'Lease') return result;
      answer = result;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'BAD_USER_INPUT') throw error;
      answer = error;
    }
    const first = await leases.loadFirst(draft.namespace, draft.name, clock.nowMs()).catch((error: unknown) => {
      throw answer instanceof GatewayError ? answer : error;
    });
    if (first) return this.replay(first, requestId, attempt);
    if (answer instanceof GatewayError) throw answer;
    return answer;
  }

  /** Takes, and writes the lease with it; or finds the lease that was written first. */
  private async takeOnce(
    draft: Draft,
    attempt: Pick<FirstLease, 'requestHash' | 'nonce'>,
  ): Promise<Lease | RateLimited | FirstLease> {
    const { leases, takes, clock } = this.parts;
    const taking = await takes.takeWith(await takes.targets(draft, 'input.consume'), () => ({
      name: `${draft.namespace} ${draft.name}`,
      draft: (results) => leases.first({ handle: this.handleOf(draft, heldBy(results)), ...attempt }, clock.nowMs()),
    }));
    if (taking.kind === 'riderConflict') return toFirst(taking.old);
    return taking.kind === 'short' ? this.refused(taking) : this.leased(draft, taking);
  }

  private async replay(
    { handle, requestHash, nonce, isReleased }: FirstLease,
    requestId: string,
    attempt: Pick<FirstLease, 'requestHash' | 'nonce'>,
  ): Promise<Lease> {
    if (requestHash !== attempt.requestHash)
      throw new GatewayError('IDEMPOTENCY_CONFLICT', `request ${requestId} has acquired something else`);
    if (isReleased)
      throw new GatewayError(
        'LEASE_EXPIRED',
        `the lease of request ${requestId} was released: acquire with another \`requestId\``,
      );
    const buckets = bucketsOf(handle, handle.holdings);
    const found = await Promise.all(buckets.map((id) => this.parts.buckets.load(id)));
    const atMs = this.parts.clock.nowMs();
    const statuses = buckets.flatMap((id, i) =>
      statusesAfter(standingOf(id, { shards: found[i] ?? [], atMs }), sumFor(id.entityId, handle.holdings)),
    );
    const lease = this.leaseOf(handle, statuses, nonce !== attempt.nonce);
    const untilMs = slotsUntilMs(handle, found.flat());
    return untilMs === undefined ? lease : { ...lease, renewBy: new Date(untilMs) };
  }

  /** The refusal, where one of the buckets has refused the like of this a moment ago. */
  private refusedLately(targets: readonly Target[]): RateLimited | undefined {
    const { buckets, clock } = this.parts;
    const refusals = targets.map(({ bucket, set, amounts }) => buckets.cachedRefusal(bucket, set, amounts));
    if (refusals.every((shards) => shards === undefined)) return undefined;
    const atMs = clock.nowMs();
    const seen = targets.map(({ bucket, set }, i) => ({
      shards: shardsUnder(refusals[i] ?? buckets.cachedShards(bucket), set, atMs),
      atMs,
    }));
    return this.refused({ kind: 'short', targets, seen });
  }

  /** Refuses, and counts it under each limit that was short. */
  private refused({ targets, seen }: Extract<Taking, { kind: 'short' }>): RateLimited {
    const asked = askedOf(targets, seen);
    for (const { bucket, statuses } of asked) {
      const limits = violationsOf(statuses).map(({ limit }) => limit.name);
      if (limits.length > 0) this.parts.refusals.note(bucket, limits, 'refused');
    }
    return refusal(asked);
  }

  private draft(orgId: string, namespace: string, name: string, request: AcquireRequest): Draft {
    const nowMs = this.parts.clock.nowMs();
    return {
      orgId,
      namespace,
      name,
      request,
      slotUntilMs: nowMs + (request.ttlSecs ?? defaultSlotSecs) * 1000,
      expiresAtMs: nowMs + leaseMs,
    };
  }

  private handleOf(
    { orgId, namespace, name, request: { entityId, resource }, expiresAtMs }: Draft,
    held: readonly Holding[],
  ): LeaseHandle {
    return { orgId, namespace, name, entityId, resource, holdings: held, expiresAtMs, degraded: false };
  }

  private leased(draft: Draft, { targets, taken, after }: Extract<Taking, { kind: 'taken' }>): Lease {
    const statuses = targets.flatMap(({ bucket, amounts }, i) =>
      statusesAfter(standingOf(bucket, after[i] as BucketView), amounts, (taken[i] as Taken).wouldRefuse),
    );
    for (const [i, { wouldRefuse }] of taken.entries())
      if (wouldRefuse.length > 0) this.parts.refusals.note((targets[i] as Target).bucket, wouldRefuse, 'wouldRefuse');
    const held = heldBy(taken);
    const lease = this.leaseOf(this.handleOf(draft, held), statuses, false);
    return holdsSlots(held) ? { ...lease, renewBy: new Date(draft.slotUntilMs) } : lease;
  }

  private leaseOf(handle: LeaseHandle, statuses: readonly LimitStatus[], replayed: boolean): Lease {
    const { entityId, resource, degraded, expiresAtMs } = handle;
    const leaseId = this.parts.sealer.seal(leaseContext, encodeHandle(handle));
    return {
      kind: 'Lease',
      leaseId,
      entityId,
      resource,
      statuses,
      degraded,
      expiresAt: new Date(expiresAtMs),
      replayed,
    };
  }
}

const unknownPath = (entityId: string): TakePath => ({
  entityId,
  resolved: { onUnavailable: 'ALLOW', isOwn: false, levels: [] },
});

/** Of what the caller asked for, in any order of its parts. */
function hashOf({ entityId, resource, consume, limits }: AcquireRequest): string {
  const amounts = consume.map(({ limit, amount }) => [limit, amount] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(
    JSON.stringify([entityId, resource, amounts, limits ? limitSet(limits.map(completeLimit)).version : null]),
  );
}
