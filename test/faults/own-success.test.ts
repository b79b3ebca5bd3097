import { randomUUID } from 'node:crypto';
import { buildBackground } from '../../src/app.js';
import { absent } from '../../src/dynamo/expression.js';
import { transactItem } from '../../src/dynamo/transact-item.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import type { Part } from '../../src/limits/buckets/operation.js';
import { completeLimit, limitSet } from '../../src/limits/limit.js';
import { Caller, logInWith, newOrg, orgInput, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import { type Call, type Fault, type FaultProxy, plainTable, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { cost, newTenant, type Tenant, toHour } from '../worker/costs.js';

const resource = 'api';
const lostResponses: readonly Fault[] = ['drop-reply', 'error-after'];
/** Deadlines pass twenty times more slowly, so that none is missed on a busy machine while a retry is held back. */
const clock = new ManualClock({ monotonicRate: 0.05 });
toHour(clock, 12);
const open = { principalRps: 0, principalConcurrency: 0 };
let proxy: FaultProxy;
let app: TestApp;
/** Another gateway that bypasses the proxy: a concurrent writer, and a reader of what is really stored. */
let direct: TestApp;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, clock, config: open });
  direct = await app.another({ store: { ...app.config.store, endpoint: testEndpoint() } });
});
beforeEach(() => proxy.clear());
afterEach(() => proxy.clear());
afterAll(async () => {
  await direct.stop();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const limit = { name: 'tokens', capacity: 1000, refillAmount: 1, refillPeriodSecs: 86_400 };
const setLimits = (on: TestApp, orgId: string, entityId: string, capacity = 1000) =>
  on.admin.ask(op.SetLimitsDocument, {
    input: { orgId, level: 'ENTITY', entityId, resource, limits: [{ ...limit, capacity }] },
  });
const acquireInput = (orgId: string, entityId: string, requestId?: string): op.AcquireInput => ({
  orgId,
  entityId,
  resource,
  consume: [{ limit: 'tokens', amount: 10 }],
  ...(requestId ? { requestId } : {}),
});
const adjustInput = (leaseId: string, amount: number, idempotencyKey = randomUUID()): op.AdjustLeaseInput => ({
  leaseId,
  adjust: [{ limit: 'tokens', amount }],
  idempotencyKey,
});

async function acquire(on: TestApp, input: op.AcquireInput) {
  const { acquire: lease } = await on.admin.ask(op.AcquireDocument, { input });
  if (lease.__typename !== 'Lease') throw new Error('refused');
  return lease;
}

const taken = async (orgId: string, entityId: string): Promise<number> => {
  const { org } = await direct.admin.ask(op.BucketOfDocument, { orgId, entityId, resource });
  return org?.entity?.bucket?.limits[0]?.totalConsumed ?? 0;
};

interface Fleet extends Tenant {
  readonly caller: Caller;
  readonly elsewhere: Caller;
  readonly hardwareId: string;
}

/** An org with a device that can send through both gateways. */
async function newFleet(on: TestApp): Promise<Fleet> {
  const tenant = await newTenant(on, {}, []);
  const { createApiKey } = await on.admin.ask(op.CreateApiKeyDocument, { input: { orgId: tenant.orgId } });
  const key = { 'x-api-key': createApiKey.secret };
  const caller = new Caller(on.url, key);
  const hardwareId = 'A0:00:00:00:00:01';
  await caller.ask(op.RegisterDeviceDocument, {
    input: {
      hardwareId,
      bootId: randomUUID(),
      firmwareVersion: '1.0.0',
      capabilities: { sensors: ['bme280'], features: [] },
    },
  });
  return { ...tenant, caller, elsewhere: new Caller(direct.url, key), hardwareId };
}

const readings = ({ hardwareId }: Fleet, count: number): op.ReadingInput[] =>
  Array.from({ length: count }, (_, i) => ({
    hardwareId,
    batchId: randomUUID(),
    timestampMs: clock.nowMs() - 1000 * i,
    bootId: randomUUID(),
    firmwareVersion: '1.0.0',
    sensors: { humidityPct: 50 },
    sensorStatus: {},
  }));

const ingest = async (caller: Caller, all: readonly op.ReadingInput[]) =>
  (await caller.ask(op.IngestDocument, { input: { readings: [...all] } })).ingest.verdicts.map(({ kind }) => kind);

/** Runs one round of the worker, which raises alerts. */
async function runWorker(endpoint: string): Promise<void> {
  clock.advance(2 * 60_000); // past the claim of any other worker
  const worker = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint } },
    { clock, log: silentLog },
  );
  await worker.spend.sumAll();
  worker.close();
}

