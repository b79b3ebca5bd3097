import { get, type IncomingMessage } from 'node:http';
import { bearer } from '../support/alert-source.js';
import { type Client, newOrg, startTestApp, type TestApp } from '../support/app.js';

let app: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp();
  org = await newOrg(app);
});
afterAll(() => app.stop());

const plain = 'application/json; charset=utf-8';
const graphql = 'application/graphql-response+json; charset=utf-8';
const events = 'text/event-stream; charset=utf-8';

interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

async function ask(
  method: 'GET' | 'POST',
  accept: string,
  query = '{ me { kind } }',
  credentials: Record<string, string> = bearer(org),
): Promise<Reply> {
  const headers = { ...credentials, accept };
  const response =
    method === 'GET'
      ? await fetch(`${app.url}?query=${encodeURIComponent(query)}`, { headers })
      : await fetch(app.url, {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        });
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

const answer = '{"data":{"me":{"kind":"ORG_CLIENT"}}}';
const asEvents = new RegExp(
  `event: next\\n(id: .*\\n)?data: ${answer.replace(/[{}]/g, '\\$&')}\\n\\nevent: complete\\ndata: ?\\n\\n$`,
);

describe.each(['GET', 'POST'] as const)('a query by %s', (method) => {
  it.each([
    [
      'urql',
      [
        'application/graphql-response+json',
        'application/graphql+json',
        'application/json',
        'text/event-stream',
        'multipart/mixed',
      ].join(', '),
      graphql,
    ],
    ['Apollo Client', 'application/graphql-response+json,application/json;q=0.9', graphql],
    ['graphql-request', 'application/graphql-response+json, application/json', graphql],
    ['GraphiQL', 'application/json, multipart/mixed', plain],
    ['a browser page', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', plain],
    ['fetch', '*/*', plain],
    ['a type that is taken at any rate', 'application/*', plain],
    ['events least of all', 'application/json, text/event-stream;q=0.1', plain],
    ['events first of all, and JSON', 'text/event-stream, application/json;q=0.1', plain],
    ['no events at all', 'application/json, text/event-stream;q=0', plain],
    ['anything but events', '*/*, text/event-stream;q=0', plain],
    ['events and anything', 'text/event-stream, */*;q=0.1', plain],
    ['the newer type by weight', 'application/json;q=0.5, application/graphql-response+json;q=0.9', graphql],
    ['the older type by weight', 'application/graphql-response+json;q=0.5, application/json;q=0.9', plain],
    ['the older type first', 'application/json, application/graphql-response+json', plain],
    ['the newer type, the older excluded', 'application/json;q=0, application/graphql-response+json', graphql],
    ['anything but the older type', 'application/json;q=0, */*', graphql],
    ['upper case and blanks', ' APPLICATION/JSON ; Q=0.5 ,\tApplication/GraphQL-Response+JSON', graphql],
    ['parameters of a media type', 'application/json; charset=utf-8; q=0.9, text/plain', plain],
    ['empty entries', ',, application/json,,', plain],
    ['an empty header', '', plain],
  ])('gets a JSON response for %s', async (_who, accept, type) => {
    expect(await ask(method, accept)).toEqual({ status: 200, type, body: expect.stringContaining(answer) });
  });

  it.each([
    ['only events', 'text/event-stream'],
    ['events, JSON excluded', 'text/event-stream, application/json;q=0, application/graphql-response+json;q=0'],
    ['events and other types', 'text/event-stream, text/html, multipart/mixed'],
  ])('gets events for %s', async (_who, accept) => {
    const { status, type, body } = await ask(method, accept);
    expect([status, type]).toEqual([200, events]);
    expect(body).toMatch(asEvents);
  });

  it.each([
    ['another type', 'text/html'],
    ['another of its kind', 'application/xml, image/*'],
    ['nothing', 'application/json;q=0, application/graphql-response+json;q=0, text/event-stream;q=0'],
    ['nothing, whatever it is', '*/*;q=0'],
    ['events of weight 0', 'text/event-stream;q=0'],
  ])('gets 406 for %s', async (_who, accept) => {
    const { status, type, body } = await ask(method, accept);
    expect([status, type]).toEqual([406, plain]);
    expect(body).toContain('BAD_USER_INPUT');
  });

  it.each([
    ['JSON', 'application/json', plain],
    ['events', 'text/event-stream', plain],
  ])('gets 401 for a wrong token and a client that accepts %s', async (_what, accept, type) => {
    const { status, type: actual, body } = await ask(method, accept, undefined, { authorization: 'Bearer x.y.z' });
    expect([status, actual]).toEqual([401, type]);
    expect(body).toContain('UNAUTHENTICATED');
  });
});

describe('a query without an accept header', () => {
  it('gets a JSON response', async () => {
    // Unlike fetch, node:http adds no accept header of its own.
    const response = await new Promise<IncomingMessage>(
      (resolve) => void get(`${app.url}?query={me{kind}}`, { headers: bearer(org) }, resolve),
    );
    let body = '';
    for await (const chunk of response) body += chunk;
    expect([response.statusCode, response.headers['content-type'], body]).toEqual([
      200,
      plain,
      expect.stringContaining(answer),
    ]);
  });
});

describe('a subscription', () => {
  const query = 'subscription { quotaAlerts(appId: "nobody") { id } }';

  it.each([
    ['events', 'text/event-stream'],
    ['urql', 'text/event-stream, multipart/mixed'],
    ['events as well as JSON', 'application/json, text/event-stream'],
    ['events least of all', 'application/json, text/event-stream;q=0.1'],
  ])('gets events for a client that accepts %s', async (_who, accept) => {
    const { status, type, body } = await ask('POST', accept, query);
    expect([status, type]).toEqual([200, events]);
    expect(body).toMatch(/event: next\n(id: .*\n)?data: \{.*"NOT_FOUND".*\}\n\nevent: complete\n/);
  });

  it.each([
    ['only JSON', 'application/json'],
    ['events of weight 0', 'application/json, text/event-stream;q=0'],
  ])('gets BAD_USER_INPUT for a client that accepts %s', async (_who, accept) => {
    const { type, body } = await ask('POST', accept, query);
    expect(type).toBe(plain);
    expect(body).toContain('BAD_USER_INPUT');
  });

  it('gets 401 as JSON without a credential', async () => {
    const { status, type, body } = await ask('POST', 'text/event-stream', query, {});
    expect([status, type]).toEqual([401, plain]);
    expect(body).toContain('UNAUTHENTICATED');
  });
});

describe('a mutation', () => {
  const query = 'mutation { createApiKey(input: {}) { apiKey { active } } }';

  it('gets its result as an event if the client accepts only events, and only by POST', async () => {
    expect((await ask('POST', 'text/event-stream', query)).body).toMatch(
      /event: next\n(id: .*\n)?data: .*"active":true.*\n\nevent: complete\n/,
    );
    const { status, body } = await ask('GET', 'text/event-stream', query);
    expect(status).toBe(405);
    expect(body).toContain('BAD_USER_INPUT');
  });
});
