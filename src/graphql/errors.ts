import { GraphQLError, type GraphQLFormattedError, Kind } from 'graphql';
import { errorCodes, GatewayError, type Issue, type RatePolicy } from '../lib/errors.js';
import { type Log, redactText } from '../lib/log.js';
import type { LimitStatus } from '../limits/status.js';
import type { Refusal } from './context.js';

/** Codes of GraphQL itself and of Apollo, and what they are called here. */
const knownCodes: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'GRAPHQL_PARSE_FAILED',
  GRAPHQL_VALIDATION_FAILED: 'GRAPHQL_VALIDATION_FAILED',
  BAD_USER_INPUT: 'BAD_USER_INPUT',
  BAD_REQUEST: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
  PERSISTED_QUERY_NOT_FOUND: 'BAD_USER_INPUT',
  PERSISTED_QUERY_NOT_SUPPORTED: 'BAD_USER_INPUT',
};

export interface PublicError extends GraphQLFormattedError {
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** Makes an error fit for its caller. */
export type Mask = (error: unknown, requestId: string) => PublicError;

/**
 * What a caller is told: a fault of the closed set as it stands, anything else masked and logged. One function for HTTP,
 * WebSocket and SSE. Production keeps the names of its schema to itself.
 */
export function createMask(production: boolean, log: Log): Mask {
  const tell = (text: string) => redactText(production ? text.replace(/ ?Did you mean [^?]*\?/g, '') : text);
  return (error, requestId) => {
    const graphqlError = error instanceof GraphQLError ? error : undefined;
    const { locations, path } = graphqlError?.toJSON() ?? {};
    const where = { ...(locations ? { locations } : {}), ...(path ? { path } : {}) };
    const cause = rootCause(error);
    if (cause instanceof GatewayError) {
      // What the caller need not know, whoever runs this must: expired credentials and a dead store look the same from outside.
      if (cause.cause instanceof Error) log.warn({ requestId, code: cause.code, cause: `${cause.cause.name}: ${cause.cause.message}` }, cause.message);
      const issues = cause.extensions.issues as readonly Issue[] | undefined;
      const told = issues ? { issues: issues.map(({ path, message }) => ({ path: tell(path), message: tell(message) })) } : {};
      return { message: tell(cause.message), ...where, extensions: { ...cause.extensions, ...told, code: cause.code, requestId } };
    }
    const code = graphqlError && codeOf(graphqlError);
    if (graphqlError && code) {
      const message = tell(graphqlError.message);
      const issues = code === 'BAD_USER_INPUT' ? { issues: [{ path: inputPath(message), message }] } : {};
      return { message, ...where, extensions: { code, ...issues, requestId } };
    }
    log.error({ requestId, err: cause }, 'unexpected error');
    return {
      message: 'something went wrong on our side; the log has it under this request id',
      ...where,
      extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
    };
  };
}

function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function codeOf(error: GraphQLError): string | undefined {
  const code = error.extensions.code;
  if (typeof code === 'string' && Object.hasOwn(knownCodes, code)) return knownCodes[code];
  if (typeof code === 'string' && (errorCodes as readonly string[]).includes(code) && code !== 'INTERNAL_SERVER_ERROR') return code;
  // Variables that do not fit, where no Apollo has said so: graphql-js points at the definition of the variable.
  return !error.path && error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION ? 'BAD_USER_INPUT' : undefined;
}

const statuses: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_SERVER_ERROR: 500,
};

/** The status that says best what was refused before it was executed. */
export const statusOf = (code: string): number => statuses[code] ?? 400;

/** Where in the variables graphql-js found the fault: `… at "input.timezone"; …`. */
const inputPath = (message: string): string => / at "([^"]+)"/.exec(message)?.[1] ?? /Variable "\$([^"]+)"/.exec(message)?.[1] ?? 'query';

/** What a refusal says in headers: when to come back, and which bound was hit (the IETF draft's RateLimit fields). */
export function limitHeaders({ code, retryAfterSecs, policy }: Readonly<Record<string, unknown>>): Record<string, string> {
  if (code === 'SERVICE_UNAVAILABLE' && retryAfterSecs !== undefined) return { 'retry-after': String(retryAfterSecs) };
  if (code !== 'RATE_LIMITED') return {};
  const { name, quota, windowSecs } = policy as RatePolicy;
  return { 'retry-after': String(retryAfterSecs), ratelimit: `"${name}";r=0;t=${retryAfterSecs}`, 'ratelimit-policy': `"${name}";q=${quota};w=${windowSecs}` };
}

/** The same for a refusal by the limiter: the limit that takes longest. The next whole second, so that nobody comes too early. */
export function refusalHeaders({ retryAfterSecs, violations }: Refusal): Record<string, string> {
  const longest = violations.reduce<LimitStatus | undefined>((a, b) => (a && a.retryAfterSecs >= b.retryAfterSecs ? a : b), undefined);
  if (!longest) return {};
  const { limit, available } = longest;
  const secs = Math.min(Math.floor(retryAfterSecs) + 1, 2 ** 31);
  return {
    'retry-after': String(secs),
    ratelimit: `"${limit.name}";r=${Math.max(0, available)};t=${secs}`,
    'ratelimit-policy': `"${limit.name}";q=${limit.refillAmount};w=${limit.refillPeriodSecs}`,
  };
}
