import type { Services } from '../app.js';
import { type ClientRef, parseClientId } from '../identity/client-id.js';
import type { Login, LoginOrigin, PresentedSecret } from '../identity/login.service.js';
import { clientViewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import { limitHeaders } from './limit-headers.js';
import { type Form, OAuthError, type OAuthErrorName } from './oauth-form.js';

/** The caller of an OAuth endpoint. */
export interface OAuthCaller {
  readonly origin: LoginOrigin;
  /** Set once the client has proved its secret. */
  clientId?: string;
}

export interface OAuthCall {
  readonly form: Form;
  readonly client: PresentedSecret | undefined;
  readonly caller: OAuthCaller;
}

/**
 * POST /oauth/token. client_credentials returns no refresh token (RFC 6749 4.4.3). refresh_token needs the client that
 * the token belongs to (section 6).
 */
export async function issueToken(services: Services, call: OAuthCall): Promise<object> {
  const { form, caller } = call;
  const grant = form.get('grant_type');
  if (!grant)
    throw new OAuthError('invalid_request', 'grant_type is missing: send client_credentials or refresh_token');
  if (grant !== 'client_credentials' && grant !== 'refresh_token')
    throw new OAuthError('unsupported_grant_type', 'grant_type must be client_credentials or refresh_token');
  const refreshToken = form.get('refresh_token');
  if (grant === 'refresh_token' && !refreshToken) throw new OAuthError('invalid_request', 'refresh_token is missing');
  if (form.has('scope')) throw new OAuthError('invalid_scope', 'scopes are not supported: omit scope');
  const login = await logIn(services, call);
  if (!refreshToken || grant === 'client_credentials') {
    const { accessToken, tokenType, expiresInSecs } = await services.sessions.issueAccess(login);
    return { access_token: accessToken, token_type: tokenType, expires_in: expiresInSecs };
  }
  const pair = await failingAs('invalid_grant', () =>
    services.sessions.refresh(refreshToken, caller.origin, login.clientId),
  );
  return {
    access_token: pair.accessToken,
    token_type: pair.tokenType,
    expires_in: pair.expiresInSecs,
    refresh_token: pair.refreshToken,
    refresh_expires_in: pair.refreshExpiresInSecs,
  };
}

/** POST /oauth/revoke: the client revokes a token of its own. Revoking an unknown token succeeds (RFC 7009). */
export async function revokeToken(services: Services, call: OAuthCall): Promise<object> {
  const { clientId, role, generation } = await logIn(services, call);
  const token = call.form.get('token');
  if (!token) throw new OAuthError('invalid_request', 'token is missing');
  const ref = parseClientId(clientId) as ClientRef;
  const viewer = clientViewer({ clientId, ...ref, role, tokenId: '', family: '', generation, expiresAtMs: 0 });
  const { address, requestId } = call.caller.origin;
  await services.sessions.revoke(viewer, token, { name: clientId, address, requestId });
  return {};
}

async function logIn({ logins }: Services, { client, caller }: OAuthCall): Promise<Login> {
  if (!client) throw new OAuthError('invalid_client', 'send the client id and secret, as HTTP Basic or in the form');
  const login = await failingAs('invalid_client', () => logins.logIn(client, caller.origin));
  caller.clientId = login.clientId;
  return login;
}

/**
 * Turns the error of a failed credential into an OAuth error. Above the limit of failures it is the same error with
 * status 429 and the time to retry.
 */
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
