import { randomBytes, randomUUID } from 'node:crypto';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { newSigningKeys } from '../../src/identity/token.js';
import { type Client, newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { signingKeys: [...(await newSigningKeys()), ...(await newSigningKeys())] } });
});
afterAll(() => app.stop());

interface OAuthAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, string | number>>;
}
type Secret = Pick<Client, 'clientId' | 'clientSecret'>;
type Fields = Record<string, string>;

async function post(path: string, fields: Fields, headers: Fields = {}, at: TestApp = app): Promise<OAuthAnswer> {
  const response = await fetch(at.origin + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as OAuthAnswer['body'] };
}

const inForm = ({ clientId, clientSecret }: Secret): Fields => ({ client_id: clientId, client_secret: clientSecret });
const asBasic = ({ clientId, clientSecret }: Secret): Fields => {
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
};
const login = { grant_type: 'client_credentials' };
const wrongSecret = () => `tgs_${randomBytes(32).toString('base64url')}`;
const works = async (accessToken: unknown): Promise<boolean> =>
  (await app.as(String(accessToken)).send(op.MeDocument)).status === 200;

describe('POST /oauth/token', () => {
  it.each([
    ['in the form', (client: Secret) => post('/oauth/token', { ...login, ...inForm(client) })],
    ['as HTTP Basic', (client: Secret) => post('/oauth/token', login, asBasic(client))],
  ])('logs in a client that sends its credentials %s', async (_how, send) => {
    const client = await newApp(app, await newOrg(app));
    const { status, headers, body } = await send(client);
    expect(status).toBe(200);
    // RFC 6749 4.4.3: a refresh token should not be included.
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const { me } = await app.as(String(body.access_token)).ask(op.MeDocument);
    expect(me).toMatchObject({ kind: 'APP_CLIENT', clientId: client.clientId });
  });

  it.each<[string, (client: Secret) => [Fields, Fields]]>([
    ['as HTTP Basic', (client) => [{}, asBasic(client)]],
    ['as HTTP Basic and its id in the form', (client) => [{ client_id: client.clientId }, asBasic(client)]],
    ['in the form', (client) => [inForm(client), {}]],
  ])('exchanges a refresh token of a client that sends its credentials %s', async (_how, credentials) => {
    const org = await newOrg(app);
    const [fields, headers] = credentials(org);
    const { status, body } = await post(
      '/oauth/token',
      { grant_type: 'refresh_token', refresh_token: org.refreshToken, ...fields },
      headers,
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^tgr_/),
      refresh_expires_in: expect.any(Number),
    });
    expect(await works(body.access_token)).toBe(true);
    expect(body.refresh_token).not.toBe(org.refreshToken);
    const { refreshToken } = await app.anonymous.ask(op.RefreshTokenDocument, {
      refreshToken: String(body.refresh_token),
    });
    expect(await works(refreshToken.accessToken)).toBe(true);
  });

  it("refuses another client's refresh token, which keeps working for its own client", async () => {
    const [mine, theirs] = [await newOrg(app), await newOrg(app)];
    const exchange = { grant_type: 'refresh_token', refresh_token: theirs.refreshToken };
    const { status, body } = await post('/oauth/token', exchange, asBasic(mine));
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    app.clock.advance(31_000); // if it had been exchanged, this would be a reuse
    expect((await post('/oauth/token', exchange, asBasic(theirs))).status).toBe(200);
  });

  it.each([
    [
      'a wrong secret in the form',
      ({ clientId }: Secret) =>
        post('/oauth/token', { ...login, ...inForm({ clientId, clientSecret: wrongSecret() }) }),
    ],
    [
      'a wrong secret as HTTP Basic',
      ({ clientId }: Secret) => post('/oauth/token', login, asBasic({ clientId, clientSecret: wrongSecret() })),
    ],
    [
      'an unknown client',
      ({ clientSecret }: Secret) =>
        post('/oauth/token', login, asBasic({ clientId: `org-${randomUUID()}`, clientSecret })),
    ],
    ['no client id', ({ clientSecret }: Secret) => post('/oauth/token', { ...login, client_secret: clientSecret })],
    ['no secret', ({ clientId }: Secret) => post('/oauth/token', { ...login, client_id: clientId })],
    ['no client', () => post('/oauth/token', login)],
    [
      'Basic without a colon',
      () => post('/oauth/token', login, { authorization: `Basic ${Buffer.from('nothing').toString('base64')}` }),
    ],
    [
      'Basic that is not form-encoded',
      () => post('/oauth/token', login, { authorization: `Basic ${Buffer.from('%:%').toString('base64')}` }),
    ],
    [
      'a refresh token without its client',
      ({ refreshToken }: Client) => post('/oauth/token', { grant_type: 'refresh_token', refresh_token: refreshToken }),
    ],
    [
      'a refresh token with the id of its client and no secret',
      ({ clientId, refreshToken }: Client) =>
        post('/oauth/token', { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId }),
    ],
    [
      'a bearer token',
      ({ accessToken }: Client) => post('/oauth/token', login, { authorization: `Bearer ${accessToken}` }),
    ],
    [
      'a wrong secret beside a good refresh token',
      ({ clientId, refreshToken }: Client) =>
        post(
          '/oauth/token',
          { grant_type: 'refresh_token', refresh_token: refreshToken },
          asBasic({ clientId, clientSecret: wrongSecret() }),
        ),
    ],
  ])('responds to %s with invalid_client', async (_what, send) => {
    const { status, headers, body } = await send(await newOrg(app));
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    expect(headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(body).not.toHaveProperty('access_token');
  });

  it.each<[string, Fields, string]>([
    ['an unsupported grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['a grant from Object.prototype', { grant_type: 'constructor' }, 'unsupported_grant_type'],
    ['no grant', {}, 'invalid_request'],
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    [
      'an unknown refresh token',
      { grant_type: 'refresh_token', refresh_token: `tgr_${'x'.repeat(43)}` },
      'invalid_grant',
    ],
    ['a malformed refresh token', { grant_type: 'refresh_token', refresh_token: '#/\n' }, 'invalid_grant'],
    ['a refresh token without a value', { grant_type: 'refresh_token', refresh_token: '' }, 'invalid_request'],
    ['a scope', { grant_type: 'client_credentials', scope: 'admin' }, 'invalid_scope'],
    [
      'the id of another client in the form',
      { grant_type: 'client_credentials', client_id: `org-${randomUUID()}` },
      'invalid_request',
    ],
  ])('responds to %s with 400', async (_what, fields, error) => {
    const { status, body } = await post('/oauth/token', fields, asBasic(await newOrg(app)));
    expect([status, body.error]).toEqual([400, error]);
    expect(body).toEqual({ error, error_description: expect.any(String), request_id: expect.any(String) });
  });

  it('refuses a client that sends its credentials both ways', async () => {
    const org = await newOrg(app);
    const { status, body } = await post('/oauth/token', { ...login, ...inForm(org) }, asBasic(org));
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it.each<[string, string]>([
    ['grant_type', 'grant_type=client_credentials&grant_type=client_credentials'],
    ['an empty parameter', 'grant_type=client_credentials&scope=&scope='],
    ['an unknown parameter', 'grant_type=client_credentials&a=1&a=2'],
    [
      'refresh_token',
      `grant_type=refresh_token&refresh_token=tgr_${'x'.repeat(43)}&refresh_token=tgr_${'y'.repeat(43)}`,
    ],
  ])('refuses a form that repeats %s', async (_what, body) => {
    const headers = { ...asBasic(await newOrg(app)), 'content-type': 'application/x-www-form-urlencoded' };
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      const response = await fetch(app.origin + path, { method: 'POST', headers, body });
      expect([response.status, ((await response.json()) as OAuthAnswer['body']).error]).toEqual([
        400,
        'invalid_request',
      ]);
    }
  });

  it('throttles wrong secrets by the same count as issueToken, but not the correct secret', async () => {
    const { clientId, clientSecret } = await newOrg(app);
    const throttled = await app.another({ loginPerAddressPerMinute: 3 });
    try {
      const wrong = { clientId, clientSecret: wrongSecret() };
      await throttled.anonymous.codeOf(op.IssueTokenDocument, { input: wrong });
      for (let i = 0; i < 2; i++)
        expect((await post('/oauth/token', login, asBasic(wrong), throttled)).status).toBe(401);
      const { status, headers, body } = await post('/oauth/token', login, asBasic(wrong), throttled);
      expect([status, body.error]).toEqual([429, 'invalid_client']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect((await post('/oauth/token', login, asBasic({ clientId, clientSecret }), throttled)).status).toBe(200);
    } finally {
      await throttled.stop();
    }
  });
});

describe.each(['/oauth/token', '/oauth/revoke'])('%s', (path) => {
  it('accepts only a form', async () => {
    const org = await newOrg(app);
    const response = await fetch(app.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...login, ...inForm(org), token: org.accessToken }),
    });
    expect(response.status).toBe(415);
    expect(await works(org.accessToken)).toBe(true);
  });

  it.each(['GET', 'PUT', 'DELETE'])('refuses %s and names the allowed method', async (method) => {
    const org = await newOrg(app);
    const response = await fetch(
      `${app.origin}${path}?${new URLSearchParams({ ...login, ...inForm(org), token: org.accessToken })}`,
      { method },
    );
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(await works(org.accessToken)).toBe(true);
  });

  it('refuses a form larger than 256 KB', async () => {
    expect((await post(path, { ...login, token: 'x'.repeat(300_000) })).status).toBe(413);
  });
});

