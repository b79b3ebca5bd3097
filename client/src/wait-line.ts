import { type Clock, unlessAborted } from './clock.js';
import { RateLimited } from './errors.js';
import type { Amounts, Lease, LimitStatus } from './types.js';

export interface WaitRequest {
  /** Names the bucket. Each bucket has its own line. */
  readonly bucket: string;
  readonly consume: Amounts;
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Ticket {
  readonly consume: Amounts;
  wake?(): void;
}

interface Line {
  /** In order of arrival. */
  readonly tickets: Ticket[];
  /** How many of the first may ask at once. */
  width: number;
}

/** Jitter as a share of the wait, so that it costs a bucket little of its rate. */
const jitterShare = 0.02;

/**
 * Waiting for tokens in order of arrival. As long as the bucket has tokens for the next in line, they ask at the same
 * time. After a refusal only the first one asks, and the others wait for it.
 */
export class WaitLines {
  readonly #clock: Clock;
  /** Lines without waiters are removed. */
  readonly #lines = new Map<string, Line>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Repeats `attempt` until it is not `RateLimited`, or would have to wait past `waitMs`. */
  async run<T extends Lease>({ bucket, consume, waitMs, signal }: WaitRequest, attempt: () => Promise<T>): Promise<T> {
    const clock = this.#clock;
    const deadlineMs = clock.nowMs() + waitMs;
    const line = this.#lines.get(bucket) ?? { tickets: [], width: 1 };
    this.#lines.set(bucket, line);
    const ticket: Ticket = { consume };
    line.tickets.push(ticket);
    try {
      for (;;) {
        while (line.tickets.indexOf(ticket) >= line.width) await this.#woken(ticket, deadlineMs, signal);
        try {
          const lease = await attempt();
          line.width =
            1 +
            widthOf(
              line.tickets.filter((each) => each !== ticket),
              lease.statuses,
            );
          return lease;
        } catch (error) {
          if (!(error instanceof RateLimited) || error.retryAfterMs === undefined) throw error;
          line.width = 1;
          const delayMs = error.retryAfterMs * (1 + jitterShare * clock.random());
          if (clock.nowMs() + delayMs > deadlineMs) throw error;
          await clock.sleep(delayMs, signal);
        }
      }
    } finally {
      line.tickets.splice(line.tickets.indexOf(ticket), 1);
      if (line.tickets.length === 0) this.#lines.delete(bucket);
      for (const { wake } of line.tickets.slice(0, line.width)) wake?.();
    }
  }

  /** Waits for those before. Past the deadline it fails without asking the gateway, which would be out of order. */
  async #woken(ticket: Ticket, deadlineMs: number, signal: AbortSignal | undefined): Promise<void> {
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      ticket.wake = resolve;
    });
    const late = this.#clock.sleep(Math.max(0, deadlineMs - this.#clock.nowMs()), timer.signal).then(() => {
      throw new RateLimited('waitMs has passed');
    });
    try {
      await unlessAborted(Promise.race([woken, late]), signal);
    } finally {
      timer.abort();
    }
  }
}

/** How many of the next in line the bucket has tokens for. */
function widthOf(tickets: readonly Ticket[], statuses: readonly LimitStatus[]): number {
  const used: Record<string, number> = {};
  const first = tickets.findIndex(({ consume }) => {
    for (const [limit, amount] of Object.entries(consume)) used[limit] = (used[limit] ?? 0) + amount;
    return statuses.some(({ limit, available }) => (used[limit.name] ?? 0) > available);
  });
  return first < 0 ? tickets.length : first;
}
