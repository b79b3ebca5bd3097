#!/usr/bin/env node
import { parseArgs } from 'node:util';
import {
  type Config,
  ConfigError,
  type Environment,
  isLocalEngine,
  loadConfig,
  loadStoreSettings,
  processEnvironment,
  type StoreSettings,
  silenceNodeVersionWarning,
} from './config.js';
import { keepAlive } from './lib/timers.js';

const usage = `tollgate <command>

  dev                       engine, gateway and worker on this machine, data in .tollgate/ (what \`npm start\` runs)
  gateway [--processes N]   the API: GraphQL over HTTP, subscriptions over WebSocket and SSE
  worker                    the background work; several may run
  tables create             create what is missing (idempotent)
  tables check              say what keeps the tables from being used
  tables migrate            bring an older store up to this version
  tables create --template  print a CloudFormation template of tables and policies instead
  seed [--url URL]          fill a running Tollgate with a demo org, for looking around
  keys                      make a set of signing keys for TOLLGATE_SIGNING_KEYS

Each takes --help. Configuration is by environment variables and config.yaml: see the README.`;

const help: Readonly<Record<string, string>> = {
  dev: 'tollgate dev\n\nStarts the embedded engine (data in TOLLGATE_DATA_DIR, default .tollgate/), creates the tables, and runs gateway and worker.\nKeys that are not set are made at the first start and kept in the data folder. With DYNAMODB_ENDPOINT set, that engine is used.',
  gateway:
    'tollgate gateway [--processes N]\n\nServes the API on HOST:PORT. Needs the tables (tollgate tables create), TOLLGATE_ADMIN_KEYS, TOLLGATE_ROOT_SECRETS and\nTOLLGATE_SIGNING_KEYS. With --processes N as many processes share the port, one a core; one that ends is started again.\nSIGTERM: finishes what is under way and exits within 10 s.',
  worker:
    'tollgate worker\n\nRuns the background work on the same configuration as the gateway. SIGTERM: finishes its round and exits.',
  tables:
    'tollgate tables create [--template] | check | migrate\n\ncreate   creates the missing tables, with TTL; on AWS also point-in-time recovery and deletion protection\ncheck    exits 1 and names each fault if the tables do not fit this version\nmigrate  brings an older store up to this version\n--template  prints CloudFormation for the tables and the least IAM policies of gateway and worker',
  seed: 'tollgate seed [--url http://127.0.0.1:4000/graphql]\n\nRegisters a demo org with two apps through the API of a running Tollgate, and prints its credentials.\nThe admin key is the first one of TOLLGATE_ADMIN_KEYS or TOLLGATE_ADMIN_KEY, or the one in the data folder.',
  keys: 'tollgate keys\n\nPrints a JWK set with one new Ed25519 key. To rotate: put a new key first and keep the old one for an hour.',
};

const mostProcesses = 64;

type Command = (args: readonly string[], environment: Environment) => Promise<void>;

const commands: Readonly<Record<string, Command>> = { dev, gateway, worker, tables, seed, keys };

