import type { Clock } from './clock.js';
import * as documents from './documents.js';
import type { Operation } from './transport.js';
import type { Credentials } from './types.js';

/** The header that proves who calls. `token` is set if the gateway may refuse it and a new one may help. */
export interface Credential {
  readonly headers: Record<string, string>;
  readonly token?: string;
}

export interface AuthDeps {
  readonly credentials: Credentials | undefined;
  readonly clock: Clock;
  send<T>(operation: Operation): Promise<T>;
}

interface Login {
  readonly token: string;
  readonly expiresAtMs: number;
  renewAtMs: number;
}

/** A new login is made at this share of the life of the token, so that no request has to wait for it. */
const renewShare = 0.8;
const failedRenewalWaitMs = 10_000;

const anonymous: Credential = { headers: {} };

/** One login at a time. Secrets are private fields, which no log or inspection prints. */
export class Auth {
  readonly #deps: AuthDeps;
  #login: Login | undefined;
  #pending: Promise<Login> | undefined;
  #rejected: string | undefined;

  constructor(deps: AuthDeps) {
    this.#deps = deps;
  }

  async current(): Promise<Credential> {
    const { credentials } = this.#deps;
    if (!credentials) return anonymous;
    if ('apiKey' in credentials) return { headers: { 'x-api-key': credentials.apiKey } };
    if ('adminKey' in credentials) return { headers: { 'x-admin-key': credentials.adminKey } };
    const token = 'token' in credentials ? await credentials.token(this.#rejected) : await this.#token();
    return { headers: { authorization: `Bearer ${token}` }, token };
  }

  /** The gateway refused this credential. True if another one may be accepted. */
  reject({ token }: Credential): boolean {
    if (token === undefined) return false;
    this.#rejected = token;
    if (this.#login?.token === token) this.#login = undefined;
    return true;
  }

  async #token(): Promise<string> {
    const login = this.#login;
    const nowMs = this.#deps.clock.nowMs();
    if (!login || nowMs >= login.expiresAtMs) return (await this.#logIn()).token;
    if (nowMs >= login.renewAtMs) {
      login.renewAtMs = nowMs + failedRenewalWaitMs;
      this.#logIn().catch(() => undefined); // The old token is still valid, and a later request tries again.
    }
    return login.token;
  }

  #logIn(): Promise<Login> {
    this.#pending ??= this.#issue().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #issue(): Promise<Login> {
    const { clock, credentials, send } = this.#deps;
    const { clientId, clientSecret } = credentials as Extract<Credentials, { readonly clientId: string }>;
    const startedMs = clock.nowMs();
    const { issueToken } = await send<{ readonly issueToken: { accessToken: string; expiresInSecs: number } }>({
      document: documents.login,
      variables: { input: { clientId, clientSecret } },
      credential: anonymous,
    });
    const lifeMs = issueToken.expiresInSecs * 1000;
    this.#login = {
      token: issueToken.accessToken,
      renewAtMs: startedMs + lifeMs * renewShare,
      expiresAtMs: startedMs + lifeMs,
    };
    return this.#login;
  }
}
