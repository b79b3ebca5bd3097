import type { Clock } from '../../lib/clock.js';
import { hourOf } from '../usage/usage.js';
import { withHourClosed } from './booking.js';
import type { BucketChanges } from './bucket.change.service.js';
import { isFenced } from './bucket.item.js';
import type { BucketStore } from './bucket.store.js';
import type { CachedBucket } from './cached-bucket.service.js';
import type { GroupBuckets } from './group.buckets.service.js';
import type { Operation } from './operation.js';
import type { Shard } from './shard.js';

export interface ObstacleDeps {
  readonly store: BucketStore;
  readonly changes: BucketChanges;
  readonly clock: Clock;
  readonly updateCache: UpdateCache;
}

/** Caches a shard that was just read or written. Undefined: it does not exist, or its state is unknown. */
export type UpdateCache = (cache: CachedBucket, index: number, shard: Shard | undefined) => void;

/** What prevented a write. A fence and a past hour have been cleared; another limit set is reported with its bucket. */
export type Obstacle = 'fence' | 'hour' | { readonly bucket: number; readonly shard: Shard };

/** Clears what prevents a group from writing. */
export class GroupObstacles {
  constructor(private readonly deps: ObstacleDeps) {}

  /** Looks for an obstacle and clears it if possible. Undefined: there is none. */
  async clear(buckets: GroupBuckets, open: readonly Operation[]): Promise<Obstacle | undefined> {
    for (const [at, bucket] of buckets.all.entries()) {
      const { cache, take } = bucket;
      for (const index of buckets.shardIndexes(bucket, open)) {
        const shard = cache.shardAt(index);
        if (!shard) continue;
        if (isFenced(shard)) {
          await this.finishConversion(cache, index, shard);
          return 'fence';
        }
        if (take && shard.version !== take.set.version) return { bucket: at, shard };
      }
    }
    return (await this.closeHours(buckets, open)) ? 'hour' : undefined;
  }

  private async finishConversion(cache: CachedBucket, index: number, shard: Shard): Promise<void> {
    const { store, changes } = this.deps;
    const first = index === 0 ? shard : (await store.loadShards([{ ...cache.id, shard: 0 }]))[0];
    if (first && isFenced(first)) await changes.finish(cache.id, first);
    cache.invalidate();
  }

  /** All hours in parallel: one per attempt would exceed the max number of attempts for a bucket of many shards. */
  private async closeHours(buckets: GroupBuckets, open: readonly Operation[]): Promise<boolean> {
    const hour = hourOf(this.deps.clock.nowMs());
    const closing = buckets.all.flatMap((bucket) =>
      buckets.shardIndexes(bucket, open).flatMap((index) => {
        const shard = bucket.cache.shardAt(index);
        return shard && shard.hour < hour ? [this.closeHour(bucket.cache, index, shard, hour)] : [];
      }),
    );
    await Promise.all(closing);
    return closing.length > 0;
  }

  private async closeHour(cache: CachedBucket, index: number, shard: Shard, hour: number): Promise<void> {
    const result = await this.deps.store.closeHour({ ...cache.id, shard: index }, shard, hour);
    this.deps.updateCache(cache, index, result.done ? withHourClosed(shard, hour) : result.shard);
  }
}