async function overQuota(on: TestApp): Promise<Tenant> {
  const tenant = await newTenant(on, {
    modelOrdering: ['premium'],
    quotas: [{ label: 'premium', dailyUsdMicros: 1000 }],
  });
  await on.admin.ask(op.SubmitCostDocument, { input: cost(tenant, { costUsdMicros: 1500 }) });
  return tenant;
}

const alertsOf = async ({ orgId }: Tenant) =>
  (await direct.admin.ask(op.OrgAlertsDocument, { orgId, first: 50 })).org?.alerts.nodes ?? [];

const versioned = ['updateOrg', 'updateApp', 'setLimits', 'setBudget'] as const;

/** Something of version 1 that the mutation changes. `change` returns the new version, or the conflict. */
async function newVersioned(mutation: (typeof versioned)[number]) {
  const { orgId } = await newTenant(app);
  if (mutation === 'setLimits') await setLimits(app, orgId, 'e');
  const budget = { orgId, name: 'monthly', period: 'MONTH', usdMicros: 1000 } as const;
  if (mutation === 'setBudget') await app.admin.ask(op.SetBudgetDocument, { input: budget });
  const limits = (name: string) => [{ ...limit, name }];
  const send = (on: TestApp, name: string, expectedVersion: number) => {
    const { admin } = on;
    if (mutation === 'updateOrg') return admin.send(op.UpdateOrgDocument, { input: { orgId, name, expectedVersion } });
    if (mutation === 'updateApp')
      return admin.send(op.UpdateAppDocument, { input: { orgId, appId: 'chat', name, expectedVersion } });
    if (mutation === 'setBudget')
      return admin.send(op.SetBudgetDocument, { input: { ...budget, usdMicros: name.length, expectedVersion } });
    const target = { orgId, level: 'ENTITY', entityId: 'e', resource } as const;
    return admin.send(op.SetLimitsDocument, { input: { ...target, limits: limits(name), expectedVersion } });
  };
  const change = async (on: TestApp, name: string, expectedVersion: number) => {
    const { data, errors } = await send(on, name, expectedVersion);
    const { code, currentVersion } = errors?.[0]?.extensions ?? {};
    return code
      ? `${code}, current is ${currentVersion}`
      : (data as Readonly<Record<string, { version: number }>>)[mutation]?.version;
  };
  return { table: mutation === 'setLimits' ? 'limiter' : 'config', change };
}

/**
 * Loses the response of the first transaction (or other call) on a table that `act` sends, and holds its retries back
 * until `meanwhile` is done.
 */
async function withLostResponse<T>(
  table: string,
  fault: Fault,
  act: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
  operation = 'TransactWriteItems',
): Promise<T> {
  proxy.clear();
  const lost = proxy.inject({ operation, table, fault, nth: 1 });
  const retries = proxy.inject({ operation, table, fault: 'hold' });
  let isOver = false;
  const acting = act().finally(() => {
    isOver = true;
  });
  while (retries.hits === 0 && !isOver) await sleep(1);
  if (retries.hits > 0) await meanwhile();
  retries.remove();
  const result = await acting;
  expect([lost.hits, retries.hits > 0]).toEqual([1, true]);
  await proxy.quiet();
  return result;
}

