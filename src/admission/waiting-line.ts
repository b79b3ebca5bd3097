import type { Clock } from '../lib/clock.js';
import { sleep } from '../lib/timers.js';

/** Bounds the waiting calls of one scope and of a process. Further calls do not wait. */
export const maxWaitingPerScope = 100;
export const maxWaiting = 1000;
const pollMs = 100;

/** How long to wait, and when to give up. */
export interface Patience {
  readonly waitMs: number;
  /** True if the caller no longer waits for the result. */
  isGone(): boolean;
}

/** Calls that wait for money or tokens. In each scope only the first one tries, so that none overtakes another. */
export class WaitingLine {
  private readonly lines = new Map<string, object[]>();
  private waiting = 0;
  private wakers = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** True if calls of the scope wait already. */
  isBusy(scope: string): boolean {
    return this.lines.has(scope);
  }

  /** Lets the first calls try again at once. */
  wake(): void {
    const { wakers } = this;
    this.wakers = new Set();
    for (const wake of wakers) wake();
  }

  /** Tries in order of arrival until it succeeds or the time is over. Returns the last result. */
  async wait<T>(
    scope: string,
    { waitMs, isGone }: Patience,
    attempt: () => Promise<T>,
    isDone: (result: T) => boolean,
  ): Promise<T> {
    const line = this.lines.get(scope) ?? [];
    if (line.length >= maxWaitingPerScope || this.waiting >= maxWaiting) return attempt();
    const ticket = {};
    this.enter(scope, line, ticket);
    const untilMs = this.clock.monotonicMs() + waitMs;
    try {
      for (;;) {
        const leftMs = untilMs - this.clock.monotonicMs();
        if (line[0] === ticket || leftMs <= 0) {
          const result = await attempt();
          if (isDone(result) || isGone() || untilMs <= this.clock.monotonicMs()) return result;
        }
        await this.pause(Math.min(pollMs, Math.max(1, leftMs)));
      }
    } finally {
      this.leave(scope, line, ticket);
    }
  }

  private enter(scope: string, line: object[], ticket: object): void {
    line.push(ticket);
    this.lines.set(scope, line);
    this.waiting++;
  }

  private leave(scope: string, line: object[], ticket: object): void {
    line.splice(line.indexOf(ticket), 1);
    if (line.length === 0) this.lines.delete(scope);
    this.waiting--;
    this.wake();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.wakers.add(resolve);
      void sleep(ms).then(() => {
        this.wakers.delete(resolve);
        resolve();
      });
    });
  }
}
