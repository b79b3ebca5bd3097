import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, type Client, newOrg, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import { endAll, LiveSocket } from '../support/live-socket.js';
import {
  asAdmin,
  bearer,
  endless,
  eventInit,
  openStreams,
  overEvents,
  overWebSocket,
  type Result,
  resultsOf,
  transports,
} from '../support/live-transports.js';
import * as op from '../support/operations.js';
import { schemaWithTicks } from '../support/subscription.js';
import { callerFields, tokensOf } from '../support/tokens.js';
import { until } from '../support/until.js';

let app: TestApp;
let production: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp({ schema: await schemaWithTicks() });
  production = await app.another({ production: true });
  org = await newOrg(app);
});
afterAll(() => Promise.all([app.stop(), production.stop()]));
afterEach(endAll);

describe('a subscription', () => {
  const expected = [1, 2, 3, 4, 5].map((ticks) => ({ data: { ticks } }));

  it('sends its events in order to a client of graphql-ws, and completes', async () => {
    const client = createClient({
      url: app.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: bearer(org),
      retryAttempts: 0,
    });
    const seen: unknown[] = [];
    for await (const result of client.iterate({
      query: 'subscription ($to: Int!) { ticks(to: $to) }',
      variables: { to: 5 },
    }))
      seen.push(result);
    await client.dispose();
    expect(seen).toEqual(expected);
  });

  it.each(transports)('sends its events in order over %s, and completes', async (_name, run) => {
    expect(await run(app.url, bearer(org), 'subscription ($to: Int!) { ticks(to: $to) }', { to: 5 })).toEqual(expected);
  });

  it('sends its events in order over SSE by GET', async () => {
    const query = encodeURIComponent('subscription T($to: Int!) { ticks(to: $to) }');
    const url = `${app.url}?query=${query}&operationName=T&variables=${encodeURIComponent('{"to":5}')}`;
    expect(await resultsOf(await fetch(url, { headers: { accept: 'text/event-stream', ...bearer(org) } }))).toEqual(
      expected,
    );
  });

  it.each([
    'text/event-stream, */*',
    'Text/Event-Stream',
    'text/event-stream;q=0.9',
    'application/json;q=0.5, text/event-stream',
  ])('is sent over SSE to a client that accepts %s', async (accept) => {
    const init = eventInit({ ...bearer(org), accept }, { query: 'subscription { ticks(to: 5) }' });
    expect(await resultsOf(await fetch(app.url, init))).toEqual(expected);
  });

  it('shares its socket with others, and ends without them', async () => {
    const live = await LiveSocket.connect(app.url, bearer(org));
    live.subscribe('a', 'subscription { ticks(to: 3) }');
    live.subscribe('b', endless);
    await until('a is complete', () => live.of('a').some(({ type }) => type === 'complete'));
    const before = live.of('b').length;
    await until('b goes on', () => live.of('b').length > before + 2);
    live.send({ type: 'complete', id: 'b' });
    live.subscribe('c', 'subscription { ticks(to: 1) }');
    await until('c is complete', () => live.of('c').some(({ type }) => type === 'complete'));
    live.end();
  });
});

