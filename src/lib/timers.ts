import { performance } from 'node:perf_hooks';

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export interface Repeating {
  /** Ends the loop. Resolves when the current run has finished. */
  stop(): Promise<void>;
}

/** Runs `task` every `everyMs`, never two runs at once. Errors go to `onError`. */
export function repeat(everyMs: number, task: () => Promise<void>, onError: (error: unknown) => void): Repeating {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    const startedMs = performance.now();
    running = Promise.resolve()
      .then(task)
      .catch(onError)
      .then(() => {
        if (stopped) return;
        timer = setTimeout(run, Math.max(0, everyMs - (performance.now() - startedMs)));
        timer.unref();
      });
  };
  timer = setTimeout(run, everyMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** The outcome of the promise, or `onTimeout()` after `ms`. The promise is not cancelled. */
export async function within<T>(ms: number, promise: Promise<T>, onTimeout: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late');
  });
  try {
    const first = await Promise.race([promise.then((value) => ({ value })), timeout]);
    return first === 'late' ? await onTimeout() : first.value;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `stalled` when the connection of a response has moved no byte for `ms`. */
export function onStall(
  response: { setTimeout(ms: number, stalled: () => void): unknown },
  ms: number,
  stalled: () => void,
): void {
  response.setTimeout(ms, stalled);
}

/** Keeps a process alive that waits for nothing else. */
export function keepAlive(): { end(): void } {
  const timer = setInterval(() => undefined, 60_000);
  return { end: () => clearInterval(timer) };
}

/** Returns a function that returns the event-loop utilization since its last call, from 0 to 1. */
export function loopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Resolves after the microtask queue has drained. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** Resolves at the end of this turn of the event loop, after its I/O callbacks. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
