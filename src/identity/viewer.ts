import type { Actor, Origin } from '../audit/audit-event.js';
import { badInput, GatewayError, notFound } from '../lib/errors.js';
import { parseClientId } from './client-id.js';
import type { ClientRole } from './secret.js';
import type { AccessClaims } from './token.js';

export const principalKinds = ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT', 'DEVICE_KEY'] as const;
export type PrincipalKind = (typeof principalKinds)[number];

/** The authenticated caller. The tenant always comes from here, never from an argument. */
export type Viewer =
  | { readonly kind: 'ANONYMOUS' }
  | { readonly kind: 'PLATFORM_ADMIN'; readonly name: string; readonly session?: AdminSession }
  | ({ readonly kind: 'ORG_CLIENT'; readonly orgId: string } & Bearer)
  | ({ readonly kind: 'APP_CLIENT'; readonly orgId: string; readonly appId: string } & Bearer)
  | {
      readonly kind: 'DEVICE_KEY';
      readonly orgId: string;
      readonly keyId: string;
      readonly ownerId: string;
      readonly hardwareId?: string;
    };

/** A console session of the platform admin. Absent if the caller has presented the admin key itself. */
interface AdminSession {
  readonly role: ClientRole;
  readonly expiresAtMs: number;
}

interface Bearer {
  /** The claims of the access token, or of a console session. */
  readonly token: AccessClaims;
  /** The name of the admin who has opened this console session by a link. The admin is the actor, not the client. */
  readonly openedBy?: string;
  /**
   * Set during an outage: the error that prevented the check for a revocation. Only signature and expiry were verified.
   */
  readonly unchecked?: GatewayError;
}

export const anonymous: Viewer = { kind: 'ANONYMOUS' };
export const adminViewer = (name: string, session?: AdminSession): Viewer => ({
  kind: 'PLATFORM_ADMIN',
  name,
  ...(session ? { session } : {}),
});
export const adminActor = (name: string): string => `platform-admin:${name}`;

export function clientViewer(token: AccessClaims, unchecked?: GatewayError): Viewer {
  const { orgId, appId } = token;
  const bearer = unchecked ? { token, unchecked } : { token };
  return appId === undefined
    ? { kind: 'ORG_CLIENT', orgId, ...bearer }
    : { kind: 'APP_CLIENT', orgId, appId, ...bearer };
}

/** The error for a viewer whose token could not be checked; undefined for all others. */
export const uncheckedError = (viewer: Viewer): GatewayError | undefined =>
  'unchecked' in viewer ? viewer.unchecked : undefined;

/** Throws if the viewer's token could not be checked. */
export function requireChecked(viewer: Viewer): void {
  const error = uncheckedError(viewer);
  if (error) throw error;
}

/**
 * The kinds of principal that may do something at all. The objects they may do it to are decided where these are
 * loaded.
 */
const policies = {
  public: ['ANONYMOUS', ...principalKinds],
  'signed-in': principalKinds,
  'platform:manage': ['PLATFORM_ADMIN'],
  'org:manage': ['PLATFORM_ADMIN', 'ORG_CLIENT'],
  'org:read': ['PLATFORM_ADMIN', 'ORG_CLIENT'],
  'app:read': ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'],
  'spend:submit': ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'],
  'devices:serve': ['ORG_CLIENT', 'DEVICE_KEY'],
  'limits:use': ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'],
  'alerts:follow': ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'],
  'credentials:manage': ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'],
  'tokens:revoke': ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT'],
} as const satisfies Record<string, readonly (Viewer['kind'] | PrincipalKind)[]>;

export type Policy = keyof typeof policies;

/** The policies of mutations that a READ client may send, which are about its own tokens. All others are refused. */
const readRolePolicies: readonly Policy[] = ['public', 'tokens:revoke'];