describe.each(['lean', 'sdk'] as const)('over the %s transport', (client) => {
  it('sends no request token with a transaction', async () => {
    const on = await app.another({ store: { ...app.config.store, client } });
    proxy.clear();
    const { orgId } = await newOrg(on);
    const member = await logInWith(
      on,
      (await on.admin.ask(op.RotateCredentialsDocument, { input: { orgId } })).rotateCredentials.secretRetrieval.token,
    );
    await on.anonymous.ask(op.RefreshTokenDocument, { refreshToken: member.refreshToken });
    await on.admin.ask(op.RevokeTokenDocument, { token: member.accessToken });

    await overQuota(on);
    await runWorker(proxy.endpoint);

    await setLimits(on, orgId, 'e');
    await acquire(on, acquireInput(orgId, 'e'));
    const { leaseId } = await acquire(on, acquireInput(orgId, 'e', randomUUID()));
    await on.admin.ask(op.AdjustLeaseDocument, { input: adjustInput(leaseId, 5) });
    await on.admin.ask(op.ReleaseLeaseDocument, { leaseId });
    clock.advance(3_600_000);
    await acquire(on, acquireInput(orgId, 'e'));
    await on.admin.ask(op.DeleteEntityDocument, { orgId, entityId: 'e' });
    await on.admin.ask(op.PurgeLimiterDocument, { orgId });

    const fleet = await newFleet(on);
    expect(await ingest(fleet.caller, readings(fleet, 60))).toEqual(Array(60).fill('STORED'));
    await on.admin.ask(op.RenameDeviceDocument, {
      orgId: fleet.orgId,
      hardwareId: fleet.hardwareId,
      friendlyName: 'Shed',
    });
    await on.stop();

    const transactions = proxy.calls.filter(({ operation }) => operation === 'TransactWriteItems');
    const tables = new Set(transactions.flatMap((call: Call) => call.tables.map(plainTable)));
    expect([...tables].sort()).toEqual([
      'alerts',
      'api_keys',
      'config',
      'cost_requests',
      'devices',
      'limiter',
      'refresh_tokens',
      'revoked_tokens',
      'secret_retrieval_tokens',
      'usage_agg_sharded',
    ]);
    expect(transactions.filter(({ body }) => 'ClientRequestToken' in body)).toEqual([]);
  });
});

