import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface Lag {
  /** Three times the maximum delay of a timer in this process, because a gateway waits for several timers in a row. */
  readonly ms: number;
  stop(): void;
}

/** Measures how late this machine runs timers, so that promises about time can be checked on a busy machine too. */
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
