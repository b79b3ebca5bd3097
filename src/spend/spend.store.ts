import type { Item, StoreClient, Write } from '../dynamo/client.js';
import { absent, and, atMost, beginsWith, equals, or } from '../dynamo/expression.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { type CommitResult, GroupCommit } from '../lib/group-commit.js';
import { newUuid } from '../lib/id.js';
import { type SpendId, scopeKey, sliceOf } from '../orgs/scope.js';
import { noUsage, sum, type Usage } from './money.js';
import type { PriceSource } from './price.js';
import { activeKey, activeParts, requestKey, shardKey, shardsKey, toUsage, usageAttributes } from './spend-item.js';

/** A cost as it is recorded, once and for all. */
export interface CostRecord {
  readonly requestId: string;
  readonly orgId: string;
  readonly appId: string;
  readonly label: string;
  readonly day: string;
  /** Of what the caller sent, and of nothing derived from it: it tells a retry from another call. */
  readonly payloadHash: string;
  readonly usage: Usage;
  readonly priceSource: PriceSource;
  /** Absent if the cost was submitted. */
  readonly unitPrice?: { readonly inputUsdMicrosPer1M: number; readonly outputUsdMicrosPer1M: number };
  readonly callStatus: 'OK' | 'ERROR';
  readonly occurredAtMs: number;
  readonly receivedAtMs: number;
}

export type Recorded =
  | { readonly kind: 'recorded' | 'replayed'; readonly record: CostRecord }
  | { readonly kind: 'conflict' };

/** A scope's label on one day, and the shards of it that have any cost. */
export interface ActiveScope {
  readonly id: SpendId;
  readonly shards: readonly number[];
}

export interface SpendRetention {
  readonly requestDays: number;
  readonly shardDays: number;
}

export interface SpendStoreOptions {
  readonly retention: SpendRetention;
  /** The shard that this process prefers. Different processes then rarely write to the same item. */
  readonly homeShard: number;
  /** How many costs may wait for a commit. */
  readonly maxWaiting: number;
  readonly scheduler?: EventLoopScheduler;
}

const maxGroupSize = 99;

interface Entry {
  readonly record: CostRecord;
  readonly id: SpendId;
  readonly shard: number;
  /** Marks this submission, so that a success whose reply was lost is not taken for an earlier one's. */
  readonly nonce: string;
}

/** Costs: the record of each, and the shards that count them. */
export class SpendStore {
  private readonly commits: GroupCommit<Entry, Recorded>;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly options: SpendStoreOptions,
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

  /** Counts a cost once: its request item and the shard's sum are written together or not at all. */
  record(id: SpendId, shardCount: number, record: CostRecord): Promise<Recorded> {
    const shard = this.openShard(id, shardCount);
    return this.commits.submit(queueName(id, shard), { record, id, shard, nonce: newUuid() });
  }

  /** Resolves when all that was submitted has its answer. */
  flush(): Promise<void> {
    return this.commits.flush();
  }

  async loadRecord(ref: Pick<CostRecord, 'orgId' | 'appId' | 'requestId'>): Promise<CostRecord | undefined> {
    const item = await this.client.get('cost_requests', requestKey(ref), { consistent: true });
    return item && (item.expires_at_epoch as number) > epochSeconds(this.clock.nowMs()) ? toRecord(item) : undefined;
  }

  /** The sum of all of a label's shards now. */
  sumShards(ids: readonly SpendId[], shardCount: number): Promise<Usage[]> {
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    return this.sumActive(ids.map((id) => ({ id, shards })));
  }

  /** The sum of the named shards now. Throws rather than take a shard that did not answer for an empty one. */
  async sumActive(scopes: readonly ActiveScope[]): Promise<Usage[]> {
    const keys = scopes.flatMap(({ id, shards }) => shards.map((shard) => shardKey(id, shard)));
    const items = await this.client.getMany('usage_agg_sharded', keys, { consistent: true });
    const usages = items.map((item) => (item ? toUsage(item) : noUsage));
    return scopes.map(({ shards }) => sum(usages.splice(0, shards.length)));
  }

  /** The scopes and labels of a day that have any cost, of one slice. The index is eventually consistent. */
  async listActive(day: string, slice: number): Promise<ActiveScope[]> {
    const found = new Map<string, { id: SpendId; shards: number[] }>();
    for (const PK of await this.queryActive(day, slice)) {
      const [base = '', shard] = PK.split('#SH#');
      const scope = found.get(base) ?? { id: parseShardKey(base, day), shards: [] };
      scope.shards.push(Number(shard));
      found.set(base, scope);
    }
    return [...found.values()];
  }

