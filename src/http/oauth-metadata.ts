import type { IncomingMessage } from 'node:http';
import type { Services } from '../app.js';
import { HttpRefusal } from './request.js';

type IssuerConfig = Pick<Services['config'], 'publicUrl' | 'trustProxy'>;

const authMethods = ['client_secret_basic', 'client_secret_post'];

/** RFC 8414. Clients compare the issuer with the URL that they have requested. */
export function serverMetadata(request: IncomingMessage, config: IssuerConfig): object {
  const issuer = config.publicUrl ?? originOf(request, config.trustProxy);
  return {
    issuer,
    token_endpoint: `${issuer}/oauth/token`,
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: authMethods,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials', 'refresh_token'],
    // The field is required. It is empty because there is no authorization endpoint.
    response_types_supported: [],
  };
}

const host = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The origin of this gateway as the caller sees it. A caller that forges its host deceives only itself. */
export function originOf({ headers }: IncomingMessage, trustProxy: boolean): string {
  const forwarded = (name: string): string | undefined => {
    const value = trustProxy ? headers[name] : undefined;
    return typeof value === 'string' ? value.split(',').at(-1)?.trim() : undefined;
  };
  const name = forwarded('x-forwarded-host') ?? headers.host ?? '';
  if (!host.test(name)) throw new HttpRefusal(400, 'the host header is not valid');
  return `${forwarded('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${name.toLowerCase()}`;
}
