import type { IncomingMessage } from 'node:http';
import type { Services } from '../app.js';
import { matchingAdminKey } from '../identity/admin-key.js';
import { adminViewer, anonymous, clientViewer, type Viewer } from '../identity/viewer.js';
import { addressBucket } from '../lib/address.js';
import { badInput, GatewayError, isOutage, rateLimited, WrongKey } from '../lib/errors.js';

/** The headers of a request, or the payload of a `connection_init`. The names are the same, in upper or lower case. */
export type Presented = Readonly<Record<string, unknown>>;

const names = ['authorization', 'x-admin-key', 'x-api-key'] as const;

type Checkers = Pick<Services, 'accessTokens' | 'apiKeys' | 'config' | 'guesses'>;

/**
 * The viewer that presents these credentials; anonymous if there are none. A wrong credential is an error, never
 * anonymous. After too many wrong keys from one `address`, device keys that are not in the cache of this process have
 * to wait. Admin keys are always known. Tokens are not counted: they are signed, so they cannot be guessed, and an
 * expired token is not a guess.
 */
export async function authenticate(checkers: Checkers, presented: Presented, address: string): Promise<Viewer> {
  const { guesses } = checkers;
  const refuseGuesses = () => {
    const waitMs = guesses.waitMs(addressBucket(address));
    if (waitMs > 0)
      throw rateLimited('too many wrong credentials from this address; wait, then retry', waitMs, {
        name: 'wrong-credentials',
        quota: guesses.burst,
        windowSecs: 60,
      });
  };
  try {
    return await viewerOf(checkers, presented, refuseGuesses);
  } catch (error) {
    if (error instanceof WrongKey) guesses.take(addressBucket(address));
    throw error;
  }
}

/** Checks the credentials of an open stream again. It does not count as a guess, because no caller sent anything. */
export const recheck = (checkers: Checkers, presented: Presented): Promise<Viewer> =>
  viewerOf(checkers, presented, () => undefined);

/**
 * The viewer of a request. During an outage of DynamoDB a token is verified by its signature alone and its viewer is
 * marked as unchecked: an endpoint must call `requireChecked`, or give a reason why it does not. Several authorization
 * headers are an error, because Node would silently drop all but the first.
 */
export async function authenticateRequest(
  checkers: Checkers,
  { headers, rawHeaders }: IncomingMessage,
  address: string,
): Promise<Viewer> {
  let authorizations = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 'authorization'.length && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (authorizations > 1) throw severalCredentials('authorization');
  const { authorization, 'x-admin-key': adminKey, 'x-api-key': apiKey } = headers;
  try {
    return await authenticate(checkers, { authorization, 'x-admin-key': adminKey, 'x-api-key': apiKey }, address);
  } catch (error) {
    const token = isOutage(error) ? bearerIn(authorization) : undefined;
    if (!isOutage(error) || token === undefined) throw error;
    return clientViewer(await checkers.accessTokens.verifyUnchecked(token, error), error);
  }
}

async function viewerOf(
  { accessTokens, apiKeys, config }: Checkers,
  presented: Presented,
  onUncached: () => void,
): Promise<Viewer> {
  const found = Object.entries(presented)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => (names as readonly string[]).includes(name) && value !== undefined && value !== null);
  const [first, ...others] = found;
  if (!first) return anonymous;
  if (others.length > 0) throw severalCredentials(found.map(([name]) => name).join(', '));
  const [name, value] = first;
  if (typeof value !== 'string') throw unauthenticated(`${name} must be a string`);
  if (name === 'x-admin-key') {
    const adminKey = matchingAdminKey(config.adminKeys, value);
    if (adminKey) return adminViewer(adminKey.name);
    onUncached();
    throw new WrongKey('the admin key is wrong');
  }
  if (name === 'x-api-key') return { kind: 'DEVICE_KEY', ...(await apiKeys.verify(value, onUncached)) };
  const token = bearerIn(value);
  if (!token) throw unauthenticated('the authorization header must be `Bearer <access token>`');
  return clientViewer(await accessTokens.verify(token));
}

const bearerIn = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
const severalCredentials = (path: string) => badInput({ path, message: 'send one credential, not several' });
const unauthenticated = (message: string) => new GatewayError('UNAUTHENTICATED', message);
