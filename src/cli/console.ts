import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, type Environment } from '../config.js';
import { devSecrets } from '../embedded/dev-secrets.js';
import { parseAdminKeys } from '../identity/admin-key.js';
import { cliSession, type GlobalOptions, origin } from './api/session.js';
import { UsageError } from './help.js';

interface LinkRequest {
  readonly orgId?: string;
  readonly role: 'FULL' | 'READ';
}

export interface ConsoleOptions extends GlobalOptions {
  readonly url?: string;
  readonly readOnly?: boolean;
}

/** Prints a one-time link into the console of a running gateway, and opens it in a browser if there is one. */
export async function consoleLink(options: ConsoleOptions, environment: Environment): Promise<void> {
  if (options.url !== undefined && !URL.canParse(options.url))
    throw new UsageError('--url must be a URL such as https://tollgate.example.com');
  const { url, orgId, adminKey } = await cliSession(
    options.url === undefined ? environment : { ...environment, TOLLGATE_URL: options.url },
    options,
  );
  const wanted: LinkRequest = {
    ...(orgId === undefined ? {} : { orgId }),
    role: options.readOnly ? 'READ' : 'FULL',
  };
  const link = await createLink(options.url ?? url, adminKey ?? (await firstAdminKey(environment)), wanted);
  process.stdout.write(`Sign in within two minutes, once:\n${link}\n`);
  if (process.stdout.isTTY && hasDisplay(environment)) openBrowser(link);
}

/** The admin key goes to the gateway only. The browser gets the link. */
async function createLink(gateway: string, adminKey: string, wanted: LinkRequest): Promise<string> {
  const response = await fetch(new URL('/session/link', origin(gateway)), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-admin-key': adminKey },
    body: JSON.stringify(wanted),
  }).catch((cause: unknown) => {
    throw new Error(`cannot connect to ${gateway}; start Tollgate first (npm start), or set --url`, { cause });
  });
  const reply = (await response.json().catch(() => ({}))) as {
    url?: string;
    errors?: readonly { message: string }[];
  };
  if (reply.url !== undefined) return reply.url;
  const reason = reply.errors?.map(({ message }) => message).join('; ') ?? `status ${response.status}`;
  throw new Error(`${gateway} refused: ${reason}`);
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

const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';

const hasDisplay = ({ DISPLAY, WAYLAND_DISPLAY }: Environment): boolean =>
  process.platform === 'darwin' || Boolean(DISPLAY || WAYLAND_DISPLAY);

/**
 * Opens a page that leads to the link. The link itself must not be on a command line, where other users of this machine
 * can see it. It is printed already, so a browser that does not open is no error.
 */
function openBrowser(link: string): void {
  const page = join(mkdtempSync(join(tmpdir(), 'tollgate-')), 'sign-in.html');
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0; url=${link}">`, { mode: 0o600 });
  const child = spawn(opener, [page], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
