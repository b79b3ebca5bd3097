import type { IncomingMessage } from 'node:http';
import type { Services } from '../app.js';
import type { VerifiedSession } from '../identity/console-session.service.js';
import { badInput, GatewayError } from '../lib/errors.js';
import { originOf } from './oauth-metadata.js';

type ConsoleConfig = Pick<Services['config'], 'console' | 'production' | 'host' | 'publicUrl' | 'trustProxy'>;

const consoleHeader = 'x-tollgate-console';
const activityHeader = 'x-tollgate-activity';
const otherCredentials = ['authorization', 'x-admin-key', 'x-api-key'] as const;
const loopbackHosts = ['127.0.0.1', 'localhost', '::1'];

/** True if the request asks for the session in its cookie. In all other requests the cookie is ignored. */
export const isConsoleRequest = ({ console }: ConsoleConfig, { headers }: IncomingMessage): boolean =>
  console !== undefined && headers[consoleHeader] === '1';

/**
 * Throws unless a request that uses the session cookie comes from the console itself: a browser sends cookies with
 * requests of other pages too. The caller also requires a JSON body.
 */
export function requireConsoleRequest(config: ConsoleConfig, request: IncomingMessage): void {
  const { method, headers } = request;
  if (headers[consoleHeader] !== '1') throw forbidden(`send ${consoleHeader}: 1`);
  if (method !== 'POST') throw forbidden('a session of the console counts only for POST');
  const other = otherCredentials.find((name) => headers[name] !== undefined);
  if (other)
    throw badInput({ path: other, message: `send no other credential with ${consoleHeader}: the session is one` });
  if (!isSameOrigin(config, request))
    throw forbidden('a session of the console counts only for requests of its own pages');
}

/** A page cannot set these two headers. Browsers that do not send `Sec-Fetch-Site` send `Origin` with a POST. */
function isSameOrigin(config: ConsoleConfig, request: IncomingMessage): boolean {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && origin === (config.publicUrl ?? originOf(request, config.trustProxy));
}

/** The session of a request, whose cookie counts only under the rules of `requireConsoleRequest`. */
export async function authenticateSession(
  { config, consoleSessions }: Services,
  request: IncomingMessage,
): Promise<VerifiedSession> {
  requireConsoleRequest(config, request);
  const token = sessionToken(config, request);
  if (token === undefined) throw new GatewayError('UNAUTHENTICATED', 'there is no session: sign in to the console');
  return consoleSessions.verify(token, request.headers[activityHeader] === '1');
}

/** Checks the session of an open stream again. The stream itself is no activity. */
export async function recheckSession({ config, consoleSessions }: Services, request: IncomingMessage): Promise<void> {
  await consoleSessions.verify(sessionToken(config, request) ?? '', false);
}

/** The token in the cookie. Undefined if there is none, or more than one: another site of the host may have set one. */
export function sessionToken(config: ConsoleConfig, { headers }: IncomingMessage): string | undefined {
  const prefix = `${cookieName(config)}=`;
  const found = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix));
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined;
}

/** The `Set-Cookie` header that starts a session. */
export const sessionCookie = (config: ConsoleConfig, token: string): string =>
  `${cookieName(config)}=${token}; Path=/; HttpOnly; SameSite=Strict${isPlain(config) ? '' : '; Secure'}`;

/** The `Set-Cookie` header that removes the cookie. */
export const clearedCookie = (config: ConsoleConfig): string => `${sessionCookie(config, '')}; Max-Age=0`;

/** Browsers accept the prefix only for a secure cookie of exactly this host. */
const cookieName = (config: ConsoleConfig): string => (isPlain(config) ? 'tollgate' : '__Host-tollgate');

/** True in development on a loopback address, where there is no TLS. */
const isPlain = ({ production, host, publicUrl }: ConsoleConfig): boolean =>
  !production && loopbackHosts.includes(host) && !publicUrl?.startsWith('https:');

const forbidden = (message: string) => new GatewayError('FORBIDDEN', message);