/** Throws UNAUTHENTICATED or FORBIDDEN unless the policy allows this kind of principal. */
export function requirePolicy(viewer: Viewer, policy: Policy): void {
  if ((policies[policy] as readonly string[]).includes(viewer.kind)) return;
  if (viewer.kind === 'ANONYMOUS') {
    throw new GatewayError(
      'UNAUTHENTICATED',
      'a credential is required: send `Authorization: Bearer <access token>`, `X-Admin-Key` or `X-API-Key`',
    );
  }
  throw new GatewayError('FORBIDDEN', 'this kind of credential is not allowed to do this');
}

/** Throws FORBIDDEN if a READ client or session sends a mutation that changes anything but its own tokens. */
export function requireWrite(viewer: Viewer, policy: Policy): void {
  if (roleOf(viewer) !== 'READ' || readRolePolicies.includes(policy)) return;
  throw new GatewayError(
    'FORBIDDEN',
    'token' in viewer
      ? 'this client has the role READ and may not change anything; use a client with the role FULL'
      : 'this session has the role READ and may not change anything; open one with the role FULL',
  );
}

/** The role of a client or a console session; undefined for admin keys and device keys. */
export function roleOf(viewer: Viewer): ClientRole | undefined {
  if ('token' in viewer) return viewer.token.role;
  return viewer.kind === 'PLATFORM_ADMIN' ? viewer.session?.role : undefined;
}

/** The org of a call. The platform admin must name it. For other callers it is their own; another org is NOT_FOUND. */
export function orgIdFor(viewer: Viewer, named: string | null | undefined, path = 'orgId'): string {
  if (viewer.kind === 'ANONYMOUS' || viewer.kind === 'PLATFORM_ADMIN') {
    if (named) return named;
    throw badInput({ path, message: 'is required if the caller is the platform admin' });
  }
  if (named && named !== viewer.orgId) throw notFound('org');
  return viewer.orgId;
}

export const maySeeOrg = (viewer: Viewer, orgId: string): boolean =>
  viewer.kind === 'PLATFORM_ADMIN' || (viewer.kind !== 'ANONYMOUS' && viewer.orgId === orgId);

/** True if the viewer may read all fields of the org, not only its settings. */
export const maySeeAllOf = (viewer: Viewer, orgId: string): boolean =>
  maySeeOrg(viewer, orgId) && (viewer.kind === 'PLATFORM_ADMIN' || viewer.kind === 'ORG_CLIENT');

/** An app client sees its own app and no sibling; a device key sees none. */
export const maySeeApp = (viewer: Viewer, orgId: string, appId: string): boolean =>
  maySeeOrg(viewer, orgId) && viewer.kind !== 'DEVICE_KEY' && (viewer.kind !== 'APP_CLIENT' || viewer.appId === appId);

/** An org client with the role FULL may revoke every token of its org. Other clients may revoke their own tokens. */
export function mayRevokeTokensOf(viewer: Viewer, clientId: string): boolean {
  if (viewer.kind === 'PLATFORM_ADMIN') return true;
  if (!('token' in viewer)) return false;
  if (viewer.token.clientId === clientId) return true;
  return (
    viewer.kind === 'ORG_CLIENT' && viewer.token.role === 'FULL' && parseClientId(clientId)?.orgId === viewer.orgId
  );
}

/** The name of a viewer in the audit trail and in logs. */
export function actorName(viewer: Viewer): string {
  if (viewer.kind === 'ANONYMOUS') return 'anonymous';
  if (viewer.kind === 'PLATFORM_ADMIN') return adminActor(viewer.name);
  if (viewer.kind === 'DEVICE_KEY') return `key-${viewer.keyId}`;
  return viewer.openedBy === undefined ? viewer.token.clientId : adminActor(viewer.openedBy);
}

/** The actor of an audit event. */
export const actorOf = ({ viewer, address, requestId }: Origin & { readonly viewer: Viewer }): Actor => ({
  name: actorName(viewer),
  address,
  requestId,
});
