import { slug } from '../spend/price.js';

/** Who a client secret belongs to: an org itself, or one of its apps. */
export interface ClientRef {
  readonly orgId: string;
  readonly appId?: string;
}

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuidLength = 36;
const orgPrefix = 'org-';
const appInfix = '-app-';

export const clientIdOf = ({ orgId, appId }: ClientRef): string => `${orgPrefix}${orgId}${appId === undefined ? '' : appInfix + appId}`;

/** Parsed by the UUID's fixed length: an app id may itself hold `-app-`. Undefined for what no client is called. */
export function parseClientId(clientId: string): ClientRef | undefined {
  const orgId = clientId.slice(orgPrefix.length, orgPrefix.length + uuidLength);
  const rest = clientId.slice(orgPrefix.length + uuidLength);
  if (!clientId.startsWith(orgPrefix) || !uuidPattern.test(orgId)) return undefined;
  if (rest === '') return { orgId };
  const appId = rest.slice(appInfix.length);
  return rest.startsWith(appInfix) && slug.test(appId) ? { orgId, appId } : undefined;
}
