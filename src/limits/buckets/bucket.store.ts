import type { Item, StoreClient } from '../../dynamo/client.js';
import { and, beginsWith, type Condition, equals } from '../../dynamo/expression.js';
import type { CancellationReason } from '../../dynamo/faults.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { unavailable } from '../../lib/errors.js';
import {
  type BucketId,
  entityPartition,
  isOwnLabel,
  namespaceIndexKeys,
  resourceIndexKey,
  type ShardId,
  shardKey,
} from '../limiter-keys.js';
import { toldBy, toShard } from './bucket.item.js';
import { closingWrites, conversionWrites, fenceWrite } from './bucket-change.item.js';
import type { PlannedWrite } from './bucket-write.item.js';
import type { Conversion } from './convert.js';
import { isUsed, type Shard } from './shard.js';

const table = 'limiter';
const maxReads = 5;

/** What became of a write on one shard: the shard as it is now; absent where there is none. */
export interface Written {
  readonly done: boolean;
  readonly shard?: Shard;
}

/** Why a transaction was not made, part by part. Absent: nothing stood in the way of that part. */
export interface NotWritten {
  readonly shards: readonly ({ readonly shard?: Shard } | undefined)[];
  readonly drafts: readonly ({ readonly old: unknown } | undefined)[];
}

