import { randomUUID } from 'node:crypto';
import { bounds } from '../../src/graphql/bounds.js';
import { createLog } from '../../src/lib/log.js';
import {
  adminKey,
  type Client,
  logInWith,
  newApp,
  newOrg,
  type RequestHeaders,
  startTestApp,
  type TestApp,
  testEndpoint,
} from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

type Org = Client & { readonly orgId: string };
type Json = Record<string, unknown>;

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json & { readonly error?: Json & { readonly issues?: readonly unknown[] } };
}

const page = 'https://dash.example.com';
const logged: Json[] = [];
let app: TestApp;
let proxy: FaultProxy;
let org: Org;
beforeAll(async () => {
  const log = createLog('info', { write: (line: string) => void logged.push(JSON.parse(line) as Json) });
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({
    config: { principalRps: 0, principalConcurrency: 0, corsOrigins: [page] },
    clock: new ManualClock({ frozenAtMs: Date.parse('2030-03-04T15:20:00.123Z') }),
    log,
  });
  org = await newOrg(app);
  await setLimits(org);
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await app.stop();
  await proxy.stop();
});

const plain = { kind: 'RATE', window: null, enforce: true };
const rpm: op.LimitInput = { name: 'rpm', capacity: 10, refillPeriodSecs: 60 };
const tpm: op.LimitInput = { name: 'tpm', capacity: 600, refillPeriodSecs: 60 };
const setLimits = ({ orgId }: Pick<Org, 'orgId'>, limits = [rpm, tpm]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
const credentialOf = ({ accessToken }: Client): RequestHeaders => ({ authorization: `Bearer ${accessToken}` });
const admin: RequestHeaders = { 'x-admin-key': adminKey };

async function send(
  path: string,
  body: unknown,
  headers: RequestHeaders = credentialOf(org),
  origin = app.origin,
): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] };
}

const someone = (): string => `user-${randomUUID()}`;
const acquireBody = (consume: unknown = { rpm: 1 }, more: Json = {}): Json => ({
  entityId: someone(),
  resource: 'api',
  consume,
  ...more,
});
const limitHeaders = ({ headers }: Reply) =>
  ['retry-after', 'ratelimit', 'ratelimit-policy'].map((name) => headers.get(name));

async function newLease(consume: unknown = { rpm: 4 }, entityId = someone()): Promise<string> {
  const { status, body } = await send('/v1/acquire', acquireBody(consume, { entityId }));
  expect(status).toBe(200);
  return body.leaseId as string;
}

