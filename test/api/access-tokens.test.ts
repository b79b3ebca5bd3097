import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import {
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { newSigningKeys } from '../../src/identity/token.js';
import {
  adminKey,
  type Client,
  newApp,
  newOrg,
  orgInput,
  startTestApp,
  stoppedAfterAll,
  type TestApp,
} from '../support/app.js';
import {
  auditOf,
  bytesOf,
  codeIn,
  hourMs,
  randomRefresh,
  randomRetrieval,
  randomSecret,
  rotate,
  secondMs,
  tryLogIn,
  tryRefresh,
  tryRetrieve,
  tryToken,
  whoAmI,
} from '../support/identity.js';
import * as op from '../support/operations.js';

let app: TestApp;
/** A second gateway on the same tables, with caches of its own. */
let other: TestApp;
const open = stoppedAfterAll();

beforeAll(async () => {
  // Two keys: the first signs, both verify.
  app = await open(
    startTestApp({ config: { signingKeys: [...(await newSigningKeys()), ...(await newSigningKeys())] } }),
  );
  other = await open(app.another());
});

describe('issueToken', () => {
  it.each([
    ['a wrong secret', ({ clientId }: Client) => ({ clientId, clientSecret: randomSecret() })],
    ['an unknown org', ({ clientSecret }: Client) => ({ clientId: `org-${randomUUID()}`, clientSecret })],
    ['an unknown app', ({ clientId, clientSecret }: Client) => ({ clientId: `${clientId}-app-none`, clientSecret })],
    [
      'an org without a retrieved secret',
      async ({ clientSecret }: Client) => ({ clientId: await unretrieved(), clientSecret }),
    ],
    ['a malformed client id', ({ clientSecret }: Client) => ({ clientId: 'org-1', clientSecret })],
    [
      'a client id in upper case',
      ({ clientId, clientSecret }: Client) => ({ clientId: clientId.toUpperCase(), clientSecret }),
    ],
    [
      'a client id with a key in it',
      ({ clientId, clientSecret }: Client) => ({ clientId: `${clientId}-app-a#b/c`, clientSecret }),
    ],
    [
      'a client id of 10 KB',
      ({ clientId, clientSecret }: Client) => ({ clientId: clientId + 'x'.repeat(10_000), clientSecret }),
    ],
    ['an empty secret', ({ clientId }: Client) => ({ clientId, clientSecret: '' })],
    [
      'the secret and a newline',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: `${clientSecret}\n` }),
    ],
    [
      'the secret and a NUL',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: `${clientSecret}\u0000` }),
    ],
    [
      'the secret padded past 72 bytes',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: clientSecret.padEnd(73, 'x') }),
    ],
    [
      'a secret of 1 KB',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: clientSecret.padEnd(1024, 'x') }),
    ],
  ])('refuses %s with the same bytes as a wrong secret', async (_what, spoil) => {
    const org = await newOrg(app);
    const wrong = await bytesOf(app, op.IssueTokenDocument, {
      input: { clientId: org.clientId, clientSecret: randomSecret() },
    });
    expect(wrong).toContain('"UNAUTHENTICATED"');
    expect(await bytesOf(app, op.IssueTokenDocument, { input: await spoil(org) })).toBe(wrong);
    expect(await tryLogIn(other, org)).toBe('ok');
  });

  const unretrieved = async () =>
    (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.credentials.clientId;

  it('records a refused login of an existing client in the audit trail', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    await tryLogIn(app, { clientId: org.clientId, clientSecret: randomSecret() });
    await tryLogIn(app, { clientId: chat.clientId, clientSecret: randomSecret() });
    await app.gateway.services.pendingWrites.flush();
    const events = await auditOf(org.caller);
    expect(
      events.filter(({ action }) => action === 'login_refused').map(({ actor, entityId }) => ({ actor, entityId })),
    ).toEqual([
      { actor: chat.clientId, entityId: `$CLIENT:${chat.clientId}` },
      { actor: org.clientId, entityId: `$CLIENT:${org.clientId}` },
    ]);
  });

  it('throttles failed logins per address whatever client they name, and never a correct one', async () => {
    const org = await newOrg(app);
    const throttled = await open(app.another({ loginPerAddressPerMinute: 3 }));
    const unknown = () => ({ clientId: `org-${randomUUID()}`, clientSecret: randomSecret() });
    for (let i = 0; i < 3; i++) expect(await tryLogIn(throttled, unknown())).toBe('UNAUTHENTICATED');
    const fourth = await throttled.anonymous.send(
      op.IssueTokenDocument,
      { input: unknown() },
      { 'x-forwarded-for': '192.0.2.1' },
    );
    expect(codeIn(fourth)).toBe('RATE_LIMITED');
    const retryAfterSecs = fourth.errors?.[0]?.extensions.retryAfterSecs;
    expect(retryAfterSecs).toBeGreaterThanOrEqual(1);
    expect(retryAfterSecs).toBeLessThanOrEqual(20);
    expect(fourth.headers.get('retry-after')).toBe(String(retryAfterSecs));
    for (const failing of [
      tryLogIn(throttled, { ...org, clientSecret: randomSecret() }),
      tryRefresh(throttled, randomRefresh()),
      tryRetrieve(throttled, randomRetrieval()),
    ])
      expect(await failing).toBe('RATE_LIMITED');
    expect(await tryLogIn(throttled, org)).toBe('ok');
    expect(await tryRefresh(throttled, org.refreshToken)).toBe('ok');
    expect(await tryToken(throttled, org.accessToken)).toBe('ok');
    const { token } = (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval;
    expect(await tryRetrieve(throttled, token)).toBe('ok');
  });

  it('counts failures for the address that a trusted proxy adds, not for one that the caller sends', async () => {
    const throttled = await open(app.another({ loginPerAddressPerMinute: 1, trustProxy: true }));
    const from = async (forwarded: string) =>
      codeIn(
        await throttled.anonymous.send(
          op.IssueTokenDocument,
          { input: { clientId: `org-${randomUUID()}`, clientSecret: randomSecret() } },
          { 'x-forwarded-for': forwarded },
        ),
      );
    expect(await from('192.0.2.1')).toBe('UNAUTHENTICATED');
    expect(await from('198.51.100.7, 192.0.2.1')).toBe('RATE_LIMITED');
    expect(await from('192.0.2.1, 192.0.2.2')).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['aliases', (one: string, two: string) => `mutation { a: ${one} b: ${two} }`],
    ['a fragment', (one: string, two: string) => `mutation { a: ${one} ...F } fragment F on Mutation { b: ${two} }`],
    ['an inline fragment', (one: string, two: string) => `mutation { ... on Mutation { a: ${one} } b: ${two} }`],
  ])('refuses two logins in one operation by %s, and tries neither', async (_how, operation) => {
    const org = await newOrg(app);
    const { token } = (await rotate(org, { graceHours: 1 })).secretRetrieval;
    const input = `{ clientId: "${org.clientId}", clientSecret: "${randomSecret()}" }`;
    const attempt = `issueToken(input: ${input}) { accessToken }`;
    const retrieval = `retrieveSecret(token: "${token}") { clientSecret }`;
    for (const document of [operation(attempt, attempt), operation(attempt, retrieval)]) {
      const { data, errors } = await app.anonymous.send(document);
      expect(data ?? null).toBeNull();
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    }
    expect(await tryRetrieve(app, token)).toBe('ok');
    expect((await auditOf(org.caller)).map(({ action }) => action)).not.toContain('login_refused');
  });
});

