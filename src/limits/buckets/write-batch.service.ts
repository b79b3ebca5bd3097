import type { Clock } from '../../lib/clock.js';
import { endOfTurn, sleep } from '../../lib/timers.js';
import type { BucketStore, ShardWriteResult } from './bucket.store.js';
import type { PlannedWrite } from './bucket-write.item.js';

/** DynamoDB accepts 25 statements per call. */
const maxStatements = 25;
/**
 * Fewer go by calls of their own, at the same time. So an acquire of a child and its parent, in an idle process, does
 * not lose both takes with one response.
 */
const minSize = 3;
const firstMaxSize = 8;
/** With fewer calls in flight, a write goes out at once. Otherwise it waits for others to share its call. */
const callsWithoutWait = 4;
/** A write does not wait longer than this for others, because the calls in flight may be slow. */
const maxWaitMs = 5;
/**
 * A call that takes longer halves the size of the next ones: an engine may execute statements one by one, and the
 * request must not time out. Half of the default timeout.
 */
const slowMs = 500;

interface WaitingWrite {
  readonly planned: PlannedWrite;
  readonly resolve: (result: ShardWriteResult | Promise<ShardWriteResult>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes of different buckets that are ready at the same time share one call. An idle process sends a write at once and
 * alone. The writes of a call do not depend on each other: each has its own condition and its own outcome.
 */
export class WriteBatches {
  private waiting: WaitingWrite[] = [];
  private inFlight = 0;
  private maxSize = firstMaxSize;
  private isScheduled = false;
  private isTimed = false;

  constructor(
    private readonly store: BucketStore,
    private readonly clock: Clock,
  ) {}

  /** One write on one shard. Not retried: if the response is lost, the outcome is unknown. */
  write(planned: PlannedWrite): Promise<ShardWriteResult> {
    if (planned.kind !== 'change') return this.store.write(planned);
    const result = new Promise<ShardWriteResult>((resolve, reject) => this.waiting.push({ planned, resolve, reject }));
    if (!this.isScheduled) void this.sendAtEndOfTurn();
    return result;
  }

  private async sendAtEndOfTurn(): Promise<void> {
    this.isScheduled = true;
    await endOfTurn();
    this.isScheduled = false;
    this.sendReady();
  }

  private sendReady(): void {
    while (this.waiting.length > 0 && (this.inFlight < callsWithoutWait || this.waiting.length >= this.maxSize))
      this.sendNext();
    if (this.waiting.length > 0 && !this.isTimed) void this.sendAfterWait();
  }

  private async sendAfterWait(): Promise<void> {
    this.isTimed = true;
    await sleep(maxWaitMs);
    this.isTimed = false;
    while (this.waiting.length > 0) this.sendNext();
  }

  private sendNext(): void {
    const next = this.waiting.splice(0, this.maxSize);
    if (next.length >= minSize) void this.send(next);
    else for (const each of next) void this.send([each]);
  }

  private async send(batch: readonly WaitingWrite[]): Promise<void> {
    this.inFlight++;
    const beganMs = this.clock.monotonicMs();
    try {
      const results = await this.store.writeEach(batch.map(({ planned }) => planned));
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Promise<ShardWriteResult>);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.inFlight--;
    this.adapt(batch.length, this.clock.monotonicMs() - beganMs);
    this.sendReady();
  }

  private adapt(size: number, tookMs: number): void {
    if (size < minSize) return;
    if (tookMs > slowMs) this.maxSize = Math.max(minSize, Math.floor(size / 2));
    else if (size === this.maxSize) this.maxSize = Math.min(maxStatements, size * 2);
  }
}
