import { GatewayError, Overloaded, refuseAny } from '../lib/errors.js';
import {
  checkTarget,
  combinedIssues,
  type PendingAcquire,
  partOf,
  type TakenOutcome,
  type TakeOutcome,
  type TakeTarget,
  targetsOf,
} from './acquire.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import { type BucketView, bucketName, isTaken, type Rider, type Taken } from './buckets/operation.js';
import type { Shard } from './buckets/shard.js';
import { movesAll } from './lease-moves.js';
import type { ResolutionKey } from './levels/resolution.js';
import type { ResolutionService } from './levels/resolution.service.js';

const maxRounds = 30;

export interface TakeDeps {
  readonly buckets: BucketRegistry;
  readonly resolution: ResolutionService;
}

/** Takes from buckets under the limits in force. Retries if limits or buckets change meanwhile. */
export class TakeService {
  constructor(private readonly deps: TakeDeps) {}

  /** The buckets that an acquire takes from, checked against the limits in force. */
  async targets(pending: PendingAcquire, inputPath: string): Promise<TakeTarget[]> {
    const { resolution, buckets } = this.deps;
    const { orgId, namespace, request } = pending;
    const { resource } = request;
    const key = { orgId, namespace, entityId: request.entityId, resource };
    // A bucket of an entity that is not cached is read in the same call as the levels of the entity.
    const reads: Promise<void>[] = [];
    const isOwn = request.limits ? { isOwn: true as const } : {};
    const path = await resolution.path(key, (entityId) => {
      reads.push(buckets.prefetch({ namespace, entityId, resource, ...(entityId === key.entityId ? isOwn : {}) }));
    });
    if (reads.length > 0) await Promise.all(reads);
    const zone = request.limits?.some(({ window }) => window) ? (await resolution.zoneOf(orgId)).zone : undefined;
    try {
      return targetsOf(pending, path, inputPath, zone);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // The cached limits may be stale, and newer limits may allow the request. Never say "impossible" from a cache.
      const fresh = await resolution.pathFresh(key).catch(() => {
        // The database is unavailable. The first error stands: no policy grants an invalid request.
        throw error;
      });
      return targetsOf(pending, fresh, inputPath, zone);
    }
  }

  /**
   * Takes from child and parent at once, each in its own write. If one side refuses or fails, the other side is given
   * back before this returns.
   */
  async takeBoth(child: TakeTarget, parent: TakeTarget): Promise<TakeOutcome> {
    const settled = await Promise.allSettled([this.take([child]), this.take([parent])]);
    const failed = settled.find((outcome) => outcome.status === 'rejected');
    const outcomes = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const granted = outcomes.filter((outcome) => outcome.kind === 'taken');
    const targets = outcomes.flatMap((outcome) => outcome.targets);
    if (granted.length === 2)
      return {
        kind: 'taken',
        targets,
        taken: granted.flatMap((outcome) => outcome.taken),
        after: granted.flatMap((outcome) => outcome.after),
      };
    const views = await Promise.all(
      outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.views : this.undo(outcome))),
    );
    if (failed) throw failed.reason;
    return { kind: 'refused', targets, views: views.flat() };
  }

  /** Takes from all targets in one write. */
  async take(targets: readonly TakeTarget[]): Promise<TakeOutcome> {
    const outcome = await this.takeWith(targets, undefined);
    if (outcome.kind === 'riderConflict')
      throw new Error('an operation without a rider reported the conflict of a rider');
    return outcome;
  }

  /** Takes from all targets and writes a rider, in one transaction. `rider`: its condition failed on the item `old`. */
  async takeWith(
    requested: readonly TakeTarget[],
    rider: Rider | undefined,
  ): Promise<TakeOutcome | { readonly kind: 'riderConflict'; readonly old: unknown }> {
    let targets = requested;
    for (let round = 0; round < maxRounds; round++) {
      refuseAny(combinedIssues(targets));
      const outcome = await this.deps.buckets.apply({ parts: targets.map(partOf), ...(rider ? { rider } : {}) });
      if (outcome.kind === 'done')
        return { kind: 'taken', targets, taken: outcome.results.filter(isTaken), after: outcome.after };
      if (outcome.kind === 'refused') return { kind: 'refused', targets, views: outcome.views };
      if (outcome.kind === 'riderConflict') return outcome;
      targets = await this.refreshed(targets, bucketName((targets[outcome.part] as TakeTarget).bucket), outcome.shard);
    }
    throw new Overloaded('too many concurrent changes of this bucket; nothing was taken; retry');
  }

  /**
   * The bucket is stamped with other limits than its targets. Either the cached limits or those of the bucket are
   * stale.
   */
  private async refreshed(targets: readonly TakeTarget[], name: string, { version }: Shard): Promise<TakeTarget[]> {
    const { buckets, resolution } = this.deps;
    const first = targets.find(({ bucket }) => bucketName(bucket) === name) as TakeTarget;
    const { namespace, entityId, resource } = first.bucket;
    const fresh = first.callerLimits
      ? undefined
      : await resolution.resolveFresh({ orgId: first.orgId, namespace, entityId, resource });
    const { set, mayExpire } = fresh ? checkTarget(first, fresh) : first;
    if (set.version !== version) await buckets.stamp(first.bucket, set, mayExpire);
    return targets.map((target) => (fresh && bucketName(target.bucket) === name ? checkTarget(target, fresh) : target));
  }

  /** Converts the bucket of an entity to the limits in force, after they were changed. */
  async restamp({ orgId, namespace, entityId, resource }: ResolutionKey): Promise<void> {
    const { resolution, buckets } = this.deps;
    const { set, isEntityLevel } = await resolution.resolveFresh({ orgId, namespace, entityId, resource });
    if (set) await buckets.stamp({ namespace, entityId, resource }, set, !isEntityLevel);
  }

  /** Gives back what was taken. If that fails, the tokens are lost until they refill: never granted twice. */
  private async undo({ targets, taken, after }: TakenOutcome): Promise<readonly BucketView[]> {
    const undone = await Promise.allSettled(
      targets.map(({ bucket, slot }, i) => {
        const moves = movesAll((taken[i] as Taken).holdings, slot.lease);
        return this.deps.buckets.apply({ parts: [{ bucket, action: { kind: 'settle', moves, events: -1 } }] });
      }),
    );
    return undone.map(
      (outcome, i) =>
        (outcome.status === 'fulfilled' && outcome.value.kind === 'done' ? outcome.value.after[0] : undefined) ??
        (after[i] as BucketView),
    );
  }
}
