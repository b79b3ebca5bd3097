import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../config.js';
import { randomHex } from '../../lib/id.js';

const contextSchema = z.strictObject({
  url: z.url(),
  org: z.string().optional(),
  clientId: z.string().optional(),
  clientSecret: z.string().optional(),
  adminKey: z.string().optional(),
  /** The access token of the last login, so that not every command has to log in. */
  accessToken: z.string().optional(),
  accessTokenExpiresAtMs: z.number().optional(),
});
const fileSchema = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
});

/** A gateway with the credentials for it. */
export type CliContext = z.infer<typeof contextSchema>;
export type CliConfig = z.infer<typeof fileSchema>;

/** `$XDG_CONFIG_HOME/tollgate/config.json`, else `~/.config/tollgate/config.json`. */
export function configPath({ XDG_CONFIG_HOME: folder, HOME: home }: Environment): string {
  return join(folder || join(home || homedir(), '.config'), 'tollgate', 'config.json');
}

/** The contexts of this user. None if there is no file. A file that others may read is refused. */
export function readCliConfig(path: string): CliConfig {
  let text: string;
  try {
    const { mode } = statSync(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new Error(`${path} contains secrets, but other users may read it; run: chmod 600 ${path}`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} };
    throw error;
  }
  const parsed = fileSchema.safeParse(jsonOf(text));
  if (!parsed.success) throw new Error(`${path} is not a config file of tollgate; correct or delete it`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Replaces the file. It is created with mode 0600 and renamed, so it is never half written or readable by others. */
export function writeCliConfig(path: string, config: CliConfig): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomHex(8)}`;
  writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** Changes one context of the file and keeps the others. Undefined deletes it. */
export function updateContext(
  path: string,
  name: string,
  change: (before: CliContext | undefined) => CliContext | undefined,
): void {
  const config = readCliConfig(path);
  const { [name]: before, ...others } = config.contexts;
  const after = change(before);
  writeCliConfig(path, { ...config, contexts: after ? { ...others, [name]: after } : others });
}
