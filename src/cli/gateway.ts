import { parseArgs } from 'node:util';
import { type Environment, loadConfig } from '../config.js';
import { signalled } from './signals.js';
import { requireTables } from './store-tables.js';

const maxProcesses = 64;

export async function gateway(args: readonly string[], environment: Environment): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { processes: { type: 'string', default: '1' } } });
  const processes = /^\d+$/.test(values.processes) ? Number(values.processes) : 0;
  if (processes < 1 || processes > maxProcesses)
    throw new Error(`--processes must be a whole number from 1 to ${maxProcesses}`);
  const config = loadConfig(environment);
  await requireTables(config.store);
  const { isOneOfMany, pooledMetrics, runProcesses } = await import('./processes.js');
  if (processes > 1 && !isOneOfMany()) {
    const { createLog } = await import('../lib/log.js');
    await runProcesses(processes, createLog(config.logLevel), signalled());
    return;
  }
  const told = signalled();
  const { startGateway } = await import('../gateway.js');
  const { Metrics } = await import('../lib/metrics.js');
  const metrics = new Metrics().withProcess();
  if (isOneOfMany()) metrics.page = pooledMetrics(metrics.registry);
  const running = await startGateway(config, { metrics, noticeMs: config.production ? 2000 : 0 });
  running.services.log.info({ url: running.url, ...(isOneOfMany() ? { pid: process.pid } : {}) }, 'gateway is serving');
  await told;
  await running.stop();
}
