import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Item, StoreClient, Write } from '../../dynamo/client.js';
import { absent, and, beginsWith, equals } from '../../dynamo/expression.js';
import { GroupCommit, type Settled } from '../../dynamo/group-commit.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { GatewayError, Overloaded, unavailable } from '../../lib/errors.js';
import { randomFraction } from '../../lib/id.js';
import { Locks } from '../../lib/locks.js';
import type { Log } from '../../lib/log.js';
import { sleep } from '../../lib/timers.js';
import type { LimitSet } from '../limit.js';
import { type BucketId, entityPartition, namespaceIndexKeys, resourceIndexKey, type ShardId, shardKey } from '../limiter-keys.js';
import { hourOf } from '../usage/usage.js';
import {
  changeOf,
  closed,
  closingWrites,
  creationOf,
  type Doing,
  doublingWrite,
  endingWrites,
  expirySecs,
  type PlannedWrite,
  replacingWrite,
  shardItem,
  toldBy,
  toShard,
} from './bucket.item.js';
import { type Amounts, admit, debtFreeUpTo, emptyLimit, type Move, restamp } from './bucket.js';
import { isEnough, isUsed, mayDouble, type Shard, unbornShard } from './shard.js';

const table = 'limiter';
const deadlineMs = 3500;
const mostAGroup = 1000;
const mostItemsATransaction = 100;
/** How long a refusal may be repeated from memory. */
const refusalMs = 1000;
const hotWritesASecond = 800;
const latelyMs = 600_000;
const mostAttempts = 50;
const coolMs = 1000;
const throttleMs = 5000;
const throttlesToSpread = 2;

/** What one operation does to one shard. */
export interface Part {
  readonly id: ShardId;
  /** For a take: the limits it was judged by; it takes only where the bucket is stamped with the same. */
  readonly set?: LimitSet;
  /** A take: each limit's amount, 0 included. Else what is charged, or given back where it is negative. */
  readonly amounts: Amounts;
  /** For a take: not where the entity has limits of its own for the resource. Absent: as it is. */
  readonly mayExpire?: boolean;
  /** 1 where it counts as an acquire (of a cost split over shards, one part does), -1 where it undoes one. */
  readonly events: -1 | 0 | 1;
}

/** What is written together or not at all: parts of buckets, and perhaps a lease. */
export interface Operation {
  readonly namespace: string;
  readonly parts: readonly Part[];
  readonly lease?: { readonly name: string; readonly write: Write };
}

/** A shard at the moment it answered. */
export interface Seen {
  readonly shard: Shard;
  readonly atMs: number;
}

export type Outcome =
  | { readonly kind: 'done'; readonly after: readonly (Seen | undefined)[] }
  /** There is not enough: the shards as they are. */
  | { readonly kind: 'short'; readonly seen: readonly Seen[] }
  /** A part's bucket is stamped with other limits than the take was judged by. */
  | { readonly kind: 'stale'; readonly part: number; readonly shard: Shard }
  /** A part's shard is none any more, or there are more of them now. */
  | { readonly kind: 'moved' }
  /** The lease is not as the write expected it. */
  | { readonly kind: 'lease'; readonly old: Item | undefined };

type Judged = Outcome | { readonly kind: 'failed'; readonly error: unknown };

/** What this process knows of a bucket as a whole. */
interface BucketMemory {
  shardCount: number;
  preferred: number;
  /** A count of writes and when it was seen, to tell how fast they come. */
  sample: { readonly shard: number; readonly writes: number; readonly atMs: number } | undefined;
  /** The largest amounts lately asked for. */
  largest: { readonly sinceMs: number; readonly amounts: Record<string, bigint> };
  /** All shards as they were when they refused, and until when that may be repeated. */
  refusal: { readonly shards: readonly Shard[]; readonly untilMs: number } | undefined;
  /** When the store has lately said that too much is asked of it. */
  throttledAtMs: readonly number[];
  /** When more shards may be thought of again. */
  coolUntilMs: number;
}

export interface BucketStoreOptions {
  readonly mostWaiting: number;
  readonly usageDays: number;
  readonly log: Log;
}

