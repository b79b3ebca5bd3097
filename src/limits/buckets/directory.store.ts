import type { Item, StoreClient } from '../../dynamo/client.js';
import { and, beginsWith, type Condition, equals } from '../../dynamo/expression.js';
import { StoreUnavailable } from '../../dynamo/faults.js';
import { fields } from '../../dynamo/fields.js';
import { type Clock, systemClock } from '../../lib/clock.js';
import { GatewayError } from '../../lib/errors.js';
import {
  type BucketId,
  bucketOfDirectoryKey,
  directoryIndexKeys,
  directoryKey,
  directoryPrefix,
  entityPartition,
  namespaceIndexKeys,
  resourceIndexKey,
} from '../limiter-keys.js';
import { table } from './bucket.item.js';

/** Shards are created within this time of their stamp, and the few seconds that a write takes at most. */
const maxStampMs = 10_000;

/** The directory entry of a bucket. */
export interface DirectoryEntry {
  readonly id: BucketId;
  /** When a gateway last announced that it is about to create shards of the bucket. */
  readonly stampedAtMs: number;
  /** The max number of shards that the bucket may have had. */
  readonly maxShardCount: number;
}

/**
 * The directory of all buckets: one entry per bucket, with the index keys that lists and purges go by. Shards have no
 * index keys, so an acquire writes one small item and no index.
 *
 * A gateway stamps the entry before it creates shards, each time. The worker deletes an entry only if its stamp is
 * unchanged and older than any creation can take. So no bucket is ever without its entry: a stamp before the deletion
 * makes it fail, and a stamp after the deletion writes the entry again.
 */
export class BucketDirectory {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock = systemClock,
  ) {}

  /**
   * Announces new shards of a bucket, which have to be created at once. Idempotent. If it fails, none may be created.
   */
  async stamp(id: BucketId, shardCount = 1): Promise<void> {
    let st: number;
    do {
      st = this.clock.nowMs();
      const set = { ...directoryIndexKeys(id), st, ...(shardCount > 1 ? { n: shardCount } : {}) };
      try {
        await this.client.write({ table, update: directoryKey(id), set }, { repeat: 'idempotent' });
      } catch (error) {
        // The entry may have been written, but the bucket was not.
        throw error instanceof GatewayError ? new StoreUnavailable('no', { cause: error }) : error;
      }
      // A process that was suspended meanwhile must not create shards under a stamp that looks old to the worker.
    } while (this.clock.nowMs() - st > maxStampMs);
  }

  /** The buckets of an entity. Some may not exist any more. */
  listOfEntity(namespace: string, entityId: string): Promise<BucketId[]> {
    return this.list(
      namespace,
      'GSI3',
      and(equals('GSI3PK', entityPartition(namespace, entityId)), beginsWith('GSI3SK', 'BUCKET#')),
    );
  }

  /** The buckets of a resource. Some may not exist any more. */
  listOfResource(namespace: string, resource: string): Promise<BucketId[]> {
    return this.list(namespace, 'GSI2', ofResource(namespace, resource));
  }

  /** Up to `max` buckets of a resource. Some may not exist any more. */
  async firstOfResource(
    namespace: string,
    resource: string,
    max: number,
  ): Promise<{ readonly ids: BucketId[]; readonly truncated: boolean }> {
    const where = ofResource(namespace, resource);
    const { items, truncated } = await this.client.queryUpTo({ table, index: 'GSI2', where }, max);
    return { ids: idsOf(namespace, items), truncated };
  }

  /** The buckets of a namespace. Some may not exist any more. */
  listOfNamespace(namespace: string): Promise<BucketId[]> {
    const { GSI4PK } = namespaceIndexKeys(namespace, '');
    return this.list(
      namespace,
      'GSI4',
      and(equals('GSI4PK', GSI4PK), beginsWith('GSI4SK', directoryPrefix(namespace))),
    );
  }

  private async list(namespace: string, index: string, where: Condition): Promise<BucketId[]> {
    return idsOf(namespace, await this.client.queryAll({ table, index, where }));
  }

  /** The entries of these buckets, by a consistent read. Buckets without an entry are left out. */
  async load(ids: readonly BucketId[]): Promise<DirectoryEntry[]> {
    const items = await this.client.getMany(table, ids.map(directoryKey), { consistent: true });
    return items.flatMap((item, i) => (item ? [toEntry(ids[i] as BucketId, item)] : []));
  }

  /** Deletes an entry, unless it was stamped again since it was read. */
  async delete({ id, stampedAtMs }: DirectoryEntry): Promise<boolean> {
    const { done } = await this.client.write(
      { table, delete: directoryKey(id), condition: equals('st', stampedAtMs) },
      { repeat: 'idempotent' },
    );
    return done;
  }
}

const ofResource = (namespace: string, resource: string): Condition =>
  and(equals('GSI2PK', resourceIndexKey(namespace, resource)), beginsWith('GSI2SK', 'BUCKET#'));

const idsOf = (namespace: string, entries: readonly Item[]): BucketId[] =>
  entries.map((entry) => bucketOfDirectoryKey(namespace, fields(table, entry).string('PK')));

export function toEntry(id: BucketId, item: Item): DirectoryEntry {
  const read = fields(table, item);
  return { id, stampedAtMs: read.number('st'), maxShardCount: read.optionalNumber('n') ?? 1 };
}
