import type { Clock } from '../../lib/clock.js';
import type { Log } from '../../lib/log.js';
import type { Metrics } from '../../lib/metrics.js';
import { type Repeating, repeat } from '../../lib/timers.js';
import type { BucketId } from '../limiter-keys.js';
import type { RefusalStore } from './refusal.store.js';
import { RefusalCounts, type RefusalKind, type Tally } from './refusals.js';
import { hourOf } from './usage.js';

const flushMs = 10_000;
export const maxWritesPerFlush = 500;
const writesAtOnce = 20;

export interface RefusalDeps {
  readonly store: RefusalStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Counts refusals by entity, resource and limit, and stores the sums every 10 s. A crash loses the counts that were not
 * stored yet. No refusal is counted twice.
 */
export class RefusalService {
  private readonly counts = new RefusalCounts();
  private loop: Repeating | undefined;
  private flushing: Promise<boolean> | undefined;

  constructor(private readonly deps: RefusalDeps) {}

  /** Counts one acquire under each of these limits, in memory. */
  note(bucket: BucketId, limits: readonly string[], kind: RefusalKind): void {
    const { clock, metrics } = this.deps;
    if (!this.counts.note(bucket, hourOf(clock.nowMs()), limits, kind)) metrics.refusalsDropped.inc();
  }

  start(): void {
    this.loop = repeat(flushMs, () => this.flush().then(() => undefined), this.logFailure);
  }

  /** Stores all remaining counts, unless a write fails. */
  async stop(): Promise<void> {
    await this.loop?.stop();
    while (await this.flush());
  }

  /** Stores up to 500 changed tallies. True if all of these were stored and there are more. */
  flush(): Promise<boolean> {
    this.flushing ??= this.storeSome().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  private async storeSome(): Promise<boolean> {
    const tallies = this.counts.unsaved(maxWritesPerFlush);
    for (let i = 0; i < tallies.length; i += writesAtOnce) {
      const stored = await Promise.all(tallies.slice(i, i + writesAtOnce).map((tally) => this.store(tally)));
      // The database is unavailable or throttled: the rest waits for the next flush.
      if (stored.includes(false)) return false;
    }
    this.counts.dropSavedBefore(hourOf(this.deps.clock.nowMs()));
    return this.counts.unsavedCount > 0;
  }

  private async store(tally: Tally): Promise<boolean> {
    const { version } = tally;
    try {
      await this.deps.store.save(tally);
      this.counts.markSaved(tally, version);
      return true;
    } catch (error) {
      this.logFailure(error);
      this.counts.postpone(tally);
      return false;
    }
  }

  private readonly logFailure = (error: unknown): void =>
    this.deps.log.warn({ err: error }, 'failed to store refusal counts');
}
