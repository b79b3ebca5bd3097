import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import WebSocket from 'ws';
import { type Config, ConfigError, loadConfig } from '../../src/config.js';
import { newSigningKeys } from '../../src/identity/token.js';
import { adminKey, startTestApp, type TestApp } from '../support/app.js';

const page = 'https://dash.example.com';
const other = 'http://dash.example.com:8080';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: allowing(page, other) });
});
afterAll(() => app.stop());

function allowing(...corsOrigins: string[]): Partial<Config> {
  return { corsOrigins };
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** By node:http, because a browser does not let a script choose its origin. */
async function send(url: string, method: string, headers: Record<string, string>, body = ''): Promise<Reply> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers }, resolve).on('error', reject).end(body);
  });
  response.resume();
  return { status: response.statusCode ?? 0, headers: response.headers };
}

const typename = JSON.stringify({ query: '{ __typename }' });
const json = { 'content-type': 'application/json' };
const asked = 'authorization,content-type,last-event-id,x-admin-key,x-api-key,x-request-id';
const preflight = (url: string, origin: string) =>
  send(url, 'OPTIONS', { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked });
const listOf = (header: string | undefined): string[] =>
  (header ?? '').split(',').map((entry) => entry.trim().toLowerCase());
const allowedIn = ({ headers }: Reply): string | undefined => headers['access-control-allow-origin'];
const corsHeadersIn = ({ headers }: Reply): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

/** The result of a WebSocket upgrade: `open`, or the status of the refusal. */
function upgrade(url: string, origin?: string): Promise<string | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, 'graphql-transport-ws', origin === undefined ? {} : { origin });
    socket.once('open', () => {
      resolve('open');
      socket.terminate();
    });
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('error', () => undefined);
  });
}

describe('a preflight request', () => {
  it.each(['/graphql', '/oauth/token', '/oauth/revoke'])(
    'to %s of a listed origin is allowed, and may be cached for an hour',
    async (path) => {
      for (const origin of [page, other]) {
        const reply = await preflight(`${app.origin}${path}`, origin);
        expect([200, 204]).toContain(reply.status);
        expect([allowedIn(reply), reply.headers['access-control-max-age']]).toEqual([origin, '3600']);
        expect(listOf(reply.headers['access-control-allow-methods'])).toContain('post');
        expect(listOf(reply.headers['access-control-allow-headers'])).toEqual(expect.arrayContaining(asked.split(',')));
        expect(listOf(reply.headers.vary)).toContain('origin');
      }
    },
  );

  it('needs no credential and does not reveal the schema, the store or the reason', async () => {
    const reply = await preflight(app.url, 'https://evil.example');
    expect(corsHeadersIn(reply)).toEqual([]);
    expect(reply.status).toBeLessThan(500);
  });
});

const strangers: readonly (readonly [what: string, origin: string])[] = [
  ['a stranger', 'https://evil.example'],
  ['the origin of a sandboxed frame', 'null'],
  ['empty', ''],
  ['a listed one as a prefix', 'https://dash.example.com.evil.example'],
  ['a listed one as a suffix', 'https://evil-dash.example.com'],
  ['a listed one on another port', 'https://dash.example.com:444'],
  ['a listed one with a path', 'https://dash.example.com/'],
  ['a listed one by another scheme', 'http://dash.example.com'],
  ['a listed one beside another', 'https://dash.example.com, https://evil.example'],
  ['10 KB', `https://${'a'.repeat(10_000)}`],
];

