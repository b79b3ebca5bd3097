import type { Item, StoreClient } from '../../dynamo/client.js';
import type { Condition } from '../../dynamo/expression.js';
import { type CancellationReason, type EachOutcome, StoreUnavailable } from '../../dynamo/faults.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { unavailable } from '../../lib/errors.js';
import { LimiterItems } from '../limiter-items.store.js';
import { type BucketId, type ShardId, shardKey } from '../limiter-keys.js';
import { isUsed } from './booking.js';
import { table, toShard, withReturnedValues } from './bucket.item.js';
import { closingWrites, conversionWrites, fenceWrite } from './bucket-change.item.js';
import type { PlannedWrite } from './bucket-write.item.js';
import type { Conversion } from './convert.js';
import { BucketDirectory } from './directory.store.js';
import { bucketLabel } from './operation.js';
import type { Shard } from './shard.js';

const maxReads = 5;

/** The result of a write on one shard. `shard` is its state now; absent if there is no such shard, or it is unknown. */
export interface ShardWriteResult {
  readonly done: boolean;
  readonly shard?: Shard;
}

/** Why a transaction was cancelled, per item. Undefined: the condition of that item held. */
export interface CancelledTransaction {
  readonly shards: readonly ({ readonly shard?: Shard } | undefined)[];
  readonly riders: readonly ({ readonly old: unknown } | undefined)[];
}

