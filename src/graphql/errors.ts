import { GraphQLError, type GraphQLFormattedError, Kind } from 'graphql';
import { errorCodes, GatewayError, type Issue } from '../lib/errors.js';
import { type Log, redactText } from '../lib/log.js';
import { bounds } from './bounds.js';

/** Codes of graphql-js and Apollo, with the codes that callers see instead. */
const publicCodes: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'GRAPHQL_PARSE_FAILED',
  GRAPHQL_VALIDATION_FAILED: 'GRAPHQL_VALIDATION_FAILED',
  BAD_USER_INPUT: 'BAD_USER_INPUT',
  BAD_REQUEST: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
};

export interface PublicError extends GraphQLFormattedError {
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** Turns any error into one that the caller may see. */
export type Mask = (error: unknown, requestId: string) => PublicError;

const maxMessageChars = 300;
const maxIssues = 20;
const maxListItems = 50;
const maxErrors = 20;

/**
 * Builds every error that leaves the process, for every transport. Errors with a public code are shown as they are. All
 * others are logged and replaced by INTERNAL_SERVER_ERROR. Texts are truncated before a regular expression runs over
 * them, because they contain input of the caller.
 */
export function createMask(log: Log): Mask {
  return (error, requestId) => {
    const graphqlError = error instanceof GraphQLError ? error : undefined;
    const position = positionOf(graphqlError);
    const cause = rootCause(error);
    if (cause instanceof GatewayError) {
      // Operators need the cause: to callers, expired AWS credentials and an outage of DynamoDB look the same.
      if (cause.cause instanceof Error)
        log.warn({ requestId, code: cause.code, cause: `${cause.cause.name}: ${cause.cause.message}` }, cause.message);
      return {
        message: publicText(cause.message),
        ...position,
        extensions: { ...truncated(cause.extensions), code: cause.code, requestId },
      };
    }
    const code = graphqlError && codeOf(graphqlError);
    if (graphqlError && code) {
      const { path, message } =
        code === 'BAD_USER_INPUT'
          ? inputIssue(graphqlError)
          : { path: 'query', message: publicText(graphqlError.message) };
      const issues = code === 'BAD_USER_INPUT' ? { issues: [{ path, message }] } : {};
      return {
        message: issues.issues ? publicText(`${path}: ${message}`) : message,
        ...position,
        extensions: { code, ...issues, requestId },
      };
    }
    log.error({ requestId, err: cause }, 'unexpected error');
    return {
      message: 'an internal error occurred; the log has the details under this request id',
      ...position,
      extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
    };
  };
}

/**
 * A text for an error message. It is truncated first, because `redactText` must never run over the whole input of a
 * caller.
 */
function publicText(text: string): string {
  return redactText(text.length > maxMessageChars ? `${text.slice(0, maxMessageChars - 1)}…` : text);
}

function positionOf(error: GraphQLError | undefined): Pick<PublicError, 'locations' | 'path'> {
  const { locations, path } = error ?? {};
  return {
    ...(locations ? { locations: locations.slice(0, maxIssues) } : {}),
    ...(path ? { path: path.map((step) => (typeof step === 'string' ? step.slice(0, maxMessageChars) : step)) } : {}),
  };
}

function truncated({ issues, ...others }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const publicIssues = (issues as readonly Issue[] | undefined)
    ?.slice(0, maxIssues)
    .map(({ path, message }) => ({ path: publicText(path), message: publicText(message) }));
  const short = (value: unknown): unknown =>
    typeof value === 'string'
      ? publicText(value)
      : Array.isArray(value)
        ? value.slice(0, maxListItems).map(short)
        : value;
  return {
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, short(value)])),
    ...(publicIssues ? { issues: publicIssues } : {}),
  };
}

export interface PublicErrors {
  readonly errors: readonly PublicError[];
  readonly extensions?: { readonly errorsOmitted: number };
}

/** The errors that fit into the size of an error response, and the number of those that do not. */
export function boundedErrors(all: readonly unknown[], mask: (error: unknown) => PublicError): PublicErrors {
  const errors: PublicError[] = [];
  let bytes = 0;
  for (const error of all.slice(0, maxErrors)) {
    const masked = mask(error);
    bytes += Buffer.byteLength(JSON.stringify(masked)) + 1;
    if (bytes > bounds.errorBytes - 100 && errors.length > 0) break;
    errors.push(masked);
  }
  const errorsOmitted = all.length - errors.length;
  return errorsOmitted > 0 ? { errors, extensions: { errorsOmitted } } : { errors };
}

/**
 * The issue with a variable, without its value. graphql-js writes `Variable "$input" got invalid value <value> at
 * "input.name"; <reason>`, and the reason often repeats the value after a colon.
 */
function inputIssue(error: GraphQLError): Issue {
  const variable = error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION ? error.nodes[0].variable.name.value : undefined;
  if (error.message.startsWith(tooManyErrors))
    return { path: 'variables', message: 'there are more errors than listed' };
  if (variable === undefined) return { path: 'query', message: publicText(error.message) };
  const reason = error.originalError?.message;
  if (reason === undefined) return { path: publicText(variable), message: publicText(requirement(error.message)) };
  const prefix = error.message.slice(0, -reason.length);
  const at = prefix.lastIndexOf(' at "');
  const path = at < 0 ? variable : prefix.slice(at + ' at "'.length, prefix.lastIndexOf('"'));
  return { path: publicText(path), message: publicText(withoutValue(reason)) };
}

const tooManyErrors = 'Too many errors processing variables';

/** `Variable "$x" of required type "T!" was not provided.`, `… of non-null type "T!" must not be null.` */
function requirement(message: string): string {
  const at = message.indexOf(' of ');
  return at < 0 ? 'is not valid' : message.slice(at + 1);
}

/** A reason that graphql-js gives, without the invalid value. */
export function withoutValue(reason: string): string {
  const enumAt = reason.startsWith('Value "') ? reason.indexOf('" does not exist in ') : -1;
  if (enumAt >= 0) return `is not a value of ${reason.slice(enumAt + '" does not exist in '.length)}`;
  const colon = reason.indexOf(': ');
  return colon < 0 ? reason : reason.slice(0, colon);
}

function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function codeOf(error: GraphQLError): string | undefined {
  const code = error.extensions.code;
  if (typeof code === 'string' && Object.hasOwn(publicCodes, code)) return publicCodes[code];
  if (typeof code === 'string' && (errorCodes as readonly string[]).includes(code) && code !== 'INTERNAL_SERVER_ERROR')
    return code;
  // Invalid variables: graphql-js points at the definition of the variable, or says that there are too many errors.
  const isVariable = error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION || error.message.startsWith(tooManyErrors);
  return !error.path && isVariable ? 'BAD_USER_INPUT' : undefined;
}

const statuses: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  IDEMPOTENCY_CONFLICT: 409,
  VERSION_CONFLICT: 409,
  LEASE_EXPIRED: 410,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_SERVER_ERROR: 500,
  // Apollo clients look for this code only in a response with status 200.
  PERSISTED_QUERY_NOT_SUPPORTED: 200,
};

/** The HTTP status of an operation that was refused before it was executed. */
export const statusOf = (code: string): number => statuses[code] ?? 400;
