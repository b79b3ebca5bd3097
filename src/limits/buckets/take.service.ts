import type { Clock } from '../../lib/clock.js';
import { badInput, Overloaded, refuseAny } from '../../lib/errors.js';
import { randomFraction } from '../../lib/id.js';
import type { FirstLease } from '../lease.js';
import { toFirst } from '../lease.store.js';
import type { ResolutionService, Resolved } from '../levels/resolution.service.js';
import { amountsOf, type Consumption, costIssues, type LimitSet } from '../limit.js';
import type { BucketId, ShardId } from '../limiter-keys.js';
import type { Standing } from '../status.js';
import type { Amounts } from './bucket.js';
import type { BucketStore, Operation, Part, Seen } from './bucket.store.js';
import { isEnough, type Shard, splitOver } from './shard.js';

/** A bucket to take from: limits and places may turn out to be others than was thought. */
export interface Target {
  readonly orgId: string;
  readonly id: BucketId;
  readonly consume: readonly Consumption[];
  /** The limits the caller brought along. */
  readonly given?: LimitSet;
  readonly isParent: boolean;
  set: LimitSet;
  mayExpire: boolean;
  /** Every limit's, 0 included. */
  amounts: Amounts;
  placement: readonly Placement[];
  tries: number;
}

interface Placement {
  readonly shard: number;
  readonly amounts: Amounts;
}

export type Taking =
  | { readonly kind: 'taken'; readonly standings: readonly Standing[] }
  /** There is not enough: how all the buckets stand. */
  | { readonly kind: 'short'; readonly standings: readonly Standing[] };

const mostRounds = 30;
/** How many shards are tried before all are looked at together. */
const shardsTried = 3;

export interface TakeParts {
  readonly buckets: BucketStore;
  readonly resolution: ResolutionService;
  readonly clock: Clock;
}

/** Takes from buckets, wherever their tokens are and whatever has changed about them. */
export class TakeService {
  constructor(private readonly parts: TakeParts) {}

  /** A bucket to take from, judged by the limits in force; `at` is where in the input its amounts stand. */
  target(base: Pick<Target, 'orgId' | 'id' | 'consume' | 'isParent' | 'given'>, { set, isOwn }: Resolved, at: string): Target {
    const limits = base.given ?? set;
    if (!limits) throw noLimits(base, at);
    const target: Target = { ...base, set: limits, mayExpire: !isOwn, amounts: {}, placement: [], tries: 0 };
    this.judgeBy(target, limits, at);
    return target;
  }

  /** Child and parent at once, each in its own write; if one side refuses or fails, the other is given back before the answer. */
  async takeBoth(child: Target, parent: Target): Promise<Taking> {
    const takings = await Promise.allSettled([this.take([child]), this.take([parent])]);
    const failed = takings.find((taking) => taking.status === 'rejected');
    const fine = takings.flatMap((taking) => (taking.status === 'fulfilled' ? [taking.value] : []));
    if (!failed && fine.every(({ kind }) => kind === 'taken')) return { kind: 'taken', standings: fine.flatMap(({ standings }) => standings) };
    const standings = await Promise.all(
      takings.map((taking, i) => {
        if (taking.status === 'rejected') return [];
        return taking.value.kind === 'short' ? taking.value.standings : this.giveBack(i === 0 ? child : parent, taking.value.standings);
      }),
    );
    if (failed) throw failed.reason;
    return { kind: 'short', standings: standings.flat() };
  }

  /** All targets in one write. */
  async take(targets: readonly Target[]): Promise<Taking> {
    const taking = await this.takeWith(targets, () => undefined);
    if (taking.kind === 'replay') throw new Error('a take without a lease cannot find one');
    return taking;
  }

  /** All targets and a lease in one write; the lease is made anew for wherever they are placed. */
  async takeWith(targets: readonly Target[], lease: () => Operation['lease']): Promise<Taking | { readonly kind: 'replay'; readonly first: FirstLease }> {
    for (let round = 0; round < mostRounds; round++) {
      const parts = targets.flatMap(partsOf);
      const written = lease();
      const outcome = await this.parts.buckets.apply({ namespace: (targets[0] as Target).id.namespace, parts, ...(written ? { lease: written } : {}) });
      switch (outcome.kind) {
        case 'done':
          return { kind: 'taken', standings: targets.map((target) => this.standingAfter(target, parts, outcome.after)) };
        case 'lease':
          if (outcome.old) return { kind: 'replay', first: toFirst(outcome.old) };
          break;
        case 'moved':
          for (const target of targets) this.placeAtHome(target);
          break;
        case 'stale': {
          const { id } = parts[outcome.part] as Part;
          await this.renew(targets.find((target) => target.id.entityId === id.entityId) as Target, [{ id, shard: outcome.shard }]);
          break;
        }
        case 'short': {
          const standings = await Promise.all(targets.map((target) => this.goElsewhere(target, parts, outcome.seen)));
          if (standings.some(({ isShort }) => isShort)) return { kind: 'short', standings };
        }
      }
    }
    throw new Overloaded('too many are changing this bucket; nothing was taken: try again');
  }

  /** Judges a target by a set of limits, and places it on the shard this process prefers. */
  private judgeBy(target: Target, set: LimitSet, at: string): void {
    const names = new Set(set.limits.map(({ name }) => name));
    // A parent need not have every limit that its child has.
    const consume = target.isParent ? target.consume.filter(({ limit }) => names.has(limit)) : target.consume;
    const { entityId, resource } = target.id;
    refuseAny(costIssues(consume, set, `${target.isParent ? 'parent' : 'entity'} "${entityId}" on "${resource}"`, at));
    const asked = amountsOf(consume);
    target.set = set;
    target.amounts = Object.fromEntries(set.specs.map(({ name }) => [name, asked[name] ?? 0n]));
    this.placeAtHome(target);
  }