describe('an access token', () => {
  interface Forgery {
    readonly claims: JWTPayload;
    readonly header: JWTHeaderParameters;
    readonly keys: readonly [JWK, JWK];
    readonly token: string;
  }
  type Forge = (genuine: Forgery) => string | Promise<string>;

  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = async (claims: JWTPayload, header: JWTHeaderParameters, key: JWK): Promise<string> =>
    new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(key, 'EdDSA'));
  const without = (claims: JWTPayload, name: string): JWTPayload =>
    Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name));
  const publicBytes = ({ x }: JWK): Buffer => Buffer.from(x as string, 'base64url');

  /** The parts of a valid token of an app, for forgeries. */
  async function genuine(): Promise<Forgery> {
    const { accessToken } = await newApp(app, await newOrg(app));
    const keys = app.config.signingKeys as readonly [JWK, JWK];
    return {
      claims: decodeJwt(accessToken),
      header: decodeProtectedHeader(accessToken) as JWTHeaderParameters,
      keys,
      token: accessToken,
    };
  }

  it.each<[string, Forge]>([
    ['the first key', ({ claims, header, keys }) => signed(claims, header, keys[0])],
    [
      'the secondMs key',
      ({ claims, header, keys }) => signed(claims, { ...header, kid: keys[1].kid as string }, keys[1]),
    ],
  ])(
    'is accepted if rebuilt by the test and signed with %s, so that each forgery below fails only for its own fault',
    async (_what, forge) => {
      expect(await tryToken(app, await forge(await genuine()))).toBe('ok');
    },
  );

  it.each<[string, Forge]>([
    ['alg none', ({ claims, header }) => `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`],
    [
      'alg none and the old signature',
      ({ claims, header, token }) => `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.${token.split('.')[2]}`,
    ],
    [
      'HS256 under the public key',
      ({ claims, header, keys }) =>
        new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256' }).sign(publicBytes(keys[0])),
    ],
    [
      'the kid of the other key',
      ({ claims, header, keys }) => signed(claims, { ...header, kid: keys[1].kid as string }, keys[0]),
    ],
    ['an unknown kid', ({ claims, header, keys }) => signed(claims, { ...header, kid: 'none-of-ours' }, keys[0])],
    [
      'a kid from Object.prototype',
      ({ claims, header, keys }) => signed(claims, { ...header, kid: 'constructor' }, keys[0]),
    ],
    ['no kid', ({ claims, header: { alg, typ }, keys }) => signed(claims, { alg, typ: typ as string }, keys[0])],
    [
      'a key in its own header',
      async ({ claims, header }) => {
        const [own] = (await newSigningKeys()) as [JWK];
        const jwk = { kty: own.kty as 'OKP', crv: own.crv as string, x: own.x as string };
        return signed(claims, { ...header, jwk }, own);
      },
    ],
    [
      'edited claims',
      ({ claims, header, token }) =>
        [encoded(header), encoded(without({ ...claims, role: 'org' }, 'app')), token.split('.')[2]].join('.'),
    ],
    ['no signature', ({ token }) => token.replace(/[^.]*$/, '')],
    ['half of its text', ({ token }) => token.slice(0, token.length / 2)],
    ['typ JWT', ({ claims, header, keys }) => signed(claims, { ...header, typ: 'JWT' }, keys[0])],
    ['no typ', ({ claims, header: { alg, kid }, keys }) => signed(claims, { alg, kid: kid as string }, keys[0])],
    [
      'another issuer',
      ({ claims, header, keys }) => signed({ ...claims, iss: 'https://elsewhere.example' }, header, keys[0]),
    ],
    ['another audience', ({ claims, header, keys }) => signed({ ...claims, aud: 'elsewhere' }, header, keys[0])],
    [
      'an expiry in the past',
      ({ claims, header, keys }) =>
        signed({ ...claims, exp: Math.floor(app.clock.nowMs() / secondMs) - 1 }, header, keys[0]),
    ],
    ...['iss', 'aud', 'sub', 'client_id', 'org', 'role', 'iat', 'exp', 'jti', 'fam'].map<[string, Forge]>((claim) => [
      `no ${claim}`,
      ({ claims, header, keys }) => signed(without(claims, claim), header, keys[0]),
    ]),
    [
      'a client_id that is no client id',
      ({ claims, header, keys }) => signed({ ...claims, client_id: 'platform-admin' }, header, keys[0]),
    ],
    ['5 KB', ({ claims, header, keys }) => signed({ ...claims, padding: 'x'.repeat(5000) }, header, keys[0])],
    ['only dots', () => '..'],
    ['no dots', () => 'not-a-token'],
    ['empty objects', () => `${encoded({})}.${encoded({})}.${encoded({})}`],
  ])('is refused with 401 and no internal details if it has %s', async (_what, forge) => {
    const token = await forge(await genuine());
    const response = await fetch(app.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: whoAmI }),
    });
    const text = await response.text();
    expect(response.status).toBe(401);
    expect(JSON.parse(text).errors).toHaveLength(1);
    expect(JSON.parse(text).errors[0].extensions).toEqual({ code: 'UNAUTHENTICATED', requestId: expect.any(String) });
    expect(text).not.toMatch(/stack|\.ts:|\.js:|jose|JWS|kid/);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('is refused if another deployment signed it, even under the same kid', async () => {
    const [ours] = app.config.signingKeys as [JWK];
    const [theirs] = (await newSigningKeys()) as [JWK];
    const elsewhere = await open(startTestApp({ config: { signingKeys: [{ ...theirs, kid: ours.kid as string }] } }));
    const { accessToken } = await newOrg(elsewhere);
    expect(await tryToken(elsewhere, accessToken)).toBe('ok');
    expect((await app.as(accessToken).send(whoAmI)).status).toBe(401);
  });

  it('cannot be replaced by a refresh token or a client secret', async () => {
    const { refreshToken, clientSecret } = await newOrg(app);
    for (const token of [refreshToken, clientSecret]) {
      const answer = await app.as(token).send(whoAmI);
      expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
    }
    expect(await tryRefresh(app, refreshToken)).toBe('ok');
  });

  it('expires after an hourMs, cached or not', async () => {
    const { accessToken } = await newOrg(app);
    app.clock.advance(hourMs - 30 * secondMs);
    expect(await tryToken(app, accessToken)).toBe('ok');
    app.clock.advance(31 * secondMs);
    for (const at of [app, other]) {
      const answer = await at.as(accessToken).send(whoAmI);
      expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });

  it.each([
    ['20 KB', 20_000],
    ['1 MB', 1024 * 1024],
  ])('gets a 4xx response if it has %s, and the gateway keeps serving', async (_size, length) => {
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        app.url,
        { method: 'POST', headers: { authorization: `Bearer ${'x'.repeat(length)}` }, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.on('error', reject);
      sent.end();
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect((await app.admin.send(whoAmI)).status).toBe(200);
  });
});

