import type { Clock } from '../lib/clock.js';
import { isOutage, unavailable } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { tornMs } from '../lib/second-look.js';
import { type Repeating, repeat, sleep, within } from '../lib/timers.js';
import { KnownRevocations } from './known-revocations.js';
import { type Changes, counterCount, countersPerSlot, type RevocationStore } from './revocation.store.js';

const pollMs = 1000;
const oldestMemoryMs = 5000;
const refreshMs = 200;

/** Follows the revocation version: one read of eight small items a second for the whole process. */
export class RevocationFeed {
  readonly known = new KnownRevocations();
  private seen: readonly Changes[] = [];
  /** Of all that is seen: it only grows. */
  private version = 0;
  /** Changes of this process's own. Kept apart from the store's count: mixed, they could hide one of its. */
  private changes = 0;
  /** The change counters as they were read: each only grows. */
  private readonly counters = new Float64Array(counterCount);
  /** Changes of this process's own, by change counter. */
  private readonly ownCounters = new Float64Array(counterCount);
  private readAtMs = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private loop: Repeating | undefined;
  private readonly listeners = new Set<() => void>();
  private onPurged: (orgId: string | undefined) => void = () => undefined;

  constructor(
    private readonly store: Pick<RevocationStore, 'changes'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  private readonly complain = (error: unknown): void =>
    this.log.warn({ err: error }, 'the revocation version could not be read');

  async start(): Promise<void> {
    await this.poll();
    this.loop = repeat(
      pollMs,
      async () => {
        try {
          await this.poll();
        } finally {
          for (const listener of this.listeners) listener();
        }
      },
      this.complain,
    );
  }

  async stop(): Promise<void> {
    await this.loop?.stop();
  }

  /**
   * Forgets what this process remembers at once, after a change of its own, and brings it up to date. It does not wait
   * long for that: what was changed is changed, and its caller must hear of it.
   */
  async refresh(): Promise<void> {
    this.changes++;
    await within(refreshMs, this.poll(true).catch(this.complain), () => undefined);
  }

  /** `ownIsDone`: the transaction of this process's last change has been answered, so that all of it can be read. */
  private async poll(ownIsDone = false): Promise<void> {
    const beganMs = this.clock.monotonicMs();
    const found = await this.store.changes().catch((error: unknown) => {
      this.hasFailed = isOutage(error);
      throw error;
    });
    this.hasFailed = false;
    const isSettled = ({ version, isOwn, counters }: Changes, slot: number): boolean => {
      const seen = this.seen[slot]?.version ?? -1;
      const isSame = version <= seen || (ownIsDone && isOwn && version === seen + 1);
      return isSame && counters.every((count, i) => count <= this.countAt(slot, i));
    };
    // What was revoked or changed may still be read as it was.
    if (!found.every(isSettled)) await sleep(tornMs);
    const before = this.seen;
    this.seen = found.map((changes, slot) =>
      changes.version > (before[slot]?.version ?? -1) ? changes : (before[slot] as Changes),
    );
    this.version = this.seen.reduce((sum, { version }) => sum + version, 0);
    for (const [slot, { counters }] of found.entries())
      for (const [i, count] of counters.entries())
        this.counters[slot * countersPerSlot + i] = Math.max(count, this.countAt(slot, i));
    for (const [slot, { purges, lastPurged }] of this.seen.entries()) {
      const missed = purges - (before[slot]?.purges ?? 0);
      if (missed > 0) this.onPurged(missed === 1 ? lastPurged : undefined);
    }
    this.readAtMs = Math.max(this.readAtMs, beganMs);
  }

  /** The version to remember things under. Too long unheard of, nothing remembered may be trusted: never fail open. */
  current(): string {
    if (this.clock.monotonicMs() - this.readAtMs > oldestMemoryMs)
      throw unavailable('revocations cannot be checked because the store does not answer: try again');
    return `${this.version}/${this.changes}`;
  }

  /** Whether the store did not answer when it was last asked. A process that has been too busy to ask does not know of an outage. */
  get isStoreAway(): boolean {
    return this.hasFailed;
  }

  /** How often the places of this counter were changed, as far as is known here. It only grows. */
  changesAt(counter: number): number {
    return (this.counters[counter] as number) + (this.ownCounters[counter] as number);
  }

  /** Counts a change of this process's own at once. */
  noteChangeAt(counter: number): void {
    this.ownCounters[counter] = (this.ownCounters[counter] as number) + 1;
  }

  private countAt(slot: number, i: number): number {
    return this.counters[slot * countersPerSlot + i] as number;
  }

  /** How many limiters were purged anywhere, as far as is known here. */
  get purges(): number {
    return this.seen.reduce((sum, { purges }) => sum + purges, 0);
  }

  /** Whose limiter was purged; undefined: of several orgs, any of which it may have been. */
  whenPurged(tell: (orgId: string | undefined) => void): void {
    this.onPurged = tell;
  }

  /** Called once a second: for what must end when a token expires or is revoked. */
  onTick(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
