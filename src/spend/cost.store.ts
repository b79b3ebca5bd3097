import type { StoreClient, Write } from '../dynamo/client.js';
import { absent, atMost, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { type CommitResult, GroupCommit } from '../lib/group-commit.js';
import { newUuid } from '../lib/id.js';
import { type SpendId, scopeKey, sliceOf } from '../orgs/scope.js';
import { type CostRecord, costTable, type RequestRef, requestKey, toCostItem, toCostRecord } from './cost.item.js';
import { sum, type Usage } from './money.js';
import { shardTable } from './shard.store.js';
import { activeKey, shardKey, usageAttributes } from './spend.item.js';

export type RecordOutcome =
  | { readonly kind: 'recorded' | 'replayed'; readonly record: CostRecord }
  | { readonly kind: 'conflict' };

export interface SpendRetention {
  readonly requestDays: number;
  readonly shardDays: number;
}

export interface CostStoreOptions {
  readonly retention: SpendRetention;
  /** The shard that this process prefers. Different processes then rarely write to the same item. */
  readonly homeShard: number;
  /** How many costs may wait for a commit. */
  readonly maxWaiting: number;
  readonly scheduler?: EventLoopScheduler;
}

/** The costs of one transaction. With the shard's update they make the 100 writes that DynamoDB allows. */
const maxGroupSize = 99;

interface CostEntry {
  readonly record: CostRecord;
  readonly id: SpendId;
  readonly shard: number;
  /** Identifies this submission. If its response is lost, the retry finds the nonce and knows that it succeeded. */
  readonly nonce: string;
}

/** Records costs: an item for each request id, and the sum of each shard. `ShardStore` reads the sums. */
export class CostStore {
  private readonly commits: GroupCommit<CostEntry, RecordOutcome>;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly options: CostStoreOptions,
  ) {
    this.commits = new GroupCommit({
      scheduler: options.scheduler,
      maxGroupSize,
      maxWaiting: options.maxWaiting,
      tenant: ({ id }) => id.orgId,
      identity: ({ record }) => `${record.orgId} ${record.appId} ${record.requestId}`,
      commit: (_key, group) => this.commit(group),
    });
  }

  /** Counts a cost once: one transaction writes its request item and adds it to the sum of a shard. */
  record(id: SpendId, shardCount: number, record: CostRecord): Promise<RecordOutcome> {
    const shard = this.openShard(id, shardCount);
    return this.commits.submit(queueName(id, shard), { record, id, shard, nonce: newUuid() });
  }

  /** Resolves when every submitted cost has its outcome. */
  flush(): Promise<void> {
    return this.commits.flush();
  }

  async loadRecord(ref: RequestRef): Promise<CostRecord | undefined> {
    const item = await this.client.get(costTable, requestKey(ref), { consistent: true });
    if (!item) return undefined;
    const isExpired = fields(costTable, item).number('expires_at_epoch') <= epochSeconds(this.clock.nowMs());
    return isExpired ? undefined : toCostRecord(item);
  }

  /**
   * The first shard, from the home shard on, whose queue still fits into its next transaction. So a process uses more
   * shards only under load. If all queues are longer, the shard with the shortest one.
   */
  private openShard(id: SpendId, shardCount: number): number {
    let best = { shard: this.options.homeShard % shardCount, waiting: Number.POSITIVE_INFINITY };
    for (let i = 0; i < shardCount; i++) {
      const shard = (this.options.homeShard + i) % shardCount;
      const waiting = this.commits.waitingFor(queueName(id, shard));
      if (waiting < maxGroupSize) return shard;
      if (waiting < best.waiting) best = { shard, waiting };
    }
    return best.shard;
  }

  private async commit(group: readonly CostEntry[]): Promise<CommitResult<RecordOutcome>[]> {
    const nowSecs = epochSeconds(this.clock.nowMs());
    const { id, shard } = group[0] as CostEntry;
    const expires_at_epoch = nowSecs + this.options.retention.requestDays * 86_400;
    const puts = group.map(
      ({ record, nonce }): Write => ({
        table: costTable,
        put: { ...toCostItem(record), nonce, shard, expires_at_epoch },
        condition: or(absent('PK'), atMost('expires_at_epoch', nowSecs)),
      }),
    );
    const writes = [...puts, this.shardWrite(id, shard, sum(group.map(({ record }) => record.usage)), nowSecs)];
    const outcome = await this.client.transact('judged', writes);
    if (outcome.done) return group.map(({ record }) => ({ done: { kind: 'recorded', record } }));
    return group.map(({ record, nonce }, i) => {
      const reason = outcome.reasons[i];
      if (reason?.kind !== 'condition' || !reason.old) return 'again';
      if (reason.old.nonce === nonce) return { done: { kind: 'recorded', record } };
      const first = toCostRecord(reason.old);
      return {
        done: first.payloadHash === record.payloadHash ? { kind: 'replayed', record: first } : { kind: 'conflict' },
      };
    });
  }

  private shardWrite(id: SpendId, shard: number, usage: Usage, nowSecs: number): Write {
    const target = shardKey(id, shard);
    return {
      table: shardTable,
      update: target,
      add: usageAttributes(usage),
      set: { updated_at_epoch: nowSecs },
      // Set once, when the shard item is created. Later writes then do not write to the index.
      setIfAbsent: {
        gsi1pk: activeKey(id.day, sliceOf(id.orgId), shard),
        gsi1sk: target.PK,
        expires_at_epoch: nowSecs + this.options.retention.shardDays * 86_400,
      },
    };
  }
}

const queueName = (id: SpendId, shard: number): string => `${scopeKey(id)} ${id.label} ${id.day} ${shard}`;