describe('POST /oauth/revoke', () => {
  it.each([
    ['in the form', (client: Client) => post('/oauth/revoke', { token: client.accessToken, ...inForm(client) })],
    ['as HTTP Basic', (client: Client) => post('/oauth/revoke', { token: client.accessToken }, asBasic(client))],
    [
      'with a wrong token_type_hint',
      (client: Client) =>
        post('/oauth/revoke', { token: client.accessToken, token_type_hint: 'refresh_token' }, asBasic(client)),
    ],
    [
      'by its refresh token',
      (client: Client) => post('/oauth/revoke', { token: client.refreshToken }, asBasic(client)),
    ],
  ])('ends an access token of the client itself, sent %s', async (_how, send) => {
    const client = await newApp(app, await newOrg(app));
    expect(await works(client.accessToken)).toBe(true);
    expect((await send(client)).status).toBe(200);
    expect(await works(client.accessToken)).toBe(false);
  });

  it.each([
    ['an unknown token', () => `tgr_${'x'.repeat(43)}`],
    ['garbage', () => '#/\n'],
  ])('responds to %s with 200', async (_what, token) => {
    expect((await post('/oauth/revoke', { token: token() }, asBasic(await newOrg(app)))).status).toBe(200);
  });

  it("responds with 200 to another org's token and to an app with its org's token, and ends neither", async () => {
    const [org, foreign] = [await newOrg(app), await newOrg(app)];
    const chat = await newApp(app, org);
    for (const token of [foreign.accessToken, foreign.refreshToken, org.accessToken, org.refreshToken]) {
      expect((await post('/oauth/revoke', { token }, asBasic(chat))).status).toBe(200);
    }
    for (const { accessToken, refreshToken } of [org, foreign]) {
      expect(await works(accessToken)).toBe(true);
      await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken });
    }
  });

  it.each([
    ['no client', () => ({})],
    ['a wrong secret', ({ clientId }: Client) => asBasic({ clientId, clientSecret: wrongSecret() })],
    ['the token itself as credential', ({ accessToken }: Client) => ({ authorization: `Bearer ${accessToken}` })],
  ])('refuses %s and does not end the token', async (_what, headers) => {
    const org = await newOrg(app);
    const { status, body } = await post('/oauth/revoke', { token: org.accessToken }, headers(org));
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    expect(await works(org.accessToken)).toBe(true);
  });

  it('requires a token', async () => {
    const { status, body } = await post('/oauth/revoke', {}, asBasic(await newOrg(app)));
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });
});

