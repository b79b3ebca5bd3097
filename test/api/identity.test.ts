import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import {
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { tableNames } from '../../src/dynamo/tables.js';
import { newSigningKeys } from '../../src/identity/token.js';
import { createLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import {
  type Answer,
  adminKey,
  Caller,
  type Client,
  logInWith,
  newApp,
  newOrg,
  orgInput,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import { TestClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const whoAmI = '{ me { kind } }';
const randomRetrieval = () => `tgt_${randomBytes(32).toString('base64url')}`;
const randomRefresh = () => `tgr_${randomBytes(32).toString('base64url')}`;
const randomSecret = () => `tgs_${randomBytes(32).toString('base64url')}`;

let app: TestApp;
/** A second gateway on the same store: what it answers comes from the store, or from a memory of its own. */
let other: TestApp;
const opened: TestApp[] = [];

async function open(starting: Promise<TestApp>): Promise<TestApp> {
  const started = await starting;
  opened.push(started);
  return started;
}

beforeAll(async () => {
  // Two keys: the first signs, both verify.
  app = await open(
    startTestApp({ config: { signingKeys: [...(await newSigningKeys()), ...(await newSigningKeys())] } }),
  );
  other = await open(app.another());
});
afterAll(() => Promise.all(opened.map((each) => each.stop())));

/** A clock that stands still between two moves, for promises that hold to the millisecond. */
class StillClock extends TestClock {
  // Not on a whole second, so that what is rounded to seconds shows.
  private atMs = Math.ceil(Date.now() / second) * second + 900;

  override nowMs(): number {
    return this.atMs;
  }

  override advance(ms: number): void {
    this.atMs += ms;
  }
}

const codeIn = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';

const signIn = async (
  at: TestApp,
  { clientId, clientSecret }: Pick<Client, 'clientId' | 'clientSecret'>,
): Promise<string> => codeIn(await at.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } }));

const use = async (at: TestApp, accessToken: string): Promise<string> => codeIn(await at.as(accessToken).send(whoAmI));

const refresh = async (at: TestApp, refreshToken: string) =>
  (await at.anonymous.ask(op.RefreshTokenDocument, { refreshToken })).refreshToken;

const tryRefresh = async (at: TestApp, refreshToken: string): Promise<string> =>
  codeIn(await at.anonymous.send(op.RefreshTokenDocument, { refreshToken }));

const retrieve = async (at: TestApp, token: string) =>
  (await at.anonymous.ask(op.RetrieveSecretDocument, { token })).retrieveSecret;

const tryRetrieve = async (at: TestApp, token: string): Promise<string> =>
  codeIn(await at.anonymous.send(op.RetrieveSecretDocument, { token }));

const logInAgain = async ({ clientId, clientSecret }: Client) =>
  (await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } })).issueToken;

/** A caller rotates what it names; a client rotates itself, which takes its secret. */
const rotate = async (who: Caller | Client, given: op.RotateCredentialsInput) => {
  const [caller, input] =
    who instanceof Caller ? [who, given] : [who.caller, { currentSecret: who.clientSecret, ...given }];
  return (await caller.ask(op.RotateCredentialsDocument, { input })).rotateCredentials;
};

const credentialsOf = async (caller: Caller) => (await caller.ask(op.OrgDocument)).org?.credentials;

const revoke = async (caller: Caller, token: string) =>
  (await caller.ask(op.RevokeTokenDocument, { token })).revokeToken;

/** The answer to the byte: the request id is the caller's, so that nothing in it has to differ. */
async function bytesOf<T, V>(
  document: TypedDocumentNode<T, V>,
  variables: V,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(app.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'the-same', ...headers },
    body: JSON.stringify({ query: print(document), variables }),
  });
  return `${response.status} ${await response.text()}`;
}

/** What `ask` says at last; the caller names what it should be. */
async function eventually(ask: () => Promise<string>, wanted: string): Promise<string> {
  const untilMs = performance.now() + patience * 3 * second;
  let said = await ask();
  while (said !== wanted && performance.now() < untilMs) {
    await sleep(50);
    said = await ask();
  }
  return said;
}

