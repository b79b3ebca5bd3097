import type { Clock } from '../lib/clock.js';
import { GatewayError, isOutage, refuseAny } from '../lib/errors.js';
import { newUuid, sha256 } from '../lib/id.js';
import type { Metrics } from '../lib/metrics.js';
import type { Sealer } from '../lib/seal.js';
import { restamp } from './buckets/bucket.js';
import type { BucketStore } from './buckets/bucket.store.js';
import { type Shard, unbornShard } from './buckets/shard.js';
import type { TakeService, Target } from './buckets/take.service.js';
import type { NamespaceService } from './entities/namespace.service.js';
import { encodeHandle, type FirstLease, type Holding, type LeaseHandle, leaseContext, leaseMs, sumFor } from './lease.js';
import type { LeaseStore } from './lease.store.js';
import type { ResolutionService, TakePath } from './levels/resolution.service.js';
import {
  type Consumption,
  completeLimit,
  consumeIssues,
  entityIssues,
  type LimitRequest,
  type LimitSet,
  limitSet,
  limitsIssues,
  resourceIssues,
} from './limit.js';
import { type LimitStatus, longestWaitSecs, type Standing, statusesAfter, statusesOf } from './status.js';

export interface AcquireRequest {
  readonly entityId: string;
  readonly resource: string;
  readonly consume: readonly Consumption[];
  readonly limits?: readonly LimitRequest[] | null | undefined;
  readonly requestId?: string | null | undefined;
}

export interface Lease {
  readonly kind: 'Lease';
  readonly leaseId: string;
  readonly entityId: string;
  readonly resource: string;
  readonly statuses: readonly LimitStatus[];
  readonly degraded: boolean;
  readonly expiresAt: Date;
  readonly replayed: boolean;
}

export interface RateLimited {
  readonly kind: 'RateLimited';
  readonly message: string;
  readonly statuses: readonly LimitStatus[];
  readonly violations: readonly LimitStatus[];
  readonly retryAfterSecs: number;
}

export interface Availability {
  readonly statuses: readonly LimitStatus[];
  readonly retryAfterSecs: number;
}

export interface LimitParts {
  readonly buckets: BucketStore;
  readonly leases: LeaseStore;
  readonly takes: TakeService;
  readonly namespaces: NamespaceService;
  readonly resolution: ResolutionService;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** One attempt of an acquire with a request id. */
type Attempt = Pick<FirstLease, 'requestHash' | 'nonce'> & { readonly name: string };

export class LimitService {
  constructor(private readonly parts: LimitParts) {}

  /**
   * Takes all of the amounts or none, and answers only once they are durably taken. A refusal is an answer. `unchecked` is set
   * if the caller's token could not be checked: then nothing is taken, and only the policy ALLOW lets it through.
   */
  async acquire(orgId: string, request: AcquireRequest, unchecked?: GatewayError): Promise<Lease | RateLimited> {
    refuseAny([
      ...entityIssues(request.entityId, 'input.entityId'),
      ...resourceIssues(request.resource, 'input.resource'),
      ...(request.consume.length === 0 ? [{ path: 'input.consume', message: 'must name at least one limit' }] : []),
      ...consumeIssues(request.consume, 'input.consume'),
      ...(request.limits ? limitsIssues(request.limits, 'input.limits') : []),
    ]);
    try {
      if (unchecked) throw unchecked;
      const result = await this.decide(orgId, request);
      this.parts.metrics.acquires.inc({ outcome: result.kind === 'RateLimited' ? 'refused' : result.replayed ? 'replayed' : 'granted' });
      return result;
    } catch (error) {
      if (!isOutage(error) || this.parts.resolution.lastPolicy(orgId) !== 'ALLOW') throw error;
      return this.letThrough(orgId, request);
    }
  }

  /** A lease that holds nothing. What is not valid by the limits as last known is let through by no policy. */
  private letThrough(orgId: string, request: AcquireRequest): Lease {
    const { namespaces, resolution, metrics } = this.parts;
    const { entityId, resource } = request;
    const namespace = namespaces.lastKnown(orgId);
    const path = namespace === undefined ? undefined : resolution.lastPath(namespace, entityId, resource);
    const unknown: TakePath = { entityId, resolved: { onUnavailable: 'ALLOW', isOwn: false }, follows: [] };
    if (path || request.limits) this.judge(orgId, namespace ?? '', request, path ?? unknown, 'input.consume');
    metrics.acquires.inc({ outcome: 'degraded' });
    return this.leaseOf({ ...this.handleOf(orgId, '', request, 'none', []), degraded: true }, [], false);
  }

