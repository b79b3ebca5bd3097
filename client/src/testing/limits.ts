import type { Clock } from '../clock.js';
import type { Amounts, Limit, LimitInput, LimitStatus } from '../types.js';
import { refuse } from './refusal.js';

interface Consume {
  readonly limit: string;
  readonly amount: number;
}

export interface AcquireInput {
  readonly entityId: string;
  readonly resource: string;
  readonly consume: readonly Consume[];
  readonly limits?: readonly LimitInput[];
  readonly requestId?: string;
  readonly ttlSecs?: number;
}

interface BucketLimit {
  readonly limit: Limit;
  available: number;
  atMs: number;
}

interface TestLease {
  readonly leaseId: string;
  readonly bucket: Map<string, BucketLimit>;
  held: Record<string, number>;
  isReleased: boolean;
}

const leaseLifeMs = 24 * 3_600_000;
const defaultTtlSecs = 60;
/** Hides the rounding of fractions of a token. */
const epsilon = 1e-6;

/** Rate and concurrency limits in memory, by resource. Calendar windows and parents are left out. */
export class TestLimits {
  readonly #clock: Clock;
  readonly #limits = new Map<string, readonly LimitInput[]>();
  readonly #buckets = new Map<string, Map<string, BucketLimit>>();
  readonly #leases = new Map<string, TestLease>();
  readonly #keys = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets the limits of each entity on a resource. A resource without limits grants everything. */
  set(resource: string, limits: readonly LimitInput[]): void {
    this.#limits.set(resource, limits);
    for (const key of this.#buckets.keys()) if (key.endsWith(`/${resource}`)) this.#buckets.delete(key);
  }

  available(entityId: string, resource: string): Amounts {
    const bucket = this.#bucket(entityId, resource);
    return Object.fromEntries([...bucket.values()].map((entry) => [entry.limit.name, this.#refill(entry)]));
  }

  acquire({ entityId, resource, consume, limits, requestId, ttlSecs = defaultTtlSecs }: AcquireInput): object {
    const leaseId = `lease-${requestId ?? crypto.randomUUID()}`;
    const known = this.#leases.get(leaseId);
    if (known?.isReleased) refuse('LEASE_EXPIRED', 'the lease of this requestId was released');
    const bucket = known?.bucket ?? this.#bucket(entityId, resource, limits);
    const amounts = known ? known.held : Object.fromEntries(consume.map(({ limit, amount }) => [limit, amount]));
    const statuses = this.#statuses({ entityId, resource }, bucket, known ? {} : amounts);
    const retryAfterSecs = Math.max(0, ...statuses.map((status) => status.retryAfterSecs));
    if (statuses.some((status) => status.exceeded))
      return { __typename: 'RateLimited', message: `rate limited on "${resource}"`, statuses, retryAfterSecs };
    if (!known) {
      for (const [name, amount] of Object.entries(amounts)) this.#move(bucket, name, -amount);
      this.#leases.set(leaseId, { leaseId, bucket, held: { ...amounts }, isReleased: false });
    }
    const nowMs = this.#clock.nowMs();
    const hasSlot = [...bucket.values()].some(({ limit }) => limit.kind === 'CONCURRENCY' && amounts[limit.name]);
    return {
      __typename: 'Lease',
      leaseId,
      entityId,
      resource,
      statuses: this.#statuses({ entityId, resource }, bucket, {}),
      degraded: false,
      replayed: known !== undefined,
      expiresAt: new Date(nowMs + leaseLifeMs).toISOString(),
      renewBy: hasSlot ? new Date(nowMs + ttlSecs * 1000).toISOString() : null,
    };
  }

  adjust(leaseId: string, changes: readonly Consume[], key?: string): object {
    const lease = this.#lease(leaseId);
    if (key !== undefined && this.#keys.has(key)) return { leaseId };
    if (key !== undefined) this.#keys.add(key);
    for (const { limit, amount } of changes) {
      const given = Math.max(amount, -(lease.held[limit] ?? 0));
      this.#move(lease.bucket, limit, -given);
      // A charge without a key is final: a release does not give it back.
      if (key !== undefined) lease.held[limit] = (lease.held[limit] ?? 0) + given;
    }
    return { leaseId };
  }

  release(leaseId: string): object {
    const lease = this.#leases.get(leaseId) ?? refuse('NOT_FOUND', 'lease not found');
    if (!lease.isReleased)
      for (const [name, amount] of Object.entries(lease.held)) this.#move(lease.bucket, name, amount);
    lease.isReleased = true;
    return { leaseId };
  }

  renew(leaseId: string, ttlSecs: number): object {
    this.#lease(leaseId);
    return { leaseId, renewBy: new Date(this.#clock.nowMs() + ttlSecs * 1000).toISOString() };
  }

  #lease(leaseId: string): TestLease {
    const lease = this.#leases.get(leaseId) ?? refuse('NOT_FOUND', 'lease not found');
    return lease.isReleased ? refuse('LEASE_EXPIRED', 'the lease was released') : lease;
  }

  #bucket(entityId: string, resource: string, limits = this.#limits.get(resource) ?? []): Map<string, BucketLimit> {
    const key = `${entityId}/${resource}`;
    const atMs = this.#clock.nowMs();
    const bucket =
      this.#buckets.get(key) ??
      new Map(limits.map((input) => [input.name, { limit: complete(input), available: complete(input).burst, atMs }]));
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #refill(entry: BucketLimit): number {
    const nowMs = this.#clock.nowMs();
    const { kind, burst, refillAmount, refillPeriodSecs } = entry.limit;
    if (kind === 'RATE')
      entry.available = Math.min(
        burst,
        entry.available + ((nowMs - entry.atMs) * refillAmount) / (refillPeriodSecs * 1000),
      );
    entry.atMs = nowMs;
    return Math.floor(entry.available + epsilon);
  }

  #move(bucket: Map<string, BucketLimit>, name: string, amount: number): void {
    const entry = bucket.get(name);
    if (!entry) return;
    this.#refill(entry);
    entry.available = Math.min(entry.limit.burst, entry.available + amount);
  }

  #statuses(
    of: { readonly entityId: string; readonly resource: string },
    bucket: Map<string, BucketLimit>,
    amounts: Amounts,
  ): readonly LimitStatus[] {
    return [...bucket.values()].map((entry) => {
      const { limit } = entry;
      const requested = amounts[limit.name] ?? 0;
      if (requested > limit.burst)
        refuse(
          'BAD_USER_INPUT',
          `input.consume: "${limit.name}" can never grant more than its burst of ${limit.burst}`,
        );
      const available = this.#refill(entry);
      const missing = Math.max(0, requested - entry.available - epsilon);
      const perMs = limit.refillAmount / (limit.refillPeriodSecs * 1000);
      const waitMs = limit.kind === 'RATE' ? Math.ceil(missing / perMs) : 1000;
      const exceeded = missing > 0;
      return { ...of, limit, requested, available, exceeded, retryAfterSecs: exceeded ? waitMs / 1000 : 0 };
    });
  }
}

function complete({ name, capacity, ...rest }: LimitInput): Limit {
  const { burst = capacity, refillAmount = capacity, refillPeriodSecs = 60, kind = 'RATE', window = null } = rest;
  return { name, capacity, burst, refillAmount, refillPeriodSecs, kind, window };
}
