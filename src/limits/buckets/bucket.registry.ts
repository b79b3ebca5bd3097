import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.js';
import type { EventLoopScheduler } from '../../lib/event-loop-scheduler.js';
import { GroupCommit } from '../../lib/group-commit.js';
import { randomFraction } from '../../lib/id.js';
import { Locks } from '../../lib/locks.js';
import type { Log } from '../../lib/log.js';
import type { LimitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { BucketActor, type Load } from './bucket.actor.js';
import { BucketChanges } from './bucket.change.service.js';
import { BucketGroup, type GroupDeps } from './bucket.group.service.js';
import type { Amounts } from './bucket.js';
import { BucketObstacles, type Learn } from './bucket.obstacle.service.js';
import { BucketSender } from './bucket.send.service.js';
import type { BucketStore } from './bucket.store.js';
import { bucketName, type Operation, type Outcome, type Part } from './operation.js';
import { isUsed, type Shard } from './shard.js';

const maxActors = 50_000;
const maxPerGroup = 1000;
const maxPerRead = 100;
/** How long after a change of its shards a bucket is left alone. */
const restMs = 1000;

export interface RegistryOptions {
  readonly maxWaiting: number;
  readonly scheduler?: EventLoopScheduler | undefined;
  readonly log: Log;
  /** How long an operation may go on losing to other writers of its bucket. */
  readonly deadlineMs?: number;
}

const defaultDeadlineMs = 3500;

/** The buckets that this process works on, each with its queue. Several are entered in one order, so that no two wait for each other. */
export class BucketRegistry {
  private readonly actors = new LRUCache<string, BucketActor>({ max: maxActors });
  private readonly resting = new LRUCache<string, number>({ max: maxActors });
  private readonly stamping = new Map<string, Promise<Shard[]>>();
  private readonly locks = new Locks();
  private readonly preference = randomFraction();
  private readonly changes: BucketChanges;
  private readonly groupDeps: GroupDeps;
  private readonly queues: GroupCommit<Operation, Outcome | { readonly error: unknown }>;
  private readonly loader = new DataLoader((ids: readonly BucketId[]) => this.loadMany(ids), {
    cache: false,
    maxBatchSize: maxPerRead,
  });
  private sequence = 0;

  constructor(
    private readonly store: BucketStore,
    private readonly clock: Clock,
    private readonly options: RegistryOptions,
  ) {
    this.changes = new BucketChanges(store, clock);
    const learn: Learn = (actor, index, shard) =>
      shard ? this.onLoad(actor, actor.learn(index, shard)) : actor.forget(index);
    const obstacles = new BucketObstacles({ store, changes: this.changes, clock, learn });
    this.groupDeps = {
      store,
      sender: new BucketSender(store),
      changes: this.changes,
      obstacles,
      learn,
      clock,
      deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
    };
    this.queues = new GroupCommit({
      scheduler: options.scheduler,
      maxGroupSize: maxPerGroup,
      maxWaiting: options.maxWaiting,
      tenant: ({ parts }) => (parts[0] as Part).bucket.namespace,
      identity: ({ rider }) => rider?.name ?? String(this.sequence++),
      enter: (_queue, { parts }) => this.locks.hold(parts.map(({ bucket }) => bucketName(bucket))),
      commit: async (_queue, group) => {
        const told = await new BucketGroup(this.groupDeps, group, ({ bucket }) => this.actor(bucket)).run();
        return told.map((done) => ({ done }));
      },
    });
  }

  /** Applies an operation durably, together with others that wait for the same buckets. */
  async apply(operation: Operation): Promise<Outcome> {
    const { parts, rider } = operation;
    for (const { bucket, act } of parts) if (act.kind === 'take') this.actor(bucket).noteAsked(act.amounts);
    const acts = parts.map(({ bucket, act }) => `${bucketName(bucket)} ${act.kind === 'take' ? act.set.version : ''}`);
    // With riders apart from those without, because only a rider shows that a repeated transaction was applied before.
    const outcome = await this.queues.submit(
      `${rider ? (rider.record ? 'recorded' : 'with rider') : ''} ${acts.join(' ')}`,
      operation,
    );
    if ('error' in outcome) throw outcome.error;
    return outcome;
  }

  flush(): Promise<void> {
    return this.queues.flush();
  }

  /** All shards of a bucket, now; none where there is no bucket. Those asked for at once are read at once. */
  load(id: BucketId): Promise<Shard[]> {
    return this.loader.load(id);
  }

  async loadMany(ids: readonly BucketId[]): Promise<Shard[][]> {
    const found = await this.store.loadMany(ids);
    for (const [i, id] of ids.entries()) if (this.actors.has(bucketName(id))) this.actor(id).learnAll(found[i] ?? []);
    return found;
  }

  /** The shards that refused lately and would refuse this too; nothing is asked of the store. */
  refusedBy(id: BucketId, set: LimitSet, amounts: Amounts): readonly Shard[] | undefined {
    return this.actors.get(bucketName(id))?.refusedBy(set, amounts);
  }

  /** The shards of a bucket that this process has seen. */
  known(id: BucketId): Shard[] {
    return this.actors.get(bucketName(id))?.known() ?? [];
  }

  /** Stamps a bucket with a limit set, unless it has one that was resolved later; returns its shards. Once for all who ask at the same time. */
  stamp(id: BucketId, set: LimitSet, mayExpire: boolean): Promise<Shard[]> {
    const name = `${bucketName(id)} ${set.version} ${set.levels}`;
    const stamping =
      this.stamping.get(name) ?? this.stampNow(id, set, mayExpire).finally(() => this.stamping.delete(name));
    this.stamping.set(name, stamping);
    return stamping;
  }

  private async stampNow(id: BucketId, set: LimitSet, mayExpire: boolean): Promise<Shard[]> {
    const shards = await this.changes.settle(id, ([first]) =>
      first && mayReplace(first, set) ? { kind: 'stamp', set, mayExpire } : undefined,
    );
    this.relearn(id, shards);
    return shards;
  }

  /** Ends a bucket: all its shards at once, what is used of their hours booked. Returns how many there were. */
  async end(id: BucketId, isToEnd: (shards: readonly Shard[]) => boolean = () => true): Promise<number> {
    let count = 0;
    const left = await this.changes.settle(id, (shards) => {
      if (!isToEnd(shards)) return undefined;
      count = shards.length;
      return { kind: 'end' };
    });
    this.relearn(id, left);
    return left.length === 0 ? count : 0;
  }

  /** Gives a bucket twice as many shards; false where they would not serve. */
  double(id: BucketId): Promise<boolean> {
    return this.reshard(id, (count) => count * 2);
  }

  /** Gives a bucket half as many shards. */
  fold(id: BucketId): Promise<boolean> {
    return this.reshard(id, (count) => Math.ceil(count / 2));
  }

  private async reshard(id: BucketId, next: (count: number) => number): Promise<boolean> {
    const actor = this.actor(id);
    let from: number | undefined;
    const shards = await this.changes.settle(id, (found) => {
      from ??= found.length;
      const count = next(from);
      const isServing = count < from || (count > from && actor.mayHave(count, found[0] as Shard));
      return found.length === from && isServing ? { kind: 'shards', count } : undefined;
    });
    this.relearn(id, shards);
    return from !== undefined && shards.length === next(from);
  }

  /** Books the hour of a shard that nobody has closed; false where it has changed meanwhile. */
  async bookHour(id: BucketId, index: number, shard: Shard): Promise<boolean> {
    return isUsed(shard) && (await this.store.closeHour({ ...id, shard: index }, shard, shard.hour)).done;
  }

  private actor(id: BucketId): BucketActor {
    const name = bucketName(id);
    let actor = this.actors.get(name);
    if (!actor) {
      actor = new BucketActor(id, this.clock, this.preference);
      this.actors.set(name, actor);
    }
    return actor;
  }

  private relearn(id: BucketId, shards: readonly Shard[]): void {
    const actor = this.actor(id);
    actor.forget();
    actor.learnAll(shards);
  }

  /** More is written to a bucket than one partition takes, or has been little for long: then another number of shards. */
  private onLoad({ id }: BucketActor, load: Load): void {
    if (!load) return;
    const name = bucketName(id);
    if ((this.resting.get(name) ?? Number.NEGATIVE_INFINITY) > this.clock.monotonicMs()) return;
    // However long it takes: a second one meanwhile would change the number twice.
    this.resting.set(name, Number.POSITIVE_INFINITY);
    const { entityId, resource } = id;
    (load === 'hot' ? this.double(id) : this.fold(id))
      .then(
        (isDone) =>
          isDone &&
          this.options.log.info(
            { entityId, resource, load, shardCount: this.actor(id).shardCount },
            'a bucket has another number of shards',
          ),
        (error: unknown) =>
          this.options.log.warn(
            { err: error, entityId, resource, load },
            'a bucket could not be given another number of shards',
          ),
      )
      .finally(() => this.resting.set(name, this.clock.monotonicMs() + restMs));
  }
}

/** Whether a set differs from the one stamped, and was not resolved from older levels. */
const mayReplace = ({ version, levels }: Shard, set: LimitSet): boolean =>
  version !== set.version && (set.levels ?? []).every((of, i) => of >= (levels[i] ?? 0));
