import type { Environment } from '../config.js';
import { type CliContext, configPath, readCliConfig, updateContext, writeCliConfig } from './api/config-file.js';
import { GatewayApi } from './api/gateway-api.js';
import { ask, askSecret, processTerminal, type Terminal } from './api/prompt.js';
import { apiOf, cliSession, currentContext, type GlobalOptions, issueToken, origin } from './api/session.js';

const defaultContext = 'default';
const contextName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export interface LoginOptions extends GlobalOptions {
  readonly url?: string;
  readonly clientId?: string;
  readonly admin?: boolean;
}

/**
 * Checks credentials and stores them in a context, which becomes the current one. The secret comes from the
 * environment, a terminal without echo or the standard input, and never from the command line.
 */
export async function login(
  options: LoginOptions,
  environment: Environment,
  terminal: Terminal = processTerminal(),
): Promise<string> {
  const path = configPath(environment);
  const { current, contexts } = readCliConfig(path);
  const name = checkedName(options.context ?? current ?? defaultContext);
  const known = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  const url = origin(options.url ?? environment.TOLLGATE_URL ?? known?.url ?? 'http://127.0.0.1:4000');
  const org = options.org ?? known?.org;
  const place = { url, ...(org === undefined ? {} : { org }) };
  const context: CliContext = options.admin
    ? { ...place, adminKey: await checkedAdminKey(url, environment, terminal) }
    : { ...place, ...(await checkedClient(url, options.clientId, environment, terminal)) };
  updateContext(path, name, () => context);
  writeCliConfig(path, { ...readCliConfig(path), current: name });
  const who = options.admin ? 'the platform admin' : context.clientId;
  return `Signed in to ${url} as ${who}, in the context "${name}".\n`;
}

async function checkedAdminKey(url: string, environment: Environment, terminal: Terminal): Promise<string> {
  const adminKey = environment.TOLLGATE_ADMIN_KEY || (await askSecret('Admin key: ', terminal));
  if (!adminKey) throw new Error('no admin key was given; type it, or send it to the standard input');
  await new GatewayApi(url, { adminKey }).query('{ me { kind } }');
  return adminKey;
}

async function checkedClient(
  url: string,
  named: string | undefined,
  environment: Environment,
  terminal: Terminal,
): Promise<Pick<CliContext, 'clientId' | 'clientSecret'>> {
  const given = named ?? environment.TOLLGATE_CLIENT_ID;
  if (!given && !terminal.input.isTTY)
    throw new Error('no client was named; add --client-id, or set TOLLGATE_CLIENT_ID');
  const clientId = given || (await ask('Client id: ', terminal));
  const clientSecret = environment.TOLLGATE_CLIENT_SECRET || (await askSecret('Client secret: ', terminal));
  if (!clientSecret) throw new Error('no secret was given; type it, or send it to the standard input');
  await issueToken(url, clientId, clientSecret);
  return { clientId, clientSecret };
}

/** Revokes the access token and removes the credentials from the context. */
export async function logout(options: GlobalOptions, environment: Environment): Promise<string> {
  const path = configPath(environment);
  const { name, context } = currentContext(path, options.context);
  if (name === undefined || !context) return 'You are not signed in.\n';
  const { url, org, accessToken } = context;
  updateContext(path, name, () => ({ url, ...(org === undefined ? {} : { org }) }));
  if (accessToken !== undefined) {
    const api = new GatewayApi(url, { token: () => accessToken });
    // The credentials are removed already. A token that cannot be revoked now expires within the hour.
    await api
      .query('mutation ($token: String!) { revokeToken(token: $token) }', { token: accessToken })
      .catch(() => {});
  }
  return `Signed out of ${url}.\n`;
}

/** The contexts as a table. Never their secrets. */
export function contextRows(environment: Environment): Record<string, unknown>[] {
  const { current, contexts } = readCliConfig(configPath(environment));
  return Object.entries(contexts).map(([name, { url, org, clientId, adminKey }]) => ({
    current: name === current ? '*' : '',
    name,
    url,
    org,
    credentials: adminKey === undefined ? clientId : 'admin key',
  }));
}

/** Makes a context the current one. */
export function useContext(name: string, environment: Environment): string {
  const path = configPath(environment);
  currentContext(path, name);
  writeCliConfig(path, { ...readCliConfig(path), current: name });
  return `The context is "${name}" now.\n`;
}

/** Adds a context without credentials, or changes its URL and org. Another URL drops the credentials. */
export function addContext(
  name: string,
  { url, org }: { readonly url: string; readonly org?: string },
  environment: Environment,
): string {
  const path = configPath(environment);
  const place = { url: origin(url), ...(org === undefined ? {} : { org }) };
  updateContext(path, checkedName(name), (before) =>
    before && origin(before.url) === place.url ? { ...before, ...place } : place,
  );
  const config = readCliConfig(path);
  if (config.current === undefined) writeCliConfig(path, { ...config, current: name });
  return `Added the context "${name}". Sign in with: tollgate login --context ${name}\n`;
}

function checkedName(name: string): string {
  if (!contextName.test(name))
    throw new Error(
      'the name of a context must have 1 to 64 characters of A-Z a-z 0-9 . _ - and begin with a letter or digit',
    );
  return name;
}

/** The API and session of a command. */
export async function connected(environment: Environment, options: GlobalOptions) {
  const session = await cliSession(environment, options);
  return { session, api: apiOf(session) };
}
