import { type Config, type Environment, loadConfig } from '../config.js';
import { signalled } from './signals.js';
import { tableAdmin } from './store-tables.js';

export async function dev(_args: readonly string[], given: Environment): Promise<void> {
  const { devSecrets } = await import('../embedded/dev-secrets.js');
  const { claimDataDir } = await import('../embedded/data-dir.js');
  const dataDir = given.TOLLGATE_DATA_DIR || '.tollgate';
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  const secrets = await devSecrets(dataDir, given);
  const environment = { NODE_ENV: 'development', HOST: '127.0.0.1', ...secrets, ...set };
  const config = loadConfig(environment);
  // A key that was given is not for the output, which may be kept anywhere.
  const shown = secrets.TOLLGATE_ADMIN_KEY ? { adminKey: secrets.TOLLGATE_ADMIN_KEY } : {};
  if (given.DYNAMODB_ENDPOINT) {
    await runAll(config, { engine: 'the engine at DYNAMODB_ENDPOINT', ...shown });
    return;
  }
  claimDataDir(dataDir);
  const { startEngine } = await import('../embedded/engine.js');
  const engine = await startEngine({ dataDir, isPrivate: true });
  const { store } = loadConfig({ ...environment, DYNAMODB_ENDPOINT: engine.endpoint, AWS_ACCESS_KEY_ID: undefined });
  try {
    const dialled = engine.dial ? { ...store, dial: engine.dial } : store;
    const reach = engine.dial
      ? ''
      : `\nWarning: the engine listens on ${engine.endpoint} without credentials. ${openEngine}`;
    await runAll(
      { ...config, store: dialled },
      { engine: `${engine.name}, data in ${dataDir}/${reach}`, ...shown },
      engine.exited,
    );
  } finally {
    await engine.stop();
  }
}

const openEngine =
  'Other users of this machine and web pages open on it may reach it. Do not keep data of value in it.';

interface Shown {
  readonly engine: string;
  /** Only if Tollgate made it. */
  readonly adminKey?: string;
}

async function runAll(config: Config, shown: Shown, engineExited?: Promise<void>): Promise<void> {
  const { startGateway } = await import('../gateway.js');
  const { startWorker } = await import('../worker.js');
  const { createTables } = await import('../dynamo/table-admin.js');
  await createTables(await tableAdmin(config.store));
  const { Metrics } = await import('../lib/metrics.js');
  const metrics = new Metrics().withProcess();
  const told = signalled();
  const gateway = await startGateway(config, { metrics });
  const worker = startWorker(config, { sweeps: true, metrics });
  process.stdout.write(`${welcome(gateway.url, shown)}\n`);
  const ended = await Promise.race([told, engineExited?.then(() => 'engine' as const) ?? new Promise<never>(() => {})]);
  if (ended === 'engine') process.stderr.write('tollgate: the embedded engine has stopped; stopping too\n');
  await Promise.all([gateway.stop(), worker.stop()]);
  if (ended === 'engine') process.exitCode = 1;
}

const welcome = (url: string, { engine, adminKey }: Shown): string => `
Tollgate is running at ${url} (explorer: ${new URL('/', url).href})
Engine: ${engine}
Admin key: ${adminKey ?? 'as set in the environment'}

A first request to paste:

curl -s ${url} -H 'content-type: application/json' -H "x-admin-key: ${adminKey ?? '$TOLLGATE_ADMIN_KEY'}" \\
  -d '{"query":"{ me { kind } models { label price { inputUsdMicrosPer1M outputUsdMicrosPer1M } } }"}'
`;