describe('POST /v1/acquire', () => {
  it('returns the Lease as JSON and the status of every limit in headers', async () => {
    const body = acquireBody([{ limit: 'rpm', amount: 4 }]);
    const reply = await send('/v1/acquire', body);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      leaseId: expect.any(String),
      entityId: body.entityId,
      resource: 'api',
      statuses: [
        expect.objectContaining({
          limit: { ...rpm, ...plain, burst: 10, refillAmount: 10 },
          requested: 4,
          available: 6,
          exceeded: false,
          retryAfterSecs: 0,
        }),
        expect.objectContaining({
          limit: { ...tpm, ...plain, burst: 600, refillAmount: 600 },
          requested: 0,
          available: 600,
        }),
      ],
      degraded: false,
      expiresAt: '2030-03-05T15:20:00.123Z',
      renewBy: null,
      replayed: false,
    });
    expect(limitHeaders(reply)).toEqual([null, '"rpm";r=6;t=24, "tpm";r=600;t=0', '"rpm";q=10;w=60, "tpm";q=600;w=60']);
    expect(['content-type', 'cache-control'].map((name) => reply.headers.get(name))).toEqual([
      'application/json; charset=utf-8',
      'no-store',
    ]);
  });

  it('refuses with 429, the RateLimited as JSON and the time to retry', async () => {
    const body = acquireBody({ rpm: 10 });
    await send('/v1/acquire', body);
    const reply = await send('/v1/acquire', { ...body, consume: { rpm: 1, tpm: 1 } });
    expect(reply.status).toBe(429);
    expect(reply.body).toEqual({
      message: expect.stringContaining('"rpm"'),
      statuses: [expect.objectContaining({ exceeded: true }), expect.objectContaining({ exceeded: false })],
      violations: [
        expect.objectContaining({ limit: expect.objectContaining({ name: 'rpm' }), available: 0, retryAfterSecs: 6 }),
      ],
      retryAfterSecs: 6,
    });
    expect(limitHeaders(reply)).toEqual(['7', '"rpm";r=0;t=7, "tpm";r=600;t=0', '"rpm";q=10;w=60, "tpm";q=600;w=60']);
  });

  it('names the limits of the parent separately from those of the entity', async () => {
    const [parentId, entityId] = [someone(), someone()];
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId: org.orgId, entityId: parentId } });
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId: org.orgId, entityId, parentId, cascade: true } });
    const reply = await send('/v1/acquire', acquireBody({ rpm: 4 }, { entityId }));
    expect(reply.headers.get('ratelimit')).toBe(
      '"rpm";r=6;t=24, "parent:rpm";r=6;t=24, "tpm";r=600;t=0, "parent:tpm";r=600;t=0',
    );
  });

  it('takes from the same bucket as GraphQL, once per requestId', async () => {
    const body = acquireBody({ rpm: 4 }, { requestId: randomUUID() });
    const first = await send('/v1/acquire', body);
    const again = await send('/v1/acquire', { ...body, consume: [{ limit: 'rpm', amount: 4 }] });
    expect([first.body.replayed, again.body.replayed]).toEqual([false, true]);
    const { acquire } = await org.caller.ask(op.AcquireDocument, {
      input: { ...body, consume: [{ limit: 'rpm', amount: 4 }] } as op.AcquireInput,
    });
    expect(acquire).toMatchObject({ __typename: 'Lease', replayed: true, statuses: [{ available: 6 }, {}] });
    const conflict = await send('/v1/acquire', { ...body, consume: { rpm: 5 } });
    expect([conflict.status, conflict.body.error?.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  });

  it('accepts limits in the body, and the org from an admin', async () => {
    const limits = [{ name: 'burst', capacity: 5, refillPeriodSecs: 1 }];
    const body = acquireBody({ burst: 1 }, { orgId: org.orgId, limits });
    expect((await send('/v1/acquire', body, admin)).headers.get('ratelimit')).toBe('"burst";r=4;t=1');
    const without = await send('/v1/acquire', { ...body, orgId: undefined }, admin);
    expect([without.status, without.body.error?.issues]).toEqual([
      400,
      [{ path: 'orgId', message: expect.stringContaining('required') }],
    ]);
  });
});

describe('POST /v1/check', () => {
  it('responds with 200 whether or not an acquire would be granted, and takes nothing', async () => {
    const body = acquireBody({ rpm: 10 });
    const free = await send('/v1/check', body);
    expect([free.status, free.body.retryAfterSecs, limitHeaders(free)[1]]).toEqual([
      200,
      0,
      '"rpm";r=10;t=0, "tpm";r=600;t=0',
    ]);
    await send('/v1/acquire', body);
    const taken = await send('/v1/check', body);
    expect([taken.status, taken.body.retryAfterSecs]).toEqual([200, 60]);
    expect(limitHeaders(taken)).toEqual([null, '"rpm";r=0;t=61, "tpm";r=600;t=0', '"rpm";q=10;w=60, "tpm";q=600;w=60']);
    const { consume: _, ...plain } = body;
    expect(await send('/v1/check', plain)).toMatchObject({
      status: 200,
      body: { retryAfterSecs: 0, statuses: [{ available: 0 }, { available: 600 }] },
    });
  });
});

