import { contextFactory } from '../../src/graphql/context.js';
import { clientViewer } from '../../src/identity/viewer.js';
import { unavailable } from '../../src/lib/errors.js';
import { LimitResolver } from '../../src/limits/limit.resolver.js';
import {
  type Caller,
  type Client,
  logInWith,
  newApp,
  newOrg,
  startTestApp,
  type TestApp,
  testEndpoint,
} from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { untilWell } from './harness.js';

type Org = Client & { readonly orgId: string };

/** Longer than cached revocations are trusted. */
const outageMs = 10_000;
const rpm: op.LimitInput = { name: 'rpm', capacity: 100, refillPeriodSecs: 3600 };
const input = (amount = 1, limit = 'rpm'): op.AcquireInput => ({
  entityId: 'user-1',
  resource: 'api',
  consume: [{ limit, amount }],
});
const whoAmI = '{ me { kind } }';
const unavailableError = { code: 'SERVICE_UNAVAILABLE', retryable: true };

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint });
});
afterEach(async () => {
  proxy.clear();
  await untilWell(10_000, () => app.admin.ask(op.OrgsDocument, {}));
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

/** An org whose limits this gateway has cached. */
async function orgWith(onUnavailable: op.OnUnavailable): Promise<Org> {
  const org = await newOrg(app);
  await app.admin.ask(op.SetLimitsDocument, {
    input: { orgId: org.orgId, level: 'SYSTEM', limits: [rpm], onUnavailable },
  });
  await take(org.caller);
  return org;
}

async function take(caller: Caller, amount = 1) {
  const { acquire } = await caller.ask(op.AcquireDocument, { input: input(amount) });
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  return acquire;
}

const logIn = async ({ clientId, clientSecret }: Client) =>
  (await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } })).issueToken;
const newToken = async (client: Client): Promise<string> => (await logIn(client)).accessToken;

/** Starts an outage of the database that has lasted longer than the gateway trusts its cache. */
async function startOutage(): Promise<void> {
  const polls = proxy.inject({ fault: 'refuse', operation: 'Query', table: 'config' });
  proxy.inject({ fault: 'refuse' });
  await until('the gateway polls revocations', () => polls.hits > 0);
  // Also past the deadline of that call, so that no request waits for it.
  app.clock.age(outageMs);
  await until('the gateway has noticed the outage', () => app.gateway.services.changeFeed.isStoreAway);
}

