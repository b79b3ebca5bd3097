import DataLoader from 'dataloader';
import type { Clock } from '../../lib/clock.js';
import type { EventLoopScheduler } from '../../lib/event-loop-scheduler.js';
import { GroupCommit } from '../../lib/group-commit.js';
import { randomFraction } from '../../lib/id.js';
import { Locks } from '../../lib/locks.js';
import type { Log } from '../../lib/log.js';
import { Lru } from '../../lib/lru.js';
import type { LimitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { isUsed } from './booking.js';
import { BucketChanges } from './bucket.change.service.js';
import type { Amounts } from './bucket.js';
import type { BucketStore } from './bucket.store.js';
import { CachedBucket, type WriteLoad } from './cached-bucket.service.js';
import { GroupObstacles, type UpdateCache } from './group.obstacles.service.js';
import { BucketGroup, type GroupDeps, type GroupOutcome } from './group.service.js';
import { GroupWriter } from './group.write.service.js';
import { bucketName, type Operation, type OperationOutcome, type Part } from './operation.js';
import type { Shard } from './shard.js';

const maxCachedBuckets = 50_000;
const maxPerGroup = 1000;
const maxPerRead = 100;
/** Min time between two changes of the number of shards of a bucket. */
const reshardPauseMs = 1000;

export interface RegistryOptions {
  readonly maxWaiting: number;
  readonly scheduler?: EventLoopScheduler | undefined;
  readonly log: Log;
  /** An operation that keeps losing races against other writers fails after this time. */
  readonly deadlineMs?: number;
}

const defaultDeadlineMs = 3500;

/**
 * The entry to all buckets: applies operations in groups, one group per bucket at a time, and converts buckets. The
 * locks of several buckets are taken in one order, so there are no deadlocks.
 */
export class BucketRegistry {
  private readonly cachedBuckets = new Lru<string, CachedBucket>(maxCachedBuckets);
  /** By bucket: no change of the number of shards before this monotonic time. */
  private readonly reshardPausedUntilMs = new Lru<string, number>(maxCachedBuckets);
  private readonly stamping = new Map<string, Promise<Shard[]>>();
  private readonly locks = new Locks();
  private readonly shardPreference = randomFraction();
  private readonly changes: BucketChanges;
  private readonly groupDeps: GroupDeps;
  private readonly queues: GroupCommit<Operation, GroupOutcome>;
  private readonly loader = new DataLoader((ids: readonly BucketId[]) => this.loadMany(ids), {
    cache: false,
    maxBatchSize: maxPerRead,
  });
  private sequence = 0;

  constructor(
    private readonly store: BucketStore,
    private readonly clock: Clock,
    private readonly options: RegistryOptions,
  ) {
    this.changes = new BucketChanges(store, clock);
    const updateCache: UpdateCache = (cache, index, shard) =>
      shard ? this.reshardOn(cache, cache.update(index, shard)) : cache.invalidate(index);
    const obstacles = new GroupObstacles({ store, changes: this.changes, clock, updateCache });
    this.groupDeps = {
      store,
      writer: new GroupWriter(store, clock),
      changes: this.changes,
      obstacles,
      updateCache,
      clock,
      deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
    };
    this.queues = new GroupCommit({
      scheduler: options.scheduler,
      maxGroupSize: maxPerGroup,
      maxWaiting: options.maxWaiting,
      tenant: ({ parts }) => (parts[0] as Part).bucket.namespace,
      identity: ({ rider }) => rider?.name ?? String(this.sequence++),
      enter: (_queue, { parts }) => this.locks.hold(parts.map(({ bucket }) => bucketName(bucket))),
      commit: async (_queue, group) => {
        const outcomes = await new BucketGroup(this.groupDeps, group, ({ bucket }) => this.cached(bucket)).run();
        return outcomes.map((done) => ({ done }));
      },
    });
  }

  /** Applies an operation durably, in one write with others that wait for the same buckets. */
  async apply(operation: Operation): Promise<OperationOutcome> {
    const { parts, rider } = operation;
    for (const { bucket, action } of parts)
      if (action.kind === 'take') this.cached(bucket).recordRequested(action.amounts);
    const targets = parts.map(
      ({ bucket, action }) => `${bucketName(bucket)} ${action.kind === 'take' ? action.set.version : ''}`,
    );
    // Operations with and without riders have separate queues, because only a rider shows that a retried transaction
    // was committed by the first attempt.
    const riderKind = rider ? (rider.record ? 'recorded' : 'with rider') : '';
    const outcome = await this.queues.submit(`${riderKind} ${targets.join(' ')}`, operation);
    if ('error' in outcome) throw outcome.error;
    return outcome;
  }

  /** Resolves once all queued operations have an outcome. */
  flush(): Promise<void> {
    return this.queues.flush();
  }

  /** Reads all shards of a bucket; none if it does not exist. Loads of the same tick share one read. */
  load(id: BucketId): Promise<Shard[]> {
    return this.loader.load(id);
  }

  async loadMany(ids: readonly BucketId[]): Promise<Shard[][]> {
    const found = await this.store.loadMany(ids);
    for (const [i, id] of ids.entries())
      if (this.cachedBuckets.has(bucketName(id))) this.cached(id).updateAll(found[i] ?? []);
    return found;
  }

  /**
   * Caches a bucket that is likely to be written next, or that it does not exist. If the read fails, nothing is cached:
   * the write decides.
   */
  async prefetch(id: BucketId): Promise<void> {
    const cache = this.cached(id);
    if (cache.hasShards) return;
    const first = await this.store.loadFirst(id).catch(() => 'unknown' as const);
    // What was written meanwhile is newer.
    if (cache.hasShards || first === 'unknown') return;
    if (first) cache.update(0, first);
    else cache.updateAll([]);
  }

  /** The shards that have recently refused and would refuse these amounts too. Does not read from the store. */
  cachedRefusal(id: BucketId, set: LimitSet, amounts: Amounts): readonly Shard[] | undefined {
    return this.cachedBuckets.get(bucketName(id))?.cachedRefusal(set, amounts);
  }

  /** The cached shards of a bucket. May be incomplete. */
  cachedShards(id: BucketId): Shard[] {
    return this.cachedBuckets.get(bucketName(id))?.cachedShards() ?? [];
  }

  /**
   * Stamps a bucket with a limit set, unless it has a set that was resolved from newer levels, and returns its shards.
   * Concurrent calls for the same set share one stamp.
   */
  stamp(id: BucketId, set: LimitSet, mayExpire: boolean): Promise<Shard[]> {
    const name = `${bucketName(id)} ${set.version} ${set.levels}`;
    const stamping =
      this.stamping.get(name) ?? this.stampNow(id, set, mayExpire).finally(() => this.stamping.delete(name));
    this.stamping.set(name, stamping);
    return stamping;
  }

  private async stampNow(id: BucketId, set: LimitSet, mayExpire: boolean): Promise<Shard[]> {
    const shards = await this.changes.changeUntilDone(id, ([first]) =>
      first && mayReplace(first, set) ? { kind: 'stamp', set, mayExpire } : undefined,
    );
    this.replaceCached(id, shards);
    return shards;
  }

  /** Ends a bucket: deletes all shards in one transaction and books their usage. Returns the number of shards. */
  async end(id: BucketId, isToEnd: (shards: readonly Shard[]) => boolean = () => true): Promise<number> {
    let count = 0;
    let incarnation: string | undefined;
    // Callers may make a new bucket at any moment. Ending that one too would give them its burst again.
    const isNew = ([first]: readonly Shard[]) => incarnation !== undefined && first?.incarnation !== incarnation;
    const left = await this.changes.changeUntilDone(id, (shards) => {
      if (isNew(shards) || !isToEnd(shards)) return undefined;
      count = shards.length;
      incarnation = shards[0]?.incarnation;
      return { kind: 'end' };
    });
    this.replaceCached(id, left);
    return isNew(left) ? count : 0;
  }

  /** Doubles the number of shards. False if the limits cannot be divided over so many. */
  double(id: BucketId): Promise<boolean> {
    return this.reshard(id, (count) => count * 2);
  }

  /** Halves the number of shards. */
  halve(id: BucketId): Promise<boolean> {
    return this.reshard(id, (count) => Math.ceil(count / 2));
  }

  private async reshard(id: BucketId, next: (count: number) => number): Promise<boolean> {
    const cache = this.cached(id);
    let from: number | undefined;
    const shards = await this.changes.changeUntilDone(id, (found) => {
      from ??= found.length;
      const count = next(from);
      const isPossible = count < from || (count > from && cache.mayHaveShards(count, found[0] as Shard));
      return found.length === from && isPossible ? { kind: 'shards', count } : undefined;
    });
    this.replaceCached(id, shards);
    return from !== undefined && shards.length === next(from);
  }

  /** Books the open usage of a shard. False if there is none, or the shard has changed meanwhile. */
  async bookHour(id: BucketId, index: number, shard: Shard): Promise<boolean> {
    return isUsed(shard) && (await this.store.closeHour({ ...id, shard: index }, shard, shard.hour)).done;
  }

  private cached(id: BucketId): CachedBucket {
    const name = bucketName(id);
    let cache = this.cachedBuckets.get(name);
    if (!cache) {
      cache = new CachedBucket(id, this.clock, this.shardPreference);
      this.cachedBuckets.set(name, cache);
    }
    return cache;
  }

  private replaceCached(id: BucketId, shards: readonly Shard[]): void {
    const cache = this.cached(id);
    cache.invalidate();
    cache.updateAll(shards);
  }

  /** Doubles a hot bucket and halves a quiet one, in the background. */
  private reshardOn({ id }: CachedBucket, load: WriteLoad): void {
    if (!load) return;
    const name = bucketName(id);
    const paused = this.reshardPausedUntilMs;
    if ((paused.get(name) ?? Number.NEGATIVE_INFINITY) > this.clock.monotonicMs()) return;
    // Paused until it is done: a second one meanwhile would change the number twice.
    paused.set(name, Number.POSITIVE_INFINITY);
    const { log } = this.options;
    const { entityId, resource } = id;
    const fields = { entityId, resource, load };
    (load === 'hot' ? this.double(id) : this.halve(id))
      .then(
        (isDone) => isDone && log.info({ ...fields, shardCount: this.cached(id).shardCount }, 'bucket resharded'),
        (error: unknown) => log.warn({ err: error, ...fields }, 'failed to reshard bucket'),
      )
      .finally(() => paused.set(name, this.clock.monotonicMs() + reshardPauseMs));
  }
}

/** True if the set differs from the stamped one and was not resolved from older levels. */
const mayReplace = ({ version, levels }: Shard, set: LimitSet): boolean =>
  version !== set.version && (set.levels ?? []).every((level, i) => level >= (levels[i] ?? 0));
