import type { TransactItem } from '../../dynamo/transact-item.js';
import type { LimitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import type { Amounts } from './bucket.js';
import type { Holding, OutAmount } from './holding.js';
import type { Shard } from './shard.js';
import type { LimitCharge } from './split.js';

/** What is written together or not at all: one acquire, adjust, release or top-up. */
export interface Operation {
  readonly parts: readonly Part[];
  readonly rider?: Rider;
}

/** What an operation does to one bucket. */
export interface Part {
  readonly bucket: BucketId;
  readonly action: Take | Settle;
}

/** The name under which a lease holds slots of concurrency limits, and until when. */
export interface LeaseSlot {
  readonly lease: string;
  readonly untilMs: number;
}

/** Takes the amount of each limit, 0 included. `set` is the limit set that the amounts were validated against. */
export interface Take {
  readonly kind: 'take';
  readonly set: LimitSet;
  readonly amounts: Amounts;
  /** False if the entity has its own limits for the resource. */
  readonly mayExpire: boolean;
  readonly slot: LeaseSlot;
}

/** Charges and gives back what leases hold. */
export interface Settle {
  readonly kind: 'settle';
  readonly moves: readonly HoldingMove[];
  /** -1 if it undoes an acquire. */
  readonly events: 0 | -1;
}

/** A change of a holding. A positive amount in `out` is charged, a negative one is given back. */
export interface HoldingMove extends Holding {
  /** The lease whose slots are renewed until `untilMs`; without `untilMs` they are given back. */
  readonly slot?: { readonly lease: string; readonly untilMs?: number };
}

/** A write of the caller that goes into the transaction of its operation. Built again for each attempt. */
export interface Rider {
  readonly name: string;
  draft(results: readonly PartResult[]): TransactItem;
  /** A second item, whose key nobody else uses. */
  readonly record?: TransactItem;
}

/** What was taken, per shard. */
export interface Taken {
  readonly kind: 'take';
  readonly holdings: readonly Holding[];
  /** Shadow limits that would have refused the take. They were not charged. */
  readonly wouldRefuse: readonly string[];
}

/** The result of a settle: for each move, the limits for which it was possible. */
export interface Settlement {
  readonly kind: 'settle';
  readonly applied: readonly Readonly<Record<string, SettledLimit>>[];
}

/** The result of a move for one limit: the current window, and how a charge was split. */
export interface SettledLimit extends Pick<OutAmount, 'windowEndMs'> {
  /** Set if the charge went to several shards, because its own shard did not have enough room. */
  readonly split?: { readonly parts: readonly SplitPart[]; readonly shards: number; readonly period: bigint };
}

export interface SplitPart extends LimitCharge {
  readonly index: number;
}

export type PartResult = Taken | Settlement;

export const isTaken = (result: PartResult): result is Taken => result.kind === 'take';

/** The holdings of all takes among the results. */
export const heldBy = (results: readonly PartResult[]): Holding[] =>
  results.filter(isTaken).flatMap(({ holdings }) => holdings);

/** The shards of a bucket at a moment, as far as this process has them. */
export interface BucketView {
  readonly shards: readonly Shard[];
  readonly atMs: number;
}

export type OperationOutcome =
  /** Written. `after` has a view of the bucket of each part. */
  | { readonly kind: 'done'; readonly results: readonly PartResult[]; readonly after: readonly BucketView[] }
  /** Not enough tokens; nothing was written. `views` has a view of the bucket of each part. */
  | { readonly kind: 'refused'; readonly views: readonly BucketView[] }
  /** The bucket of a part is stamped with another limit set than the take was validated against. */
  | { readonly kind: 'stale'; readonly part: number; readonly shard: Shard }
  /** The condition of the rider failed. `old` is the item that is stored. */
  | { readonly kind: 'riderConflict'; readonly old: unknown };

/** Groups by bucket, in order of arrival. */
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

/** Names a bucket in error messages. */
export const bucketLabel = ({ entityId, resource }: BucketId): string =>
  `the bucket of entity "${entityId}" on resource "${resource}"`;
