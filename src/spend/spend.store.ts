import type { Item, StoreClient, Write } from '../dynamo/client.js';
import { absent, and, atMost, between, differs, equals, lessThan, or } from '../dynamo/expression.js';
import { GroupCommit, type Settled } from '../dynamo/group-commit.js';
import { key } from '../dynamo/keys.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { newUuid } from '../lib/id.js';
import { type SpendMode, sum, type Usage } from './money.js';
import type { PriceSource } from './price.js';
import { type Scope, type SpendId, scopeKey, sliceOf } from './scope.js';

const compact = (day: string): string => day.replaceAll('-', '');
const dashed = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

const dayKey = (day: string): string => key`DAY#${compact(day)}`;
export const shardKey = (id: SpendId, shard: number) => ({ PK: scopeKey(id) + key`#LABEL#${id.label}#SH#${shard}`, SK: dayKey(id.day) });
export const totalKey = (id: SpendId) => ({ PK: scopeKey(id) + key`#LABEL#${id.label}`, SK: dayKey(id.day) });
export const requestKey = (orgId: string, requestId: string) => ({ PK: key`ORG#${orgId}#REQ#${requestId}` });
/** Each slice of the active index is on four keys: a large org enters all of its shards as its day begins, more than one key takes. */
const activeParts = [0, 1, 2, 3];
export function activeKey(day: string, slice: number, shard: number): string {
  const part = shard % activeParts.length;
  // The first is where all entries were before there were several.
  return part === 0 ? key`ACTIVE#${compact(day)}#${slice}` : key`ACTIVE#${compact(day)}#${slice}#${part}`;
}

/** A cost as it is recorded, once and for all. */
export interface CostRecord {
  readonly requestId: string;
  readonly orgId: string;
  readonly appId: string;
  readonly label: string;
  readonly day: string;
  /** Of what the caller sent, and of nothing derived from it: by this a repeat is told from another call. */
  readonly payloadHash: string;
  readonly usage: Usage;
  readonly priceSource: PriceSource;
}

export type Recorded = { readonly kind: 'recorded' | 'replayed'; readonly record: CostRecord } | { readonly kind: 'conflict' };

/** A total as last summed. */
export interface Total extends Usage {
  readonly asOf: Date;
  /** On an org's roll-up only: the worst mode of its apps. */
  readonly mode?: SpendMode;
}

export interface SpendRetention {
  readonly requestDays: number;
  readonly shardDays: number;
  readonly totalDays: number;
}

const mostAGroup = 99;

interface Entry {
  readonly record: CostRecord;
  readonly id: SpendId;
  readonly shard: number;
  /** Marks this submission, so that a success whose reply was lost is not taken for an earlier one's. */
  readonly nonce: string;
}

