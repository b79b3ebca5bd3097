import { Overloaded } from './errors.js';
import type { EventLoopScheduler } from './event-loop-scheduler.js';
import { endOfTurn, settled } from './timers.js';

/** What a commit says of each entry of its group. */
export type Settled<R> = { readonly done: R } | 'again';

export interface GroupCommitOptions<E, R> {
  /** How many entries one commit takes. */
  readonly maxGroupSize: number;
  /** How many may wait in all; one more is turned away at once. */
  readonly maxWaiting: number;
  /** Two entries with the same identity never share a group: the store would refuse the whole of it. */
  identity(entry: E): string;
  /** Whose it is: no one may have more than half of all that waits. */
  tenant?(entry: E): string;
  /** Of a process that has others to serve meanwhile. */
  readonly scheduler?: EventLoopScheduler | undefined;
  /** Waits until the key's items are free of other keys' writes, and returns what frees them again. The group is formed only then. */
  enter?(key: string, first: E): (() => void) | Promise<() => void>;
  /** Writes a group, all or part of it, and says of each entry what became of it. What it throws, only this group fails with. */
  commit(key: string, group: readonly E[]): Promise<readonly Settled<R>[]>;
}

interface Waiting<E, R> {
  readonly entry: E;
  readonly tenant: string | undefined;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane<E, R> {
  queue: Waiting<E, R>[];
  busy: boolean;
}

/**
 * Writes that wait for the same item share one. While a write for a key is under way, further entries queue in the order
 * of their arrival; then the next write takes as many as fit. So this process never contends with itself, and every
 * caller still gets its answer only after its own entry is durable.
 */
export class GroupCommit<E, R> {
  private readonly lanes = new Map<string, Lane<E, R>>();
  private readonly perTenant = new Map<string, number>();
  private unsettled = 0;
  private flushed: (() => void)[] = [];

  constructor(private readonly options: GroupCommitOptions<E, R>) {}

  /** How many wait for a key, the group under way not counted. */
  waitingFor(key: string): number {
    return this.lanes.get(key)?.queue.length ?? 0;
  }

  submit(key: string, entry: E): Promise<R> {
    if (this.unsettled >= this.options.maxWaiting)
      return Promise.reject(new Overloaded('too much is waiting to be written; nothing was changed: try again'));
    const tenant = this.options.tenant?.(entry);
    if (tenant !== undefined) {
      const others = this.perTenant.get(tenant) ?? 0;
      if (others >= this.options.maxWaiting / 2)
        return Promise.reject(
          new Overloaded('too much is waiting to be written for this org; nothing was changed: try again'),
        );
      this.perTenant.set(tenant, others + 1);
    }
    this.unsettled++;
    let lane = this.lanes.get(key);
    if (!lane) {
      lane = { queue: [], busy: false };
      this.lanes.set(key, lane);
    }
    const { queue } = lane;
    const told = new Promise<R>((resolve, reject) => queue.push({ entry, tenant, resolve, reject }));
    if (!lane.busy) void this.drain(key, lane);
    return told;
  }

  /** Resolves when nothing is left to settle. */
  async flush(): Promise<void> {
    if (this.unsettled > 0) await new Promise<void>((resolve) => this.flushed.push(resolve));
  }

  private leave({ tenant }: Waiting<E, R>): void {
    if (tenant !== undefined) {
      const left = (this.perTenant.get(tenant) ?? 1) - 1;
      if (left > 0) this.perTenant.set(tenant, left);
      else this.perTenant.delete(tenant);
    }
    this.unsettled--;
    if (this.unsettled > 0) return;
    for (const resolve of this.flushed.splice(0)) resolve();
  }

  private async drain(key: string, lane: Lane<E, R>): Promise<void> {
    lane.busy = true;
    // Those that arrive in the same turn of the event loop go together.
    await endOfTurn();
    await this.options.scheduler?.turn('begun');
    while (lane.queue.length > 0) {
      const entered = this.options.enter?.(key, (lane.queue[0] as Waiting<E, R>).entry);
      const leave = entered instanceof Promise ? await entered : entered;
      const group = this.nextGroup(lane);
      try {
        const outcomes = await this.options.commit(
          key,
          group.map(({ entry }) => entry),
        );
        lane.queue.unshift(...group.filter((_, i) => (outcomes[i] ?? 'again') === 'again'));
        void this.tell(group, outcomes);
      } catch (error) {
        for (const waiting of group) {
          this.leave(waiting);
          waiting.reject(error);
        }
      } finally {
        leave?.();
      }
    }
    this.lanes.delete(key);
  }

  /** One after the other: all at once, those of a large group would keep everyone else waiting. */
  private async tell(group: readonly Waiting<E, R>[], outcomes: readonly Settled<R>[]): Promise<void> {
    const { scheduler } = this.options;
    for (const [i, waiting] of group.entries()) {
      const outcome = outcomes[i] ?? 'again';
      if (outcome === 'again') continue;
      const turn = scheduler?.turn('begun');
      if (turn) await turn;
      this.leave(waiting);
      waiting.resolve(outcome.done);
      if (scheduler) await settled();
    }
  }

  /** In order of arrival; one whose like is in the group already stays behind, and so keeps its place for the next. */
  private nextGroup(lane: Lane<E, R>): Waiting<E, R>[] {
    const group: Waiting<E, R>[] = [];
    const later: Waiting<E, R>[] = [];
    const taken = new Set<string>();
    const { queue } = lane;
    let next = 0;
    for (; next < queue.length && group.length < this.options.maxGroupSize; next++) {
      const waiting = queue[next] as Waiting<E, R>;
      const identity = this.options.identity(waiting.entry);
      if (taken.has(identity)) later.push(waiting);
      else group.push(waiting);
      taken.add(identity);
    }
    later.push(...queue.slice(next));
    lane.queue = later;
    return group;
  }
}
