import type { Clock } from '../../lib/clock.js';
import { Overloaded } from '../../lib/errors.js';
import { randomFraction } from '../../lib/id.js';
import { sleep } from '../../lib/timers.js';
import type { BucketChanges } from './bucket.change.service.js';
import type { BucketStore } from './bucket.store.js';
import { maySpeculate } from './bucket-create.item.js';
import type { CachedBucket } from './cached-bucket.service.js';
import { type GroupBucket, GroupBuckets } from './group.buckets.service.js';
import {
  bucketsToRead,
  bucketsToSplit,
  bucketToHalve,
  maxOperationsPerTransaction,
  uncertainShortages,
} from './group.checks.service.js';
import type { GroupObstacles, UpdateCache } from './group.obstacles.service.js';
import { type SelectedOperation, selectOperations } from './group.selection.service.js';
import type { GroupWriteResult, GroupWriter } from './group.write.service.js';
import { bucketLabel, type Operation, type OperationOutcome, type Part } from './operation.js';
import { Plan } from './plan.js';
import type { Shard } from './shard.js';

const maxAttempts = 50;
/** Far longer than a write to DynamoDB takes, and far shorter than the periods of most limits. */
const maxStateAgeMs = 100;
const attemptsWithoutPause = 3;
const maxPauseMs = 20;

export interface GroupDeps {
  readonly store: BucketStore;
  readonly writer: GroupWriter;
  readonly changes: BucketChanges;
  readonly obstacles: GroupObstacles;
  readonly updateCache: UpdateCache;
  readonly clock: Clock;
  /** An operation that keeps losing races against other writers fails after this time. */
  readonly deadlineMs: number;
}

export type GroupOutcome = OperationOutcome | { readonly error: unknown };

/**
 * A group of operations on the same buckets: plans, writes and updates the cache, until each operation has an outcome.
 */
export class BucketGroup {
  private readonly buckets: GroupBuckets;
  private readonly isPlain: boolean;
  private readonly outcomes = new Map<Operation, GroupOutcome>();
  /** The time at which the cached shards were equal to the stored ones. Undefined: they may differ. */
  private exactAtMs: number | undefined;

  constructor(
    private readonly deps: GroupDeps,
    private readonly group: readonly Operation[],
    cacheOf: (part: Part) => CachedBucket,
  ) {
    const [first] = group as [Operation];
    this.buckets = new GroupBuckets(first, cacheOf);
    this.isPlain = first.parts.length === 1 && !first.rider;
  }

  /** The outcome of each operation, in order. */
  async run(): Promise<GroupOutcome[]> {
    const { clock, deadlineMs } = this.deps;
    const untilMs = clock.monotonicMs() + deadlineMs;
    try {
      for (let attempt = 0; this.open().length > 0; attempt++) {
        if (clock.monotonicMs() > untilMs || attempt > maxAttempts) throw this.tooManyWriters();
        if (attempt > attemptsWithoutPause) await sleep(randomFraction() * maxPauseMs);
        await this.attempt();
      }
    } catch (error) {
      for (const operation of this.open()) this.outcomes.set(operation, { error });
    }
    return this.group.map((operation) => this.outcomes.get(operation) as GroupOutcome);
  }

  private tooManyWriters(): Overloaded {
    const { id } = (this.buckets.all[0] as GroupBucket).cache;
    return new Overloaded(`${bucketLabel(id)} is being updated by too many writers; nothing was changed; retry`);
  }

  private open(): Operation[] {
    return this.group.filter((operation) => !this.outcomes.has(operation));
  }

