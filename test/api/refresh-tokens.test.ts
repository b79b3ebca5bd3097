import { type Client, newApp, newOrg, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';
import {
  auditOf,
  codeIn,
  dayMs,
  eventually,
  logInAgain,
  minuteMs,
  randomRefresh,
  refresh,
  revoke,
  secondMs,
  tryRefresh,
  tryToken,
  whoAmI,
} from '../support/identity.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

let app: TestApp;
/** A second gateway on the same tables, with caches of its own. */
let other: TestApp;
const open = stoppedAfterAll();

beforeAll(async () => {
  app = await open(startTestApp());
  other = await open(app.another());
});

describe('refreshToken', () => {
  it('returns a new pair that works', async () => {
    const org = await newOrg(app);
    const next = await refresh(app, org.refreshToken);
    expect(next).toMatchObject({ tokenType: 'Bearer', expiresInSecs: 3600 });
    // The session began with the first login of the org, a moment ago.
    expect(30 * 24 * 3600 - next.refreshExpiresInSecs).toBeLessThan(60 * patience);
    expect(next.refreshExpiresInSecs).toBeLessThanOrEqual(30 * 24 * 3600);
    expect(next.refreshToken).not.toBe(org.refreshToken);
    expect(next.accessToken).not.toBe(org.accessToken);
    const { me } = await app.as(next.accessToken).ask(op.MeDocument);
    expect(me).toMatchObject({ kind: 'ORG_CLIENT', clientId: org.clientId });
    expect((await refresh(app, next.refreshToken)).refreshToken).not.toBe(next.refreshToken);
  });

  it('returns the same successor for a retry within 30 s, on any gateway', async () => {
    const { refreshToken } = await newOrg(app);
    const first = await refresh(app, refreshToken);
    app.clock.advance(20 * secondMs);
    const again = await refresh(other, refreshToken);
    expect(again.refreshToken).toBe(first.refreshToken);
    for (const { accessToken } of [first, again]) expect(await tryToken(app, accessToken)).toBe('ok');
    expect(await tryRefresh(app, again.refreshToken)).toBe('ok');
  });

  it('returns the same successor to 20 concurrent calls', async () => {
    const { refreshToken } = await newOrg(app);
    const pairs = await Promise.all(Array.from({ length: 20 }, (_, i) => refresh(i % 2 ? app : other, refreshToken)));
    expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1);
    for (const { accessToken } of pairs) expect(await tryToken(app, accessToken)).toBe('ok');
    expect(await tryRefresh(app, pairs[0]!.refreshToken)).toBe('ok');
  });

  it('ends the whole family if a token is used again after 31 s: here at once, elsewhere within 2 s', async () => {
    const org = await newOrg(app);
    const otherSession = await logInAgain(app, org);
    const successor = await refresh(app, org.refreshToken);
    const grandchild = await refresh(app, successor.refreshToken);
    const accessTokens = [org.accessToken, successor.accessToken, grandchild.accessToken];
    for (const at of [app, other]) for (const token of accessTokens) expect(await tryToken(at, token)).toBe('ok');
    app.clock.advance(31 * secondMs);
    expect(await tryRefresh(app, org.refreshToken)).toBe('UNAUTHENTICATED');

    for (const token of accessTokens) expect(await tryToken(app, token)).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await tryRefresh(at, grandchild.refreshToken)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens)
      expect(await eventually(() => tryToken(other, token), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await tryToken(at, otherSession.accessToken)).toBe('ok');
    expect(await tryRefresh(app, otherSession.refreshToken)).toBe('ok');
    const [event] = await auditOf(app.as(otherSession.accessToken));
    expect(event).toMatchObject({ action: 'refresh_reused', entityId: `$CLIENT:${org.clientId}` });
  });

  it('works for 30 days from the login, successors included', async () => {
    const [used, unused] = [await newOrg(app), await newOrg(app)];
    app.clock.advance(30 * dayMs - minuteMs);
    const successor = await refresh(app, used.refreshToken);
    expect(successor.refreshExpiresInSecs).toBeLessThanOrEqual(60);
    expect(successor.expiresInSecs).toBe(successor.refreshExpiresInSecs);
    expect(await tryToken(app, successor.accessToken)).toBe('ok');
    app.clock.advance(minuteMs);
    for (const token of [unused.refreshToken, successor.refreshToken])
      expect(await tryRefresh(app, token)).toBe('UNAUTHENTICATED');
    expect(await tryToken(app, successor.accessToken)).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['an unknown token', randomRefresh],
    ['an empty string', () => ''],
    ['a newline at the end', () => `${randomRefresh()}\n`],
    ['10 KB', () => 'x'.repeat(10_000)],
    ['key separators', () => 'tgr_#/#'],
    ['an access token', async () => (await newOrg(app)).accessToken],
  ])('refuses %s', async (_what, make) => {
    expect(await tryRefresh(app, await make())).toBe('UNAUTHENTICATED');
  });
});