/** Buckets in the store. It knows nothing and decides nothing. */
export class BucketStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly usageDays: number,
  ) {}

  /** All shards of each of the buckets; none where there is no bucket. A count that changes while they are read is read again. */
  async loadMany(ids: readonly BucketId[]): Promise<Shard[][]> {
    const firsts = await this.client.getMany(
      table,
      ids.map((id) => shardKey({ ...id, shard: 0 })),
      { consistent: true },
    );
    return Promise.all(ids.map((id, i) => this.complete(id, firsts[i] && toShard(firsts[i]))));
  }

  private async complete(id: BucketId, found: Shard | undefined): Promise<Shard[]> {
    let first = found;
    for (let read = 0; first && first.shardCount > 1 && read < maxReads; read++) {
      const { shardCount, birth } = first;
      const shards = (await this.loadShards(allShards(id, shardCount))).filter((shard) => shard !== undefined);
      if (
        shards.length === shardCount &&
        shards.every((shard) => shard.shardCount === shardCount && shard.birth === birth)
      )
        return shards;
      first = (await this.loadShards([{ ...id, shard: 0 }]))[0];
    }
    if (first && first.shardCount > 1) throw unavailable('the bucket is being changed: try again');
    return first ? [first] : [];
  }

  async loadShards(ids: readonly ShardId[]): Promise<(Shard | undefined)[]> {
    const [only] = ids;
    const items =
      ids.length === 1 && only
        ? [await this.client.get(table, shardKey(only), { consistent: true })]
        : await this.readMany(ids);
    return items.map((item) => item && toShard(item));
  }

  private readMany(ids: readonly ShardId[]): Promise<(Item | undefined)[]> {
    return this.client.getMany(table, ids.map(shardKey), { consistent: true });
  }

  /** One write on one shard, once: the outcome of a lost reply is unknown. */
  async write({ write, after, tellsAll }: PlannedWrite): Promise<Written> {
    const outcome = await this.client.write(write, { returnNew: tellsAll ? 'changed' : 'all' });
    if (outcome.done)
      return { done: true, shard: tellsAll ? toldBy(after, outcome.item as Item) : toShard(outcome.item as Item) };
    return outcome.old ? { done: false, shard: toShard(outcome.old) } : { done: false };
  }

  /** Writes on shards and whatever goes with them, all or none; undefined where it is done. Only drafts show that a repeat was applied before. */
  async transact(planned: readonly PlannedWrite[], drafts: readonly TransactItem[]): Promise<NotWritten | undefined> {
    const repeat = drafts.length > 0 ? 'judged' : 'never';
    const writes = planned.map(({ write }) => write);
    const outcome = await this.client.transact(repeat, writes, { riders: drafts });
    if (outcome.done) return undefined;
    const oldOf = (reason: CancellationReason) => (reason.kind === 'condition' ? { old: reason.old } : undefined);
    return {
      shards: outcome.reasons.map(oldOf).map((reason) => reason && (reason.old ? { shard: toShard(reason.old) } : {})),
      drafts: outcome.riderReasons.map(oldOf),
    };
  }

  /** Books the use of a shard's hour and moves it to the one given, which may be the same; not done where it has changed meanwhile. */
  async closeHour(id: ShardId, shard: Shard, hour: number): Promise<Written> {
    const writes = closingWrites(id, shard, hour, this.usageExpirySecs());
    const outcome = await this.client.transact('judged', isUsed(shard) ? writes : writes.slice(0, 1));
    if (outcome.done) return { done: true };
    const [reason] = outcome.reasons;
    return { done: false, ...(reason?.kind === 'condition' && reason.old ? { shard: toShard(reason.old) } : {}) };
  }

  /** Fences shard 0 with what the bucket is changed to. It wins at once, because it depends on nothing but the version. */
  async fence(id: BucketId, first: Shard, nonce: string, target: string): Promise<Written> {
    const write = fenceWrite({ ...id, shard: 0 }, first, nonce, target);
    const outcome = await this.client.write(write, { returnNew: 'all', repeat: (old) => old.fx === target });
    if (outcome.done) return { done: true, shard: toShard(outcome.item as Item) };
    return outcome.old ? { done: false, shard: toShard(outcome.old) } : { done: false };
  }

  /** Fences the other shards too, and returns all of them; undefined where somebody else has made the change meanwhile. */
  async fenceRest(id: BucketId, first: Shard, before: string, nonce: string): Promise<Shard[] | undefined> {
    const others = allShards(id, first.shardCount).slice(1);
    await Promise.all(
      others.map((shard) =>
        this.client.write(fenceWrite(shard, { ...first, version: before }, nonce), {
          repeat: (old) => old.cv === first.version,
        }),
      ),
    );
    const shards = await this.loadShards(allShards(id, first.shardCount));
    const isWhole = shards.every((shard) => shard?.version === first.version && shard.birth === first.birth);
    return isWhole ? (shards as Shard[]) : undefined;
  }

  /** Makes the change of a fenced bucket; false where it has been made, perhaps by this very call. */
  async convert(id: BucketId, before: readonly Shard[], conversion: Conversion): Promise<boolean> {
    return (await this.client.transact('judged', conversionWrites(id, before, conversion, this.usageExpirySecs())))
      .done;
  }

  /** The buckets an entity has, by its index. */
  listOfEntity(namespace: string, entityId: string): Promise<BucketId[]> {
    return this.list(
      namespace,
      'GSI3',
      and(equals('GSI3PK', entityPartition(namespace, entityId)), beginsWith('GSI3SK', 'BUCKET#')),
    );
  }

  listOfResource(namespace: string, resource: string): Promise<BucketId[]> {
    return this.list(
      namespace,
      'GSI2',
      and(equals('GSI2PK', resourceIndexKey(namespace, resource)), beginsWith('GSI2SK', 'BUCKET#')),
    );
  }

  /** Buckets of a resource, up to `max` shards in all. */
  async firstOfResource(
    namespace: string,
    resource: string,
    max: number,
  ): Promise<{ readonly ids: BucketId[]; readonly truncated: boolean }> {
    const where = and(equals('GSI2PK', resourceIndexKey(namespace, resource)), beginsWith('GSI2SK', 'BUCKET#'));
    const { items, truncated } = await this.client.queryUpTo({ table, index: 'GSI2', where }, max);
    return { ids: bucketsIn(namespace, items), truncated };
  }

  listOfNamespace(namespace: string): Promise<BucketId[]> {
    const { GSI4PK } = namespaceIndexKeys(namespace, '');
    return this.list(namespace, 'GSI4', and(equals('GSI4PK', GSI4PK), beginsWith('GSI4SK', `${namespace}/BUCKET#`)));
  }

  private async list(namespace: string, index: string, where: Condition): Promise<BucketId[]> {
    return bucketsIn(namespace, await this.client.queryAll({ table, index, where }));
  }

  private usageExpirySecs(): number {
    return epochSeconds(this.clock.nowMs()) + this.usageDays * 86_400;
  }
}

/** The buckets whose shards these are, each once. */
function bucketsIn(namespace: string, shards: readonly Item[]): BucketId[] {
  const found = new Map<string, BucketId>();
  for (const { PK } of shards) {
    const [, entityId = '', resource = '', label = ''] = (PK as string).slice(namespace.length).split('#');
    const isOwn = isOwnLabel(label);
    found.set(`${entityId}#${resource}#${isOwn}`, { namespace, entityId, resource, ...(isOwn ? { isOwn } : {}) });
  }
  return [...found.values()];
}

export const allShards = (id: BucketId, count: number): ShardId[] =>
  Array.from({ length: count }, (_, shard) => ({ ...id, shard }));
