import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import { parseClientId } from '../identity/client-id.js';
import type { Login } from '../identity/session.service.js';
import { clientViewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import { limitHeaders } from './errors.js';
import { addressOf, HttpRefusal, readBody, requestIdOf } from './request.js';

/** Errors as RFC 6749 names them. */
class OAuthError extends Error {
  constructor(
    readonly error: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type',
    description: string,
  ) {
    super(description);
  }
}

interface OAuthRequest {
  readonly form: URLSearchParams;
  readonly client: { readonly clientId: string; readonly clientSecret: string } | undefined;
  readonly address: string;
}

/** POST /oauth/token: client_credentials and refresh_token (RFC 6749), from the same service as `issueToken`. */
export async function handleToken({ sessions }: Services, { form, client, address }: OAuthRequest): Promise<object> {
  const grant = form.get('grant_type');
  if (grant === 'client_credentials') {
    const pair = await sessions.issue(await logIn(sessions, client, address));
    return tokenResponse(pair);
  }
  if (grant === 'refresh_token') {
    const token = form.get('refresh_token');
    if (!token) throw new OAuthError('invalid_request', 'refresh_token is missing');
    try {
      return tokenResponse(await sessions.refresh(token, address, client ? (await logIn(sessions, client, address)).clientId : undefined));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'UNAUTHENTICATED') throw new OAuthError('invalid_grant', error.message);
      throw error;
    }
  }
  throw new OAuthError(grant ? 'unsupported_grant_type' : 'invalid_request', 'grant_type must be client_credentials or refresh_token');
}

/** POST /oauth/revoke (RFC 7009): the client proves who it is and ends a token of its own; unknown ones are ended already. */
export async function handleRevoke({ sessions }: Services, { form, client, address }: OAuthRequest): Promise<object> {
  const { clientId, generation } = await logIn(sessions, client, address);
  const token = form.get('token');
  if (!token) throw new OAuthError('invalid_request', 'token is missing');
  const ref = parseClientId(clientId) as NonNullable<ReturnType<typeof parseClientId>>;
  await sessions.revoke(clientViewer({ clientId, ...ref, tokenId: '', family: '', generation, expiresAtMs: 0 }), token);
  return {};
}

type Handler = (services: Services, request: OAuthRequest) => Promise<object>;

/** Reads the form, runs the handler, and answers in OAuth's own words. */
export async function answerOAuth(services: Services, handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const requestId = requestIdOf(request.headers);
  const { status, headers, body } = await run(services, handler, request, requestId);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
    'x-request-id': requestId,
    ...headers,
  });
  response.end(JSON.stringify(body));
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: object;
}

async function run(services: Services, handler: Handler, request: IncomingMessage, requestId: string): Promise<Answer> {
  try {
    if (request.method !== 'POST') throw new HttpRefusal(405, 'use POST', { allow: 'POST' });
    if ((request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
      throw new HttpRefusal(415, 'send a form: content-type application/x-www-form-urlencoded');
    }
    const form = new URLSearchParams(await readBody(request));
    return {
      status: 200,
      body: await handler(services, { form, client: presentedClient(request, form), address: addressOf(request, services.config.trustProxy) }),
    };
  } catch (error) {
    return told(error, services, requestId);
  }
}

function told(error: unknown, { log }: Services, requestId: string): Answer {
  const say = (status: number, name: string, description: string, headers: Record<string, string> = {}): Answer => ({
    status,
    headers,
    body: { error: name, error_description: description, request_id: requestId },
  });
  if (error instanceof OAuthError)
    return say(
      error.error === 'invalid_client' ? 401 : 400,
      error.error,
      error.message,
      error.error === 'invalid_client' ? { 'www-authenticate': 'Basic realm="tollgate"' } : {},
    );
  if (error instanceof HttpRefusal) return say(error.status, 'invalid_request', error.message, { ...error.headers });
  if (error instanceof GatewayError && error.code === 'RATE_LIMITED') return say(429, 'slow_down', error.message, limitHeaders(error.extensions));
  if (error instanceof GatewayError && error.code === 'SERVICE_UNAVAILABLE') return say(503, 'temporarily_unavailable', error.message);
  log.error({ requestId, err: error }, 'unexpected error');
  return say(500, 'server_error', 'something went wrong on our side; the log has it under this request id');
}

async function logIn(sessions: Services['sessions'], client: OAuthRequest['client'], address: string): Promise<Login> {
  if (!client) throw new OAuthError('invalid_client', 'send the client id and secret, as HTTP Basic or in the form');
  try {
    return await sessions.logIn(client.clientId, client.clientSecret, address);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'UNAUTHENTICATED') throw new OAuthError('invalid_client', error.message);
    throw error;
  }
}

function presentedClient(request: IncomingMessage, form: URLSearchParams): OAuthRequest['client'] {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const inForm = form.get('client_secret');
  if (encoded && inForm) throw new OAuthError('invalid_request', 'send one credential, not several');
  if (encoded) {
    const text = Buffer.from(encoded, 'base64').toString();
    const colon = text.indexOf(':');
    const decode = (part: string) => {
      try {
        return decodeURIComponent(part.replaceAll('+', ' '));
      } catch {
        throw new OAuthError('invalid_client', 'the Basic credentials are not form-encoded');
      }
    };
    return colon < 0 ? undefined : { clientId: decode(text.slice(0, colon)), clientSecret: decode(text.slice(colon + 1)) };
  }
  return inForm ? { clientId: form.get('client_id') ?? '', clientSecret: inForm } : undefined;
}

const tokenResponse = ({
  accessToken,
  refreshToken,
  tokenType,
  expiresInSecs,
  refreshExpiresInSecs,
}: Awaited<ReturnType<Services['sessions']['issue']>>): object => ({
  access_token: accessToken,
  token_type: tokenType,
  expires_in: expiresInSecs,
  refresh_token: refreshToken,
  refresh_expires_in: refreshExpiresInSecs,
});
