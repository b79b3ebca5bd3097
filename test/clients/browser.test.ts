import { readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { print } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../scripts/browser.mjs';
import { AlertSource, bearer } from '../support/alert-source.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { asPage, consoleFolder, idOf, newLink } from '../support/console.js';
import * as op from '../support/operations.js';

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url));
const scripts: Readonly<Record<string, Buffer>> = {
  '/graphql-ws.js': file('node_modules/graphql-ws/umd/graphql-ws.js'),
  '/graphql-sse.js': file('node_modules/graphql-sse/umd/graphql-sse.js'),
  '/page.js': file('test/support/page.js'),
};
const html = `<!doctype html><title>Dashboard</title>${Object.keys(scripts)
  .map((path) => `<script src="${path}"></script>`)
  .join('')}`;

/** Serves a page. Another port is another origin. */
async function startSite(): Promise<{ server: Server; origin: string }> {
  const server = createServer(({ url = '/' }, response) => {
    const script = scripts[url];
    response.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html' });
    response.end(script ?? html);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

let site: Awaited<ReturnType<typeof startSite>>;
let browser: Browser;
let page: Page;
let app: TestApp;
let closed: TestApp;
let alerts: AlertSource;
beforeAll(async () => {
  site = await startSite();
  app = await startTestApp({ config: { corsOrigins: [site.origin] } });
  closed = await app.another({ corsOrigins: ['http://127.0.0.1:1'] });
  alerts = await AlertSource.start(app);
  browser = await launchBrowser();
  page = await browser.newPage();
  await page.goto(site.origin);
}, 600_000);
afterAll(async () => {
  await browser?.close();
  alerts?.stop();
  site?.server.closeAllConnections();
  await Promise.all([app?.stop(), closed?.stop(), new Promise((resolve) => site?.server.close(resolve))]);
});

interface Reply {
  readonly blocked?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { data?: Record<string, unknown>; errors?: { extensions: { code: string; requestId: string } }[] };
}

/** Calls a function of the script of the page, in the page. */
const inPage = <T>(name: string, ...args: unknown[]): Promise<T> =>
  page.evaluate(`client.${name}(...${JSON.stringify(args)})`) as Promise<T>;
const send = (url: string, init?: object) => inPage<Reply>('send', url, init);
const post = (query: string, variables: object = {}, headers: object = bearer(alerts.org)) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ query, variables }),
});
const socketUrl = ({ url }: TestApp) => url.replace('http', 'ws');
const me = '{ me { kind } }';

