import type { Clock } from './clock.js';
import { endOfTurn, sleep } from './timers.js';

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

export interface SharedCallsOptions<W, R> {
  /** Fewer writes go by calls of their own, at the same time. */
  readonly minSize: number;
  readonly maxSize: number;
  readonly clock: Clock;
  /** Writes of one item never share a call, because DynamoDB may refuse that. Absent if there are none. */
  identity?(write: W): string;
  /** Sends one call. The results are in the order of the writes. If it throws, all of them fail. */
  send(writes: readonly W[]): Promise<readonly (R | Promise<R>)[]>;
}

interface WaitingWrite<W, R> {
  readonly write: W;
  readonly resolve: (result: R | Promise<R>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Independent writes of different requests that are ready at the same time share one call. An idle process sends a
 * write at once.
 */
export class SharedCalls<W, R> {
  private waiting: WaitingWrite<W, R>[] = [];
  private inFlight = 0;
  private maxSize = firstMaxSize;
  private isScheduled = false;
  private isTimed = false;

  constructor(private readonly options: SharedCallsOptions<W, R>) {}

  submit(write: W): Promise<R> {
    const result = new Promise<R>((resolve, reject) => this.waiting.push({ write, resolve, reject }));
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
    const next = this.takeNext();
    if (next.length >= this.options.minSize) void this.send(next);
    else for (const each of next) void this.send([each]);
  }

  /** The first of the waiting writes, without a second one of the same item. */
  private takeNext(): WaitingWrite<W, R>[] {
    const { identity } = this.options;
    if (!identity) return this.waiting.splice(0, this.maxSize);
    const taken = new Map<string, WaitingWrite<W, R>>();
    const left = this.waiting.filter((each) => {
      const name = identity(each.write);
      if (taken.size >= this.maxSize || taken.has(name)) return true;
      taken.set(name, each);
      return false;
    });
    this.waiting = left;
    return [...taken.values()];
  }

  private async send(batch: readonly WaitingWrite<W, R>[]): Promise<void> {
    const { clock } = this.options;
    this.inFlight++;
    const beganMs = clock.monotonicMs();
    try {
      const results = await this.options.send(batch.map(({ write }) => write));
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as R | Promise<R>);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.inFlight--;
    this.adapt(batch.length, clock.monotonicMs() - beganMs);
    this.sendReady();
  }

  private adapt(size: number, tookMs: number): void {
    const { minSize, maxSize } = this.options;
    if (size < minSize) return;
    if (tookMs > slowMs) this.maxSize = Math.max(minSize, Math.floor(size / 2));
    else if (size === this.maxSize) this.maxSize = Math.min(maxSize, size * 2);
  }
}
