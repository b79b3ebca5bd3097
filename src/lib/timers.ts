import { performance } from 'node:perf_hooks';

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export interface Repeating {
  /** Ends the loop; resolves when a run under way has finished. */
  stop(): Promise<void>;
}

/** Runs `task` again `everyMs` after the last run began, never twice at once; what it throws goes to `onError`. */
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

/** The promise's own outcome, or `onTimeout()` if that takes longer than `ms`. The promise is not cancelled. */
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

/** Keeps a process alive that has nothing else to wait for. */
export function keepAlive(): { end(): void } {
  const timer = setInterval(() => undefined, 60_000);
  return { end: () => clearInterval(timer) };
}

/** A gauge that says each time how busy the event loop has been since the time before: from 0 to 1. */
export function loopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** When all that needs no waiting for the world outside is done. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** When everything that came with this turn of the event loop has had its say. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
