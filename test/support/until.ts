import { sleep } from '../../src/lib/timers.js';

/** Waits for what another process, a socket or a timer of the gateway brings about. */
export async function until(what: string, check: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(10);
  }
}
