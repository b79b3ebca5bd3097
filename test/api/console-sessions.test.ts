import { rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { maxSessionsPerMaker } from '../../src/identity/console-session.js';
import { adminKey, newApp, newOrg, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';
import {
  asPage,
  consoleFolder,
  type Headers,
  idOf,
  newLink,
  type Page,
  runDocument,
  secretOf,
  sendAs,
  signIn,
  trySession,
} from '../support/console.js';
import { collectingLog } from '../support/http.js';
import {
  auditOf,
  eventually,
  frozenClock,
  hourMs,
  minuteMs,
  randomSecret,
  retrieve,
  rotate,
  secondMs,
} from '../support/identity.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const whoAmI = 'query Me { me { kind clientId role expiresAt org { name } } }';
const follow = 'subscription Alerts($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }';
const rename = 'mutation Rename($input: UpdateOrgInput!) { updateOrg(input: $input) { name } }';

const open = stoppedAfterAll();
const dir = consoleFolder({ documents: [whoAmI, follow, rename] });
const { log, records } = collectingLog();
let app: TestApp;
/** A second gateway on the same tables, with caches of its own. */
let other: TestApp;
let org: Awaited<ReturnType<typeof newOrg>>;

beforeAll(async () => {
  app = await open(startTestApp({ config: { console: { dir } }, clock: frozenClock(), log }));
  other = await open(app.another());
  org = await newOrg(app);
});
afterAll(() => rmSync(dir, { recursive: true }));

const admin = async (wanted: object = {}, at = app) => signIn(at, { token: await newLink(app, wanted) });
const me = (page: Page, at = app) => sendAs({ ...asPage, cookie: page.cookie }, at, '/session/me');
const end = (page: Page, at = app) => sendAs({ ...asPage, cookie: page.cookie }, at, '/session/end');
const ended = (page: Page, at = other, code = 'UNAUTHENTICATED') => eventually(() => trySession(at, page), code);

/** Opens an event stream with a session. */
async function openStream(at: TestApp, { cookie }: Page, orgId: string): Promise<() => boolean> {
  const headers = { ...asPage, accept: 'text/event-stream', cookie };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest(at.url, { method: 'POST', headers, agent: false }, resolve).on('error', reject);
    sent.end(JSON.stringify({ documentId: idOf(follow), variables: { orgId } }));
  });
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  response.resume();
  return () => response.readableEnded || response.destroyed;
}

