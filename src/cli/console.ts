import { parseArgs } from 'node:util';
import { ConfigError, type Environment } from '../config.js';
import { devSecrets } from '../embedded/dev-secrets.js';
import { parseAdminKeys } from '../identity/admin-key.js';
import { UsageError } from './help.js';

interface LinkRequest {
  readonly orgId?: string;
  readonly role: 'FULL' | 'READ';
}

/** Prints a one-time link into the console of a running gateway. */
export async function consoleLink(args: readonly string[], environment: Environment): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:4000' },
      org: { type: 'string' },
      'read-only': { type: 'boolean', default: false },
    },
  });
  if (!URL.canParse(values.url)) throw new UsageError('--url must be a URL such as https://tollgate.example.com');
  const wanted: LinkRequest = {
    ...(values.org === undefined ? {} : { orgId: values.org }),
    role: values['read-only'] ? 'READ' : 'FULL',
  };
  const url = await createLink(values.url, await firstAdminKey(environment), wanted);
  process.stdout.write(`Sign in within two minutes, once:\n${url}\n`);
}

/** The admin key goes to the gateway only. The browser gets the link. */
async function createLink(gateway: string, adminKey: string, wanted: LinkRequest): Promise<string> {
  const response = await fetch(new URL('/session/link', gateway), {
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
