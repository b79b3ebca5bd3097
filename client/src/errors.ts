import type { Binding, LimitStatus } from './types.js';

export interface Issue {
  readonly path: string;
  readonly message: string;
}

export interface ErrorDetails {
  /** The id of the request in the log of the gateway. */
  readonly requestId?: string | undefined;
  /** The same call may succeed later. */
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The gateway has surely not executed the operation. */
  readonly isUnsent?: boolean | undefined;
  readonly cause?: unknown;
}

/** Every failure of the client. `code` is the `extensions.code` of the gateway. No message contains a secret. */
export class TollgateError extends Error {
  override name = 'TollgateError';
  readonly code: string;
  /** The id of the request in the log of the gateway. */
  declare readonly requestId: string | undefined;
  /** The same call may succeed later. */
  declare readonly retryable: boolean;
  declare readonly retryAfterMs: number | undefined;
  /** The gateway has surely not executed the operation. */
  declare readonly isUnsent: boolean;

  /** All details become fields, those of subclasses too. */
  constructor(code: string, message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause ? { cause } : undefined);
    this.code = code;
    Object.assign(this, { retryable: false, isUnsent: false, ...details });
  }
}

interface RefusalDetails extends ErrorDetails {
  readonly statuses?: readonly LimitStatus[];
  readonly binding?: Binding;
}

/** Refused by a rate limit (`violations` or `binding`), or because this caller sends too many requests. */
export class RateLimited extends TollgateError {
  override name = 'RateLimited';
  readonly statuses: readonly LimitStatus[];
  /** The limits that have too few tokens. */
  readonly violations: readonly LimitStatus[];
  declare readonly binding: Binding | undefined;

  constructor(message: string, { statuses = [], ...details }: RefusalDetails = {}) {
    super('RATE_LIMITED', message, { ...details, retryable: true });
    this.statuses = statuses;
    this.violations = statuses.filter(({ exceeded }) => exceeded);
  }
}

/** A quota or budget has no room for the call, which was not made. */
export class QuotaExceeded extends TollgateError {
  override name = 'QuotaExceeded';
  declare readonly binding: Binding;
  /** When the quota or budget begins anew, if that would help. */
  declare readonly resetsAt: Date | undefined;
}

/** The request id or key was used before with another payload. */
export class IdempotencyConflict extends TollgateError {
  override name = 'IdempotencyConflict';
}

/** `expectedVersion` is stale. */
export class VersionConflict extends TollgateError {
  override name = 'VersionConflict';
  /** The stored version; 0 if the object does not exist. */
  declare readonly currentVersion: number;
}

/** The lease or admission has ended. */
export class LeaseExpired extends TollgateError {
  override name = 'LeaseExpired';
}

/** No response, a response of something else than Tollgate, or a gateway that cannot execute the operation now. */
export class Unavailable extends TollgateError {
  override name = 'Unavailable';
}

/** The input is not valid. `issues` says where and why. */
export class BadInput extends TollgateError {
  override name = 'BadInput';
  /** Empty if the gateway told none. */
  declare readonly issues: readonly Issue[];
}

/** No credential, or one that is not valid. */
export class Unauthenticated extends TollgateError {
  override name = 'Unauthenticated';
}

const classes: Readonly<Record<string, typeof TollgateError>> = {
  IDEMPOTENCY_CONFLICT: IdempotencyConflict,
  VERSION_CONFLICT: VersionConflict,
  LEASE_EXPIRED: LeaseExpired,
  SERVICE_UNAVAILABLE: Unavailable,
  BAD_USER_INPUT: BadInput,
  INVALID_MODEL_LABEL: BadInput,
  UNAUTHENTICATED: Unauthenticated,
};

/** An error of a GraphQL response, or of one item of a batch. */
export interface WireError {
  readonly message: string;
  readonly extensions?: {
    readonly code?: string;
    readonly requestId?: string;
    readonly retryAfterSecs?: number;
    readonly issues?: readonly Issue[];
    readonly currentVersion?: number;
  };
}

/** The typed error of an error of the gateway. */
export function errorOf({ message, extensions = {} }: WireError): TollgateError {
  const { code = 'UNKNOWN', requestId, retryAfterSecs, issues = [], currentVersion } = extensions;
  const isUnavailable = code === 'SERVICE_UNAVAILABLE';
  const type = classes[code] ?? TollgateError;
  const details = {
    requestId,
    retryable: isUnavailable,
    retryAfterMs: retryAfterSecs && retryAfterSecs * 1000,
    // Only a gateway that is overloaded, and has changed nothing, says when to come back.
    isUnsent: code === 'UNAUTHENTICATED' || retryAfterSecs !== undefined,
    ...(type === BadInput && { issues }),
    ...(type === VersionConflict && { currentVersion }),
  };
  return code === 'RATE_LIMITED' ? new RateLimited(message, details) : new type(code, message, details);
}
