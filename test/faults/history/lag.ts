import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface Lag {
  /** The latest that this process has run a timer so far, three times over: a gateway waits for several in a row. */
  readonly ms: number;
  stop(): void;
}

/** Measures how late this machine runs timers, so that a promise about time can be judged on a busy one too. */
export function measureLag(): Lag {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  return {
    get ms() {
      return (3 * delay.max) / 1_000_000;
    },
    stop: () => void delay.disable(),
  };
}
