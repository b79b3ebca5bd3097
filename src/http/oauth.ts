import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import { type ClientRef, parseClientId } from '../identity/client-id.js';
import type { Login, LoginOrigin, PresentedSecret } from '../identity/login.service.js';
import { clientViewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import type { Units } from '../lib/units.js';
import type { PrincipalLimiter } from '../load/principal-limiter.js';
import { limitHeaders } from './limit-headers.js';
import { type Form, OAuthError, type OAuthErrorName, parseForm, presentedClient } from './oauth-form.js';
import { serverMetadata } from './oauth-metadata.js';
import { addressOf, HttpRefusal, hungUp, readBody, requestIdOf } from './request.js';

interface OAuthCall {
  readonly form: Form;
  readonly client: PresentedSecret | undefined;
  readonly from: LoginOrigin;
  /** Set once the client has proved its secret. */
  clientId?: string;
}

type Handler = (services: Services, call: OAuthCall) => Promise<object>;

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
  /** The error, or `ok`. */
  readonly outcome: string;
}

export interface OAuth {
  token(request: IncomingMessage, response: ServerResponse): Promise<void>;
  revoke(request: IncomingMessage, response: ServerResponse): Promise<void>;
  metadata(request: IncomingMessage, response: ServerResponse): void;
}

/** OAuth 2 for standard clients: RFC 6749 (client_credentials, refresh_token), RFC 7009 and RFC 8414, from the same services as GraphQL. */
export function createOAuth(services: Services, principals: PrincipalLimiter): OAuth {
  const answer = (operation: string, handler: Handler) => (request: IncomingMessage, response: ServerResponse) =>
    answerOAuth({ services, principals, operation, handler }, request, response);
  return {
    token: answer('oauthToken', handleToken),
    revoke: answer('oauthRevoke', handleRevoke),
    metadata(request, response) {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new HttpRefusal(405, 'use GET', { allow: 'GET, HEAD' });
      const body = JSON.stringify(serverMetadata(request, services.config));
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? '' : body);
    },
  };
}

/** POST /oauth/token. client_credentials gives no refresh token (RFC 6749 4.4.3); refresh_token needs the client it belongs to (section 6). */
async function handleToken(services: Services, call: OAuthCall): Promise<object> {
  const { form, from } = call;
  const grant = form.get('grant_type');
  if (!grant)
    throw new OAuthError('invalid_request', 'grant_type is missing: send client_credentials or refresh_token');
  if (grant !== 'client_credentials' && grant !== 'refresh_token') {
    throw new OAuthError('unsupported_grant_type', 'grant_type must be client_credentials or refresh_token');
  }
  const refreshToken = form.get('refresh_token');
  if (grant === 'refresh_token' && !refreshToken) throw new OAuthError('invalid_request', 'refresh_token is missing');
  if (form.has('scope')) throw new OAuthError('invalid_scope', 'there are no scopes to ask for: leave scope out');
  const login = await logIn(services, call);
  if (!refreshToken || grant === 'client_credentials') {
    const { accessToken, tokenType, expiresInSecs } = await services.sessions.issueAccess(login);
    return { access_token: accessToken, token_type: tokenType, expires_in: expiresInSecs };
  }
  const pair = await failingAs('invalid_grant', () => services.sessions.refresh(refreshToken, from, login.clientId));
  return {
    access_token: pair.accessToken,
    token_type: pair.tokenType,
    expires_in: pair.expiresInSecs,
    refresh_token: pair.refreshToken,
    refresh_expires_in: pair.refreshExpiresInSecs,
  };
}

/** POST /oauth/revoke: the client ends a token of its own. Unknown tokens count as ended. */
async function handleRevoke(services: Services, call: OAuthCall): Promise<object> {
  const { clientId, role, generation } = await logIn(services, call);
  const token = call.form.get('token');
  if (!token) throw new OAuthError('invalid_request', 'token is missing');
  const ref = parseClientId(clientId) as ClientRef;
  const viewer = clientViewer({ clientId, ...ref, role, tokenId: '', family: '', generation, expiresAtMs: 0 });
  const { address, requestId } = call.from;
  await services.sessions.revoke(viewer, token, { name: clientId, address, requestId });
  return {};
}

