/** Where every process gets its time from, so that a test can move it. */
export interface Clock {
  /** The wall clock: what dates, expiries and stamps are made of. */
  nowMs(): number;
  /** Never steps back: for ages and deadlines inside one process. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

export const epochSeconds = (ms: number): number => Math.floor(ms / 1000);
