import { keepAlive } from '../lib/timers.js';

/**
 * Resolves at the first SIGTERM or SIGINT. A second signal kills the process as usual. Call it before serving starts,
 * because a signal that arrives earlier would kill the process.
 */
export async function shutdownSignal(): Promise<'signal'> {
  const alive = keepAlive();
  await Promise.race(
    (['SIGTERM', 'SIGINT'] as const).map((signal) => new Promise((resolve) => process.once(signal, resolve))),
  );
  alive.end();
  return 'signal';
}
