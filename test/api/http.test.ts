import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { serverAudits } from 'graphql-http';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, type Client, newApp, newOrg, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import { TestClock } from '../support/clock.js';
import { expectPublicErrors, post, send, typename } from '../support/http.js';
import * as op from '../support/operations.js';

let app: TestApp;
let production: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp();
  production = await app.another({ production: true });
  org = await newOrg(app);
  await newApp(app, org);
});
afterAll(() => Promise.all([app.stop(), production.stop()]));

describe('the gateway passes the audit of GraphQL over HTTP', () => {
  const audits = serverAudits({ url: () => app.url, fetchFn: fetch });
  it.each(audits.map(({ id, name, fn }) => [id, name, fn] as const))('%s: %s', async (_id, _name, audit) => {
    const result = await audit();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
});

describe('the endpoint /graphql', () => {
  it.each([
    ['text/plain', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['JSON in another charset', 'application/json; charset=utf-16'],
    ['an empty one', ''],
  ])('refuses with 415 the content type %s', async (_what, type) => {
    const reply = await send(app.url, post(typename, { 'content-type': type }));
    expect(reply.status).toBe(415);
    expectPublicErrors(reply);
  });

  it('refuses with 415 a body without a content type', async () => {
    const reply = await send(app.url, { method: 'POST', body: new Uint8Array(Buffer.from(typename)) });
    expect(reply.status).toBe(415);
    expectPublicErrors(reply);
  });

  it.each([
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/json; charset="utf-8"',
  ])('accepts %s', async (type) => {
    const reply = await send(app.url, post(typename, { 'content-type': type }));
    expect([reply.status, reply.text]).toEqual([200, '{"data":{"__typename":"Query"}}\n'.trim()]);
  });

  it.each([
    ['a batch', `[${typename}]`],
    ['an empty batch', '[]'],
    ['malformed JSON', '{"query":'],
    ['nothing', ''],
    ['a bare string', '"{ __typename }"'],
    ['null', 'null'],
    ['no query', '{}'],
    ['a query that is a number', '{"query":1}'],
    ['variables that are a list', '{"query":"{__typename}","variables":[]}'],
    ['variables that are a string', '{"query":"{__typename}","variables":"{}"}'],
    ['an operation name that is a number', '{"query":"{__typename}","operationName":7}'],
  ])('refuses with 400 %s', async (_what, body) => {
    const reply = await send(app.url, post(body));
    expect(reply.status).toBe(400);
    expect(reply.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expectPublicErrors(reply);
  });

  it('refuses a mutation by GET', async () => {
    const reply = await send(`${app.url}?query=${encodeURIComponent('mutation { revokeToken(token: "x") }')}`, {
      headers: { 'x-admin-key': adminKey },
    });
    expect(reply.status).toBe(405);
    expectPublicErrors(reply);
  });

  it('serves a query with variables by GET', async () => {
    const query = encodeURIComponent('query Q($yes: Boolean!) { __typename @include(if: $yes) }');
    const reply = await send(
      `${app.url}?query=${query}&operationName=Q&variables=${encodeURIComponent('{"yes":true}')}`,
    );
    expect([reply.status, JSON.parse(reply.text)]).toEqual([200, { data: { __typename: 'Query' } }]);
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('refuses %s with 405, and names the allowed methods', async (method) => {
    const reply = await send(app.url, { method });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('GET, POST');
    expectPublicErrors(reply);
  });

  it.each(['/nowhere', '/graphql/', '/__proto__', '/constructor', '//', '/graphql%2f'])(
    'responds with 404 at %s',
    async (path) => {
      const reply = await send(app.origin + path);
      expect(reply.status).toBe(404);
      expectPublicErrors(reply);
    },
  );
});

/** One POST by node:http, which sends the body as the test says. */
function sendBody(
  url: string,
  chunks: readonly Buffer[],
  headers: Record<string, string | number>,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response
          .on('error', reject)
          .on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      },
    );
    sending.on('error', reject);
    for (const chunk of chunks) sending.write(chunk);
    sending.end();
  });
}

describe('a body', () => {
  const bodyOf = (bytes: number): Buffer => Buffer.from(typename.padEnd(bytes, ' '));
  const inPieces = (body: Buffer): Buffer[] =>
    Array.from({ length: Math.ceil(body.length / 16_384) }, (_, i) => body.subarray(i * 16_384, (i + 1) * 16_384));
  const maxBytes = 256 * 1024;

  it.each([
    ['with its length', (body: Buffer) => sendBody(app.url, [body], { 'content-length': body.length })],
    ['in chunks', (body: Buffer) => sendBody(app.url, inPieces(body), { 'transfer-encoding': 'chunked' })],
  ])('may have 256 KB and not a byte more, sent %s', async (_how, sendSized) => {
    expect((await sendSized(bodyOf(maxBytes))).status).toBe(200);
    for (const bytes of [maxBytes + 1, 2 * maxBytes, 16 * maxBytes]) {
      const { status, headers, text } = await sendSized(bodyOf(bytes));
      expect([bytes, status]).toEqual([bytes, 413]);
      expect((JSON.parse(text) as { errors: PublicError[] }).errors[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        requestId: headers['x-request-id'],
      });
    }
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });
});

describe('a large response', () => {
  const query = '{ __schema { types { name description fields { name description } } } }';
  const raw = (encoding: string) =>
    new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
      const sent = httpRequest(
        app.url,
        { method: 'POST', headers: { 'content-type': 'application/json', 'accept-encoding': encoding } },
        (response) => {
          const chunks: Buffer[] = [];
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(chunks) }));
        },
      );
      sent.on('error', reject).end(JSON.stringify({ query }));
    });

  it.each([
    ['gzip, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
    ['identity', undefined, (body: Buffer) => body],
    ['*;q=0', undefined, (body: Buffer) => body],
  ] as const)('is compressed as Accept-Encoding allows: %s', async (accept, expected, unpack) => {
    const { encoding, body } = await raw(accept);
    expect(encoding).toBe(expected);
    expect(JSON.parse(unpack(body).toString())).toMatchObject({ data: { __schema: {} } });
  });
});

