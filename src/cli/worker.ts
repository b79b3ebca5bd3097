import { type Environment, loadConfig } from '../config.js';
import { signalled } from './signals.js';
import { requireTables } from './store-tables.js';

export async function worker(_args: readonly string[], environment: Environment): Promise<void> {
  const config = loadConfig(environment);
  await requireTables(config.store);
  const { startWorker } = await import('../worker.js');
  const { createLog } = await import('../lib/log.js');
  const { Metrics } = await import('../lib/metrics.js');
  const { serveStatus } = await import('./status-server.js');
  const metrics = new Metrics().withProcess();
  const told = signalled();
  const running = startWorker(config, { sweeps: false, metrics });
  const status = config.workerPort ? serveStatus(config.workerPort, config.host, metrics) : undefined;
  createLog(config.logLevel).info('worker is running');
  await told;
  status?.close();
  await running.stop();
}
