import type { Clock } from '../../lib/clock.js';
import { Overloaded } from '../../lib/errors.js';
import { randomFraction } from '../../lib/id.js';
import { sleep } from '../../lib/timers.js';
import { hourOf } from '../usage/usage.js';
import type { BucketActor, Load } from './bucket.actor.js';
import type { BucketChanges } from './bucket.change.service.js';
import { isFenced } from './bucket.item.js';
import type { Answer, BucketSender, Chosen, Group, Lane } from './bucket.send.service.js';
import type { BucketStore } from './bucket.store.js';
import { closed } from './bucket-write.item.js';
import type { Operation, Outcome, Part, Sight } from './operation.js';
import { type Placed, Plan, type Settlement, targetsOf } from './plan.js';
import { isEnough, type Shard, type ShardAt, unbornShard } from './shard.js';

const deadlineMs = 3500;
const maxAttempts = 50;
const attemptsWithoutPause = 3;
const pauseMs = 20;
const maxItemsPerTransaction = 100;

export interface GroupParts {
  readonly store: BucketStore;
  readonly sender: BucketSender;
  readonly changes: BucketChanges;
  readonly clock: Clock;
  /** Told what the writes say of a bucket's load. */
  readonly onLoad: (actor: BucketActor, load: Load) => void;
}

type Told = Outcome | { readonly error: unknown };

/** A group of operations on the same buckets: plans, writes, learns from the answer, until each has its own. */
export class BucketGroup {
  private readonly lanes: Lane[] = [];
  private readonly laneOf: readonly number[];
  private readonly isPlain: boolean;
  private readonly told = new Map<Operation, Told>();
  /** Whether what is known of the buckets was read since a settlement did not apply by it. */
  private isReread = false;
  /** When what is known of the shards was what the store has. */
  private exactAtMs: number | undefined;

  constructor(
    private readonly parts: GroupParts,
    private readonly group: readonly Operation[],
    actorOf: (part: Part) => BucketActor,
  ) {
    const [first] = group as [Operation];
    this.laneOf = first.parts.map((part) => {
      const actor = actorOf(part);
      const known = this.lanes.findIndex((lane) => lane.actor === actor);
      if (known >= 0) return known;
      return this.lanes.push({ actor, isWide: false, ...(part.act.kind === 'take' ? { take: part.act } : {}) }) - 1;
    });
    this.isPlain = first.parts.length === 1 && !first.rider;
  }

  /** What became of each of the operations. */
  async run(): Promise<Told[]> {
    const { clock } = this.parts;
    const untilMs = clock.monotonicMs() + deadlineMs;
    try {
      for (let attempt = 0; this.open().length > 0; attempt++) {
        if (clock.monotonicMs() > untilMs || attempt > maxAttempts) throw new Overloaded('too many are writing to this bucket; nothing was taken: try again');
        if (attempt > attemptsWithoutPause) await sleep(randomFraction() * pauseMs);
        await this.attempt();
      }
    } catch (error) {
      for (const operation of this.open()) this.told.set(operation, { error });
    }
    return this.group.map((operation) => this.told.get(operation) as Told);
  }

  private open(): Operation[] {
    return this.group.filter((operation) => !this.told.has(operation));
  }

  private async attempt(): Promise<void> {
    await this.look();
    if (await this.clearObstacle()) return;
    const nowMs = this.parts.clock.nowMs();
    // What the store has just shown is judged as of then: what refills meanwhile is for whoever comes next, or two
    // gateways would chase each drop of an empty bucket.
    const atMs = this.exactAtMs ?? nowMs;
    const plans = this.lanes.map((lane) => new Plan(this.shardsOf(lane, atMs), atMs));
    const { chosen, short } = this.choose(plans);
    if (this.rereads(chosen)) return;
    if (this.exactAtMs !== undefined && this.widen(short, atMs)) return;
    if (this.exactAtMs !== undefined) this.refuse(short, atMs);
    if (chosen.length > 0) this.apply(await this.parts.sender.send(this.grouped(plans, chosen), nowMs), nowMs);
    // None would fit by what is remembered: all the same the store has the last word, on the first of them.
    else if (this.exactAtMs === undefined) await this.ask(short[0] as Operation, nowMs);
  }

