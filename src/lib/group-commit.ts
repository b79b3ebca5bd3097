import { Overloaded } from './errors.js';
import type { EventLoopScheduler } from './event-loop-scheduler.js';
import { endOfTurn, settled } from './timers.js';

/** The result of one entry of a commit. `again`: the entry must be part of a later commit. */
export type CommitResult<R> = { readonly done: R } | 'again';

export interface GroupCommitOptions<E, R> {
  /** The maximum number of entries per commit, together with the shared items of these entries. */
  readonly maxGroupSize: number;
  /** The names of the items that an entry writes together with other entries. Each counts once per commit. */
  shared?(entry: E): readonly string[];
  /** The maximum number of waiting entries. Further ones are refused at once. */
  readonly maxWaiting: number;
  /** Two entries with the same identity never share a commit, because DynamoDB would refuse the whole transaction. */
  identity(entry: E): string;
  /** The tenant of an entry. No tenant may have more than half of the waiting entries. */
  tenant?(entry: E): string;
  /** Lets other requests run between the results of a large commit. */
  readonly scheduler?: EventLoopScheduler | undefined;
  /**
   * Waits until the items of this key are free, and returns the function that frees them. The group is formed after
   * that.
   */
  enter?(key: string, first: E): (() => void) | Promise<() => void>;
  /** Writes a group or a part of it, and returns a result per entry. If it throws, only this group fails. */
  commit(key: string, group: readonly E[]): Promise<readonly CommitResult<R>[]>;
}

interface Waiting<E, R> {
  readonly entry: E;
  readonly tenant: string | undefined;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

interface KeyQueue<E, R> {
  entries: Waiting<E, R>[];
  busy: boolean;
}

/**
 * Group commit: entries for the same key share one write. While a write for a key is running, further entries wait in a
 * queue in order of arrival. The next write takes as many as fit. So this process never contends with itself, and every
 * caller still gets its result only after its own entry is durable.
 */
export class GroupCommit<E, R> {
  private readonly queues = new Map<string, KeyQueue<E, R>>();
  private readonly perTenant = new Map<string, number>();
  private unsettled = 0;
  private flushed: (() => void)[] = [];

  constructor(private readonly options: GroupCommitOptions<E, R>) {}

  /** How many entries wait for a key, without those being written. */
  waitingFor(key: string): number {
    return this.queues.get(key)?.entries.length ?? 0;
  }

  submit(key: string, entry: E): Promise<R> {
    if (this.unsettled >= this.options.maxWaiting)
      return Promise.reject(new Overloaded('too many writes are waiting; nothing was changed; retry'));
    const tenant = this.options.tenant?.(entry);
    if (tenant !== undefined) {
      const others = this.perTenant.get(tenant) ?? 0;
      if (others >= this.options.maxWaiting / 2)
        return Promise.reject(new Overloaded('too many writes of this org are waiting; nothing was changed; retry'));
      this.perTenant.set(tenant, others + 1);
    }
    this.unsettled++;
    let queue = this.queues.get(key);
    if (!queue) {
      queue = { entries: [], busy: false };
      this.queues.set(key, queue);
    }
    const { entries } = queue;
    const result = new Promise<R>((resolve, reject) => entries.push({ entry, tenant, resolve, reject }));
    if (!queue.busy) void this.drain(key, queue);
    return result;
  }

  /** Resolves when all entries have a result. */
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

  private async drain(key: string, queue: KeyQueue<E, R>): Promise<void> {
    queue.busy = true;
    // Entries that arrive in the same turn of the event loop share a commit.
    await endOfTurn();
    await this.options.scheduler?.turn('begun');
    while (queue.entries.length > 0) {
      const entered = this.options.enter?.(key, (queue.entries[0] as Waiting<E, R>).entry);
      const leave = entered instanceof Promise ? await entered : entered;
      const group = this.nextGroup(queue);
      try {
        const outcomes = await this.options.commit(
          key,
          group.map(({ entry }) => entry),
        );
        queue.entries.unshift(...group.filter((_, i) => (outcomes[i] ?? 'again') === 'again'));
        void this.resolveAll(group, outcomes);
      } catch (error) {
        for (const waiting of group) {
          this.leave(waiting);
          waiting.reject(error);
        }
      } finally {
        leave?.();
      }
    }
    this.queues.delete(key);
  }

  /** Returns the results one after another. All at once, those of a large group would delay other requests. */
  private async resolveAll(group: readonly Waiting<E, R>[], outcomes: readonly CommitResult<R>[]): Promise<void> {
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

  /** In order of arrival. An entry whose identity is in the group already keeps its place for the next group. */
  private nextGroup(queue: KeyQueue<E, R>): Waiting<E, R>[] {
    const group: Waiting<E, R>[] = [];
    const later: Waiting<E, R>[] = [];
    const taken = new Set<string>();
    const shared = new Set<string>();
    const { entries } = queue;
    const { maxGroupSize } = this.options;
    let next = 0;
    for (; next < entries.length && group.length + shared.size < maxGroupSize; next++) {
      const waiting = entries[next] as Waiting<E, R>;
      const added = (this.options.shared?.(waiting.entry) ?? []).filter((name) => !shared.has(name));
      if (group.length + 1 + shared.size + added.length > maxGroupSize) break;
      const identity = this.options.identity(waiting.entry);
      if (taken.has(identity)) later.push(waiting);
      else {
        group.push(waiting);
        for (const name of added) shared.add(name);
      }
      taken.add(identity);
    }
    later.push(...entries.slice(next));
    queue.entries = later;
    return group;
  }
}
