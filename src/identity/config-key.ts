import { key } from '../dynamo/keys.js';

interface ConfigRef {
  readonly orgId: string;
  readonly appId?: string | undefined;
  readonly clientKey?: string | undefined;
}

/** Where an org's or an app's settings and first credentials stand, or a further client of it. `#ORG` sorts before the others. */
export function configKey({ orgId, appId, clientKey }: ConfigRef) {
  const PK = key`ORG#${orgId}`;
  if (clientKey === undefined) return { PK, SK: appId === undefined ? '#ORG' : key`APP#${appId}` };
  return { PK, SK: appId === undefined ? key`CLIENT#ORG#${clientKey}` : key`CLIENT#APP#${appId}#${clientKey}` };
}

/** What the sort keys of the further clients of an org or app begin with. */
export const clientsPrefix = (appId: string | undefined): string =>
  appId === undefined ? 'CLIENT#ORG#' : key`CLIENT#APP#${appId}#`;
