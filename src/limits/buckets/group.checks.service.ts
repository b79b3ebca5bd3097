import type { GroupBucket, GroupBuckets } from './group.buckets.service.js';
import type { PlannedResult, SelectedOperation } from './group.selection.service.js';
import type { Part } from './operation.js';
import type { Plan } from './plan.js';

// Checks of a planned write: a plan that is based on cached shards may be wrong in ways that no condition of the write
// would detect. Each function returns the buckets that have to be read before the plan can be trusted.

const maxItemsPerTransaction = 100;

/** The buckets of the planned results that match. */
function bucketsWhere(
  buckets: GroupBuckets,
  selected: readonly SelectedOperation[],
  matches: (result: PlannedResult, part: Part) => boolean,
): GroupBucket[] {
  return selected.flatMap(({ operation, results }) =>
    results.flatMap((result, i) => (matches(result, operation.parts[i] as Part) ? [buckets.ofPart(i)] : [])),
  );
}

/**
 * Buckets in which a settle did not find all of its limits. Another gateway may have added them since the shards were
 * cached, so this is trusted only if the bucket was read for this group.
 */
export const bucketsToRead = (buckets: GroupBuckets, selected: readonly SelectedOperation[]): GroupBucket[] =>
  bucketsWhere(
    buckets,
    selected,
    (result, { action }) =>
      action.kind === 'settle' &&
      result.kind === 'settle' &&
      action.moves.some(({ out }, nth) => Object.keys(out).some((name) => result.applied[nth]?.[name] === undefined)),
  ).filter(({ isRead }) => !isRead);

/** Buckets with a charge that is split over the shards. The split needs all shards. */
export const bucketsToSplit = (buckets: GroupBuckets, selected: readonly SelectedOperation[]): GroupBucket[] =>
  bucketsWhere(
    buckets,
    selected,
    (result) =>
      result.kind === 'settle' &&
      result.applied.some((limits) => Object.values(limits).some(({ split }) => split !== undefined)),
  ).filter(({ usesAllShards }) => !usesAllShards);

/**
 * Buckets in which a shadow limit would have refused, by a cache that may be out of date. A shadow refusal is counted
 * only if all shards, as read within the last second, do not have enough. Caches the shortages that are certain.
 */
export function uncertainShortages(
  buckets: GroupBuckets,
  selected: readonly SelectedOperation[],
  isExact: boolean,
): GroupBucket[] {
  const uncertain = new Set<GroupBucket>();
  for (const { results } of selected)
    for (const [i, result] of results.entries()) {
      if (result.kind !== 'take' || result.wouldRefuse.length === 0) continue;
      const bucket = buckets.ofPart(i);
      const { cache, usesAllShards, isRead } = bucket;
      const isCertain = cache.shardCount > 1 ? usesAllShards : isRead || isExact;
      if (isCertain) cache.cacheShortage(result.wouldRefuse);
      else if (!cache.isShortOf(result.wouldRefuse)) uncertain.add(bucket);
    }
  return [...uncertain];
}

/** The max number of operations with riders that fit into one transaction beside this many shards; at least 1. */
export const maxOperationsPerTransaction = (shards: number, itemsPerRider: number): number =>
  Math.max(1, Math.floor((maxItemsPerTransaction - shards) / itemsPerRider));

/** The bucket with the most writes if the transaction would have too many items; undefined if all items fit. */
export function bucketToHalve(
  buckets: GroupBuckets,
  plans: readonly Plan[],
  riderItems: number,
): GroupBucket | undefined {
  const writes = plans.map((plan) => plan.result().length);
  if (writes.reduce((sum, count) => sum + count, riderItems) <= maxItemsPerTransaction) return undefined;
  return buckets.all[writes.indexOf(Math.max(...writes))];
}