export class SpendStore {
  private readonly commits: GroupCommit<Entry, Recorded>;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly retention: SpendRetention,
    /** Each process writes to a lane of its own, so that different processes rarely meet on an item. */
    private readonly homeLane: number,
    mostWaiting: number,
  ) {
    this.commits = new GroupCommit({
      pace: client.pace,
      mostAGroup,
      mostWaiting,
      tenant: ({ id }) => id.orgId,
      identity: ({ record }) => `${record.orgId} ${record.requestId}`,
      commit: (_key, group) => this.commit(group),
    });
  }

  /** Counts a cost once: its request item and the shard's sum are written together or not at all. */
  record(id: SpendId, shardCount: number, record: CostRecord): Promise<Recorded> {
    const shard = this.openLane(id, shardCount);
    return this.commits.submit(laneName(id, shard), { record, id, shard, nonce: newUuid() });
  }

  /** Resolves when all that was submitted has its answer. */
  flush(): Promise<void> {
    return this.commits.flush();
  }

  async loadRecord(orgId: string, requestId: string): Promise<CostRecord | undefined> {
    const item = await this.client.get('cost_requests', requestKey(orgId, requestId), { consistent: true });
    return item && (item.expires_at_epoch as number) > epochSeconds(this.clock.nowMs()) ? toRecord(item) : undefined;
  }

  async loadTotals(ids: readonly SpendId[]): Promise<(Total | undefined)[]> {
    const items = await this.client.getMany('daily_total', ids.map(totalKey));
    return items.map((item) => item && toTotal(item));
  }

  /** A label's totals from day to day, both included; days without any are left out. */
  async listTotals(scope: Scope, label: string, from: string, to: string): Promise<{ readonly day: string; readonly total: Total }[]> {
    const { PK } = totalKey({ ...scope, label, day: from });
    const items = await this.client.queryAll({ table: 'daily_total', where: and(equals('PK', PK), between('SK', dayKey(from), dayKey(to))) });
    return items.map((item) => ({ day: dashed((item.SK as string).slice('DAY#'.length)), total: toTotal(item) }));
  }

  /** The sum of a label's shards now. Throws rather than take a shard that did not answer for an empty one. */
  async sumShards(ids: readonly SpendId[], shardCount: number): Promise<Usage[]> {
    const shards = Array.from({ length: shardCount }, (_, shard) => shard);
    const items = await this.client.getMany(
      'usage_agg_sharded',
      ids.flatMap((id) => shards.map((shard) => shardKey(id, shard))),
      { consistent: true },
    );
    return ids.map((_, i) => sum(items.slice(i * shardCount, (i + 1) * shardCount).flatMap((item) => (item ? [toUsage(item)] : []))));
  }

  /** The scopes and labels of a day that have any cost, of one slice. */
  async listActive(day: string, slice: number): Promise<SpendId[]> {
    const parts = activeParts.map((part) => ({ table: 'usage_agg_sharded', index: 'gsi1', where: equals('gsi1pk', activeKey(day, slice, part)) }) as const);
    const found = new Map<string, SpendId>();
    for (const { PK } of (await Promise.all(parts.map((part) => this.client.queryAll(part)))).flat()) {
      const [base = ''] = (PK as string).split('#SH#');
      found.set(base, parseShardKey(base, day));
    }
    return [...found.values()];
  }

  /**
   * Saves a total only if it has grown in every figure: of two workers, the one that read earlier must not undo the other.
   * The same figures are saved again only where a roll-up's mode has changed with a quota.
   */
  async saveTotal(id: SpendId, usage: Usage, asOfMs: number, mode?: SpendMode): Promise<boolean> {
    const figures = usageAttributes(usage);
    const grown = and(
      lessThan('requests', usage.requests),
      atMost('cost_usd_micros', usage.costUsdMicros),
      atMost('input_tokens', usage.inputTokens),
      atMost('output_tokens', usage.outputTokens),
    );
    const rejudged = mode === undefined ? [] : [and(...Object.entries(figures).map(([name, value]) => equals(name, value)), differs('worst_mode', mode))];
    const outcome = await this.client.write(
      {
        table: 'daily_total',
        update: totalKey(id),
        set: {
          ...figures,
          as_of_ms: asOfMs,
          updated_at_epoch: epochSeconds(asOfMs),
          worst_mode: mode,
          expires_at_epoch: epochSeconds(asOfMs) + this.retention.totalDays * 86_400,
        },
        condition: or(absent('requests'), grown, ...rejudged),
      },
      { repeat: (old) => old.requests === usage.requests && old.as_of_ms === asOfMs },
    );
    return outcome.done;
  }

  /**
   * Takes a slice for a while, so that two workers do not sum the same; a lost lease costs work, never exactness. Says
   * through which day the slice has been summed for good; false: another worker has it.
   */
  async takeSlice(slice: number, worker: string, nowMs: number, untilMs: number): Promise<{ readonly summedThrough?: string } | false> {
    const outcome = await this.client.write(
      {
        table: 'daily_total',
        update: sliceKey(slice),
        set: { worker, until_ms: untilMs },
        condition: or(absent('until_ms'), lessThan('until_ms', nowMs), equals('worker', worker)),
      },
      { repeat: 'idempotent', returnNew: 'all' },
    );
    if (!outcome.done) return false;
    const day = outcome.item?.summed_through as string | undefined;
    return day === undefined ? {} : { summedThrough: day };
  }

  /** When the tables were made: no cost is older. */
  async birthMs(): Promise<number> {
    return ((await this.client.get('limiter', { PK: '_/SYSTEM#', SK: '#VERSION' }))?.created_at_ms as number | undefined) ?? 0;
  }

  /** Notes that all days before this one are summed for good. It only moves on. */
  async closeDays(slice: number, day: string): Promise<void> {
    const condition = or(absent('summed_through'), lessThan('summed_through', day));
    await this.client.write({ table: 'daily_total', update: sliceKey(slice), set: { summed_through: day }, condition }, { repeat: 'idempotent' });
  }

  /** The home lane while it has room for one transaction more; the next only while 99 wait; past all of them, the shortest queue. */
  private openLane(id: SpendId, shardCount: number): number {
    let shortest = { shard: this.homeLane % shardCount, waiting: Number.POSITIVE_INFINITY };
    for (let i = 0; i < shardCount; i++) {
      const shard = (this.homeLane + i) % shardCount;
      const waiting = this.commits.waitingFor(laneName(id, shard));
      if (waiting < mostAGroup) return shard;
      if (waiting < shortest.waiting) shortest = { shard, waiting };
    }
    return shortest.shard;
  }

  private async commit(group: readonly Entry[]): Promise<Settled<Recorded>[]> {
    const nowSecs = epochSeconds(this.clock.nowMs());
    const { id, shard } = group[0] as Entry;
    const puts = group.map(
      ({ record, nonce }): Write => ({
        table: 'cost_requests',
        put: { ...toRequestItem(record), nonce, shard, expires_at_epoch: nowSecs + this.retention.requestDays * 86_400 },
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
      return { done: first.payloadHash === record.payloadHash ? { kind: 'replayed', record: first } : { kind: 'conflict' } };
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
      setIfAbsent: { gsi1pk: activeKey(id.day, sliceOf(id.orgId), shard), gsi1sk: target.PK, expires_at_epoch: nowSecs + this.retention.shardDays * 86_400 },
    };
  }
}

const sliceKey = (slice: number) => ({ PK: key`#SLICE#${slice}`, SK: '#SLICE' });

const laneName = (id: SpendId, shard: number): string => `${scopeKey(id)} ${id.label} ${id.day} ${shard}`;

const usageAttributes = ({ costUsdMicros, inputTokens, outputTokens, requests }: Usage) => ({
  cost_usd_micros: costUsdMicros,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  requests,
});

/** Past 2^53 a figure stands still there: still over every quota, and no scope can spoil the sums of others. */
const exact = (value: unknown): number => Math.min(Number(value), Number.MAX_SAFE_INTEGER);

const toUsage = (item: Item): Usage => ({
  costUsdMicros: exact(item.cost_usd_micros),
  inputTokens: exact(item.input_tokens),
  outputTokens: exact(item.output_tokens),
  requests: exact(item.requests),
});

const toTotal = (item: Item): Total => ({
  ...toUsage(item),
  asOf: new Date(item.as_of_ms as number),
  ...(item.worst_mode ? { mode: item.worst_mode as SpendMode } : {}),
});

const toRequestItem = ({ requestId, orgId, appId, label, day, payloadHash, usage, priceSource }: CostRecord): Item => ({
  ...requestKey(orgId, requestId),
  request_id: requestId,
  org_id: orgId,
  app_id: appId,
  model_label: label,
  day,
  payload_hash: payloadHash,
  ...usageAttributes(usage),
  price_source: priceSource,
});

const toRecord = (item: Item): CostRecord => ({
  requestId: item.request_id as string,
  orgId: item.org_id as string,
  appId: item.app_id as string,
  label: item.model_label as string,
  day: item.day as string,
  payloadHash: item.payload_hash as string,
  usage: toUsage(item),
  priceSource: item.price_source as PriceSource,
});

function parseShardKey(base: string, day: string): SpendId {
  const [, orgId = '', tag, ...rest] = base.split('#');
  return tag === 'APP' ? { orgId, appId: rest[0] ?? '', label: rest[2] ?? '', day } : { orgId, label: rest[0] ?? '', day };
}
