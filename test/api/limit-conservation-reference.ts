import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { allLimits, type Shard } from '../../src/limits/buckets/shard.js';
import type { BucketId } from '../../src/limits/limiter-keys.js';
import type { TestApp } from '../support/app.js';
import type { Chance } from '../support/chance.js';
import type { ManualClock } from '../support/clock.js';
import * as op from '../support/operations.js';

export const resource = 'api';
export const entityIds = ['a', 'b'] as const;
export const names = ['tokens', 'calls', 'bytes'] as const;
/** Whole tokens, rounded down. */
export const tokens = ({ n, d }: Exact): bigint => n / (d * 1000n) - (n % (d * 1000n) < 0n ? 1n : 0n);

/** An exact number of millitokens: n / d. */
export interface Exact {
  readonly n: bigint;
  readonly d: bigint;
}
export const exact = (n: bigint, d = 1n): Exact => ({ n, d });
export function plus(a: Exact, b: Exact): Exact {
  const [n, d] = [a.n * b.d + b.n * a.d, a.d * b.d];
  let [x, y] = [n < 0n ? -n : n, d];
  while (y > 0n) [x, y] = [y, x % y];
  return x === 0n ? exact(0n) : { n: n / x, d: d / x };
}
export const isLess = (a: Exact, b: Exact): boolean => a.n * b.d < b.n * a.d;
export const lesser = (a: Exact, b: Exact): Exact => (isLess(a, b) ? a : b);
export const text = ({ n, d }: Exact): string => String(Number(n) / Number(d) / 1000);

export type Spec = Pick<Shard['limits'][number], 'burstMilli' | 'refillMilli' | 'refillPeriodMs'>;
export const specOf = ({ burstMilli, refillMilli, refillPeriodMs }: Spec): Spec => ({
  burstMilli,
  refillMilli,
  refillPeriodMs,
});
export const isSameSpec = (a: Spec, b: Spec) =>
  a.burstMilli === b.burstMilli && a.refillMilli === b.refillMilli && a.refillPeriodMs === b.refillPeriodMs;

/** The reference for one limit of a bucket: a plain token bucket in exact arithmetic, and the total of its takes. */
export class LimitReference {
  private available: Exact;
  consumed = 0n;
  /** True if the bucket was never sharded. Then it must have exactly what the reference has. */
  isExact = true;

  constructor(
    readonly name: string,
    private spec: Spec,
    private atMs: number,
  ) {
    this.available = exact(spec.burstMilli);
  }

  at(nowMs: number): Exact {
    const { burstMilli, refillMilli, refillPeriodMs } = this.spec;
    this.available = lesser(
      exact(burstMilli),
      plus(this.available, exact(BigInt(nowMs - this.atMs) * refillMilli, refillPeriodMs)),
    );
    this.atMs = nowMs;
    return this.available;
  }

  stamp(spec: Spec, nowMs: number): void {
    if (isSameSpec(spec, this.spec)) return;
    this.available = lesser(this.at(nowMs), exact(spec.burstMilli));
    this.spec = specOf(spec);
  }

  move(milli: bigint, nowMs: number): void {
    this.available = lesser(exact(this.spec.burstMilli), plus(this.at(nowMs), exact(-milli)));
    this.consumed += milli;
  }
}

/** The amount that the shards of a bucket have of a limit together. Negative in debt. */
export function availableIn(shards: readonly Shard[], name: string, nowMs: number): Exact {
  return shards.reduce((sum, shard) => {
    const limit = allLimits(shard).find((each) => each.name === name);
    if (!limit) throw new Error(`a shard without ${name}`);
    const missing = limit.fullAt - BigInt(nowMs) * limit.refillMilli;
    const ceiling = limit.burstMilli * limit.refillPeriodMs;
    return plus(sum, exact(ceiling - (missing > 0n ? missing : 0n), limit.refillPeriodMs * BigInt(shard.shardCount)));
  }, exact(0n));
}

export interface ConservationDeps {
  readonly clock: ManualClock;
  readonly gateways: readonly [TestApp, TestApp];
  readonly orgId: string;
  readonly chance: Chance;
}

/** Buckets of one org beside their reference. Every check throws if a bucket has more or less than its reference. */
export class CheckedBuckets {
  readonly trace: string[] = [];
  protected namespace = '';
  protected references = new Map<string, LimitReference>();
  protected shards = new Map<string, readonly Shard[]>();
  protected used = new Map<string, bigint>();
  protected events = new Map<string, number>();
  maxShards = 1;
  protected readonly clock: ManualClock;
  protected readonly gateways: readonly [TestApp, TestApp];
  protected readonly orgId: string;
  protected readonly chance: Chance;
  /** Reads past the caches of the gateways. */
  private readonly store: BucketStore;

  constructor({ clock, gateways, orgId, chance }: ConservationDeps) {
    this.clock = clock;
    this.gateways = gateways;
    this.orgId = orgId;
    this.chance = chance;
    this.store = new BucketStore(gateways[0].gateway.services.store, clock, 90);
  }

  protected via(): TestApp {
    return this.chance.hit(0.5) ? this.gateways[0] : this.gateways[1];
  }

  protected note(what: string, ...details: unknown[]): void {
    this.trace.push(`${this.clock.nowMs()} ${what} ${details.map((detail) => JSON.stringify(detail)).join(' ')}`);
  }

  protected idOf(entityId: string, isOwn: boolean): BucketId {
    return { namespace: this.namespace, entityId, resource, ...(isOwn ? { isOwn } : {}) };
  }

  protected bucketName = (entityId: string, isOwn: boolean): string => `${entityId}${isOwn ? ' own' : ''}`;