  /** Makes sure that what must be known of the shards is known. What only settles must know its bucket: there is nothing to assume. */
  private async look(): Promise<void> {
    await Promise.all(
      this.lanes.map(async (lane) => {
        const { actor, take, isWide } = lane;
        const mayAssume = this.isPlain && take && !isWide && actor.home === 0;
        if (mayAssume || this.indexesOf(lane).every((index) => actor.seen(index))) return;
        const [shards = []] = await this.parts.store.loadMany([actor.id]);
        actor.learnAll(shards);
        if (this.lanes.length === 1) this.exactAtMs = this.parts.clock.nowMs();
      }),
    );
  }

  /** The shards of a lane that are looked at, the preferred one first. */
  private indexesOf(lane: Lane): number[] {
    const { actor, isWide, take } = lane;
    if (take) return isWide ? [actor.home, ...range(actor.shardCount).filter((index) => index !== actor.home)] : [actor.home];
    const settled = this.open().flatMap(({ parts }) =>
      parts.flatMap(({ act }, i) => (act.kind === 'settle' && this.lanes[this.laneOf[i] as number] === lane ? act.moves : [])),
    );
    return [...new Set(settled.flatMap((move) => targetsOf(move, actor.shardCount)))];
  }

  /** A bucket that nobody has seen is as its first acquire would make it. */
  private shardsOf(lane: Lane, nowMs: number): ShardAt[] {
    const found = this.indexesOf(lane).flatMap((index) => {
      const shard = lane.actor.seen(index);
      return shard ? [{ index, shard }] : [];
    });
    return found.length > 0 || !lane.take ? found : [{ index: 0, shard: unbornShard(lane.take.set, nowMs) }];
  }

  /** Puts aside what stands in the way of a write; true where something did. */
  private async clearObstacle(): Promise<boolean> {
    const hour = hourOf(this.parts.clock.nowMs());
    for (const [at, lane] of this.lanes.entries()) {
      const { actor, take } = lane;
      for (const index of this.indexesOf(lane)) {
        const shard = actor.seen(index);
        if (!shard) continue;
        if (isFenced(shard)) await this.finish(actor, index, shard);
        else if (take && shard.version !== take.set.version) this.tellStale(at, shard);
        else if (shard.hour < hour) await this.closeHour(actor, index, shard, hour);
        else continue;
        return true;
      }
    }
    return false;
  }

  private async finish(actor: BucketActor, index: number, shard: Shard): Promise<void> {
    const { store, changes } = this.parts;
    const first = index === 0 ? shard : (await store.loadShards([{ ...actor.id, shard: 0 }]))[0];
    if (first && isFenced(first)) await changes.finish(actor.id, first);
    actor.forget();
    this.exactAtMs = undefined;
  }

  private tellStale(lane: number, shard: Shard): void {
    const part = this.laneOf.indexOf(lane);
    for (const operation of this.open()) this.told.set(operation, { kind: 'stale', part, shard });
  }

  private async closeHour(actor: BucketActor, index: number, shard: Shard, hour: number): Promise<void> {
    const outcome = await this.parts.store.closeHour({ ...actor.id, shard: index }, shard, hour);
    this.learn(actor, index, outcome.done ? closed(shard, hour) : outcome.shard);
  }

  private learn(actor: BucketActor, index: number, shard: Shard | undefined): void {
    if (shard) this.parts.onLoad(actor, actor.learn(index, shard));
    else actor.forget(index);
  }

  /** Who can go together: whatever only settles, and takes in order of arrival while there is enough. */
  private choose(plans: readonly Plan[]): { readonly chosen: Chosen[]; readonly short: Operation[] } {
    const shards = this.lanes.reduce((sum, lane) => sum + this.indexesOf(lane).length, 0);
    const candidates = this.isPlain
      ? this.open()
      : this.open().slice(0, Math.floor((maxItemsPerTransaction - shards) / (this.group[0]?.rider?.record ? 2 : 1)));
    const chosen: Chosen[] = [];
    const short: Operation[] = [];
    for (const operation of candidates) {
      const results = this.enter(plans, operation);
      if (results) chosen.push({ operation, results });
      else short.push(operation);
    }
    return { chosen, short };
  }

  /** Nothing is dropped by memory: another gateway may have made the bucket or the limit that a lease is of since. Lives do not come back, so once is enough. */
  private rereads(chosen: readonly Chosen[]): boolean {
    if (this.isReread || !chosen.some(({ operation, results }) => isPartial(operation, results))) return false;
    this.isReread = true;
    for (const { actor } of this.lanes) actor.forget();
    return true;
  }