describe.each(lostResponses)('after %s, with another writer before the retry,', (fault) => {
  it('a cost is recorded for its own call and replayed for the other', async () => {
    const tenant = await newTenant(app);
    const input = cost(tenant);
    const { submitCost } = await withLostResponse(
      'cost_requests',
      fault,
      () => app.admin.ask(op.SubmitCostDocument, { input }),
      async () => {
        expect((await direct.admin.ask(op.SubmitCostDocument, { input })).submitCost.replayed).toBe(true);
        await direct.admin.ask(op.SubmitCostDocument, { input: cost(tenant) });
      },
    );
    expect(submitCost).toMatchObject({ requestId: input.requestId, replayed: false });
    const { org } = await direct.admin.ask(op.AppSpendDocument, {
      orgId: tenant.orgId,
      appId: 'chat',
      consistency: 'EXACT',
    });
    expect(org?.app?.spend.requests).toBe(2);
  });

  it('a change of the catalog is made once, and the other one after it', async () => {
    const label = `l-${randomUUID()}`;
    const upsert = async (on: TestApp, usdMicrosPer1M: number) =>
      (
        await on.admin.ask(op.UpsertModelDocument, {
          input: { label, modelId: 'm', prices: [{ name: 'input', usdMicrosPer1M }] },
        })
      ).upsertModel;
    const first = await withLostResponse(
      'pricing_cache',
      fault,
      () => upsert(app, 1),
      async () => expect((await upsert(direct, 2)).version).toBe(2),
    );
    expect(first.version).toBe(1);
    const events = await direct.admin.ask(op.PlatformAuditDocument, { entityId: `$MODEL:${label}` });
    expect(events.platformAuditEvents.nodes).toHaveLength(2);
    const { models } = await direct.admin.ask(op.CatalogDocument, {});
    expect(models.find((model) => model.label === label)).toMatchObject({
      version: 2,
      price: { entries: [{ usdMicrosPer1M: 2 }] },
    });
  });

  it('an acquire with a requestId returns its own lease, even if that lease was changed since', async () => {
    const { orgId } = await newTenant(app, {}, []);
    await setLimits(app, orgId, 'e');
    await acquire(app, acquireInput(orgId, 'e'));
    const input = acquireInput(orgId, 'e', randomUUID());
    const lease = await withLostResponse(
      'limiter',
      fault,
      () => acquire(app, input),
      async () => {
        const { leaseId, replayed } = await acquire(direct, input);
        expect(replayed).toBe(true);
        await direct.admin.ask(op.AdjustLeaseDocument, { input: adjustInput(leaseId, 7) });
        await acquire(direct, acquireInput(orgId, 'e'));
      },
    );
    expect(lease.replayed).toBe(false);
    expect(await taken(orgId, 'e')).toBe(37);
  });

  it('an acquire over two buckets without a lease is not applied again next to one with a lease', async () => {
    const { orgId } = await newTenant(app, {}, []);
    const { namespaces, buckets } = app.gateway.services;
    for (const entityId of ['a', 'b']) {
      await setLimits(app, orgId, entityId);
      await acquire(app, acquireInput(orgId, entityId));
    }
    const namespace = await namespaces.of(orgId);
    const set = limitSet([completeLimit(limit)]);
    const action = {
      kind: 'take',
      set,
      amounts: { tokens: 10_000n },
      mayExpire: false,
      slot: { lease: 'l', untilMs: 0 },
    } as const;
    const parts = ['a', 'b'].map((entityId): Part => ({ bucket: { namespace, entityId, resource }, action }));
    const key = { PK: `${namespace}/TEST`, SK: randomUUID() };
    const rider = {
      name: 'l',
      draft: () => transactItem({ table: 'limiter', put: { ...key, nonce: randomUUID() }, condition: absent('PK') }),
    };
    const [bare] = await withLostResponse(
      'limiter',
      fault,
      () => Promise.allSettled([buckets.apply({ parts }), buckets.apply({ parts, rider })]),
      async () => undefined,
    );
    // 10 at the start, 10 with the lease, and 10 without it, whether or not that caller got a response.
    expect([await taken(orgId, 'a'), await taken(orgId, 'b')]).toEqual([30, 30]);
    expect(bare).toMatchObject(
      bare.status === 'rejected' ? { reason: { applied: 'unknown' } } : { value: { kind: 'done' } },
    );
  });

  it('an adjustment is applied once, by its own call, even if the lease was adjusted again since', async () => {
    const { orgId } = await newTenant(app, {}, []);
    await setLimits(app, orgId, 'e');
    const { leaseId } = await acquire(app, acquireInput(orgId, 'e'));
    const input = adjustInput(leaseId, 5);
    const { adjustLease } = await withLostResponse(
      'limiter',
      fault,
      () => app.admin.ask(op.AdjustLeaseDocument, { input }),
      async () => {
        expect((await direct.admin.ask(op.AdjustLeaseDocument, { input })).adjustLease.replayed).toBe(true);
        await direct.admin.ask(op.AdjustLeaseDocument, { input: adjustInput(leaseId, 3) });
      },
    );
    expect(adjustLease.replayed).toBe(false);
    expect(await taken(orgId, 'e')).toBe(18);
  });

  it('a release is applied once, by its own call', async () => {
    const { orgId } = await newTenant(app, {}, []);
    await setLimits(app, orgId, 'e');
    const { leaseId } = await acquire(app, acquireInput(orgId, 'e'));
    const { releaseLease } = await withLostResponse(
      'limiter',
      fault,
      () => app.admin.ask(op.ReleaseLeaseDocument, { leaseId }),
      async () => {
        expect((await direct.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease.replayed).toBe(true);
        await acquire(direct, acquireInput(orgId, 'e'));
      },
    );
    expect(releaseLease.replayed).toBe(false);
    expect(await taken(orgId, 'e')).toBe(10);
  });

  it('readings are STORED for their own call and DUPLICATE for the other', async () => {
    const fleet = await newFleet(app);
    const all = readings(fleet, 3);
    const kinds = await withLostResponse(
      'device_readings',
      fault,
      () => ingest(fleet.caller, all),
      async () => expect(await ingest(fleet.elsewhere, all)).toEqual(['DUPLICATE', 'DUPLICATE', 'DUPLICATE']),
      'PutItem',
    );
    expect(kinds).toEqual(['STORED', 'STORED', 'STORED']);
  });

  it('an alert is raised once', async () => {
    const tenant = await overQuota(app);
    await withLostResponse(
      'alerts',
      fault,
      () => runWorker(proxy.endpoint),
      async () => {
        await overQuota(direct);
        await runWorker(testEndpoint());
      },
    );
    expect((await alertsOf(tenant)).map(({ kind }) => kind)).toEqual(['QUOTA_EXCEEDED']);
  });

  it('limits that were deleted since are not set again', async () => {
    const { orgId } = await newTenant(app, {}, []);
    const target = { orgId, level: 'ENTITY', entityId: 'e', resource } as const;
    await setLimits(app, orgId, 'another');
    const { setLimits: returned } = await withLostResponse(
      'limiter',
      fault,
      () => setLimits(app, orgId, 'e', 500),
      () => direct.admin.ask(op.DeleteLimitsDocument, { input: target }),
    );
    expect(returned).toMatchObject({ limits: [{ capacity: 500 }] });
    expect((await direct.admin.ask(op.LimitConfigOfDocument, target)).org?.limitConfig).toBeNull();
  });

  it('a later change of an org name is not overwritten', async () => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { orgId } = registerOrg.org;
    const { updateOrg } = await withLostResponse(
      'config',
      fault,
      () => app.admin.ask(op.UpdateOrgDocument, { input: { orgId, name: 'First' } }),
      () => direct.admin.ask(op.UpdateOrgDocument, { input: { orgId, name: 'Second' } }),
    );
    expect(updateOrg.name).toBe('First');
    expect((await direct.admin.ask(op.OrgDocument, { orgId })).org?.name).toBe('Second');
    const { org } = await direct.admin.ask(op.AuditDocument, { orgId, first: 100 });
    expect(org?.auditEvents.nodes.filter(({ action }) => action === 'org_updated')).toHaveLength(2);
  });

  it.each(versioned)('%s with an expectedVersion is no conflict with itself', async (mutation) => {
    const target = await newVersioned(mutation);
    const version = await withLostResponse(
      target.table,
      fault,
      () => target.change(app, 'first', 1),
      async () => expect(await target.change(direct, 'second', 2)).toBe(3),
    );
    expect(version).toBe(2);
    expect(await target.change(direct, 'third', 2)).toBe('VERSION_CONFLICT, current is 3');
  });

  it('a later change of an entity name is not overwritten', async () => {
    const { orgId } = await newTenant(app, {}, []);
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'e' } });
    const { updateEntity } = await withLostResponse(
      'limiter',
      fault,
      () => app.admin.ask(op.UpdateEntityDocument, { input: { orgId, entityId: 'e', name: 'First' } }),
      () => direct.admin.ask(op.UpdateEntityDocument, { input: { orgId, entityId: 'e', name: 'Second' } }),
    );
    expect(updateEntity.name).toBe('First');
    expect((await direct.admin.ask(op.EntityOfDocument, { orgId, entityId: 'e' })).org?.entity?.name).toBe('Second');
    const { org } = await direct.admin.ask(op.AuditDocument, { orgId, entityId: 'e' });
    expect(org?.auditEvents.nodes.filter(({ action }) => action === 'entity_updated')).toHaveLength(2);
  });

  it('a refresh token is exchanged by its own call', async () => {
    const { refreshToken } = await newOrg(app);
    const { refreshToken: pair } = await withLostResponse(
      'refresh_tokens',
      fault,
      () => app.anonymous.ask(op.RefreshTokenDocument, { refreshToken }),
      () => direct.anonymous.ask(op.RefreshTokenDocument, { refreshToken }),
    );
    await direct.anonymous.ask(op.RefreshTokenDocument, { refreshToken: pair.refreshToken });
  });

  it('an entity that was created again since is not deleted again', async () => {
    const { orgId } = await newTenant(app, {}, []);
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'e' } });
    const { deleteEntity } = await withLostResponse(
      'limiter',
      fault,
      () => app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: 'e' }),
      () => direct.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'e' } }),
    );
    expect(deleteEntity).toBe(true);
    expect(
      (await direct.admin.ask(op.EntityOfDocument, { orgId, entityId: 'e' })).org?.entity?.createdAt,
    ).not.toBeNull();
  });
});

it.each(versioned)(
  'a race that %s with an expectedVersion loses after its read is a VERSION_CONFLICT',
  async (mutation) => {
    const target = await newVersioned(mutation);
    const write = proxy.inject({ operation: 'TransactWriteItems', table: target.table, fault: 'hold' });
    const changing = target.change(app, 'first', 1);
    await until('the write is held', () => write.hits > 0);
    expect(await target.change(direct, 'second', 1)).toBe(2);
    write.remove();
    expect(await changing).toBe('VERSION_CONFLICT, current is 2');
    expect(await target.change(direct, 'third', 2)).toBe(3);
  },
);
