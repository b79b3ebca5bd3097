import { slug, uuidPattern } from '../lib/patterns.js';

/** A client of an org or of an app. Each org and app has a first client, and may have further clients. */
export interface ClientRef {
  readonly orgId: string;
  readonly appId?: string;
  /** Identifies a further client. Absent for the first client. */
  readonly clientKey?: string;
}

const uuidLength = 36;
const orgPrefix = 'org-';
const appInfix = '-app-';
/** App ids cannot contain it, and it needs no escaping in a URL or in HTTP Basic. */
const keyMark = '~';
export const clientKeyBytes = 6;
const clientKeyPattern = /^[0-9a-f]{12}$/;
export const maxClientIdLength = 256;

export function clientIdOf({ orgId, appId, clientKey }: ClientRef): string {
  const owner = appId === undefined ? `${orgPrefix}${orgId}` : `${orgPrefix}${orgId}${appInfix}${appId}`;
  return clientKey === undefined ? owner : `${owner}${keyMark}${clientKey}`;
}

/**
 * Undefined for text that is not a client id. Parses by the fixed length of the UUID, because an app id may contain
 * `-app-`.
 */
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
