import type { Clock } from '../lib/clock.js';
import { unavailable } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { tornMs } from '../lib/second-look.js';
import { type Repeating, repeat, sleep } from '../lib/timers.js';
import type { RevocationStore } from './revocation.store.js';

const pollMs = 1000;
const oldestMemoryMs = 5000;

/** Follows the revocation version: one read of eight small items a second for the whole process. */
export class RevocationFeed {
  private version = -1;
  /** Changes of this process's own. Kept apart from the store's count: mixed, they could hide one of its. */
  private changes = 0;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private loop: Repeating | undefined;
  private readonly listeners = new Set<() => void>();
  private purgesSeen: readonly number[] = [];
  private onPurged: (orgId: string | undefined) => void = () => undefined;

  constructor(
    private readonly store: Pick<RevocationStore, 'changes'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  private readonly complain = (error: unknown): void => this.log.warn({ err: error }, 'the revocation version could not be read');

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

  /** Forgets what this process remembers at once, after a change of its own. */
  forget(): void {
    this.changes++;
  }

  /** Looks now. */
  async poll(): Promise<void> {
    const beganMs = this.clock.monotonicMs();
    const { version, purges } = await this.store.changes();
    // What was revoked may still be read as it was.
    if (version > this.version) await sleep(tornMs);
    this.version = Math.max(this.version, version);
    const before = this.purgesSeen;
    this.purgesSeen = purges.map(({ count }, slot) => Math.max(count, before[slot] ?? 0));
    for (const [slot, { count, last }] of purges.entries()) {
      const seen = before[slot] ?? 0;
      if (count > seen) this.onPurged(count === seen + 1 ? last : undefined);
    }
    this.readAtMs = Math.max(this.readAtMs, beganMs);
  }

  /** The version to remember things under. Too long unheard of, nothing remembered may be trusted: never fail open. */
  current(): string {
    if (this.clock.monotonicMs() - this.readAtMs > oldestMemoryMs)
      throw unavailable('revocations cannot be checked because the store does not answer: try again');
    return `${this.version}/${this.changes}`;
  }

  /** How many limiters were purged anywhere, as far as is known here. */
  get purges(): number {
    return this.purgesSeen.reduce((sum, count) => sum + count, 0);
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
