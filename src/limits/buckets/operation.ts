import type { TransactItem } from '../../dynamo/transact-item.js';
import type { BucketId } from '../limiter-keys.js';
import type { Holding } from './holding.js';
import type { Settle, Settlement, Take } from './plan.js';
import type { Shard } from './shard.js';

/** What an operation does to one bucket. */
export interface Part {
  readonly bucket: BucketId;
  readonly act: Take | Settle;
}

/** What was taken, shard by shard. */
export interface Taken {
  readonly kind: 'take';
  readonly holdings: readonly Holding[];
  /** Shadow limits that would have refused it, and were not charged. */
  readonly wouldRefuse: readonly string[];
}

export type PartResult = Taken | Settlement;

export const isTaken = (result: PartResult): result is Taken => result.kind === 'take';

/** What all takes among the results hold. */
export const heldBy = (results: readonly PartResult[]): Holding[] =>
  results.filter(isTaken).flatMap(({ holdings }) => holdings);

/** A write that goes with an operation, both or neither: made anew for wherever the parts are placed. */
export interface Rider {
  readonly name: string;
  draft(results: readonly PartResult[]): TransactItem;
  /** A record of it, whose key nobody else has. */
  readonly record?: TransactItem;
}

/** What is written together or not at all. */
export interface Operation {
  readonly parts: readonly Part[];
  readonly rider?: Rider;
}

/** A bucket at a moment: its shards, as far as they are known. */
export interface Sight {
  readonly shards: readonly Shard[];
  readonly atMs: number;
}

export type Outcome =
  | { readonly kind: 'done'; readonly results: readonly PartResult[]; readonly after: readonly Sight[] }
  /** There is not enough: how the bucket of each part stands. */
  | { readonly kind: 'short'; readonly seen: readonly Sight[] }
  /** A part's bucket is stamped with other limits than the take was judged by. */
  | { readonly kind: 'stale'; readonly part: number; readonly shard: Shard }
  /** What goes with it is not as its condition expects: as it is there. */
  | { readonly kind: 'rider'; readonly old: unknown };

/** Those on the same bucket together, in order of arrival. */
export function byBucket<T extends { readonly bucket: BucketId }>(targets: readonly T[]): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const target of targets) {
    const group = groups.get(bucketName(target.bucket));
    if (group) group.push(target);
    else groups.set(bucketName(target.bucket), [target]);
  }
  return [...groups.values()];
}

export const bucketName = ({ namespace, entityId, resource, isOwn }: BucketId): string =>
  `${namespace}/${entityId}#${resource}${isOwn ? '#own' : ''}`;
