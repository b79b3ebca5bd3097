import { badInput, type Issue, refuseAny } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import { type Amounts, sumOf } from './buckets/bucket.js';
import { type BucketView, byBucket, type LeaseSlot, type Part, type Taken } from './buckets/operation.js';

import { slotName } from './lease.js';
import type { ResolvedLimits, TakePath } from './levels/resolution.js';
import { amountsOf, type Consumption, completeLimit, inZone, type LimitSet, limitSet, tokensOf } from './limit.js';
import { type AcquireRequest, costIssues } from './limit-input.js';
import type { BucketId } from './limiter-keys.js';

// The rules of an acquire that need no database: which buckets it takes from, and whether it can ever be granted.

/** An acquire that is being worked on, with the name and the times of the lease that it will become. */
export interface PendingAcquire {
  readonly orgId: string;
  readonly namespace: string;
  /** `r-<requestId>`, or `l-<random>` without a request id. */
  readonly leaseName: string;
  readonly request: AcquireRequest;
  readonly slotUntilMs: number;
  readonly expiresAtMs: number;
}

/** A bucket that an acquire takes from, before the amounts are checked against the limits in force. */
export interface UncheckedTarget {
  readonly orgId: string;
  readonly bucket: BucketId;
  readonly consume: readonly Consumption[];
  /** The limits that the caller sent. */
  readonly callerLimits?: LimitSet;
  readonly isParent: boolean;
  /** The path of `consume` in the input, for error messages. */
  readonly inputPath: string;
  readonly slot: LeaseSlot;
}

/** A bucket that an acquire takes from, with amounts that its limits can grant. */
export interface TakeTarget extends UncheckedTarget {
  readonly set: LimitSet;
  readonly mayExpire: boolean;
  /** One per limit of the set, 0 included. */
  readonly amounts: Amounts;
}

export type TakeOutcome =
  | {
      readonly kind: 'taken';
      readonly targets: readonly TakeTarget[];
      readonly taken: readonly Taken[];
      readonly after: readonly BucketView[];
    }
  /** Not enough tokens. `views` has the bucket of each target. */
  | { readonly kind: 'refused'; readonly targets: readonly TakeTarget[]; readonly views: readonly BucketView[] };

export type TakenOutcome = Extract<TakeOutcome, { kind: 'taken' }>;
export type RefusedOutcome = Extract<TakeOutcome, { kind: 'refused' }>;

/**
 * The buckets that an acquire takes from: that of the entity, and that of its parent if the entity cascades. `zone` is
 * for calendar limits that the caller sent. Throws BAD_USER_INPUT if the limits can never grant the amounts.
 */
export function targetsOf(pending: PendingAcquire, path: TakePath, inputPath: string, zone = 'UTC'): TakeTarget[] {
  const { orgId, namespace, leaseName, request, slotUntilMs, expiresAtMs } = pending;
  const { resource, consume, limits } = request;
  const callerLimits = limits ? limitSet(inZone(limits.map(completeLimit), zone)) : undefined;
  const slot = { lease: slotName({ name: leaseName, expiresAtMs }), untilMs: slotUntilMs };
  const target = (entityId: string, isParent: boolean, sentLimits: LimitSet | undefined): UncheckedTarget => ({
    orgId,
    bucket: { namespace, entityId, resource, ...(sentLimits ? { isOwn: true } : {}) },
    consume,
    isParent,
    inputPath,
    slot,
    ...(sentLimits ? { callerLimits: sentLimits } : {}),
  });
  const child = checkTarget(target(request.entityId, false, callerLimits), path.resolved);
  const { parent } = path;
  if (!parent) return [child];
  // All children share the parent's bucket, so limits that one child's caller sent apply there only if none are stored.
  const parentLimits = parent.resolved.set ? undefined : callerLimits;
  return [child, checkTarget(target(parent.entityId, true, parentLimits), parent.resolved)];
}

/** Checks the amounts against the limits in force. Throws BAD_USER_INPUT if they can never be granted. */
export function checkTarget(target: UncheckedTarget, { set, isEntityLevel }: ResolvedLimits): TakeTarget {
  const limits = target.callerLimits ?? set;
  if (!limits) throw noLimits(target);
  const { entityId, resource } = target.bucket;
  const names = new Set(limits.limits.map(({ name }) => name));
  // A parent need not have every limit that its child has.
  const consume = target.isParent ? target.consume.filter(({ limit }) => names.has(limit)) : target.consume;
  const bucket = `${target.isParent ? 'parent' : 'entity'} "${entityId}" on "${resource}"`;
  refuseAny(costIssues(consume, limits, bucket, target.inputPath));
  const requested = amountsOf(consume);
  const amounts = Object.fromEntries(limits.specs.map(({ name }) => [name, requested[name] ?? 0n]));
  return { ...target, set: limits, mayExpire: target.callerLimits !== undefined || !isEntityLevel, amounts };
}

/** Amounts that several requests take from one bucket and that it can never grant together. */
export function combinedIssues(targets: readonly TakeTarget[]): Issue[] {
  if (targets.length === 1) return [];
  return byBucket(targets).flatMap((group): Issue[] => {
    if (group.length === 1) return [];
    const [{ bucket, set, inputPath }] = group;
    const { entityId, resource } = bucket;
    const sum = sumOf(group.map(({ amounts }) => amounts));
    return set.specs
      .filter(({ name, burstMilli, isShadow }) => !isShadow && (sum[name] ?? 0n) > burstMilli)
      .map(({ name, burstMilli }) => {
        const [total, burst] = [tokensOf(sum[name] ?? 0n), tokensOf(burstMilli)];
        const limit = `"${name}" for "${entityId}" on "${resource}"`;
        return { path: inputPath, message: `the requests together exceed the burst of ${limit}: ${total} of ${burst}` };
      });
  });
}

const noLimits = ({ bucket: { entityId, resource }, isParent, inputPath }: UncheckedTarget) => {
  const bucket = `${isParent ? 'the parent' : 'entity'} "${entityId}" on "${resource}"`;
  return badInput({
    path: inputPath.replace('consume', 'resource'),
    message: `no limits are set for ${bucket} at any level; set them with setLimits or send \`limits\``,
  });
};

export const partOf = ({ bucket, set, amounts, mayExpire, slot }: TakeTarget): Part => ({
  bucket,
  action: { kind: 'take', set, amounts, mayExpire, slot },
});

/** Hash of the input, by which a retry is recognized. The order of amounts and limits does not matter. */
export function requestHash({ entityId, resource, consume, limits }: AcquireRequest): string {
  const amounts = consume.map(({ limit, amount }) => [limit, amount] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  const version = limits ? limitSet(limits.map(completeLimit)).version : null;
  return sha256(JSON.stringify([entityId, resource, amounts, version]));
}