describe('revokeToken', () => {
  it('ends an access token and no other: on this gateway at once, on others within 2 s', async () => {
    const org = await newOrg(app);
    const otherSession = await logInAgain(app, org);
    for (const at of [app, other]) expect(await tryToken(at, org.accessToken)).toBe('ok');
    expect(await revoke(app.as(otherSession.accessToken), org.accessToken)).toBe(true);
    const answer = await app.as(org.accessToken).send(whoAmI);
    expect([answer.status, codeIn(answer)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(await eventually(() => tryToken(other, org.accessToken), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await tryToken(at, otherSession.accessToken)).toBe('ok');
    expect(await tryRefresh(app, org.refreshToken)).toBe('ok');
  });

  it('ends the whole family of a refresh token', async () => {
    const org = await newOrg(app);
    const successor = await refresh(app, org.refreshToken);
    const otherSession = await logInAgain(app, org);
    const accessTokens = [org.accessToken, successor.accessToken];
    for (const at of [app, other]) for (const token of accessTokens) expect(await tryToken(at, token)).toBe('ok');
    expect(await revoke(app.as(otherSession.accessToken), successor.refreshToken)).toBe(true);
    for (const token of accessTokens) expect(await tryToken(app, token)).toBe('UNAUTHENTICATED');
    for (const token of [org.refreshToken, successor.refreshToken])
      expect(await tryRefresh(app, token)).toBe('UNAUTHENTICATED');
    for (const token of accessTokens)
      expect(await eventually(() => tryToken(other, token), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    expect(await tryToken(app, otherSession.accessToken)).toBe('ok');
  });

  it('is idempotent, and lets a client end the token that it calls with', async () => {
    const org = await newOrg(app);
    const { accessToken } = await logInAgain(app, org);
    expect([await revoke(org.caller, accessToken), await revoke(org.caller, accessToken)]).toEqual([true, true]);
    expect(await tryToken(app, accessToken)).toBe('UNAUTHENTICATED');
    expect(await revoke(org.caller, org.accessToken)).toBe(true);
    expect(await tryToken(app, org.accessToken)).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['an unknown refresh token', randomRefresh],
    ['an expired access token', () => expired.accessToken],
    ['an expired refresh token', () => expired.refreshToken],
    ['an empty string', () => ''],
    ['a newline', () => '\n'],
    ['key separators', () => '#/#'],
    ['100 KB', () => 'x'.repeat(100_000)],
  ])('returns true for %s', async (_what, make) => {
    const { caller } = await newOrg(app);
    expect(await revoke(caller, make())).toBe(true);
    expect(await revoke(app.admin, make())).toBe(true);
  });

  let expired: Client;
  beforeAll(async () => {
    expired = await newOrg(app);
    app.clock.advance(31 * dayMs);
  });

  it.each(['accessToken', 'refreshToken'] as const)(
    "returns true for another org's %s, which keeps working",
    async (which) => {
      const [mine, theirs] = [await newOrg(app), await newOrg(app)];
      expect(await revoke(mine.caller, theirs[which])).toBe(true);
      for (const at of [app, other]) expect(await tryToken(at, theirs.accessToken)).toBe('ok');
      expect(await tryRefresh(app, theirs.refreshToken)).toBe('ok');
    },
  );

  it.each(['accessToken', 'refreshToken'] as const)(
    "returns true for an app client that sends its org's or a sibling's %s, which keeps working",
    async (which) => {
      const org = await newOrg(app);
      const [chat, search] = [await newApp(app, org), await newApp(app, org, 'search')];
      for (const { [which]: token, accessToken, refreshToken } of [org, search]) {
        expect(await revoke(chat.caller, token)).toBe(true);
        for (const at of [app, other]) expect(await tryToken(at, accessToken)).toBe('ok');
        expect(await tryRefresh(app, refreshToken)).toBe('ok');
      }
    },
  );

  it.each(['accessToken', 'refreshToken'] as const)(
    "ends an app's %s if its org, the admin or the app itself calls",
    async (which) => {
      const org = await newOrg(app);
      for (const [appId, by] of [
        ['by-org', () => org.caller],
        ['by-admin', () => app.admin],
        ['by-itself', (own: Client) => own.caller],
      ] as const) {
        const own = await newApp(app, org, appId);
        expect(await tryToken(app, own.accessToken)).toBe('ok');
        expect(await revoke(by(own), own[which])).toBe(true);
        expect([appId, await tryToken(app, own.accessToken)]).toEqual([appId, 'UNAUTHENTICATED']);
      }
    },
  );

  it('refuses an anonymous caller', async () => {
    const { accessToken } = await newOrg(app);
    expect(await app.anonymous.codeOf(op.RevokeTokenDocument, { token: accessToken })).toBe('UNAUTHENTICATED');
    expect(await tryToken(app, accessToken)).toBe('ok');
  });
});
