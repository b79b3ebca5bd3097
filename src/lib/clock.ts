/** The source of time of every process. Tests replace it. */
export interface Clock {
  /** Wall clock, for dates, expiries and stored times. */
  nowMs(): number;
  /** Monotonic clock, for ages and deadlines inside one process. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

export const epochSeconds = (ms: number): number => Math.floor(ms / 1000);
