import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TollgateError } from '@tollgate/client';
import type { Environment } from '../../config.js';
import { devSecrets } from '../../embedded/dev-secrets.js';
import { parseAdminKeys } from '../../identity/admin-key.js';
import { type Clock, systemClock } from '../../lib/clock.js';
import { type CliContext, configPath, readCliConfig, updateContext } from './config-file.js';
import { GatewayApi } from './gateway-api.js';

const defaultUrl = 'http://127.0.0.1:4000';
/** A token is replaced this long before it expires. */
const renewBeforeMs = 60_000;

export interface GlobalOptions {
  readonly output?: string;
  readonly org?: string;
  readonly context?: string;
  readonly quiet?: boolean;
}

/** A caller of a gateway: where it is, as whom, and for which org. */
export interface CliSession {
  readonly url: string;
  readonly orgId?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly adminKey?: string;
  /** The context that the credentials come from. Absent if they come from the environment. */
  readonly contextName?: string;
  readonly path: string;
}

/** The credentials and the URL of a call. The environment wins over the config file. */
export async function cliSession(environment: Environment, options: GlobalOptions): Promise<CliSession> {
  const path = configPath(environment);
  const { name, context } = currentContext(path, options.context);
  const url = origin(environment.TOLLGATE_URL || context?.url || defaultUrl);
  const orgId = options.org ?? context?.org;
  const common = { url, path, ...(orgId === undefined ? {} : { orgId }) };
  const { TOLLGATE_CLIENT_ID: clientId, TOLLGATE_CLIENT_SECRET: clientSecret } = environment;
  if (clientId && clientSecret) return { ...common, clientId, clientSecret };
  const adminKey = environmentAdminKey(environment);
  if (adminKey) return { ...common, adminKey };
  // The secrets of a context are for its own gateway and must not be sent to another one.
  if (context && name !== undefined && origin(context.url) === url) {
    const { clientId: id, clientSecret: secret, adminKey: key } = context;
    if (key) return { ...common, adminKey: key, contextName: name };
    if (id && secret) return { ...common, clientId: id, clientSecret: secret, contextName: name };
  }
  const generated = await localAdminKey(environment, url);
  return generated === undefined ? common : { ...common, adminKey: generated };
}

export function currentContext(path: string, wanted?: string): { name?: string; context?: CliContext } {
  const { current, contexts } = readCliConfig(path);
  const name = wanted ?? current;
  if (name === undefined) return {};
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (!context) throw new Error(`there is no context "${name}"; list them with: tollgate context list`);
  return { name, context };
}

export function origin(url: string): string {
  if (!URL.canParse(url)) throw new Error(`"${url}" is not a URL; use one such as https://tollgate.example.com`);
  return new URL(url).origin;
}

export function environmentAdminKey(environment: Environment): string | undefined {
  const { TOLLGATE_ADMIN_KEYS: list, TOLLGATE_ADMIN_KEY: single } = environment;
  return list || single ? parseAdminKeys(list || undefined, single).keys[0]?.key : undefined;
}

/** The key that `tollgate dev` has generated in this folder, if the gateway is on this machine. */
async function localAdminKey(environment: Environment, url: string): Promise<string | undefined> {
  const dataDir = environment.TOLLGATE_DATA_DIR || '.tollgate';
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
  if (!isLocal || !existsSync(join(dataDir, 'secrets.json'))) return undefined;
  return (await devSecrets(dataDir, environment)).TOLLGATE_ADMIN_KEY;
}

const issueTokenDocument =
  'mutation ($input: IssueTokenInput!) { issueToken(input: $input) { accessToken expiresInSecs } }';

/** The access token of a login. */
export async function issueToken(
  url: string,
  clientId: string,
  clientSecret: string,
): Promise<{ readonly accessToken: string; readonly expiresInSecs: number }> {
  const { issueToken: issued } = await new GatewayApi(url).query<{
    issueToken: { accessToken: string; expiresInSecs: number };
  }>(issueTokenDocument, { input: { clientId, clientSecret } });
  return issued;
}

/** The API of the session's gateway. A token is kept in the config file while it is valid. */
export function apiOf(session: CliSession, clock: Clock = systemClock): GatewayApi {
  const { url, adminKey, clientId, clientSecret } = session;
  if (adminKey !== undefined) return new GatewayApi(url, { adminKey });
  if (clientId === undefined || clientSecret === undefined)
    throw new TollgateError('UNAUTHENTICATED', `you are not signed in to ${url}; run: tollgate login`);
  let token: string | undefined;
  return new GatewayApi(url, {
    token: async (rejected) => {
      if (token === undefined || token === rejected) token = await accessToken(session, clock, rejected);
      return token;
    },
  });
}

async function accessToken(session: CliSession, clock: Clock, rejected: string | undefined): Promise<string> {
  const { url, path, contextName, clientId = '', clientSecret = '' } = session;
  const stored = contextName === undefined ? undefined : readCliConfig(path).contexts[contextName];
  const expiresAtMs = stored?.accessTokenExpiresAtMs ?? 0;
  const isUsable = expiresAtMs > clock.nowMs() + renewBeforeMs && stored?.accessToken !== rejected;
  if (stored?.accessToken && isUsable) return stored.accessToken;
  const issued = await issueToken(url, clientId, clientSecret);
  if (contextName !== undefined)
    updateContext(
      path,
      contextName,
      (before) =>
        before && {
          ...before,
          accessToken: issued.accessToken,
          accessTokenExpiresAtMs: clock.nowMs() + issued.expiresInSecs * 1000,
        },
    );
  return issued.accessToken;
}