describe('POST /v1/adjust and /v1/release', () => {
  it('charge, give back and release, each once', async () => {
    const leaseId = await newLease();
    const more = { leaseId, adjust: { rpm: 3 }, idempotencyKey: randomUUID() };
    const [first, again] = [await send('/v1/adjust', more), await send('/v1/adjust', more)];
    expect([first.status, first.body]).toEqual([
      200,
      { leaseId, replayed: false, statuses: expect.any(Array), unknown: [] },
    ]);
    expect(first.body.statuses).toMatchObject([{ available: 3 }, { available: 600 }]);
    expect(again.body).toMatchObject({ replayed: true, statuses: [{ available: 3 }, {}] });
    expect((await send('/v1/adjust', { leaseId, adjust: [{ limit: 'rpm', amount: -1 }] })).body).toMatchObject({
      statuses: [{ available: 4 }, {}],
    });
    const [released, repeated] = [await send('/v1/release', { leaseId }), await send('/v1/release', { leaseId })];
    expect([released.status, released.body]).toMatchObject([
      200,
      { leaseId, replayed: false, statuses: [{ available: 10 }, {}] },
    ]);
    expect(repeated.body).toMatchObject({ replayed: true });
    const late = await send('/v1/adjust', { leaseId, adjust: { rpm: 1 } });
    expect([late.status, late.body.error?.code]).toEqual([410, 'LEASE_EXPIRED']);
  });

  it('return NOT_FOUND for a lease of another org and for a forged one', async () => {
    const leaseId = await newLease();
    const stranger = credentialOf(await newOrg(app));
    for (const [body, headers] of [
      [{ leaseId }, stranger],
      [{ leaseId: 'x'.repeat(64) }, credentialOf(org)],
    ] as const) {
      expect(await send('/v1/release', body, headers)).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND', message: 'lease not found' } },
      });
      expect(await send('/v1/adjust', { ...body, adjust: { rpm: 1 } }, headers)).toMatchObject({ status: 404 });
    }
  });
});

const mapOf = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, 1]));

describe('a request body', () => {
  it.each<[what: string, path: string, body: Json, issues: readonly (readonly [path: string, message: string])[]]>([
    [
      'an unknown field',
      '/v1/acquire',
      acquireBody({ rpm: 1 }, { entity: 'a' }),
      [['body', 'Field "entity" is not defined by type "AcquireInput".']],
    ],
    [
      'a field of another prototype',
      '/v1/acquire',
      acquireBody({ rpm: 1 }, { toString: 1 }),
      [['body', 'Field "toString" is not defined by type "AcquireInput".']],
    ],
    [
      'an unknown field inside',
      '/v1/acquire',
      acquireBody([{ limit: 'rpm', amount: 1, n: 1 }]),
      [['consume.0', 'Field "n" is not defined by type "ConsumeInput".']],
    ],
    ['a missing field', '/v1/release', {}, [['body', 'Field "leaseId" of required type "String!" was not provided.']]],
    [
      'an amount that is not a number',
      '/v1/acquire',
      acquireBody({ rpm: 'secret' }),
      [['consume.0.amount', expect.not.stringContaining('secret')]],
    ],
    [
      'an amount that is not whole',
      '/v1/acquire',
      acquireBody({ rpm: 1.5 }),
      [['consume.0.amount', expect.any(String)]],
    ],
    [
      'an unknown limit',
      '/v1/acquire',
      acquireBody({ none: 1 }),
      [['consume.0.limit', expect.stringContaining('has no limit "none"')]],
    ],
    [
      'more than the burst',
      '/v1/acquire',
      acquireBody({ rpm: 11 }),
      [['consume.0.amount', expect.stringContaining('exceeds the burst')]],
    ],
    ['an invalid entity id', '/v1/check', { entityId: 'no good', resource: 'api' }, [['entityId', expect.any(String)]]],
    [
      'an invalid request id',
      '/v1/acquire',
      acquireBody({ rpm: 1 }, { requestId: '1' }),
      [['requestId', expect.any(String)]],
    ],
    [
      'too many limits in a map',
      '/v1/acquire',
      acquireBody(mapOf(bounds.listItems + 1)),
      [['consume', 'has 101 items; the maximum is 100']],
    ],
    [
      'too many limits in the body',
      '/v1/acquire',
      acquireBody({ rpm: 1 }, { limits: Array(101).fill(rpm) }),
      [['limits', 'has 101 items; the maximum is 100']],
    ],
  ])('with %s is rejected with 400, the path and the reason', async (_what, path, body, issues) => {
    const reply = await send(path, body);
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(reply.body.error?.issues).toEqual(issues.map(([at, message]) => ({ path: at, message })));
    expect(reply.body.error).toMatchObject({
      message: expect.stringContaining(issues[0]?.[0] as string),
      requestId: reply.headers.get('x-request-id'),
    });
  });

  it('gets at most 20 issues', async () => {
    const reply = await send('/v1/acquire', acquireBody(Array(50).fill({})));
    expect([reply.status, reply.body.error?.issues?.length]).toEqual([400, 20]);
  });

  it.each([
    ['is not JSON', '{', 400],
    ['is a list', '[]', 400],
    ['is null', 'null', 400],
    ['is larger than 256 KB', ' '.repeat(bounds.bodyBytes + 1), 413],
  ])('that %s is rejected', async (_what, text, status) => {
    const reply = await send('/v1/acquire', text);
    expect([reply.status, reply.body.error?.code]).toEqual([status, 'BAD_USER_INPUT']);
  });

  it('must be sent by POST and as JSON, which a page of another site cannot do without a preflight', async () => {
    const wrong = await fetch(`${app.origin}/v1/acquire`, { headers: credentialOf(org) });
    expect([wrong.status, wrong.headers.get('allow'), await wrong.json()]).toEqual([
      405,
      'POST',
      { error: expect.objectContaining({ message: 'use POST' }) },
    ]);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])
      expect((await send('/v1/acquire', acquireBody(), { ...credentialOf(org), 'content-type': type })).status).toBe(
        415,
      );
  });
});

