/** Time and chance. Tests pass their own. */
export interface Clock {
  nowMs(): number;
  /** Resolves after `ms`. Rejects at once with the reason of the signal if it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1. */
  random(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** The result of the work, or the reason of the signal as soon as it is aborted. `late` gets a result after that. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  late: (result: T) => unknown = () => undefined,
): Promise<T> {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    work
      .then((result) => {
        if (signal.aborted) late(result);
        resolve(result);
      }, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

const baseMs = 100;
const maxMs = 5_000;

/** Full jitter: from 0 up to a bound that doubles with each attempt. */
export const backoffMs = (attempt: number, random: number): number =>
  random * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 10));
