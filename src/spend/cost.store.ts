import type { StoreClient, Write } from '../dynamo/client.js';
import { absent, atMost, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { type CommitResult, GroupCommit } from '../lib/group-commit.js';
import { newUuid } from '../lib/id.js';
import { type SpendId, scopeKey } from '../orgs/scope.js';
import { type CostRecord, costTable, type RequestRef, requestKey, toCostItem, toCostRecord } from './cost.item.js';
import { type CounterItem, counterItems, counterWrite } from './counter.item.js';
import { type Counters, countersOf, sumCounters } from './counters.js';

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

/** DynamoDB allows this many writes per transaction: one per cost, and one per counter item of the group. */
const maxGroupWrites = 100;
/** The costs that fit into one transaction if they are counted in one item. */
const maxGroupCosts = maxGroupWrites - 1;

interface CostEntry {
  readonly record: CostRecord;
  readonly id: SpendId;
  readonly shard: number;
  /** Identifies this submission. If its response is lost, the retry finds the nonce and knows that it succeeded. */
  readonly nonce: string;
  /** The items that the cost is counted in, by name. Costs of one group share them. */
  readonly counters: ReadonlyMap<string, CounterItem>;
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
      maxGroupSize: maxGroupWrites,
      maxWaiting: options.maxWaiting,
      shared: ({ counters }) => [...counters.keys()],
      tenant: ({ id }) => id.orgId,
      identity: ({ record }) => `${record.orgId} ${record.appId} ${record.requestId}`,
      commit: (_key, group) => this.commit(group),
    });
  }

  /** Counts a cost once: one transaction writes its request item and adds it to its counter items. */
  record(id: SpendId, shardCount: number, record: CostRecord): Promise<RecordOutcome> {
    const shard = this.openShard(id, shardCount);
    const counters = new Map(counterItems(id, record, shard).map((item) => [`${item.key.PK} ${item.key.SK}`, item]));
    return this.commits.submit(queueName(id, shard), { record, id, shard, nonce: newUuid(), counters });
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
      if (waiting < maxGroupCosts) return shard;
      if (waiting < best.waiting) best = { shard, waiting };
    }
    return best.shard;
  }

  private async commit(group: readonly CostEntry[]): Promise<CommitResult<RecordOutcome>[]> {
    const nowSecs = epochSeconds(this.clock.nowMs());
    const expires_at_epoch = nowSecs + this.options.retention.requestDays * 86_400;
    const puts = group.map(
      ({ record, shard, nonce }): Write => ({
        table: costTable,
        put: { ...toCostItem(record), nonce, shard, expires_at_epoch },
        condition: or(absent('PK'), atMost('expires_at_epoch', nowSecs)),
      }),
    );
    const outcome = await this.client.transact('judged', [...puts, ...this.counterWrites(group, nowSecs)]);
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

  /** One write per counter item, with the sum of the costs that are counted in it. */
  private counterWrites(group: readonly CostEntry[], nowSecs: number): Write[] {
    const sums = new Map<string, { readonly item: CounterItem; readonly parts: Counters[] }>();
    for (const { record, counters } of group)
      for (const [name, item] of counters) {
        const sum = sums.get(name) ?? { item, parts: [] };
        sum.parts.push(countersOf(record.usage, record.hour));
        sums.set(name, sum);
      }
    const expiresAtSecs = nowSecs + this.options.retention.shardDays * 86_400;
    return [...sums.values()].map(({ item, parts }) =>
      counterWrite(item, sumCounters(parts), { nowSecs, expiresAtSecs }),
    );
  }
}

const queueName = (id: SpendId, shard: number): string => `${scopeKey(id)} ${id.label} ${id.day} ${shard}`;
