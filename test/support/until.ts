import { sleep } from '../../src/lib/timers.js';
import { patience } from './patience.js';

/** Waits until `check` says yes; fails with `what` once it has taken far longer than it should on a quiet machine. */
export async function until(what: string, check: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const endMs = performance.now() + patience * withinMs;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`not within ${patience * withinMs} ms: ${what}`);
    await sleep(20);
  }
}
