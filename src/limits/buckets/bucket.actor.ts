import type { Clock } from '../../lib/clock.js';
import { smaller } from '../../lib/int.js';
import type { LimitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { type Amounts, ceiling, room } from './bucket.js';
import { isEnough, mayHaveShards, type Shard, type ShardAt } from './shard.js';

/** How long a refusal may be repeated from memory. */
const refusalMs = 1000;
const hotWritesPerSecond = 800;
/** After a folding each shard has twice this at the most. */
const quietWritesPerSecond = 200;
const quietMs = 600_000;
const largestKeptMs = 600_000;
const sampleMs = 1000;
const shareUnit = 1_000_000n;

/** What the writes on a bucket say about its number of shards. */
export type Load = 'hot' | 'quiet' | undefined;

/** One bucket in this process: what it was last seen like, what it last refused, and how fast it is written. */
export class BucketActor {
  private shards: (Shard | undefined)[] = [];
  private count = 1;
  private homeShard = 0;
  private sample: { readonly shard: number; readonly writes: number; readonly atMs: number } | undefined;
  private quietSinceMs: number | undefined;
  private refusal: { readonly shards: readonly ShardAt[]; readonly untilMs: number } | undefined;
  private shortage: { readonly limits: ReadonlySet<string>; readonly untilMs: number } | undefined;
  private largest: { readonly sinceMs: number; readonly amounts: Record<string, bigint> };

  constructor(
    readonly id: BucketId,
    private readonly clock: Clock,
    /** From 0 to 1: so that each process prefers another shard. */
    private readonly preference: number,
  ) {
    this.largest = { sinceMs: clock.monotonicMs(), amounts: {} };
  }

  /** The shard this process takes from, so that its acquires group. */
  get home(): number {
    return this.homeShard;
  }

  get shardCount(): number {
    return this.count;
  }

  seen(index: number): Shard | undefined {
    return this.shards[index];
  }

  /** All shards that are known, for what is told in passing. */
  known(): Shard[] {
    return this.shards.filter((shard) => shard !== undefined);
  }

  forget(index?: number): void {
    if (index === undefined) this.shards = [];
    else this.shards[index] = undefined;
    this.refusal = undefined;
  }

  learnAll(shards: readonly Shard[]): void {
    if (shards.length === 0) {
      this.forget();
      this.become(1);
    }
    for (const [index, shard] of shards.entries()) this.learn(index, shard);
  }

  /** Takes note of a shard as the store has just shown it. */
  learn(index: number, shard: Shard): Load {
    if (shard.shardCount !== this.count || this.shards.some((other) => other && other.birth !== shard.birth)) {
      this.shards = [];
      this.become(shard.shardCount);
    }
    this.shards[index] = shard;
    return this.measure(index, shard.writes);
  }

  private become(shardCount: number): void {
    this.count = shardCount;
    this.homeShard = Math.floor(this.preference * shardCount);
    this.sample = undefined;
    this.quietSinceMs = undefined;
    this.refusal = undefined;
    this.shortage = undefined;
  }

  private measure(index: number, writes: number): Load {
    const nowMs = this.clock.monotonicMs();
    const { sample } = this;
    if (!sample || sample.shard !== index || writes < sample.writes) {
      this.sample = { shard: index, writes, atMs: nowMs };
      return undefined;
    }
    const elapsedMs = nowMs - sample.atMs;
    if (elapsedMs < sampleMs) return undefined;
    this.sample = { shard: index, writes, atMs: nowMs };
    const perSecond = ((writes - sample.writes) * 1000) / elapsedMs;
    if (perSecond >= quietWritesPerSecond) this.quietSinceMs = undefined;
    else this.quietSinceMs ??= sample.atMs;
    if (perSecond >= hotWritesPerSecond) return 'hot';
    return this.count > 1 && this.quietSinceMs !== undefined && nowMs - this.quietSinceMs >= quietMs
      ? 'quiet'
      : undefined;
  }

  /** After all shards were looked at: takes from the one that has most of what it has least of. */
  moveHome(nowMs: number): void {
    const shareOf = (shard: Shard | undefined): bigint =>
      shard
        ? shard.limits.map((limit) => (room(limit, nowMs) * shareUnit) / ceiling(limit)).reduce(smaller)
        : -shareUnit;
    let best = this.homeShard;
    for (let index = 0; index < this.count; index++)
      if (shareOf(this.shards[index]) > shareOf(this.shards[best])) best = index;
    if (best !== this.homeShard) this.sample = undefined;
    this.homeShard = best;
  }

  noteAsked(amounts: Amounts): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.largest.sinceMs > largestKeptMs) this.largest = { sinceMs: nowMs, amounts: {} };
    const { amounts: largest } = this.largest;
    for (const [name, milli] of Object.entries(amounts)) if (milli > (largest[name] ?? 0n)) largest[name] = milli;
  }

  /** Whether so many shards would serve all that was lately asked for. */
  mayHave(shardCount: number, first: Shard): boolean {
    return mayHaveShards(shardCount, first, this.largest.amounts);
  }

  /** Notes that all shards together have just refused. */
  noteRefusal(shards: readonly ShardAt[]): void {
    this.refusal = { shards, untilMs: this.clock.monotonicMs() + refusalMs };
  }

  /** Notes that all shards together are short of these limits, which are not enforced. */
  noteShortage(limits: readonly string[]): void {
    this.shortage = { limits: new Set(limits), untilMs: this.clock.monotonicMs() + refusalMs };
  }

  /** Whether all shards together were lately short of these. */
  isShortOf(limits: readonly string[]): boolean {
    const { shortage } = this;
    return (
      shortage !== undefined &&
      shortage.untilMs > this.clock.monotonicMs() &&
      limits.every((limit) => shortage.limits.has(limit))
    );
  }

  /** Something was charged or given back, or is about to be. */
  forgetRefusal(): void {
    this.refusal = undefined;
    this.shortage = undefined;
  }

  /** The shards that refused lately and would refuse this too; nothing is asked of the store. */
  refusedBy({ version }: LimitSet, amounts: Amounts): readonly Shard[] | undefined {
    const { refusal } = this;
    if (!refusal || refusal.untilMs <= this.clock.monotonicMs()) return undefined;
    // With what this process has taken since, or the time to retry would be too early.
    const shards = refusal.shards.map(({ index, shard }) => this.shards[index] ?? shard);
    if (shards.some((shard) => shard.version !== version)) return undefined;
    return isEnough(shards, amounts, this.clock.nowMs()) ? undefined : shards;
  }
}