  /** Enters an operation into the plans of all its buckets, or into none. */
  private enter(plans: readonly Plan[], { parts }: Operation): (Placed | Settlement)[] | undefined {
    const undo = parts.length > 1 ? plans.map((plan) => plan.snapshot()) : [];
    const results: (Placed | Settlement)[] = [];
    for (const [i, { act }] of parts.entries()) {
      const plan = plans[this.laneOf[i] as number] as Plan;
      const result = act.kind === 'settle' ? plan.settle(act) : plan.place(act);
      if (!result) {
        for (const restore of undo) restore();
        return undefined;
      }
      if (act.kind === 'take') plan.take(act, result as Placed);
      results.push(result);
    }
    return results;
  }

  /** Sends what does not seem to fit, whole and to the preferred shards: the conditions of the write decide. */
  private async ask(operation: Operation, nowMs: number): Promise<void> {
    const plans = this.lanes.map((lane) => new Plan(this.shardsOf(lane, nowMs), nowMs));
    const results = operation.parts.map(({ act }, i) => {
      const plan = plans[this.laneOf[i] as number] as Plan;
      if (act.kind === 'settle') return plan.settle(act);
      const forced = plan.force(act);
      plan.take(act, forced);
      return forced;
    });
    const answer = await this.parts.sender.send(this.grouped(plans, [{ operation, results }]), nowMs);
    this.apply({ ...answer, isExact: true }, nowMs);
    if (answer.outcomes.size > 0) return;
    // Of several buckets those that did not refuse have more than is remembered: they are read anew.
    for (const [lane, { actor }] of this.lanes.entries()) if (!answer.learned.some((each) => each.lane === lane)) actor.forget();
  }

  private grouped(plans: readonly Plan[], chosen: readonly Chosen[]): Group {
    const { lanes, laneOf, isPlain } = this;
    return { lanes, laneOf, isPlain, plans, chosen };
  }

  private apply({ isExact, learned, outcomes }: Answer, atMs: number): void {
    for (const { lane, index, shard } of learned) this.learn((this.lanes[lane] as Lane).actor, index, shard);
    for (const [operation, outcome] of outcomes) this.told.set(operation, outcome);
    this.exactAtMs = isExact ? atMs : undefined;
    for (const { actor, take, isWide } of this.lanes) {
      if (!take) actor.forgetRefusal();
      if (isWide) actor.moveHome(atMs);
    }
  }

  /** Whether a lane does not have enough for an operation, though it were the only one. */
  private isShort(lane: Lane, { parts }: Operation, atMs: number): boolean {
    const shards = this.shardsOf(lane, atMs).map(({ shard }) => shard);
    return parts.some(({ act }, i) => act.kind === 'take' && this.lanes[this.laneOf[i] as number] === lane && !isEnough(shards, act.amounts, atMs));
  }

  /** Looks at all shards of a bucket whose preferred one does not have enough; false where all were looked at. */
  private widen(short: readonly Operation[], atMs: number): boolean {
    const narrow = this.lanes.filter((lane) => !lane.isWide && lane.actor.shardCount > 1 && short.some((operation) => this.isShort(lane, operation, atMs)));
    for (const lane of narrow) {
      lane.isWide = true;
      lane.actor.forget();
    }
    if (narrow.length > 0) this.exactAtMs = undefined;
    return narrow.length > 0;
  }

  /** Whoever is only short beside others is judged again once those have taken. */
  private refuse(short: readonly Operation[], atMs: number): void {
    const seen = this.sights(atMs);
    for (const operation of short) {
      const lanes = this.lanes.filter((lane) => this.isShort(lane, operation, atMs));
      for (const lane of lanes) lane.actor.noteRefusal(this.shardsOf(lane, atMs));
      if (lanes.length > 0) this.told.set(operation, { kind: 'short', seen });
    }
  }

  /** How the bucket of each part stands. */
  private sights(atMs: number): Sight[] {
    return this.laneOf.map((at) => {
      const lane = this.lanes[at] as Lane;
      const isPart = lane.actor.shardCount > 1 && !lane.isWide;
      return { shards: isPart ? lane.actor.known() : this.shardsOf(lane, atMs).map(({ shard }) => shard), atMs };
    });
  }
}

/** Whether a settlement leaves out a limit that it moves. */
const isPartial = ({ parts }: Operation, results: readonly (Placed | Settlement)[]): boolean =>
  parts.some(({ act }, i) => {
    const result = results[i];
    if (act.kind !== 'settle' || result?.kind !== 'settle') return false;
    return act.moves.some(({ out }, nth) => Object.keys(out).some((name) => result.applied[nth]?.[name] === undefined));
  });

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
