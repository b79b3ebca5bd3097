import type { AuditService } from '../audit/audit.service.js';
import type { Actor } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, Overloaded, refuseAny } from '../lib/errors.js';
import { newUuid, sha256 } from '../lib/id.js';
import { isWholeWithin } from '../lib/int.js';
import { asOf, ceiling, room, unitsOf } from './buckets/bucket.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import type { Holding } from './buckets/holding.js';
import type { BucketView } from './buckets/operation.js';
import type { Shard } from './buckets/shard.js';
import { entityIssues } from './entities/entity-id.js';
import type { NamespaceService } from './entities/namespace.service.js';
import { leaseMs, type OperationRecord } from './lease.js';
import { type LeaseStore, toOperationRecord } from './lease.store.js';
import { maxTokens, resourceIssues } from './limit-input.js';
import type { BucketId } from './limiter-keys.js';
import { type LimitStatus, statusesOf } from './status.js';

export interface TopUpRequest {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: string;
  readonly amount: number;
  /** The same operation is applied once. */
  readonly operationId: string;
}

export interface TopUp {
  readonly statuses: readonly LimitStatus[];
  readonly replayed: boolean;
}

export interface TopUpDeps {
  readonly buckets: BucketRegistry;
  readonly leases: LeaseStore;
  readonly namespaces: NamespaceService;
  readonly audit: AuditService;
  readonly clock: Clock;
}

const maxRounds = 30;

/** Gives tokens to a bucket, up to its burst. */
export class TopUpService {
  constructor(private readonly deps: TopUpDeps) {}

  /** Applied once per operation id. A retry returns the statuses as they are now. */
  async topUp(orgId: string, request: TopUpRequest, actor: Actor): Promise<TopUp> {
    const { entityId, resource, limit, amount, operationId } = request;
    refuseAny([
      ...entityIssues(entityId, 'input.entityId'),
      ...resourceIssues(resource, 'input.resource'),
      ...(isWholeWithin(amount, 1, maxTokens)
        ? []
        : [{ path: 'input.amount', message: `must be a whole number from 1 to ${maxTokens}` }]),
    ]);
    const { buckets, leases, namespaces, audit, clock } = this.deps;
    const bucket = { namespace: await namespaces.of(orgId), entityId, resource };
    const attempt = { requestHash: sha256(JSON.stringify([entityId, resource, limit, amount])), nonce: newUuid() };
    for (let round = 0; round < maxRounds; round++) {
      const [shards = []] = await buckets.loadMany([bucket]);
      const moves = topUpMoves(bucket, shards, { name: limit, milli: BigInt(amount) * 1000n }, clock.nowMs());
      const outcome = await buckets.apply({
        parts: [{ bucket, action: { kind: 'settle', moves, events: 0 } }],
        rider: {
          name: `${bucket.namespace} t-${operationId}`,
          draft: () => leases.recordOperation(bucket.namespace, `t-${operationId}`, attempt, clock.nowMs() + leaseMs),
          record: audit.draft({
            orgId,
            actor,
            action: 'limit_topped_up',
            entityId,
            resource,
            details: { limit, amount, operation: operationId },
          }),
        },
      });
      if (outcome.kind === 'riderConflict')
        return this.replay(bucket, operationId, toOperationRecord(outcome.old), attempt);
      if (outcome.kind === 'done')
        return { statuses: statusesOf(bucket, outcome.after[0] as BucketView, {}), replayed: false };
    }
    throw new Overloaded('too many concurrent changes of this bucket; nothing was given; retry');
  }

  private async replay(
    bucket: BucketId,
    operationId: string,
    record: OperationRecord,
    attempt: OperationRecord,
  ): Promise<TopUp> {
    if (record.requestHash !== attempt.requestHash)
      throw new GatewayError(
        'IDEMPOTENCY_CONFLICT',
        `operationId ${operationId} was already used with a different top-up`,
      );
    const [shards = []] = await this.deps.buckets.loadMany([bucket]);
    return {
      statuses: statusesOf(bucket, { shards, atMs: this.deps.clock.nowMs() }, {}),
      replayed: record.nonce !== attempt.nonce,
    };
  }
}

/**
 * The moves that spread the amount over the shards in proportion to what each is missing. By shares, because otherwise
 * several concurrent top-ups would all fill the same shard. A bucket that does not exist is full, so there is nothing
 * to give.
 */
function topUpMoves(
  { entityId }: BucketId,
  shards: readonly Shard[],
  { name, milli }: { readonly name: string; readonly milli: bigint },
  nowMs: number,
): Holding[] {
  const missing = shards.map((shard, index) => {
    const limit = limitToTopUp(shard, name);
    return { index, shard, limit: asOf(limit, nowMs), units: ceiling(limit) - room(limit, nowMs) };
  });
  const sum = missing.reduce((total, { units }) => total + units, 0n);
  const emptiestFirst = missing.sort((a, b) => (a.units > b.units ? -1 : 1));
  const whole = emptiestFirst[0] ? unitsOf(emptiestFirst[0].limit, milli, shards.length) : 0n;
  const shares = emptiestFirst.map(({ units }) => (sum === 0n ? 0n : (units * whole) / sum));
  // The emptiest shard gets the remainder of the rounding.
  const remainder = whole - shares.reduce((total, units) => total + units, 0n);
  return emptiestFirst.flatMap(
    ({ index, shard: { incarnation }, limit: { refillPeriodMs: period, windowEndMs } }, nth) => {
      const units = (shares[nth] as bigint) + (nth === 0 ? remainder : 0n);
      if (units === 0n) return [];
      const out = { milli: -milli, units: -units, period, ...(windowEndMs ? { windowEndMs } : {}) };
      return [
        { entityId, shard: index, shards: shards.length, incarnation, out: { [name]: out }, isTopUp: true as const },
      ];
    },
  );
}

function limitToTopUp({ limits }: Shard, name: string): Shard['limits'][number] {
  const limit = limits.find((each) => each.name === name);
  const names = limits.map((each) => `"${each.name}"`).join(', ');
  if (!limit)
    throw badInput({ path: 'input.limit', message: `the bucket has no limit "${name}"; its limits are ${names}` });
  if (limit.isConcurrency)
    throw badInput({ path: 'input.limit', message: `"${name}" is a concurrency limit and cannot be topped up` });
  return limit;
}
