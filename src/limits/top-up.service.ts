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
import type { NamespaceService } from './entities/namespace.service.js';
import { leaseMs } from './lease.js';
import { type LeaseStore, toNote } from './lease.store.js';
import { entityIssues, mostTokens, resourceIssues } from './limit.js';
import type { BucketId } from './limiter-keys.js';
import { type LimitStatus, standingOf, statusesOf } from './status.js';

export interface TopUpRequest {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: string;
  readonly amount: number;
  /** The same operation is done once. */
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

/** Gives tokens that nobody has taken, up to what the bucket holds. */
export class TopUpService {
  constructor(private readonly parts: TopUpDeps) {}

  async topUp(orgId: string, request: TopUpRequest, actor: Actor): Promise<TopUp> {
    const { entityId, resource, limit, amount, operationId } = request;
    refuseAny([
      ...entityIssues(entityId, 'input.entityId'),
      ...resourceIssues(resource, 'input.resource'),
      ...(isWholeWithin(amount, 1, mostTokens)
        ? []
        : [{ path: 'input.amount', message: `must be a whole number from 1 to ${mostTokens}` }]),
    ]);
    const { namespaces, audit, clock } = this.parts;
    const bucket = { namespace: await namespaces.of(orgId), entityId, resource };
    const hash = sha256(JSON.stringify([entityId, resource, limit, amount]));
    const nonce = newUuid();
    for (let round = 0; round < maxRounds; round++) {
      const [shards = []] = await this.parts.buckets.loadMany([bucket]);
      const moves = topUpMoves(bucket, shards, limit, BigInt(amount) * 1000n, clock.nowMs());
      const outcome = await this.parts.buckets.apply({
        parts: [{ bucket, action: { kind: 'settle', moves, events: 0 } }],
        rider: {
          name: `${bucket.namespace} t-${operationId}`,
          draft: () =>
            this.parts.leases.once(bucket.namespace, `t-${operationId}`, hash, nonce, clock.nowMs() + leaseMs),
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
      if (outcome.kind === 'riderConflict') return this.repeated(bucket, operationId, hash, nonce, toNote(outcome.old));
      if (outcome.kind === 'done')
        return { statuses: statusesOf(standingOf(bucket, outcome.after[0] as BucketView), {}), replayed: false };
    }
    throw new Overloaded('too many are changing this bucket; nothing was given: try again');
  }

  private async repeated(
    bucket: BucketId,
    operationId: string,
    hash: string,
    nonce: string,
    made: ReturnType<typeof toNote>,
  ): Promise<TopUp> {
    if (made.requestHash !== hash)
      throw new GatewayError('IDEMPOTENCY_CONFLICT', `operation ${operationId} has given something else`);
    const [shards = []] = await this.parts.buckets.loadMany([bucket]);
    return {
      statuses: statusesOf(standingOf(bucket, { shards, atMs: this.parts.clock.nowMs() }), {}),
      replayed: made.nonce !== nonce,
    };
  }
}

/** The amount spread over the shards by what each of them misses. A bucket that does not exist is full: there is nothing to give. */
function topUpMoves(
  { entityId }: BucketId,
  shards: readonly Shard[],
  name: string,
  milli: bigint,
  nowMs: number,
): Holding[] {
  const missing = shards.map((shard, index) => {
    const limit = shard.limits.find((each) => each.name === name);
    if (!limit)
      throw badInput({ path: 'input.limit', message: `the bucket has no limit "${name}": it has ${namesOf(shard)}` });
    if (limit.isConcurrency)
      throw badInput({
        path: 'input.limit',
        message: `"${name}" counts the leases that are out: it cannot be topped up`,
      });
    return { index, shard, limit: asOf(limit, nowMs), units: ceiling(limit) - room(limit, nowMs) };
  });
  const sum = missing.reduce((total, { units }) => total + units, 0n);
  const mostFirst = missing.sort((a, b) => (a.units > b.units ? -1 : 1));
  const whole = mostFirst[0] ? unitsOf(mostFirst[0].limit, milli, shards.length) : 0n;
  // By the share of each, so that several top-ups at once do not all fill the same shard. The first gets what rounding leaves.
  const given = mostFirst.map(({ units }) => (sum === 0n ? 0n : (units * whole) / sum));
  const left = whole - given.reduce((total, units) => total + units, 0n);
  return mostFirst.flatMap(({ index, shard: { incarnation }, limit: { refillPeriodMs: period, windowEndMs } }, nth) => {
    const units = (given[nth] as bigint) + (nth === 0 ? left : 0n);
    if (units === 0n) return [];
    const out = { milli: -milli, units: -units, period, ...(windowEndMs ? { windowEndMs } : {}) };
    return [
      { entityId, shard: index, shards: shards.length, incarnation, out: { [name]: out }, isTopUp: true as const },
    ];
  });
}

const namesOf = ({ limits }: Shard): string => limits.map(({ name }) => `"${name}"`).join(', ');