describe('the credential of a subscription', () => {
  it.each([
    ['authorization', () => ({ authorization: `Bearer ${org.accessToken}` })],
    ['Authorization', () => ({ Authorization: `Bearer ${org.accessToken}` })],
    ['x-admin-key', () => ({ 'x-admin-key': adminKey })],
    ['X-ADMIN-KEY', () => ({ 'X-ADMIN-KEY': adminKey })],
  ])('is read from the payload of connection_init and from the headers as %s', async (_name, credentials) => {
    expect(await overWebSocket(app.url, credentials(), 'subscription { ticks(to: 1) }')).toEqual([
      { data: { ticks: 1 } },
    ]);
    expect(await overEvents(app.url, credentials(), 'subscription { ticks(to: 1) }')).toEqual([{ data: { ticks: 1 } }]);
  });

  it.each([
    ['no payload', undefined],
    ['an empty payload', {}],
  ])('is required: a socket whose connection_init has %s is closed with 4401', async (_what, payload) => {
    const live = await LiveSocket.open(app.url);
    live.send({ type: 'connection_init', ...(payload ? { payload } : {}) });
    expect(await live.closeCode()).toBe(4401);
    expect(live.messages).toEqual([]);
  });

  it('is required: an event stream without one gets 401', async () => {
    const response = await fetch(app.url, eventInit({}, { query: endless }));
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(((await response.json()) as Result).errors?.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ code: 'UNAUTHENTICATED', requestId: expect.any(String) }),
    ]);
  });

  const invalid: readonly (readonly [what: string, credentials: () => Record<string, unknown>])[] = [
    ['a wrong admin key', () => ({ 'x-admin-key': 'wrong' })],
    ['an invalid token', () => ({ authorization: 'Bearer x.y.z' })],
    ['a token without its scheme', () => ({ authorization: org.accessToken })],
    ['an unknown device key', () => ({ 'x-api-key': 'tgk_nothing' })],
    ['a good token and an admin key', () => ({ authorization: `Bearer ${org.accessToken}`, 'x-admin-key': adminKey })],
    ['a number', () => ({ 'x-admin-key': 7 })],
    ['the same name twice', () => ({ 'x-admin-key': 'wrong', 'X-Admin-Key': adminKey })],
  ];
  it.each(invalid)('closes the socket with 4403 if it is %s', async (_what, credentials) => {
    const live = await LiveSocket.open(app.url);
    live.send({ type: 'connection_init', payload: credentials() });
    expect(await live.closeCode()).toBe(4403);
    expect(live.messages).toEqual([]);
    expect(live.closed?.reason).not.toContain(org.accessToken);
  });

  it.each([
    ['a wrong admin key', () => ({ 'x-admin-key': 'wrong' }), 401, 'UNAUTHENTICATED'],
    ['an invalid token', () => ({ authorization: 'Bearer x.y.z' }), 401, 'UNAUTHENTICATED'],
    ['two at once', () => ({ ...bearer(org), ...asAdmin }), 400, 'BAD_USER_INPUT'],
  ])('is refused over SSE if it is %s', async (_what, credentials, status, code) => {
    const response = await fetch(app.url, eventInit(credentials() as Record<string, string>, { query: endless }));
    expect(response.status).toBe(status);
    expect(((await response.json()) as Result).errors?.[0]?.extensions).toMatchObject({
      code,
      requestId: expect.any(String),
    });
  });

  it('must come before any subscription', async () => {
    const live = await LiveSocket.open(app.url);
    live.subscribe('1', endless);
    expect(await live.closeCode()).toBe(4401);
  });

  it('leaves nothing open if its socket is closed while it is checked', async () => {
    const fresh = await app.another();
    try {
      const first = await newOrg(app);
      const clients: Pick<Client, 'accessToken'>[] = [];
      for (let i = 0; i < 10; i++)
        clients.push(
          (
            await app.anonymous.ask(op.IssueTokenDocument, {
              input: { clientId: first.clientId, clientSecret: first.clientSecret },
            })
          ).issueToken,
        );
      await Promise.all(
        clients.map(async (client) => {
          const live = await LiveSocket.open(fresh.url);
          live.send({ type: 'connection_init', payload: bearer(client) });
          live.end();
        }),
      );
      await sleep(500);
      await until('no socket is counted as open', async () => (await openStreams(fresh, 'ws')) === 0, 3000);
    } finally {
      await fresh.stop();
    }
  });
});

describe('a live transport', () => {
  const operations: readonly [what: string, query: string][] = [
    ['a query', '{ __typename }'],
    ['a mutation', 'mutation { revokeToken(token: "x") }'],
    ['introspection', getIntrospectionQuery()],
  ];

  it.each(operations)('refuses %s over WebSocket', async (_what, query) => {
    const results = await overWebSocket(app.url, asAdmin, query);
    expect(results.map(({ data, errors }) => [data ?? null, errors?.map(({ extensions }) => extensions.code)])).toEqual(
      [[null, ['BAD_USER_INPUT']]],
    );
  });

  it.each(operations)('responds to %s over SSE with one event', async (_what, query) => {
    const results = await overEvents(app.url, asAdmin, query);
    expect(results.map(({ data, errors }) => [typeof data, errors])).toEqual([['object', undefined]]);
  });
});