  /** What an acquire would find; nothing is changed. */
  async availability(orgId: string, request: Pick<AcquireRequest, 'entityId' | 'resource' | 'consume'>): Promise<Availability> {
    refuseAny([...entityIssues(request.entityId, 'entityId'), ...resourceIssues(request.resource, 'resource'), ...consumeIssues(request.consume, 'consume')]);
    const targets = await this.targetsOf(orgId, await this.parts.namespaces.of(orgId), request, 'consume');
    const found = await Promise.all(targets.map(({ id }) => this.parts.buckets.load(id)));
    const atMs = this.parts.clock.nowMs();
    const statuses = targets.flatMap(({ id, set, amounts }, i) => statusesOf({ ...id, shards: inForce(found[i] ?? [], set, atMs), atMs }, amounts));
    return { statuses, retryAfterSecs: longestWaitSecs(statuses) };
  }

  private async decide(orgId: string, request: AcquireRequest): Promise<Lease | RateLimited> {
    const { namespaces, takes } = this.parts;
    const namespace = await namespaces.of(orgId);
    if (request.requestId) return this.acquireOnce(orgId, namespace, request, request.requestId);
    const targets = await this.targetsOf(orgId, namespace, request, 'input.consume');
    const lately = this.refusedLately(targets);
    if (lately) return refusal(targets, lately);
    const [child, parent] = targets as [Target, Target?];
    const taking = parent ? await takes.takeBoth(child, parent) : await takes.take([child]);
    if (taking.kind === 'short') return refusal(targets, taking.standings);
    return this.leaseOf(this.handleOf(orgId, namespace, request, `l-${newUuid()}`, targets), statusesTaken(targets, taking.standings), false);
  }

  /** An acquire with a request id: what was granted once comes back, whatever has become of the bucket and its limits since. */
  private async acquireOnce(orgId: string, namespace: string, request: AcquireRequest, requestId: string): Promise<Lease | RateLimited> {
    const { leases, clock } = this.parts;
    const name = `r-${requestId}`;
    const attempt = { name, requestHash: hashOf(request), nonce: newUuid() };
    let refused: GatewayError | RateLimited;
    try {
      const result = await this.takeOnce(orgId, namespace, request, attempt);
      if ('handle' in result) return await this.replay(result, requestId, attempt);
      if (result.kind === 'Lease') return result;
      refused = result;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'BAD_USER_INPUT') throw error;
      refused = error;
    }
    const first = await leases.loadFirst(namespace, name, clock.nowMs()).catch((error: unknown) => {
      throw refused instanceof GatewayError ? refused : error;
    });
    if (first) return this.replay(first, requestId, attempt);
    if (refused instanceof GatewayError) throw refused;
    return refused;
  }

  /** Takes, and writes the lease with it; or finds the lease that was written first. */
  private async takeOnce(orgId: string, namespace: string, request: AcquireRequest, attempt: Attempt): Promise<Lease | RateLimited | FirstLease> {
    const { leases, takes, clock } = this.parts;
    const { name, requestHash, nonce } = attempt;
    const targets = await this.targetsOf(orgId, namespace, request, 'input.consume');
    let handle: LeaseHandle | undefined;
    const taking = await takes.takeWith(targets, () => {
      handle = this.handleOf(orgId, namespace, request, name, targets);
      return { name: `${namespace} ${name}`, write: leases.first({ handle, requestHash, nonce }, clock.nowMs()) };
    });
    if (taking.kind === 'replay') return taking.first;
    if (taking.kind === 'short') return refusal(targets, taking.standings);
    return this.leaseOf(handle as LeaseHandle, statusesTaken(targets, taking.standings), false);
  }

  private async replay({ handle, requestHash, nonce }: FirstLease, requestId: string, attempt: Attempt): Promise<Lease> {
    if (requestHash !== attempt.requestHash) throw new GatewayError('IDEMPOTENCY_CONFLICT', `request ${requestId} has acquired something else`);
    const { namespace, resource, holdings } = handle;
    const entities = [...new Set(holdings.map(({ entityId }) => entityId))];
    const found = await Promise.all(entities.map((entityId) => this.parts.buckets.load({ namespace, entityId, resource })));
    const atMs = this.parts.clock.nowMs();
    const taken = holdings.map(({ amounts }) => amounts);
    const statuses = entities.flatMap((entityId, i) => statusesAfter({ entityId, resource, shards: found[i] ?? [], atMs }, sumFor(entityId, holdings, taken)));
    return this.leaseOf(handle, statuses, nonce !== attempt.nonce);
  }

  private async targetsOf(orgId: string, namespace: string, request: Omit<AcquireRequest, 'requestId'>, at: string): Promise<Target[]> {
    const { resolution } = this.parts;
    const { entityId, resource } = request;
    const path = await resolution.path(orgId, namespace, entityId, resource);
    try {
      return this.judge(orgId, namespace, request, path, at);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // Limits that were changed elsewhere may allow it: nobody is told "never" by what is only remembered.
      const fresh = await resolution.pathFresh(orgId, namespace, entityId, resource).catch(() => {
        // Without the store its refusal stands: what is not valid is let through by no policy.
        throw error;
      });
      return this.judge(orgId, namespace, request, fresh, at);
    }
  }

