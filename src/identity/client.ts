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
  /** Exact to an hour. */
  readonly lastLoginAt?: Date;
  readonly credentials: Credentials;
}

/** A client by its id, or the first client of an app or org. Without any of these, the caller itself. */
export interface NamedClient {
  readonly orgId?: string | null | undefined;
  readonly appId?: string | null | undefined;
  readonly clientId?: string | null | undefined;
}

/** The client to rotate, if the viewer may rotate it. Another tenant's client is NOT_FOUND. */
export function clientToRotate(viewer: Viewer, named: NamedClient): ClientRef {
  const orgId = orgIdFor(viewer, named.orgId, 'input.orgId');
  const appId = named.appId ?? undefined;
  const clientId = named.clientId ?? undefined;
  const callerId = 'token' in viewer ? viewer.token.clientId : undefined;
  const wanted = clientId ?? (appId === undefined ? (callerId ?? clientIdOf({ orgId })) : clientIdOf({ orgId, appId }));
  const ref = parseClientId(wanted);
  const missing = () => notFound(clientId === undefined ? 'app' : 'client');
  if (!ref || ref.orgId !== orgId || (appId !== undefined && ref.appId !== appId)) throw missing();
  if (viewer.kind !== 'APP_CLIENT' || wanted === callerId) return ref;
  if (ref.appId !== viewer.appId) throw missing();
  throw new GatewayError('FORBIDDEN', 'an app client may rotate only its own credentials');
}

/**
 * True if a viewer must present its own secret to get a new secret of this owner. Otherwise a stolen access token could
 * be turned into a lasting credential of the same level. Not needed by an org client for an app, or by the admin.
 */
export const needsOwnSecret = (viewer: Viewer, owner: ClientOwner): boolean =>
  viewer.kind === 'APP_CLIENT' || (viewer.kind === 'ORG_CLIENT' && owner.appId === undefined);

export function requireSecret(currentSecret: string | null | undefined): string {
  if (!currentSecret)
    throw badInput({
      path: 'input.currentSecret',
      message: "is required here; send the caller's own current client secret",
    });
  return currentSecret;
}
