import { buildBackground, type Surroundings } from './app.js';
import type { Config } from './config.js';
import { repeat } from './lib/timers.js';

export interface Worker {
  stop(): Promise<void>;
}

export interface WorkerOptions extends Surroundings {
  /** Whether expired items are this worker's to delete: on the embedded engine, which never does. */
  readonly sweeps: boolean;
}

const sweepEveryMs = 10 * 60_000;

/** The background process: ticks until told to stop. */
export function startWorker(config: Config, { sweeps, ...surroundings }: WorkerOptions): Worker {
  const background = buildBackground(config, surroundings);
  const { log } = background;
  const sweep = async (): Promise<void> => log.info({ swept: await background.sweep() }, 'expired items deleted');
  const loops = sweeps ? [repeat(sweepEveryMs, sweep, (error) => log.error({ err: error }, 'expired items could not be deleted'))] : [];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      background.close();
    },
  };
}
