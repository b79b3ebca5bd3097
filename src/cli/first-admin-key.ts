import { ConfigError, type Environment } from '../config.js';
import { devSecrets } from '../embedded/dev-secrets.js';
import { parseAdminKeys } from '../identity/admin-key.js';

/** The first admin key of the environment, else the one that `tollgate dev` has generated. */
export async function firstAdminKey(environment: Environment): Promise<string> {
  const { TOLLGATE_ADMIN_KEYS: list, TOLLGATE_ADMIN_KEY: single, TOLLGATE_DATA_DIR: dataDir } = environment;
  const generated = list || single ? {} : await devSecrets(dataDir || '.tollgate', environment);
  const { keys, faults } = parseAdminKeys(list || undefined, single || generated.TOLLGATE_ADMIN_KEY);
  const [adminKey] = keys;
  if (!adminKey || faults.length > 0) throw new ConfigError(faults);
  return adminKey.key;
}