describe('a retrieval token', () => {
  const issued = async (at: TestApp = app) =>
    (await at.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval;

  it.each([
    ['one gateway', () => [app]],
    ['two gateways', () => [app, other]],
  ])('yields a secret once, presented 50 times at once to %s', async (_where, gateways) => {
    const { token } = await issued();
    const at = gateways();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => at[i % at.length]!.anonymous.send(op.RetrieveSecretDocument, { token })),
    );
    const secrets = answers.flatMap(({ data }) => (data ? [data.retrieveSecret] : []));
    expect(secrets).toHaveLength(1);
    expect(answers.map(codeIn).sort()).toEqual([...Array.from({ length: 49 }, () => 'NOT_FOUND'), 'ok']);
    expect(await signIn(app, secrets[0]!)).toBe('ok');
  });

  it('is answered byte for byte like one that never was: spent, expired, voided or malformed', async () => {
    const spent = await issued();
    await retrieve(app, spent.token);
    const org = await newOrg(app);
    const voided = (await rotate(org, { graceHours: 1 })).secretRetrieval;
    await rotate(org, { graceHours: 1 });
    const expired = await issued();
    const unknown = await bytesOf(op.RetrieveSecretDocument, { token: randomRetrieval() });
    expect(unknown).toContain('"NOT_FOUND"');
    expect(await bytesOf(op.RetrieveSecretDocument, spent)).toBe(unknown);
    expect(await bytesOf(op.RetrieveSecretDocument, voided)).toBe(unknown);
    app.clock.advance(10 * minute);
    expect(await bytesOf(op.RetrieveSecretDocument, expired)).toBe(unknown);
    expect(await bytesOf(op.RetrieveSecretDocument, { token: 'x' })).toBe(unknown);
  });

  it.each([
    ['nothing', () => ''],
    ['a newline at its end', (token: string) => `${token}\n`],
    ['10 KB', (token: string) => token + 'x'.repeat(10_000)],
    ['#', (token: string) => token.replace(/.$/, '#')],
    ['/', (token: string) => token.replace(/.$/, '/')],
    ['NUL', (token: string) => token.replace(/.$/, '\u0000')],
    ['another case', (token: string) => token.toUpperCase()],
    ['its last character missing', (token: string) => token.slice(0, -1)],
  ])('is refused with %s, and is not spent by it', async (_what, spoil) => {
    const { token } = await issued();
    expect(await tryRetrieve(app, spoil(token))).toBe('NOT_FOUND');
    expect(await tryRetrieve(app, token)).toBe('ok');
  });

  it('works up to the moment it was said to expire, and not from then on', async () => {
    const still = await open(startTestApp({ clock: new StillClock() }));
    const [early, late] = [await issued(still), await issued(still)];
    const leftMs = Date.parse(early.expiresAt) - still.clock.nowMs();
    expect(leftMs).toBeLessThanOrEqual(10 * minute);
    expect(leftMs).toBeGreaterThan(10 * minute - 1000);
    still.clock.advance(leftMs - 1);
    const before = await tryRetrieve(still, early.token);
    still.clock.advance(1);
    expect([before, await tryRetrieve(still, late.token)]).toEqual(['ok', 'NOT_FOUND']);
  });

  it('is voided by a later rotation, whose own token works', async () => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { org, secretRetrieval: first } = registerOrg;
    const { secretRetrieval: next } = await rotate(app.admin, { orgId: org.orgId, graceHours: 1 });
    expect(await tryRetrieve(app, first.token)).toBe('NOT_FOUND');
    expect(await tryRetrieve(app, next.token)).toBe('ok');
  });
});

