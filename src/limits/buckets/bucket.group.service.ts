import type { Clock } from '../../lib/clock.js';
import { Overloaded } from '../../lib/errors.js';
import { randomFraction } from '../../lib/id.js';
import { sleep } from '../../lib/timers.js';
import { hourOf } from '../usage/usage.js';
import type { BucketActor, Load } from './bucket.actor.js';
import type { BucketChanges } from './bucket.change.service.js';
import { isFenced } from './bucket.item.js';
import type { Answer, BucketSender, Chosen, Group } from './bucket.send.service.js';
import type { BucketStore } from './bucket.store.js';
import { closed } from './bucket-change.item.js';
import { type Lane, Lanes } from './lane.actor.js';
import type { Operation, Outcome, Part } from './operation.js';
import { type Placed, Plan, type Settlement } from './plan.js';
import type { Shard } from './shard.js';

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
  private readonly lanes: Lanes;
  private readonly isPlain: boolean;
  private readonly told = new Map<Operation, Told>();
  /** When what is known of the shards was what the store has. */
  private exactAtMs: number | undefined;

  constructor(
    private readonly parts: GroupParts,
    private readonly group: readonly Operation[],
    actorOf: (part: Part) => BucketActor,
  ) {
    const [first] = group as [Operation];
    this.lanes = new Lanes(first, actorOf);
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
    const plans = this.plansAt(atMs);
    const { chosen, short } = this.choose(plans);
    if (this.exactAtMs !== undefined && this.widen(short, atMs)) return;
    if (this.exactAtMs !== undefined) this.refuse(short, atMs);
    if (chosen.length > 0) this.apply(await this.parts.sender.send(this.grouped(plans, chosen), nowMs), nowMs);
    // None would fit by what is remembered: all the same the store has the last word, on the first of them.
    else if (this.exactAtMs === undefined) await this.ask(short[0] as Operation, nowMs);
  }

  /** Makes sure that what must be known of the shards is known. What only settles must know its bucket: there is nothing to assume. */
  private async look(): Promise<void> {
    await Promise.all(
      this.lanes.all.map(async (lane) => {
        const { actor, take, isWide } = lane;
        const mayAssume = this.isPlain && take && !isWide && actor.home === 0;
        if (mayAssume || this.lanes.indexesOf(lane, this.open()).every((index) => actor.seen(index))) return;
        const [shards = []] = await this.parts.store.loadMany([actor.id]);
        actor.learnAll(shards);
        if (this.lanes.all.length === 1) this.exactAtMs = this.parts.clock.nowMs();
      }),
    );
  }

  /** Puts aside what stands in the way of a write; true where something did. */
  private async clearObstacle(): Promise<boolean> {
    const hour = hourOf(this.parts.clock.nowMs());
    for (const [at, lane] of this.lanes.all.entries()) {
      const { actor, take } = lane;
      for (const index of this.lanes.indexesOf(lane, this.open())) {
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
    const part = this.lanes.ofPart.indexOf(lane);
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
    const shards = this.lanes.all.reduce((sum, lane) => sum + this.lanes.indexesOf(lane, this.open()).length, 0);
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

  /** Enters an operation into the plans of all its buckets, or into none. */
  private enter(plans: readonly Plan[], { parts }: Operation): (Placed | Settlement)[] | undefined {
    const undo = parts.length > 1 ? plans.map((plan) => plan.snapshot()) : [];
    const results: (Placed | Settlement)[] = [];
    for (const [i, { act }] of parts.entries()) {
      const plan = plans[this.lanes.ofPart[i] as number] as Plan;
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
    const plans = this.plansAt(nowMs);
    const results = operation.parts.map(({ act }, i) => {
      const plan = plans[this.lanes.ofPart[i] as number] as Plan;
      if (act.kind === 'settle') return plan.settle(act);
      const forced = plan.force(act);
      plan.take(act, forced);
      return forced;
    });
    const answer = await this.parts.sender.send(this.grouped(plans, [{ operation, results }]), nowMs);
    this.apply({ ...answer, isExact: true }, nowMs);
    if (answer.outcomes.size > 0) return;
    // Of several buckets those that did not refuse have more than is remembered: they are read anew.
    for (const [lane, { actor }] of this.lanes.all.entries()) if (!answer.learned.some((each) => each.lane === lane)) actor.forget();
  }

  private plansAt(atMs: number): Plan[] {
    return this.lanes.all.map((lane) => new Plan(this.lanes.shardsOf(lane, this.open(), atMs), atMs));
  }

  private grouped(plans: readonly Plan[], chosen: readonly Chosen[]): Group {
    const { lanes, isPlain } = this;
    return { lanes, isPlain, plans, chosen };
  }

  private apply({ isExact, learned, outcomes }: Answer, atMs: number): void {
    for (const { lane, index, shard } of learned) this.learn((this.lanes.all[lane] as Lane).actor, index, shard);
    for (const [operation, outcome] of outcomes) this.told.set(operation, outcome);
    this.exactAtMs = isExact ? atMs : undefined;
    for (const { actor, take, isWide } of this.lanes.all) {
      if (!take) actor.forgetRefusal();
      if (isWide) actor.moveHome(atMs);
    }
  }

  /** Looks at all shards of a bucket whose preferred one does not have enough; false where all were looked at. */
  private widen(short: readonly Operation[], atMs: number): boolean {
    const narrow = this.lanes.all.filter(
      (lane) => !lane.isWide && lane.actor.shardCount > 1 && short.some((operation) => this.lanes.isShort(lane, operation, atMs)),
    );
    for (const lane of narrow) {
      lane.isWide = true;
      lane.actor.forget();
    }
    if (narrow.length > 0) this.exactAtMs = undefined;
    return narrow.length > 0;
  }

  /** Whoever is only short beside others is judged again once those have taken. */
  private refuse(short: readonly Operation[], atMs: number): void {
    const seen = this.lanes.sights(short, atMs);
    for (const operation of short) {
      const lanes = this.lanes.all.filter((lane) => this.lanes.isShort(lane, operation, atMs));
      for (const lane of lanes) lane.actor.noteRefusal(this.lanes.shardsOf(lane, [operation], atMs).map(({ shard }) => shard));
      if (lanes.length > 0) this.told.set(operation, { kind: 'short', seen });
    }
  }
}
