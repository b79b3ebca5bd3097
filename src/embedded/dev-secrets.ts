import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { newSigningKeys } from '../identity/token.js';
import { randomToken } from '../lib/id.js';

interface DevSecrets {
  readonly TOLLGATE_ADMIN_KEY: string;
  readonly TOLLGATE_ROOT_SECRETS: string;
  readonly TOLLGATE_SIGNING_KEYS: string;
}

/** For each generated secret: the environment variables that replace it. */
const replacedBy: Readonly<Record<keyof DevSecrets, readonly string[]>> = {
  TOLLGATE_ADMIN_KEY: ['TOLLGATE_ADMIN_KEY', 'TOLLGATE_ADMIN_KEYS'],
  TOLLGATE_ROOT_SECRETS: ['TOLLGATE_ROOT_SECRETS', 'API_KEY_PEPPER'],
  TOLLGATE_SIGNING_KEYS: ['TOLLGATE_SIGNING_KEYS'],
};

/**
 * The secrets that production needs in the environment and that `environment` does not set. They are generated at the
 * first start and stored in the data folder, so that tokens and keys stay valid after a restart.
 */
export async function devSecrets(
  dataDir: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Partial<DevSecrets>> {
  const secrets = await loadOrCreateSecrets(dataDir);
  return Object.fromEntries(
    Object.entries(secrets).filter(
      ([name]) => !replacedBy[name as keyof DevSecrets]?.some((each) => environment[each]),
    ),
  );
}

async function loadOrCreateSecrets(dataDir: string): Promise<DevSecrets> {
  prepareDataDir(dataDir);
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as DevSecrets;
  const secrets: DevSecrets = {
    TOLLGATE_ADMIN_KEY: `tga_${randomToken(32)}`,
    TOLLGATE_ROOT_SECRETS: randomToken(32),
    TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
  };
  // Written to another file and renamed, because a crash in between must not leave half a file.
  writeFileSync(`${path}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return secrets;
}

/** Creates the folder, and makes it and its files accessible to their owner only, even if they existed before. */
function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
    chmodSync(dataDir, 0o700);
    for (const entry of readdirSync(dataDir, { withFileTypes: true }))
      if (entry.isFile()) chmodSync(join(dataDir, entry.name), 0o600);
  } catch (error) {
    throw new Error(
      `cannot write to the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code}); ` +
        'make it writable, or set TOLLGATE_DATA_DIR to another folder',
      { cause: error },
    );
  }
}
