import { keepAlive } from '../lib/timers.js';

/** Resolves at the first SIGTERM or SIGINT; a second one kills as usual. Called before anything is served: a signal is never missed. */
export async function signalled(): Promise<'signal'> {
  const alive = keepAlive();
  await Promise.race(
    (['SIGTERM', 'SIGINT'] as const).map((signal) => new Promise((resolve) => process.once(signal, resolve))),
  );
  alive.end();
  return 'signal';
}