  /** A limit that was dropped and added again has another reference, and so has a bucket that was created again. */
  protected idOfReference(bucket: string, shard: Shard | undefined, limit: Shard['limits'][number]): string {
    return `${bucket} ${shard?.incarnation} ${limit.name} ${limit.sinceConversion ?? 0}`;
  }

  /** Reads a bucket from the store and brings the reference under the limit set that the bucket is stamped with. */
  protected async readBucket(entityId: string, isOwn: boolean): Promise<readonly Shard[]> {
    const [shards = []] = await this.store.loadMany([this.idOf(entityId, isOwn)]);
    const bucket = this.bucketName(entityId, isOwn);
    const before = this.shards.get(bucket) ?? [];
    const nowMs = this.clock.nowMs();
    const [first] = shards;
    if (first?.version.startsWith('p:')) throw new Error(`${bucket} is fenced`);
    this.maxShards = Math.max(this.maxShards, shards.length);
    const present = new Set<string>();
    for (const [i, limit] of (first ? allLimits(first) : []).entries()) {
      const referenceId = this.idOfReference(bucket, first, limit);
      present.add(referenceId);
      const reference = this.references.get(referenceId) ?? new LimitReference(limit.name, specOf(limit), nowMs);
      this.references.set(referenceId, reference);
      if (i < (first?.limits.length ?? 0)) reference.stamp(limit, nowMs);
      if (shards.length > 1) reference.isExact = false;
    }
    // A limit that left may be dropped only if it was full, and a bucket only if it was ended.
    if (first && before[0]?.incarnation === first.incarnation)
      for (const limit of allLimits(before[0])) {
        const referenceId = this.idOfReference(bucket, first, limit);
        const had = availableIn(before, limit.name, nowMs);
        if (!present.has(referenceId) && isLess(had, exact(limit.burstMilli)))
          throw new Error(`${referenceId} was dropped with ${text(had)} left`);
      }
    if (before[0] && !first) throw new Error(`${bucket} is gone`);
    this.shards.set(bucket, shards);
    return shards;
  }

  protected referenceOf(
    bucket: string,
    shards: readonly Shard[],
    name: string,
  ): readonly [string, LimitReference] | undefined {
    const limit = shards[0]?.limits.find((each) => each.name === name);
    const referenceId = limit && this.idOfReference(bucket, shards[0], limit);
    return referenceId === undefined ? undefined : [referenceId, this.references.get(referenceId) as LimitReference];
  }

  protected count(entityId: string, name: string, milli: bigint): void {
    const key = `${entityId} ${name}`;
    this.used.set(key, (this.used.get(key) ?? 0n) + milli);
  }

  /** Compares the available amounts and the totals of a bucket with the reference. */
  protected async check(entityId: string, isOwn = false): Promise<readonly Shard[]> {
    const shards = await this.readBucket(entityId, isOwn);
    const bucket = this.bucketName(entityId, isOwn);
    const nowMs = this.clock.nowMs();
    for (const limit of shards[0] ? allLimits(shards[0]) : []) {
      const referenceId = this.idOfReference(bucket, shards[0], limit);
      const reference = this.references.get(referenceId) as LimitReference;
      const has = availableIn(shards, limit.name, nowMs);
      const max = reference.at(nowMs);
      if (isLess(max, has)) throw new Error(`${referenceId} has ${text(has)}, more than ${text(max)}`);
      // Each change of the limits rounds down by less than a millitoken.
      if (reference.isExact && isLess(plus(has, exact(100n)), max))
        throw new Error(`${referenceId} has ${text(has)}, less than ${text(max)}`);
      const total = shards.reduce(
        (sum, shard) => sum + (allLimits(shard).find(({ name }) => name === limit.name)?.consumedMilli ?? 0n),
        0n,
      );
      if (total !== reference.consumed)
        throw new Error(`${referenceId} has ${total} consumed, not ${reference.consumed}`);
      if (total < 0n) throw new Error(`${referenceId} has consumed ${total}`);
    }
    if (isOwn || shards.length === 0) return shards;
    const { org } = await this.via().admin.ask(op.BucketOfDocument, { orgId: this.orgId, entityId, resource });
    const reported = org?.entity?.bucket?.limits.map(({ limit, available, totalConsumed }) => [
      limit.name,
      available,
      totalConsumed,
    ]);
    const found = shards[0]?.limits.map(({ name }) => {
      const [, reference] = this.referenceOf(bucket, shards, name) as readonly [string, LimitReference];
      return [name, Number(tokens(availableIn(shards, name, nowMs))), Number(reference.consumed / 1000n)];
    });
    expect(reported).toEqual(found);
    return shards;
  }

  /** Compares the reported usage with all recorded takes, charges and returns. */
  protected async checkUsage(entityId: string): Promise<void> {
    this.note('usage', entityId);
    const { org } = await this.via().admin.ask(op.UsageOfDocument, {
      orgId: this.orgId,
      entityId,
      window: 'MONTHLY',
      resource,
    });
    const nodes = org?.entity?.usage.nodes ?? [];
    for (const name of names) {
      const consumed = nodes.reduce(
        (sum, { counters }) => sum + (counters.find(({ limit }) => limit === name)?.consumed ?? 0),
        0,
      );
      expect([entityId, name, consumed]).toEqual([
        entityId,
        name,
        Number((this.used.get(`${entityId} ${name}`) ?? 0n) / 1000n),
      ]);
    }
    expect(nodes.reduce((sum, { totalEvents }) => sum + totalEvents, 0)).toBe(this.events.get(entityId) ?? 0);
  }
}