describe.each(transports)('a subscription over %s', (_name, run) => {
  const refused = async (
    query: string,
    variables?: Record<string, unknown>,
    on = app,
  ): Promise<readonly PublicError[]> => {
    const results = await run(on.url, asAdmin, query, variables);
    expect(results).toHaveLength(1);
    expect(results[0]?.data ?? null).toBeNull();
    for (const { extensions } of results[0]?.errors ?? [])
      expect(extensions).toMatchObject({ code: expect.any(String), requestId: expect.stringMatching(/./) });
    return results[0]?.errors ?? [];
  };
  const codes = async (...args: Parameters<typeof refused>) => [
    ...new Set((await refused(...args)).map(({ extensions }) => extensions.code)),
  ];

  it.each([
    ['a syntax error', 'subscription {', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', 'subscription { tickz(to: 1) }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'several operations and no name',
      'subscription A { ticks(to: 1) } subscription B { ticks(to: 1) }',
      'BAD_USER_INPUT',
    ],
    ['a variable of the wrong type', 'subscription ($to: Int!) { ticks(to: $to) }', 'BAD_USER_INPUT'],
  ])('is refused for %s', async (_what, query, code) => {
    expect(await codes(query, { to: 'x' })).toEqual([code]);
  });

  it('is refused for introspection in production', async () => {
    expect(await codes('{ __schema { queryType { name } } }', undefined, production)).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(await codes('subscription { __schema { queryType { name } } }', undefined, production)).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });

  it.each([
    ['a field', 'subscription { tick(to: 1) }', undefined],
    ['an argument', 'subscription { ticks(too: 1) }', undefined],
  ])('gets no suggestion for a misspelt %s in production', async (_what, query, variables) => {
    expect(JSON.stringify(await run(production.url, asAdmin, query, variables))).not.toMatch(/did you mean/i);
  });

  const beside = (query: string): string => `query Q ${query} subscription S { ticks(to: 1) }`;
  const many = (n: number, text: (i: number) => string): string =>
    Array.from({ length: n }, (_, i) => text(i)).join(' ');
  const deep = (depth: number): string =>
    `{ ${many(depth - 1, (i) => (i % 2 === 0 ? 'org {' : 'app(appId: "a") {'))} name ${'} '.repeat(depth)}`;
  // Most of the tokens are in list literals, because fields of the same name are bounded too.
  const consume = many(100, () => '{limit:"a" amount:1}');
  const long = (tokens: number): string => {
    const availability = `a: availability(entityId:"e" resource:"r" consume:[${consume}]) { __typename }`;
    const text = (names: number) => beside(`{ ${availability} me { ${callerFields(names)} } }`);
    return text(tokens - tokensOf(text(0)));
  };

  it.each([
    [
      '15 aliases',
      (n: number) => beside(`{ org { ${many(15 + n, (i) => `a${i}: name`)} } }`),
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['a depth of 10', (n: number) => beside(deep(10 + n)), 'GRAPHQL_VALIDATION_FAILED'],
    [
      '5 root fields',
      (n: number) => beside(`{ ${many(5 + n, (i) => `a${i}: __typename`)} }`),
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      '10 directives',
      (n: number) => beside(`{ org { ${many(10 + n, () => 'name @include(if: true)')} } }`),
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['1,000 tokens', (n: number) => long(1000 + n), 'GRAPHQL_PARSE_FAILED'],
  ])('is accepted with %s, and refused with one more', async (_what, query, code) => {
    expect(await run(app.url, asAdmin, query(0))).toEqual([{ data: { ticks: 1 } }]);
    expect(await codes(query(1))).toEqual([code]);
  });

  it('is refused for a list of 101 items in the text', async () => {
    const list = (n: number) => beside(`{ org { app(appId: [${'"x" '.repeat(n)}]) { name } } }`);
    const isReported = async (n: number) =>
      (await refused(list(n))).some(({ message }) => message.startsWith(`a list literal has ${n} items`));
    expect([await isReported(100), await isReported(101)]).toEqual([false, true]);
  });

  it('is refused for a list of 101 items in a variable', async () => {
    const query = 'subscription ($to: Int!) { ticks(to: $to) }';
    expect(await run(app.url, asAdmin, query, { to: 1, list: Array(100).fill('x') })).toEqual([{ data: { ticks: 1 } }]);
    const errors = await refused(query, { to: 1, list: Array(101).fill('x') });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect(errors[0]?.message).toContain('101');
  });

  it('shows errors with a public code, and masks all others', async () => {
    const [shown] = await run(app.url, bearer(org), 'subscription { failing(fault: "known") }');
    expect(shown?.errors?.[0]).toMatchObject({
      message: 'no such thing',
      extensions: { code: 'NOT_FOUND', requestId: expect.any(String) },
    });
    const results = await run(app.url, bearer(org), 'subscription { failing(fault: "x") }');
    expect(results[0]?.errors?.[0]?.extensions).toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
      requestId: expect.any(String),
    });
    expect(JSON.stringify(results)).not.toMatch(/secret detail|stack|\.ts:/);
  });
});