describe('a rotation', () => {
  it.each([0, 24])('with a grace of %i h changes nothing until it is redeemed', async (graceHours) => {
    const org = await newOrg(app);
    const before = await credentialsOf(org.caller);
    const { credentials } = await rotate(org, { graceHours });
    expect(credentials).toEqual(before);
    expect(before).toMatchObject({ clientId: org.clientId, graceExpiresAt: null });
    expect(await credentialsOf(org.caller)).toEqual(before);
    app.clock.advance(11 * minute); // abandoned
    for (const at of [app, other]) {
      expect(await signIn(at, org)).toBe('ok');
      expect(await use(at, org.accessToken)).toBe('ok');
    }
    expect(await tryRefresh(app, org.refreshToken)).toBe('ok');
  });

  it('lets the old secret work beside the new until the grace ends, counted from the retrieval', async () => {
    const still = await open(startTestApp({ clock: new StillClock() }));
    const org = await newOrg(still);
    const { secretRetrieval } = await rotate(org, { graceHours: 2 });
    still.clock.advance(9 * minute);
    const retrievedAtMs = still.clock.nowMs();
    const renewed = await retrieve(still, secretRetrieval.token);
    expect(renewed.clientSecret).not.toBe(org.clientSecret);
    const { secretCreatedAt, graceExpiresAt } = (await credentialsOf(still.as(org.accessToken)))!;
    expect(Math.floor(Date.parse(secretCreatedAt!) / second)).toBe(Math.floor(retrievedAtMs / second));
    expect(Math.floor(Date.parse(graceExpiresAt!) / second)).toBe(Math.floor((retrievedAtMs + 2 * hour) / second));

    still.clock.advance(Date.parse(graceExpiresAt!) - still.clock.nowMs() - 1);
    // A gateway for each moment, so that none of them answers from memory.
    const before = await open(still.another());
    expect([await signIn(before, org), await signIn(before, renewed)]).toEqual(['ok', 'ok']);
    still.clock.advance(1);
    const after = await open(still.another());
    expect([await signIn(after, org), await signIn(after, renewed)]).toEqual(['UNAUTHENTICATED', 'ok']);
  });

  it('ends the old secret with its grace even where it was remembered from a login just before', async () => {
    const org = await newOrg(app);
    const { secretRetrieval } = await rotate(org, { graceHours: 1 });
    await retrieve(app, secretRetrieval.token);
    app.clock.advance(hour - 20 * second);
    expect(await signIn(app, org)).toBe('ok');
    app.clock.advance(20 * second);
    expect(await signIn(app, org)).toBe('UNAUTHENTICATED');
  });

  it('keeps the tokens issued before it when it has a grace', async () => {
    const org = await newOrg(app);
    await retrieve(app, (await rotate(org, { graceHours: 1 })).secretRetrieval.token);
    for (const at of [app, other]) expect(await use(at, org.accessToken)).toBe('ok');
    expect(await tryRefresh(app, org.refreshToken)).toBe('ok');
  });

  it('retrieved while a grace is open makes the current secret the previous one, and ends the oldest', async () => {
    const oldest = await newOrg(app);
    const current = await retrieve(app, (await rotate(oldest, { graceHours: 168 })).secretRetrieval.token);
    expect([await signIn(app, oldest), await signIn(other, oldest)]).toEqual(['ok', 'ok']);
    app.clock.advance(minute);
    const newest = await retrieve(
      app,
      (await rotate({ ...oldest, ...current }, { graceHours: 1 })).secretRetrieval.token,
    );
    expect([await signIn(app, oldest), await signIn(app, current), await signIn(app, newest)]).toEqual([
      'UNAUTHENTICATED',
      'ok',
      'ok',
    ]);
    expect(await eventually(() => signIn(other, oldest), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    const { graceExpiresAt } = (await credentialsOf(oldest.caller))!;
    expect(Date.parse(graceExpiresAt!) - app.clock.nowMs()).toBeLessThanOrEqual(hour);
    app.clock.advance(hour);
    const unremembering = await open(app.another());
    expect([await signIn(unremembering, current), await signIn(unremembering, newest)]).toEqual([
      'UNAUTHENTICATED',
      'ok',
    ]);
  });

  it('without a grace ends the old secret and every token issued before, at once', async () => {
    const org = await newOrg(app);
    const sibling = await newApp(app, org);
    const refreshed = (
      await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken: (await logInAgain(org)).refreshToken })
    ).refreshToken;
    const accessTokens = [org.accessToken, refreshed.accessToken];
    const refreshTokens = [org.refreshToken, refreshed.refreshToken];
    for (const at of [app, other]) {
      expect(await signIn(at, org)).toBe('ok');
      for (const token of accessTokens) expect(await use(at, token)).toBe('ok');
    }
    const { secretRetrieval } = await rotate(org, { graceHours: 0 });
    const renewed = await logInWith(app, secretRetrieval.token);

    expect(await signIn(app, org)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens) expect(await use(app, token)).toBe('UNAUTHENTICATED');
    for (const at of [app, other])
      for (const token of refreshTokens) expect(await tryRefresh(at, token)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens)
      expect(await eventually(() => use(other, token), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    expect(await signIn(other, org)).toBe('UNAUTHENTICATED');

    for (const at of [app, other]) {
      expect(await signIn(at, renewed)).toBe('ok');
      expect(await use(at, renewed.accessToken)).toBe('ok');
      expect(await use(at, sibling.accessToken)).toBe('ok');
    }
    expect(await tryRefresh(app, renewed.refreshToken)).toBe('ok');
    expect((await credentialsOf(renewed.caller))?.graceExpiresAt).toBeNull();
  });

  it('without a grace also ends a grace that was open', async () => {
    const oldest = await newOrg(app);
    const current = await retrieve(app, (await rotate(oldest, { graceHours: 24 })).secretRetrieval.token);
    const newest = await retrieve(
      app,
      (await rotate({ ...oldest, ...current }, { graceHours: 0 })).secretRetrieval.token,
    );
    expect([await signIn(app, oldest), await signIn(app, current), await signIn(app, newest)]).toEqual([
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'ok',
    ]);
  });

  it.each([-1, 169, 2 ** 31, 1.5])('refuses a grace of %d h, and voids nothing by it', async (graceHours) => {
    const org = await newOrg(app);
    const { secretRetrieval } = await rotate(org, { graceHours: 168 });
    expect(
      await org.caller.codeOf(op.RotateCredentialsDocument, { input: { graceHours, currentSecret: org.clientSecret } }),
    ).toBe('BAD_USER_INPUT');
    expect(await tryRetrieve(app, secretRetrieval.token)).toBe('ok');
  });

  it('begun by two admins at once leaves one retrieval token that works', async () => {
    const org = await newOrg(app);
    const started = await Promise.all(
      [app, other].map(({ admin }) => rotate(admin, { orgId: org.orgId, graceHours: 0 })),
    );
    const answers = await Promise.all(
      started.map(({ secretRetrieval: { token } }) => app.anonymous.send(op.RetrieveSecretDocument, { token })),
    );
    expect(answers.map(codeIn).sort()).toEqual(['NOT_FOUND', 'ok']);
    const [secret] = answers.flatMap(({ data }) => (data ? [data.retrieveSecret] : []));
    expect([await signIn(app, org), await signIn(app, secret!)]).toEqual(['UNAUTHENTICATED', 'ok']);
  });

  it('racing with a retrieval never lets it show a secret that does not work', async () => {
    for (let round = 0; round < 5; round++) {
      const org = await newOrg(app);
      const { secretRetrieval } = await rotate(org, { graceHours: 1 });
      const [retrieved] = await Promise.all([
        app.anonymous.send(op.RetrieveSecretDocument, { token: secretRetrieval.token }),
        rotate(other.admin, { orgId: org.orgId, graceHours: 1 }),
      ]);
      const working = retrieved.data ? retrieved.data.retrieveSecret : org;
      expect(await signIn(app, working)).toBe('ok');
      if (!retrieved.data) expect(codeIn(retrieved)).toBe('NOT_FOUND');
    }
  });
});

describe('an app client', () => {
  it('that names no app rotates its own', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const { credentials, secretRetrieval } = await rotate(chat, { graceHours: 0 });
    expect(credentials.clientId).toBe(chat.clientId);
    expect((await retrieve(app, secretRetrieval.token)).clientId).toBe(chat.clientId);
    expect([await signIn(app, chat), await signIn(app, org)]).toEqual(['UNAUTHENTICATED', 'ok']);
  });

  it('is told of a sibling what it is told of an app that does not exist, and rotates nothing', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const search = await newApp(app, org, 'search');
    const { secretRetrieval } = await rotate(search, { graceHours: 0 });
    const as = { authorization: `Bearer ${chat.accessToken}` };
    const ofNone = await bytesOf(op.RotateCredentialsDocument, { input: { appId: 'nothing-here' } }, as);
    expect(ofNone).toContain('"NOT_FOUND"');
    expect(await bytesOf(op.RotateCredentialsDocument, { input: { appId: 'search' } }, as)).toBe(ofNone);
    expect(await tryRetrieve(app, secretRetrieval.token)).toBe('ok');
    expect((await rotate(chat, { appId: 'chat' })).credentials.clientId).toBe(chat.clientId);
  });
});

