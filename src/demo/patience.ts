import { GatewayError } from '../lib/errors.js';
import { sleep } from '../lib/timers.js';

const retryMs = 500;
const maxRetries = 60;

/**
 * Runs a task again while the database does not respond or this process is overloaded, because seeding may share its
 * machine with a running Tollgate. All tasks of the demo may be repeated.
 */
export async function patiently<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      const isTemporary = error instanceof GatewayError && error.code === 'SERVICE_UNAVAILABLE';
      if (!isTemporary || attempt === maxRetries) throw error;
      await sleep(retryMs);
    }
  }
}