async function main([name, ...args]: readonly string[]): Promise<void> {
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command || name === undefined) {
    const asked = name === undefined || name === '--help' || name === '-h' || name === 'help';
    (asked ? process.stdout : process.stderr).write(`${asked ? '' : `tollgate: no command ${name}\n\n`}${usage}\n`);
    process.exitCode = asked ? 0 : 2;
    return;
  }
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${help[name]}\n`);
    return;
  }
  silenceNodeVersionWarning();
  await command(args, processEnvironment());
}

async function dev(_args: readonly string[], given: Environment): Promise<void> {
  const { devSecrets } = await import('./embedded/dev-secrets.js');
  const { claimDataDir } = await import('./embedded/data-dir.js');
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
  const { startEngine } = await import('./embedded/engine.js');
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
  const { startGateway } = await import('./gateway.js');
  const { startWorker } = await import('./worker.js');
  const { createTables } = await import('./dynamo/table-admin.js');
  await createTables(await tableAdmin(config.store));
  const { Metrics } = await import('./lib/metrics.js');
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

async function gateway(args: readonly string[], environment: Environment): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { processes: { type: 'string', default: '1' } } });
  const processes = /^\d+$/.test(values.processes) ? Number(values.processes) : 0;
  if (processes < 1 || processes > mostProcesses)
    throw new Error(`--processes must be a whole number from 1 to ${mostProcesses}`);
  const config = loadConfig(environment);
  await requireTables(config.store);
  const { isOneOfMany, runProcesses } = await import('./lib/processes.js');
  if (processes > 1 && !isOneOfMany()) {
    const { createLog } = await import('./lib/log.js');
    await runProcesses(processes, createLog(config.logLevel), signalled());
    return;
  }
  const told = signalled();
  const { startGateway } = await import('./gateway.js');
  const { Metrics } = await import('./lib/metrics.js');
  const running = await startGateway(config, {
    metrics: new Metrics().withProcess(),
    noticeMs: config.production ? 2000 : 0,
  });
  running.services.log.info({ url: running.url, ...(isOneOfMany() ? { pid: process.pid } : {}) }, 'gateway is serving');
  await told;
  await running.stop();
}

async function worker(_args: readonly string[], environment: Environment): Promise<void> {
  const config = loadConfig(environment);
  await requireTables(config.store);
  const { startWorker } = await import('./worker.js');
  const { createLog } = await import('./lib/log.js');
  const { Metrics } = await import('./lib/metrics.js');
  const { serveStatus } = await import('./lib/status-server.js');
  const metrics = new Metrics().withProcess();
  const told = signalled();
  const running = startWorker(config, { sweeps: false, metrics });
  const status = config.workerPort ? serveStatus(config.workerPort, config.host, metrics) : undefined;
  createLog(config.logLevel).info('worker is running');
  await told;
  status?.close();
  await running.stop();
}

async function tables(args: readonly string[], environment: Environment): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { template: { type: 'boolean', default: false } },
  });
  const settings = loadStoreSettings(environment);
  const { createTables, migrateTables } = await import('./dynamo/table-admin.js');
  switch (positionals[0]) {
    case 'create': {
      if (values.template) {
        const { cloudFormationTemplate } = await import('./dynamo/template.js');
        process.stdout.write(`${JSON.stringify(cloudFormationTemplate(settings.tablePrefix), null, 2)}\n`);
        return;
      }
      const made = await createTables(await tableAdmin(settings));
      process.stdout.write(made.length > 0 ? `created ${made.join(', ')}\n` : 'all tables are there\n');
      return;
    }
    case 'check':
      await requireTables(settings);
      process.stdout.write('all tables are there and fit this version\n');
      return;
    case 'migrate':
      process.stdout.write(`${await migrateTables(await tableAdmin(settings))}\n`);
      return;
    default:
      process.stderr.write(`${help.tables}\n`);
      process.exitCode = 2;
  }
}

async function seed(args: readonly string[], environment: Environment): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { url: { type: 'string', default: 'http://127.0.0.1:4000/graphql' } },
  });
  const { devSecrets } = await import('./embedded/dev-secrets.js');
  const { seedDemo } = await import('./embedded/seed.js');
  const { parseAdminKeys } = await import('./identity/admin-key.js');
  const { TOLLGATE_ADMIN_KEYS: list, TOLLGATE_ADMIN_KEY: single } = environment;
  const kept = list || single ? {} : await devSecrets(environment.TOLLGATE_DATA_DIR || '.tollgate', environment);
  const { keys, faults } = parseAdminKeys(list || undefined, single || kept.TOLLGATE_ADMIN_KEY);
  const [adminKey] = keys;
  if (!adminKey || faults.length > 0) throw new ConfigError(faults);
  process.stdout.write(await seedDemo(values.url, adminKey.key));
}

async function keys(): Promise<void> {
  const { newSigningKeys } = await import('./identity/token.js');
  process.stdout.write(`${JSON.stringify({ keys: await newSigningKeys() })}\n`);
}

async function tableAdmin(settings: StoreSettings) {
  const { adminClient } = await import('./dynamo/transport.js');
  return { client: adminClient(settings), prefix: settings.tablePrefix, protect: !isLocalEngine(settings.endpoint) };
}

async function requireTables(settings: StoreSettings): Promise<void> {
  const { checkTables } = await import('./dynamo/table-admin.js');
  const faults = await checkTables(await tableAdmin(settings));
  if (faults.length > 0)
    throw new Error(`the store cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
}

/** Resolves at the first SIGTERM or SIGINT; a second one kills as usual. Called before anything is served: a signal is never missed. */
async function signalled(): Promise<'signal'> {
  const alive = keepAlive();
  await Promise.race(
    (['SIGTERM', 'SIGINT'] as const).map((signal) => new Promise((resolve) => process.once(signal, resolve))),
  );
  alive.end();
  return 'signal';
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    const expected =
      error instanceof ConfigError ||
      (error instanceof Error && !(error instanceof TypeError) && !(error instanceof ReferenceError));
    process.stderr.write(
      `tollgate: ${expected ? (error as Error).message : ((error as Error)?.stack ?? String(error))}\n`,
    );
    process.exit(1);
  },
);