  private placeAtHome(target: Target): void {
    target.placement = [{ shard: this.parts.buckets.preferred(target.id).shard, amounts: target.amounts }];
  }

  /** Shards are stamped with other limits: either ours are old, or theirs are. */
  private async renew(target: Target, shards: readonly { readonly id: ShardId; readonly shard: Shard }[]): Promise<void> {
    const { resolution, buckets } = this.parts;
    const { namespace, entityId, resource } = target.id;
    const fresh = target.given ? undefined : await resolution.resolveFresh(target.orgId, namespace, entityId, resource);
    const set = target.given ?? fresh?.set;
    if (!set) throw noLimits(target, 'input.consume');
    if (fresh) target.mayExpire = !fresh.isOwn;
    this.judgeBy(target, set, 'input.consume');
    const old = shards.filter(({ shard }) => shard.version !== set.version);
    await Promise.all(old.map(({ id, shard }) => buckets.restamp(id, shard, set, target.mayExpire)));
  }

  /**
   * Where a target that was short, or beside one that was, goes next: to another shard, or over all of them together.
   * Short it is only when all shards together do not have enough.
   */
  private async goElsewhere(target: Target, parts: readonly Part[], seen: readonly Seen[]): Promise<Standing & { readonly isShort: boolean }> {
    const { buckets, clock } = this.parts;
    const own = parts.flatMap(({ id }, i) => (id.entityId === target.id.entityId && seen[i] ? [seen[i]] : []));
    const [{ shard, atMs }] = own as [Seen];
    const standing = { ...target.id, shards: own.map((each) => each.shard), atMs };
    if (shard.shardCount === 1) return { ...standing, isShort: !isEnough([shard], target.amounts, atMs) };
    if (own.every((each, i) => isEnough([each.shard], target.placement[i]?.amounts ?? {}, atMs))) return { ...standing, isShort: false };
    target.tries++;
    if (target.tries < shardsTried) {
      const next = (((target.placement[0]?.shard ?? 0) + 1 + Math.floor(randomFraction() * (shard.shardCount - 1))) % shard.shardCount) as number;
      target.placement = [{ shard: next, amounts: target.amounts }];
      return { ...standing, isShort: false };
    }
    const shards = await this.loadRenewed(target);
    const nowMs = clock.nowMs();
    const split = splitOver(shards, target.amounts, nowMs);
    if (split) target.placement = placed(split);
    else buckets.noteRefusal(target.id, shards);
    return { ...target.id, shards, atMs: nowMs, isShort: !split };
  }

  /** All shards, under the limits in force. */
  private async loadRenewed(target: Target): Promise<Shard[]> {
    const { buckets } = this.parts;
    for (let round = 0; round < mostRounds; round++) {
      const shards = await buckets.load(target.id);
      if (shards.every(({ version }) => version === target.set.version)) return shards;
      await this.renew(
        target,
        shards.map((shard, i) => ({ id: { ...target.id, shard: i }, shard })),
      );
    }
    throw new Overloaded('the limits of this bucket are being changed; nothing was taken: try again');
  }

  /** Undoes a take that came to nothing. What cannot be given back now is gone until it refills: never granted twice. */
  private async giveBack({ id, placement }: Target, standings: readonly Standing[]): Promise<readonly Standing[]> {
    const { buckets, clock } = this.parts;
    const undone = await Promise.allSettled(
      placement.map(({ shard, amounts }, i) => {
        const back = Object.fromEntries(Object.entries(amounts).flatMap(([name, milli]) => (milli === 0n ? [] : [[name, -milli] as const])));
        return buckets.apply({ namespace: id.namespace, parts: [{ id: { ...id, shard }, amounts: back, events: i === 0 ? -1 : 0 }] });
      }),
    );
    if (undone.some(({ status }) => status === 'rejected')) return standings;
    return [{ ...id, shards: buckets.recallShards(id).filter((shard) => shard !== undefined), atMs: clock.nowMs() }];
  }

  /** How a bucket stands after a take: the shards taken from as they are, others as last seen. */
  private standingAfter({ id }: Target, parts: readonly Part[], after: readonly (Seen | undefined)[]): Standing {
    const taken = parts.flatMap((part, i) => (part.id.entityId === id.entityId && after[i] ? [after[i]] : []));
    const [{ shard, atMs }] = taken as [Seen];
    const shards = shard.shardCount === 1 ? [shard] : this.parts.buckets.recallShards(id).map((known) => known ?? shard);
    return { ...id, shards, atMs };
  }
}

const noLimits = ({ id: { entityId, resource }, isParent }: Pick<Target, 'id' | 'isParent'>, at: string) =>
  badInput({
    path: at.replace('consume', 'resource'),
    message: `no limits are set for ${isParent ? 'the parent' : 'entity'} "${entityId}" on "${resource}" at any level: set some with setLimits, or send \`limits\``,
  });

const partsOf = ({ id, set, mayExpire, placement }: Target): Part[] =>
  placement.map(({ shard, amounts }, i) => ({ id: { ...id, shard }, set, amounts, mayExpire, events: i === 0 ? 1 : 0 }));

/** The shards that give a part; where nothing at all is asked for, the first. */
function placed(split: readonly Amounts[]): Placement[] {
  const giving = split.flatMap((amounts, shard) => (Object.keys(amounts).length > 0 ? [{ shard, amounts }] : []));
  return giving.length > 0 ? giving : [{ shard: 0, amounts: {} }];
}
