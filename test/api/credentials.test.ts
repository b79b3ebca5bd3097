import { randomUUID } from 'node:crypto';
import {
  type Caller,
  logInWith,
  newApp,
  newOrg,
  orgInput,
  startTestApp,
  stoppedAfterAll,
  type TestApp,
} from '../support/app.js';
import {
  bytesOf,
  codeIn,
  eventually,
  frozenClock,
  hourMs,
  logInAgain,
  minuteMs,
  randomRetrieval,
  retrieve,
  rotate,
  secondMs,
  tryLogIn,
  tryRefresh,
  tryRetrieve,
  tryToken,
} from '../support/identity.js';
import * as op from '../support/operations.js';

let app: TestApp;
/** A second gateway on the same tables, with caches of its own. */
let other: TestApp;
const open = stoppedAfterAll();

beforeAll(async () => {
  app = await open(startTestApp());
  other = await open(app.another());
});

const credentialsOf = async (caller: Caller) => (await caller.ask(op.OrgDocument)).org?.credentials;

describe('retrieveSecret', () => {
  const issued = async (at: TestApp = app) =>
    (await at.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval;

  it.each([
    ['one gateway', () => [app]],
    ['two gateways', () => [app, other]],
  ])('returns one secret if a token is sent 50 times at once to %s', async (_where, gateways) => {
    const { token } = await issued();
    const at = gateways();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => at[i % at.length]!.anonymous.send(op.RetrieveSecretDocument, { token })),
    );
    const secrets = answers.flatMap(({ data }) => (data ? [data.retrieveSecret] : []));
    expect(secrets).toHaveLength(1);
    expect(answers.map(codeIn).sort()).toEqual([...Array.from({ length: 49 }, () => 'NOT_FOUND'), 'ok']);
    expect(await tryLogIn(app, secrets[0]!)).toBe('ok');
  });

  it('returns the same bytes for a used, expired, voided or malformed token as for an unknown one', async () => {
    const spent = await issued();
    await retrieve(app, spent.token);
    const org = await newOrg(app);
    const voided = (await rotate(org, { graceHours: 1 })).secretRetrieval;
    await rotate(org, { graceHours: 1 });
    const expired = await issued();
    const unknown = await bytesOf(app, op.RetrieveSecretDocument, { token: randomRetrieval() });
    expect(unknown).toContain('"NOT_FOUND"');
    expect(await bytesOf(app, op.RetrieveSecretDocument, spent)).toBe(unknown);
    expect(await bytesOf(app, op.RetrieveSecretDocument, voided)).toBe(unknown);
    app.clock.advance(10 * minuteMs);
    expect(await bytesOf(app, op.RetrieveSecretDocument, expired)).toBe(unknown);
    expect(await bytesOf(app, op.RetrieveSecretDocument, { token: 'x' })).toBe(unknown);
  });

  it.each([
    ['an empty string', () => ''],
    ['have a newline at its end', (token: string) => `${token}\n`],
    ['have 10 KB', (token: string) => token + 'x'.repeat(10_000)],
    ['end with #', (token: string) => token.replace(/.$/, '#')],
    ['end with /', (token: string) => token.replace(/.$/, '/')],
    ['end with NUL', (token: string) => token.replace(/.$/, '\u0000')],
    ['upper case', (token: string) => token.toUpperCase()],
    ['lack its last character', (token: string) => token.slice(0, -1)],
  ])('refuses a token changed to %s and does not use it up', async (_what, spoil) => {
    const { token } = await issued();
    expect(await tryRetrieve(app, spoil(token))).toBe('NOT_FOUND');
    expect(await tryRetrieve(app, token)).toBe('ok');
  });

  it('accepts a token until the millisecond before expiresAt and refuses it from then on', async () => {
    const still = await open(startTestApp({ clock: frozenClock() }));
    const [early, late] = [await issued(still), await issued(still)];
    const leftMs = Date.parse(early.expiresAt) - still.clock.nowMs();
    expect(leftMs).toBeLessThanOrEqual(10 * minuteMs);
    expect(leftMs).toBeGreaterThan(10 * minuteMs - 1000);
    still.clock.advance(leftMs - 1);
    const before = await tryRetrieve(still, early.token);
    still.clock.advance(1);
    expect([before, await tryRetrieve(still, late.token)]).toEqual(['ok', 'NOT_FOUND']);
  });

  it('refuses a token after a later rotation, whose own token works', async () => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { org, secretRetrieval: first } = registerOrg;
    const { secretRetrieval: next } = await rotate(app.admin, { orgId: org.orgId, graceHours: 1 });
    expect(await tryRetrieve(app, first.token)).toBe('NOT_FOUND');
    expect(await tryRetrieve(app, next.token)).toBe('ok');
  });
});

