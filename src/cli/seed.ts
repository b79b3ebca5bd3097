import { parseArgs } from 'node:util';
import { ConfigError, type Environment } from '../config.js';

export async function seed(args: readonly string[], environment: Environment): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { url: { type: 'string', default: 'http://127.0.0.1:4000/graphql' } },
  });
  const { devSecrets } = await import('../embedded/dev-secrets.js');
  const { seedDemo } = await import('./demo.js');
  const { parseAdminKeys } = await import('../identity/admin-key.js');
  const { TOLLGATE_ADMIN_KEYS: list, TOLLGATE_ADMIN_KEY: single } = environment;
  const kept = list || single ? {} : await devSecrets(environment.TOLLGATE_DATA_DIR || '.tollgate', environment);
  const { keys, faults } = parseAdminKeys(list || undefined, single || kept.TOLLGATE_ADMIN_KEY);
  const [adminKey] = keys;
  if (!adminKey || faults.length > 0) throw new ConfigError(faults);
  process.stdout.write(await seedDemo(values.url, adminKey.key));
}
