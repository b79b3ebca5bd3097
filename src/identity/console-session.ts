import { adminEntity, clientEntity, platformTenant } from '../audit/audit-event.js';
import { parseClientId } from './client-id.js';
import type { ClientRole } from './secret.js';
import { adminActor, adminViewer, clientViewer, type Viewer } from './viewer.js';

/** A session ends this long after it began. */
export const maxSessionMs = 12 * 3_600_000;
/** A session ends this long after its last recorded activity. */
export const maxIdleMs = 30 * 60_000;
/** Activity is recorded at most once per this time. */
export const activityStepMs = 60_000;
/** Open sessions per client, and per admin key. A further one ends the oldest. */
export const maxSessionsPerMaker = 20;
/** A link is valid this long. */
export const linkMs = 120_000;

/** The admin key that a link was made with. */
export interface AdminRef {
  readonly name: string;
  readonly keyId: string;
}

/** The client that a session acts for. */
export interface SessionClient {
  readonly clientId: string;
  readonly generation: number;
  /** The rotation that made the secret of the login. Absent if the admin has opened the session by a link. */
  readonly secretRotation?: number;
}

/** It has a client, an admin, or both: an admin who acts for an org. */
export interface SessionOwner {
  readonly client?: SessionClient;
  readonly admin?: AdminRef;
}

/** A session of the web console. */
export interface ConsoleSession extends SessionOwner {
  readonly sessionId: string;
  readonly role: ClientRole;
  /** The last recorded activity. */
  readonly activeAtMs: number;
  readonly expiresAtMs: number;
}

/** A link that opens one session. */
export interface ConsoleLink {
  readonly admin: AdminRef;
  /** The org that the session acts for. Absent: the platform. */
  readonly orgId?: string;
  readonly role: ClientRole;
  readonly expiresAtMs: number;
  readonly used: boolean;
}

/** True until the session has lasted or was idle for too long. */
export const isOpen = (session: Pick<ConsoleSession, 'activeAtMs' | 'expiresAtMs'>, nowMs: number): boolean =>
  nowMs < endsAtMs(session);

/** When a session ends without further activity. */
export const endsAtMs = ({ activeAtMs, expiresAtMs }: Pick<ConsoleSession, 'activeAtMs' | 'expiresAtMs'>): number =>
  Math.min(expiresAtMs, activeAtMs + maxIdleMs);

/** The name of the credential that made a session. Its sessions are counted together. */
export function makerOf({ client, admin }: SessionOwner): string {
  if (admin) return adminActor(admin.name);
  if (!client) throw new Error('a console session has a client or an admin');
  return client.clientId;
}

/** The audit trail in which a session is recorded: that of its org, or that of the platform. */
export const tenantOf = ({ client }: SessionOwner): string =>
  (client && parseClientId(client.clientId)?.orgId) ?? platformTenant;

/** The object of the audit events of a session. */
export const auditedObject = ({ client, admin }: SessionOwner): string =>
  client ? clientEntity(client.clientId) : adminEntity((admin as AdminRef).name);

/** The sessions of a maker that give way to one more: those that are over, and open ones above the maximum. */
export interface Room {
  readonly over: readonly string[];
  /** Those that would end first. */
  readonly evicted: readonly string[];
}

/** `expiries`: when each known session of the maker expires. */
export function roomFor(expiries: ReadonlyMap<string, number>, nowMs: number): Room {
  const byExpiry = [...expiries].sort(([, a], [, b]) => a - b);
  const open = byExpiry.filter(([, expiresAtMs]) => expiresAtMs > nowMs).map(([hash]) => hash);
  const over = byExpiry.filter(([, expiresAtMs]) => expiresAtMs <= nowMs).map(([hash]) => hash);
  return { over, evicted: open.slice(0, Math.max(0, open.length - maxSessionsPerMaker + 1)) };
}

/** The viewer of a session. `role` and `expiresAtMs` may be narrower than those of the session itself. */
export function sessionViewer(
  { sessionId, client, admin }: ConsoleSession,
  { role, expiresAtMs }: Pick<ConsoleSession, 'role' | 'expiresAtMs'>,
): Viewer {
  const ref = client && parseClientId(client.clientId);
  if (!client || !ref) return adminViewer((admin as AdminRef).name, { role, expiresAtMs });
  const { clientId, generation } = client;
  const claims = { clientId, ...ref, role, tokenId: sessionId, family: sessionId, generation, expiresAtMs };
  return { ...clientViewer(claims), ...(admin ? { openedBy: admin.name } : {}) };
}

/** The address that opens the console with a link. The token is in the fragment, which browsers do not send. */
export const linkUrl = (origin: string, token: string): string => `${origin}/console/#token=${token}`;
