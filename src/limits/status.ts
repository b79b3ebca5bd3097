import type { Amounts } from './buckets/bucket.js';
import { availableAcross, retryAcrossMs, type Shard } from './buckets/shard.js';
import { type Limit, limitOf, tokensOf } from './limit.js';

/** How one limit of a bucket stands. */
export interface LimitStatus {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: Limit;
  readonly requested: number;
  readonly available: number;
  readonly exceeded: boolean;
  readonly retryAfterSecs: number;
}

/** A bucket at a moment: all its shards. */
export interface Standing {
  readonly entityId: string;
  readonly resource: string;
  readonly shards: readonly Shard[];
  readonly atMs: number;
}

/** How every limit stands for what is asked of it. */
export function statusesOf({ entityId, resource, shards, atMs }: Standing, requested: Amounts): LimitStatus[] {
  return (shards[0]?.limits ?? []).map((limit) => {
    const milli = requested[limit.name] ?? 0n;
    const retryMs = retryAcrossMs(shards, limit.name, milli, atMs);
    return {
      entityId,
      resource,
      limit: limitOf(limit),
      requested: tokensOf(milli),
      available: tokensOf(availableAcross(shards, limit.name, atMs)),
      exceeded: retryMs > 0,
      retryAfterSecs: retryMs / 1000,
    };
  });
}

/** How every limit stands after something was taken, charged or given back: nothing is exceeded but what is in debt. */
export const statusesAfter = (standing: Standing, requested: Amounts): LimitStatus[] =>
  statusesOf(standing, {}).map((status) => ({ ...status, requested: tokensOf(requested[status.limit.name] ?? 0n) }));

export const longestWaitSecs = (statuses: readonly LimitStatus[]): number => Math.max(0, ...statuses.map(({ retryAfterSecs }) => retryAfterSecs));
