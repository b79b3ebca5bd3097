import { sleep } from '../../src/lib/timers.js';
import { patience } from './patience.js';

/** Waits until `check` returns true. Fails with `what` after `withinMs` times `patience`. */
export async function until(what: string, check: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const endMs = performance.now() + patience * withinMs;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`timeout after ${patience * withinMs} ms: ${what}`);
    await sleep(20);
  }
}
