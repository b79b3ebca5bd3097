import type { Item } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { type ClientRole, type Credentials, clientRoles, type StoredSecret } from './secret.js';

interface ConfigRef {
  readonly orgId: string;
  readonly appId?: string | undefined;
  readonly clientKey?: string | undefined;
}

/** The key of an org, an app or a further client. The item of an org or app holds its settings and its first client. */
export function configKey({ orgId, appId, clientKey }: ConfigRef) {
  const PK = key`ORG#${orgId}`;
  if (clientKey === undefined) return { PK, SK: appId === undefined ? '#ORG' : key`APP#${appId}` };
  return { PK, SK: appId === undefined ? key`CLIENT#ORG#${clientKey}` : key`CLIENT#APP#${appId}#${clientKey}` };
}

/** The prefix of the sort keys of the further clients of an org or app. */
export const clientsPrefix = (appId: string | undefined): string =>
  appId === undefined ? 'CLIENT#ORG#' : key`CLIENT#APP#${appId}#`;

/** The first attributes of a new client. It has no secret until the first retrieval. */
export const newClientAttributes = (
  clientId: string,
  { rotation = 1, generation = 0, role }: { rotation?: number; generation?: number; role?: ClientRole } = {},
) => ({
  client_id: clientId,
  client_rotation: rotation,
  client_generation: generation,
  client_role: role,
});

/** The attributes of the secrets of a client. The deletion of an app removes them. */
export const secretAttributes = [
  'client_secret_hash',
  'client_secret_check',
  'client_secret_rotation',
  'client_secret_previous_hash',
  'client_secret_previous_check',
  'client_secret_previous_rotation',
  'client_secret_rotation_grace_expires_at_epoch',
];

/** The credentials in the item of an org, an app or a further client. */
export function credentialsOf(item: Item): Credentials {
  const from = fields('config', item);
  const secretCreatedAt = optionalEpochDate(from, 'client_secret_created_at_epoch');
  const graceExpiresAt = optionalEpochDate(from, 'client_secret_rotation_grace_expires_at_epoch');
  const current = optionalSecret(from, 'client_secret');
  const previous = optionalSecret(from, 'client_secret_previous');
  return {
    clientId: from.string('client_id'),
    // Items from before there were roles have none.
    role: from.optionalOneOf('client_role', clientRoles) ?? 'FULL',
    ...(secretCreatedAt === undefined ? {} : { secretCreatedAt }),
    ...(graceExpiresAt === undefined ? {} : { graceExpiresAt }),
    ...(current === undefined ? {} : { current }),
    ...(previous === undefined ? {} : { previous }),
    rotation: from.number('client_rotation'),
    generation: from.number('client_generation'),
  };
}

function optionalEpochDate(from: Fields, name: string): Date | undefined {
  const secs = from.optionalNumber(name);
  return secs === undefined ? undefined : new Date(secs * 1000);
}

function optionalSecret(from: Fields, prefix: string): StoredSecret | undefined {
  const hash = from.optionalString(`${prefix}_hash`);
  if (hash === undefined) return undefined;
  return { hash, check: from.string(`${prefix}_check`), rotation: from.number(`${prefix}_rotation`) };
}
