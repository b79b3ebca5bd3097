import { type Environment, loadConfig } from '../config.js';
import { createLog } from '../lib/log.js';
import { Metrics } from '../lib/metrics.js';
import { startWorker } from '../worker.js';
import { shutdownSignal } from './signals.js';
import { serveStatus } from './status-server.js';
import { requireTables } from './store-tables.js';

/** Runs the background work until a signal. */
export async function worker(environment: Environment): Promise<void> {
  const config = loadConfig(environment);
  await requireTables(config.store);
  const metrics = new Metrics().withProcess();
  const shutdown = shutdownSignal();
  const running = startWorker(config, { sweeps: false, metrics });
  const status = config.workerPort ? serveStatus(config.workerPort, config.host, metrics) : undefined;
  createLog(config.logLevel).info('worker is running');
  await shutdown;
  status?.close();
  await running.stop();
}
