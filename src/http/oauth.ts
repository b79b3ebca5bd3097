import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import { GatewayError } from '../lib/errors.js';
import type { Units } from '../lib/units.js';
import type { PrincipalLimiter } from '../load/principal-limiter.js';
import { limitHeaders } from './limit-headers.js';
import { OAuthError, parseForm, presentedClient } from './oauth-form.js';
import { issueToken, type OAuthCall, type OAuthCaller, revokeToken } from './oauth-grants.js';
import { serverMetadata } from './oauth-metadata.js';
import { addressOf, HttpRefusal, hungUp, readBody, requestIdOf } from './request.js';
import { type Route, requireGet, requirePost } from './route.js';

interface OAuthResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
  /** `ok`, or the error. */
  readonly outcome: string;
}

interface OAuthEndpoint {
  readonly services: Services;
  readonly principals: PrincipalLimiter;
  /** The name in logs and metrics. */
  readonly operation: string;
  readonly handle: (services: Services, call: OAuthCall) => Promise<object>;
}

/**
 * OAuth 2 for standard clients: RFC 6749 (client_credentials, refresh_token), RFC 7009 and RFC 8414. The services are
 * the same as those of GraphQL.
 */
export function oauthRoutes(services: Services, principals: PrincipalLimiter): Readonly<Record<string, Route>> {
  const endpoint =
    (operation: string, handle: OAuthEndpoint['handle']): Route =>
    (request, response) =>
      serve({ services, principals, operation, handle }, request, response);
  return {
    '/oauth/token': endpoint('oauthToken', issueToken),
    '/oauth/revoke': endpoint('oauthRevoke', revokeToken),
    '/.well-known/oauth-authorization-server': (request, response) => {
      requireGet(request);
      const body = JSON.stringify(serverMetadata(request, services.config));
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? '' : body);
    },
  };
}

/** Responds to a request, and writes its log line and metrics. */
async function serve(endpoint: OAuthEndpoint, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { services, operation } = endpoint;
  const { config, store, clock, metrics, log } = services;
  const startedMs = clock.monotonicMs();
  const address = addressOf(request, config.trustProxy);
  const requestId = requestIdOf(request.headers);
  const caller: OAuthCaller = { origin: { address, requestId, via: 'oauth' } };
  const units: Units = { read: 0, write: 0, calls: 0 };
  const reply = await store.metered(units, () => execute(endpoint, request, caller));
  if (!reply) return;
  const { status, headers, body, outcome } = reply;
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
    'x-request-id': requestId,
    ...headers,
  });
  response.end(JSON.stringify(body));
  const ms = Math.round((clock.monotonicMs() - startedMs) * 10) / 10;
  metrics.requests.inc({ operation, outcome });
  metrics.requestSeconds.observe({ operation }, ms / 1000);
  const principal = caller.clientId ?? `address ${address}`;
  const { read, write, calls } = units;
  log.info({ requestId, operation, principal, ms, read, write, calls, outcome }, 'request');
}

/** Undefined if the caller closed the connection before it had sent its request. */
async function execute(
  { services, principals, handle }: OAuthEndpoint,
  request: IncomingMessage,
  caller: OAuthCaller,
): Promise<OAuthResponse | undefined> {
  const { address, requestId } = caller.origin;
  let release: (() => void) | undefined;
  try {
    release = principals.admit(`address ${address}`);
    requirePost(request);
    const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded')
      throw new HttpRefusal(415, 'send a form: content-type application/x-www-form-urlencoded');
    const form = parseForm(await readBody(request));
    const call: OAuthCall = { form, client: presentedClient(request, form), caller };
    return { status: 200, body: await handle(services, call), outcome: 'ok' };
  } catch (error) {
    return hungUp(request, error) ? undefined : errorResponse(error, services, requestId);
  } finally {
    release?.();
  }
}

function errorResponse(error: unknown, { log }: Services, requestId: string): OAuthResponse {
  const respond = (
    status: number,
    name: string,
    description: string,
    headers: Readonly<Record<string, string>> = {},
  ): OAuthResponse => ({
    status,
    headers,
    // RFC 6749 5.2 allows printable ASCII without the quotation mark and the backslash.
    body: {
      error: name,
      error_description: description.slice(0, 300).replace(/[^ !#-[\]-~]/g, "'"),
      request_id: requestId,
    },
    outcome: name,
  });
  if (error instanceof OAuthError) return respond(error.status, error.error, error.message, error.headers);
  if (error instanceof HttpRefusal) return respond(error.status, 'invalid_request', error.message, error.headers);
  if (error instanceof GatewayError && error.code === 'RATE_LIMITED')
    return respond(429, 'temporarily_unavailable', error.message, limitHeaders(error.extensions));
  if (error instanceof GatewayError && error.code === 'SERVICE_UNAVAILABLE') {
    const headers = { 'retry-after': '1', ...limitHeaders(error.extensions) };
    return respond(503, 'temporarily_unavailable', error.message, headers);
  }
  log.error({ requestId, err: error }, 'unexpected error');
  return respond(500, 'server_error', 'an internal error occurred; the log has the details under this request id');
}
