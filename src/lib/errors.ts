export const errorCodes = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'BAD_USER_INPUT',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'INVALID_MODEL_LABEL',
  'IDEMPOTENCY_CONFLICT',
  'VERSION_CONFLICT',
  'LEASE_EXPIRED',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** An error that callers may see. Every other error is masked before it is sent. */
export class GatewayError extends Error {
  // graphql-js copies `extensions` from thrown errors, so HTTP and WebSocket need no conversion.
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: Record<string, unknown> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'GatewayError';
    this.extensions = { ...details, code };
  }
}

export const notFound = (what: string): GatewayError => new GatewayError('NOT_FOUND', `${what} not found`);

/** `expectedVersion` is stale. Version 0 means that the object does not exist. Nothing was changed. */
export const versionConflict = (what: string, currentVersion: number): GatewayError =>
  new GatewayError(
    'VERSION_CONFLICT',
    currentVersion === 0
      ? `${what} does not exist, its version is 0; nothing was changed; read it again`
      : `${what} has version ${currentVersion} now; nothing was changed; read it again`,
    { currentVersion },
  );

export const unavailable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('SERVICE_UNAVAILABLE', message, { retryable: true }, { cause });

/**
 * Rejected because this process is overloaded. Nothing was written. Says nothing about the health of DynamoDB, so
 * `onUnavailable: ALLOW` must not admit it.
 */
export class Overloaded extends GatewayError {
  constructor(message: string) {
    super('SERVICE_UNAVAILABLE', message, { retryable: true, retryAfterSecs: 1 });
  }
}

/** True if DynamoDB did not respond. Overload is no outage: otherwise a tenant could bypass its limits by a flood. */
export const isOutage = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'SERVICE_UNAVAILABLE' && !(error instanceof Overloaded);

/** The presented key is wrong, so somebody may be guessing. */
export class WrongKey extends GatewayError {
  constructor(message: string) {
    super('UNAUTHENTICATED', message);
  }
}

/** The bound that was exceeded, for the `RateLimit-Policy` header. */
export interface RatePolicy {
  readonly name: string;
  readonly quota: number;
  readonly windowSecs: number;
}

export const rateLimited = (message: string, retryAfterMs: number, policy: RatePolicy): GatewayError =>
  new GatewayError('RATE_LIMITED', message, { retryAfterSecs: Math.max(1, Math.ceil(retryAfterMs / 1000)), policy });

export interface Issue {
  readonly path: string;
  readonly message: string;
}

export const badInput = (...issues: readonly Issue[]): GatewayError =>
  new GatewayError('BAD_USER_INPUT', issues.map(({ path, message }) => `${path}: ${message}`).join('; '), { issues });

/** Throws one error that lists all issues, if there are any. */
export function refuseAny(issues: readonly Issue[]): void {
  if (issues.length > 0) throw badInput(...issues);
}
