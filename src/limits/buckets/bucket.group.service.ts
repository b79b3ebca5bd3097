import type { Clock } from '../../lib/clock.js';
import { Overloaded } from '../../lib/errors.js';
import { randomFraction } from '../../lib/id.js';
import { sleep } from '../../lib/timers.js';
import type { BucketActor } from './bucket.actor.js';
import type { BucketChanges } from './bucket.change.service.js';
import type { BucketObstacles, Learn } from './bucket.obstacle.service.js';
import type { Answer, BucketSender, Group } from './bucket.send.service.js';
import type { BucketStore } from './bucket.store.js';
import { type Chosen, chooseFrom, isPartial } from './choice.actor.js';
import { type Lane, Lanes } from './lane.actor.js';
import type { Operation, Outcome, Part } from './operation.js';
import { Plan } from './plan.js';
import type { Shard } from './shard.js';

const maxAttempts = 50;
const attemptsWithoutPause = 3;
const pauseMs = 20;
const maxItemsPerTransaction = 100;

export interface GroupDeps {
  readonly store: BucketStore;
  readonly sender: BucketSender;
  readonly changes: BucketChanges;
  readonly obstacles: BucketObstacles;
  readonly learn: Learn;
  readonly clock: Clock;
  /** After this time an operation that keeps losing to other writers is refused. */
  readonly deadlineMs: number;
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
    private readonly parts: GroupDeps,
    private readonly group: readonly Operation[],
    actorOf: (part: Part) => BucketActor,
  ) {
    const [first] = group as [Operation];
    this.lanes = new Lanes(first, actorOf);
    this.isPlain = first.parts.length === 1 && !first.rider;
  }

  /** What became of each of the operations. */
  async run(): Promise<Told[]> {
    const { clock, deadlineMs } = this.parts;
    const untilMs = clock.monotonicMs() + deadlineMs;
    try {
      for (let attempt = 0; this.open().length > 0; attempt++) {
        if (clock.monotonicMs() > untilMs || attempt > maxAttempts)
          throw new Overloaded('too many are writing to this bucket; nothing was taken: try again');
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
    const obstacle = await this.parts.obstacles.clear(this.lanes, this.open());
    if (obstacle === 'fence') this.exactAtMs = undefined;
    else if (obstacle && obstacle !== 'hour') this.tellStale(obstacle.lane, obstacle.shard);
    if (obstacle) return;
    const nowMs = this.parts.clock.nowMs();
    // What the store has just shown is judged as of then: what refills meanwhile is for whoever comes next, or two
    // gateways would chase each drop of an empty bucket.
    const atMs = this.exactAtMs ?? nowMs;
    const plans = this.plansAt(atMs);
    const { chosen, short } = chooseFrom(this.lanes, plans, this.candidates());
    if (
      this.readAgain(chosen) ||
      this.widenForDebts(chosen) ||
      this.confirmShortage(chosen) ||
      (await this.foldWidest(plans, chosen))
    )
      return;
    if (this.exactAtMs !== undefined && this.widen(short, atMs)) return;
    if (this.exactAtMs !== undefined) this.refuse(short, atMs);
    if (chosen.length > 0) this.apply(await this.parts.sender.send(this.grouped(plans, chosen), nowMs), nowMs);
    // None would fit by what is remembered: all the same the store has the last word, on the first of them.
    else if (this.exactAtMs === undefined) await this.ask(short[0] as Operation, nowMs);
  }

  /** Makes sure that what must be known of the shards is known. What only settles must know its bucket: there is nothing to assume. */
  private async look(): Promise<void> {
    const unknown = this.lanes.all.filter((lane) => {
      const { actor, take, isWide } = lane;
      const mayAssume = this.isPlain && take && !isWide && actor.home === 0;
      return !mayAssume && !this.lanes.indexesOf(lane, this.open()).every((index) => actor.seen(index));
    });
    if (unknown.length === 0) return;
    const found = await this.parts.store.loadMany(unknown.map(({ actor }) => actor.id));
    for (const [i, lane] of unknown.entries()) {
      lane.actor.learnAll(found[i] ?? []);
      lane.isRead = true;
    }
    if (this.lanes.all.length === 1) this.exactAtMs = this.parts.clock.nowMs();
  }

  private tellStale(lane: number, shard: Shard): void {
    const part = this.lanes.ofPart.indexOf(lane);
    for (const operation of this.open()) this.told.set(operation, { kind: 'stale', part, shard });
  }

  /** As many as one write can take. */
  private candidates(): Operation[] {
    if (this.isPlain) return this.open();
    const shards = this.lanes.all.reduce((sum, lane) => sum + this.lanes.indexesOf(lane, this.open()).length, 0);
    return this.open().slice(0, Math.max(1, Math.floor((maxItemsPerTransaction - shards) / this.itemsPerRider())));
  }

  private itemsPerRider(): number {
    return this.group[0]?.rider?.record ? 2 : 1;
  }

  /** What a settlement does not find may have come since the bucket was last seen: that is believed only once it was read. */
  private readAgain(chosen: readonly Chosen[]): boolean {
    const missed = chosen.flatMap(({ operation, results }) =>
      results.flatMap((result, i) => (isPartial(operation.parts[i] as Part, result) ? [this.lanes.on(i)] : [])),
    );
    const unread = missed.filter(({ isRead }) => !isRead);
    for (const { actor } of unread) actor.forget();
    return unread.length > 0;
  }

  /** A charge that is split over the shards needs to know all of them. */
  private widenForDebts(chosen: readonly Chosen[]): boolean {
    const spread = chosen.flatMap(({ results }) =>
      results.flatMap((result, i) =>
        result.kind === 'settle' && result.applied.some((of) => Object.values(of).some(({ split }) => split))
          ? [this.lanes.on(i)]
          : [],
      ),
    );
    const narrow = spread.filter(({ isWide }) => !isWide);
    this.widenAll(narrow);
    return narrow.length > 0;
  }

  /** Whoever is let through a limit that is not enforced is counted by what all shards have, as the store showed it within the last second. */
  private confirmShortage(chosen: readonly Chosen[]): boolean {
    const unsure = new Set<Lane>();
    for (const result of chosen.flatMap(({ results }) =>
      results.map((each, i) => ({ ...each, lane: this.lanes.on(i) })),
    )) {
      if (result.kind !== 'take' || result.wouldRefuse.length === 0) continue;
      const { lane, wouldRefuse } = result;
      const isSure = lane.actor.shardCount > 1 ? lane.isWide : lane.isRead || this.exactAtMs !== undefined;
      if (isSure) lane.actor.noteShortage(wouldRefuse);
      else if (!lane.actor.isShortOf(wouldRefuse)) unsure.add(lane);
    }
    this.widenAll([...unsure]);
    return unsure.size > 0;
  }

  /** Several buckets may need more shards than one transaction can write: then the one with the most gets fewer. */
  private async foldWidest(plans: readonly Plan[], chosen: readonly Chosen[]): Promise<boolean> {
    if (this.isPlain) return false;
    const writes = plans.map((plan) => plan.result().length);
    const riders = chosen.filter(({ operation }) => operation.rider).length * this.itemsPerRider();
    if (writes.reduce((sum, count) => sum + count, riders) <= maxItemsPerTransaction) return false;
    const { actor } = this.lanes.all[writes.indexOf(Math.max(...writes))] as Lane;
    const first = actor.seen(0);
    if (first)
      await this.parts.changes.make(actor.id, first, { kind: 'shards', count: Math.ceil(first.shardCount / 2) });
    actor.forget();
    return true;
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
    for (const [lane, { actor }] of this.lanes.all.entries())
      if (!answer.learned.some((each) => each.lane === lane)) actor.forget();
  }

  private plansAt(atMs: number): Plan[] {
    return this.lanes.all.map((lane) => new Plan(this.lanes.shardsOf(lane, this.open(), atMs), atMs));
  }

  private grouped(plans: readonly Plan[], chosen: readonly Chosen[]): Group {
    const { lanes, isPlain } = this;
    return { lanes, isPlain, plans, chosen };
  }

  private apply({ isExact, learned, outcomes }: Answer, atMs: number): void {
    for (const { lane, index, shard } of learned) this.parts.learn((this.lanes.all[lane] as Lane).actor, index, shard);
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
      (lane) =>
        !lane.isWide &&
        lane.actor.shardCount > 1 &&
        short.some((operation) => this.lanes.isShort(lane, operation, atMs)),
    );
    this.widenAll(narrow);
    return narrow.length > 0;
  }

  private widenAll(lanes: readonly Lane[]): void {
    for (const lane of lanes) {
      lane.isWide = true;
      lane.actor.forget();
    }
    if (lanes.length > 0) this.exactAtMs = undefined;
  }

  /** Whoever is only short beside others is judged again once those have taken. */
  private refuse(short: readonly Operation[], atMs: number): void {
    const seen = this.lanes.sights(short, atMs);
    for (const operation of short) {
      const lanes = this.lanes.all.filter((lane) => this.lanes.isShort(lane, operation, atMs));
      for (const lane of lanes) lane.actor.noteRefusal(this.lanes.shardsOf(lane, [operation], atMs));
      if (lanes.length > 0) this.told.set(operation, { kind: 'short', seen });
    }
  }
}
