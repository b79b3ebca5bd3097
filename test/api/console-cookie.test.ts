import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { adminKey, newOrg, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';
import {
  asPage,
  type ConsoleReply,
  consoleFolder,
  type Headers,
  idOf,
  type RawReply,
  rawSend,
  runDocument,
  secretOf,
  sendAs,
  signIn,
  trySession,
} from '../support/console.js';
import { endAll, LiveSocket } from '../support/live-socket.js';

const whoAmI = 'query Me { me { kind clientId } }';
const older = 'query Older { me { kind } }';
const foreign = '{ me { kind } }';

const open = stoppedAfterAll();
const index = '<!doctype html><title>Tollgate</title>';
const script = 'console.log("console");'.repeat(50);
const dir = consoleFolder({
  documents: [whoAmI],
  previous: [older],
  files: {
    'index.html': index,
    'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'assets/app-DkX3_a9z.js': script,
    'assets/plain.css': 'a{}',
    'notes.unknown': 'x',
  },
});
writeFileSync(`${dir}/assets/app-DkX3_a9z.js.br`, brotliCompressSync(script));
writeFileSync(`${dir}/assets/app-DkX3_a9z.js.gz`, gzipSync(script));
const outside = `${dir}.txt`;
writeFileSync(outside, 'outside');
symlinkSync(outside, `${dir}/linked.txt`);
let app: TestApp;
let org: Awaited<ReturnType<typeof newOrg>>;

beforeAll(async () => {
  app = await open(startTestApp({ config: { console: { dir } } }));
  org = await newOrg(app);
});
afterEach(endAll);
afterAll(() => {
  rmSync(dir, { recursive: true });
  rmSync(outside);
});

describe('the cookie', () => {
  const asked = { documentId: idOf(whoAmI) };
  const without = (name: string): Headers => Object.fromEntries(Object.entries(asPage).filter(([key]) => key !== name));
  const outcome = ({ status, code }: ConsoleReply) => `${status} ${code}`;
  const from = (origin: string) => ({ ...without('sec-fetch-site'), origin });

  it.each<[string, (at: TestApp) => Headers, string]>([
    ['counts for a page of the same origin', () => asPage, '200 ok'],
    ['counts with the own origin of a browser without Sec-Fetch-Site', (at) => from(at.origin), '200 ok'],
    ['counts beside other cookies', () => ({ ...asPage, 'x-other': '1' }), '200 ok'],
    ['does not count without x-tollgate-console', () => without('x-tollgate-console'), '400 BAD_USER_INPUT'],
    ['does not count with another value of it', () => ({ ...asPage, 'x-tollgate-console': '0' }), '400 BAD_USER_INPUT'],
    [
      'does not count for a page of the same site',
      () => ({ ...asPage, 'sec-fetch-site': 'same-site' }),
      '403 FORBIDDEN',
    ],
    ['does not count for another site', () => ({ ...asPage, 'sec-fetch-site': 'cross-site' }), '403 FORBIDDEN'],
    ['does not count for a navigation', () => ({ ...asPage, 'sec-fetch-site': 'none' }), '403 FORBIDDEN'],
    [
      'does not count for another site that claims the origin',
      (at) => ({ ...asPage, 'sec-fetch-site': 'cross-site', origin: at.origin }),
      '403 FORBIDDEN',
    ],
    ['does not count without Sec-Fetch-Site and Origin', () => without('sec-fetch-site'), '403 FORBIDDEN'],
    ['does not count with the origin of another site', () => from('https://evil.example'), '403 FORBIDDEN'],
    ['does not count with another port', () => from('http://127.0.0.1:1'), '403 FORBIDDEN'],
    ['does not count with another scheme', (at) => from(at.origin.replace('http', 'https')), '403 FORBIDDEN'],
    ['does not count with the origin of a sandboxed frame', () => from('null'), '403 FORBIDDEN'],
    ['does not count for a form', () => ({ ...asPage, 'content-type': 'text/plain' }), '415 BAD_USER_INPUT'],
    ['does not count without a content type', () => without('content-type'), '415 BAD_USER_INPUT'],
    ['does not count beside an admin key', () => ({ ...asPage, 'x-admin-key': adminKey }), '400 BAD_USER_INPUT'],
    ['does not count beside a device key', () => ({ ...asPage, 'x-api-key': 'tgk_x' }), '400 BAD_USER_INPUT'],
    [
      'does not count beside an access token',
      () => ({ ...asPage, authorization: `Bearer ${org.accessToken}` }),
      '400 BAD_USER_INPUT',
    ],
  ])('%s', async (_what, headersFor, expected) => {
    const { cookie } = await signIn(app, secretOf(org));
    const accept = 'application/graphql-response+json';
    const headers: Headers = { ...headersFor(app), cookie: `a=b; ${cookie}; c="d"`, accept };
    expect(outcome(await sendAs(headers, app, '/graphql', asked))).toBe(expected);
    const sessionReply = await sendAs(headers, app, '/session/me');
    // The endpoints of sessions serve nothing else, so that they refuse what /graphql serves without the cookie.
    const isIgnored = headers['x-tollgate-console'] !== '1';
    expect(outcome(sessionReply)).toBe(isIgnored ? '403 FORBIDDEN' : expected);
    if (sessionReply.status !== 200) expect(await trySession(app, { cookie })).toBe('ok');
  });

  it('must be the only one of its name', async () => {
    const { cookie } = await signIn(app, secretOf(org));
    for (const cookies of [
      `${cookie}; ${cookie}`,
      `tollgate=x; ${cookie}`,
      `__Host-${cookie}`,
      `x${cookie}`,
      `${cookie}x`,
      '',
    ])
      expect(await trySession(app, { cookie: cookies })).toBe('UNAUTHENTICATED');
    expect(await trySession(app, { cookie: `tollgatex=1; ${cookie};` })).toBe('ok');
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('does not count for %s', async (method) => {
    const { cookie } = await signIn(app, secretOf(org));
    const headers = { ...asPage, cookie };
    const at = `${app.url}?query=${encodeURIComponent(foreign)}`;
    const reply = await fetch(at, { method, headers });
    expect(reply.status).toBe(method === 'OPTIONS' ? 204 : 403);
    expect(await reply.text()).not.toContain('ORG_CLIENT');
    for (const path of ['/session', '/session/me', '/session/end'])
      expect((await fetch(`${app.origin}${path}`, { method, headers })).status).toBe(405);
    expect(await trySession(app, { cookie })).toBe('ok');
  });

  it('does not count for a WebSocket, in its headers or its payload', async () => {
    const { cookie, token } = await signIn(app, secretOf(org));
    for (const payload of [{}, { cookie, 'x-tollgate-console': '1' }, { authorization: `Bearer ${token}` }]) {
      const headers = { ...asPage, cookie };
      const live = await LiveSocket.open(app.url, 'graphql-transport-ws', headers);
      live.send({ type: 'connection_init', payload });
      expect([4401, 4403]).toContain(await live.closeCode());
    }
  });

  it('does not count at other endpoints', async () => {
    const { cookie } = await signIn(app, secretOf(org));
    const body = { entityId: 'e', resource: 'r' };
    const reply = await sendAs({ ...asPage, cookie }, app, '/v1/check', body);
    expect([reply.status, reply.json]).toMatchObject([401, { error: { code: 'UNAUTHENTICATED' } }]);
  });

  it('counts for an export of spend, under the same rules', async () => {
    const { cookie } = await signIn(app, secretOf(org));
    const body = JSON.stringify({ by: 'label', format: 'csv', from: '2026-01-01', to: '2026-01-02' });
    const exported = (headers: Headers) => rawSend(`${app.origin}/export/spend`, 'POST', { ...headers, cookie }, body);
    const reply = await exported(asPage);
    expect([reply.status, reply.headers['content-type']]).toEqual([200, expect.stringContaining('text/csv')]);
    const refused = [
      await exported({ ...asPage, 'sec-fetch-site': 'same-site' }),
      await exported({ ...asPage, 'x-admin-key': adminKey }),
      await exported(without('x-tollgate-console')),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 400, 401]);
  });

  it('does not disturb another credential without x-tollgate-console', async () => {
    const { cookie } = await signIn(app, secretOf(org));
    const { data } = await app.admin.send(foreign, {}, { cookie });
    expect(data).toEqual({ me: { kind: 'PLATFORM_ADMIN' } });
  });

  it('is allowed to no other origin: no response permits credentials or the headers of the console', async () => {
    const origin = 'https://dash.example.com';
    const shared = await open(app.another({ corsOrigins: [origin] }));
    for (const path of ['/graphql', '/session', '/session/me', '/console']) {
      const preflight = await fetch(`${shared.origin}${path}`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-headers': 'x-tollgate-console',
          'access-control-request-method': 'POST',
        },
      });
      expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
      expect(preflight.headers.get('access-control-allow-headers') ?? '').not.toContain('tollgate');
      if (path !== '/graphql') expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('counts only with PUBLIC_URL as origin if that is set', async () => {
    const publicUrl = 'https://tollgate.example.com';
    const moved = await open(app.another({ publicUrl }));
    const page = await signIn(moved, secretOf(org));
    const tryFrom = (origin: string) => sendAs({ ...from(origin), cookie: page.cookie }, moved, '/session/me');
    expect([(await tryFrom(publicUrl)).code, (await tryFrom(moved.origin)).code]).toEqual(['ok', 'FORBIDDEN']);
  });
});

describe('a session may run', () => {
  it('the documents of this release and of the previous one, by their id', async () => {
    const page = await signIn(app, secretOf(org));
    for (const documentId of [idOf(whoAmI), `sha256:${idOf(whoAmI)}`, idOf(older)])
      expect((await sendAs({ ...asPage, cookie: page.cookie }, app, '/graphql', { documentId })).code).toBe('ok');
  });

  it.each<[string, object, string]>([
    ['a document of its own', { query: foreign }, '403 FORBIDDEN'],
    ['a known document as text', { query: whoAmI }, '403 FORBIDDEN'],
    ['both', { query: foreign, documentId: idOf(whoAmI) }, '403 FORBIDDEN'],
    ['an unknown document', { documentId: idOf(foreign) }, '400 BAD_USER_INPUT'],
    ['an id that is no hash', { documentId: 'constructor' }, '400 BAD_USER_INPUT'],
    ['an id that is no text', { documentId: [idOf(whoAmI)] }, '400 BAD_USER_INPUT'],
    [
      'a persisted query of Apollo',
      { extensions: { persistedQuery: { sha256Hash: idOf(whoAmI) } } },
      '400 BAD_USER_INPUT',
    ],
    ['nothing', {}, '400 BAD_USER_INPUT'],
    ['a batch', [{ documentId: idOf(whoAmI) }], '400 BAD_USER_INPUT'],
  ])('nothing else: %s', async (_what, body, expected) => {
    const page = await signIn(app, secretOf(org));
    const { status, code } = await sendAs({ ...asPage, cookie: page.cookie }, app, '/graphql', body);
    expect(`${status} ${code}`).toBe(expected);
  });

  it('nothing without a manifest, or with one that is not valid', async () => {
    const empty = await open(app.another({ console: { dir: `${dir}/none` } }));
    const page = await signIn(empty, secretOf(org));
    const { errors } = await runDocument(empty, page, whoAmI);
    expect(errors[0]?.extensions.issues?.[0]?.path).toBe('documentId');
  });

  it('nothing less for other clients, which send documents of their own and no ids', async () => {
    expect((await org.caller.send(foreign)).data).toEqual({ me: { kind: 'ORG_CLIENT' } });
    const headers = { 'content-type': 'application/json', 'x-admin-key': adminKey };
    expect((await sendAs(headers, app, '/graphql', { documentId: idOf(whoAmI) })).code).toBe('BAD_USER_INPUT');
  });
});

describe('the pages', () => {
  const get = (path: string, headers: Headers = {}, at = app) => rawSend(`${at.origin}${path}`, 'GET', headers);
  const policy = {
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
  const asset = '/console/assets/app-DkX3_a9z.js';

  it.each<[string, Headers, number, string, string]>([
    ['/console', {}, 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/console/', {}, 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/console/?a=b', {}, 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/console/index.html', {}, 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/console/apps/chat', {}, 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/console/entities/user.1', { 'sec-fetch-dest': 'document' }, 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/console/favicon.svg', {}, 200, 'image/svg+xml', 'no-cache'],
    [asset, {}, 200, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/console/assets/plain.css', {}, 200, 'text/css; charset=utf-8', 'no-cache'],
    ['/console/notes.unknown', {}, 200, 'application/octet-stream', 'no-cache'],
    ['/console/missing.js', {}, 404, 'text/plain; charset=utf-8', 'no-store'],
    ['/console/assets/none', { 'sec-fetch-dest': 'document' }, 404, 'text/plain; charset=utf-8', 'no-store'],
    ['/console/documents.json', {}, 404, 'text/plain; charset=utf-8', 'no-store'],
    ['/console/documents.previous.json', {}, 404, 'text/plain; charset=utf-8', 'no-store'],
    [`${asset}.br`, {}, 404, 'text/plain; charset=utf-8', 'no-store'],
    ['/console/linked.txt', {}, 404, 'text/plain; charset=utf-8', 'no-store'],
  ])('serve %s %j with %i, under the policy of the page', async (path, headers, status, type, cacheControl) => {
    const reply = await get(path, headers);
    expect([reply.status, reply.headers['content-type'], reply.headers['cache-control']]).toEqual([
      status,
      type,
      cacheControl,
    ]);
    expect(reply.headers).toMatchObject(policy);
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    const head = await rawSend(`${app.origin}${path}`, 'HEAD', headers);
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
      status,
      0,
      String(reply.body.length),
    ]);
  });

  it.each([
    '/console/../package.json',
    '/console/..%2f..%2fpackage.json',
    '/console/%2e%2e/package.json',
    '/console//etc/passwd.txt',
    '/console/assets/../index.html',
    '/console/assets/..%5c..%5cpackage.json',
    '/console/index.html%00.js',
    '/consolex',
    '/console/__proto__.js',
  ])('serve no file outside of their folder: %s', async (path) => {
    const reply = await get(path);
    expect(reply.status).toBe(404);
    expect(reply.body.toString()).not.toMatch(/tollgate"|root:|doctype/);
  });

  it('are sent once: a known ETag is 304 without a body, per encoding', async () => {
    const known = async (path: string, headers: Headers = {}): Promise<[RawReply, RawReply]> => {
      const first = await get(path, headers);
      const { etag = '' } = first.headers;
      return [first, await get(path, { ...headers, 'if-none-match': `W/"other", ${etag}` })];
    };
    for (const path of ['/console/', '/console/favicon.svg']) {
      const [first, second] = await known(path);
      expect([second.status, second.body.length, second.headers.etag]).toEqual([304, 0, first.headers.etag]);
      expect(second.headers).toMatchObject({ ...policy, 'cache-control': 'no-cache', vary: 'Accept-Encoding' });
    }
    const [plain] = await known(asset);
    const [packed, again] = await known(asset, { 'accept-encoding': 'br' });
    expect(again.status).toBe(304);
    expect(packed.headers.etag).not.toBe(plain.headers.etag);
    expect((await get('/console/', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['deflate', undefined],
    ['', undefined],
  ])('are sent as they were compressed by the build: %s', async (accepted, encoding) => {
    const reply = await get(asset, { 'accept-encoding': accepted });
    expect([reply.headers['content-encoding'], reply.headers.vary]).toEqual([encoding, 'Accept-Encoding']);
    if (encoding === 'br') expect(brotliDecompressSync(reply.body).toString()).toBe(script);
    if (encoding === undefined) expect(reply.body.toString()).toBe(script);
    expect((await get('/console/', { 'accept-encoding': accepted })).body.toString()).toBe(index);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuse %s', async (method) => {
    expect((await rawSend(`${app.origin}/console/`, method)).status).toBe(405);
  });

  it('say how to build them if there are none', async () => {
    const empty = await open(app.another({ console: { dir: `${dir}/none` } }));
    const reply = await get('/console/', {}, empty);
    expect([reply.status, reply.body.toString()]).toEqual([503, expect.stringContaining('npm run build')]);
    expect(reply.headers).toMatchObject(policy);
  });

  it('and the sessions are gone with CONSOLE=off', async () => {
    const page = await signIn(app, secretOf(org));
    const off = await open(app.another({ console: undefined } as never));
    for (const path of ['/console', '/console/', asset]) expect((await get(path, {}, off)).status).toBe(404);
    for (const path of ['/session', '/session/preview', '/session/me', '/session/end', '/session/link'])
      expect((await sendAs(asPage, off, path, {})).status).toBe(404);
    const { code } = await runDocument(off, page, whoAmI);
    expect(code).toBe('BAD_USER_INPUT');
  });
});
