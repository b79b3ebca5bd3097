import { badInput, GatewayError, type Issue, Overloaded, refuseAny } from '../lib/errors.js';
import { type Amounts, sumOf } from './buckets/bucket.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import {
  type BucketView,
  bucketName,
  byBucket,
  isTaken,
  type LeaseSlot,
  type Rider,
  type Take,
  type Taken,
} from './buckets/operation.js';
import type { Shard } from './buckets/shard.js';
import { movesAll, slotName } from './lease.js';
import type { ResolutionService, Resolved, TakePath } from './levels/resolution.service.js';
import {
  amountsOf,
  type Consumption,
  completeLimit,
  costIssues,
  inZone,
  type LimitRequest,
  type LimitSet,
  limitSet,
  tokensOf,
} from './limit.js';
import type { BucketId } from './limiter-keys.js';

export interface AcquireRequest {
  readonly entityId: string;
  readonly resource: string;
  readonly consume: readonly Consumption[];
  readonly limits?: readonly LimitRequest[] | null | undefined;
  readonly requestId?: string | null | undefined;
  /** How long slots of concurrency limits are held unless they are renewed. */
  readonly ttlSecs?: number | null | undefined;
}

/** One lease in the making. */
export interface Draft {
  readonly orgId: string;
  readonly namespace: string;
  readonly name: string;
  readonly request: AcquireRequest;
  readonly slotUntilMs: number;
  readonly expiresAtMs: number;
}

/** What is asked of one bucket. */
export interface Ask {
  readonly orgId: string;
  readonly bucket: BucketId;
  readonly consume: readonly Consumption[];
  /** The limits the caller brought along. */
  readonly brought?: LimitSet;
  readonly isParent: boolean;
  /** Where in the input its amounts stand. */
  readonly at: string;
  readonly slot: LeaseSlot;
}

/** The same, judged by a set of limits. */
export interface Target extends Ask {
  readonly set: LimitSet;
  readonly mayExpire: boolean;
  /** Every limit's, 0 included. */
  readonly amounts: Amounts;
}

export type Taking =
  | {
      readonly kind: 'taken';
      readonly targets: readonly Target[];
      readonly taken: readonly Taken[];
      readonly after: readonly BucketView[];
    }
  /** There is not enough: how all the buckets stand. */
  | { readonly kind: 'short'; readonly targets: readonly Target[]; readonly seen: readonly BucketView[] };

const maxRounds = 30;

export interface TakeDeps {
  readonly buckets: BucketRegistry;
  readonly resolution: ResolutionService;
}

/** Takes from buckets by the limits in force, whatever has changed about them. */
export class TakeService {
  constructor(private readonly parts: TakeDeps) {}

  /** The buckets that a lease takes from, judged by the limits in force; `at` is where in the input the amounts stand. */
  async targets(draft: Draft, at: string): Promise<Target[]> {
    const { resolution } = this.parts;
    const { orgId, namespace, request } = draft;
    const path = await resolution.path(orgId, namespace, request.entityId, request.resource);
    const zone = request.limits?.some(({ window }) => window) ? (await resolution.zoneOf(orgId)).zone : undefined;
    try {
      return this.judgeAll(draft, path, at, zone);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // Limits that were changed elsewhere may allow it: nobody is told "never" by what is only remembered.
      const fresh = await resolution.pathFresh(orgId, namespace, request.entityId, request.resource).catch(() => {
        // Without the store its refusal stands: what is not valid is let through by no policy.
        throw error;
      });
      return this.judgeAll(draft, fresh, at, zone);
    }
  }

  judgeAll(
    { orgId, namespace, name, request, slotUntilMs, expiresAtMs }: Draft,
    { resolved, parent }: TakePath,
    at: string,
    zone = 'UTC',
  ): Target[] {
    const { entityId, resource, consume, limits } = request;
    const brought = limits ? { brought: limitSet(inZone(limits.map(completeLimit), zone)) } : {};
    const slot = { lease: slotName({ name, expiresAtMs }), untilMs: slotUntilMs };
    const bucketOf = (id: string, isBrought: boolean) => ({
      namespace,
      entityId: id,
      resource,
      ...(isBrought ? { isOwn: true as const } : {}),
    });
    const isBrought = 'brought' in brought;
    const child = this.judge(
      { orgId, bucket: bucketOf(entityId, isBrought), consume, isParent: false, at, slot, ...brought },
      resolved,
    );
    if (!parent) return [child];
    // A parent's bucket is shared by all its children: what one of them brings along counts there only where nothing is set.
    const isBroughtThere = isBrought && !parent.resolved.set;
    const asked = {
      orgId,
      bucket: bucketOf(parent.entityId, isBroughtThere),
      consume,
      isParent: true,
      at,
      slot,
      ...(isBroughtThere ? brought : {}),
    };
    return [child, this.judge(asked, parent.resolved)];
  }

  /** Judges what is asked by the limits in force. */
  private judge(ask: Ask, { set, isOwn }: Resolved): Target {
    const limits = ask.brought ?? set;
    if (!limits) throw noLimits(ask);
    const names = new Set(limits.limits.map(({ name }) => name));
    // A parent need not have every limit that its child has.
    const consume = ask.isParent ? ask.consume.filter(({ limit }) => names.has(limit)) : ask.consume;
    const { entityId, resource } = ask.bucket;
    refuseAny(
      costIssues(consume, limits, `${ask.isParent ? 'parent' : 'entity'} "${entityId}" on "${resource}"`, ask.at),
    );
    const asked = amountsOf(consume);
    const amounts = Object.fromEntries(limits.specs.map(({ name }) => [name, asked[name] ?? 0n]));
    return { ...ask, set: limits, mayExpire: ask.brought !== undefined || !isOwn, amounts };
  }

