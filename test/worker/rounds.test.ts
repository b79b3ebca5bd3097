import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { Metrics } from '../../src/lib/metrics.js';
import { CostStore } from '../../src/spend/cost.store.js';
import { SliceStore } from '../../src/spend/slice.store.js';
import { shardKey } from '../../src/spend/spend.item.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import { plainCosts } from '../support/cost-store.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { cost, dateAt, dayMs, newTenant, noonClock, submit, type Tenant, toHour, totalOf } from './costs.js';

const minuteMs = 60_000;
const clock = noonClock();
let proxy: FaultProxy;
let app: TestApp;
const workers: Background[] = [];

interface MeasuredWorker extends Background {
  lagSecs(): Promise<number>;
}

function newWorker(at: ManualClock = clock): MeasuredWorker {
  const metrics = new Metrics();
  const config = { ...app.config, store: { ...app.config.store, endpoint: proxy.endpoint } };
  const worker = buildBackground(config, { clock: at, log: silentLog, metrics });
  workers.push(worker);
  const lagSecs = async () =>
    Number(/tollgate_aggregator_lag_seconds ([\d.]+)/.exec(await metrics.registry.metrics())?.[1]);
  return Object.assign(worker, { lagSecs });
}

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock });
});
beforeEach(async () => {
  clock.advance(4 * dayMs);
  toHour(clock, 12);
  await newWorker().spend.sumAll();
  clock.advance(2 * minuteMs);
  proxy.clear();
});
afterEach(() => {
  proxy.clear();
  for (const worker of workers.splice(0)) worker.close();
});
afterAll(async () => {
  await app.stop();
  await proxy.stop();
});

const today = () => dateAt(clock.nowMs());
const quotaOf = (dailyUsdMicros: number) => ({
  modelOrdering: ['premium'],
  quotas: [{ label: 'premium', dailyUsdMicros }],
});
const idOf = ({ orgId }: Tenant) => ({ orgId, appId: 'chat', label: 'premium', day: today() });
const spendOn = (tenant: Tenant, costUsdMicros: number) => submit(app.admin, [cost(tenant, { costUsdMicros })]);
const alertKinds = async ({ orgId }: Tenant) =>
  (await app.admin.ask(op.OrgAlertsDocument, { orgId })).org?.alerts.nodes.map(({ kind }) => kind);
const asOf = async ({ orgId }: Tenant) =>
  Date.parse(
    (await app.admin.ask(op.AppSpendDocument, { orgId, appId: 'chat', consistency: 'AGGREGATED' })).org?.app?.spend
      .labels[0]?.asOf ?? '',
  );

/** The shards that were read since the proxy was cleared. */
const shardsRead = () =>
  JSON.stringify(proxy.calls.filter(({ operation }) => operation === 'BatchGetItem').map(({ body }) => body)).match(
    /#SH#\d+/g,
  ) ?? [];

/** A clock that differs from the others by `byMs`. */
function skewed(byMs: number): ManualClock {
  const skewedClock = new ManualClock();
  skewedClock.advance(clock.nowMs() + byMs - skewedClock.nowMs());
  return skewedClock;
}