describe('a WebSocket', () => {
  it('is closed at a frame over 64 KB', async () => {
    const live = await LiveSocket.connect(app.url, asAdmin);
    live.subscribe('1', `subscription { ticks(to: 1) } #${'x'.repeat(60 * 1024)}`);
    await until('a frame below the bound is served', () => live.of('1').some(({ type }) => type === 'complete'));
    live.subscribe('2', `subscription { ticks(to: 1) } #${'x'.repeat(64 * 1024)}`);
    expect(await live.closeCode()).toBe(1009);
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });

  it('refuses the eleventh concurrent operation, and accepts another when one ends', async () => {
    const live = await LiveSocket.connect(app.url, asAdmin);
    for (let i = 0; i < 10; i++) live.subscribe(`op-${i}`, endless);
    await until('ten run', () => Array.from({ length: 10 }, (_, i) => live.of(`op-${i}`).length > 0).every(Boolean));
    live.subscribe('op-10', endless);
    await until('the eleventh is refused', () => live.of('op-10').length > 0);
    expect(live.of('op-10')[0]).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'RATE_LIMITED', requestId: expect.any(String) } }],
    });
    live.send({ type: 'complete', id: 'op-0' });
    live.subscribe('again', 'subscription { ticks(to: 1) }');
    await until('another one is accepted', () => live.of('again').length > 0);
    expect(live.of('again')[0]).toMatchObject({ type: 'next' });
    expect(live.closed).toBeUndefined();
    live.end();
  });

  it('is closed if no connection_init comes within 3 s', async () => {
    const live = await LiveSocket.open(app.url);
    expect(await live.closeCode()).toBe(4408);
  });
});

describe('the body of a request for an event stream', () => {
  it.each([
    [
      'larger than 256 KB',
      413,
      { body: JSON.stringify({ query: 'subscription { ticks(to: 1) }' }).padEnd(256 * 1024 + 1, ' ') },
    ],
    ['malformed', 400, { body: '{"query":' }],
    ['without a query', 400, { body: '{}' }],
    ['a batch', 400, { body: '[{"query":"subscription { ticks(to: 1) }"}]' }],
    ['of another content type', 415, { body: '{"query":"subscription { ticks(to: 1) }"}', type: 'text/plain' }],
    [
      'of a content type that only resembles JSON',
      415,
      { body: '{"query":"subscription { ticks(to: 1) }"}', type: 'text/plain; application/json' },
    ],
  ])(
    'is refused if it is %s: %i',
    async (_what, status, { body, type = 'application/json' }: { body: string; type?: string }) => {
      const response = await fetch(app.url, {
        method: 'POST',
        headers: { 'content-type': type, accept: 'text/event-stream', ...asAdmin },
        body,
      });
      const text = await response.text();
      expect(response.status).toBe(status);
      expect((JSON.parse(text) as Result).errors?.[0]?.extensions).toEqual(
        expect.objectContaining({ code: 'BAD_USER_INPUT', requestId: expect.any(String) }),
      );
    },
  );
});
