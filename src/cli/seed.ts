import { type Config, type Environment, loadConfig } from '../config.js';
import { type DemoReport, maxDays, minDays, seedDemo } from '../demo/demo.js';
import { createTables } from '../dynamo/table-admin.js';
import { claimDataDir } from '../embedded/data-dir.js';
import { devSecrets } from '../embedded/dev-secrets.js';
import { startEngine } from '../embedded/engine.js';
import { findSharedEngine } from '../embedded/shared-engine.js';
import { systemClock } from '../lib/clock.js';
import { UsageError } from './help.js';
import { grouped, ProgressDisplay } from './progress.js';
import { requireTables, tableAdmin } from './store-tables.js';

/** Creates a demo org with a history, in the store that `tollgate dev` uses. */
export async function seed(given: { readonly days: string }, environment: Environment): Promise<void> {
  const days = dayCount(given.days);
  const { report, isRunning } = await withStore(environment, async (config) => {
    const display = new ProgressDisplay(process.stderr, systemClock);
    try {
      return await seedDemo(config, { days, onProgress: (progress) => display.show(progress) });
    } finally {
      display.end();
    }
  });
  process.stdout.write(textOf(report, isRunning));
}

function dayCount(text: string): number {
  const days = /^\d+$/.test(text) ? Number(text) : 0;
  if (days < minDays || days > maxDays)
    throw new UsageError(`--days must be a whole number from ${minDays} to ${maxDays}`);
  return days;
}

interface Seeded {
  readonly report: DemoReport;
  /** True if a `tollgate dev` uses the same store. */
  readonly isRunning: boolean;
}

/**
 * Runs a task on the configured database, else on the engine of a running `tollgate dev`, else on an engine that is
 * started for the task.
 */
async function withStore(environment: Environment, task: (config: Config) => Promise<DemoReport>): Promise<Seeded> {
  const dataDir = environment.TOLLGATE_DATA_DIR || '.tollgate';
  const settings = { NODE_ENV: 'development', ...(await secretsFor(environment, dataDir)), ...given(environment) };
  if (environment.DYNAMODB_ENDPOINT) {
    const config = loadConfig(settings);
    await requireTables(config.store);
    return { report: await task(config), isRunning: false };
  }
  const on = (endpoint: string): Config =>
    loadConfig({ ...settings, DYNAMODB_ENDPOINT: endpoint, AWS_ACCESS_KEY_ID: undefined });
  const shared = await findSharedEngine(dataDir);
  if (shared) {
    const config = on(shared.endpoint);
    const store = { ...config.store, dial: shared.dial };
    await requireTables(store);
    return { report: await task({ ...config, store }), isRunning: true };
  }
  claimDataDir(dataDir);
  const engine = await startEngine({ dataDir, isPrivate: true });
  try {
    const config = on(engine.endpoint);
    const store = engine.dial ? { ...config.store, dial: engine.dial } : config.store;
    await createTables(tableAdmin(store));
    return { report: await task({ ...config, store }), isRunning: false };
  } finally {
    await engine.stop();
  }
}

const given = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value));

/** The secrets of the data folder, unless the environment has them all: then no data folder is needed. */
async function secretsFor(environment: Environment, dataDir: string): Promise<Environment> {
  const { TOLLGATE_ADMIN_KEYS, TOLLGATE_ADMIN_KEY, TOLLGATE_ROOT_SECRETS, API_KEY_PEPPER } = environment;
  const hasAll =
    (TOLLGATE_ADMIN_KEYS || TOLLGATE_ADMIN_KEY) &&
    (TOLLGATE_ROOT_SECRETS || API_KEY_PEPPER) &&
    environment.TOLLGATE_SIGNING_KEYS;
  return hasAll && environment.DYNAMODB_ENDPOINT ? {} : { ...(await devSecrets(dataDir, environment)) };
}

const usd = (micros: number): string =>
  `$${(micros / 1e6).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

const credentialsOf = ({ title, clientId, clientSecret }: DemoReport['clients'][number]): string =>
  `${title}\nclient id      ${clientId}\nclient secret  ${clientSecret}\n`;

function textOf(report: DemoReport, isRunning: boolean): string {
  const { orgId, name, zone, from, to, clients, apiKey } = report;
  const { apps, costs, costUsdMicros, alerts, acquires, refused, devices, readings } = report;
  const start = isRunning ? '' : '\nStart Tollgate with `npm start`. It prints a link into the console.';
  return `Created the org "${name}" with the id ${orgId}.
It has traffic from ${from} to ${to} (days of ${zone}):

spend    ${grouped(costs)} costs of ${usd(costUsdMicros)} by ${apps} apps; ${alerts} alerts
limits   ${grouped(acquires)} acquires, ${grouped(refused)} of them refused
devices  ${grouped(readings)} readings of ${devices} devices

${clients.map(credentialsOf).join('\n')}
Device key
key            ${apiKey}

The secrets are shown only once.${start}
To look around, sign in to the web console with the link that this command prints, or with the org client above:

node dist/main.js console --org ${orgId}

Or send a query from the start page of Tollgate, with the admin key or as one of these clients:

{ org(orgId: "${orgId}") { spendHistory(from: "${from}", to: "${to}") { day costUsdMicros mode } } }
`;
}