describe('/.well-known/jwks.json', () => {
  const published = async (): Promise<JSONWebKeySet> =>
    (await fetch(`${app.origin}/.well-known/jwks.json`)).json() as Promise<JSONWebKeySet>;

  it('verifies the issued tokens, which name their client and org', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const keys = createLocalJWKSet(await published());
    const expected = {
      issuer: 'tollgate',
      audience: 'tollgate',
      typ: 'at+jwt',
      algorithms: ['EdDSA'],
      currentDate: new Date(app.clock.nowMs()),
    };
    const { payload } = await jwtVerify(chat.accessToken, keys, expected);
    expect(payload).toMatchObject({
      sub: chat.clientId,
      client_id: chat.clientId,
      org: org.orgId,
      app: 'chat',
      role: 'app',
      fam: expect.any(String),
    });
    expect(payload.exp! - payload.iat!).toBe(3600);
    expect(Buffer.from(payload.jti!, 'base64url').length).toBeGreaterThanOrEqual(16);
    const { payload: ofOrg } = await jwtVerify(org.accessToken, keys, expected);
    expect(ofOrg).toMatchObject({ sub: org.clientId, org: org.orgId, role: 'org' });
    expect(ofOrg).not.toHaveProperty('app');
    expect(ofOrg.jti).not.toBe(payload.jti);
  });

  it('lists every key, the signing one first, without private parts', async () => {
    const response = await fetch(`${app.origin}/.well-known/jwks.json`);
    const text = await response.text();
    const { keys } = JSON.parse(text) as JSONWebKeySet;
    const { signingKeys } = app.config;
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(keys).toEqual(signingKeys.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid, alg: 'EdDSA', use: 'sig' })));
    expect(signingKeys.filter(({ d }) => typeof d !== 'string' || text.includes(d))).toEqual([]);
    expect(decodeProtectedHeader((await newOrg(app)).accessToken)).toEqual({
      alg: 'EdDSA',
      typ: 'at+jwt',
      kid: signingKeys[0]?.kid,
    });
  });
});