describe('a request', () => {
  it.each([
    ['a token and the admin key', ['authorization', 'x-admin-key']],
    ['a token and an API key', ['authorization', 'x-api-key']],
    ['the admin key and an API key', ['x-admin-key', 'x-api-key']],
    ['all three', ['authorization', 'x-admin-key', 'x-api-key']],
  ])('is refused with %s, although each is valid', async (_what, names) => {
    const { accessToken } = await newOrg(app);
    const all: Record<string, string> = {
      authorization: `Bearer ${accessToken}`,
      'x-admin-key': adminKey,
      'x-api-key': 'tgk_x',
    };
    const answer = await app.anonymous.send(
      whoAmI,
      undefined,
      Object.fromEntries(names.map((name) => [name, all[name] as string])),
    );
    expect([answer.status, codeIn(answer)]).toEqual([400, 'BAD_USER_INPUT']);
    expect(answer.data ?? null).toBeNull();
  });

  it.each<[string, Record<string, string>]>([
    ['a wrong admin key', { 'x-admin-key': adminKey.replace(/.$/, 'x') }],
    ['a prefix of the admin key', { 'x-admin-key': adminKey.slice(0, -1) }],
    ['the admin key and one more character', { 'x-admin-key': `${adminKey}x` }],
    ['an empty admin key', { 'x-admin-key': '' }],
    ['HTTP Basic', { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` }],
    ['the admin key as a token', { authorization: `Bearer ${adminKey}` }],
    ['Bearer without a token', { authorization: 'Bearer' }],
    ['an empty authorization', { authorization: '' }],
    ['an unknown API key', { 'x-api-key': `tgk_${'0'.repeat(32)}_${'0'.repeat(64)}` }],
    ['a malformed API key', { 'x-api-key': '#/#' }],
    ['an empty API key', { 'x-api-key': '' }],
  ])('is refused with %s instead of being treated as anonymous', async (_what, headers) => {
    // Anonymous callers may send this operation, so only the credential can be refused.
    const answer = await app.anonymous.send(op.RetrieveSecretDocument, { token: randomRetrieval() }, headers);
    expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('costs no call to DynamoDB if its token was used before', async () => {
    const { caller } = await newOrg(app);
    const { consumed } = app.gateway.services.store;
    const priceOf = async () => {
      const before = { ...consumed };
      await caller.ask(whoAmI);
      return {
        read: consumed.read - before.read,
        write: consumed.write - before.write,
        calls: consumed.calls - before.calls,
      };
    };
    expect((await priceOf()).calls).toBeGreaterThan(0); // the first request checks revocations
    // The change counter is read once per secondMs in the background, so one of the attempts may show that read.
    const prices = [];
    for (let i = 0; i < 5; i++) prices.push(await priceOf());
    expect(prices).toContainEqual({ read: 0, write: 0, calls: 0 });
  });
});
