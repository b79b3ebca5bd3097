import { type Amounts, sumOf } from './buckets/bucket.js';
import { type BucketView, byBucket } from './buckets/operation.js';
import { availableAcross, retryAcrossMs } from './buckets/shard.js';
import { type Limit, limitOf, tokensOf } from './limit.js';
import type { BucketId } from './limiter-keys.js';

/** The status of one limit of a bucket. */
export interface LimitStatus {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: Limit;
  readonly requested: number;
  readonly available: number;
  readonly exceeded: boolean;
  readonly retryAfterSecs: number;
  /** True if a limit that is not enforced would have refused. */
  readonly wouldRefuse: boolean;
}

type EntityResource = Pick<BucketId, 'entityId' | 'resource'>;

/** The status of each limit of a bucket for a request of these amounts. */
export function statusesOf(
  { entityId, resource }: EntityResource,
  { shards, atMs }: BucketView,
  requested: Amounts,
): LimitStatus[] {
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

/** The status of each limit after tokens were taken, charged or given back. Only a limit in debt counts as exceeded. */
export const statusesAfter = (
  bucket: EntityResource,
  after: BucketView,
  requested: Amounts,
  wouldRefuse: readonly string[] = [],
): LimitStatus[] =>
  statusesOf(bucket, after, {}).map((status) => ({
    ...status,
    requested: tokensOf(requested[status.limit.name] ?? 0n),
    wouldRefuse: wouldRefuse.includes(status.limit.name),
  }));

/** The longest wait among the limits that are enforced. */
export const maxRetryAfterSecs = (statuses: readonly LimitStatus[]): number =>
  Math.max(0, ...statuses.map(({ retryAfterSecs, limit }) => (limit.enforce ? retryAfterSecs : 0)));

export interface RateLimited {
  readonly kind: 'RateLimited';
  readonly message: string;
  readonly statuses: readonly LimitStatus[];
  readonly violations: readonly LimitStatus[];
  readonly retryAfterSecs: number;
}

/** The statuses of one bucket for all requests of one operation that take from it. */
export interface BucketStatuses {
  readonly bucket: BucketId;
  readonly statuses: readonly LimitStatus[];
}

/** The statuses per bucket. The amounts of several requests for the same bucket are added up. */
export function statusesByBucket(
  targets: readonly { readonly bucket: BucketId; readonly amounts: Amounts }[],
  views: readonly BucketView[],
): BucketStatuses[] {
  return byBucket(targets.map(({ bucket, amounts }, i) => ({ bucket, amounts, view: views[i] as BucketView }))).map(
    (group) => {
      const [{ bucket, view }] = group;
      return { bucket, statuses: statusesOf(bucket, view, sumOf(group.map(({ amounts }) => amounts))) };
    },
  );
}

/** The limits that refuse: exceeded and enforced. */
export const violationsOf = (statuses: readonly LimitStatus[]): LimitStatus[] =>
  statuses.filter(({ exceeded, limit }) => exceeded && limit.enforce);

/** The result of an acquire for which there are not enough tokens. */
export function refusal(buckets: readonly BucketStatuses[]): RateLimited {
  const statuses = buckets.flatMap((bucket) => bucket.statuses);
  const violations = violationsOf(statuses);
  const retryAfterSecs = maxRetryAfterSecs(statuses);
  const reasons = violations.map(({ entityId, limit, available, requested }) =>
    available < 0
      ? `"${limit.name}" of "${entityId}" is ${-available} tokens in debt`
      : `"${limit.name}" of "${entityId}" has ${available} of ${requested} requested tokens`,
  );
  const resources = [...new Set(buckets.map(({ bucket }) => `"${bucket.resource}"`))].join(', ');
  return {
    kind: 'RateLimited',
    message: `rate limited on ${resources}: ${reasons.join(', ')}; retry in ${retryAfterSecs} s`,
    statuses,
    violations,
    retryAfterSecs,
  };
}
