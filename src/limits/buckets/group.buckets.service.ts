import { sumOf } from './bucket.js';
import type { CachedBucket } from './cached-bucket.service.js';
import { shardsOfHolding } from './holding.js';
import type { BucketView, Operation, Part, Take } from './operation.js';
import { initialShard, isEnough, type ShardAt } from './shard.js';

/** One bucket of a group of operations. */
export interface GroupBucket {
  readonly cache: CachedBucket;
  /** The take of the first operation. All takes of a group have the same limit set. */
  readonly take?: Take;
  /** True once the group looks at all shards, because the home shard does not have enough. */
  usesAllShards: boolean;
  /** True if the bucket was read for this group. */
  isRead: boolean;
}

/** The buckets of a group of operations, and the bucket that each part of an operation is on. */
export class GroupBuckets {
  readonly all: readonly GroupBucket[];
  /** Per part: an index of `all`. */
  readonly indexOfPart: readonly number[];

  constructor({ parts }: Operation, cacheOf: (part: Part) => CachedBucket) {
    const all: GroupBucket[] = [];
    this.indexOfPart = parts.map((part) => {
      const cache = cacheOf(part);
      const found = all.findIndex((bucket) => bucket.cache === cache);
      if (found >= 0) return found;
      const take = part.action.kind === 'take' ? { take: part.action } : {};
      return all.push({ cache, usesAllShards: false, isRead: false, ...take }) - 1;
    });
    this.all = all;
  }

  ofPart(part: number): GroupBucket {
    return this.all[this.indexOfPart[part] as number] as GroupBucket;
  }

  /** The indexes of the shards that these operations need, the home shard first. */
  shardIndexes(bucket: GroupBucket, operations: readonly Operation[]): number[] {
    const { cache, usesAllShards, take } = bucket;
    const { homeShard, shardCount } = cache;
    if (take) return usesAllShards ? [homeShard, ...range(shardCount).filter((at) => at !== homeShard)] : [homeShard];
    if (usesAllShards) return range(shardCount);
    const moves = operations.flatMap(({ parts }) =>
      parts.flatMap(({ action }, i) => (action.kind === 'settle' && this.ofPart(i) === bucket ? action.moves : [])),
    );
    return [...new Set(moves.flatMap((move) => shardsOfHolding(move, shardCount)))];
  }

  /** The cached shards that these operations need. A take without any gets the shard that it would create. */
  shardsOf(bucket: GroupBucket, operations: readonly Operation[], nowMs: number): ShardAt[] {
    const found = this.shardIndexes(bucket, operations).flatMap((index) => {
      const shard = bucket.cache.shardAt(index);
      return shard ? [{ index, shard }] : [];
    });
    return found.length > 0 || !bucket.take ? found : [{ index: 0, shard: initialShard(bucket.take.set, nowMs) }];
  }

  /** True if the bucket does not have enough for the operation, even without the other operations of the group. */
  isShort(bucket: GroupBucket, operation: Operation, atMs: number): boolean {
    const shards = this.shardsOf(bucket, [operation], atMs).map(({ shard }) => shard);
    const amounts = operation.parts.flatMap(({ action }, i) =>
      action.kind === 'take' && this.ofPart(i) === bucket ? [action.amounts] : [],
    );
    return amounts.length > 0 && !isEnough(shards, sumOf(amounts), atMs);
  }

  /** A view of the bucket of each part. */
  views(operations: readonly Operation[], atMs: number): BucketView[] {
    return this.indexOfPart.map((_, part) => {
      const bucket = this.ofPart(part);
      const isPartial = bucket.cache.shardCount > 1 && !bucket.usesAllShards;
      const shards = isPartial
        ? bucket.cache.cachedShards()
        : this.shardsOf(bucket, operations, atMs).map(({ shard }) => shard);
      return { shards, atMs };
    });
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