  /** Child and parent at once, each in its own write; if one side refuses or fails, the other is given back before the answer. */
  async takeBoth(child: Target, parent: Target): Promise<Taking> {
    const settled = await Promise.allSettled([this.take([child]), this.take([parent])]);
    const failed = settled.find((taking) => taking.status === 'rejected');
    const takings = settled.flatMap((taking) => (taking.status === 'fulfilled' ? [taking.value] : []));
    const taken = takings.filter((taking) => taking.kind === 'taken');
    const targets = takings.flatMap((taking) => taking.targets);
    if (taken.length === 2)
      return {
        kind: 'taken',
        targets,
        taken: taken.flatMap((taking) => taking.taken),
        after: taken.flatMap((taking) => taking.after),
      };
    const seen = await Promise.all(
      takings.map((taking) => (taking.kind === 'short' ? taking.seen : this.giveBack(taking))),
    );
    if (failed) throw failed.reason;
    return { kind: 'short', targets, seen: seen.flat() };
  }

  /** All targets in one write. */
  async take(targets: readonly Target[]): Promise<Taking> {
    const taking = await this.takeWith(targets, undefined);
    if (taking.kind === 'riderConflict') throw new Error('a take without a rider cannot find one');
    return taking;
  }

  /** All targets and a rider in one write. */
  async takeWith(
    first: readonly Target[],
    rider: ((targets: readonly Target[]) => Rider) | undefined,
  ): Promise<Taking | { readonly kind: 'riderConflict'; readonly old: unknown }> {
    let targets = first;
    for (let round = 0; round < maxRounds; round++) {
      refuseAny(togetherIssues(targets));
      const operation = { parts: targets.map(partOf), ...(rider ? { rider: rider(targets) } : {}) };
      const outcome = await this.parts.buckets.apply(operation);
      if (outcome.kind === 'done')
        return { kind: 'taken', targets, taken: outcome.results.filter(isTaken), after: outcome.after };
      if (outcome.kind === 'refused') return { kind: 'short', targets, seen: outcome.views };
      if (outcome.kind === 'riderConflict') return outcome;
      targets = await this.renewed(targets, bucketName((targets[outcome.part] as Target).bucket), outcome.shard);
    }
    throw new Overloaded('too many are changing this bucket; nothing was taken: try again');
  }

  /** A bucket is stamped with other limits: either ours are old, or theirs are. */
  private async renewed(targets: readonly Target[], name: string, { version }: Shard): Promise<Target[]> {
    const { buckets, resolution } = this.parts;
    const first = targets.find(({ bucket }) => bucketName(bucket) === name) as Target;
    const { namespace, entityId, resource } = first.bucket;
    const fresh = first.brought ? undefined : await resolution.resolveFresh(first.orgId, namespace, entityId, resource);
    const { set, mayExpire } = fresh ? this.judge(first, fresh) : first;
    if (set.version !== version) await buckets.stamp(first.bucket, set, mayExpire);
    return targets.map((target) => (fresh && bucketName(target.bucket) === name ? this.judge(target, fresh) : target));
  }

  /** Brings the bucket of an entity under the limits in force, after they were changed. */
  async changed(orgId: string, namespace: string, entityId: string, resource: string): Promise<void> {
    const { set, isOwn } = await this.parts.resolution.resolveFresh(orgId, namespace, entityId, resource);
    if (set) await this.parts.buckets.stamp({ namespace, entityId, resource }, set, !isOwn);
  }

  /** Undoes a take that came to nothing. What cannot be given back now is gone until it refills: never granted twice. */
  private async giveBack({
    targets,
    taken,
    after,
  }: Extract<Taking, { kind: 'taken' }>): Promise<readonly BucketView[]> {
    const undone = await Promise.allSettled(
      targets.map(({ bucket, slot }, i) => {
        const moves = movesAll((taken[i] as Taken).holdings, slot.lease);
        return this.parts.buckets.apply({ parts: [{ bucket, action: { kind: 'settle', moves, events: -1 } }] });
      }),
    );
    return undone.map(
      (outcome, i) =>
        (outcome.status === 'fulfilled' && outcome.value.kind === 'done' ? outcome.value.after[0] : undefined) ??
        (after[i] as BucketView),
    );
  }
}

/** What several requests for one bucket can never take together. */
function togetherIssues(targets: readonly Target[]): Issue[] {
  if (targets.length === 1) return [];
  return byBucket(targets).flatMap((together): Issue[] => {
    if (together.length === 1) return [];
    const [{ bucket, set, at }] = together;
    const { entityId, resource } = bucket;
    const sum = sumOf(together.map(({ amounts }) => amounts));
    return set.specs
      .filter(({ name, burstMilli, isShadow }) => !isShadow && (sum[name] ?? 0n) > burstMilli)
      .map(({ name, burstMilli }) => ({
        path: at,
        message: `${tokensOf(sum[name] ?? 0n)} of "${name}" can never be taken together: the burst for "${entityId}" on "${resource}" is ${tokensOf(burstMilli)}`,
      }));
  });
}

const noLimits = ({ bucket: { entityId, resource }, isParent, at }: Ask) =>
  badInput({
    path: at.replace('consume', 'resource'),
    message: `no limits are set for ${isParent ? 'the parent' : 'entity'} "${entityId}" on "${resource}" at any level: set some with setLimits, or send \`limits\``,
  });

function partOf({ bucket, set, amounts, mayExpire, slot }: Target): {
  readonly bucket: BucketId;
  readonly action: Take;
} {
  return { bucket, action: { kind: 'take', set, amounts, mayExpire, slot } };
}