export class BucketStore {
  private readonly shards = new LRUCache<string, Shard>({ max: 50_000 });
  private readonly buckets = new LRUCache<string, BucketMemory>({ max: 50_000 });
  private readonly locks = new Locks();
  private readonly commits: GroupCommit<Operation, Judged>;
  private readonly chosen = randomFraction();
  private readonly loader = new DataLoader((ids: readonly BucketId[]) => this.loadMany(ids), { cache: false, maxBatchSize: 100 });
  private sequence = 0;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly options: BucketStoreOptions,
  ) {
    this.commits = new GroupCommit({
      pace: client.pace,
      mostAGroup,
      mostWaiting: options.mostWaiting,
      tenant: ({ namespace }) => namespace,
      identity: ({ lease }) => lease?.name ?? String(this.sequence++),
      enter: (_key, { parts }) => this.locks.hold(parts.map(({ id }) => shardName(id))),
      commit: (_key, group) => this.commit(group),
    });
  }

  /** Applies an operation durably, together with others that wait for the same shards. */
  async apply(operation: Operation): Promise<Outcome> {
    this.noteLargest(operation);
    // With leases apart from those without, because only a lease shows that a repeated transaction was applied before.
    const kind = operation.lease ? 'lease' : operation.parts.length > 1 ? 'all' : 'one';
    const lane = `${operation.namespace} ${kind} ${operation.parts.map(({ id, set }) => `${shardName(id)} ${set?.version ?? ''}`).join(' ')}`;
    const outcome = await this.commits.submit(lane, operation);
    if (outcome.kind === 'failed') throw outcome.error;
    return outcome;
  }

  flush(): Promise<void> {
    return this.commits.flush();
  }

  /** The shard this process takes from, so that its acquires group. */
  preferred(id: BucketId): ShardId {
    return { ...id, shard: this.memoryOf(id).preferred };
  }

  shardCount(id: BucketId): number {
    return this.memoryOf(id).shardCount;
  }

  /** The shards that refused lately and would refuse this too; nothing is asked of the store. */
  recallRefusal(id: BucketId, { version }: LimitSet, amounts: Amounts): readonly Seen[] | undefined {
    const refusal = this.buckets.get(bucketName(id))?.refusal;
    if (!refusal || refusal.untilMs <= this.clock.monotonicMs() || refusal.shards.some((shard) => shard.version !== version)) return undefined;
    const atMs = this.clock.nowMs();
    return isEnough(refusal.shards, amounts, atMs) ? undefined : refusal.shards.map((shard) => ({ shard, atMs }));
  }

  /** Notes that a bucket, all its shards together, has just refused. */
  noteRefusal(id: BucketId, shards: readonly Shard[]): void {
    this.memoryOf(id).refusal = { shards, untilMs: this.clock.monotonicMs() + refusalMs };
  }

  /** The shards of a bucket as this process last saw them, for what is told in passing. */
  recallShards(id: BucketId): (Shard | undefined)[] {
    return allShards(id, this.memoryOf(id).shardCount).map((shard) => this.shards.get(shardName(shard)));
  }

  forget(id: BucketId): void {
    for (const shard of allShards(id, this.memoryOf(id).shardCount)) this.shards.delete(shardName(shard));
    this.buckets.delete(bucketName(id));
  }

  /** All shards of a bucket, now; none where there is no bucket. Those asked for at once are read at once. */
  load(id: BucketId): Promise<Shard[]> {
    return this.loader.load(id);
  }

  /** All shards of each of the buckets. A count that changes while they are read is read again. */
  async loadMany(ids: readonly BucketId[]): Promise<Shard[][]> {
    const firsts = await this.client.getMany(
      table,
      ids.map((id) => shardKey({ ...id, shard: 0 })),
      { consistent: true },
    );
    return Promise.all(
      ids.map(async (id, i) => {
        let first = firsts[i] && toShard(firsts[i]);
        for (let attempt = 0; first && first.shardCount > 1 && attempt < 5; attempt++) {
          const { shardCount } = first;
          const items = await this.client.getMany(table, allShards(id, shardCount).map(shardKey), { consistent: true });
          const shards = items.filter((item) => item !== undefined).map(toShard);
          if (shards.length === shardCount && shards.every((shard) => shard.shardCount === shardCount)) return this.learnAll(id, shards);
          const again = await this.client.get(table, shardKey({ ...id, shard: 0 }), { consistent: true });
          first = again && toShard(again);
        }
        if (first && first.shardCount > 1) throw unavailable('the bucket is being changed: try again');
        return first ? this.learnAll(id, [first]) : [];
      }),
    );
  }

  /** The buckets an entity has, by its index. */
  listOfEntity(namespace: string, entityId: string): Promise<BucketId[]> {
    const where = and(equals('GSI3PK', entityPartition(namespace, entityId)), beginsWith('GSI3SK', 'BUCKET#'));
    return this.listBuckets(namespace, 'GSI3', where);
  }

  listOfResource(namespace: string, resource: string): Promise<BucketId[]> {
    return this.listBuckets(namespace, 'GSI2', and(equals('GSI2PK', resourceIndexKey(namespace, resource)), beginsWith('GSI2SK', 'BUCKET#')));
  }

  /** Buckets of a resource, up to `max` shards in all. */
  async firstOfResource(namespace: string, resource: string, max: number): Promise<{ readonly ids: BucketId[]; readonly truncated: boolean }> {
    const where = and(equals('GSI2PK', resourceIndexKey(namespace, resource)), beginsWith('GSI2SK', 'BUCKET#'));
    const { items, truncated } = await this.client.queryUpTo({ table, index: 'GSI2', where }, max);
    return { ids: bucketsIn(namespace, items), truncated };
  }

  listOfNamespace(namespace: string): Promise<BucketId[]> {
    const { GSI4PK } = namespaceIndexKeys(namespace, '');
    return this.listBuckets(namespace, 'GSI4', and(equals('GSI4PK', GSI4PK), beginsWith('GSI4SK', `${namespace}/BUCKET#`)));
  }

  /** Converts a shard to other limits; false where it has changed meanwhile, or by this very call: the caller reads again. */
  async restamp(id: ShardId, shard: Shard, set: LimitSet, mayExpire: boolean): Promise<boolean> {
    const leave = await this.locks.hold([shardName(id)]);
    try {
      const kept = new Set(set.specs.map(({ name }) => name));
      const loses = shard.limits.some(({ name }) => !kept.has(name)) && isUsed(shard);
      const base = loses ? closed(shard, shard.hour) : shard;
      const nowMs = this.clock.nowMs();
      const limits = restamp(base.limits, set.specs, nowMs, shard.shardCount);
      const { expiresAtSecs: _, ...rest } = base;
      const expires = mayExpire && shard.shardCount === 1 ? expirySecs(limits, nowMs) : undefined;
      const after: Shard = { ...rest, limits, version: set.version, ...(expires === undefined ? {} : { expiresAtSecs: expires }) };
      const booking = loses ? closingWrites(id, shard, shard.hour, this.usageExpirySecs()).slice(1) : [];
      const outcome = await this.client.transact('judged', [replacingWrite(id, shard, after), ...booking]);
      if (outcome.done) this.learn(id, { ...after, writes: shard.writes + 1 });
      else this.shards.delete(shardName(id));
      this.memoryOf(id).refusal = undefined;
      return outcome.done;
    } finally {
      leave();
    }
  }

  /** Books the use of a shard's hour and keeps the hour; false where it has changed meanwhile, or by this very call. */
  async bookHour(id: ShardId, shard: Shard): Promise<boolean> {
    return (await this.client.transact('judged', closingWrites(id, shard, shard.hour, this.usageExpirySecs()))).done;
  }

  /** Ends a bucket: all its shards at once, what is used of their hours booked. False where one has changed meanwhile, or by this very call: the caller reads again. */
  async end(id: BucketId, shards: readonly Shard[]): Promise<boolean> {
    const writes = shards.flatMap((shard, i) => endingWrites({ ...id, shard: i }, shard, this.usageExpirySecs(), isUsed(shard)));
    const { done } = await this.client.transact('judged', writes);
    if (done) this.forget(id);
    return done;
  }

  /**
   * Twice as many shards, in one transaction: the existing ones get the new count, the new ones start empty. So nothing is
   * minted, and no two writers ever use different counts.
   */
  async double(id: BucketId): Promise<boolean> {
    const leave = await this.locks.hold(allShards(id, this.memoryOf(id).shardCount).map(shardName));
    try {
      const shards = await this.load(id);
      const [first] = shards;
      if (!first || !mayDouble(first, this.memoryOf(id).largest.amounts)) return false;
      const nowMs = this.clock.nowMs();
      const shardCount = first.shardCount * 2;
      const { expiresAtSecs: _, ...base } = first;
      const added: Shard = { ...base, limits: first.limits.map((limit) => emptyLimit(limit, nowMs)), shardCount, events: 0, eventsBefore: 0, writes: 0 };
      const writes = allShards(id, shardCount).map((shardId, i): Write => {
        const existing = shards[i];
        if (existing) return doublingWrite(shardId, existing, (limit) => debtFreeUpTo(limit, nowMs));
        return { table, put: shardItem(shardId, added), condition: absent('PK') };
      });
      const { done } = await this.client.transact('judged', writes);
      for (const shard of allShards(id, first.shardCount)) this.shards.delete(shardName(shard));
      await this.load(id);
      return done;
    } finally {
      leave();
    }
  }

  /** One refusal by the store may be anybody's doing; several of one bucket's writes within seconds are its own. */
  private noteThrottle(id: BucketId): void {
    const memory = this.memoryOf(id);
    const nowMs = this.clock.monotonicMs();
    memory.throttledAtMs = [...memory.throttledAtMs.filter((atMs) => nowMs - atMs < throttleMs), nowMs];
    if (memory.throttledAtMs.length < throttlesToSpread) return;
    memory.throttledAtMs = [];
    this.spread(id);
  }

  /** More is written to a bucket than one partition takes: more shards then, if there may be. */
  private spread(id: BucketId): void {
    const memory = this.memoryOf(id);
    const nowMs = this.clock.monotonicMs();
    if (memory.coolUntilMs > nowMs) return;
    memory.coolUntilMs = nowMs + coolMs;
    const { entityId, resource } = id;
    this.double(id).then(
      (done) => done && this.options.log.info({ entityId, resource, shardCount: this.shardCount(id) }, 'a hot bucket has more shards now'),
      (error: unknown) => this.options.log.warn({ err: error, entityId, resource }, 'a hot bucket could not be spread'),
    );
  }

  private async listBuckets(namespace: string, index: string, where: ReturnType<typeof and>): Promise<BucketId[]> {
    return bucketsIn(namespace, await this.client.queryAll({ table, index, where }));
  }

  private usageExpirySecs(): number {
    return epochSeconds(this.clock.nowMs()) + this.options.usageDays * 86_400;
  }

  private memoryOf(id: BucketId): BucketMemory {
    const name = bucketName(id);
    let memory = this.buckets.get(name);
    if (!memory) {
      memory = {
        shardCount: 1,
        preferred: 0,
        sample: undefined,
        largest: { sinceMs: this.clock.monotonicMs(), amounts: {} },
        refusal: undefined,
        throttledAtMs: [],
        coolUntilMs: 0,
      };
      this.buckets.set(name, memory);
    }
    return memory;
  }

  private noteLargest({ parts }: Operation): void {
    for (const { id, set, amounts } of parts) {
      if (!set) continue;
      const memory = this.memoryOf(id);
      const nowMs = this.clock.monotonicMs();
      if (nowMs - memory.largest.sinceMs > latelyMs) memory.largest = { sinceMs: nowMs, amounts: {} };
      const { amounts: largest } = memory.largest;
      for (const [name, milli] of Object.entries(amounts)) if (milli > (largest[name] ?? 0n)) largest[name] = milli;
    }
  }

  private learnAll(id: BucketId, shards: Shard[]): Shard[] {
    for (const [i, shard] of shards.entries()) this.learn({ ...id, shard: i }, shard);
    return shards;
  }

  /** Takes note of a shard as the store has just shown it. */
  private learn(id: ShardId, shard: Shard): void {
    const nowMs = this.clock.monotonicMs();
    this.shards.set(shardName(id), shard);
    const memory = this.memoryOf(id);
    if (memory.shardCount !== shard.shardCount) {
      memory.shardCount = shard.shardCount;
      memory.preferred = Math.floor(this.chosen * shard.shardCount);
      memory.sample = undefined;
    }
    const { sample } = memory;
    if (!sample || sample.shard !== id.shard || shard.writes < sample.writes) {
      memory.sample = { shard: id.shard, writes: shard.writes, atMs: nowMs };
      return;
    }
    const elapsedMs = nowMs - sample.atMs;
    if (elapsedMs < 1000) return;
    memory.sample = { shard: id.shard, writes: shard.writes, atMs: nowMs };
    if (((shard.writes - sample.writes) * 1000) / elapsedMs >= hotWritesASecond) this.spread(id);
  }

  /**
   * One group: as many takes as fit in order of arrival, with everything else, in one write. What the store answers says
   * exactly who is refused; whoever is neither done nor refused goes again.
   */
  private async commit(group: readonly Operation[]): Promise<Settled<Judged>[]> {
    const settled = new Map<Operation, Settled<Judged>>();
    const untilMs = this.clock.monotonicMs() + deadlineMs;
    const [{ parts: lane }] = group as [Operation];
    let exactAtMs: number | undefined;
    try {
      for (let attempt = 0; ; attempt++) {
        const open = group.filter((operation) => !settled.has(operation));
        if (open.length === 0) break;
        if (this.clock.monotonicMs() > untilMs || attempt > mostAttempts)
          throw new Overloaded('too many are writing to this bucket; nothing was taken: try again');
        if (attempt > 3) await sleep(randomFraction() * 20);
        const shards = await this.shardsFor(lane);
        const obstacle = this.obstacleOf(lane, shards);
        if (typeof obstacle === 'function') {
          await obstacle();
          continue;
        }
        if (obstacle) {
          for (const operation of open) settled.set(operation, { done: obstacle });
          break;
        }
        const nowMs = this.clock.nowMs();
        // What the store has just shown is judged as of then: what refills meanwhile is for whoever comes next, or two
        // gateways would chase each drop of an empty bucket.
        const { chosen, short } = this.choose(open, lane, shards, exactAtMs ?? nowMs);
        if (exactAtMs !== undefined && short.length > 0) this.refuse(short, lane, shards, exactAtMs, settled);
        // None would fit by what is remembered: all the same the store has the last word, on the first of them.
        const tried = chosen.length > 0 ? chosen : exactAtMs === undefined ? open.slice(0, 1) : [];
        if (tried.length === 0) continue;
        const { isExact, answers } = await this.send(tried, lane, shards, nowMs);
        exactAtMs = isExact ? nowMs : undefined;
        for (const [operation, outcome] of answers) settled.set(operation, { done: outcome });
      }
    } catch (error) {
      for (const operation of group) if (!settled.has(operation)) settled.set(operation, { done: { kind: 'failed', error } });
    }
    return group.map((operation) => settled.get(operation) ?? 'again');
  }

  /** The lane's shards as last seen. What only gives back or charges must know the bucket: there is nothing to assume. */
  private shardsFor(lane: readonly Part[]): (Shard | undefined)[] | Promise<(Shard | undefined)[]> {
    const remembered = lane.map(({ id }) => this.shards.get(shardName(id)));
    if (lane.every(({ id, set }, i) => remembered[i] || (set && id.shard === 0))) return remembered;
    return Promise.all(
      lane.map(async ({ id, set }, i) => {
        if (remembered[i] || (set && id.shard === 0)) return remembered[i];
        const item = await this.client.get(table, shardKey(id), { consistent: true });
        if (!item) return undefined;
        const shard = toShard(item);
        this.learn(id, shard);
        return shard;
      }),
    );
  }

  /** What stands in the way of a write; a function puts it aside. */
  private obstacleOf(lane: readonly Part[], shards: readonly (Shard | undefined)[]): Outcome | (() => unknown) | undefined {
    const hour = hourOf(this.clock.nowMs());
    for (const [i, { id, set }] of lane.entries()) {
      const shard = shards[i];
      if (!shard) {
        if (set && id.shard > 0) {
          this.forget(id);
          return { kind: 'moved' };
        }
        continue;
      }
      if (set && shard.version !== set.version) return { kind: 'stale', part: i, shard };
      if (shard.hour < hour) return () => this.closeHour(id, shard, hour);
      // Seen before the last doubling: to be looked at anew.
      if (this.memoryOf(id).shardCount !== shard.shardCount) return () => this.shards.delete(shardName(id));
    }
    return undefined;
  }

  private async closeHour(id: ShardId, shard: Shard, hour: number): Promise<void> {
    const writes = closingWrites(id, shard, hour, this.usageExpirySecs());
    const outcome = await this.client.transact('judged', isUsed(shard) ? writes : writes.slice(0, 1));
    if (outcome.done) this.learn(id, closed(shard, hour));
    else this.learnFrom(id, outcome.reasons[0]);
  }

  private learnFrom(id: ShardId, reason: { readonly kind: string; readonly old?: Item } | undefined): void {
    if (reason?.kind !== 'condition') return;
    if (reason.old) this.learn(id, toShard(reason.old));
    else this.shards.delete(shardName(id));
  }

  /** Who can go together: whatever takes nothing, and takes in order of arrival while there is enough. */
  private choose(open: readonly Operation[], lane: readonly Part[], shards: readonly (Shard | undefined)[], nowMs: number): Choice {
    const most = lane.length === 1 && !open[0]?.lease ? mostAGroup : mostItemsATransaction - lane.length;
    const candidates = open.slice(0, most);
    const admitted = lane.map((_, i) => {
      const requests = candidates.map(({ parts }) => (parts[i]?.set ? (parts[i] as Part).amounts : {}));
      const { set } = lane[i] as Part;
      if (!set) return requests.map(() => true);
      const { limits, shardCount } = shards[i] ?? unbornShard(set, nowMs);
      return admit(limits, requests, nowMs, shardCount);
    });
    const isChosen = candidates.map((_, at) => admitted.every((of) => of[at]));
    return { chosen: candidates.filter((_, at) => isChosen[at]), short: candidates.filter((_, at) => !isChosen[at]) };
  }

  private refuse(
    short: readonly Operation[],
    lane: readonly Part[],
    shards: readonly (Shard | undefined)[],
    atMs: number,
    settled: Map<Operation, Settled<Judged>>,
  ): void {
    const seen = lane.map(({ id, set }, i) => {
      const shard = shards[i] ?? unbornShard(set as LimitSet, atMs);
      if (shards[i]?.shardCount === 1) this.noteRefusal(id, [shard]);
      return { shard, atMs };
    });
    for (const operation of short) settled.set(operation, { done: { kind: 'short', seen } });
  }

  /** Sends one write for all of them. */
  private async send(tried: readonly Operation[], lane: readonly Part[], shards: readonly (Shard | undefined)[], nowMs: number): Promise<Answers> {
    const onThrottled = () => {
      for (const { id } of lane) this.noteThrottle(id);
    };
    // A bucket that is gone has nothing to be given back to: then only the leases are written.
    const planned = lane.flatMap((part, i) => {
      const plan = plannedWrite(part, shards[i], sumOf(tried, i), hourOf(nowMs), nowMs);
      return plan ? [{ id: part.id, at: i, ...plan }] : [];
    });
    const leases = tried.flatMap((operation) => (operation.lease ? [{ operation, write: operation.lease.write }] : []));
    const [only] = planned;
    if (planned.length === 0 && leases.length === 0) return { isExact: true, answers: allDone(tried, []) };
    const changesOnly = lane.every(({ set }) => !set);
    try {
      if (only && planned.length === 1 && leases.length === 0) {
        const outcome = await this.client.write(only.write, { returnNew: only.tellsAll ? 'changed' : 'all', onThrottled });
        if (outcome.done) {
          const shard = only.tellsAll ? toldBy(only.after, outcome.item as Item) : toShard(outcome.item as Item);
          this.learn(only.id, shard);
          if (changesOnly) this.memoryOf(only.id).refusal = undefined;
          return { isExact: true, answers: allDone(tried, [{ shard, atMs: nowMs }]) };
        }
        if (outcome.old) this.learn(only.id, toShard(outcome.old));
        else this.shards.delete(shardName(only.id));
        return { isExact: true, answers: new Map() };
      }
      const writes = [...planned.map(({ write }) => write), ...leases.map(({ write }) => write)];
      // A repeat is recognised by its leases. Without any, the conditions of the shards may hold a second time.
      const outcome = await this.client.transact(leases.length > 0 ? 'judged' : 'never', writes, { onThrottled });
      if (outcome.done) {
        const after: (Seen | undefined)[] = lane.map(() => undefined);
        for (const { id, at, after: shard } of planned) {
          this.learn(id, shard);
          after[at] = { shard, atMs: nowMs };
          if (changesOnly) this.memoryOf(id).refusal = undefined;
        }
        // A transaction returns no images: what others have done meanwhile is not in these.
        return { isExact: false, answers: allDone(tried, after) };
      }
      planned.forEach(({ id, at }, i) => {
        const reason = outcome.reasons[i];
        this.learnFrom(id, reason);
        // It would have gone, whatever memory says: then memory is wrong.
        const asked = tried[0]?.parts[at];
        const known = shards[at];
        if (reason?.kind !== 'condition' && asked?.set && known && !isEnough([known], asked.amounts, nowMs)) this.shards.delete(shardName(id));
      });
      const answers = new Map<Operation, Judged>();
      leases.forEach(({ operation }, i) => {
        const reason = outcome.reasons[planned.length + i];
        if (reason?.kind === 'condition') answers.set(operation, { kind: 'lease', old: reason.old });
      });
      return { isExact: true, answers };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // What became of these nobody knows, and what is remembered of their shards may be wrong; the others may still go.
      for (const { id } of lane) this.shards.delete(shardName(id));
      return { isExact: false, answers: new Map(tried.map((operation) => [operation, { kind: 'failed', error }])) };
    }
  }
}