describe('an org client', () => {
  it('rotates the credentials of its apps, and finds no foreign ones', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const foreign = await newOrg(app);
    await newApp(app, foreign, 'theirs');
    expect((await rotate(org.caller, { appId: 'chat' })).credentials.clientId).toBe(chat.clientId);
    const as = { authorization: `Bearer ${org.accessToken}` };
    const ofNone = await bytesOf(op.RotateCredentialsDocument, { input: { orgId: randomUUID() } }, as);
    expect(ofNone).toContain('"NOT_FOUND"');
    expect(await bytesOf(op.RotateCredentialsDocument, { input: { orgId: foreign.orgId } }, as)).toBe(ofNone);
    expect(await org.caller.codeOf(op.RotateCredentialsDocument, { input: { appId: 'theirs' } })).toBe('NOT_FOUND');
  });
});

describe('a login', () => {
  it.each([
    ['a wrong secret', ({ clientId }: Client) => ({ clientId, clientSecret: randomSecret() })],
    ['an unknown org', ({ clientSecret }: Client) => ({ clientId: `org-${randomUUID()}`, clientSecret })],
    ['an unknown app', ({ clientId, clientSecret }: Client) => ({ clientId: `${clientId}-app-none`, clientSecret })],
    [
      'an org that has not retrieved yet',
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
    ['no secret', ({ clientId }: Client) => ({ clientId, clientSecret: '' })],
    [
      'the secret and a newline',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: `${clientSecret}\n` }),
    ],
    [
      'the secret and a NUL',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: `${clientSecret}\u0000` }),
    ],
    [
      'the secret filled up past 72 bytes',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: clientSecret.padEnd(73, 'x') }),
    ],
    [
      'a secret of 1 KB',
      ({ clientId, clientSecret }: Client) => ({ clientId, clientSecret: clientSecret.padEnd(1024, 'x') }),
    ],
  ])('with %s is refused in the same words as any other', async (_what, spoil) => {
    const org = await newOrg(app);
    const wrong = await bytesOf(op.IssueTokenDocument, {
      input: { clientId: org.clientId, clientSecret: randomSecret() },
    });
    expect(wrong).toContain('"UNAUTHENTICATED"');
    expect(await bytesOf(op.IssueTokenDocument, { input: await spoil(org) })).toBe(wrong);
    expect(await signIn(other, org)).toBe('ok');
  });

  const unretrieved = async () =>
    (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.credentials.clientId;

  it('refused to a client that exists is on record', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    await signIn(app, { clientId: org.clientId, clientSecret: randomSecret() });
    await signIn(app, { clientId: chat.clientId, clientSecret: randomSecret() });
    await app.gateway.services.pendingWrites.flush();
    const events = await auditOf(org.caller);
    expect(
      events.filter(({ action }) => action === 'login_refused').map(({ actor, entityId }) => ({ actor, entityId })),
    ).toEqual([
      { actor: chat.clientId, entityId: `$CLIENT:${chat.clientId}` },
      { actor: org.clientId, entityId: `$CLIENT:${org.clientId}` },
    ]);
  });

  it('that fails is throttled by address, whatever client it names; a right one is not', async () => {
    const org = await newOrg(app);
    const throttled = await open(app.another({ loginPerAddressPerMinute: 3 }));
    const unknown = () => ({ clientId: `org-${randomUUID()}`, clientSecret: randomSecret() });
    for (let i = 0; i < 3; i++) expect(await signIn(throttled, unknown())).toBe('UNAUTHENTICATED');
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
      signIn(throttled, { ...org, clientSecret: randomSecret() }),
      tryRefresh(throttled, randomRefresh()),
      tryRetrieve(throttled, randomRetrieval()),
    ])
      expect(await failing).toBe('RATE_LIMITED');
    expect(await signIn(throttled, org)).toBe('ok');
    expect(await tryRefresh(throttled, org.refreshToken)).toBe('ok');
    expect(await use(throttled, org.accessToken)).toBe('ok');
    const { token } = (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval;
    expect(await tryRetrieve(throttled, token)).toBe('ok');
  });

  it('behind a trusted proxy counts for the address the proxy vouches for, not for what the caller says', async () => {
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
  ])('is refused twice in one operation by %s, and neither is tried', async (_how, operation) => {
    const org = await newOrg(app);
    const { token } = (await rotate(org, { graceHours: 1 })).secretRetrieval;
    const attempt = `issueToken(input: { clientId: "${org.clientId}", clientSecret: "${randomSecret()}" }) { accessToken }`;
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

  /** The parts of a good token of an app, to be put together again wrongly. */
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
      'the second key',
      ({ claims, header, keys }) => signed(claims, { ...header, kid: keys[1].kid as string }, keys[1]),
    ],
  ])(
    'put together by hand but signed with %s is good: what follows fails for its own fault alone',
    async (_what, forge) => {
      expect(await use(app, await forge(await genuine()))).toBe('ok');
    },
  );

  it.each<[string, Forge]>([
    ['alg none', ({ claims, header }) => `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`],
    [
      'alg none and the signature left on',
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
      'a key it brings along',
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
    ['half of it', ({ token }) => token.slice(0, token.length / 2)],
    ['typ JWT', ({ claims, header, keys }) => signed(claims, { ...header, typ: 'JWT' }, keys[0])],
    ['no typ', ({ claims, header: { alg, kid }, keys }) => signed(claims, { alg, kid: kid as string }, keys[0])],
    [
      'another issuer',
      ({ claims, header, keys }) => signed({ ...claims, iss: 'https://elsewhere.example' }, header, keys[0]),
    ],
    ['another audience', ({ claims, header, keys }) => signed({ ...claims, aud: 'elsewhere' }, header, keys[0])],
    [
      'an hour that is over',
      ({ claims, header, keys }) =>
        signed({ ...claims, exp: Math.floor(app.clock.nowMs() / second) - 1 }, header, keys[0]),
    ],
    ...['iss', 'aud', 'sub', 'client_id', 'org', 'role', 'iat', 'exp', 'jti', 'fam'].map<[string, Forge]>((claim) => [
      `no ${claim}`,
      ({ claims, header, keys }) => signed(without(claims, claim), header, keys[0]),
    ]),
    [
      'a client id that is none',
      ({ claims, header, keys }) => signed({ ...claims, client_id: 'platform-admin' }, header, keys[0]),
    ],
    ['5 KB', ({ claims, header, keys }) => signed({ ...claims, padding: 'x'.repeat(5000) }, header, keys[0])],
    ['two dots', () => '..'],
    ['text that is none', () => 'not-a-token'],
    ['braces', () => `${encoded({})}.${encoded({})}.${encoded({})}`],
  ])('with %s is refused with 401 and no word too many', async (_what, forge) => {
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

  it('of another deployment is refused, even where its key has the same name', async () => {
    const [ours] = app.config.signingKeys as [JWK];
    const [theirs] = (await newSigningKeys()) as [JWK];
    const elsewhere = await open(startTestApp({ config: { signingKeys: [{ ...theirs, kid: ours.kid as string }] } }));
    const { accessToken } = await newOrg(elsewhere);
    expect(await use(elsewhere, accessToken)).toBe('ok');
    expect((await app.as(accessToken).send(whoAmI)).status).toBe(401);
  });

  it('is not what a refresh token is', async () => {
    const { refreshToken, clientSecret } = await newOrg(app);
    for (const token of [refreshToken, clientSecret]) {
      const answer = await app.as(token).send(whoAmI);
      expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
    }
    expect(await tryRefresh(app, refreshToken)).toBe('ok');
  });

  it('ends after an hour, remembered or not', async () => {
    const { accessToken } = await newOrg(app);
    app.clock.advance(hour - 30 * second);
    expect(await use(app, accessToken)).toBe('ok');
    app.clock.advance(31 * second);
    for (const at of [app, other]) {
      const answer = await at.as(accessToken).send(whoAmI);
      expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });

  it.each([
    ['20 KB', 20_000],
    ['1 MB', 1024 * 1024],
  ])('of %s is the fault of its sender, and the gateway goes on', async (_size, length) => {
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

describe('a refresh token', () => {
  it('is exchanged for a new pair that works', async () => {
    const org = await newOrg(app);
    const next = await refresh(app, org.refreshToken);
    expect(next).toMatchObject({ tokenType: 'Bearer', expiresInSecs: 3600 });
    // The session began with the org's first login, a moment ago.
    expect(30 * 24 * 3600 - next.refreshExpiresInSecs).toBeLessThan(60 * patience);
    expect(next.refreshExpiresInSecs).toBeLessThanOrEqual(30 * 24 * 3600);
    expect(next.refreshToken).not.toBe(org.refreshToken);
    expect(next.accessToken).not.toBe(org.accessToken);
    const { me } = await app.as(next.accessToken).ask(op.MeDocument);
    expect(me).toMatchObject({ kind: 'ORG_CLIENT', clientId: org.clientId });
    expect((await refresh(app, next.refreshToken)).refreshToken).not.toBe(next.refreshToken);
  });

  it('sent again within 30 s gives the same successor, on whichever gateway', async () => {
    const { refreshToken } = await newOrg(app);
    const first = await refresh(app, refreshToken);
    app.clock.advance(20 * second);
    const again = await refresh(other, refreshToken);
    expect(again.refreshToken).toBe(first.refreshToken);
    for (const { accessToken } of [first, again]) expect(await use(app, accessToken)).toBe('ok');
    expect(await tryRefresh(app, again.refreshToken)).toBe('ok');
  });

  it('presented 20 times at once gives all of them the same successor', async () => {
    const { refreshToken } = await newOrg(app);
    const pairs = await Promise.all(Array.from({ length: 20 }, (_, i) => refresh(i % 2 ? app : other, refreshToken)));
    expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1);
    for (const { accessToken } of pairs) expect(await use(app, accessToken)).toBe('ok');
    expect(await tryRefresh(app, pairs[0]!.refreshToken)).toBe('ok');
  });

  it('sent again after 31 s ends its whole family, here at once and elsewhere within 2 s', async () => {
    const org = await newOrg(app);
    const otherSession = await logInAgain(org);
    const successor = await refresh(app, org.refreshToken);
    const grandchild = await refresh(app, successor.refreshToken);
    const accessTokens = [org.accessToken, successor.accessToken, grandchild.accessToken];
    for (const at of [app, other]) for (const token of accessTokens) expect(await use(at, token)).toBe('ok');
    app.clock.advance(31 * second);
    expect(await tryRefresh(app, org.refreshToken)).toBe('UNAUTHENTICATED');

    for (const token of accessTokens) expect(await use(app, token)).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await tryRefresh(at, grandchild.refreshToken)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens)
      expect(await eventually(() => use(other, token), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await use(at, otherSession.accessToken)).toBe('ok');
    expect(await tryRefresh(app, otherSession.refreshToken)).toBe('ok');
    const [event] = await auditOf(app.as(otherSession.accessToken));
    expect(event).toMatchObject({ action: 'refresh_reused', entityId: `$CLIENT:${org.clientId}` });
  });

  it('lasts 30 days from the login, and so do its successors', async () => {
    const [used, unused] = [await newOrg(app), await newOrg(app)];
    app.clock.advance(30 * day - minute);
    const successor = await refresh(app, used.refreshToken);
    expect(successor.refreshExpiresInSecs).toBeLessThanOrEqual(60);
    expect(successor.expiresInSecs).toBe(successor.refreshExpiresInSecs);
    expect(await use(app, successor.accessToken)).toBe('ok');
    app.clock.advance(minute);
    for (const token of [unused.refreshToken, successor.refreshToken])
      expect(await tryRefresh(app, token)).toBe('UNAUTHENTICATED');
    expect(await use(app, successor.accessToken)).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['an unknown one', randomRefresh],
    ['nothing', () => ''],
    ['a newline', () => `${randomRefresh()}\n`],
    ['10 KB', () => 'x'.repeat(10_000)],
    ['a key', () => 'tgr_#/#'],
    ['an access token', async () => (await newOrg(app)).accessToken],
  ])('that is %s is refused', async (_what, make) => {
    expect(await tryRefresh(app, await make())).toBe('UNAUTHENTICATED');
  });
});

describe('revokeToken', () => {
  it('ends an access token, here at once and elsewhere within 2 s, and no other token', async () => {
    const org = await newOrg(app);
    const otherSession = await logInAgain(org);
    for (const at of [app, other]) expect(await use(at, org.accessToken)).toBe('ok');
    expect(await revoke(app.as(otherSession.accessToken), org.accessToken)).toBe(true);
    const answer = await app.as(org.accessToken).send(whoAmI);
    expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(await eventually(() => use(other, org.accessToken), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await use(at, otherSession.accessToken)).toBe('ok');
    expect(await tryRefresh(app, org.refreshToken)).toBe('ok');
  });

  it('ends with a refresh token all that came of it', async () => {
    const org = await newOrg(app);
    const successor = await refresh(app, org.refreshToken);
    const otherSession = await logInAgain(org);
    const accessTokens = [org.accessToken, successor.accessToken];
    for (const at of [app, other]) for (const token of accessTokens) expect(await use(at, token)).toBe('ok');
    expect(await revoke(app.as(otherSession.accessToken), successor.refreshToken)).toBe(true);
    for (const token of accessTokens) expect(await use(app, token)).toBe('UNAUTHENTICATED');
    for (const token of [org.refreshToken, successor.refreshToken])
      expect(await tryRefresh(app, token)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens)
      expect(await eventually(() => use(other, token), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    expect(await use(app, otherSession.accessToken)).toBe('ok');
  });

  it('may be sent again, and by a client for its own last token', async () => {
    const org = await newOrg(app);
    const { accessToken } = await logInAgain(org);
    expect([await revoke(org.caller, accessToken), await revoke(org.caller, accessToken)]).toEqual([true, true]);
    expect(await use(app, accessToken)).toBe('UNAUTHENTICATED');
    expect(await revoke(org.caller, org.accessToken)).toBe(true);
    expect(await use(app, org.accessToken)).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['an unknown refresh token', randomRefresh],
    ['an expired access token', () => expired.accessToken],
    ['an expired refresh token', () => expired.refreshToken],
    ['nothing', () => ''],
    ['a newline', () => '\n'],
    ['a key', () => '#/#'],
    ['100 KB', () => 'x'.repeat(100_000)],
  ])('is true for %s', async (_what, make) => {
    const { caller } = await newOrg(app);
    expect(await revoke(caller, make())).toBe(true);
    expect(await revoke(app.admin, make())).toBe(true);
  });

  let expired: Client;
  beforeAll(async () => {
    expired = await newOrg(app);
    app.clock.advance(31 * day);
  });

  it.each(['accessToken', 'refreshToken'] as const)(
    "is true for a foreign org's %s, which goes on working",
    async (which) => {
      const [mine, theirs] = [await newOrg(app), await newOrg(app)];
      expect(await revoke(mine.caller, theirs[which])).toBe(true);
      for (const at of [app, other]) expect(await use(at, theirs.accessToken)).toBe('ok');
      expect(await tryRefresh(app, theirs.refreshToken)).toBe('ok');
    },
  );

  it.each(['accessToken', 'refreshToken'] as const)(
    "is true for an app client with its org's or a sibling's %s, which goes on working",
    async (which) => {
      const org = await newOrg(app);
      const [chat, search] = [await newApp(app, org), await newApp(app, org, 'search')];
      for (const { [which]: token, accessToken, refreshToken } of [org, search]) {
        expect(await revoke(chat.caller, token)).toBe(true);
        for (const at of [app, other]) expect(await use(at, accessToken)).toBe('ok');
        expect(await tryRefresh(app, refreshToken)).toBe('ok');
      }
    },
  );

  it.each(['accessToken', 'refreshToken'] as const)(
    "ends an app's %s for its org, for the admin and for itself",
    async (which) => {
      const org = await newOrg(app);
      for (const [appId, by] of [
        ['by-org', () => org.caller],
        ['by-admin', () => app.admin],
        ['by-itself', (own: Client) => own.caller],
      ] as const) {
        const own = await newApp(app, org, appId);
        expect(await use(app, own.accessToken)).toBe('ok');
        expect(await revoke(by(own), own[which])).toBe(true);
        expect([appId, await use(app, own.accessToken)]).toEqual([appId, 'UNAUTHENTICATED']);
      }
    },
  );

  it('is not for the anonymous', async () => {
    const { accessToken } = await newOrg(app);
    expect(await app.anonymous.codeOf(op.RevokeTokenDocument, { token: accessToken })).toBe('UNAUTHENTICATED');
    expect(await use(app, accessToken)).toBe('ok');
  });
});

describe('a request', () => {
  it.each([
    ['a token and the admin key', ['authorization', 'x-admin-key']],
    ['a token and an API key', ['authorization', 'x-api-key']],
    ['the admin key and an API key', ['x-admin-key', 'x-api-key']],
    ['all three', ['authorization', 'x-admin-key', 'x-api-key']],
  ])('with %s is refused, good as each may be', async (_what, names) => {
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
    ['the beginning of the admin key', { 'x-admin-key': adminKey.slice(0, -1) }],
    ['more than the admin key', { 'x-admin-key': `${adminKey}x` }],
    ['an empty admin key', { 'x-admin-key': '' }],
    ['HTTP Basic', { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` }],
    ['the admin key as a token', { authorization: `Bearer ${adminKey}` }],
    ['Bearer and nothing', { authorization: 'Bearer' }],
    ['an empty authorization', { authorization: '' }],
    ['an unknown API key', { 'x-api-key': `tgk_${'0'.repeat(32)}_${'0'.repeat(64)}` }],
    ['a malformed API key', { 'x-api-key': '#/#' }],
    ['an empty API key', { 'x-api-key': '' }],
  ])('with %s is refused, not taken for anonymous', async (_what, headers) => {
    // An operation that the anonymous may call: only the credential is at fault.
    const answer = await app.anonymous.send(op.RetrieveSecretDocument, { token: randomRetrieval() }, headers);
    expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('with a token that was used before costs no read, no write and no call to the store', async () => {
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
    expect((await priceOf()).calls).toBeGreaterThan(0); // the first time, revocations are looked up
    // The revocation version is read once a second beside all requests, so one of the tries may show that read.
    const prices = [];
    for (let i = 0; i < 5; i++) prices.push(await priceOf());
    expect(prices).toContainEqual({ read: 0, write: 0, calls: 0 });
  });
});

async function auditPage(caller: Caller, variables: op.AuditQueryVariables = {}) {
  const { org } = await caller.ask(op.AuditDocument, variables);
  if (!org) throw new Error('the caller has no org');
  return org.auditEvents;
}

const auditOf = async (caller: Caller, variables: op.AuditQueryVariables = {}) =>
  (await auditPage(caller, { first: 100, ...variables })).nodes;

describe('the audit trail', () => {
  let org: Awaited<ReturnType<typeof newOrg>>;
  let chat: Awaited<ReturnType<typeof newApp>>;
  let caller: Caller;
  const confidential: string[] = [];
  /** Newest first, as the trail must tell it. */
  const acts: { action: string; actor: string; entityId: string }[] = [];

  beforeAll(async () => {
    const happened = (action: string, actor: string, entityId: string) => {
      acts.unshift({ action, actor, entityId });
      app.clock.advance(1);
    };
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { orgId } = registerOrg.org;
    const clientId = `org-${orgId}`;
    happened('org_registered', 'platform-admin:admin', '$ORG');
    org = { orgId, ...(await logInWith(app, registerOrg.secretRetrieval.token)) };
    happened('secret_retrieved', clientId, `$CLIENT:${clientId}`);
    happened('login_succeeded', clientId, `$CLIENT:${clientId}`);
    caller = org.caller;

    await caller.ask(op.UpdateOrgDocument, { input: { name: 'Acme Ltd' } });
    happened('org_updated', clientId, '$ORG');
    const { registerApp } = await caller.ask(op.RegisterAppDocument, { input: { appId: 'chat', name: 'Chat' } });
    happened('app_registered', clientId, '$APP:chat');
    chat = { orgId, appId: 'chat', ...(await logInWith(app, registerApp.secretRetrieval.token)) };
    happened('secret_retrieved', chat.clientId, `$CLIENT:${chat.clientId}`);
    happened('login_succeeded', chat.clientId, `$CLIENT:${chat.clientId}`);
    await app.admin.ask(op.UpdateAppDocument, { input: { orgId, appId: 'chat', tightModeThresholdPct: 50 } });
    happened('app_updated', 'platform-admin:admin', '$APP:chat');

    const { secretRetrieval } = await rotate(chat, { graceHours: 5 });
    happened('credentials_rotated', chat.clientId, `$CLIENT:${chat.clientId}`);
    const renewed = await logInWith(app, secretRetrieval.token);
    happened('secret_retrieved', chat.clientId, `$CLIENT:${chat.clientId}`);
    await revoke(caller, renewed.accessToken);
    happened('token_revoked', clientId, `$CLIENT:${chat.clientId}`);
    await revoke(app.admin, renewed.refreshToken);
    happened('token_revoked', 'platform-admin:admin', `$CLIENT:${chat.clientId}`);
    const wrong = { clientId, clientSecret: randomSecret() };
    await signIn(app, wrong);
    await app.gateway.services.pendingWrites.flush();
    happened('login_refused', clientId, `$CLIENT:${clientId}`);

    confidential.push(
      registerOrg.secretRetrieval.token,
      registerApp.secretRetrieval.token,
      secretRetrieval.token,
      wrong.clientSecret,
    );
    for (const client of [org, chat, renewed])
      confidential.push(client.clientSecret, client.accessToken, client.refreshToken);
  });

  it('tells every identity act of an org, newest first, with who did it to what', async () => {
    const events = await auditOf(caller);
    expect(events.map(({ action, actor, entityId }) => ({ action, actor, entityId }))).toEqual(acts);
    expect(events.map(({ at }) => at)).toEqual(
      events
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    expect(await auditOf(app.admin, { orgId: org.orgId })).toEqual(events);
  });

  it('says what was changed and with how long a grace', async () => {
    const details = Object.fromEntries((await auditOf(caller)).map((event) => [event.action, event.details]));
    expect(details).toMatchObject({
      org_updated: [{ name: 'name', value: 'Acme Ltd', previousValue: 'Acme' }],
      app_updated: [{ name: 'tightModeThresholdPct', value: '50', previousValue: 'inherited' }],
      credentials_rotated: [{ name: 'graceHours', value: '5', previousValue: null }],
    });
  });

  it.each(['$ORG', '$APP:chat', 'the org client', 'the app client', '$APP:none'])(
    'can be asked for what was done to %s alone',
    async (what) => {
      const entityId =
        { 'the org client': `$CLIENT:${org.clientId}`, 'the app client': `$CLIENT:${chat.clientId}` }[what] ?? what;
      const events = await auditOf(caller, { entityId });
      expect(events.map(({ action, actor }) => ({ action, actor }))).toEqual(
        acts.filter((act) => act.entityId === entityId).map(({ action, actor }) => ({ action, actor })),
      );
    },
  );

  it.each(['all', 'one'])('comes in pages that add up to the whole, of %s', async (which) => {
    const entityId = which === 'one' ? `$CLIENT:${chat.clientId}` : null;
    const whole = await auditOf(caller, { entityId });
    expect(whole.length).toBeGreaterThan(4);
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo } = await auditPage(caller, { entityId, first: 2, after });
      expect(nodes.length).toBe(Math.min(2, whole.length - seen.length));
      seen.push(...nodes.map(({ id }) => id));
      after = pageInfo.endCursor;
      if (!pageInfo.hasNextPage) break;
    }
    expect(seen).toEqual(whole.map(({ id }) => id));
  });

  it('holds no secret and no token', async () => {
    const told = JSON.stringify(await auditOf(caller));
    expect(confidential.filter((text) => told.includes(text) || told.includes(text.slice(4)))).toEqual([]);
  });

  it("is closed to the org's apps and to foreign orgs", async () => {
    expect(await chat.caller.codeOf(op.AuditDocument, { orgId: org.orgId })).toBe('FORBIDDEN');
    const foreign = await newOrg(app);
    expect((await foreign.caller.ask(op.AuditDocument, { orgId: org.orgId })).org).toBeNull();
  });
});

describe('at rest and in the log', () => {
  it('no secret and no token is found in any table or line', async () => {
    const lines: string[] = [];
    const watched = await open(startTestApp({ log: createLog('trace', { write: (line) => void lines.push(line) }) }));
    const confidential: string[] = [];
    const keep = (...secrets: readonly string[]) => confidential.push(...secrets);

    const { registerOrg } = await watched.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const org = { orgId: registerOrg.org.orgId, ...(await logInWith(watched, registerOrg.secretRetrieval.token)) };
    const chat = await newApp(watched, org);
    const rotated = await rotate(chat, { graceHours: 1 });
    const renewed = await logInWith(watched, rotated.secretRetrieval.token);
    const emergency = await rotate(org, { graceHours: 0 });
    const abandoned = await rotate(renewed, { graceHours: 0 });
    const next = await refresh(watched, renewed.refreshToken);
    await revoke(watched.admin, next.accessToken);
    await revoke(watched.admin, next.refreshToken);
    const last = await logInWith(watched, emergency.secretRetrieval.token);
    const wrong = randomSecret();
    await signIn(watched, { clientId: org.clientId, clientSecret: wrong });
    await signIn(watched, { clientId: wrong, clientSecret: org.clientSecret });
    await tryRetrieve(watched, registerOrg.secretRetrieval.token);
    await use(watched, next.accessToken);
    await watched.admin.send(`{ ${org.clientSecret} }`);
    await watched.admin.send(`mutation { revokeToken(token: "${last.refreshToken}", ${last.refreshToken}: 1) }`);

    keep(
      registerOrg.secretRetrieval.token,
      rotated.secretRetrieval.token,
      emergency.secretRetrieval.token,
      abandoned.secretRetrieval.token,
      wrong,
      adminKey,
    );
    for (const { clientSecret, accessToken, refreshToken } of [org, chat, renewed, last])
      keep(clientSecret, accessToken, refreshToken);
    keep(next.accessToken, next.refreshToken);
    // Neither whole nor without what gives it away: the prefix, or the token around the signature.
    const telling = confidential.flatMap((secret) => [
      secret,
      secret.startsWith('ey') ? secret.split('.')[2]! : secret.slice(4),
    ]);

    const { client, prefix } = watched.tableAdmin;
    let stored = '';
    for (const table of tableNames) {
      for (let start: Record<string, never> | undefined, more = true; more; more = start !== undefined) {
        const { Items, LastEvaluatedKey } = await client.send(
          new ScanCommand({ TableName: prefix + table, ConsistentRead: true, ExclusiveStartKey: start }),
        );
        stored += JSON.stringify(Items);
        start = LastEvaluatedKey as typeof start;
      }
    }
    const logged = lines.join('');
    expect(telling.filter((text) => stored.includes(text))).toEqual([]);
    expect(telling.filter((text) => logged.includes(text))).toEqual([]);
    // That what was searched is what was written.
    for (const written of [org.clientId, chat.clientId, '$2b$', 'login_refused', 'valid_from_generation'])
      expect(stored).toContain(written);
    for (const written of ['issueToken', 'retrieveSecret', 'revokeToken', org.clientId])
      expect(logged).toContain(written);
  });
});
