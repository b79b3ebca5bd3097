import type { Clock } from '../../lib/clock.js';
import type { Log } from '../../lib/log.js';
import type { BucketRegistry } from '../buckets/bucket.registry.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { isIdle } from '../buckets/expiry.js';
import type { Shard } from '../buckets/shard.js';
import type { NamespaceStore } from '../entities/namespace.store.js';
import type { TaskStore } from './task.store.js';
import { hourOf } from './usage.js';

const dayMs = 86_400_000;
const tidying = 'tidy-buckets';
/** A tidying that was not heard of for so long has died. With the worker's checks it is taken up within an hour. */
const tidyClaimMs = 30 * 60_000;
const tidyNoteMs = 60_000;
/** A gateway may write to a namespace for seconds after it was purged: so long it is looked through again. */
const purgeMs = 3_600_000;
/** Leases are in no index: a look for them is 64 queries. */
const leasesEveryMs = 10 * 60_000;
const bucketsAtOnce = 50;

export interface LimitRollupDeps {
  readonly buckets: BucketStore;
  readonly registry: BucketRegistry;
  readonly namespaces: NamespaceStore;
  readonly tasks: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
}

export class LimitRollup {
  constructor(private readonly parts: LimitRollupDeps) {}

  /**
   * Once a day: books the hours of buckets that went idle, before they expire, and removes sharded buckets that nobody
   * uses any more, which do not. Goes on where a worker that died has left off. Returns how many it touched; undefined
   * where another worker has done it or is at it.
   */
  async tidyBuckets(): Promise<number | undefined> {
    const { namespaces, tasks, clock } = this.parts;
    const run = await tasks.take(tidying, { nowMs: clock.nowMs(), everyMs: dayMs, claimMs: tidyClaimMs });
    if (!run) return undefined;
    const { live } = await namespaces.listAll();
    let touched = 0;
    let notedMs = clock.nowMs();
    for (const namespace of live.sort().filter((name) => run.after === undefined || name > run.after)) {
      touched += await this.tryToTidy(namespace);
      const nowMs = clock.nowMs();
      if (nowMs - notedMs < tidyNoteMs) continue;
      if (!(await tasks.note(tidying, run, namespace, nowMs))) return touched;
      notedMs = nowMs;
    }
    await tasks.finish(tidying, run, clock.nowMs());
    return touched;
  }

  /** Deletes the items of namespaces that were given up; returns how many. */
  async purge(): Promise<number> {
    const { namespaces, clock } = this.parts;
    const { purged } = await namespaces.listAll();
    let deleted = 0;
    for (const { namespace, sinceMs } of purged) {
      const isLast = clock.nowMs() - sinceMs > purgeMs;
      let found: number;
      do {
        found = await namespaces.deleteSome(namespace);
        deleted += found;
      } while (found > 0);
      if (isLast || (await namespaces.takeLeases(namespace, clock.nowMs(), leasesEveryMs)))
        deleted += await namespaces.deleteLeases(namespace);
      if (isLast) await namespaces.forgetPurged(namespace);
    }
    return deleted;
  }

  private async tryToTidy(namespace: string): Promise<number> {
    try {
      return await this.tidyNamespace(namespace);
    } catch (error) {
      // One org's trouble must not keep the others waiting for another day.
      this.parts.log.error({ err: error, namespace }, 'the buckets of a namespace could not be tidied');
      return 0;
    }
  }

  private async tidyNamespace(namespace: string): Promise<number> {
    const { buckets, registry, clock } = this.parts;
    const ids = await buckets.listOfNamespace(namespace);
    let touched = 0;
    for (let i = 0; i < ids.length; i += bucketsAtOnce) {
      const some = ids.slice(i, i + bucketsAtOnce);
      const found = await buckets.loadMany(some);
      const nowMs = clock.nowMs();
      for (const [at, shards] of found.entries()) {
        const id = some[at] as (typeof some)[number];
        const isAbandoned = (now: readonly Shard[]) => now.length > 1 && now.every((shard) => isIdle(shard, nowMs));
        if (isAbandoned(shards)) {
          if ((await registry.end(id, isAbandoned)) > 0) touched++;
          continue;
        }
        for (const [index, shard] of shards.entries()) {
          if (shard.hour < hourOf(nowMs) && (await registry.bookHour(id, index, shard))) touched++;
        }
      }
    }
    return touched;
  }
}
