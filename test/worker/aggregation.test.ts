import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import type { StoreClient } from '../../src/dynamo/client.js';
import { configKey } from '../../src/identity/client.item.js';
import { silentLog } from '../../src/lib/log.js';
import type { SpendId } from '../../src/orgs/scope.js';
import { CostStore } from '../../src/spend/cost.store.js';
import { countersOf } from '../../src/spend/counters.js';
import { sum, type Usage } from '../../src/spend/money.js';
import { ShardStore } from '../../src/spend/shard.store.js';
import { TotalStore } from '../../src/spend/total.store.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { plainCosts } from '../support/cost-store.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { deniedBy } from '../support/policy.js';
import {
  cost,
  costs,
  dateAt,
  dayMs,
  hourMs,
  idInSliceOf,
  newTenant,
  noonClock,
  shardsOf,
  submit,
  type Tenant,
  toHour,
  totalOf,
  usageOf,
} from './costs.js';

const clock = noonClock();
let proxy: FaultProxy;
let app: TestApp;
let store: StoreClient;
let shardStore: ShardStore;
let totalStore: TotalStore;
const workers: Background[] = [];

/** A worker with its own caches, behind the proxy. */
function newWorker(): Background {
  const worker = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint: proxy.endpoint } },
    { clock, log: silentLog },
  );
  workers.push(worker);
  return worker;
}

const today = () => dateAt(clock.nowMs());
const idOf = ({ orgId }: Tenant, day = today(), appId: string | undefined = 'chat', label = 'premium'): SpendId => ({
  orgId,
  appId,
  label,
  day,
});
const orgIdOf = ({ orgId }: Tenant, day = today(), label = 'premium'): SpendId => ({ orgId, label, day });
const total = (id: SpendId) => totalOf(store, id);
const expireClaims = () => clock.advance(2 * 60_000);
const alertsOf = async ({ orgId }: Tenant) =>
  (await app.admin.ask(op.OrgAlertsDocument, { orgId, first: 50 })).org?.alerts.nodes ?? [];
const saveTotal = async (id: SpendId, usage: Usage) => {
  const basis = { rules: { quotaUsdMicros: 1000, thresholdPct: 95 } };
  const counters = countersOf(usage, undefined);
  return (await totalStore.saveTotal(id, { counters, startsAtMs: 0, asOfMs: clock.nowMs(), basis, isOver: false }))
    .saved;
};
const quotaOf = (dailyUsdMicros: number) => ({
  modelOrdering: ['premium'],
  quotas: [{ label: 'premium', dailyUsdMicros }],
});

