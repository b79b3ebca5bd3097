import type { IncomingMessage } from 'node:http';
import type { PresentedSecret } from '../identity/login.service.js';

/** The errors of RFC 6749 5.2. */
export type OAuthErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

const basicChallenge = { 'www-authenticate': 'Basic realm="tollgate", charset="UTF-8"' };

export class OAuthError extends Error {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly error: OAuthErrorName,
    description: string,
    readonly status = error === 'invalid_client' ? 401 : 400,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(description);
    this.headers = status === 401 ? { ...basicChallenge, ...headers } : headers;
  }
}

export type Form = ReadonlyMap<string, string>;

/** RFC 6749 3.2: parameters must not be repeated, and a parameter without a value counts as omitted. */
export function parseForm(body: string): Form {
  const seen = new Set<string>();
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body)) {
    if (seen.has(name)) throw new OAuthError('invalid_request', 'a parameter is repeated: send each one once');
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** The client credentials of a request, from HTTP Basic or from the form; undefined if there are none. */
export function presentedClient(
  { headers, headersDistinct }: IncomingMessage,
  form: Form,
): PresentedSecret | undefined {
  const { authorization } = headers;
  const clientId = form.get('client_id');
  const clientSecret = form.get('client_secret');
  if (authorization === undefined)
    return clientSecret === undefined ? undefined : { clientId: clientId ?? '', clientSecret };
  if (clientSecret !== undefined || (headersDistinct.authorization?.length ?? 0) > 1) {
    throw new OAuthError('invalid_request', 'send the credentials once: as HTTP Basic or in the form');
  }
  const client = fromBasic(authorization);
  if (clientId !== undefined && clientId !== client.clientId) {
    throw new OAuthError('invalid_request', 'client_id must be the client of the authorization header, or be omitted');
  }
  return client;
}

function fromBasic(authorization: string): PresentedSecret {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization) ?? [];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0)
    throw new OAuthError('invalid_client', 'the authorization header must be Basic with client id and secret');
  return { clientId: decoded(text.slice(0, colon)), clientSecret: decoded(text.slice(colon + 1)) };
}

/** RFC 6749 2.3.1: id and secret are form-encoded in the header. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw new OAuthError('invalid_client', 'the Basic credentials are not form-encoded');
  }
}
