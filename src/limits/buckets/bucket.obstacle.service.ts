import type { Clock } from '../../lib/clock.js';
import { hourOf } from '../usage/usage.js';
import type { BucketActor } from './bucket.actor.js';
import type { BucketChanges } from './bucket.change.service.js';
import { isFenced } from './bucket.item.js';
import type { BucketStore } from './bucket.store.js';
import { closed } from './bucket-change.item.js';
import type { Lanes } from './lane.actor.js';
import type { Operation } from './operation.js';
import type { Shard } from './shard.js';

export interface ObstacleDeps {
  readonly store: BucketStore;
  readonly changes: BucketChanges;
  readonly clock: Clock;
  readonly learn: Learn;
}

/** Takes note of a shard as the store has just shown it; absent: it is gone, or nobody knows. */
export type Learn = (actor: BucketActor, index: number, shard: Shard | undefined) => void;

/** What stood in the way of a write: a change under way and an hour that was over are put aside, other limits are told. */
export type Obstacle = 'fence' | 'hour' | { readonly lane: number; readonly shard: Shard };

/** Puts aside what stands in the way of a group's write. */
export class BucketObstacles {
  constructor(private readonly parts: ObstacleDeps) {}

  async clear(lanes: Lanes, open: readonly Operation[]): Promise<Obstacle | undefined> {
    for (const [at, lane] of lanes.all.entries()) {
      for (const index of lanes.indexesOf(lane, open)) {
        const shard = lane.actor.seen(index);
        if (!shard) continue;
        if (isFenced(shard)) {
          await this.finish(lane.actor, index, shard);
          return 'fence';
        }
        if (lane.take && shard.version !== lane.take.set.version) return { lane: at, shard };
      }
    }
    return (await this.closeHours(lanes, open)) ? 'hour' : undefined;
  }

  private async finish(actor: BucketActor, index: number, shard: Shard): Promise<void> {
    const { store, changes } = this.parts;
    const first = index === 0 ? shard : (await store.loadShards([{ ...actor.id, shard: 0 }]))[0];
    if (first && isFenced(first)) await changes.finish(actor.id, first);
    actor.forget();
  }

  /** All at once: one after the other, the hours of many shards would take more attempts than there are. */
  private async closeHours(lanes: Lanes, open: readonly Operation[]): Promise<boolean> {
    const hour = hourOf(this.parts.clock.nowMs());
    const closing = lanes.all.flatMap((lane) =>
      lanes.indexesOf(lane, open).flatMap((index) => {
        const shard = lane.actor.seen(index);
        return shard && shard.hour < hour ? [this.closeHour(lane.actor, index, shard, hour)] : [];
      }),
    );
    await Promise.all(closing);
    return closing.length > 0;
  }

  private async closeHour(actor: BucketActor, index: number, shard: Shard, hour: number): Promise<void> {
    const outcome = await this.parts.store.closeHour({ ...actor.id, shard: index }, shard, hour);
    this.parts.learn(actor, index, outcome.done ? closed(shard, hour) : outcome.shard);
  }
}
