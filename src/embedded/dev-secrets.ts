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

/** The variables that take the place of a secret made here. */
const outrankedBy: Readonly<Record<keyof DevSecrets, readonly string[]>> = {
  TOLLGATE_ADMIN_KEY: ['TOLLGATE_ADMIN_KEY', 'TOLLGATE_ADMIN_KEYS'],
  TOLLGATE_ROOT_SECRETS: ['TOLLGATE_ROOT_SECRETS', 'API_KEY_PEPPER'],
  TOLLGATE_SIGNING_KEYS: ['TOLLGATE_SIGNING_KEYS'],
};

/** The secrets that a deployment must bring itself and `given` lacks. Made at the first start and kept, so that tokens and keys outlive a restart. */
export async function devSecrets(
  dataDir: string,
  given: Readonly<Record<string, string | undefined>>,
): Promise<Partial<DevSecrets>> {
  const kept = await keptSecrets(dataDir);
  return Object.fromEntries(
    Object.entries(kept).filter(([name]) => !outrankedBy[name as keyof DevSecrets]?.some((other) => given[other])),
  );
}

async function keptSecrets(dataDir: string): Promise<DevSecrets> {
  prepareDataDir(dataDir);
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as DevSecrets;
  const made: DevSecrets = {
    TOLLGATE_ADMIN_KEY: `tga_${randomToken(32)}`,
    TOLLGATE_ROOT_SECRETS: randomToken(32),
    TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
  };
  // Written beside and renamed: a start that is killed here leaves no half a file behind.
  writeFileSync(`${path}.new`, JSON.stringify(made, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
}

/** The folder and what is in it are for their owner alone, also if an older version made them. */
function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
    chmodSync(dataDir, 0o700);
    for (const entry of readdirSync(dataDir, { withFileTypes: true }))
      if (entry.isFile()) chmodSync(join(dataDir, entry.name), 0o600);
  } catch (error) {
    throw new Error(
      `cannot write to the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code}): make it writable, or name another with TOLLGATE_DATA_DIR`,
      {
        cause: error,
      },
    );
  }
}
