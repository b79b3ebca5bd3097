import { slug, uuidPattern } from '../lib/patterns.js';

/** Whose a client is, an org's or an app's; each has a first client, and may have further ones. */
export interface ClientRef {
  readonly orgId: string;
  readonly appId?: string;
  /** Which of the further clients; absent: the first. */
  readonly clientKey?: string;
}

const uuidLength = 36;
const orgPrefix = 'org-';
const appInfix = '-app-';
/** No app id holds it, and it needs no escaping in a URL or in HTTP Basic. */
const keyMark = '~';
export const clientKeyBytes = 6;
const clientKeyPattern = /^[0-9a-f]{12}$/;
export const maxClientIdLength = 256;

export const clientIdOf = ({ orgId, appId, clientKey }: ClientRef): string =>
  `${orgPrefix}${orgId}${appId === undefined ? '' : appInfix + appId}${clientKey === undefined ? '' : keyMark + clientKey}`;

/** Parsed by the UUID's fixed length: an app id may itself hold `-app-`. Undefined for what no client is called. */
export function parseClientId(clientId: string): ClientRef | undefined {
  if (clientId.length > maxClientIdLength) return undefined;
  const orgId = clientId.slice(orgPrefix.length, orgPrefix.length + uuidLength);
  if (!clientId.startsWith(orgPrefix) || !uuidPattern.test(orgId)) return undefined;
  const [owner = '', clientKey, ...others] = clientId.slice(orgPrefix.length + uuidLength).split(keyMark);
  if (others.length > 0 || (clientKey !== undefined && !clientKeyPattern.test(clientKey))) return undefined;
  const key = clientKey === undefined ? {} : { clientKey };
  if (owner === '') return { orgId, ...key };
  const appId = owner.slice(appInfix.length);
  return owner.startsWith(appInfix) && slug.test(appId) ? { orgId, appId, ...key } : undefined;
}