describe('a page on an origin that CORS_ORIGINS lists', () => {
  it('queries by POST and by GET', async () => {
    for (const reply of [
      await send(app.url, post(me)),
      await send(`${app.url}?query=${encodeURIComponent(me)}`, { headers: bearer(alerts.org) }),
    ])
      expect([reply.blocked, reply.status, reply.body]).toEqual([
        undefined,
        200,
        { data: { me: { kind: 'ORG_CLIENT' } } },
      ]);
  });

  it('mutates', async () => {
    const { body } = await send(app.url, post(print(op.CreateApiKeyDocument), { input: { description: 'by a page' } }));
    expect(body.data).toMatchObject({ createApiKey: { secret: expect.stringMatching(/^tgk_/) } });
  });

  it.each([
    ['the admin key', { 'x-admin-key': 'wrong' }],
    ['a device key', { 'x-api-key': 'tgk_wrong' }],
    ['a request id', { authorization: 'Bearer x.y.z', 'x-request-id': 'of-the-page' }],
  ])('may send %s, and reads the status and the code of the refusal', async (_what, headers) => {
    const { status, body, headers: shown } = await send(app.url, post(me, {}, headers));
    expect([status, body.errors?.[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(shown['x-request-id']).toBe(body.errors?.[0]?.extensions.requestId);
  });

  it('reads when to retry, and which limit it has exceeded', async () => {
    const slow = await app.another({ corsOrigins: [site.origin], principalRps: 1 });
    try {
      const replies = await Promise.all(Array.from({ length: 5 }, () => send(slow.url, post(me))));
      const refused = replies.find(({ status }) => status === 429);
      expect(refused?.headers).toMatchObject({
        'retry-after': '1',
        ratelimit: expect.stringContaining('"requests"'),
        'ratelimit-policy': expect.stringContaining('q=1'),
        'x-request-id': expect.any(String),
      });
    } finally {
      await slow.stop();
    }
  });

  it('logs in at /oauth/token and logs out at /oauth/revoke', async () => {
    const { clientId, clientSecret } = alerts.org;
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
    };
    const login = await send(`${app.origin}/oauth/token`, {
      method: 'POST',
      headers,
      body: 'grant_type=client_credentials',
    });
    const { access_token: token } = login.body as { access_token?: string };
    expect([login.blocked, login.status, typeof token]).toEqual([undefined, 200, 'string']);
    expect((await send(app.url, post(me, {}, { authorization: `Bearer ${token}` }))).status).toBe(200);
    // The response has no body, so it cannot be read as JSON.
    const revoke = { method: 'POST', headers, body: `token=${token}` };
    const logout = `fetch(${JSON.stringify(`${app.origin}/oauth/revoke`)}, ${JSON.stringify(revoke)})`;
    expect(await page.evaluate(`${logout}.then(({ status }) => status, String)`)).toBe(200);
  });

  it.each(['followSocket', 'followEvents'])('subscribes: %s', async (name) => {
    const seen = await alerts.raise();
    const url = name === 'followSocket' ? socketUrl(app) : app.url;
    const following = inPage<unknown>(
      name,
      url,
      bearer(alerts.org),
      { query: print(op.QuotaAlertsDocument), variables: { after: seen.cursor } },
      2,
    );
    const raised = [await alerts.raise(), await alerts.raise()];
    expect(await following).toEqual(raised.map((quotaAlerts) => ({ data: { quotaAlerts } })));
  });

  it('may resume a stream with Last-Event-ID', async () => {
    const [seen, next] = [await alerts.raise(), await alerts.raise()];
    const headers = { ...bearer(alerts.org), 'last-event-id': seen.cursor };
    expect(await inPage('followEvents', app.url, headers, { query: 'subscription { quotaAlerts { id } }' }, 1)).toEqual(
      [{ data: { quotaAlerts: { id: next.id } } }],
    );
  });

  it('gets 401 and 4401 without a credential, and its EventSource does not reconnect for ever', async () => {
    const request = { query: print(op.QuotaAlertsDocument) };
    expect(await inPage('followEvents', app.url, {}, request, 1)).toEqual({ refused: 401 });
    expect(await inPage('followSocket', socketUrl(app), {}, request, 1)).toEqual({ refused: 4401 });
    expect(await inPage('openEventSource', `${app.url}?query=${encodeURIComponent(request.query)}`)).toEqual([
      'closed',
    ]);
  });
});

describe('a page on an origin that CORS_ORIGINS does not list', () => {
  it('cannot query or mutate, whatever it sends', async () => {
    const simple = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: JSON.stringify({ query: me }) };
    for (const reply of [
      await send(closed.url, post(me)),
      await send(closed.url, post(print(op.CreateApiKeyDocument), { input: {} })),
      await send(`${closed.url}?query=${encodeURIComponent('{ __typename }')}`),
      await send(closed.url, simple),
      await send(`${closed.origin}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'grant_type=x',
      }),
    ])
      expect(reply).toEqual({ blocked: expect.stringContaining('Failed to fetch') });
  });

  it('cannot subscribe', async () => {
    const request = { query: print(op.QuotaAlertsDocument) };
    expect(await inPage('openSocket', socketUrl(closed))).toBe('closed with 1006');
    expect(await inPage('followSocket', socketUrl(closed), bearer(alerts.org), request, 1)).toEqual({
      refused: 'no connection',
    });
    expect(await inPage('followEvents', closed.url, bearer(alerts.org), request, 1)).toEqual({
      refused: 'Failed to fetch',
    });
    expect(await inPage('openEventSource', `${closed.url}?query={__typename}`)).toEqual(['closed']);
  });

  it('changes nothing by a mutation whose response it cannot read', async () => {
    const keys = async () =>
      (await closed.as(alerts.org.accessToken).ask(op.ApiKeysDocument, { first: 100 })).org?.apiKeys.nodes.length;
    const before = await keys();
    await send(closed.url, post(print(op.CreateApiKeyDocument), { input: {} }));
    expect(await keys()).toBe(before);
  });
});

describe('a page of the console', () => {
  const whoAmI = 'query Me { me { kind } }';
  const follow = 'subscription Alerts($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }';
  const dir = consoleFolder({
    documents: [whoAmI, follow],
    files: {
      'index.html': '<!doctype html><title>Console</title><script src="/console/assets/page-0123abcd.js"></script>',
      'assets/page-0123abcd.js': readFileSync(new URL('../support/page.js', import.meta.url), 'utf8'),
    },
  });
  let served: TestApp;
  beforeAll(async () => {
    served = await app.another({ console: { dir } });
  });
  afterAll(async () => {
    await served.stop();
    rmSync(dir, { recursive: true });
  });

  // The browser sets Sec-Fetch-Site itself.
  const { 'content-type': contentType, 'x-tollgate-console': marker } = asPage;
  const headers = { 'content-type': contentType ?? '', 'x-tollgate-console': marker ?? '' };
  const call = (body: object, more: object = {}) => ({ method: 'POST', headers, body: JSON.stringify(body), ...more });

  it('signs in by a link, queries and subscribes with a cookie that no script and no other page can use', async () => {
    const context = await browser.newContext();
    const own = await context.newPage();
    const problems: string[] = [];
    own.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
    const token = await newLink(served);
    await own.goto(`${served.origin}/console/#token=${token}`);
    const sendFrom = (from: Page, url: string, init: object) =>
      from.evaluate(`client.send(${JSON.stringify(url)}, ${JSON.stringify(init)})`) as Promise<Reply>;
    expect((await sendFrom(own, '/session', call({ token }))).body).toMatchObject({ kind: 'PLATFORM_ADMIN' });
    expect(await own.evaluate('document.cookie')).toBe('');
    expect((await sendFrom(own, '/graphql', call({ documentId: idOf(whoAmI) }))).body).toEqual({
      data: { me: { kind: 'PLATFORM_ADMIN' } },
    });
    const events = { ...headers, accept: 'text/event-stream' };
    const stream = call({ documentId: idOf(follow), variables: { orgId: alerts.org.orgId } }, { headers: events });
    const opened = `fetch('/graphql', ${JSON.stringify(stream)}).then(async (response) => {
      const { value } = await response.body.getReader().read();
      return [response.status, new TextDecoder().decode(value)];
    })`;
    expect(await own.evaluate(opened)).toEqual([200, ':\n\n']);
    expect(problems).toEqual([]);

    // Another port is another origin of the same site, to which the browser sends the cookie.
    const other = await context.newPage();
    await other.goto(site.origin);
    const included = { credentials: 'include' };
    const simple = { ...included, headers: { 'content-type': 'text/plain' } };
    for (const init of [call({ documentId: idOf(whoAmI) }, included), call({ documentId: idOf(whoAmI) }, simple)])
      expect(await sendFrom(other, served.url, init)).toEqual({ blocked: expect.stringContaining('Failed to fetch') });
    expect((await sendFrom(own, '/session/me', call({}))).status).toBe(200);
    expect((await sendFrom(own, '/session/end', call({}))).body).toEqual({ ended: true });
    expect((await sendFrom(own, '/session/me', call({}))).status).toBe(401);
    expect(await context.cookies()).toEqual([]);
    await context.close();
  }, 600_000);
});

describe('the explorer', () => {
  it('runs a subscription with the headers of its editor, and loads nothing from other sites', async () => {
    const [seen, next] = [await alerts.raise(), await alerts.raise()];
    const context = await browser.newContext();
    const explorer = await context.newPage();
    explorer.setDefaultTimeout(40_000);
    const asked: { url: string; accept: string | undefined }[] = [];
    explorer.on('request', (request) => void asked.push({ url: request.url(), accept: request.headers().accept }));
    await explorer.addInitScript(
      `localStorage.setItem('graphiql:headers', ${JSON.stringify(JSON.stringify(bearer(alerts.org)))})`,
    );
    const query = `subscription { quotaAlerts(after: "${seen.cursor}") { appId } }`;
    await explorer.goto(`${app.origin}/?query=${encodeURIComponent(query)}`);
    await explorer.getByRole('button', { name: /^Execute query/ }).click();
    await explorer.locator('.graphiql-response').getByText(`"${next.appId}"`).first().waitFor();
    expect(
      asked.some(
        ({ url, accept }) => url.includes(encodeURIComponent('quotaAlerts')) && accept === 'text/event-stream',
      ),
    ).toBe(true);
    const loaded = asked.map(({ url }) => new URL(url)).filter(({ protocol }) => protocol !== 'data:');
    // The origin of a blob is that of the page that created it.
    expect(new Set(loaded.map(({ origin }) => origin))).toEqual(new Set([app.origin]));
    await context.close();
  }, 600_000);
});
