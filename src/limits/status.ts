import { type Amounts, sumOf } from './buckets/bucket.js';
import { type BucketView, byBucket } from './buckets/operation.js';
import { availableAcross, retryAcrossMs } from './buckets/shard.js';
import { type Limit, limitOf, tokensOf } from './limit.js';
import type { BucketId } from './limiter-keys.js';

/** How one limit of a bucket stands. */
export interface LimitStatus {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: Limit;
  readonly requested: number;
  readonly available: number;
  readonly exceeded: boolean;
  readonly retryAfterSecs: number;
  /** Whether a limit that is not enforced would have refused. */
  readonly wouldRefuse: boolean;
}

/** A bucket at a moment: all its shards. */
export interface Standing extends BucketView {
  readonly entityId: string;
  readonly resource: string;
}

export const standingOf = (
  { entityId, resource }: Pick<Standing, 'entityId' | 'resource'>,
  { shards, atMs }: BucketView,
): Standing => ({
  entityId,
  resource,
  shards,
  atMs,
});

/** How every limit stands for what is asked of it. */
export function statusesOf({ entityId, resource, shards, atMs }: Standing, requested: Amounts): LimitStatus[] {
  return (shards[0]?.limits ?? []).map((limit) => {
    const milli = requested[limit.name] ?? 0n;
    const retryMs = retryAcrossMs(shards, limit.name, milli, atMs);
    const isShort = retryMs > 0;
    return {
      entityId,
      resource,
      limit: limitOf(limit),
      requested: tokensOf(milli),
      available: tokensOf(availableAcross(shards, limit.name, atMs)),
      exceeded: isShort,
      retryAfterSecs: retryMs / 1000,
      wouldRefuse: isShort && limit.isShadow === true,
    };
  });
}

/** How every limit stands after something was taken, charged or given back: nothing is exceeded but what is in debt. */
export const statusesAfter = (
  standing: Standing,
  requested: Amounts,
  wouldRefuse: readonly string[] = [],
): LimitStatus[] =>
  statusesOf(standing, {}).map((status) => ({
    ...status,
    requested: tokensOf(requested[status.limit.name] ?? 0n),
    wouldRefuse: wouldRefuse.includes(status.limit.name),
  }));

/** Of the limits that are enforced. */
export const longestWaitSecs = (statuses: readonly LimitStatus[]): number =>
  Math.max(0, ...statuses.map(({ retryAfterSecs, limit }) => (limit.enforce ? retryAfterSecs : 0)));

export interface RateLimited {
  readonly kind: 'RateLimited';
  readonly message: string;
  readonly statuses: readonly LimitStatus[];
  readonly violations: readonly LimitStatus[];
  readonly retryAfterSecs: number;
}

/** What is asked of one bucket by one or several requests, and how it stands. */
export interface Asked {
  readonly bucket: BucketId;
  readonly statuses: readonly LimitStatus[];
}

/** Requests on the same bucket count together. */
export function askedOf(
  targets: readonly { readonly bucket: BucketId; readonly amounts: Amounts }[],
  seen: readonly BucketView[],
): Asked[] {
  return byBucket(targets.map(({ bucket, amounts }, i) => ({ bucket, amounts, sight: seen[i] as BucketView }))).map(
    (together) => {
      const [{ bucket, sight }] = together;
      return { bucket, statuses: statusesOf(standingOf(bucket, sight), sumOf(together.map(({ amounts }) => amounts))) };
    },
  );
}

export const violationsOf = (statuses: readonly LimitStatus[]): LimitStatus[] =>
  statuses.filter(({ exceeded, limit }) => exceeded && limit.enforce);

/** The answer to those that there is not enough for. */
export function refusal(asked: readonly Asked[]): RateLimited {
  const statuses = asked.flatMap((of) => of.statuses);
  const violations = violationsOf(statuses);
  const retryAfterSecs = longestWaitSecs(statuses);
  const named = violations.map(({ entityId, limit, available, requested }) =>
    available < 0
      ? `"${limit.name}" of "${entityId}" is ${-available} in debt`
      : `"${limit.name}" of "${entityId}" has ${available} of ${requested} wanted`,
  );
  const resources = [...new Set(asked.map(({ bucket }) => `"${bucket.resource}"`))].join(', ');
  return {
    kind: 'RateLimited',
    message: `refused on ${resources}: ${named.join(', ')}; try again in ${retryAfterSecs} s`,
    statuses,
    violations,
    retryAfterSecs,
  };
}