async function post(
  path: string,
  body: object,
  accessToken: string,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` };
  const response = await fetch(`${app.origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const adjusting = (leaseId: string) => ({ leaseId, adjust: [{ limit: 'rpm', amount: 5 }] });
const codeOf = async (caller: Caller, amount?: number, limit?: string) =>
  caller.codeOf(op.AcquireDocument, { input: input(amount, limit) });

describe('with the policy ALLOW, during an outage of the database, the gateway', () => {
  it('gives leases that take nothing, both for tokens that it has verified before and for new ones', async () => {
    const org = await orgWith('ALLOW');
    const chat = await newApp(app, org);
    const unseen = await newToken(org);
    await startOutage();
    const callsBefore = proxy.calls.length;
    for (const caller of [org.caller, app.as(unseen), chat.caller]) {
      const { leaseId, ...lease } = await take(caller);
      expect(lease).toMatchObject({ degraded: true, replayed: false, statuses: [] });
      const nothing = { leaseId, replayed: false, statuses: [], unknown: [] };
      expect((await caller.ask(op.AdjustLeaseDocument, { input: adjusting(leaseId) })).adjustLease).toEqual(nothing);
      expect((await caller.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease).toEqual(nothing);
    }
    const plain = await post('/v1/acquire', input(), unseen);
    const { leaseId } = plain.body as { leaseId: string };
    expect([plain.status, plain.body, plain.headers.get('ratelimit')]).toEqual([
      200,
      expect.objectContaining({ degraded: true }),
      null,
    ]);
    expect((await post('/v1/adjust', adjusting(leaseId), unseen)).status).toBe(200);
    expect((await post('/v1/release', { leaseId }, unseen)).status).toBe(200);
    expect(
      proxy.calls.slice(callsBefore).filter(({ tables }) => tables.some((table) => table.endsWith('limiter'))),
    ).toEqual([]);

    proxy.clear();
    await untilWell(10_000, async () => expect(await take(org.caller, 0)).toMatchObject({ degraded: false }));
    expect((await take(org.caller, 0)).statuses).toMatchObject([{ available: 99 }]);
  });

  it('refuses what is invalid by the cached limits', async () => {
    const org = await orgWith('ALLOW');
    await startOutage();
    const limits = [{ name: 'own', capacity: 5, refillPeriodSecs: 60 }];
    for (const caller of [org.caller, app.admin]) {
      const at = caller === app.admin ? { orgId: org.orgId } : {};
      for (const wrong of [
        input(1, 'none'),
        input(101),
        input(-1),
        { ...input(6, 'own'), limits },
        { ...input(6, 'own'), limits, entityId: 'unseen' },
      ])
        expect(await caller.codeOf(op.AcquireDocument, { input: { ...wrong, ...at } })).toBe('BAD_USER_INPUT');
      const { acquire } = await caller.ask(op.AcquireDocument, { input: { ...input(100), ...at } });
      expect(acquire).toMatchObject({ degraded: true });
    }
    const { leaseId } = await take(org.caller);
    const negative = { leaseId, adjust: [{ limit: 'rpm', amount: 0.5 }] };
    expect((await post('/v1/adjust', negative, org.accessToken)).status).toBe(400);
    expect((await post('/v1/acquire', input(101), org.accessToken)).status).toBe(400);
  });

  it('neither adjusts nor releases a lease that holds tokens', async () => {
    const org = await orgWith('ALLOW');
    const { leaseId } = await take(org.caller, 10);
    await startOutage();
    expect(await org.caller.codeOf(op.AdjustLeaseDocument, { input: adjusting(leaseId) })).toBe('SERVICE_UNAVAILABLE');
    expect(await org.caller.codeOf(op.ReleaseLeaseDocument, { leaseId })).toBe('SERVICE_UNAVAILABLE');
    expect([
      (await post('/v1/adjust', adjusting(leaseId), org.accessToken)).status,
      (await post('/v1/release', { leaseId }, org.accessToken)).status,
    ]).toEqual([503, 503]);
  });

  it('refuses every other operation, alone or beside an acquire', async () => {
    const org = await orgWith('ALLOW');
    await startOutage();
    const documents = [
      whoAmI,
      '{ __typename }',
      '{ availability(entityId: "user-1", resource: "api") { retryAfterSecs } }',
      'mutation { purgeLimiter }',
      'mutation { issueToken(input: { clientId: "x", clientSecret: "y" }) { accessToken } }',
      'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } purgeLimiter }',
      'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } ... { purgeLimiter } }',
    ];
    for (const document of documents) {
      const { status, errors } = await org.caller.send(document, document.includes('$input') ? { input: input() } : {});
      expect([status, errors]).toMatchObject([
        503,
        [{ message: expect.stringContaining('revocations cannot be checked'), extensions: unavailableError }],
      ]);
    }
    expect((await org.caller.subscribeOnce('subscription { quotaAlerts { id } }', {})).errors).toMatchObject([
      { extensions: unavailableError },
    ]);
    expect(await post('/v1/check', { entityId: 'user-1', resource: 'api' }, org.accessToken)).toMatchObject({
      status: 503,
      body: { error: unavailableError },
    });
  });

  it('refuses a token that it has cached as revoked, and a forged or expired one', async () => {
    const org = await orgWith('ALLOW');
    const [revoked, shown] = [await newToken(org), await newToken(org)];
    await org.caller.ask(op.RevokeTokenDocument, { token: revoked });
    await org.caller.ask(op.RevokeTokenDocument, { token: shown });
    expect(await codeOf(app.as(shown))).toBe('UNAUTHENTICATED');
    const family = await logIn(org);
    await org.caller.ask(op.RevokeTokenDocument, { token: family.refreshToken });
    const { createClient } = await app.admin.ask(op.CreateClientDocument, {
      input: { orgId: org.orgId, name: 'Second' },
    });
    const second = await logInWith(app, createClient.secretRetrieval.token);
    await app.admin.ask(op.DeleteClientDocument, { orgId: org.orgId, clientId: second.clientId });
    const chat = await newApp(app, org);
    await app.admin.ask(op.DeleteAppDocument, { orgId: org.orgId, appId: chat.appId });
    const rotated = await newApp(app, org, 'rotated');
    const { rotateCredentials } = await app.admin.ask(op.RotateCredentialsDocument, {
      input: { orgId: org.orgId, clientId: rotated.clientId, graceHours: 0 },
    });
    await app.anonymous.ask(op.RetrieveSecretDocument, { token: rotateCredentials.secretRetrieval.token });
    const [header, payload] = org.accessToken.split('.');
    const forged = `${header}.${payload}.${shown.split('.')[2]}`;
    await startOutage();
    for (const token of [
      revoked,
      shown,
      family.accessToken,
      second.accessToken,
      chat.accessToken,
      rotated.accessToken,
      forged,
    ])
      expect(await codeOf(app.as(token))).toBe('UNAUTHENTICATED');
    expect((await take(org.caller)).degraded).toBe(true);
    app.clock.advance(3_600_000);
    expect(await codeOf(org.caller)).toBe('UNAUTHENTICATED');
  });

  it('refuses a read-only client and a suspended tenant', async () => {
    const org = await orgWith('ALLOW');
    const { createClient } = await app.admin.ask(op.CreateClientDocument, {
      input: { orgId: org.orgId, name: 'Reader', role: 'READ' },
    });
    const reader = await logInWith(app, createClient.secretRetrieval.token);
    const suspended = await orgWith('ALLOW');
    await app.admin.ask(op.SuspendOrgDocument, { orgId: suspended.orgId });
    expect(await codeOf(suspended.caller)).toBe('FORBIDDEN');
    const unseen = reader.accessToken;
    await startOutage();
    expect([await codeOf(app.as(unseen)), await codeOf(suspended.caller)]).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  });

  it('changes nothing for a token that it could not check, even if the database is back meanwhile', async () => {
    const org = await orgWith('ALLOW');
    const { leaseId } = await take(org.caller, 10);
    const { services } = app.gateway;
    const cause = unavailable('the store did not answer');
    const claims = await services.accessTokens.verify(org.accessToken);
    const context = contextFactory(services)({
      viewer: clientViewer(claims, cause),
      requestId: 'r',
      address: '127.0.0.1',
    });
    const resolver = new LimitResolver();
    expect(
      await resolver.acquire({ entityId: 'user-1', resource: 'api', consume: [{ limit: 'rpm', amount: 10 }] }, context),
    ).toMatchObject({ degraded: true });
    expect(() => resolver.releaseLease(leaseId, context)).toThrow(cause);
    expect(() => resolver.adjustLease(adjusting(leaseId), context)).toThrow(cause);
    expect((await take(org.caller, 0)).statuses).toMatchObject([{ available: 89 }]);
  });

  it('does not give degraded leases if it was only too busy to poll the database', async () => {
    const org = await orgWith('ALLOW');
    for (let round = 0; round < 5; round++) {
      app.clock.age(outageMs);
      const { data, errors } = await org.caller.send(op.AcquireDocument, { input: input(0) });
      // It may have polled in between.
      if (errors) expect(errors).toMatchObject([{ extensions: unavailableError }]);
      else expect(data?.acquire).toMatchObject({ degraded: false });
    }
  });
});

describe('with the policy BLOCK, during an outage of the database, the gateway', () => {
  it('refuses every request with a token that it cannot check', async () => {
    const org = await orgWith('BLOCK');
    const { leaseId } = await take(org.caller);
    await startOutage();
    const { status, body } = await post('/v1/acquire', input(), org.accessToken);
    expect([status, body]).toMatchObject([
      503,
      { error: { ...unavailableError, message: expect.stringContaining('revocations cannot be checked') } },
    ]);
    expect(await codeOf(org.caller)).toBe('SERVICE_UNAVAILABLE');
    expect(await org.caller.codeOf(op.AdjustLeaseDocument, { input: adjusting(leaseId) })).toBe('SERVICE_UNAVAILABLE');
    expect(await org.caller.codeOf(op.ReleaseLeaseDocument, { leaseId: 'x'.repeat(64) })).toBe('SERVICE_UNAVAILABLE');
  });
});

describe('/readyz during an outage of the database', () => {
  it('reports not ready, or degraded with READY_WHEN_DEGRADED', async () => {
    const tolerant = await app.another({ readyWhenDegraded: true });
    try {
      const ready = async (gateway: TestApp) => {
        const response = await fetch(`${gateway.origin}/readyz`);
        return [response.status, ((await response.json()) as { status: string }).status];
      };
      expect([await ready(app), await ready(tolerant)]).toEqual([
        [200, 'ready'],
        [200, 'ready'],
      ]);
      proxy.inject({ fault: 'refuse' });
      expect([await ready(app), await ready(tolerant)]).toEqual([
        [503, 'not ready'],
        [200, 'degraded'],
      ]);
    } finally {
      proxy.clear();
      await tolerant.stop();
    }
  });
});