describe('rotateCredentials', () => {
  it.each([0, 24])('changes nothing until its token is redeemed, with a grace of %i h', async (graceHours) => {
    const org = await newOrg(app);
    const before = await credentialsOf(org.caller);
    const { credentials } = await rotate(org, { graceHours });
    expect(credentials).toEqual(before);
    expect(before).toMatchObject({ clientId: org.clientId, graceExpiresAt: null });
    expect(await credentialsOf(org.caller)).toEqual(before);
    app.clock.advance(11 * minuteMs); // the retrieval token has expired
    for (const at of [app, other]) {
      expect(await tryLogIn(at, org)).toBe('ok');
      expect(await tryToken(at, org.accessToken)).toBe('ok');
    }
    expect(await tryRefresh(app, org.refreshToken)).toBe('ok');
  });

  it('lets the old secret work beside the new one until the grace ends, counted from the retrieval', async () => {
    const still = await open(startTestApp({ clock: frozenClock() }));
    const org = await newOrg(still);
    const { secretRetrieval } = await rotate(org, { graceHours: 2 });
    still.clock.advance(9 * minuteMs);
    const retrievedAtMs = still.clock.nowMs();
    const renewed = await retrieve(still, secretRetrieval.token);
    expect(renewed.clientSecret).not.toBe(org.clientSecret);
    const { secretCreatedAt, graceExpiresAt } = (await credentialsOf(still.as(org.accessToken)))!;
    expect(Math.floor(Date.parse(secretCreatedAt!) / secondMs)).toBe(Math.floor(retrievedAtMs / secondMs));
    expect(Math.floor(Date.parse(graceExpiresAt!) / secondMs)).toBe(
      Math.floor((retrievedAtMs + 2 * hourMs) / secondMs),
    );

    still.clock.advance(Date.parse(graceExpiresAt!) - still.clock.nowMs() - 1);
    // A new gateway for each moment, so that none responds from its cache.
    const before = await open(still.another());
    expect([await tryLogIn(before, org), await tryLogIn(before, renewed)]).toEqual(['ok', 'ok']);
    still.clock.advance(1);
    const after = await open(still.another());
    expect([await tryLogIn(after, org), await tryLogIn(after, renewed)]).toEqual(['UNAUTHENTICATED', 'ok']);
  });

  it('ends the old secret with its grace even if a login just before has cached it', async () => {
    const org = await newOrg(app);
    const { secretRetrieval } = await rotate(org, { graceHours: 1 });
    await retrieve(app, secretRetrieval.token);
    app.clock.advance(hourMs - 20 * secondMs);
    expect(await tryLogIn(app, org)).toBe('ok');
    app.clock.advance(20 * secondMs);
    expect(await tryLogIn(app, org)).toBe('UNAUTHENTICATED');
  });

  it('keeps the tokens issued before if it has a grace', async () => {
    const org = await newOrg(app);
    await retrieve(app, (await rotate(org, { graceHours: 1 })).secretRetrieval.token);
    for (const at of [app, other]) expect(await tryToken(at, org.accessToken)).toBe('ok');
    expect(await tryRefresh(app, org.refreshToken)).toBe('ok');
  });

  it('makes the current secret the previous one and ends the oldest, if retrieved during a grace', async () => {
    const oldest = await newOrg(app);
    const current = await retrieve(app, (await rotate(oldest, { graceHours: 168 })).secretRetrieval.token);
    expect([await tryLogIn(app, oldest), await tryLogIn(other, oldest)]).toEqual(['ok', 'ok']);
    app.clock.advance(minuteMs);
    const newest = await retrieve(
      app,
      (await rotate({ ...oldest, ...current }, { graceHours: 1 })).secretRetrieval.token,
    );
    expect([await tryLogIn(app, oldest), await tryLogIn(app, current), await tryLogIn(app, newest)]).toEqual([
      'UNAUTHENTICATED',
      'ok',
      'ok',
    ]);
    expect(await eventually(() => tryLogIn(other, oldest), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    const { graceExpiresAt } = (await credentialsOf(oldest.caller))!;
    expect(Date.parse(graceExpiresAt!) - app.clock.nowMs()).toBeLessThanOrEqual(hourMs);
    app.clock.advance(hourMs);
    const withEmptyCache = await open(app.another());
    expect([await tryLogIn(withEmptyCache, current), await tryLogIn(withEmptyCache, newest)]).toEqual([
      'UNAUTHENTICATED',
      'ok',
    ]);
  });

  it('ends the old secret and all its tokens at once if it has no grace', async () => {
    const org = await newOrg(app);
    const sibling = await newApp(app, org);
    const refreshed = (
      await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken: (await logInAgain(app, org)).refreshToken })
    ).refreshToken;
    const accessTokens = [org.accessToken, refreshed.accessToken];
    const refreshTokens = [org.refreshToken, refreshed.refreshToken];
    for (const at of [app, other]) {
      expect(await tryLogIn(at, org)).toBe('ok');
      for (const token of accessTokens) expect(await tryToken(at, token)).toBe('ok');
    }
    const { secretRetrieval } = await rotate(org, { graceHours: 0 });
    const renewed = await logInWith(app, secretRetrieval.token);

    expect(await tryLogIn(app, org)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens) expect(await tryToken(app, token)).toBe('UNAUTHENTICATED');
    for (const at of [app, other])
      for (const token of refreshTokens) expect(await tryRefresh(at, token)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens)
      expect(await eventually(() => tryToken(other, token), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    expect(await tryLogIn(other, org)).toBe('UNAUTHENTICATED');

    for (const at of [app, other]) {
      expect(await tryLogIn(at, renewed)).toBe('ok');
      expect(await tryToken(at, renewed.accessToken)).toBe('ok');
      expect(await tryToken(at, sibling.accessToken)).toBe('ok');
    }
    expect(await tryRefresh(app, renewed.refreshToken)).toBe('ok');
    expect((await credentialsOf(renewed.caller))?.graceExpiresAt).toBeNull();
  });

  it('ends the grace of an earlier rotation if it has no grace itself', async () => {
    const oldest = await newOrg(app);
    const current = await retrieve(app, (await rotate(oldest, { graceHours: 24 })).secretRetrieval.token);
    const newest = await retrieve(
      app,
      (await rotate({ ...oldest, ...current }, { graceHours: 0 })).secretRetrieval.token,
    );
    expect([await tryLogIn(app, oldest), await tryLogIn(app, current), await tryLogIn(app, newest)]).toEqual([
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'ok',
    ]);
  });

  it.each([-1, 169, 2 ** 31, 1.5])('refuses a grace of %d h and voids no retrieval token', async (graceHours) => {
    const org = await newOrg(app);
    const { secretRetrieval } = await rotate(org, { graceHours: 168 });
    expect(
      await org.caller.codeOf(op.RotateCredentialsDocument, { input: { graceHours, currentSecret: org.clientSecret } }),
    ).toBe('BAD_USER_INPUT');
    expect(await tryRetrieve(app, secretRetrieval.token)).toBe('ok');
  });

  it('leaves one working retrieval token if two admins rotate at once', async () => {
    const org = await newOrg(app);
    const started = await Promise.all(
      [app, other].map(({ admin }) => rotate(admin, { orgId: org.orgId, graceHours: 0 })),
    );
    const answers = await Promise.all(
      started.map(({ secretRetrieval: { token } }) => app.anonymous.send(op.RetrieveSecretDocument, { token })),
    );
    expect(answers.map(codeIn).sort()).toEqual(['NOT_FOUND', 'ok']);
    const [secret] = answers.flatMap(({ data }) => (data ? [data.retrieveSecret] : []));
    expect([await tryLogIn(app, org), await tryLogIn(app, secret!)]).toEqual(['UNAUTHENTICATED', 'ok']);
  });

  it('never returns a secret that does not work, in a race with a retrieval', async () => {
    for (let round = 0; round < 5; round++) {
      const org = await newOrg(app);
      const { secretRetrieval } = await rotate(org, { graceHours: 1 });
      const [retrieved] = await Promise.all([
        app.anonymous.send(op.RetrieveSecretDocument, { token: secretRetrieval.token }),
        rotate(other.admin, { orgId: org.orgId, graceHours: 1 }),
      ]);
      const working = retrieved.data ? retrieved.data.retrieveSecret : org;
      expect(await tryLogIn(app, working)).toBe('ok');
      if (!retrieved.data) expect(codeIn(retrieved)).toBe('NOT_FOUND');
    }
  });
});

describe('an app client', () => {
  it('rotates its own credentials if it names no app', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const { credentials, secretRetrieval } = await rotate(chat, { graceHours: 0 });
    expect(credentials.clientId).toBe(chat.clientId);
    expect((await retrieve(app, secretRetrieval.token)).clientId).toBe(chat.clientId);
    expect([await tryLogIn(app, chat), await tryLogIn(app, org)]).toEqual(['UNAUTHENTICATED', 'ok']);
  });

  it('gets the same response for a sibling app as for an app that does not exist, and rotates nothing', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const search = await newApp(app, org, 'search');
    const { secretRetrieval } = await rotate(search, { graceHours: 0 });
    const as = { authorization: `Bearer ${chat.accessToken}` };
    const ofNone = await bytesOf(app, op.RotateCredentialsDocument, { input: { appId: 'nothing-here' } }, as);
    expect(ofNone).toContain('"NOT_FOUND"');
    expect(await bytesOf(app, op.RotateCredentialsDocument, { input: { appId: 'search' } }, as)).toBe(ofNone);
    expect(await tryRetrieve(app, secretRetrieval.token)).toBe('ok');
    expect((await rotate(chat, { appId: 'chat' })).credentials.clientId).toBe(chat.clientId);
  });
});

describe('an org client', () => {
  it('rotates the credentials of its apps and gets NOT_FOUND for those of other orgs', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const foreign = await newOrg(app);
    await newApp(app, foreign, 'theirs');
    expect((await rotate(org.caller, { appId: 'chat' })).credentials.clientId).toBe(chat.clientId);
    const as = { authorization: `Bearer ${org.accessToken}` };
    const ofNone = await bytesOf(app, op.RotateCredentialsDocument, { input: { orgId: randomUUID() } }, as);
    expect(ofNone).toContain('"NOT_FOUND"');
    expect(await bytesOf(app, op.RotateCredentialsDocument, { input: { orgId: foreign.orgId } }, as)).toBe(ofNone);
    expect(await org.caller.codeOf(op.RotateCredentialsDocument, { input: { appId: 'theirs' } })).toBe('NOT_FOUND');
  });
});
