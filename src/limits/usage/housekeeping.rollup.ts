import type { Clock } from '../../lib/clock.js';
import type { Log } from '../../lib/log.js';
import type { BucketRegistry } from '../buckets/bucket.registry.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { isIdle } from '../buckets/expiry.js';
import type { Shard } from '../buckets/shard.js';
import type { NamespaceStore } from '../entities/namespace.store.js';
import type { BucketId } from '../limiter-keys.js';
import type { TaskStore } from './task.store.js';
import { hourOf } from './usage.js';

const dayMs = 86_400_000;
const tidyTask = 'tidy-buckets';
/**
 * A run without progress for this long counts as dead. With the worker's checks, another worker resumes it within an
 * hour.
 */
const tidyClaimMs = 30 * 60_000;
const tidyProgressMs = 60_000;
/** A gateway may write to a namespace for seconds after its purge, so its items are deleted again for this long. */
const purgeMs = 3_600_000;
/** The creation of a bucket takes a few seconds at most, from the stamp of its directory entry. */
const creationMs = 60_000;
/** Leases are in no index, so deleting them takes 64 queries per namespace. */
const leasesEveryMs = 10 * 60_000;
const bucketsAtOnce = 50;

export interface HousekeepingDeps {
  readonly buckets: BucketStore;
  readonly registry: BucketRegistry;
  readonly namespaces: NamespaceStore;
  readonly tasks: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** The worker's tasks for the limiter: daily tidying of buckets, and deletion of purged namespaces. */
export class LimiterHousekeeping {
  constructor(private readonly deps: HousekeepingDeps) {}

  /**
   * Runs once a day. Books the open hours of idle buckets before they expire, deletes idle sharded buckets, which do
   * not expire, and deletes the directory entries of buckets that are gone. Resumes the run of a worker that died.
   * Returns the number of buckets and shards changed, or undefined if another worker has done the run or is running
   * it.
   */
  async tidyBuckets(): Promise<number | undefined> {
    const { namespaces, tasks, clock } = this.deps;
    const run = await tasks.claim(tidyTask, { nowMs: clock.nowMs(), everyMs: dayMs, claimMs: tidyClaimMs });
    if (!run) return undefined;
    const { live } = await namespaces.listAll();
    let changed = 0;
    let savedMs = clock.nowMs();
    for (const namespace of live.sort().filter((name) => run.after === undefined || name > run.after)) {
      changed += await this.tryToTidy(namespace);
      const nowMs = clock.nowMs();
      if (nowMs - savedMs < tidyProgressMs) continue;
      if (!(await tasks.saveProgress(tidyTask, run, namespace, nowMs))) return changed;
      savedMs = nowMs;
    }
    await tasks.finish(tidyTask, run, clock.nowMs());
    return changed;
  }

  /** Deletes the items of purged namespaces. Returns the number of items deleted. */
  async purge(): Promise<number> {
    const { namespaces, clock } = this.deps;
    const { purged } = await namespaces.listAll();
    let deleted = 0;
    for (const { namespace, purgedAtMs } of purged) {
      const isLast = clock.nowMs() - purgedAtMs > purgeMs;
      deleted += await namespaces.deleteItems(namespace, isLast ? clock.nowMs() : clock.nowMs() - creationMs);
      if (isLast || (await namespaces.claimLeaseDeletion(namespace, clock.nowMs(), leasesEveryMs)))
        deleted += await namespaces.deleteLeases(namespace);
      if (isLast) await namespaces.deleteEntry(namespace);
    }
    return deleted;
  }

  private async tryToTidy(namespace: string): Promise<number> {
    try {
      return await this.tidyNamespace(namespace);
    } catch (error) {
      // A failure in one org must not delay the others by a day.
      this.deps.log.error({ err: error, namespace }, 'failed to tidy buckets of namespace');
      return 0;
    }
  }

  private async tidyNamespace(namespace: string): Promise<number> {
    const { buckets, registry, clock } = this.deps;
    const ids = await buckets.directory.listOfNamespace(namespace);
    let changed = 0;
    for (let i = 0; i < ids.length; i += bucketsAtOnce) {
      const batch = ids.slice(i, i + bucketsAtOnce);
      const found = await buckets.loadMany(batch);
      const nowMs = clock.nowMs();
      await this.deleteEntries(batch.filter((_, at) => found[at]?.length === 0));
      for (const [at, shards] of found.entries()) {
        const id = batch[at] as (typeof batch)[number];
        const isAbandoned = (current: readonly Shard[]) =>
          current.length > 1 && current.every((shard) => isIdle(shard, nowMs));
        if (isAbandoned(shards)) {
          if ((await registry.end(id, isAbandoned)) > 0) changed++;
          continue;
        }
        for (const [index, shard] of shards.entries()) {
          if (shard.hour < hourOf(nowMs) && (await registry.bookHour(id, index, shard))) changed++;
        }
      }
    }
    return changed;
  }

  /**
   * Deletes the directory entries of buckets that do not exist. An entry is at least a day old, so the creation that
   * stamped it has ended. A creation that begins now stamps the entry before, and the deletion fails.
   */
  private async deleteEntries(ids: readonly BucketId[]): Promise<void> {
    const { buckets, clock } = this.deps;
    if (ids.length === 0) return;
    const old = (await buckets.directory.load(ids)).filter(({ stampedAtMs }) => stampedAtMs <= clock.nowMs() - dayMs);
    // Read after the stamps: a bucket that was created before them is found here.
    const found = await buckets.loadMany(old.map(({ id }) => id));
    await Promise.all(old.filter((_, i) => found[i]?.length === 0).map((entry) => buckets.directory.delete(entry)));
  }
}