  /** The shards of one scope's label that have any cost. */
  async listShards(id: SpendId): Promise<number[]> {
    return (await this.queryActive(id.day, sliceOf(id.orgId), shardsKey(id))).map((PK) => Number(PK.split('#SH#')[1]));
  }

  private async queryActive(day: string, slice: number, prefix?: string): Promise<string[]> {
    const queries = activeParts.map((part) => {
      const partition = equals('gsi1pk', activeKey(day, slice, part));
      return this.client.queryAll({
        table: 'usage_agg_sharded',
        index: 'gsi1',
        where: prefix === undefined ? partition : and(partition, beginsWith('gsi1sk', prefix)),
      });
    });
    return (await Promise.all(queries)).flat().map(({ PK }) => PK as string);
  }

  /** The home shard while it has room for one transaction more; the next only while 99 wait; past all of them, the shortest queue. */
  private openShard(id: SpendId, shardCount: number): number {
    let shortest = { shard: this.options.homeShard % shardCount, waiting: Number.POSITIVE_INFINITY };
    for (let i = 0; i < shardCount; i++) {
      const shard = (this.options.homeShard + i) % shardCount;
      const waiting = this.commits.waitingFor(queueName(id, shard));
      if (waiting < maxGroupSize) return shard;
      if (waiting < shortest.waiting) shortest = { shard, waiting };
    }
    return shortest.shard;
  }

  private async commit(group: readonly Entry[]): Promise<CommitResult<Recorded>[]> {
    const nowSecs = epochSeconds(this.clock.nowMs());
    const { id, shard } = group[0] as Entry;
    const puts = group.map(
      ({ record, nonce }): Write => ({
        table: 'cost_requests',
        put: {
          ...toRequestItem(record),
          nonce,
          shard,
          expires_at_epoch: nowSecs + this.options.retention.requestDays * 86_400,
        },
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
      const first = toRecord(reason.old);
      return {
        done: first.payloadHash === record.payloadHash ? { kind: 'replayed', record: first } : { kind: 'conflict' },
      };
    });
  }

  private shardWrite(id: SpendId, shard: number, usage: Usage, nowSecs: number): Write {
    const target = shardKey(id, shard);
    return {
      table: 'usage_agg_sharded',
      update: target,
      add: usageAttributes(usage),
      set: { updated_at_epoch: nowSecs },
      // Written once, when the shard item is made, so that the index costs nothing afterwards.
      setIfAbsent: {
        gsi1pk: activeKey(id.day, sliceOf(id.orgId), shard),
        gsi1sk: target.PK,
        expires_at_epoch: nowSecs + this.options.retention.shardDays * 86_400,
      },
    };
  }
}

const queueName = (id: SpendId, shard: number): string => `${scopeKey(id)} ${id.label} ${id.day} ${shard}`;

const toRequestItem = (record: CostRecord): Item => ({
  ...requestKey(record),
  request_id: record.requestId,
  org_id: record.orgId,
  app_id: record.appId,
  model_label: record.label,
  day: record.day,
  payload_hash: record.payloadHash,
  ...usageAttributes(record.usage),
  price_source: record.priceSource,
  input_price_usd_micros_per_1m: record.unitPrice?.inputUsdMicrosPer1M,
  output_price_usd_micros_per_1m: record.unitPrice?.outputUsdMicrosPer1M,
  call_status: record.callStatus,
  occurred_at_ms: record.occurredAtMs,
  received_at_ms: record.receivedAtMs,
});

function toRecord(item: Item): CostRecord {
  const inputUsdMicrosPer1M = item.input_price_usd_micros_per_1m as number | undefined;
  const outputUsdMicrosPer1M = item.output_price_usd_micros_per_1m as number | undefined;
  return {
    requestId: item.request_id as string,
    orgId: item.org_id as string,
    appId: item.app_id as string,
    label: item.model_label as string,
    day: item.day as string,
    payloadHash: item.payload_hash as string,
    usage: toUsage(item),
    priceSource: item.price_source as PriceSource,
    ...(inputUsdMicrosPer1M === undefined || outputUsdMicrosPer1M === undefined
      ? {}
      : { unitPrice: { inputUsdMicrosPer1M, outputUsdMicrosPer1M } }),
    callStatus: item.call_status as 'OK' | 'ERROR',
    occurredAtMs: item.occurred_at_ms as number,
    receivedAtMs: item.received_at_ms as number,
  };
}

function parseShardKey(base: string, day: string): SpendId {
  const [, orgId = '', tag, ...rest] = base.split('#');
  return tag === 'APP'
    ? { orgId, appId: rest[0] ?? '', label: rest[2] ?? '', day }
    : { orgId, label: rest[0] ?? '', day };
}
