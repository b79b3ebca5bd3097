import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKeys } from '../identity/token.js';
import { randomToken } from '../lib/id.js';

/** What a deployment must bring itself, made at the first start and kept, so that tokens and keys outlive a restart. */
export interface DevSecrets {
  readonly TOLLGATE_ADMIN_KEY: string;
  readonly API_KEY_PEPPER: string;
  readonly TOLLGATE_SIGNING_KEYS: string;
}

export async function devSecrets(dataDir: string): Promise<DevSecrets> {
  prepareDataDir(dataDir);
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as DevSecrets;
  const made: DevSecrets = {
    TOLLGATE_ADMIN_KEY: `tga_${randomToken(32)}`,
    API_KEY_PEPPER: randomToken(32),
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
    for (const entry of readdirSync(dataDir, { withFileTypes: true })) if (entry.isFile()) chmodSync(join(dataDir, entry.name), 0o600);
  } catch (error) {
    throw new Error(
      `cannot write to the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code}): make it writable, or name another with TOLLGATE_DATA_DIR`,
      {
        cause: error,
      },
    );
  }
}
