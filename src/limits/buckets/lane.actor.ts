import type { BucketActor } from './bucket.actor.js';
import { sumOf } from './bucket.js';
import type { Operation, Part, Sight } from './operation.js';
import { type Take, targetsOf } from './plan.js';
import { isEnough, type ShardAt, unbornShard } from './shard.js';

/** One bucket of a group of operations. */
export interface Lane {
  readonly actor: BucketActor;
  /** Judged by the limits that all takes of the group were judged by. */
  readonly take?: Take;
  /** Whether all shards are looked at, because the preferred one does not have enough. */
  isWide: boolean;
  /** Whether it was read for this group. */
  isRead: boolean;
}

/** The buckets of a group of operations, and which of them each part of an operation is on. */
export class Lanes {
  readonly all: readonly Lane[];
  readonly ofPart: readonly number[];

  constructor({ parts }: Operation, actorOf: (part: Part) => BucketActor) {
    const lanes: Lane[] = [];
    this.ofPart = parts.map((part) => {
      const actor = actorOf(part);
      const known = lanes.findIndex((lane) => lane.actor === actor);
      if (known >= 0) return known;
      return (
        lanes.push({ actor, isWide: false, isRead: false, ...(part.act.kind === 'take' ? { take: part.act } : {}) }) - 1
      );
    });
    this.all = lanes;
  }

  on(part: number): Lane {
    return this.all[this.ofPart[part] as number] as Lane;
  }

  /** The shards of a lane that are looked at for these operations, the preferred one first. */
  indexesOf(lane: Lane, operations: readonly Operation[]): number[] {
    const { actor, isWide, take } = lane;
    if (take)
      return isWide ? [actor.home, ...range(actor.shardCount).filter((index) => index !== actor.home)] : [actor.home];
    const moves = operations.flatMap(({ parts }) =>
      parts.flatMap(({ act }, i) => (act.kind === 'settle' && this.on(i) === lane ? act.moves : [])),
    );
    return isWide ? range(actor.shardCount) : [...new Set(moves.flatMap((move) => targetsOf(move, actor.shardCount)))];
  }

  /** A bucket that nobody has seen is as its first acquire would make it. */
  shardsOf(lane: Lane, operations: readonly Operation[], nowMs: number): ShardAt[] {
    const found = this.indexesOf(lane, operations).flatMap((index) => {
      const shard = lane.actor.seen(index);
      return shard ? [{ index, shard }] : [];
    });
    return found.length > 0 || !lane.take ? found : [{ index: 0, shard: unbornShard(lane.take.set, nowMs) }];
  }

  /** Whether a lane does not have enough for an operation, though it were the only one. */
  isShort(lane: Lane, operation: Operation, atMs: number): boolean {
    const shards = this.shardsOf(lane, [operation], atMs).map(({ shard }) => shard);
    const taken = operation.parts.flatMap(({ act }, i) =>
      act.kind === 'take' && this.on(i) === lane ? [act.amounts] : [],
    );
    return taken.length > 0 && !isEnough(shards, sumOf(taken), atMs);
  }

  /** How the bucket of each part stands. */
  sights(operations: readonly Operation[], atMs: number): Sight[] {
    return this.ofPart.map((_, part) => {
      const lane = this.on(part);
      const isPartial = lane.actor.shardCount > 1 && !lane.isWide;
      return {
        shards: isPartial ? lane.actor.known() : this.shardsOf(lane, operations, atMs).map(({ shard }) => shard),
        atMs,
      };
    });
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
