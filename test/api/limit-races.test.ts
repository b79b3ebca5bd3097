// Races of two gateways with different caches on one bucket, one lease, one namespace.
import { randomUUID } from 'node:crypto';
import type { Item } from '../../src/dynamo/client.js';
import { shardKey } from '../../src/limits/limiter-keys.js';
import { type Caller, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import * as op from '../support/operations.js';

const dayMs = 86_400_000;
let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(async () => {
  await other.stop();
  await app.stop();
});

const rpm = (capacity = 10): op.LimitInput => ({ name: 'rpm', capacity });

async function newLimiter(...limits: op.LimitInput[]): Promise<string> {
  const { orgId } = await newOrg(app);
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
  return orgId;
}

const send = (caller: Caller, input: op.AcquireInput) => caller.send(op.AcquireDocument, { input });

async function leaseOf(caller: Caller, input: op.AcquireInput): Promise<string> {
  const { acquire } = await caller.ask(op.AcquireDocument, { input });
  if (acquire.__typename !== 'Lease') throw new Error(`refused: ${acquire.message}`);
  return acquire.leaseId;
}

const inputOf = (
  orgId: string,
  entityId: string,
  consume: Readonly<Record<string, number>>,
  overrides: Partial<op.AcquireInput> = {},
): op.AcquireInput => ({
  orgId,
  entityId,
  resource: 'api',
  consume: Object.entries(consume).map(([limit, amount]) => ({ limit, amount })),
  ...overrides,
});

const adjust = (caller: Caller, leaseId: string, limit: string, amount: number) =>
  caller.ask(op.AdjustLeaseDocument, { input: { leaseId, adjust: [{ limit, amount }], idempotencyKey: randomUUID() } });

async function itemOf(orgId: string, entityId: string): Promise<Item> {
  const { store, namespaces } = app.gateway.services;
  const item = await store.get(
    'limiter',
    shardKey({ namespace: await namespaces.of(orgId), entityId, resource: 'api', shard: 0 }),
    { consistent: true },
  );
  if (!item) throw new Error('no bucket');
  return item;
}

describe('a bucket', () => {
  it('does not expire before a debt that another gateway charged, even if another limit gets tokens back', async () => {
    const orgId = await newLimiter(rpm(), { name: 'tpm', capacity: 10, refillAmount: 1, refillPeriodSecs: 86_400 });
    const mine = await leaseOf(app.admin, inputOf(orgId, 'u', { rpm: 1, tpm: 1 }));
    const theirs = await leaseOf(other.admin, inputOf(orgId, 'u', { rpm: 1, tpm: 1 }));
    await adjust(other.admin, theirs, 'tpm', 100);
    await adjust(app.admin, mine, 'rpm', -1);
    const { ttl } = await itemOf(orgId, 'u');
    expect((ttl as number) * 1000).toBeGreaterThan(app.clock.nowMs() + 92 * dayMs);
  });

  it('removes an expiry that a gateway with a stale cache has set, if it must not expire', async () => {
    // Its caches do not age and it polls no change, so it stays stale however long the test takes.
    const stale = await app.another({}, new ManualClock({ monotonicRate: 0 }));
    const orgId = await newLimiter(rpm());
    await leaseOf(app.admin, inputOf(orgId, 'u', { rpm: 1 }));
    await leaseOf(stale.admin, inputOf(orgId, 'u', { rpm: 1 }));
    await stale.gateway.services.changeFeed.stop();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY', entityId: 'u', resource: 'api', limits: [rpm()] },
    });
    await leaseOf(app.admin, inputOf(orgId, 'u', { rpm: 1 }));
    expect((await itemOf(orgId, 'u')).ttl).toBeUndefined();
    await leaseOf(stale.admin, inputOf(orgId, 'u', { rpm: 1 }));
    expect((await itemOf(orgId, 'u')).ttl).toBeDefined();
    await leaseOf(app.admin, inputOf(orgId, 'u', { rpm: 1 }));
    expect((await itemOf(orgId, 'u')).ttl).toBeUndefined();
    await stale.stop();
  });
});

describe('a cascade with a request id', () => {
  it.each([
    ['parent', 'child'],
    ['child', 'parent'],
  ])('is refused by the %s and does not create the missing bucket of the %s', async (empty, missing) => {
    const orgId = await newLimiter(rpm());
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'parent' } });
    await app.admin.ask(op.CreateEntityDocument, {
      input: { orgId, entityId: 'child', parentId: 'parent', cascade: empty === 'parent' },
    });
    await leaseOf(app.admin, inputOf(orgId, empty, { rpm: 10 }));
    if (empty === 'child') {
      await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: 'child' });
      await app.admin.ask(op.CreateEntityDocument, {
        input: { orgId, entityId: 'child', parentId: 'parent', cascade: true },
      });
      await leaseOf(app.admin, inputOf(orgId, 'child', { rpm: 10 }));
      await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: 'parent' });
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'parent' } });
    }
    for (const gateway of [app, other]) {
      const { data } = await send(gateway.admin, inputOf(orgId, 'child', { rpm: 1 }, { requestId: randomUUID() }));
      expect(data?.acquire).toMatchObject({ __typename: 'RateLimited', violations: [{ entityId: empty }] });
      expect(data?.acquire.statuses).toMatchObject([{ entityId: 'child' }, { entityId: 'parent' }]);
    }
    await expect(itemOf(orgId, missing)).rejects.toThrow('no bucket');
  });
});