describe('a caller', () => {
  it('is served by its role: nothing without a credential or for a device, only checks for a READ client', async () => {
    const chat = await newApp(app, org, `a-${randomUUID()}`);
    const { createApiKey } = await org.caller.ask(op.CreateApiKeyDocument, { input: {} });
    const { createClient } = await app.admin.ask(op.CreateClientDocument, {
      input: { orgId: org.orgId, name: 'Reader', role: 'READ' },
    });
    const reader = await logInWith(app, createClient.secretRetrieval.token);
    const callers: readonly (readonly [RequestHeaders, changes: number, check: number])[] = [
      [{}, 401, 401],
      [{ authorization: 'Bearer x.y.z' }, 401, 401],
      [{ 'x-api-key': createApiKey.secret }, 403, 403],
      [credentialOf(reader), 403, 200],
      [credentialOf(org), 200, 200],
      [credentialOf(chat), 200, 200],
      [admin, 200, 200],
    ];
    for (const [headers, changes, check] of callers) {
      const owner = 'x-admin-key' in headers ? { orgId: org.orgId } : {};
      const statuses = [
        await send('/v1/acquire', acquireBody({ rpm: 1 }, owner), headers),
        await send('/v1/adjust', { leaseId: await newLease(), adjust: { rpm: 1 } }, headers),
        await send('/v1/release', { leaseId: await newLease() }, headers),
        await send('/v1/check', acquireBody({ rpm: 1 }, owner), headers),
      ];
      expect(statuses.map(({ status }) => status)).toEqual([changes, changes, changes, check]);
      for (const { status, headers: received } of statuses)
        expect(received.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    }
  });

  it('cannot see another org, and may send only one credential', async () => {
    const { orgId } = await newOrg(app);
    expect(await send('/v1/acquire', acquireBody({ rpm: 1 }, { orgId }))).toMatchObject({
      status: 404,
      body: { error: { message: 'org not found' } },
    });
    expect((await send('/v1/acquire', acquireBody(), { ...credentialOf(org), ...admin })).status).toBe(400);
  });

  it('gets no issues of its body without a credential', async () => {
    expect((await send('/v1/acquire', { nonsense: 1 }, {})).status).toBe(401);
  });

  it('is recorded in one log line and in the metrics', async () => {
    await send('/v1/check', acquireBody(), { ...credentialOf(org), 'x-request-id': 'the-one' });
    await send('/v1/acquire', { nonsense: 1 }, { ...credentialOf(org), 'x-request-id': 'the-other' });
    const lineOf = (requestId: string) => logged.filter((line) => line.requestId === requestId);
    expect(lineOf('the-one')).toMatchObject([
      { msg: 'request', operation: 'httpCheck', principal: org.clientId, outcome: 'ok' },
    ]);
    expect(lineOf('the-other')).toMatchObject([
      { msg: 'request', operation: 'httpAcquire', outcome: 'BAD_USER_INPUT' },
    ]);
    const { values } = await app.gateway.services.metrics.requests.get();
    expect(values).toContainEqual(
      expect.objectContaining({ labels: { operation: 'httpAcquire', outcome: 'BAD_USER_INPUT' } }),
    );
  });

  it('has the same limits on concurrency and requests per second as with GraphQL', async () => {
    const narrow = await app.another({ principalRps: 1 });
    try {
      const replies = await Promise.all(
        [1, 2, 3].map(() => send('/v1/check', acquireBody(), credentialOf(org), narrow.origin)),
      );
      const throttled = replies.filter(({ status }) => status === 429);
      expect(throttled.length).toBeGreaterThan(0);
      for (const { headers, body } of throttled) {
        expect(body.error).toMatchObject({ code: 'RATE_LIMITED', retryAfterSecs: Number(headers.get('retry-after')) });
        expect(headers.get('ratelimit-policy')).toBe('"requests";q=1;w=1');
      }
    } finally {
      await narrow.stop();
    }
  });
});

describe('a page on another origin', () => {
  it.each(['acquire', 'adjust', 'release', 'check'])('may call /v1/%s if its origin is listed', async (name) => {
    const preflight = (origin: string) =>
      fetch(`${app.origin}/v1/${name}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const [listed, unlisted] = [await preflight(page), await preflight('https://evil.example')];
    expect([listed.status, listed.headers.get('access-control-allow-origin')]).toEqual([204, page]);
    expect(listed.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(unlisted.headers.get('access-control-allow-origin')).toBeNull();
    const { headers } = await send(`/v1/${name}`, {}, { origin: page });
    expect(headers.get('access-control-allow-origin')).toBe(page);
    expect(headers.get('access-control-expose-headers')).toContain('ratelimit');
  });
});

describe('a gateway with a slow database', () => {
  const slowGateway = (config: { readonly gatewayConcurrency?: number } = {}) => {
    return app.another({ ...config, store: { ...app.config.store, endpoint: proxy.endpoint } });
  };
  const isHeld = (fault: { readonly hits: number }) =>
    until('the acquire has reached the database', () => fault.hits > 0);

  it('rejects requests above its concurrency before it reads their body', async () => {
    const narrow = await slowGateway({ gatewayConcurrency: 1 });
    try {
      const held = proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'hold' });
      const first = send('/v1/acquire', acquireBody(), credentialOf(org), narrow.origin);
      await isHeld(held);
      const second = await send('/v1/acquire', acquireBody(), credentialOf(org), narrow.origin);
      held.remove();
      expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
      expect(second.body.error).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryAfterSecs: 1,
        requestId: second.headers.get('x-request-id'),
      });
      // Rejected requests have no log line each.
      expect(logged.filter(({ requestId }) => requestId === second.headers.get('x-request-id'))).toEqual([]);
      expect((await first).status).toBe(200);
    } finally {
      proxy.clear();
      await narrow.stop();
    }
  });

  it('finishes requests in flight when it stops, and closes their connections', async () => {
    const stopping = await slowGateway();
    const held = proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'hold' });
    const first = send('/v1/acquire', acquireBody(), credentialOf(org), stopping.origin);
    await isHeld(held);
    const stopped = stopping.stop();
    await until('the gateway refuses connections', () =>
      fetch(`${stopping.origin}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    held.remove();
    const { status, headers } = await first;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await stopped;
  });
});
