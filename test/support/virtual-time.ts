import type { Clock } from '@tollgate/client';
import { Chance, testSeed } from './chance.js';
import { type ManualClock, stoppedClock } from './clock.js';

/** Time that stands still while anything is going on, and jumps to the next timer when nothing is. */
export interface VirtualTime {
  readonly clock: Clock;
  /** The delays of all sleeps so far, in order. */
  readonly slept: readonly number[];
  /** A `fetch` whose requests count as something going on, until their response has arrived. */
  fetch(send: typeof fetch): typeof fetch;
  /** The outcome of the work, with as many jumps as it needs. */
  run<T>(work: Promise<T>): Promise<T>;
  /** Lets everything happen that is due within `ms`. */
  pass(ms: number): Promise<void>;
}

interface Timer {
  readonly atMs: number;
  wake(): void;
}

/** Long enough for what was woken to begin its requests. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** `manual`: the clock to move, for example that of a gateway. */
export function virtualTime(manual: ManualClock = stoppedClock(Date.UTC(2027, 0, 1))): VirtualTime {
  const chance = new Chance(testSeed);
  const timers = new Set<Timer>();
  const slept: number[] = [];
  let inFlight = 0;

  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted();
      slept.push(ms);
      const stop = () => {
        timers.delete(timer);
        reject(signal?.reason);
      };
      const wake = () => {
        timers.delete(timer);
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      // The clock of a gateway has whole milliseconds.
      const timer = { atMs: manual.nowMs() + Math.ceil(ms), wake };
      timers.add(timer);
      signal?.addEventListener('abort', stop, { once: true });
    });

  /** Wakes the timers that are due next, unless that is after `untilMs`. True if there were any. */
  function jump(untilMs: number): boolean {
    const nextMs = Math.min(...[...timers].map(({ atMs }) => atMs));
    if (nextMs > untilMs || timers.size === 0) return false;
    manual.advance(Math.max(0, nextMs - manual.nowMs()));
    for (const timer of [...timers]) if (timer.atMs <= manual.nowMs()) timer.wake();
    return true;
  }

  async function step(untilMs: number): Promise<boolean> {
    await settle();
    if (inFlight > 0) return true;
    return jump(untilMs);
  }

  return {
    clock: { nowMs: () => manual.nowMs(), sleep, random: () => chance.fraction() },
    slept,
    fetch: (send) => async (input, init) => {
      inFlight++;
      try {
        const response = await send(input, init);
        if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
        return new Response(await response.text(), response);
      } finally {
        inFlight--;
      }
    },
    async run(work) {
      let isDone = false;
      const done = () => {
        isDone = true;
      };
      work.then(done, done);
      while (!isDone) await step(Number.POSITIVE_INFINITY);
      return work;
    },
    async pass(ms) {
      const endMs = manual.nowMs() + ms;
      while (await step(endMs));
      manual.advance(endMs - manual.nowMs());
    },
  };
}