describe('a sign-in', () => {
  it('by client credentials starts a session of the client, with a cookie for this host alone', async () => {
    const page = await signIn(app, secretOf(org));
    expect(page.setCookie).toMatch(/^tollgate=tgc_[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const nowMs = app.clock.nowMs();
    const expiresAt = new Date(Math.floor((nowMs + 12 * hourMs) / secondMs) * secondMs).toISOString();
    const session = {
      kind: 'ORG_CLIENT',
      actor: org.clientId,
      role: 'FULL',
      clientId: org.clientId,
      org: { orgId: org.orgId, name: 'Acme' },
      expiresAt,
      idleExpiresAt: new Date(nowMs + 30 * minuteMs).toISOString(),
      idleSecs: 1800,
    };
    expect(page.reply.json).toEqual(session);
    expect((await me(page)).json).toEqual(session);
    expect((await runDocument(other, page, whoAmI)).json).toEqual({
      data: { me: { kind: 'ORG_CLIENT', clientId: org.clientId, role: 'FULL', expiresAt, org: { name: 'Acme' } } },
    });
    expect(page.reply.headers['cache-control']).toBe('no-store');
  });

  it('sends a cookie that only HTTPS and no other host can have, in production and on other addresses', async () => {
    for (const config of [{ production: true }, { publicUrl: 'https://tollgate.example.com' }]) {
      const secure = await open(app.another(config));
      const page = await signIn(secure, secretOf(org));
      expect(page.setCookie).toMatch(/^__Host-tollgate=tgc_\S+; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
      expect(await trySession(secure, page)).toBe('ok');
      expect(await trySession(secure, { cookie: page.cookie.replace('__Host-', '') })).toBe('UNAUTHENTICATED');
      expect((await end(page, secure)).headers['set-cookie']).toEqual([
        '__Host-tollgate=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0',
      ]);
    }
  });

  it('of an app client acts for its app, and one of a READ client changes nothing', async () => {
    const chat = await newApp(app, org);
    expect((await signIn(app, secretOf(chat))).reply.json).toMatchObject({
      kind: 'APP_CLIENT',
      org: { orgId: org.orgId, name: 'Acme' },
      app: { appId: 'chat', name: 'Chat' },
    });
    const { createClient } = await org.caller.ask(op.CreateClientDocument, {
      input: { name: 'Reports', role: 'READ', currentSecret: org.clientSecret },
    });
    const reader = await signIn(app, await retrieve(app, createClient.secretRetrieval.token));
    expect(reader.reply.json).toMatchObject({ kind: 'ORG_CLIENT', role: 'READ' });
    expect((await runDocument(app, reader, rename, { input: { name: 'Other' } })).code).toBe('FORBIDDEN');
    const writer = await signIn(app, secretOf(org));
    expect((await runDocument(app, writer, rename, { input: { name: 'Acme' } })).code).toBe('ok');
  });

  it.each<[string, object, string]>([
    ['a wrong secret', { clientSecret: randomSecret() }, 'UNAUTHENTICATED'],
    ['an unknown client', { clientId: 'org-1' }, 'UNAUTHENTICATED'],
    ['no secret', { clientSecret: undefined }, 'BAD_USER_INPUT'],
    ['a secret that is no text', { clientSecret: 7 }, 'BAD_USER_INPUT'],
    ['credentials and a token', { token: 'tgl_x' }, 'BAD_USER_INPUT'],
    ['an unknown token', { clientId: undefined, clientSecret: undefined, token: 'tgl_x' }, 'UNAUTHENTICATED'],
    ['a token that is no text', { clientId: undefined, clientSecret: undefined, token: {} }, 'BAD_USER_INPUT'],
    ['more than 4 KB', { padding: 'x'.repeat(4096) }, 'BAD_USER_INPUT'],
  ])('with %s is refused without a cookie', async (_what, change, code) => {
    const reply = await sendAs(asPage, app, '/session', { ...secretOf(org), ...change });
    expect([reply.code, reply.headers['set-cookie']]).toEqual([code, undefined]);
  });

  it('is limited per address before a credential is looked at, previews included', async () => {
    const limited = await open(app.another());
    const attempt = (path: string) => sendAs(asPage, limited, path, { token: 'tgl_x' });
    const codes: string[] = [];
    for (let i = 0; i < 30; i++) codes.push((await attempt('/session')).code, (await attempt('/session/preview')).code);
    expect(new Set(codes)).toEqual(new Set(['UNAUTHENTICATED']));
    // One attempt per second is given back, and the machine may be slow.
    let reply = await attempt('/session');
    for (let i = 0; i < 100 && reply.code !== 'RATE_LIMITED'; i++) reply = await attempt('/session');
    expect([reply.status, Number(reply.headers['retry-after']) > 0]).toEqual([429, true]);
    const right = (await sendAs(asPage, limited, '/session', secretOf(org))).code;
    expect(['RATE_LIMITED', 'ok']).toContain(right);
    expect(await trySession(limited, await signIn(app, secretOf(org)))).toBe('ok');
  });

  it('counts a wrong secret as a failed login of its address', async () => {
    const narrow = await open(app.another({ loginPerAddressPerMinute: 2 }));
    const wrong = { ...secretOf(org), clientSecret: randomSecret() };
    const codes: string[] = [];
    for (let i = 0; i < 3; i++) codes.push((await sendAs(asPage, narrow, '/session', wrong)).code);
    expect(codes).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 'RATE_LIMITED']);
    expect(await trySession(narrow, await signIn(narrow, secretOf(org)))).toBe('ok');
  });
});

describe('a link', () => {
  it('says what it is for without being used, and opens one session', async () => {
    const token = await newLink(app, { orgId: org.orgId, role: 'READ' });
    const preview = () => sendAs(asPage, app, '/session/preview', { token });
    const session = {
      kind: 'ORG_CLIENT',
      actor: 'platform-admin:admin',
      role: 'READ',
      clientId: org.clientId,
      org: { orgId: org.orgId, name: 'Acme' },
    };
    expect((await preview()).json).toEqual({ ...session, expiresAt: expect.stringMatching(/Z$/) });
    expect((await preview()).status).toBe(200);
    const page = await signIn(app, { token });
    expect(page.reply.json).toMatchObject(session);
    expect((await runDocument(app, page, rename, { input: { name: 'Other' } })).code).toBe('FORBIDDEN');
    for (const path of ['/session', '/session/preview'])
      expect((await sendAs(asPage, app, path, { token })).code).toBe('UNAUTHENTICATED');
  });

  it('opens one session if many browsers use it at once', async () => {
    const token = await newLink(app);
    const gateways = [app, other, app, other, app, other];
    const replies = await Promise.all(gateways.map((at) => sendAs(asPage, at, '/session', { token })));
    expect(replies.map(({ code }) => code).sort()).toEqual([
      'UNAUTHENTICATED',
      ...Array(4).fill('UNAUTHENTICATED'),
      'ok',
    ]);
  });

  it('works for two minutes and not a second longer', async () => {
    const [early, late] = [await newLink(app), await newLink(app)];
    const startMs = app.clock.nowMs();
    app.clock.advance(119 * secondMs);
    expect((await signIn(app, { token: early })).reply.json).toMatchObject({ kind: 'PLATFORM_ADMIN', role: 'FULL' });
    app.clock.advance(secondMs);
    for (const path of ['/session/preview', '/session'])
      expect((await sendAs(asPage, app, path, { token: late })).code).toBe('UNAUTHENTICATED');
    expect(app.clock.nowMs() - startMs).toBe(120 * secondMs);
  });

  it('of an admin acts for the platform, and with the role READ changes nothing', async () => {
    const page = await admin({ role: 'READ' });
    expect(page.reply.json).toMatchObject({ kind: 'PLATFORM_ADMIN', actor: 'platform-admin:admin', role: 'READ' });
    expect(page.reply.json).not.toHaveProperty('org');
    expect((await runDocument(app, page, whoAmI)).json).toMatchObject({
      data: { me: { kind: 'PLATFORM_ADMIN', role: 'READ', clientId: null } },
    });
    const input = { orgId: org.orgId, name: 'Acme' };
    expect((await runDocument(app, page, rename, { input })).code).toBe('FORBIDDEN');
    expect((await runDocument(app, await admin(), rename, { input })).code).toBe('ok');
  });

  it.each<[string, Headers, object, string]>([
    ['nobody', {}, {}, 'UNAUTHENTICATED'],
    ['a wrong admin key', { 'x-admin-key': 'x'.repeat(40) }, {}, 'UNAUTHENTICATED'],
    ['the admin for an unknown org', { 'x-admin-key': adminKey }, { orgId: crypto.randomUUID() }, 'NOT_FOUND'],
    ['the admin for no org id', { 'x-admin-key': adminKey }, { orgId: 'a#b' }, 'BAD_USER_INPUT'],
    ['the admin for an unknown role', { 'x-admin-key': adminKey }, { role: 'ROOT' }, 'BAD_USER_INPUT'],
  ])('is not made by %s', async (_who, headers, body, code) => {
    expect((await sendAs({ 'content-type': 'application/json', ...headers }, app, '/session/link', body)).code).toBe(
      code,
    );
  });

  it('is made by the admin key only: not by a client, and not by a session of the admin', async () => {
    const json = { 'content-type': 'application/json' };
    const make = (headers: Headers) => sendAs(headers, app, '/session/link');
    expect((await make({ ...json, authorization: `Bearer ${org.accessToken}` })).code).toBe('FORBIDDEN');
    expect((await make({ ...asPage, cookie: (await admin()).cookie })).code).toBe('UNAUTHENTICATED');
    const { json: link } = await make({ ...json, 'x-admin-key': adminKey });
    expect(link.url).toBe(`${app.origin}/console/#token=${link.token}`);
    const moved = await open(app.another({ publicUrl: 'https://tollgate.example.com' }));
    const { json: far } = await sendAs({ ...json, 'x-admin-key': adminKey }, moved, '/session/link');
    expect(far.url).toBe(`https://tollgate.example.com/console/#token=${far.token}`);
  });
});

describe('a session', () => {
  it('ends on every gateway when it is ended on one, with its streams, and no other session does', async () => {
    const pages = [await signIn(app, secretOf(org)), await signIn(app, secretOf(org))] as const;
    for (const page of pages) for (const at of [app, other]) expect(await trySession(at, page)).toBe('ok');
    const streams = await Promise.all([app, other].map((at) => openStream(at, pages[0], org.orgId)));
    const lasting = await openStream(other, pages[1], org.orgId);
    const reply = await end(pages[0]);
    expect([reply.json, reply.headers['set-cookie']]).toEqual([
      { ended: true },
      ['tollgate=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'],
    ]);
    expect(await trySession(app, pages[0])).toBe('UNAUTHENTICATED');
    expect(await ended(pages[0])).toBe('UNAUTHENTICATED');
    await until('the streams end', () => streams.every((isEnded) => isEnded()));
    expect(await trySession(other, pages[1])).toBe('ok');
    expect(lasting()).toBe(false);
    for (const cookie of [pages[0].cookie, 'tollgate=tgc_x', ''])
      expect((await sendAs({ ...asPage, cookie }, app, '/session/end')).json).toEqual({ ended: true });
  });

  it('of the admin ends its streams too', async () => {
    const page = await admin();
    const streams = await Promise.all([app, other].map((at) => openStream(at, page, org.orgId)));
    await end(page);
    await until('the streams end', () => streams.every((isEnded) => isEnded()));
  });

  it('ends 30 minutes after the last activity, which polling is not', async () => {
    const page = await signIn(app, secretOf(org));
    const stream = await openStream(other, page, org.orgId);
    app.clock.advance(20 * minuteMs);
    expect(await trySession(app, page, { 'x-tollgate-activity': '1' })).toBe('ok');
    app.clock.advance(20 * minuteMs);
    // The other gateway has not seen the activity, and finds it in the store.
    expect(await trySession(other, page)).toBe('ok');
    app.clock.advance(10 * minuteMs - 1);
    for (const at of [app, other]) expect(await trySession(at, page)).toBe('ok');
    expect(stream()).toBe(false);
    app.clock.advance(1);
    for (const at of [app, other])
      expect(await trySession(at, page, { 'x-tollgate-activity': '1' })).toBe('UNAUTHENTICATED');
    await until('the stream ends', stream);
  });

  it('ends after 12 hours, however active it is', async () => {
    const page = await signIn(app, secretOf(org));
    const expiresAtMs = Date.parse(page.reply.json.expiresAt as string);
    for (let i = 0; i < 35; i++) {
      app.clock.advance(20 * minuteMs);
      expect(await trySession(i % 2 ? app : other, page, { 'x-tollgate-activity': '1' })).toBe('ok');
    }
    app.clock.advance(expiresAtMs - app.clock.nowMs() - 1);
    expect(await trySession(app, page, { 'x-tollgate-activity': '1' })).toBe('ok');
    app.clock.advance(1);
    for (const at of [app, other]) expect(await trySession(at, page)).toBe('UNAUTHENTICATED');
  });

  it('is one of 20 per credential: the oldest gives way, everywhere', async () => {
    const client = await newOrg(app);
    const first = await signIn(app, secretOf(client));
    app.clock.advance(secondMs);
    const pages: Page[] = [];
    for (let i = 1; i < maxSessionsPerMaker; i++) pages.push(await signIn(other, secretOf(client)));
    expect(await trySession(app, first)).toBe('ok');
    await end(pages.pop() as Page);
    app.clock.advance(secondMs);
    pages.push(await signIn(app, secretOf(client)));
    expect(await trySession(app, first)).toBe('ok');
    pages.push(await signIn(app, secretOf(client)));
    expect([await ended(first, app), await ended(first, other)]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED']);
    for (const page of pages) expect(await trySession(app, page)).toBe('ok');
  });

  it('starts although many of one credential start at once', async () => {
    const client = await newOrg(app);
    const pages = await Promise.all([app, other, app, other].map((at) => signIn(at, secretOf(client))));
    for (const page of pages) expect(await trySession(other, page)).toBe('ok');
  });

  it('is not served during an outage that hides revocations', async () => {
    const page = await signIn(app, secretOf(org));
    const deaf = await open(app.another());
    expect(await trySession(deaf, page)).toBe('ok');
    await deaf.gateway.services.changeFeed.stop();
    app.clock.age(6 * secondMs);
    expect(await trySession(deaf, page)).toBe('SERVICE_UNAVAILABLE');
    // The clock is that of all gateways. The others read the counter again.
    for (const at of [app, other]) expect(await ended(page, at, 'ok')).toBe('ok');
  });
});

describe('a session ends with its maker', () => {
  it('when the secret was rotated without grace', async () => {
    const client = await newOrg(app);
    const [own, opened] = [await signIn(app, secretOf(client)), await admin({ orgId: client.orgId })];
    for (const page of [own, opened]) expect(await trySession(other, page)).toBe('ok');
    const { secretRetrieval } = await rotate(client, { graceHours: 0 });
    await retrieve(app, secretRetrieval.token);
    for (const page of [own, opened]) expect(await ended(page)).toBe('UNAUTHENTICATED');
  });

  it('when the grace of its secret ends, and not before', async () => {
    const client = await newOrg(app);
    const page = await signIn(app, secretOf(client));
    const { secretRetrieval } = await rotate(client, { graceHours: 1 });
    await retrieve(app, secretRetrieval.token);
    const late = await signIn(app, secretOf(client));
    app.clock.advance(29 * minuteMs);
    for (const each of [page, late]) expect(await trySession(app, each, { 'x-tollgate-activity': '1' })).toBe('ok');
    app.clock.advance(29 * minuteMs);
    for (const each of [page, late]) expect(await trySession(app, each, { 'x-tollgate-activity': '1' })).toBe('ok');
    app.clock.advance(2 * minuteMs);
    for (const each of [page, late]) expect(await ended(each, app)).toBe('UNAUTHENTICATED');
  });

  it('when the client or the app is deleted', async () => {
    const { orgId } = org;
    const { createClient } = await app.admin.ask(op.CreateClientDocument, {
      input: { orgId, name: 'Temporary', role: 'FULL' },
    });
    const client = await retrieve(app, createClient.secretRetrieval.token);
    const byClient = await signIn(app, client);
    const byApp = await signIn(app, secretOf(await newApp(app, org, 'doomed')));
    for (const page of [byClient, byApp]) expect(await trySession(other, page)).toBe('ok');
    await app.admin.ask(op.DeleteClientDocument, { orgId, clientId: client.clientId });
    await app.admin.ask(op.DeleteAppDocument, { orgId, appId: 'doomed' });
    for (const page of [byClient, byApp]) expect(await ended(page)).toBe('UNAUTHENTICATED');
  });

  it('is FORBIDDEN while its org is suspended, with its streams ended, and no link opens one', async () => {
    const client = await newOrg(app);
    const [page, token] = [await signIn(app, secretOf(client)), await newLink(app, { orgId: client.orgId })];
    const stream = await openStream(other, page, client.orgId);
    await app.admin.ask(op.SuspendOrgDocument, { orgId: client.orgId });
    expect(await ended(page, other, 'FORBIDDEN')).toBe('FORBIDDEN');
    await until('the stream ends', stream);
    for (const body of [secretOf(client), { token }])
      expect((await sendAs(asPage, app, '/session', body)).code).toBe('FORBIDDEN');
    await app.admin.ask(op.ResumeOrgDocument, { orgId: client.orgId });
    expect(await ended(page, other, 'ok')).toBe('ok');
    expect((await sendAs(asPage, app, '/session', { token })).code).toBe('ok');
  });

  it('when the admin key was removed or replaced under its name', async () => {
    const key = 'k'.repeat(40);
    const withKeys = (...adminKeys: { name: string; key: string }[]) => open(app.another({ adminKeys }));
    const first = await withKeys({ name: 'ops', key });
    const make = async () => {
      const headers = { 'content-type': 'application/json', 'x-admin-key': key };
      return (await sendAs(headers, first, '/session/link')).json.token;
    };
    const [page, token] = [await signIn(first, { token: await make() }), await make()];
    const same = await withKeys({ name: 'ops', key }, { name: 'admin', key: adminKey });
    expect(await trySession(same, page)).toBe('ok');
    for (const keys of [
      { name: 'ops', key: 'n'.repeat(40) },
      { name: 'admin', key },
    ]) {
      const changed = await withKeys(keys);
      expect(await trySession(changed, page)).toBe('UNAUTHENTICATED');
      expect((await sendAs(asPage, changed, '/session', { token })).code).toBe('UNAUTHENTICATED');
    }
  });
});

describe('the price of a session', () => {
  const price = async (call: Promise<unknown>) => {
    await call;
    const { operation, read, write } = records('request').at(-1) ?? {};
    return { operation, read, write };
  };
  const active = { 'x-tollgate-activity': '1' };

  it('is nothing while it is warm, and one write per minute of activity', async () => {
    const page = await signIn(app, secretOf(org));
    // The changes of the tests before may still be noticed.
    await until('a request costs nothing', async () => (await price(trySession(app, page, active))).read === 0);
    expect(await price(runDocument(app, page, whoAmI))).toEqual({ operation: 'me', read: 0, write: 0 });
    app.clock.advance(minuteMs);
    expect(await price(trySession(app, page, active))).toMatchObject({ operation: 'session', write: 1 });
    expect(await price(trySession(app, page, active))).toMatchObject({ operation: 'session', write: 0 });
  });

  it('is a few reads after a change anywhere', async () => {
    for (const [page, read] of [
      [await signIn(app, secretOf(org)), 5],
      [await admin(), 1],
    ] as const) {
      await app.gateway.services.changes.refresh();
      expect(await price(trySession(app, page))).toEqual({ operation: 'session', read, write: 0 });
    }
  });
});

describe('the records of a session', () => {
  it('name its maker in the audit trail of its org', async () => {
    const client = await newOrg(app);
    // Events of the same millisecond have no order.
    const later = () => app.clock.advance(1);
    later();
    const own = await signIn(app, secretOf(client)).finally(later);
    await end(own).finally(later);
    const token = await newLink(app, { orgId: client.orgId }).finally(later);
    const opened = await signIn(app, { token }).finally(later);
    await runDocument(app, opened, rename, { input: { name: 'Renamed' } });
    const events = (await auditOf(client.caller)).map(({ action, actor, entityId }) => [action, actor, entityId]);
    const entity = `$CLIENT:${client.clientId}`;
    expect(events.slice(0, 5)).toEqual([
      ['org_updated', 'platform-admin:admin', '$ORG'],
      ['console_session_started', 'platform-admin:admin', entity],
      ['console_link_created', 'platform-admin:admin', entity],
      ['console_session_ended', client.clientId, entity],
      ['console_session_started', client.clientId, entity],
    ]);
  });

  it('are in the trail of the platform for a session of the platform, and count in the metrics', async () => {
    const later = () => app.clock.advance(1);
    const token = await newLink(app, { role: 'READ' }).finally(later);
    await end(await signIn(app, { token }).finally(later));
    const { platformAuditEvents } = await app.admin.ask(op.PlatformAuditDocument, { first: 3 });
    expect(platformAuditEvents.nodes.map(({ action, actor, entityId }) => [action, actor, entityId])).toEqual(
      ['console_session_ended', 'console_session_started', 'console_link_created'].map((action) => [
        action,
        'platform-admin:admin',
        '$ADMIN:admin',
      ]),
    );
    const metrics = await (await fetch(`${app.origin}/metrics`)).text();
    for (const event of ['started_link', 'started_secret', 'signed_out', 'replaced'])
      expect(metrics).toMatch(new RegExp(`tollgate_console_sessions_total\\{event="${event}"\\} [1-9]`));
  });
});
