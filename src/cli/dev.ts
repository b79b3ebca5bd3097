import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, type Environment, loadConfig } from '../config.js';
import { createTables } from '../dynamo/table-admin.js';
import { claimDataDir } from '../embedded/data-dir.js';
import { devSecrets } from '../embedded/dev-secrets.js';
import { type Engine, startEngine } from '../embedded/engine.js';
import { shareEngine } from '../embedded/shared-engine.js';
import { type Gateway, startGateway } from '../gateway.js';
import { linkUrl } from '../identity/console-session.js';
import { Metrics } from '../lib/metrics.js';
import { startWorker } from '../worker.js';
import { shutdownSignal } from './signals.js';
import { tableAdmin } from './store-tables.js';

/** Runs the embedded engine, gateway and worker until a signal, or until the engine ends. */
export async function dev(environment: Environment): Promise<void> {
  const dataDir = environment.TOLLGATE_DATA_DIR || '.tollgate';
  const secrets = await devSecrets(dataDir, environment);
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const settings = { NODE_ENV: 'development', HOST: '127.0.0.1', ...secrets, ...nonEmpty };
  const config = loadConfig(settings);
  // An admin key that the user has set is not printed, because the output may be stored somewhere.
  const generated = secrets.TOLLGATE_ADMIN_KEY ? { adminKey: secrets.TOLLGATE_ADMIN_KEY } : {};
  if (environment.DYNAMODB_ENDPOINT) return runAll(config, { database: 'DynamoDB at DYNAMODB_ENDPOINT', ...generated });
  claimDataDir(dataDir);
  const engine = await startEngine({ dataDir, isPrivate: true });
  const shared = await shareEngine(dataDir, engine);
  const { store } = loadConfig({ ...settings, DYNAMODB_ENDPOINT: engine.endpoint, AWS_ACCESS_KEY_ID: undefined });
  try {
    await runAll(
      { ...config, store: engine.dial ? { ...store, dial: engine.dial } : store },
      { database: `embedded engine (${engine.name}), data in ${dataDir}/${exposure(engine)}`, ...generated },
      engine.exited,
    );
  } finally {
    shared?.close();
    await engine.stop();
  }
}

/** A warning if other programs can reach the engine, else nothing. */
function exposure({ dial, endpoint }: Engine): string {
  if (dial) return '';
  return `

Warning: the engine listens on ${endpoint} without credentials. Other users of this machine, and web pages
that are open on it, may reach it. Do not store valuable data in it.`;
}

interface Banner {
  readonly database: string;
  /** A link into the web console, or the reason why there is none. */
  readonly console: string;
  /** Present only if Tollgate has generated it. */
  readonly adminKey?: string;
}

async function runAll(config: Config, banner: Omit<Banner, 'console'>, engineExited?: Promise<void>): Promise<void> {
  await createTables(tableAdmin(config.store));
  const metrics = new Metrics().withProcess();
  const shutdown = shutdownSignal();
  const gateway = await startGateway(config, { metrics });
  const worker = startWorker(config, { sweeps: true, metrics });
  process.stdout.write(`${welcome(gateway.url, { ...banner, console: await consoleText(gateway) })}\n`);
  const never = new Promise<never>(() => {});
  const reason = await Promise.race([shutdown, engineExited?.then(() => 'engine' as const) ?? never]);
  if (reason === 'engine') process.stderr.write('tollgate: the embedded engine has ended; stopping\n');
  await Promise.all([gateway.stop(), worker.stop()]);
  if (reason === 'engine') process.exitCode = 1;
}

/** A link for the first admin key. The key itself never enters the browser. */
async function consoleText({ url, services: { config, consoleLinks } }: Gateway): Promise<string> {
  const { console, adminKeys, publicUrl } = config;
  if (!console) return 'off';
  if (!existsSync(join(console.dir, 'index.html'))) return 'not built; run `npm run build`';
  const { name } = adminKeys[0] as Config['adminKeys'][number];
  const origin = { address: 'local', requestId: 'dev' };
  const { token } = await consoleLinks.create(name, { role: 'FULL' }, origin);
  return `${linkUrl(publicUrl ?? new URL(url).origin, token)}
           (two minutes, once; then \`node dist/main.js console\`)`;
}

const welcome = (url: string, { database, console, adminKey }: Banner): string => `
Tollgate is running at ${url}

Console:   ${console}
Explorer:  ${new URL('/', url).href}
Admin key: ${adminKey ?? 'as set in the environment'}
Database:  ${database}

Try a first request:

curl -s ${url} -H 'content-type: application/json' -H "x-admin-key: ${adminKey ?? '$TOLLGATE_ADMIN_KEY'}" \\
  -d '{"query":"{ me { kind } models { label price { inputUsdMicrosPer1M outputUsdMicrosPer1M } } }"}'

Next: docs/getting-started.md, or \`node dist/main.js seed\` in another terminal for an org with 30 days of demo data.
Stop with Ctrl+C.
`;
