import { badInput, GatewayError, notFound } from '../lib/errors.js';
import { type ClientRef, clientIdOf, parseClientId } from './client-id.js';
import type { ClientRole, Credentials } from './secret.js';
import { orgIdFor, type Viewer } from './viewer.js';

/** Further clients per org, and per app. */
export const maxClients = 20;

/** The org or app that a client belongs to. */
export type ClientOwner = Pick<ClientRef, 'orgId' | 'appId'>;

/** A further client of an org or app, beside the first one. */
export interface Client {
  readonly ref: ClientRef;
  readonly owner: ClientOwner;
  readonly clientId: string;
  readonly name: string;
  readonly role: ClientRole;
  readonly createdAt: Date;
  /** To within an hour. */
  readonly lastLoginAt?: Date;
  readonly credentials: Credentials;
}

/** The client that a call names, or an app's or org's first one. Absent all: the caller itself. */
export interface NamedClient {
  readonly orgId?: string | null | undefined;
  readonly appId?: string | null | undefined;
  readonly clientId?: string | null | undefined;
}

/** The client that a rotation is about, if the viewer may rotate it at all. A foreign one does not exist for it. */
export function rotatedClient(viewer: Viewer, named: NamedClient): ClientRef {
  const orgId = orgIdFor(viewer, named.orgId, 'input.orgId');
  const appId = named.appId ?? undefined;
  const clientId = named.clientId ?? undefined;
  const own = 'token' in viewer ? viewer.token.clientId : undefined;
  const wanted = clientId ?? (appId === undefined ? (own ?? clientIdOf({ orgId })) : clientIdOf({ orgId, appId }));
  const ref = parseClientId(wanted);
  const missing = () => notFound(clientId === undefined ? 'app' : 'client');
  if (!ref || ref.orgId !== orgId || (appId !== undefined && ref.appId !== appId)) throw missing();
  if (viewer.kind !== 'APP_CLIENT' || wanted === own) return ref;
  if (ref.appId !== viewer.appId) throw missing();
  throw new GatewayError('FORBIDDEN', 'an app client may rotate only its own credentials');
}

/**
 * Whether a viewer must prove its own secret to give out a secret of this owner: an access token alone, which may be stolen,
 * must not become a lasting credential of its own level. Parents need no proof: the org for its apps, the admin for all.
 */
export const needsOwnSecret = (viewer: Viewer, owner: ClientOwner): boolean =>
  viewer.kind === 'APP_CLIENT' || (viewer.kind === 'ORG_CLIENT' && owner.appId === undefined);

export function requireGiven(currentSecret: string | null | undefined): string {
  if (!currentSecret)
    throw badInput({
      path: 'input.currentSecret',
      message: "is required here: the caller's own current client secret",
    });
  return currentSecret;
}