describe('the lag', () => {
  it('is that of the slice with the oldest round, on every worker, whichever holds the claims', async () => {
    const [holder, standby] = [newWorker(), newWorker()];
    await holder.spend.sumAll();
    expect(await standby.spend.sumAll()).toEqual({ scopes: 0, failed: 0 });
    expect(await holder.lagSecs()).toBeLessThan(10);
    expect(await standby.lagSecs()).toBeLessThan(10);
    // The holder has stopped, and its claims last 30 seconds more.
    clock.advance(minuteMs);
    await standby.spend.sumAll();
    expect(await standby.lagSecs()).toBeGreaterThanOrEqual(60);
    clock.advance(minuteMs);
    await standby.spend.sumAll();
    expect(await standby.lagSecs()).toBeLessThan(10);
  });

  it('grows while a slice fails, though the worker runs', async () => {
    const tenant = await newTenant(app);
    await spendOn(tenant, 1);
    const worker = newWorker();
    await worker.spend.sumAll();
    proxy.inject({ operation: 'BatchGetItem', table: 'usage_agg_sharded', fault: 'partial-batch' });
    clock.advance(2 * minuteMs);
    expect((await worker.spend.sumAll()).failed).toBe(1);
    expect(await worker.lagSecs()).toBeGreaterThanOrEqual(120);
  });

  it('is large if a worker has a wrong clock', async () => {
    await newWorker(skewed(5 * minuteMs)).spend.sumAll();
    const correct = newWorker();
    const rounds = new SliceStore(app.gateway.services.store);
    // The other worker still runs, and was the last one to mark all slices.
    await rounds.markRounds(
      Array.from({ length: 16 }, (_, slice) => slice),
      clock.nowMs() + 5 * minuteMs,
    );
    proxy.inject({ operation: 'UpdateItem', table: 'daily_total', fault: 'throttle' });
    await correct.spend.sumAll();
    expect(await correct.lagSecs()).toBeGreaterThanOrEqual(290);
  });
});

describe('a claim', () => {
  it('of a worker whose clock was ahead does not block others', async () => {
    const tenant = await newTenant(app, quotaOf(100));
    await newWorker(skewed(5 * minuteMs)).spend.sumAll();
    await spendOn(tenant, 500);
    expect(await newWorker().spend.sumAll()).toEqual({ scopes: 1, failed: 0 });
    expect((await totalOf(app.gateway.services.store, idOf(tenant)))?.costUsdMicros).toBe(500);
    expect(await alertKinds(tenant)).toEqual(['QUOTA_EXCEEDED']);
  });

  it('of a worker whose clock is two seconds ahead is respected', async () => {
    const tenant = await newTenant(app);
    await spendOn(tenant, 1);
    expect((await newWorker(skewed(2000)).spend.sumAll()).scopes).toBe(1);
    expect((await newWorker().spend.sumAll()).scopes).toBe(0);
  });
});

describe('a round', () => {
  it('reads only the shards that have costs', async () => {
    const tenant = await newTenant(app, { shardCount: 64 });
    await spendOn(tenant, 5);
    await newWorker().spend.sumAll();
    expect(shardsRead()).toHaveLength(1);
  });

  it('advances `asOf` of an idle scope as of a busy one, without writing it', async () => {
    const [idle, busy] = [await newTenant(app), await newTenant(app)];
    await Promise.all([spendOn(idle, 1), spendOn(busy, 1)]);
    const worker = newWorker();
    await worker.spend.sumAll();
    clock.advance(10 * minuteMs);
    await spendOn(busy, 1);
    proxy.clear();
    const beganMs = clock.nowMs();
    await worker.spend.sumAll();
    expect(JSON.stringify(proxy.calls.filter(({ operation }) => operation === 'UpdateItem'))).not.toContain(idle.orgId);
    clock.age(2000);
    for (const tenant of [idle, busy]) expect(await asOf(tenant)).toBeGreaterThanOrEqual(beganMs - 1000);
    expect(await asOf(idle)).toBeLessThanOrEqual(clock.nowMs());
  });

  it('that failed for a scope does not advance `asOf` of its slice', async () => {
    const tenant = await newTenant(app);
    await spendOn(tenant, 1);
    const worker = newWorker();
    await worker.spend.sumAll();
    clock.age(2000);
    const before = await asOf(tenant);
    clock.advance(10 * minuteMs);
    proxy.inject({ operation: 'BatchGetItem', table: 'usage_agg_sharded', fault: 'partial-batch' });
    await worker.spend.sumAll();
    clock.age(2000);
    expect(await asOf(tenant)).toBe(before);
  });

  it('of a worker whose clock is ahead sets no `asOf` in the future', async () => {
    const tenant = await newTenant(app);
    await spendOn(tenant, 1);
    await newWorker(skewed(5 * minuteMs)).spend.sumAll();
    clock.age(2000);
    expect(await asOf(tenant)).toBeLessThanOrEqual(clock.nowMs());
  });

  it('still sums a shard that the index no longer returns', async () => {
    const tenant = await newTenant(app);
    const { store } = app.gateway.services;
    const record = (shard: number) => {
      const usage = { costUsdMicros: 10 ** shard, inputTokens: 1, outputTokens: 1, requests: 1 };
      const call = {
        callStatus: 'OK',
        occurredAtMs: clock.nowMs(),
        receivedAtMs: clock.nowMs(),
        payloadHash: 'x',
        priceSource: 'SUBMITTED',
      } as const;
      const costStore = new CostStore(
        store,
        clock,
        plainCosts({ retention: app.config.retention, homeShard: shard, maxWaiting: 1 }),
      );
      const id = idOf(tenant);
      const record = { ...id, requestId: randomUUID(), usage, ...call };
      return costStore.record({ id, shardCount: tenant.shardCount, record, charges: [] });
    };
    await Promise.all([record(1), record(2)]);
    const worker = newWorker();
    await worker.spend.sumAll();
    // The index is eventually consistent. A read may return less than an earlier one.
    await store.write({ table: 'usage_agg_sharded', update: shardKey(idOf(tenant), 1), set: { gsi1pk: 'ELSEWHERE' } });
    await record(2);
    await worker.spend.sumAll();
    expect((await totalOf(store, idOf(tenant)))?.costUsdMicros).toBe(210);
  });
});