describe('the gateway', () => {
  it.each(['/healthz', '/readyz', '/metrics', '/.well-known/jwks.json'])(
    'serves only GET and HEAD at %s',
    async (path) => {
      expect((await send(app.origin + path)).status).toBe(200);
      const head = await send(app.origin + path, { method: 'HEAD' });
      expect([head.status, head.text]).toEqual([200, '']);
      const refused = await send(app.origin + path, { method: 'POST', body: '{}' });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expectPublicErrors(refused);
    },
  );

  it('publishes no private part of a signing key', async () => {
    expect(JSON.parse((await send(`${app.origin}/.well-known/jwks.json`)).text)).toEqual({
      keys: [{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String), alg: 'EdDSA', use: 'sig' }],
    });
  });

  it('counts its requests, and names no tenant in the metrics', async () => {
    await org.caller.ask(op.MeDocument);
    await app.admin.ask(op.OrgDocument, { orgId: org.orgId });
    await org.caller.send(`query ${'X'.repeat(20)}_${org.orgId.replaceAll('-', '')} { org { name } }`);
    await org.caller.send('{ org { app(appId: "chat") { name } } }');
    // The metrics are rendered at most once per second.
    await sleep(1100);
    const { text, headers } = await send(`${app.origin}/metrics`);
    expect(headers.get('content-type')).toContain('text/plain');
    expect(text).toMatch(/^tollgate_requests_total\{operation="org",outcome="ok"\} [1-9]/m);
    expect(text).toMatch(/^tollgate_requests_total\{operation="me",outcome="ok"\} [1-9]/m);
    expect(text).toContain('tollgate_store_calls_total');
    for (const name of [org.orgId, org.orgId.replaceAll('-', ''), org.clientId, 'chat', app.tableAdmin.prefix])
      expect(text).not.toContain(name);
  });

  it('serves an explorer in development that loads nothing from elsewhere', async () => {
    const { status, headers, text } = await send(`${app.origin}/`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toMatch(/graphiql/i);
    const tags = text.match(/<(?:script|link|img|iframe)\b[^>]*>/gi) ?? [];
    expect(tags.filter((tag) => /(?:src|href)\s*=\s*["']?\s*(?:https?:)?\/\//i.test(tag))).toEqual([]);
  });

  it('sends the explorer again only if it has changed, and compressed only if the client accepts that', async () => {
    const { headers } = await send(`${app.origin}/`);
    const etag = headers.get('etag') ?? '';
    const again = await send(`${app.origin}/`, { headers: { 'if-none-match': etag } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await send(`${app.origin}/`, { headers: { 'if-none-match': '"another"' } })).status).toBe(200);
    const head = async (encoding: string) => {
      const reply = await send(`${app.origin}/`, { method: 'HEAD', headers: { 'accept-encoding': encoding } });
      return reply.headers.get('content-encoding');
    };
    expect([await head('gzip, br'), await head('br'), await head('identity')]).toEqual(['gzip', null, null]);
  });

  it('renders the metrics at most once per second', async () => {
    let nowMs = performance.now();
    const clock = Object.assign(new TestClock(), { monotonicMs: () => nowMs });
    const still = await startTestApp({ clock });
    const page = async () => (await send(`${still.origin}/metrics`)).text;
    const first = await page();
    await still.admin.ask(op.MeDocument);
    expect(await page()).toBe(first);
    nowMs += 1000;
    expect(await page()).not.toBe(first);
    await still.stop();
    still.tableAdmin.client.destroy();
  });

  it('serves no explorer in production', async () => {
    expect((await send(`${production.origin}/`)).status).toBe(404);
  });
});

describe('the reads of one request', () => {
  it('are batched: ten apps are not ten calls of the database', async () => {
    const { orgId, caller } = await newOrg(app);
    const ids = Array.from({ length: 10 }, (_, i) => `app-${i}`);
    for (const appId of ids) await caller.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId } });
    const apps = ids.map((appId, i) => `a${i}: app(appId: "${appId}") { appId org { name } }`);
    const query = `{ org { ${apps.join(' ')} } }`;
    const { consumed } = app.gateway.services.store;
    let minCalls = Number.POSITIVE_INFINITY;
    // The process polls for changes once per second, which may add calls to a measurement.
    for (let attempt = 0; attempt < 5 && minCalls > 3; attempt++) {
      const before = consumed.calls;
      const data = await caller.ask<{ org: Record<string, { appId: string }> }, never>(query);
      expect(Object.values(data.org).map(({ appId }) => appId)).toEqual(ids);
      minCalls = Math.min(minCalls, consumed.calls - before);
    }
    expect(minCalls).toBeLessThanOrEqual(3);
  });
});
