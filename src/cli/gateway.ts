import { type Config, type Environment, loadConfig } from '../config.js';
import { createLog } from '../lib/log.js';
import { Metrics } from '../lib/metrics.js';
import { UsageError } from './help.js';
import { clusterMetrics, isClusterProcess, runProcesses } from './processes.js';
import { shutdownSignal } from './signals.js';
import { requireTables } from './store-tables.js';

const maxProcesses = 64;
/**
 * How long a gateway in production still serves after /readyz has failed, so that load balancers stop sending first.
 */
const productionNoticeMs = 2000;

/** Serves the API until a signal, in one process or in several that share the port. */
export async function gateway(given: { readonly processes: string }, environment: Environment): Promise<void> {
  const processes = processCount(given.processes);
  const config = loadConfig(environment);
  await requireTables(config.store);
  const shutdown = shutdownSignal();
  if (processes > 1 && !isClusterProcess()) await runProcesses(processes, createLog(config.logLevel), shutdown);
  else await serve(config, shutdown);
}

function processCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > maxProcesses)
    throw new UsageError(`--processes must be a whole number from 1 to ${maxProcesses}`);
  return count;
}

async function serve(config: Config, shutdown: Promise<unknown>): Promise<void> {
  // Imported here, because the primary process of several must not load the GraphQL server.
  const { startGateway } = await import('../gateway.js');
  const metrics = new Metrics().withProcess();
  if (isClusterProcess()) metrics.page = clusterMetrics(metrics.registry);
  const running = await startGateway(config, { metrics, noticeMs: config.production ? productionNoticeMs : 0 });
  const pid = isClusterProcess() ? { pid: process.pid } : {};
  running.services.log.info({ url: running.url, ...pid }, 'gateway is serving');
  await shutdown;
  await running.stop();
}
