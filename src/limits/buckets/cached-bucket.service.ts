import type { Clock } from '../../lib/clock.js';
import { smaller } from '../../lib/int.js';
import type { LimitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { type Amounts, ceiling, room } from './bucket.js';
import { isEnough, mayHaveShards, type Shard, type ShardAt } from './shard.js';

/** How long a bucket that was not found is taken for absent. A wrong guess costs a write of its directory entry. */
const absentTtlMs = 1000;
/** How long a refusal may be repeated from the cache. */
const refusalTtlMs = 1000;
const hotWritesPerSecond = 800;
/** Halving doubles the writes per shard, so a shard then has at most twice this. */
const quietWritesPerSecond = 200;
const quietMs = 600_000;
const maxRequestedTtlMs = 600_000;
const minSampleMs = 1000;
/** Shares of a limit are compared as integers, in parts of this. */
const shareUnit = 1_000_000n;

/** The write rate of a bucket: `hot` asks for more shards, `quiet` for fewer. */
export type WriteLoad = 'hot' | 'quiet' | undefined;

/** What this process has cached of one bucket: its shards, its last refusal and its write rate. */
export class CachedBucket {
  private shards: (Shard | undefined)[] = [];
  private count = 1;
  private home = 0;
  private absentUntilMs = Number.NEGATIVE_INFINITY;
  private sample: { readonly shard: number; readonly writes: number; readonly atMs: number } | undefined;
  private quietSinceMs: number | undefined;
  private refusal: { readonly shards: readonly ShardAt[]; readonly untilMs: number } | undefined;
  private shortage: { readonly limits: ReadonlySet<string>; readonly untilMs: number } | undefined;
  private maxRequested: { readonly sinceMs: number; readonly amounts: Record<string, bigint> };

  constructor(
    readonly id: BucketId,
    private readonly clock: Clock,
    /** From 0 to 1, random per process, so that processes prefer different shards. */
    private readonly shardPreference: number,
  ) {
    this.maxRequested = { sinceMs: clock.monotonicMs(), amounts: {} };
  }

  /** The shard that this process takes from, so that its acquires share writes. */
  get homeShard(): number {
    return this.home;
  }

  get shardCount(): number {
    return this.count;
  }

  shardAt(index: number): Shard | undefined {
    return this.shards[index];
  }

  /** True if the bucket did not exist a moment ago. */
  get isAbsent(): boolean {
    return this.absentUntilMs > this.clock.monotonicMs();
  }

  /** True if some shard is cached. */
  get hasShards(): boolean {
    return this.shards.some((shard) => shard !== undefined);
  }

  /** All cached shards. May be incomplete. */
  cachedShards(): Shard[] {
    return this.shards.filter((shard) => shard !== undefined);
  }

  /** Drops one shard, or all, and the refusal. */
  invalidate(index?: number): void {
    this.absentUntilMs = Number.NEGATIVE_INFINITY;
    if (index === undefined) this.shards = [];
    else this.shards[index] = undefined;
    this.refusal = undefined;
  }

  /** Caches all shards of a bucket; none: the bucket does not exist. */
  updateAll(shards: readonly Shard[]): void {
    if (shards.length === 0) {
      this.invalidate();
      this.reset(1);
      this.absentUntilMs = this.clock.monotonicMs() + absentTtlMs;
    }
    for (const [index, shard] of shards.entries()) this.update(index, shard);
  }

  /** Caches a shard that was just read or written, and returns the write load. */
  update(index: number, shard: Shard): WriteLoad {
    const isOtherBucket = this.shards.some((other) => other && other.incarnation !== shard.incarnation);
    if (shard.shardCount !== this.count || isOtherBucket) {
      this.shards = [];
      this.reset(shard.shardCount);
    }
    this.shards[index] = shard;
    this.absentUntilMs = Number.NEGATIVE_INFINITY;
    return this.measure(index, shard.writes);
  }

  private reset(shardCount: number): void {
    this.count = shardCount;
    this.home = Math.floor(this.shardPreference * shardCount);
    this.sample = undefined;
    this.quietSinceMs = undefined;
    this.refusal = undefined;
    this.shortage = undefined;
  }

  private measure(index: number, writes: number): WriteLoad {
    const nowMs = this.clock.monotonicMs();
    const { sample } = this;
    if (!sample || sample.shard !== index || writes < sample.writes) {
      this.sample = { shard: index, writes, atMs: nowMs };
      return undefined;
    }
    const elapsedMs = nowMs - sample.atMs;
    if (elapsedMs < minSampleMs) return undefined;
    this.sample = { shard: index, writes, atMs: nowMs };
    const perSecond = ((writes - sample.writes) * 1000) / elapsedMs;
    if (perSecond >= quietWritesPerSecond) this.quietSinceMs = undefined;
    else this.quietSinceMs ??= sample.atMs;
    if (perSecond >= hotWritesPerSecond) return 'hot';
    return this.count > 1 && this.quietSinceMs !== undefined && nowMs - this.quietSinceMs >= quietMs
      ? 'quiet'
      : undefined;
  }

  /** Moves the home shard to the one whose scarcest limit has the largest share left. Needs all shards cached. */
  moveHome(nowMs: number): void {
    const shareOf = (shard: Shard | undefined): bigint =>
      shard
        ? shard.limits.map((limit) => (room(limit, nowMs) * shareUnit) / ceiling(limit)).reduce(smaller)
        : -shareUnit;
    let best = this.home;
    for (let index = 0; index < this.count; index++)
      if (shareOf(this.shards[index]) > shareOf(this.shards[best])) best = index;
    if (best !== this.home) this.sample = undefined;
    this.home = best;
  }

  /** Records requested amounts, because no share of a shard may be smaller than the largest of them. */
  recordRequested(amounts: Amounts): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.maxRequested.sinceMs > maxRequestedTtlMs) this.maxRequested = { sinceMs: nowMs, amounts: {} };
    const { amounts: largest } = this.maxRequested;
    for (const [name, milli] of Object.entries(amounts)) if (milli > (largest[name] ?? 0n)) largest[name] = milli;
  }

  /** True if this many shards would serve the limits and all recently requested amounts. */
  mayHaveShards(shardCount: number, first: Shard): boolean {
    return mayHaveShards(shardCount, first, this.maxRequested.amounts);
  }

  /** Caches that all shards together have just refused. */
  cacheRefusal(shards: readonly ShardAt[]): void {
    this.refusal = { shards, untilMs: this.clock.monotonicMs() + refusalTtlMs };
  }

  /** Caches that all shards together do not have enough of these shadow limits. */
  cacheShortage(limits: readonly string[]): void {
    this.shortage = { limits: new Set(limits), untilMs: this.clock.monotonicMs() + refusalTtlMs };
  }

  /** True if the cache says that all shards together do not have enough of these shadow limits. */
  isShortOf(limits: readonly string[]): boolean {
    const { shortage } = this;
    return (
      shortage !== undefined &&
      shortage.untilMs > this.clock.monotonicMs() &&
      limits.every((limit) => shortage.limits.has(limit))
    );
  }

  /** To be called when something is charged or given back. */
  invalidateRefusal(): void {
    this.refusal = undefined;
    this.shortage = undefined;
  }

  /** The shards that have recently refused and would refuse these amounts too. Does not read from the store. */
  cachedRefusal({ version }: LimitSet, amounts: Amounts): readonly Shard[] | undefined {
    const { refusal } = this;
    if (!refusal || refusal.untilMs <= this.clock.monotonicMs()) return undefined;
    // Prefers the cached shards, because they include what this process has taken since. Otherwise the retry time would
    // be too early.
    const shards = refusal.shards.map(({ index, shard }) => this.shards[index] ?? shard);
    if (shards.some((shard) => shard.version !== version)) return undefined;
    return isEnough(shards, amounts, this.clock.nowMs()) ? undefined : shards;
  }
}