  private async attempt(): Promise<void> {
    await this.readMissing();
    const obstacle = await this.deps.obstacles.clear(this.buckets, this.open());
    if (obstacle === 'fence') this.exactAtMs = undefined;
    else if (obstacle && obstacle !== 'hour') this.endAsStale(obstacle.bucket, obstacle.shard);
    if (obstacle) return;
    const nowMs = this.deps.clock.nowMs();
    // If the cache is exact, the plan is made as of the time of the read. What refills after it is left to later
    // operations. Otherwise two gateways would race for each token that refills into an empty bucket.
    const atMs = this.exactAtMs ?? nowMs;
    const plans = this.plansAt(atMs);
    const { selected, short } = selectOperations(this.buckets, plans, this.candidates());
    if (this.mustReadMore(selected) || (await this.halveLargest(plans, selected))) return;
    if (this.exactAtMs !== undefined) {
      if (this.useAllShards(this.bucketsToWiden(short, atMs))) return;
      this.refuse(short, atMs);
    }
    if (selected.length > 0) await this.write(plans, selected, nowMs);
    // By the cache none of them fits. The store still decides about the first one, because the cache may be stale.
    else if (this.exactAtMs === undefined) await this.force(short[0] as Operation, nowMs);
  }

  /**
   * Reads the buckets whose needed shards are not cached. A settle always needs them. A take does not, if the bucket is
   * known to be absent, or if the take is plain and can speculate that the bucket is full.
   */
  private async readMissing(): Promise<void> {
    const missing = this.buckets.all.filter((bucket) => {
      const { cache, take, usesAllShards } = bucket;
      const maySpeculateOn = this.isPlain && take && !bucket.isRead && maySpeculate(take.set);
      const isUnneeded = take && !usesAllShards && cache.homeShard === 0 && (cache.isAbsent || maySpeculateOn);
      return !isUnneeded && !this.buckets.shardIndexes(bucket, this.open()).every((index) => cache.shardAt(index));
    });
    if (missing.length === 0) return;
    const found = await this.deps.store.loadMany(missing.map(({ cache }) => cache.id));
    for (const [i, bucket] of missing.entries()) {
      bucket.cache.updateAll(found[i] ?? []);
      bucket.isRead = true;
    }
    if (this.buckets.all.length === 1) this.exactAtMs = this.deps.clock.nowMs();
  }

  private endAsStale(bucket: number, shard: Shard): void {
    const part = this.buckets.indexOfPart.indexOf(bucket);
    for (const operation of this.open()) this.outcomes.set(operation, { kind: 'stale', part, shard });
  }

  private plansAt(atMs: number): Plan[] {
    return this.buckets.all.map((bucket) => new Plan(this.buckets.shardsOf(bucket, this.open(), atMs), atMs));
  }

  /** The open operations that fit into one write. */
  private candidates(): Operation[] {
    const open = this.open();
    if (this.isPlain) return open;
    const shards = this.buckets.all.reduce((sum, bucket) => sum + this.buckets.shardIndexes(bucket, open).length, 0);
    return open.slice(0, maxOperationsPerTransaction(shards, this.itemsPerRider()));
  }

  private itemsPerRider(): number {
    return this.group[0]?.rider?.record ? 2 : 1;
  }

  /** True if the plan cannot be trusted until more shards are read. The next attempt reads them. */
  private mustReadMore(selected: readonly SelectedOperation[]): boolean {
    const unread = bucketsToRead(this.buckets, selected);
    for (const { cache } of unread) cache.invalidate();
    return (
      unread.length > 0 ||
      this.useAllShards(bucketsToSplit(this.buckets, selected)) ||
      this.useAllShards(uncertainShortages(this.buckets, selected, this.exactAtMs !== undefined))
    );
  }

  private useAllShards(buckets: readonly GroupBucket[]): boolean {
    for (const bucket of buckets) {
      bucket.usesAllShards = true;
      bucket.cache.invalidate();
    }
    if (buckets.length > 0) this.exactAtMs = undefined;
    return buckets.length > 0;
  }

