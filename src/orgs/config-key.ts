import { key } from '../dynamo/keys.js';

/** Where an org's or an app's settings and credentials stand. `#ORG` sorts before `APP#`, and an empty sort key is not allowed. */
export const configKey = ({ orgId, appId }: { readonly orgId: string; readonly appId?: string | undefined }) => ({
  PK: key`ORG#${orgId}`,
  SK: appId === undefined ? '#ORG' : key`APP#${appId}`,
});
