import * as oidc from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';
import { createLog } from '../../src/lib/log.js';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

const lines: string[] = [];
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ log: createLog('info', { write: (line: string) => void lines.push(line) }) });
});
afterAll(() => app.stop());

const kindOf = async (accessToken: string): Promise<string> => (await app.as(accessToken).ask(op.MeDocument)).me.kind;
const works = async (accessToken: string): Promise<boolean> =>
  (await app.as(accessToken).send(op.MeDocument)).status === 200;
const discover = (clientId: string, auth: oidc.ClientAuth) =>
  oidc.discovery(new URL(app.origin), clientId, {}, auth, {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests],
  });

describe('openid-client', () => {
  it.each([
    ['HTTP Basic', oidc.ClientSecretBasic],
    ['the form', oidc.ClientSecretPost],
  ])('discovers the endpoints, logs in by %s, refreshes and revokes', async (_how, authBy) => {
    const client = await newApp(app, await newOrg(app));
    const config = await discover(client.clientId, authBy(client.clientSecret));
    const { access_token, refresh_token, token_type, expires_in } = await oidc.clientCredentialsGrant(config);
    expect([token_type, expires_in, refresh_token]).toEqual(['bearer', 3600, undefined]);
    expect(await kindOf(access_token)).toBe('APP_CLIENT');

    const refreshed = await oidc.refreshTokenGrant(config, client.refreshToken);
    expect(await kindOf(refreshed.access_token)).toBe('APP_CLIENT');
    await oidc.tokenRevocation(config, refreshed.refresh_token ?? '');
    expect([await works(refreshed.access_token), await works(access_token)]).toEqual([false, true]);
    await expect(oidc.refreshTokenGrant(config, refreshed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  it('gets OAuth error codes', async () => {
    const [mine, theirs] = [await newOrg(app), await newOrg(app)];
    const config = await discover(mine.clientId, oidc.ClientSecretBasic(mine.clientSecret));
    await expect(oidc.refreshTokenGrant(config, theirs.refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(oidc.clientCredentialsGrant(config, { scope: 'everything' })).rejects.toMatchObject({
      error: 'invalid_scope',
    });
    const wrong = await discover(mine.clientId, oidc.ClientSecretBasic(theirs.clientSecret));
    await expect(oidc.clientCredentialsGrant(wrong)).rejects.toMatchObject({
      code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
    });
    await expect(
      oidc.clientCredentialsGrant(await discover(mine.clientId, oidc.ClientSecretPost(theirs.clientSecret))),
    ).rejects.toMatchObject({ status: 401 });
    await app.admin.ask(op.SuspendOrgDocument, { orgId: mine.orgId });
    await expect(oidc.clientCredentialsGrant(config)).rejects.toMatchObject({
      error: 'unauthorized_client',
      error_description: expect.stringContaining('suspended'),
    });
  });

  it('logs in a further client, whose id contains a tilde', async () => {
    const org = await newOrg(app);
    const input = { name: 'Reports', role: 'READ' as const, currentSecret: org.clientSecret };
    const { createClient } = await org.caller.ask(op.CreateClientDocument, { input });
    const { clientId, clientSecret } = (
      await app.anonymous.ask(op.RetrieveSecretDocument, { token: createClient.secretRetrieval.token })
    ).retrieveSecret;
    for (const authBy of [oidc.ClientSecretBasic, oidc.ClientSecretPost]) {
      const { access_token } = await oidc.clientCredentialsGrant(await discover(clientId, authBy(clientSecret)));
      expect((await app.as(access_token).ask(op.MeDocument)).me).toMatchObject({ kind: 'ORG_CLIENT', clientId });
    }
  });
});

describe('simple-oauth2', () => {
  it.each(['header', 'body'] as const)(
    'logs in with its credentials in the %s, refreshes and revokes',
    async (authorizationMethod) => {
      const org = await newOrg(app);
      const auth = { tokenHost: app.origin, tokenPath: '/oauth/token', revokePath: '/oauth/revoke' };
      const client = new ClientCredentials({
        client: { id: org.clientId, secret: org.clientSecret },
        auth,
        options: { authorizationMethod },
      });
      const { token } = await client.getToken({});
      expect(Object.keys(token).sort()).toEqual(['access_token', 'expires_at', 'expires_in', 'token_type']);
      expect(await kindOf(String(token.access_token))).toBe('ORG_CLIENT');

      const session = client.createToken({
        access_token: org.accessToken,
        refresh_token: org.refreshToken,
        expires_in: 3600,
      });
      const refreshed = await session.refresh();
      expect(await kindOf(String(refreshed.token.access_token))).toBe('ORG_CLIENT');
      await refreshed.revokeAll();
      expect(await works(String(refreshed.token.access_token))).toBe(false);
      await expect(refreshed.refresh()).rejects.toMatchObject({ output: { statusCode: 400 } });
    },
  );
});

describe('/.well-known/oauth-authorization-server', () => {
  const metadata = async (at: TestApp, headers: Record<string, string> = {}) => {
    const response = await fetch(`${at.origin}/.well-known/oauth-authorization-server`, { headers });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: (await response.json()) as Record<string, unknown>,
    };
  };

  it('returns the metadata of RFC 8414 under the origin of the request', async () => {
    const { status, type, body } = await metadata(app);
    expect([status, type]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toEqual({
      issuer: app.origin,
      token_endpoint: `${app.origin}/oauth/token`,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      revocation_endpoint: `${app.origin}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      jwks_uri: `${app.origin}/.well-known/jwks.json`,
      grant_types_supported: ['client_credentials', 'refresh_token'],
      response_types_supported: [],
    });
  });

  it('uses PUBLIC_URL if it is set, and the origin of a proxy only if the proxy is trusted', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'tollgate.example' };
    const named = await app.another({ publicUrl: 'https://api.example' });
    const proxied = await app.another({ trustProxy: true });
    try {
      expect((await metadata(named, forwarded)).body.issuer).toBe('https://api.example');
      expect((await metadata(proxied, forwarded)).body.issuer).toBe('https://tollgate.example');
      expect((await metadata(app, forwarded)).body.issuer).toBe(app.origin);
      expect((await metadata(proxied, { ...forwarded, 'x-forwarded-host': 'a/b"c' })).status).toBe(400);
    } finally {
      await Promise.all([named.stop(), proxied.stop()]);
    }
  });

  it('accepts only GET', async () => {
    const response = await fetch(`${app.origin}/.well-known/oauth-authorization-server`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('an OAuth call', () => {
  const post = (path: string, fields: Record<string, string>, id: string) =>
    fetch(app.origin + path, { method: 'POST', headers: { 'x-request-id': id }, body: new URLSearchParams(fields) });
  const lineOf = (id: string) =>
    lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ requestId }) => requestId === id);

  it('writes one log line and counts as a request', async () => {
    const { clientId, clientSecret } = await newOrg(app);
    const credentials = { client_id: clientId, client_secret: clientSecret };
    await post('/oauth/token', { grant_type: 'client_credentials', ...credentials }, 'oauth-1');
    await post(
      '/oauth/token',
      { grant_type: 'client_credentials', client_id: clientId, client_secret: 'wrong' },
      'oauth-2',
    );
    await post('/oauth/revoke', { token: 'unknown', ...credentials }, 'oauth-3');
    const shared = {
      level: 'info',
      msg: 'request',
      ms: expect.any(Number),
      read: expect.any(Number),
      write: expect.any(Number),
      calls: expect.any(Number),
    };
    expect(lineOf('oauth-1')).toEqual([
      expect.objectContaining({ ...shared, operation: 'oauthToken', principal: clientId, outcome: 'ok' }),
    ]);
    expect(lineOf('oauth-2')).toEqual([
      expect.objectContaining({
        ...shared,
        operation: 'oauthToken',
        principal: expect.stringMatching(/^address /),
        outcome: 'invalid_client',
      }),
    ]);
    expect(lineOf('oauth-3')).toEqual([
      expect.objectContaining({ ...shared, operation: 'oauthRevoke', principal: clientId, outcome: 'ok' }),
    ]);
    const page = await (await fetch(`${app.origin}/metrics`)).text();
    for (const labels of [
      'operation="oauthToken",outcome="ok"',
      'operation="oauthToken",outcome="invalid_client"',
      'operation="oauthRevoke",outcome="ok"',
    ]) {
      expect(page).toContain(`tollgate_requests_total{${labels}}`);
    }
  });

  it('is recorded in the audit trail as a login', async () => {
    const { orgId, clientId } = await newOrg(app);
    app.clock.advance(3_600_000);
    const { secretRetrieval } = (await app.admin.ask(op.RotateCredentialsDocument, { input: { orgId, graceHours: 1 } }))
      .rotateCredentials;
    const { clientSecret } = (await app.anonymous.ask(op.RetrieveSecretDocument, { token: secretRetrieval.token }))
      .retrieveSecret;
    await post(
      '/oauth/token',
      { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
      'oauth-4',
    );
    const { org } = await app.admin.ask(op.AuditDocument, { orgId, first: 1 });
    expect(org?.auditEvents.nodes).toMatchObject([
      { action: 'login_succeeded', requestId: 'oauth-4', details: [{ name: 'via', value: 'oauth' }] },
    ]);
  });

  it('is throttled per address like every login', async () => {
    const strict = await app.another({ principalRps: 3 });
    try {
      const statuses = [];
      for (let i = 0; i < 5; i++)
        statuses.push(
          (await fetch(`${strict.origin}/oauth/token`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }))
            .status,
        );
      expect(statuses).toContain(429);
    } finally {
      await strict.stop();
    }
  });
});
