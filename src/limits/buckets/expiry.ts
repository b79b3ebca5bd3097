import { epochSeconds } from '../../lib/clock.js';
import { fillMs, fullAtMs, type LimitState } from './bucket.js';
import { allLimits, type Shard } from './shard.js';

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const centuryMs = 36_525 * dayMs;

/** The retention of a bucket after its last write: seven times its fill time, at least three days. */
export const retentionMs = (limits: readonly LimitState[]): number =>
  Math.max(3 * dayMs, ...limits.map((limit) => 7 * fillMs(limit)));

/** The time at which all limits of the shard are full. */
const shardFullAtMs = (shard: Shard): number => Math.max(...allLimits(shard).map(fullAtMs));

/** True if the shard is full and was not written within its retention. */
export const isIdle = (shard: Shard, nowMs: number): boolean =>
  shardFullAtMs(shard) < nowMs && (shard.hour + 1) * hourMs + retentionMs(allLimits(shard)) < nowMs;

/** No shards if the bucket has expired: DynamoDB deletes expired items up to days later. */
export const unexpired = (shards: readonly Shard[], nowMs: number): readonly Shard[] =>
  shards.every(({ expiresAtSecs }) => expiresAtSecs === undefined || expiresAtSecs * 1000 > nowMs) ? shards : [];

/** When a shard that is written now may expire; undefined if that is more than a century away. */
export function expiryMs(shard: Shard, nowMs: number): number | undefined {
  const retainedUntilMs = nowMs + retentionMs(allLimits(shard));
  const paidAtMs = shardFullAtMs(shard);
  // One day more than a debt lasts, so that a concurrent charge of another gateway rarely forces a second attempt.
  const atMs = paidAtMs > retainedUntilMs - dayMs ? paidAtMs + dayMs : retainedUntilMs;
  return atMs < nowMs + centuryMs ? atMs : undefined;
}

export const ttlOf = (atMs: number | undefined): number | undefined =>
  atMs === undefined ? undefined : epochSeconds(atMs) + 1;

export function withExpiry({ expiresAtSecs: _, ...shard }: Shard, ttl: number | undefined): Shard {
  return ttl === undefined ? shard : { ...shard, expiresAtSecs: ttl };
}

/** The shard with the expiry that a write at `nowMs` gives it. Only a bucket of one shard expires. */
export const expiring = (shard: Shard, mayExpire: boolean, nowMs: number): Shard =>
  withExpiry(shard, mayExpire && shard.shardCount === 1 ? ttlOf(expiryMs(shard, nowMs)) : undefined);
