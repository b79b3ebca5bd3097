import type { Services } from '../app.js';
import { anonymous, clientViewer, platformAdmin, type Viewer } from '../identity/viewer.js';
import { badInput, GatewayError } from '../lib/errors.js';
import { equalInConstantTime } from '../lib/seal.js';

/** Headers of a request, or the payload of a `connection_init`: the same names, in any case. */
export type Presented = Readonly<Record<string, unknown>>;

const names = ['authorization', 'x-admin-key', 'x-api-key'] as const;

/** Who presents these credentials. None: anonymous. Wrong ones are an error, never anonymous. */
export async function authenticate({ sessions, apiKeys, config }: Pick<Services, 'sessions' | 'apiKeys' | 'config'>, presented: Presented): Promise<Viewer> {
  const found = Object.entries(presented)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => (names as readonly string[]).includes(name) && value !== undefined && value !== null);
  const [first, ...others] = found;
  if (!first) return anonymous;
  if (others.length > 0) throw badInput({ path: found.map(([name]) => name).join(', '), message: 'send one credential, not several' });
  const [name, value] = first;
  if (typeof value !== 'string') throw unauthenticated(`${name} must be a string`);
  if (name === 'x-admin-key') {
    if (!equalInConstantTime(value, config.adminKey)) throw unauthenticated('the admin key is wrong');
    return platformAdmin;
  }
  if (name === 'x-api-key') return { kind: 'DEVICE_KEY', ...(await apiKeys.verify(value)) };
  const [, token] = /^Bearer +(\S+)$/i.exec(value) ?? [];
  if (!token) throw unauthenticated('the authorization header must be `Bearer <access token>`');
  return clientViewer(await sessions.verify(token));
}

const unauthenticated = (message: string) => new GatewayError('UNAUTHENTICATED', message);
