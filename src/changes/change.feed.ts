import { commitVisibleMs } from '../dynamo/reread.js';
import type { Clock } from '../lib/clock.js';
import { isOutage, unavailable } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { type Repeating, repeat, sleep, within } from '../lib/timers.js';
import { type ChangeItem, type ChangeStore, counterCount, countersPerSlot } from './change.store.js';

const pollMs = 1000;
const maxAgeMs = 5000;
const refreshMs = 200;

/** Polls the change counter: one read of eight small items per second for the whole process. */
export class ChangeFeed {
  private items: readonly ChangeItem[] = [];
  /** The sum of the versions of all items. It only grows. */
  private version = 0;
  /** Changes made by this process. Kept apart from the stored count: their sum could hide a stored change. */
  private ownChanges = 0;
  /** The place counters as last read. Each only grows. */
  private readonly counters = new Float64Array(counterCount);
  /** Place changes made by this process. */
  private readonly ownCounters = new Float64Array(counterCount);
  private readAtMs = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private loop: Repeating | undefined;
  private readonly tickListeners = new Set<() => void>();
  private purgeListener: (orgId: string | undefined) => void = () => undefined;

  constructor(
    private readonly store: Pick<ChangeStore, 'load'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  private readonly logFailure = (error: unknown): void =>
    this.log.warn({ err: error }, 'failed to read the change counter');

  async start(): Promise<void> {
    await this.poll();
    this.loop = repeat(
      pollMs,
      async () => {
        try {
          await this.poll();
        } finally {
          for (const listener of this.tickListeners) listener();
        }
      },
      this.logFailure,
    );
  }

  async stop(): Promise<void> {
    await this.loop?.stop();
  }

  /**
   * Makes the caches of this process stale at once, after a change of its own, and reads the counter again. It waits
   * only briefly for that read, because the change is committed and its caller needs the response.
   */
  async refresh(): Promise<void> {
    this.ownChanges++;
    await within(refreshMs, this.poll(true).catch(this.logFailure), () => undefined);
  }

  /**
   * The version to cache under. Throws if the last successful read is too old: the caches must not serve revoked
   * credentials.
   */
  current(): string {
    if (this.clock.monotonicMs() - this.readAtMs > maxAgeMs)
      throw unavailable('revocations cannot be checked because the database does not respond; retry');
    return `${this.version}/${this.ownChanges}`;
  }

  /**
   * True if the last read failed because DynamoDB did not respond. A process that was too busy to read has seen no
   * outage.
   */
  get isStoreAway(): boolean {
    return this.hasFailed;
  }

  /** How often the places of this counter were changed, as far as this process knows. It only grows. */
  countAt(counter: number): number {
    return (this.counters[counter] ?? 0) + (this.ownCounters[counter] ?? 0);
  }

  /** Counts a place change of this process at once. */
  noteChangeAt(counter: number): void {
    this.ownCounters[counter] = (this.ownCounters[counter] ?? 0) + 1;
  }

  /** How many limiters were purged anywhere, as far as this process knows. */
  get purges(): number {
    return this.items.reduce((sum, { purges }) => sum + purges, 0);
  }

  /** `listener` gets the org whose limiter was purged, or undefined if several were and it may have been any org. */
  onPurge(listener: (orgId: string | undefined) => void): void {
    this.purgeListener = listener;
  }

  /** Calls the listener once per second, for what must end when a token expires or is revoked. */
  onTick(listener: () => void): () => void {
    this.tickListeners.add(listener);
    return () => this.tickListeners.delete(listener);
  }

  /**
   * `isOwnCommitted`: the transaction of this process's last change has succeeded, so that all its items are visible.
   */
  private async poll(isOwnCommitted = false): Promise<void> {
    const beganMs = this.clock.monotonicMs();
    const found = await this.store.load().catch((error: unknown) => {
      this.hasFailed = isOutage(error);
      throw error;
    });
    this.hasFailed = false;
    // The other items of a new change's transaction may not be visible yet.
    if (!found.every((item, slot) => this.isUnchanged(item, slot, isOwnCommitted))) await sleep(commitVisibleMs);
    this.apply(found);
    this.readAtMs = Math.max(this.readAtMs, beganMs);
  }

  /** True if the item shows no change that is new to this process. */
  private isUnchanged({ version, isOwn, counters }: ChangeItem, slot: number, isOwnCommitted: boolean): boolean {
    const before = this.items[slot]?.version ?? -1;
    const isSame = version <= before || (isOwnCommitted && isOwn && version === before + 1);
    return isSame && counters.every((count, i) => count <= this.storedCount(slot, i));
  }

  private apply(found: readonly ChangeItem[]): void {
    const before = this.items;
    this.items = found.map((item, slot) => newer(item, before[slot]));
    this.version = this.items.reduce((sum, { version }) => sum + version, 0);
    for (const [slot, { counters }] of found.entries())
      for (const [i, count] of counters.entries())
        this.counters[slot * countersPerSlot + i] = Math.max(count, this.storedCount(slot, i));
    for (const [slot, { purges, lastPurged }] of this.items.entries()) {
      const missed = purges - (before[slot]?.purges ?? 0);
      if (missed > 0) this.purgeListener(missed === 1 ? lastPurged : undefined);
    }
  }

  private storedCount(slot: number, i: number): number {
    return this.counters[slot * countersPerSlot + i] ?? 0;
  }
}

/** A read that took longer than another may return an older state. */
const newer = (found: ChangeItem, before: ChangeItem | undefined): ChangeItem =>
  before && before.version >= found.version ? before : found;