describe('a lease', () => {
  it('is a new one if its request id was last used a day ago, and is adjusted and released on its own', async () => {
    const orgId = await newLimiter(rpm());
    const input = inputOf(orgId, 'u', { rpm: 5 }, { requestId: randomUUID() });
    const first = await leaseOf(app.admin, input);
    await adjust(app.admin, first, 'rpm', -2);
    await app.admin.ask(op.ReleaseLeaseDocument, { leaseId: first });
    app.clock.advance(25 * 3_600_000);
    const second = await leaseOf(app.admin, input);
    expect(second).not.toBe(first);
    expect((await adjust(app.admin, second, 'rpm', 1)).adjustLease).toMatchObject({
      replayed: false,
      statuses: [{ available: 4 }],
    });
    expect((await other.admin.ask(op.ReleaseLeaseDocument, { leaseId: second })).releaseLease).toMatchObject({
      replayed: false,
      statuses: [{ available: 10 }],
    });
    expect(await app.admin.codeOf(op.ReleaseLeaseDocument, { leaseId: first })).toBe('LEASE_EXPIRED');
  });

  it('can be given back if it is split over 32 shards of an entity with a long name', async () => {
    const entityId = `e${'x'.repeat(255)}`;
    const orgId = await newLimiter({ name: 'rpm', capacity: 3200 }, { name: 'tpm', capacity: 3200 });
    await leaseOf(app.admin, inputOf(orgId, entityId, { rpm: 1, tpm: 1 }));
    const { buckets, namespaces } = app.gateway.services;
    const id = { namespace: await namespaces.of(orgId), entityId, resource: 'api' };
    for (let n = 2; n <= 32; n *= 2) expect(await buckets.double(id)).toBe(true);
    app.clock.advance(3_600_000);
    const leaseId = await leaseOf(app.admin, inputOf(orgId, entityId, { rpm: 3200, tpm: 3200 }));
    expect((await app.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease).toMatchObject({
      replayed: false,
      statuses: [
        { requested: -3200, available: 3200 },
        { requested: -3200, available: 3200 },
      ],
    });
  });
});

it('refuses limit names that are properties of every JavaScript object', async () => {
  const { orgId } = await newOrg(app);
  for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty']) {
    const { errors } = await app.admin.send(op.SetLimitsDocument, {
      input: { orgId, level: 'SYSTEM', limits: [{ name, capacity: 1 }] },
    });
    expect(errors?.[0]?.extensions.issues).toEqual([
      { path: 'input.limits.0.name', message: `"${name}" is reserved; choose another name` },
    ]);
  }
});

it('does not let a tenant that floods its own queue exceed its limits because of ALLOW', async () => {
  const narrow = await app.another({ submissionsWaiting: 8 });
  const { orgId } = await newOrg(app);
  await narrow.admin.ask(op.SetLimitsDocument, {
    input: { orgId, level: 'SYSTEM', limits: [rpm(1)], onUnavailable: 'ALLOW' },
  });
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      narrow.gateway.services.limits
        .acquire(orgId, { entityId: `e${i % 3}`, resource: 'api', consume: [{ limit: 'rpm', amount: 1 }] })
        .catch((error: unknown) => error),
    ),
  );
  const leases = responses.filter((response) => (response as { kind?: string }).kind === 'Lease') as {
    degraded: boolean;
  }[];
  expect(leases.map(({ degraded }) => degraded)).toEqual([false, false, false]);
  expect(responses.some((response) => response instanceof Error && response.message.includes('too many writes'))).toBe(
    true,
  );
  await narrow.stop();
});

it('caps a total capacity at the largest integer that JSON carries exactly', async () => {
  const orgId = await newLimiter(rpm(1e15));
  for (let i = 0; i < 10; i++) await leaseOf(app.admin, inputOf(orgId, `e${i}`, { rpm: 1 }));
  const { org } = await app.admin.ask(op.CapacityOfDocument, { orgId, resource: 'api', limit: 'rpm' });
  expect(org?.resourceCapacity).toMatchObject({ totalCapacity: Number.MAX_SAFE_INTEGER });
});

it('keeps limits and entities that were created right after a purge through another gateway', async () => {
  const orgId = await newLimiter(rpm(5));
  await leaseOf(other.admin, inputOf(orgId, 'u', { rpm: 1 }));
  await app.admin.ask(op.PurgeLimiterDocument, { orgId });
  await other.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits: [rpm(7)] } });
  await app.admin.ask(op.PurgeLimiterDocument, { orgId });
  await other.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'kept' } });
  await other.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits: [rpm(8)] } });
  const { org } = await app.admin.ask(op.LimitConfigsDocument, { orgId });
  expect(org?.limitConfigs).toMatchObject([{ version: 1, limits: [{ capacity: 8 }] }]);
  expect((await app.admin.ask(op.EntityOfDocument, { orgId, entityId: 'kept' })).org?.entity).toMatchObject({
    entityId: 'kept',
  });
});
