export const errorCodes = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'BAD_USER_INPUT',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'INVALID_MODEL_LABEL',
  'IDEMPOTENCY_CONFLICT',
  'LEASE_EXPIRED',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** A fault its caller may be told of; whatever else is thrown is masked at the edge. */
export class GatewayError extends Error {
  // graphql-js copies `extensions` off whatever is thrown, so HTTP and WebSocket need no translator.
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

export const unavailable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('SERVICE_UNAVAILABLE', message, { retryable: true }, { cause });

/** Turned away because of how many others there are, with nothing changed: the store may be in the best of health. */
export class Overloaded extends GatewayError {
  constructor(message: string) {
    super('SERVICE_UNAVAILABLE', message, { retryable: true, retryAfterSecs: 1 });
  }
}

/** Whether the store did not answer. Too many callers are no outage, or a tenant could flood its way past its own limits. */
export const isOutage = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'SERVICE_UNAVAILABLE' && !(error instanceof Overloaded);

/** A key that might have been guessed. */
export class WrongKey extends GatewayError {
  constructor(message: string) {
    super('UNAUTHENTICATED', message);
  }
}

/** The bound that was hit, as the `RateLimit-Policy` header names it. */
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

/** Throws one error that names every issue, or nothing. */
export function refuseAny(issues: readonly Issue[]): void {
  if (issues.length > 0) throw badInput(...issues);
}
