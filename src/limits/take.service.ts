import { badInput, Overloaded, refuseAny } from '../lib/errors.js';
import type { Amounts } from './buckets/bucket.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import type { Holding } from './buckets/holding.js';
import type { PartResult, Rider, Sight, Taken } from './buckets/operation.js';
import type { HoldingMove, Slot, Take } from './buckets/plan.js';
import type { Shard } from './buckets/shard.js';
import { movesAll } from './lease.js';
import type { ResolutionService, Resolved } from './levels/resolution.service.js';
import { amountsOf, type Consumption, costIssues, type LimitSet } from './limit.js';
import type { BucketId } from './limiter-keys.js';

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
  readonly slot: Slot;
}

/** The same, judged by a set of limits. */
export interface Target extends Ask {
  readonly set: LimitSet;
  readonly mayExpire: boolean;
  /** Every limit's, 0 included. */
  readonly amounts: Amounts;
}

export type Taking =
  | { readonly kind: 'taken'; readonly targets: readonly Target[]; readonly taken: readonly Taken[]; readonly after: readonly Sight[] }
  /** There is not enough: how all the buckets stand. */
  | { readonly kind: 'short'; readonly targets: readonly Target[]; readonly seen: readonly Sight[] };

const maxRounds = 30;

export interface TakeParts {
  readonly buckets: BucketRegistry;
  readonly resolution: ResolutionService;
}

/** Takes from buckets by the limits in force, whatever has changed about them. */
export class TakeService {
  constructor(private readonly parts: TakeParts) {}

  /** Judges what is asked by the limits in force. */
  judge(ask: Ask, { set, isOwn }: Resolved): Target {
    const limits = ask.brought ?? set;
    if (!limits) throw noLimits(ask);
    const names = new Set(limits.limits.map(({ name }) => name));
    // A parent need not have every limit that its child has.
    const consume = ask.isParent ? ask.consume.filter(({ limit }) => names.has(limit)) : ask.consume;
    const { entityId, resource } = ask.bucket;
    refuseAny(costIssues(consume, limits, `${ask.isParent ? 'parent' : 'entity'} "${entityId}" on "${resource}"`, ask.at));
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
    if (taken.length === 2) return { kind: 'taken', targets, taken: taken.flatMap((taking) => taking.taken), after: taken.flatMap((taking) => taking.after) };
    const seen = await Promise.all(takings.map((taking) => (taking.kind === 'short' ? taking.seen : this.giveBack(taking))));
    if (failed) throw failed.reason;
    return { kind: 'short', targets, seen: seen.flat() };
  }

  /** All targets in one write. */
  async take(targets: readonly Target[]): Promise<Taking> {
    const taking = await this.takeWith(targets, undefined);
    if (taking.kind === 'rider') throw new Error('a take without a rider cannot find one');
    return taking;
  }

  /** All targets and a rider in one write. */
  async takeWith(
    first: readonly Target[],
    rider: ((targets: readonly Target[]) => Rider) | undefined,
  ): Promise<Taking | { readonly kind: 'rider'; readonly old: unknown }> {
    let targets = first;
    for (let round = 0; round < maxRounds; round++) {
      const operation = { parts: targets.map(partOf), ...(rider ? { rider: rider(targets) } : {}) };
      const outcome = await this.parts.buckets.apply(operation);
      if (outcome.kind === 'done') return { kind: 'taken', targets, taken: outcome.results.filter(isTaken), after: outcome.after };
      if (outcome.kind === 'short') return { kind: 'short', targets, seen: outcome.seen };
      if (outcome.kind === 'rider') return outcome;
      const stale = targets[outcome.part] as Target;
      const { bucket } = stale;
      const renewed = await this.renew(stale, outcome.shard);
      targets = targets.map((target) => (target.bucket === bucket ? renewed : target));
    }
    throw new Overloaded('too many are changing this bucket; nothing was taken: try again');
  }

  /** A bucket is stamped with other limits: either ours are old, or theirs are. */
  private async renew(target: Target, { version }: Shard): Promise<Target> {
    const { buckets, resolution } = this.parts;
    const { namespace, entityId, resource } = target.bucket;
    const renewed = target.brought
      ? target
      : this.judge({ ...target, at: 'input.consume' }, await resolution.resolveFresh(target.orgId, namespace, entityId, resource));
    if (renewed.set.version !== version) await buckets.stamp(target.bucket, renewed.set, renewed.mayExpire);
    return renewed;
  }

  /** Undoes a take that came to nothing. What cannot be given back now is gone until it refills: never granted twice. */
  private async giveBack({ targets, taken, after }: Extract<Taking, { kind: 'taken' }>): Promise<readonly Sight[]> {
    const undone = await Promise.allSettled(
      targets.map(({ bucket, slot }, i) => {
        const moves = undoing((taken[i] as Taken).holdings, slot);
        return this.parts.buckets.apply({ parts: [{ bucket, act: { kind: 'settle', moves, events: -1 } }] });
      }),
    );
    return undone.map(
      (outcome, i) => (outcome.status === 'fulfilled' && outcome.value.kind === 'done' ? outcome.value.after[0] : undefined) ?? (after[i] as Sight),
    );
  }
}

const isTaken = (result: PartResult): result is Taken => result.kind === 'take';

const undoing = (holdings: readonly Holding[], { lease }: Slot): HoldingMove[] => movesAll(holdings, '').map((move) => ({ ...move, slot: { lease } }));

const noLimits = ({ bucket: { entityId, resource }, isParent, at }: Ask) =>
  badInput({
    path: at.replace('consume', 'resource'),
    message: `no limits are set for ${isParent ? 'the parent' : 'entity'} "${entityId}" on "${resource}" at any level: set some with setLimits, or send \`limits\``,
  });

function partOf({ bucket, set, amounts, mayExpire, slot }: Target): { readonly bucket: BucketId; readonly act: Take } {
  return { bucket, act: { kind: 'take', set, amounts, mayExpire, slot } };
}