interface Choice {
  readonly chosen: readonly Operation[];
  /** Those that would have been chosen if there were enough. */
  readonly short: readonly Operation[];
}

interface Answers {
  /** Whether what is now remembered of the shards is what the store has. */
  readonly isExact: boolean;
  readonly answers: Map<Operation, Judged>;
}

const shardName = (id: ShardId): string => `${id.namespace}/${id.entityId}#${id.resource}#${id.shard}`;
const bucketName = (id: BucketId): string => `${id.namespace}/${id.entityId}#${id.resource}`;
const allShards = (id: BucketId, count: number): ShardId[] =>
  Array.from({ length: count }, (_, shard) => ({ namespace: id.namespace, entityId: id.entityId, resource: id.resource, shard }));

const allDone = (tried: readonly Operation[], after: readonly (Seen | undefined)[]): Map<Operation, Judged> =>
  new Map(tried.map((operation) => [operation, { kind: 'done', after }]));

/** What all of the operations together do to the lane's shard `at`. */
function sumOf(operations: readonly Operation[], at: number): Doing {
  const moves = new Map<string, Move>();
  let events = 0;
  for (const { parts } of operations) {
    const { set, amounts, events: counted } = parts[at] as Part;
    events += counted;
    for (const [name, milli] of Object.entries(amounts)) {
      const sum = moves.get(name) ?? { takeMilli: 0n, chargeMilli: 0n, returnMilli: 0n, judged: false };
      if (set) moves.set(name, { ...sum, takeMilli: sum.takeMilli + milli, judged: true });
      else if (milli > 0n) moves.set(name, { ...sum, chargeMilli: sum.chargeMilli + milli });
      else moves.set(name, { ...sum, returnMilli: sum.returnMilli - milli });
    }
  }
  const expiring = operations.map(({ parts }) => parts[at]?.mayExpire);
  return expiring.includes(undefined) ? { moves, events } : { moves, events, mayExpire: !expiring.includes(false) };
}

function plannedWrite(part: Part, shard: Shard | undefined, doing: Doing, hour: number, nowMs: number): PlannedWrite | undefined {
  if (shard) return changeOf(part.id, shard, doing, nowMs);
  return part.set ? creationOf(part.id, part.set, doing, hour, nowMs) : undefined;
}

/** The buckets whose shards these are, each once. */
function bucketsIn(namespace: string, shards: readonly Item[]): BucketId[] {
  const found = new Map<string, BucketId>();
  for (const { PK } of shards) {
    const [, entityId = '', resource = ''] = (PK as string).slice(namespace.length).split('#');
    found.set(`${entityId}#${resource}`, { namespace, entityId, resource });
  }
  return [...found.values()];
}