  /** Buckets whose home shard does not have enough, and whose other shards were not considered yet. */
  private bucketsToWiden(short: readonly Operation[], atMs: number): GroupBucket[] {
    return this.buckets.all.filter(
      (bucket) =>
        !bucket.usesAllShards &&
        bucket.cache.shardCount > 1 &&
        short.some((operation) => this.buckets.isShort(bucket, operation, atMs)),
    );
  }

  /** Halves the bucket with the most shards if several buckets need more items than one transaction can write. */
  private async halveLargest(plans: readonly Plan[], selected: readonly SelectedOperation[]): Promise<boolean> {
    if (this.isPlain) return false;
    const riderItems = selected.filter(({ operation }) => operation.rider).length * this.itemsPerRider();
    const largest = bucketToHalve(this.buckets, plans, riderItems);
    if (!largest) return false;
    const { cache } = largest;
    const first = cache.shardAt(0);
    if (first)
      await this.deps.changes.make(cache.id, first, { kind: 'shards', count: Math.ceil(first.shardCount / 2) });
    cache.invalidate();
    return true;
  }

  /** Refuses operations that do not fit on their own. One that is short only beside the others stays open. */
  private refuse(short: readonly Operation[], atMs: number): void {
    const views = this.buckets.views(short, atMs);
    for (const operation of short) {
      const refusing = this.buckets.all.filter((bucket) => this.buckets.isShort(bucket, operation, atMs));
      for (const bucket of refusing) bucket.cache.cacheRefusal(this.buckets.shardsOf(bucket, [operation], atMs));
      if (refusing.length > 0) this.outcomes.set(operation, { kind: 'refused', views });
    }
  }

  private async write(plans: readonly Plan[], selected: readonly SelectedOperation[], nowMs: number): Promise<void> {
    const { buckets, isPlain } = this;
    this.apply(await this.deps.writer.write({ buckets, isPlain, plans, selected }, nowMs), nowMs);
  }

  /** Sends an operation that does not seem to fit, to the home shards. The conditions of the write decide. */
  private async force(operation: Operation, nowMs: number): Promise<void> {
    const { buckets, isPlain } = this;
    const plans = this.plansAt(nowMs);
    const results = operation.parts.map(({ action }, i) => {
      const plan = plans[buckets.indexOfPart[i] as number] as Plan;
      if (action.kind === 'settle') return plan.settle(action);
      const forced = plan.force(action);
      plan.take(action, forced);
      return forced;
    });
    const selected = [{ operation, results }];
    const result = await this.deps.writer.write({ buckets, isPlain, plans, selected }, nowMs);
    this.apply({ ...result, isExact: true }, nowMs);
    if (result.outcomes.size > 0) return;
    // A bucket whose condition held has more than the cache says, so it is read again.
    for (const [at, { cache }] of buckets.all.entries())
      if (!result.updates.some(({ bucket }) => bucket === at)) cache.invalidate();
  }

  /**
   * The time to judge a state by that a failed write has returned: the begin of the write. If the write took long,
   * other gateways may have taken what refilled meanwhile. At its begin the bucket would seem to be in debt.
   */
  private timeOfState(writtenAtMs: number): number {
    return Math.max(writtenAtMs, this.deps.clock.nowMs() - maxStateAgeMs);
  }

  private apply({ isExact, updates, outcomes }: GroupWriteResult, atMs: number): void {
    for (const { bucket, index, shard } of updates) {
      const { cache } = this.buckets.all[bucket] as GroupBucket;
      if (shard !== 'absent') this.deps.updateCache(cache, index, shard);
      else if (index === 0) cache.updateAll([]);
      else cache.invalidate(index);
    }
    for (const [operation, outcome] of outcomes) this.outcomes.set(operation, outcome);
    this.exactAtMs = isExact ? this.timeOfState(atMs) : undefined;
    for (const { cache, take, usesAllShards } of this.buckets.all) {
      if (!take) cache.invalidateRefusal();
      if (usesAllShards) cache.moveHome(atMs);
    }
  }
}