describe('the short interval', () => {
  const settings = { ...quotaOf(1000), tightModeThresholdPct: 80 };

  it('ends for a scope when its quota is used up and its alert is raised', async () => {
    const tenant = await newTenant(app, settings);
    await spendOn(tenant, 900);
    const worker = newWorker();
    await worker.spend.sumAll();
    expect(await worker.spend.sumNear()).toEqual({ scopes: 1, failed: 0 });
    await spendOn(tenant, 100);
    proxy.inject({ operation: 'TransactWriteItems', table: 'alerts', fault: 'throttle' });
    expect(await worker.spend.sumNear()).toEqual({ scopes: 1, failed: 0 });
    expect(await alertKinds(tenant)).toEqual(['TIGHT_MODE']);
    proxy.clear();
    expect(await worker.spend.sumNear()).toEqual({ scopes: 1, failed: 0 });
    expect(await alertKinds(tenant)).toEqual(['QUOTA_EXCEEDED', 'TIGHT_MODE']);
    expect(await worker.spend.sumNear()).toEqual({ scopes: 0, failed: 0 });
    clock.advance(minuteMs);
    await worker.spend.sumAll();
    expect(await worker.spend.sumNear()).toEqual({ scopes: 0, failed: 0 });
  });

  it('starts again for a scope whose quota was raised', async () => {
    const tenant = await newTenant(app, settings);
    await spendOn(tenant, 1000);
    const worker = newWorker();
    await worker.spend.sumAll();
    expect((await worker.spend.sumNear()).scopes).toBe(0);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: tenant.orgId, ...quotaOf(1200) } });
    await worker.spend.sumAll();
    expect((await worker.spend.sumNear()).scopes).toBe(1);
  });

  it('ends with the day of the scope', async () => {
    const tenant = await newTenant(app, settings);
    await spendOn(tenant, 900);
    const worker = newWorker();
    await worker.spend.sumAll();
    toHour(clock, 0);
    // Summed once more, because costs of its last seconds may not be summed yet.
    expect((await worker.spend.sumNear()).scopes).toBe(1);
    expect((await worker.spend.sumNear()).scopes).toBe(0);
    await worker.spend.sumAll();
    expect((await worker.spend.sumNear()).scopes).toBe(0);
  });

  it('finds costs on shards that were created since the last round', async () => {
    const tenant = await newTenant(app, { ...settings, shardCount: 64 });
    await spendOn(tenant, 700);
    const worker = newWorker();
    await worker.spend.sumAll();
    const other = await app.another();
    await submit(other.admin, [cost(tenant, { costUsdMicros: 150 })]);
    await other.stop();
    proxy.clear();
    await worker.spend.sumNear();
    expect((await totalOf(app.gateway.services.store, idOf(tenant)))?.costUsdMicros).toBe(850);
    expect(shardsRead().length).toBeLessThanOrEqual(2);
  });
});
