/** The origin of a call. */
export interface Origin {
  readonly address: string;
  readonly requestId: string;
}

/** The caller that acts, and the origin of the call. */
export interface Actor extends Origin {
  readonly name: string;
}

/**
 * One audited act. Events are append-only. `entityId` is a limiter entity, or a pseudo id such as `$ORG` or
 * `$APP:{id}`.
 */
export interface AuditEvent {
  readonly nodeType: 'AuditEvent';
  readonly orgId: string;
  readonly eventId: string;
  readonly at: Date;
  readonly actor: string;
  /** An `AuditAction`, or an action that only a newer version knows. */
  readonly action: string;
  readonly entityId: string;
  readonly resource?: string;
  readonly address?: string;
  readonly requestId?: string;
  readonly details: readonly AuditDetail[];
}

export interface AuditDetail {
  readonly name: string;
  readonly value: string;
  /** The value before. Set only for a setting that was changed. */
  readonly previousValue?: string;
}

export type AuditAction =
  | 'org_registered'
  | 'org_updated'
  | 'org_suspended'
  | 'org_resumed'
  | 'app_registered'
  | 'app_updated'
  | 'app_suspended'
  | 'app_resumed'
  | 'app_deleted'
  | 'client_created'
  | 'client_deleted'
  | 'credentials_rotated'
  | 'secret_retrieved'
  | 'token_revoked'
  | 'refresh_reused'
  | 'login_succeeded'
  | 'login_refused'
  | 'console_link_created'
  | 'console_session_started'
  | 'console_session_ended'
  | 'model_overridden'
  | 'cost_corrected'
  | 'quota_overrun'
  | 'budget_set'
  | 'budget_deleted'
  | 'model_set'
  | 'model_retired'
  | 'price_set'
  | 'entity_created'
  | 'entity_updated'
  | 'entity_deleted'
  | 'limits_set'
  | 'limit_topped_up'
  | 'limits_deleted'
  | 'limiter_purged'
  | 'managed_items_set'
  | 'key_created'
  | 'key_revoked'
  | 'device_registered'
  | 'device_renamed'
  | 'device_assigned'
  | 'device_deleted';

/** The tenant of the platform itself, in the audit trail and in the change counter. No org has this id. */
export const platformTenant = 'platform';

export const orgEntity = '$ORG';
export const appEntity = (appId: string): string => `$APP:${appId}`;
export const budgetEntity = (name: string): string => `$BUDGET:${name}`;
export const systemEntity = '$SYSTEM';
export const resourceEntity = (resource: string): string => `$RESOURCE:${resource}`;
export const keyEntity = (keyId: string): string => `$KEY:${keyId}`;
export const deviceEntity = (hardwareId: string): string => `$DEVICE:${hardwareId}`;
export const modelEntity = (label: string): string => `$MODEL:${label}`;
export const adminEntity = (name: string): string => `$ADMIN:${name}`;
export const managerEntity = (name: string): string => `$MANAGER:${name}`;
export const clientEntity = (clientId: string): string => `$CLIENT:${clientId}`;

/** The id of an entity, or a pseudo id. */
export const auditedEntity = /^[A-Za-z0-9$][A-Za-z0-9_.:@$/~-]{0,319}$/;

/** The id of an org, or the platform. */
export const auditedTenant = /^(?:platform|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export const auditEventId = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** The fields in which two states differ, with their values before and after. `unset` is shown for an absent value. */
export function changesBetween(before: object, after: object, unset = 'none'): AuditDetail[] {
  const old = before as Readonly<Record<string, unknown>>;
  const now = after as Readonly<Record<string, unknown>>;
  const shown = (value: unknown): string =>
    value === undefined || value === null ? unset : typeof value === 'string' ? value : JSON.stringify(value);
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .sort()
    .map((name) => ({ name, value: shown(now[name]), previousValue: shown(old[name]) }))
    .filter(({ value, previousValue }) => value !== previousValue);
}