/** Reads and writes buckets. Stateless: caching and decisions are in the services. */
export class BucketStore {
  readonly directory: BucketDirectory;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly usageDays: number,
    private readonly items = new LimiterItems(client),
  ) {
    this.directory = new BucketDirectory(client, clock);
  }

  /** All shards of each bucket; none if the bucket does not exist. Reads again if the shard count changes meanwhile. */
  async loadMany(ids: readonly BucketId[]): Promise<Shard[][]> {
    const firsts = await this.client.getMany(
      table,
      ids.map((id) => shardKey({ ...id, shard: 0 })),
      { consistent: true },
    );
    return Promise.all(ids.map((id, i) => this.complete(id, firsts[i] && toShard(firsts[i]))));
  }

  /** The first shard of a bucket; undefined if there is none. Shares its call with other reads of the same turn. */
  async loadFirst(id: BucketId): Promise<Shard | undefined> {
    const item = await this.items.load(shardKey({ ...id, shard: 0 }));
    return item && toShard(item);
  }

  private async complete(id: BucketId, found: Shard | undefined): Promise<Shard[]> {
    let first = found;
    for (let read = 0; first && first.shardCount > 1 && read < maxReads; read++) {
      const { shardCount, incarnation } = first;
      const shards = (await this.loadShards(allShards(id, shardCount))).filter((shard) => shard !== undefined);
      if (
        shards.length === shardCount &&
        shards.every((shard) => shard.shardCount === shardCount && shard.incarnation === incarnation)
      )
        return shards;
      first = (await this.loadShards([{ ...id, shard: 0 }]))[0];
    }
    if (first && first.shardCount > 1) throw unavailable(`the shards of ${bucketLabel(id)} are being changed; retry`);
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

  /** One write on one shard. Not retried: if the response is lost, the outcome is unknown. */
  async write(planned: PlannedWrite): Promise<ShardWriteResult> {
    const returnNew = planned.updatesEveryLimit ? 'changed' : 'all';
    const outcome = await this.client.write(planned.write, { returnNew });
    if (outcome.done) return { done: true, shard: shardAfter(planned, outcome.item as Item) };
    return outcome.old ? { done: false, shard: toShard(outcome.old) } : { done: false };
  }

  /**
   * Writes on different shards, each with its own outcome, in one call if there are several. A write that certainly was
   * not applied is sent again by a call of its own: if its condition failed, that call returns the stored state, which
   * not every engine returns for a part of a batch.
   */
  async writeEach(planned: readonly PlannedWrite[]): Promise<Promise<ShardWriteResult>[]> {
    const [only] = planned;
    if (only && planned.length === 1) return [this.write(only)];
    const outcomes = await this.client.writeEach(
      planned.map(({ write, updatesEveryLimit }) => ({
        ...write,
        condition: write.condition as Condition,
        returnNew: updatesEveryLimit ? 'changed' : 'all',
      })),
    );
    return planned.map((each, i) => this.resultOf(each, outcomes[i] as EachOutcome));
  }

  private async resultOf(planned: PlannedWrite, outcome: EachOutcome): Promise<ShardWriteResult> {
    if (outcome.kind === 'done') return { done: true, shard: shardAfter(planned, outcome.item as Item) };
    if (outcome.kind === 'condition' && outcome.old) return { done: false, shard: toShard(outcome.old) };
    if (outcome.kind === 'failed' && outcome.applied === 'unknown')
      throw new StoreUnavailable('unknown', { cause: new Error('one of several writes has no outcome') });
    return this.write(planned);
  }

  /** Writes shards and riders in one transaction; undefined if it was committed. */
  async transact(
    planned: readonly PlannedWrite[],
    riders: readonly TransactItem[],
  ): Promise<CancelledTransaction | undefined> {
    // Retried only with riders, because only a rider shows that the first attempt was committed.
    const repeat = riders.length > 0 ? 'judged' : 'never';
    const writes = planned.map(({ write }) => write);
    const outcome = await this.client.transact(repeat, writes, { riders });
    if (outcome.done) return undefined;
    const oldOf = (reason: CancellationReason) => (reason.kind === 'condition' ? { old: reason.old } : undefined);
    return {
      shards: outcome.reasons.map(oldOf).map((reason) => reason && (reason.old ? { shard: toShard(reason.old) } : {})),
      riders: outcome.riderReasons.map(oldOf),
    };
  }

  /**
   * Books the usage of a shard and moves it to `hour`, which may be the same. Fails if the shard has changed meanwhile.
   */
  async closeHour(id: ShardId, shard: Shard, hour: number): Promise<ShardWriteResult> {
    const writes = closingWrites(id, shard, hour, this.usageExpirySecs());
    const outcome = await this.client.transact('judged', isUsed(shard) ? writes : writes.slice(0, 1));
    if (outcome.done) return { done: true };
    const [reason] = outcome.reasons;
    return { done: false, ...(reason?.kind === 'condition' && reason.old ? { shard: toShard(reason.old) } : {}) };
  }

  /**
   * Fences shard 0 with the target of the conversion. Wins against any load of takes, because its condition depends on
   * the version only.
   */
  async fence(id: BucketId, first: Shard, nonce: string, target: string): Promise<ShardWriteResult> {
    const write = fenceWrite({ ...id, shard: 0 }, first, nonce, target);
    const outcome = await this.client.write(write, { returnNew: 'all', repeat: (old) => old.fx === target });
    if (outcome.done) return { done: true, shard: toShard(outcome.item as Item) };
    return outcome.old ? { done: false, shard: toShard(outcome.old) } : { done: false };
  }

  /** Fences the other shards and returns all shards; undefined if another gateway has made the conversion meanwhile. */
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
    const allFenced = shards.every(
      (shard) => shard?.version === first.version && shard.incarnation === first.incarnation,
    );
    return allFenced ? (shards as Shard[]) : undefined;
  }

  /** Converts a fenced bucket. False if it was converted already, possibly by a first attempt of this call. */
  async convert(id: BucketId, before: readonly Shard[], conversion: Conversion): Promise<boolean> {
    const { length: count } = conversion.shards;
    if (count > before.length) await this.directory.stamp(id, count);
    return (await this.client.transact('judged', conversionWrites(id, before, conversion, this.usageExpirySecs())))
      .done;
  }

  private usageExpirySecs(): number {
    return epochSeconds(this.clock.nowMs()) + this.usageDays * 86_400;
  }
}

const shardAfter = ({ after, updatesEveryLimit }: PlannedWrite, item: Item): Shard =>
  updatesEveryLimit ? withReturnedValues(after, item) : toShard(item);

export const allShards = (id: BucketId, count: number): ShardId[] =>
  Array.from({ length: count }, (_, shard) => ({ ...id, shard }));