describe('an origin', () => {
  it.each(strangers)('may read nothing and open no socket if it is not listed: %s', async (_what, origin) => {
    expect(corsHeadersIn(await send(app.url, 'POST', { ...json, origin }, typename))).toEqual([]);
    expect(corsHeadersIn(await preflight(app.url, origin))).toEqual([]);
    if (origin !== '') expect(await upgrade(app.url, origin)).toBe(403);
  });

  it('may open a socket if it is listed, or that of the gateway itself, or absent', async () => {
    expect([await upgrade(app.url, page), await upgrade(app.url, app.origin), await upgrade(app.url)]).toEqual([
      'open',
      'open',
      'open',
    ]);
  });

  it('may read every response if it is listed, including refusals', async () => {
    const replies = [
      await send(app.url, 'POST', { ...json, origin: page }, typename),
      await send(`${app.url}?query={__typename}`, 'GET', { origin: page }),
      await send(app.url, 'POST', { ...json, origin: page, authorization: 'Bearer x.y.z' }, typename),
      await send(
        app.url,
        'POST',
        { ...json, origin: page, accept: 'text/event-stream' },
        JSON.stringify({ query: 'subscription { quotaAlerts { id } }' }),
      ),
      await send(app.url, 'POST', { ...json, origin: page, accept: 'text/html' }, typename),
      await send(app.url, 'POST', { 'content-type': 'text/plain', origin: page }, typename),
      await send(app.url, 'POST', { ...json, origin: page }, '{'),
      await send(app.url, 'POST', { ...json, origin: page }, ' '.repeat(300_000)),
      await send(
        `${app.origin}/oauth/token`,
        'POST',
        { 'content-type': 'application/x-www-form-urlencoded', origin: page },
        'grant_type=x',
      ),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 401, 401, 406, 415, 400, 413, 400]);
    for (const reply of replies) {
      expect(allowedIn(reply)).toBe(page);
      expect(listOf(reply.headers['access-control-expose-headers'])).toEqual(
        expect.arrayContaining(['retry-after', 'ratelimit', 'ratelimit-policy', 'x-request-id']),
      );
      expect(listOf(reply.headers.vary)).toContain('origin');
      // A cookie counts only for pages of the gateway itself, so no other page needs to send any.
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  it('may read the refusal of an overloaded gateway if it is listed', async () => {
    const narrow = await app.another({ ...allowing(page), gatewayConcurrency: 1 });
    try {
      const headers = { ...json, origin: page, 'x-admin-key': adminKey };
      const body = JSON.stringify({ query: '{ orgs { nodes { orgId } } }' });
      const replies = await Promise.all(Array.from({ length: 100 }, () => send(narrow.url, 'POST', headers, body)));
      expect(replies.filter(({ status }) => status === 503).length).toBeGreaterThan(0);
      expect(new Set(replies.map(allowedIn))).toEqual(new Set([page]));
    } finally {
      await narrow.stop();
    }
  });
});

describe('CORS_ORIGINS', () => {
  let environment: Record<string, string>;
  beforeAll(async () => {
    environment = {
      TOLLGATE_ADMIN_KEY: adminKey,
      API_KEY_PEPPER: 'p'.repeat(32),
      TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
    };
  });

  /** The origins that a gateway with these variables allows, over HTTP and WebSocket alike. */
  async function letIn(variables: Record<string, string>, origins: readonly string[]): Promise<string[]> {
    const { corsOrigins } = loadConfig({ ...environment, ...variables });
    const gateway = await app.another(allowing(...corsOrigins));
    try {
      const found: string[] = [];
      for (const origin of origins) {
        const isAllowed = ['*', origin].includes(
          allowedIn(await send(gateway.url, 'POST', { ...json, origin }, typename)) ?? '',
        );
        expect(await upgrade(gateway.url, origin)).toBe(isAllowed ? 'open' : 403);
        if (isAllowed) found.push(origin);
      }
      return found;
    } finally {
      await gateway.stop();
    }
  }

  const loopback = ['http://localhost:3000', 'http://127.0.0.1:5173', 'http://[::1]:8080', 'https://localhost'];
  const elsewhere = [
    page,
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example:3000',
    'http://evil.example',
    'null',
  ];

  it('allows pages of this machine in development and none in production by default', async () => {
    expect(await letIn({ NODE_ENV: 'development' }, [...loopback, ...elsewhere])).toEqual(loopback);
    expect(await letIn({ NODE_ENV: 'production' }, [...loopback, ...elsewhere])).toEqual([]);
  });

  it('allows exactly the listed origins, in development too', async () => {
    const listed = [page, 'http://localhost:3000'];
    for (const NODE_ENV of ['development', 'production'])
      expect(await letIn({ NODE_ENV, CORS_ORIGINS: ` ${listed.join(' , ')} ` }, [...loopback, ...elsewhere])).toEqual([
        'http://localhost:3000',
        page,
      ]);
  });

  it('allows any page with *', async () => {
    expect(await letIn({ CORS_ORIGINS: '*' }, [...loopback, ...elsewhere])).toEqual([...loopback, ...elsewhere]);
  });

  it.each([
    'dash.example.com',
    'https://dash.example.com/',
    'https://dash.example.com/app',
    'https://*.example.com',
    'ftp://dash.example.com',
    'null',
    'loopback',
  ])('refuses %s at the start', (value) => {
    const load = () => loadConfig({ ...environment, CORS_ORIGINS: `${page},${value}` });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(/CORS_ORIGINS: /);
  });
});
