import type { Key, StoreClient } from '../../dynamo/client.js';
import { type BucketId, type ShardId, shardKey } from '../limiter-keys.js';
import { table } from './bucket.item.js';
import { allShards } from './bucket.store.js';
import { BucketDirectory, type DirectoryEntry } from './directory.store.js';

const entriesAtOnce = 25;

/** Deletes all shards and the directory entries of buckets of a purged namespace. */
export class BucketPurge {
  private readonly directory: BucketDirectory;

  constructor(private readonly client: StoreClient) {
    this.directory = new BucketDirectory(client);
  }

  /** Entries that were stamped after `keepAfterMs` stay. Returns the number of items deleted. */
  async deleteAll(ids: readonly BucketId[], keepAfterMs: number): Promise<number> {
    let deleted = 0;
    for (let i = 0; i < ids.length; i += entriesAtOnce)
      deleted += await this.deleteSome(ids.slice(i, i + entriesAtOnce), keepAfterMs);
    return deleted;
  }

  private async deleteSome(ids: readonly BucketId[], keepAfterMs: number): Promise<number> {
    // The entries are read before the shards. A bucket that gets more shards later has another stamp by then, and its
    // entry stays for the next run.
    const entries = await this.directory.load(ids);
    const shards = await this.shardsOf(entries);
    const keysOf = (isFirst: boolean): { readonly delete: Key }[] =>
      shards.filter(({ shard }) => (shard === 0) === isFirst).map((id) => ({ delete: shardKey(id) }));
    // Shard 0 goes after the others, because it has their number.
    await this.client.writeMany(table, keysOf(false));
    await this.client.writeMany(table, keysOf(true));
    const old = entries.filter(({ stampedAtMs }) => stampedAtMs <= keepAfterMs);
    const gone = await Promise.all(old.map((entry) => this.directory.delete(entry)));
    return shards.length + gone.filter(Boolean).length;
  }

  /** All shards that the buckets may have. */
  private async shardsOf(entries: readonly DirectoryEntry[]): Promise<ShardId[]> {
    const firsts = await this.client.getMany(
      table,
      entries.map(({ id }) => shardKey({ ...id, shard: 0 })),
      { consistent: true },
    );
    return entries.flatMap(({ id, maxShardCount }, i) => {
      const first = firsts[i];
      // A shard that cannot be read is deleted too.
      const stored = typeof first?.sc === 'number' ? first.sc : 1;
      return allShards(id, Math.max(first ? stored : 0, maxShardCount > 1 ? maxShardCount : 0));
    });
  }
}
