import { parseArgs } from 'node:util';
import { ConfigError, type Environment } from '../config.js';
import { devSecrets } from '../embedded/dev-secrets.js';
import { parseAdminKeys } from '../identity/admin-key.js';
import { seedDemo } from './demo.js';

/** Fills a running Tollgate with demo data. */
export async function seed(args: readonly string[], environment: Environment): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { url: { type: 'string', default: 'http://127.0.0.1:4000/graphql' } },
  });
  process.stdout.write(await seedDemo(values.url, await firstAdminKey(environment)));
}

/** The first admin key of the environment, else the one that `tollgate dev` has generated. */
async function firstAdminKey(environment: Environment): Promise<string> {
  const { TOLLGATE_ADMIN_KEYS: list, TOLLGATE_ADMIN_KEY: single, TOLLGATE_DATA_DIR: dataDir } = environment;
  const generated = list || single ? {} : await devSecrets(dataDir || '.tollgate', environment);
  const { keys, faults } = parseAdminKeys(list || undefined, single || generated.TOLLGATE_ADMIN_KEY);
  const [adminKey] = keys;
  if (!adminKey || faults.length > 0) throw new ConfigError(faults);
  return adminKey.key;
}