async function logIn({ logins }: Services, call: OAuthCall): Promise<Login> {
  const { client, from } = call;
  if (!client) throw new OAuthError('invalid_client', 'send the client id and secret, as HTTP Basic or in the form');
  const login = await failingAs('invalid_client', () => logins.logIn(client, from));
  call.clientId = login.clientId;
  return login;
}

/** A failed credential in the words of OAuth. Past the bound of failures it is still the same error, with status 429 and when to retry. */
async function failingAs<T>(name: OAuthErrorName, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'UNAUTHENTICATED') throw new OAuthError(name, error.message);
    if (error.code === 'RATE_LIMITED') throw new OAuthError(name, error.message, 429, limitHeaders(error.extensions));
    if (error.code === 'FORBIDDEN') throw new OAuthError('unauthorized_client', error.message);
    throw error;
  }
}

interface OAuthRoute {
  readonly services: Services;
  readonly principals: PrincipalLimiter;
  readonly operation: string;
  readonly handler: Handler;
}

/** Reads the form, runs the handler, answers in the words of OAuth, and writes one line to the log. */
async function answerOAuth(route: OAuthRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { services, operation } = route;
  const { config, store, clock, metrics, log } = services;
  const startedMs = clock.monotonicMs();
  const from: LoginOrigin = {
    address: addressOf(request, config.trustProxy),
    requestId: requestIdOf(request.headers),
    via: 'oauth',
  };
  const units: Units = { read: 0, write: 0, calls: 0 };
  const call: { of?: OAuthCall } = {};
  const answer = await store.metered(units, () => run(route, request, from, call));
  if (!answer) return;
  const { status, headers, body, outcome } = answer;
  const { requestId, address } = from;
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
  const principal = call.of?.clientId ?? `address ${address}`;
  log.info(
    { requestId, operation, principal, ms, read: units.read, write: units.write, calls: units.calls, outcome },
    'request',
  );
}

/** Undefined: the caller hung up before it had sent its request. */
async function run(
  route: OAuthRoute,
  request: IncomingMessage,
  from: LoginOrigin,
  call: { of?: OAuthCall },
): Promise<Answer | undefined> {
  const { services, principals, handler } = route;
  let release: (() => void) | undefined;
  try {
    release = principals.admit(`address ${from.address}`);
    if (request.method !== 'POST') throw new HttpRefusal(405, 'use POST', { allow: 'POST' });
    if (
      (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() !==
      'application/x-www-form-urlencoded'
    ) {
      throw new HttpRefusal(415, 'send a form: content-type application/x-www-form-urlencoded');
    }
    const form = parseForm(await readBody(request));
    call.of = { form, client: presentedClient(request, form), from };
    return { status: 200, body: await handler(services, call.of), outcome: 'ok' };
  } catch (error) {
    return hungUp(request, error) ? undefined : told(error, services, from.requestId);
  } finally {
    release?.();
  }
}

function told(error: unknown, { log }: Services, requestId: string): Answer {
  const say = (
    status: number,
    name: string,
    description: string,
    headers: Readonly<Record<string, string>> = {},
  ): Answer => ({
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
  if (error instanceof OAuthError) return say(error.status, error.error, error.message, error.headers);
  if (error instanceof HttpRefusal) return say(error.status, 'invalid_request', error.message, error.headers);
  if (error instanceof GatewayError && error.code === 'RATE_LIMITED')
    return say(429, 'temporarily_unavailable', error.message, limitHeaders(error.extensions));
  if (error instanceof GatewayError && error.code === 'SERVICE_UNAVAILABLE')
    return say(503, 'temporarily_unavailable', error.message, {
      'retry-after': '1',
      ...limitHeaders(error.extensions),
    });
  log.error({ requestId, err: error }, 'unexpected error');
  return say(500, 'server_error', 'an unexpected error occurred; the log has it under this request id');
}
