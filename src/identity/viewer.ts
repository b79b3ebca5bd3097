import { badInput, GatewayError, notFound } from '../lib/errors.js';
import type { AccessClaims } from './token.js';

export const principalKinds = ['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT', 'DEVICE_KEY'] as const;
export type PrincipalKind = (typeof principalKinds)[number];

/** Who is calling. The tenant always comes from here, never from an argument. */
export type Viewer =
  | { readonly kind: 'ANONYMOUS' }
  | { readonly kind: 'PLATFORM_ADMIN' }
  | { readonly kind: 'ORG_CLIENT'; readonly orgId: string; readonly token: AccessClaims }
  | { readonly kind: 'APP_CLIENT'; readonly orgId: string; readonly appId: string; readonly token: AccessClaims }
  | { readonly kind: 'DEVICE_KEY'; readonly orgId: string; readonly keyId: string; readonly ownerId: string; readonly hardwareId?: string };

export const anonymous: Viewer = { kind: 'ANONYMOUS' };
export const platformAdmin: Viewer = { kind: 'PLATFORM_ADMIN' };

export function clientViewer(token: AccessClaims): Viewer {
  const { orgId, appId } = token;
  return appId === undefined ? { kind: 'ORG_CLIENT', orgId, token } : { kind: 'APP_CLIENT', orgId, appId, token };
}

/** Which kinds of principal may do a thing at all; what they may do it to is decided where it is loaded. */
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
} as const satisfies Record<string, readonly (Viewer['kind'] | PrincipalKind)[]>;

export type Policy = keyof typeof policies;

/** Throws UNAUTHENTICATED or FORBIDDEN unless this kind of principal may. */
export function requirePolicy(viewer: Viewer, policy: Policy): void {
  if ((policies[policy] as readonly string[]).includes(viewer.kind)) return;
  if (viewer.kind === 'ANONYMOUS') {
    throw new GatewayError('UNAUTHENTICATED', 'this needs a credential: send `Authorization: Bearer <access token>`, `X-Admin-Key` or `X-API-Key`');
  }
  throw new GatewayError('FORBIDDEN', 'this kind of credential may not do this');
}

/** The org a call is about. The platform admin names it; anyone else has one, and a foreign one does not exist for it. */
export function orgIdFor(viewer: Viewer, named: string | null | undefined, path = 'orgId'): string {
  if (viewer.kind === 'ANONYMOUS' || viewer.kind === 'PLATFORM_ADMIN') {
    if (named) return named;
    throw badInput({ path, message: 'the platform admin must say which org' });
  }
  if (named && named !== viewer.orgId) throw notFound('org');
  return viewer.orgId;
}

export const maySeeOrg = (viewer: Viewer, orgId: string): boolean =>
  viewer.kind === 'PLATFORM_ADMIN' || (viewer.kind !== 'ANONYMOUS' && viewer.orgId === orgId);

/** Whether the org's loaded fields are open to the viewer, not its plain settings alone. */
export const maySeeAllOf = (viewer: Viewer, orgId: string): boolean =>
  maySeeOrg(viewer, orgId) && (viewer.kind === 'PLATFORM_ADMIN' || viewer.kind === 'ORG_CLIENT');

/** An app client sees its own app and no sibling; a device key sees none. */
export const maySeeApp = (viewer: Viewer, orgId: string, appId: string): boolean =>
  maySeeOrg(viewer, orgId) && viewer.kind !== 'DEVICE_KEY' && (viewer.kind !== 'APP_CLIENT' || viewer.appId === appId);

/** How a viewer is called in the audit trail and in logs. */
export function actorName(viewer: Viewer): string {
  if (viewer.kind === 'ANONYMOUS') return 'anonymous';
  if (viewer.kind === 'PLATFORM_ADMIN') return 'platform-admin';
  return viewer.kind === 'DEVICE_KEY' ? `key-${viewer.keyId}` : viewer.token.clientId;
}
