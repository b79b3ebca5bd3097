import type { Clock } from '../../lib/clock.js';
import type { Log } from '../../lib/log.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { isIdle, isUsed } from '../buckets/shard.js';
import type { NamespaceStore } from '../entities/namespace.store.js';
import { hourOf } from './usage.js';

const dayMs = 86_400_000;
/** A gateway may write to a namespace for seconds after it was purged: so long it is looked through again. */
const purgeMs = 3_600_000;
const bucketsAtOnce = 50;

export interface LimitRollupParts {
  readonly buckets: BucketStore;
  readonly namespaces: NamespaceStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly worker: string;
}

export class LimitRollup {
  constructor(private readonly parts: LimitRollupParts) {}

  /**
   * Once a day: books the hours of buckets that went idle, before they expire, and removes sharded buckets that nobody
   * uses any more, which do not. Returns how many it touched; undefined where another worker has done it.
   */
  async tidyBuckets(): Promise<number | undefined> {
    const { namespaces, clock, worker, log } = this.parts;
    if (!(await namespaces.takeTask('tidy-buckets', worker, clock.nowMs(), dayMs))) return undefined;
    const { live } = await namespaces.listAll();
    let touched = 0;
    for (const namespace of live) {
      try {
        touched += await this.tidyNamespace(namespace);
      } catch (error) {
        // One org's trouble must not keep the others waiting for another day.
        log.error({ err: error, namespace }, 'the buckets of a namespace could not be tidied');
      }
    }
    return touched;
  }

  /** Deletes the items of namespaces that were given up; returns how many. */
  async purge(): Promise<number> {
    const { namespaces, clock } = this.parts;
    const { purged } = await namespaces.listAll();
    let deleted = 0;
    for (const { namespace, sinceMs } of purged) {
      let found: number;
      do {
        found = await namespaces.deleteSome(namespace);
        deleted += found;
      } while (found > 0);
      if (clock.nowMs() - sinceMs > purgeMs) await namespaces.forgetPurged(namespace);
    }
    return deleted;
  }

  private async tidyNamespace(namespace: string): Promise<number> {
    const { buckets, clock } = this.parts;
    const ids = await buckets.listOfNamespace(namespace);
    let touched = 0;
    for (let i = 0; i < ids.length; i += bucketsAtOnce) {
      const some = ids.slice(i, i + bucketsAtOnce);
      const found = await buckets.loadMany(some);
      const nowMs = clock.nowMs();
      for (const [at, shards] of found.entries()) {
        const id = some[at] as (typeof some)[number];
        if (shards.length > 1 && shards.every((shard) => isIdle(shard, nowMs))) {
          if (await buckets.end(id, shards)) touched++;
          continue;
        }
        for (const [shard, state] of shards.entries()) {
          if (state.hour < hourOf(nowMs) && isUsed(state) && (await buckets.bookHour({ ...id, shard }, state))) touched++;
        }
      }
    }
    return touched;
  }
}