  private judge(
    orgId: string,
    namespace: string,
    { entityId, resource, consume, limits }: Omit<AcquireRequest, 'requestId'>,
    { resolved, parent }: TakePath,
    at: string,
  ): Target[] {
    const { takes } = this.parts;
    const given = limits ? { given: limitSet(limits.map(completeLimit)) } : {};
    const child = takes.target({ orgId, id: { namespace, entityId, resource }, consume, isParent: false, ...given }, resolved, at);
    if (!parent) return [child];
    // A parent's bucket is shared by all its children: what one of them brings along counts there only where nothing is set.
    const id = { namespace, entityId: parent.entityId, resource };
    return [child, takes.target({ orgId, id, consume, isParent: true, ...(parent.resolved.set ? {} : given) }, parent.resolved, at)];
  }

  /** How all the buckets stand, where one has refused the like of this a moment ago. */
  private refusedLately(targets: readonly Target[]): Standing[] | undefined {
    const { buckets, clock } = this.parts;
    const refusals = targets.map(({ id, set, amounts }) => buckets.recallRefusal(id, set, amounts));
    if (refusals.every((refused) => refused === undefined)) return undefined;
    const atMs = clock.nowMs();
    return targets.map(({ id, set }, i) => {
      const seen = refusals[i]?.map(({ shard }) => shard) ?? buckets.recallShards(id).filter((shard) => shard !== undefined);
      return { ...id, shards: inForce(seen, set, atMs), atMs };
    });
  }

  private handleOf(orgId: string, namespace: string, { entityId, resource }: AcquireRequest, name: string, targets: readonly Target[]): LeaseHandle {
    const expiresAtMs = this.parts.clock.nowMs() + leaseMs;
    return { orgId, namespace, name, entityId, resource, holdings: targets.flatMap(holdingsOf), expiresAtMs, degraded: false };
  }

  private leaseOf(handle: LeaseHandle, statuses: readonly LimitStatus[], replayed: boolean): Lease {
    const { entityId, resource, degraded, expiresAtMs } = handle;
    const leaseId = this.parts.sealer.seal(leaseContext, encodeHandle(handle));
    return { kind: 'Lease', leaseId, entityId, resource, statuses, degraded, expiresAt: new Date(expiresAtMs), replayed };
  }
}

/** The shards as they are under these limits: as a first acquire would make them, or a re-stamp. */
function inForce(found: readonly Shard[], set: LimitSet, nowMs: number): Shard[] {
  if (found.length === 0) return [unbornShard(set, nowMs)];
  return found.map((shard) =>
    shard.version === set.version ? shard : { ...shard, version: set.version, limits: restamp(shard.limits, set.specs, nowMs, shard.shardCount) },
  );
}

/** What a target has out; its first shard can be charged with any limit of the bucket. */
const holdingsOf = ({ id: { entityId }, amounts, placement }: Target): Holding[] => {
  const none = Object.fromEntries(Object.keys(amounts).map((name) => [name, 0n]));
  return placement.map(({ shard, amounts: taken }, i) => ({ entityId, shard, amounts: i === 0 ? { ...none, ...taken } : taken }));
};

const statusesTaken = (targets: readonly Target[], standings: readonly Standing[]): LimitStatus[] =>
  targets.flatMap(({ amounts }, i) => statusesAfter(standings[i] as Standing, amounts));

function refusal(targets: readonly Target[], standings: readonly Standing[]): RateLimited {
  const statuses = targets.flatMap(({ amounts, id }) => {
    const standing = standings.find(({ entityId }) => entityId === id.entityId);
    return standing ? statusesOf(standing, amounts) : [];
  });
  const violations = statuses.filter(({ exceeded }) => exceeded);
  const retryAfterSecs = longestWaitSecs(statuses);
  const named = violations.map(({ entityId, limit, available, requested }) =>
    available < 0 ? `"${limit.name}" of "${entityId}" is ${-available} in debt` : `"${limit.name}" of "${entityId}" has ${available} of ${requested} wanted`,
  );
  const message = `refused on "${targets[0]?.id.resource}": ${named.join(', ')}; try again in ${retryAfterSecs} s`;
  return { kind: 'RateLimited', message, statuses, violations, retryAfterSecs };
}

/** Of what the caller asked for, in any order of its parts. */
function hashOf({ entityId, resource, consume, limits }: AcquireRequest): string {
  const amounts = consume.map(({ limit, amount }) => [limit, amount] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(JSON.stringify([entityId, resource, amounts, limits ? limitSet(limits.map(completeLimit)).version : null]));
}
