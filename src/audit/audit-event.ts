/** Who did what to what, append-only. `entityId` of an identity act is a pseudo id such as `$ORG` or `$APP:{id}`. */
export interface AuditEvent {
  readonly nodeType: 'AuditEvent';
  readonly orgId: string;
  readonly eventId: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: AuditAction;
  readonly entityId: string;
  readonly resource?: string;
  readonly details: readonly AuditDetail[];
}

export interface AuditDetail {
  readonly name: string;
  readonly value: string;
}

export type AuditAction =
  | 'org_registered'
  | 'org_updated'
  | 'app_registered'
  | 'app_updated'
  | 'credentials_rotated'
  | 'secret_retrieved'
  | 'token_revoked'
  | 'refresh_reused'
  | 'login_refused'
  | 'entity_created'
  | 'entity_deleted'
  | 'limits_set'
  | 'limits_deleted'
  | 'limiter_purged'
  | 'key_created'
  | 'key_revoked'
  | 'device_registered'
  | 'device_renamed'
  | 'device_assigned'
  | 'device_deleted';

export const orgEntity = '$ORG';
export const appEntity = (appId: string): string => `$APP:${appId}`;
export const systemEntity = '$SYSTEM';
export const resourceEntity = (resource: string): string => `$RESOURCE:${resource}`;
export const keyEntity = (keyId: string): string => `$KEY:${keyId}`;
export const deviceEntity = (hardwareId: string): string => `$DEVICE:${hardwareId}`;
export const clientEntity = (clientId: string): string => `$CLIENT:${clientId}`;

/** An entity's own id, or the pseudo id of what is no entity. */
export const auditedEntity = /^[A-Za-z0-9$][A-Za-z0-9_.:@$/-]{0,319}$/;

export const auditEventId = /^[0-9A-HJKMNP-TV-Z]{26}$/;