/** The days whose active scopes were queried. */
const queriedDays = () =>
  [...new Set(JSON.stringify(proxy.calls.map(({ body }) => body)).match(/(?<=ACTIVE#)\d{8}/g))].sort();

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock });
  ({ store } = app.gateway.services);
  shardStore = new ShardStore(store);
  totalStore = new TotalStore(store, app.config.retention.totalDays);
});
// Each test has its own day, and the days of the tests before it are closed.
beforeEach(async () => {
  clock.advance(4 * dayMs);
  toHour(clock, 12);
  await newWorker().spend.sumAll();
  expireClaims();
  proxy.clear();
});
afterEach(() => {
  const { calls } = proxy;
  proxy.clear();
  for (const worker of workers.splice(0)) worker.close();
  expect(deniedBy('WorkerPolicy', calls)).toEqual([]);
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

describe('a round', () => {
  it('finds the costs that other processes recorded, with the index and without a scan', async () => {
    const tenant = await newTenant(app);
    const other = await app.another();
    const [here, there] = [costs(tenant, 5), costs(tenant, 7, { modelLabel: 'standard' })];
    await Promise.all([submit(app.admin, here), submit(other.admin, there)]);
    await other.stop();
    expect(await newWorker().spend.sumAll()).toEqual({ scopes: 2, failed: 0 });
    expect(await total(idOf(tenant))).toEqual(usageOf(here));
    expect(await total(idOf(tenant, today(), 'chat', 'standard'))).toEqual(usageOf(there));
    expect(proxy.calls.map(({ operation }) => operation)).not.toContain('Scan');
  });

  it('makes a total that is exactly the sum of its shards, however many processes wrote them', async () => {
    const tenant = await newTenant(app);
    const other = await app.another();
    const [here, there] = [costs(tenant, 500), costs(tenant, 120)];
    await Promise.all([submit(app.admin, here), submit(other.admin, there)]);
    await other.stop();
    await newWorker().spend.sumAll();
    const shards = await shardsOf(store, idOf(tenant), tenant.shardCount);
    expect(shards.length).toBeGreaterThan(1);
    expect(sum(shards)).toEqual(usageOf([...here, ...there]));
    expect(await total(idOf(tenant))).toEqual(sum(shards));
  });

  it('finds a cost on any shard, in any partition of the index', async () => {
    const tenant = await newTenant(app);
    const usage = { costUsdMicros: 7, inputTokens: 5, outputTokens: 3, requests: 1 };
    const ids = Array.from({ length: tenant.shardCount }, (_, shard) => idOf(tenant, today(), 'chat', `label${shard}`));
    for (const [shard, id] of ids.entries()) {
      const costStore = new CostStore(
        store,
        clock,
        plainCosts({ retention: app.config.retention, homeShard: shard, maxWaiting: 1 }),
      );
      const call = { callStatus: 'OK', occurredAtMs: clock.nowMs(), receivedAtMs: clock.nowMs() } as const;
      const request = { requestId: randomUUID(), payloadHash: 'x', priceSource: 'SUBMITTED' } as const;
      const record = { ...id, appId: 'chat', ...request, usage, ...call };
      await costStore.record({ id, shardCount: tenant.shardCount, record, charges: [] });
    }
    expect(await newWorker().spend.sumAll()).toEqual({ scopes: tenant.shardCount, failed: 0 });
    expect(await Promise.all(ids.map(total))).toEqual(ids.map(() => usage));
  });

  it('sums the costs since the last round, and writes nothing if there are none', async () => {
    const tenant = await newTenant(app);
    const first = costs(tenant, 3);
    await submit(app.admin, first);
    const worker = newWorker();
    await worker.spend.sumAll();
    const second = costs(tenant, 3);
    await submit(app.admin, second);
    await worker.spend.sumAll();
    expect(await total(idOf(tenant))).toEqual(usageOf([...first, ...second]));
    proxy.clear();
    await worker.spend.sumAll();
    expect(JSON.stringify(proxy.calls.filter(({ operation }) => operation === 'UpdateItem'))).not.toContain(
      tenant.orgId,
    );
  });

  it('continues after an org that no longer exists', async () => {
    const deleted = await newTenant(app);
    const other = await newTenant(app, { orgId: idInSliceOf(deleted.orgId) });
    const kept = costs(other, 2);
    await submit(app.admin, [...costs(deleted, 2), ...kept]);
    await store.write({ table: 'config', delete: configKey(deleted) });
    expect((await newWorker().spend.sumAll()).failed).toBe(0);
    expect(await total(idOf(other))).toEqual(usageOf(kept));
    expect(await total(idOf(deleted))).toBeUndefined();
  });

  it('that failed is completed by the next one', async () => {
    const tenants = await Promise.all(Array.from({ length: 4 }, () => newTenant(app)));
    await submit(
      app.admin,
      tenants.map((tenant) => cost(tenant)),
    );
    const worker = newWorker();
    const failing = proxy.inject({ operation: 'Query', table: 'usage_agg_sharded', fault: 'error-before' });
    expect((await worker.spend.sumAll()).failed).toBeGreaterThan(0);
    expect(failing.hits).toBeGreaterThan(0);
    proxy.clear();
    expect(await worker.spend.sumAll()).toEqual({ scopes: 4, failed: 0 });
    expect(await Promise.all(tenants.map((tenant) => total(idOf(tenant))))).not.toContain(undefined);
  });
});

describe('a total', () => {
  it('is not overwritten by a worker that read earlier and saves later', async () => {
    const tenant = await newTenant(app);
    const first = costs(tenant, 4);
    await submit(app.admin, first);
    const [early] = await shardStore.sumShards([idOf(tenant)], tenant.shardCount);
    const later = costs(tenant, 4);
    await submit(app.admin, later);
    await newWorker().spend.sumAll();
    expect(early).toEqual(countersOf(usageOf(first), 12));
    expect(await saveTotal(idOf(tenant), usageOf(first))).toBe(false);
    expect(await total(idOf(tenant))).toEqual(usageOf([...first, ...later]));
  });

  it('is saved only if no figure shrinks', async () => {
    const tenant = await newTenant(app);
    const figures = { costUsdMicros: 100, inputTokens: 100, outputTokens: 100, requests: 10 };
    const save = (changes: Partial<typeof figures>) => saveTotal(idOf(tenant), { ...figures, ...changes });
    expect(await save({})).toBe(true);
    clock.advance(1000);
    for (const smaller of [{ costUsdMicros: 99 }, { inputTokens: 99 }, { outputTokens: 99 }])
      expect(await save({ ...smaller, requests: 11 })).toBe(false);
    expect(await save({ costUsdMicros: 101 })).toBe(false);
    expect(await total(idOf(tenant))).toEqual(figures);
    expect(await save({ requests: 11 })).toBe(true);
  });

  it('is not overwritten by a delayed write', async () => {
    const tenant = await newTenant(app);
    const first = costs(tenant, 3);
    await submit(app.admin, first);
    // After this worker has read the shards, its writes take 1.5 seconds.
    const reading = proxy.inject({
      operation: 'BatchGetItem',
      table: 'usage_agg_sharded',
      fault: 'slow',
      ms: 100,
      nth: 1,
    });
    const slowRound = newWorker().spend.sumAll();
    while (reading.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const writing = proxy.inject({ operation: 'UpdateItem', table: 'daily_total', fault: 'slow', ms: 1500, nth: 1 });
    while (writing.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const later = costs(tenant, 3);
    await submit(app.admin, later);
    expireClaims();
    const whole = usageOf([...first, ...later]);
    // Not behind the proxy, so its writes are not delayed.
    const quick = buildBackground(app.config, { clock, log: silentLog });
    workers.push(quick);
    await quick.spend.sumAll();
    expect(await total(idOf(tenant))).toEqual(whole);
    await slowRound;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await total(idOf(tenant))).toEqual(whole);
    expect(writing.hits).toBe(1);
  });
});

describe('two workers', () => {
  it('at the same time, while costs are being submitted, end with the exact total', async () => {
    const tenant = await newTenant(app);
    const pair = [newWorker(), newWorker()];
    const all: op.SubmitCostInput[] = [];
    let lastRequests = 0;
    for (let i = 0; i < 3; i++) {
      const more = costs(tenant, 150);
      all.push(...more);
      await Promise.all([
        submit(app.admin, more),
        ...pair.map(({ spend }) => spend.sumAll()),
        ...pair.map(({ spend }) => spend.sumAll()),
      ]);
      const { requests = 0 } = (await total(idOf(tenant))) ?? {};
      expect(requests).toBeGreaterThanOrEqual(lastRequests);
      lastRequests = requests;
      expireClaims();
    }
    await Promise.all(pair.map(({ spend }) => spend.sumAll()));
    expect(await total(idOf(tenant))).toEqual(usageOf(all));
  });

  it('do not sum the same slice until the claim of the first one has expired', async () => {
    const tenant = await newTenant(app);
    await submit(app.admin, costs(tenant, 2));
    const [one, other] = [newWorker(), newWorker()];
    expect(await one.spend.sumAll()).toEqual({ scopes: 1, failed: 0 });
    expect(await other.spend.sumAll()).toEqual({ scopes: 0, failed: 0 });
    clock.advance(60_000);
    expect(await other.spend.sumAll()).toEqual({ scopes: 0, failed: 0 });
    clock.advance(31_000);
    expect(await other.spend.sumAll()).toEqual({ scopes: 1, failed: 0 });
    expect(await one.spend.sumAll()).toEqual({ scopes: 0, failed: 0 });
  });
});

describe('days', () => {
  it('of yesterday still get late costs', async () => {
    const tenant = await newTenant(app);
    toHour(clock, 23);
    const before = costs(tenant, 2);
    await submit(app.admin, before);
    const yesterday = today();
    const worker = newWorker();
    await worker.spend.sumAll();
    clock.advance(90 * 60_000);
    expect(today()).not.toBe(yesterday);
    const late = costs(tenant, 2, { occurredAt: new Date(clock.nowMs() - 23 * hourMs).toISOString() });
    const now = costs(tenant, 2);
    await submit(app.admin, [...late, ...now]);
    await worker.spend.sumAll();
    expect(await total(idOf(tenant, yesterday))).toEqual(usageOf([...before, ...late]));
    expect(await total(idOf(tenant))).toEqual(usageOf(now));
  });

  it.each(['Pacific/Kiritimati', 'Etc/GMT+12'])(
    'of %s are summed from their first minute to the last late cost',
    async (timezone) => {
      const tenant = await newTenant(app, { timezone });
      // 10:01 UTC is 00:01 in Kiritimati, 12:01 UTC is 00:01 in GMT+12.
      toHour(clock, timezone === 'Etc/GMT+12' ? 12 : 10);
      clock.advance(60_000);
      const { submitCost } = await app.admin.ask(op.SubmitCostDocument, { input: cost(tenant, { costUsdMicros: 1 }) });
      const { submitCost: late } = await app.admin.ask(op.SubmitCostDocument, {
        input: cost(tenant, { costUsdMicros: 2, occurredAt: new Date(clock.nowMs() - dayMs + 1000).toISOString() }),
      });
      expect(submitCost.day > late.day).toBe(true);
      await newWorker().spend.sumAll();
      expect((await total(idOf(tenant, submitCost.day)))?.costUsdMicros).toBe(1);
      expect((await total(idOf(tenant, late.day)))?.costUsdMicros).toBe(2);
    },
  );

  it('during which no worker ran are summed by the next round, and only by that one', async () => {
    const tenant = await newTenant(app);
    const missed = new Map<string, op.SubmitCostInput[]>();
    for (let i = 0; i < 5; i++) {
      const inputs = costs(tenant, 2);
      missed.set(today(), inputs);
      await submit(app.admin, inputs);
      clock.advance(dayMs);
    }
    const worker = newWorker();
    expect(await worker.spend.sumAll()).toEqual({ scopes: 5, failed: 0 });
    for (const [day, inputs] of missed) expect(await total(idOf(tenant, day))).toEqual(usageOf(inputs));
    expect(queriedDays().length).toBeGreaterThanOrEqual(6);

    // At noon UTC, 26 hours ago was the day before yesterday in UTC-12, and now is tomorrow in UTC+14.
    proxy.clear();
    await worker.spend.sumAll();
    const expected = [-2, -1, 0, 1].map((days) => dateAt(clock.nowMs() + days * dayMs).replaceAll('-', ''));
    expect(queriedDays()).toEqual(expected);
    expireClaims();
    proxy.clear();
    await newWorker().spend.sumAll();
    expect(queriedDays()).toEqual(expected);
  });

  it('with a scope that could not be read stay open until it can be read', async () => {
    const tenant = await newTenant(app);
    const inputs = costs(tenant, 2);
    await submit(app.admin, inputs);
    const day = today();
    clock.advance(4 * dayMs);
    proxy.inject({ operation: 'BatchGetItem', table: 'usage_agg_sharded', fault: 'partial-batch' });
    const worker = newWorker();
    expect((await worker.spend.sumAll()).failed).toBe(1);
    expect(await total(idOf(tenant, day))).toBeUndefined();
    proxy.clear();
    clock.advance(4 * dayMs);
    expect(await worker.spend.sumAll()).toEqual({ scopes: 1, failed: 0 });
    expect(await total(idOf(tenant, day))).toEqual(usageOf(inputs));
  });
});

describe('the roll-up of an org under quotaScope APP', () => {
  const appIds = ['chat', 'mail', 'idle'];

  it('is the sum over its apps, including those without new costs in this round', async () => {
    const tenant = await newTenant(app, { ...quotaOf(1_000_000), tightModeThresholdPct: 80 }, appIds);
    const [chat, mail] = [costs(tenant, 1, { costUsdMicros: 900_000 }), costs(tenant, 3, { appId: 'mail' })];
    await submit(app.admin, [...chat, ...mail]);
    const worker = newWorker();
    await worker.spend.sumAll();
    expect(await total(orgIdOf(tenant))).toEqual(usageOf([...chat, ...mail]));
    // Only chat is near its quota, so only chat is summed between rounds.
    const more = costs(tenant, 2);
    await submit(app.admin, more);
    expect(await worker.spend.sumNear()).toEqual({ scopes: 1, failed: 0 });
    expect(await total(orgIdOf(tenant))).toEqual(usageOf([...chat, ...mail, ...more]));
    expect((await alertsOf(tenant)).map(({ appId, kind }) => [appId, kind])).toEqual([['chat', 'TIGHT_MODE']]);
  });

  it('is not written while one of its apps cannot be read', async () => {
    const tenant = await newTenant(app, {}, appIds);
    const first = [...costs(tenant, 2), ...costs(tenant, 2, { appId: 'mail' })];
    await submit(app.admin, first);
    const worker = newWorker();
    await worker.spend.sumAll();
    const more = [...costs(tenant, 2), ...costs(tenant, 2, { appId: 'mail' })];
    await submit(app.admin, more);
    // The last shard of the batch is never returned.
    proxy.inject({ operation: 'BatchGetItem', table: 'usage_agg_sharded', fault: 'partial-batch' });
    expect((await worker.spend.sumAll()).failed).toBe(2);
    expect(await total(orgIdOf(tenant))).toEqual(usageOf(first));
    proxy.clear();
    expect((await worker.spend.sumAll()).failed).toBe(0);
    expect(await total(orgIdOf(tenant))).toEqual(usageOf([...first, ...more]));
  });

  it('does not exist under quotaScope ORG, where the org has a total of its own', async () => {
    const tenant = await newTenant(app, { quotaScope: 'ORG' }, appIds);
    const inputs = [...costs(tenant, 2), ...costs(tenant, 2, { appId: 'mail' })];
    await submit(app.admin, inputs);
    await newWorker().spend.sumAll();
    expect(await total(orgIdOf(tenant))).toEqual(usageOf(inputs));
    expect(await total(idOf(tenant))).toBeUndefined();
  });
});

describe('a scope near its quota', () => {
  it('is summed between rounds from ten percentage points below its threshold on, and no other scope is', async () => {
    const settings = { ...quotaOf(1000), tightModeThresholdPct: 80 };
    const [near, far] = [await newTenant(app, settings), await newTenant(app, settings)];
    await submit(app.admin, [cost(near, { costUsdMicros: 700 }), cost(far, { costUsdMicros: 699 })]);
    const worker = newWorker();
    expect(await worker.spend.sumNear()).toEqual({ scopes: 0, failed: 0 });
    await worker.spend.sumAll();
    await submit(app.admin, [cost(near, { costUsdMicros: 200 }), cost(far, { costUsdMicros: 200 })]);
    expect(await worker.spend.sumNear()).toEqual({ scopes: 1, failed: 0 });
    expect((await total(idOf(near)))?.costUsdMicros).toBe(900);
    expect((await total(idOf(far)))?.costUsdMicros).toBe(699);
    expect((await alertsOf(near)).map(({ kind }) => kind)).toEqual(['TIGHT_MODE']);
    expect(await alertsOf(far)).toEqual([]);
  });
});

describe('alerts', () => {
  it('are raised once, even if a worker crashed between the total and the alert', async () => {
    const tenant = await newTenant(app, quotaOf(1000));
    const inputs = costs(tenant, 2, { costUsdMicros: 500 });
    await submit(app.admin, inputs);
    expect(await saveTotal(idOf(tenant), usageOf(inputs))).toBe(true);
    for (let i = 0; i < 2; i++) {
      await newWorker().spend.sumAll();
      expireClaims();
    }
    expect(await alertsOf(tenant)).toMatchObject([
      { kind: 'QUOTA_EXCEEDED', label: 'premium', costUsdMicros: 1000, appId: 'chat', day: today() },
    ]);
  });

  it('are raised once by two workers and five selections at the same time', async () => {
    const tenant = await newTenant(app, quotaOf(1000));
    const inputs = costs(tenant, 2, { costUsdMicros: 485 });
    await submit(app.admin, inputs);
    await saveTotal(idOf(tenant), usageOf(inputs));
    const select = () => app.admin.ask(op.SelectionDocument, { orgId: tenant.orgId, appId: 'chat' });
    await Promise.all([
      newWorker().spend.sumAll(),
      newWorker().spend.sumAll(),
      select(),
      select(),
      select(),
      select(),
      select(),
    ]);
    expect((await alertsOf(tenant)).map(({ kind }) => kind)).toEqual(['TIGHT_MODE']);
  });

  it('are one if a cost exceeds threshold and quota at once, and two if one is exceeded after the other', async () => {
    const [jump, rise] = [await newTenant(app, quotaOf(1000)), await newTenant(app, quotaOf(1000))];
    const worker = newWorker();
    await submit(app.admin, [cost(jump, { costUsdMicros: 1500 }), cost(rise, { costUsdMicros: 990 })]);
    await worker.spend.sumAll();
    await submit(app.admin, [cost(rise, { costUsdMicros: 10 })]);
    await worker.spend.sumAll();
    expect((await alertsOf(jump)).map(({ kind }) => kind)).toEqual(['QUOTA_EXCEEDED']);
    expect((await alertsOf(rise)).map(({ kind }) => kind)).toEqual(['QUOTA_EXCEEDED', 'TIGHT_MODE']);
  });
});
