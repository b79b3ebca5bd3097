import { epochSeconds } from '../../lib/clock.js';
import { keptMs, type Shard, shardFullAtMs } from './shard.js';

const dayMs = 86_400_000;
const centuryMs = 36_525 * dayMs;

export function withExpiry({ expiresAtSecs: _, ...shard }: Shard, ttl: number | undefined): Shard {
  return ttl === undefined ? shard : { ...shard, expiresAtSecs: ttl };
}

/** When the item may go; undefined where that is so far off that it need not. */
export function expiryMs(shard: Shard, nowMs: number): number | undefined {
  const kept = nowMs + keptMs([...shard.limits, ...shard.kept]);
  const paid = shardFullAtMs(shard);
  // A day more than a debt lasts, so that another's charge meanwhile seldom needs a second thought.
  const atMs = paid > kept - dayMs ? paid + dayMs : kept;
  return atMs < nowMs + centuryMs ? atMs : undefined;
}

export const ttlOf = (atMs: number | undefined): number | undefined =>
  atMs === undefined ? undefined : epochSeconds(atMs) + 1;

/** The shard with the expiry that it has if it was written now. */
export const expiring = (shard: Shard, mayExpire: boolean, nowMs: number): Shard =>
  withExpiry(shard, mayExpire && shard.shardCount === 1 ? ttlOf(expiryMs(shard, nowMs)) : undefined);
