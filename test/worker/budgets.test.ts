import { partitionOf } from '../../src/alerts/alert.js';
import { headKey } from '../../src/alerts/alert.store.js';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { budgetKey } from '../../src/spend/budgets/budget.item.js';
import { adminKey, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { Chance, testSeed } from '../support/chance.js';
import { ManualClock } from '../support/clock.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { endAll, LiveSocket } from '../support/live-socket.js';
import * as op from '../support/operations.js';
import { deniedBy } from '../support/policy.js';
import { until } from '../support/until.js';
import { cost, dayMs, hourMs, newTenant, submit, type Tenant } from './costs.js';

// Before the tables were created, so that the first round has no days to catch up on. New York changes its clocks on
// 8 March, Berlin on 29 March, Auckland on 5 April.
const clock = new ManualClock();
clock.advance(Date.parse('2026-03-06T02:00:00Z') - clock.nowMs());

let proxy: FaultProxy;
let app: TestApp;
const workers: Background[] = [];

/**
 * A worker with its own caches. Its claims on slices are over at once, so that several of them sum the same orgs at the
 * same time.
 */
function newWorker(endpoint = proxy.endpoint): Background {
  const { store, aggregation } = app.config;
  const worker = buildBackground(
    {
      ...app.config,
      store: { ...store, endpoint },
      aggregation: { ...aggregation, intervalSecs: -60 },
    },
    { clock, log: silentLog },
  );
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock, config: { principalRps: 0, principalConcurrency: 0 } });
});
afterEach(() => {
  endAll();
  const { calls } = proxy;
  proxy.clear();
  for (const worker of workers.splice(0)) worker.close();
  expect(deniedBy('WorkerPolicy', calls)).toEqual([]);
  // The days of one test are closed in the next one, so that a round does not sum them again.
  clock.advance(4 * dayMs);
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const set = async (input: op.SetBudgetInput) => (await app.admin.ask(op.SetBudgetDocument, { input })).setBudget;
const budgetsOf = async (orgId: string): Promise<readonly op.BudgetFragment[]> =>
  (await app.admin.ask(op.BudgetsDocument, { orgId })).org?.budgets ?? [];
const alertsOf = async (orgId: string) =>
  ((await app.admin.ask(op.BudgetAlertsDocument, { orgId })).org?.alerts.nodes ?? [])
    .filter(({ budget }) => budget !== null)
    .reverse();
const thresholdsOf = async (orgId: string) =>
  (await alertsOf(orgId)).map(({ kind, thresholdPct }) => `${kind} ${thresholdPct}`);
/** So large that no quota matters. */
const tenantWith = (timezone = 'UTC') =>
  newTenant(
    app,
    {
      timezone,
      quotas: ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 1_000_000_000 })),
    },
    ['chat', 'side'],
  );
const spend = (tenant: Tenant, costUsdMicros: number) => submit(app.admin, [cost(tenant, { costUsdMicros })]);

describe('the spend of a budget', () => {
  interface Receipt {
    readonly appId: string;
    readonly label: string;
    readonly day: string;
    readonly costUsdMicros: number;
  }

  /** The sum of the receipts that a budget counts. */
  const expected = ({ appId, label, periodStart, periodEnd }: op.BudgetFragment, receipts: readonly Receipt[]) =>
    receipts
      .filter(({ day }) => day >= periodStart && day <= periodEnd)
      .filter((receipt) => (appId ?? receipt.appId) === receipt.appId && (label ?? receipt.label) === receipt.label)
      .reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);

  async function historyOf(orgId: string, { periodStart, periodEnd }: op.BudgetFragment, today: string) {
    const to = periodEnd < today ? periodEnd : today;
    const { org } = await app.admin.ask<{ org: { spendHistory: { costUsdMicros: number }[] } }, object>(
      'query ($orgId: UUID, $from: LocalDate!, $to: LocalDate!) ' +
        '{ org(orgId: $orgId) { spendHistory(from: $from, to: $to) { costUsdMicros } } }',
      { orgId, from: periodStart, to },
    );
    return org.spendHistory.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);
  }

  it('is always the sum of its days, across zone changes and DST', async () => {
    const chance = new Chance(testSeed);
    const { orgId } = await tenantWith('America/New_York');
    const common = { orgId, usdMicros: 1_000_000_000 };
    await set({ ...common, name: 'day', period: 'DAY' });
    await set({ ...common, name: 'week', period: 'WEEK' });
    await set({ ...common, name: 'month', period: 'MONTH' });
    await set({ ...common, name: 'premium', period: 'WEEK', label: 'premium' });
    await set({ ...common, name: 'side', period: 'MONTH', appId: 'side' });
    const worker = newWorker(testEndpoint());
    const receipts: Receipt[] = [];
    const periods = new Set<string>();
    const zones = ['Europe/Berlin', 'Pacific/Auckland', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Honolulu'];
    for (let step = 0; step < 12; step++) {
      clock.advance(chance.between(36 * hourMs, 90 * hourMs));
      if (chance.hit(0.3)) await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, timezone: chance.one(zones) } });
      const inputs = Array.from({ length: chance.between(1, 3) }, () =>
        cost(
          { orgId },
          {
            appId: chance.one(['chat', 'side']),
            modelLabel: chance.one(['premium', 'standard']),
            occurredAt: new Date(clock.nowMs() - chance.below(23 * hourMs)).toISOString(),
          },
        ),
      );
      const { submitCosts } = await app.admin.ask(op.SubmitCostsDocument, { inputs });
      for (const [i, { receipt }] of submitCosts.entries())
        receipts.push({ ...(receipt as op.ReceiptFragment), appId: inputs[i]?.appId as string });
      await worker.spend.sumAll();
      const budgets = await budgetsOf(orgId);
      const today = budgets.find(({ name }) => name === 'day')?.periodStart as string;
      for (const budget of budgets) {
        periods.add(`${budget.name} ${budget.periodStart}`);
        expect([step, budget.name, budget.spentUsdMicros]).toEqual([step, budget.name, expected(budget, receipts)]);
        expect(Date.parse(budget.resetsAt)).toBeGreaterThan(clock.nowMs());
        if (budget.appId === null && budget.label === null)
          expect(budget.spentUsdMicros).toBe(await historyOf(orgId, budget, today));
      }
    }
    // The clock has passed several weeks and the end of a month.
    expect([...periods].filter((name) => name.startsWith('month'))).toHaveLength(2);
    expect([...periods].filter((name) => name.startsWith('week')).length).toBeGreaterThan(3);
  });

  it('is not overwritten by a worker that read earlier and saves later', async () => {
    const tenant = await tenantWith();
    const { orgId } = tenant;
    await set({ orgId, name: 'month', period: 'MONTH', usdMicros: 1_000_000_000 });
    await spend(tenant, 100);
    const [slow, quick] = [newWorker(), newWorker(testEndpoint())];
    const saving = proxy.inject({ operation: 'PutItem', table: 'daily_total', fault: 'hold' });
    const slowRound = slow.spend.sumAll();
    await until('the slow worker saves', () => saving.hits > 0);
    await spend(tenant, 11);
    await quick.spend.sumAll();
    expect(await budgetsOf(orgId)).toMatchObject([{ spentUsdMicros: 111 }]);
    saving.remove();
    await slowRound;
    expect(await budgetsOf(orgId)).toMatchObject([{ spentUsdMicros: 111 }]);
  });
});

describe('the thresholds of a budget', () => {
  const faults: readonly Fault[] = [
    'throttle',
    'error-before',
    'error-after',
    'drop-reply',
    'partial-batch',
    'conflict',
    'stale-read',
  ];

  it('are raised once each by two workers under faults, and are replayed in order', async () => {
    const tenant = await tenantWith();
    const { orgId } = tenant;
    const thresholdsPct = faults.map((_, i) => 10 * (i + 1));
    await set({ orgId, name: 'week', period: 'WEEK', usdMicros: 1000, thresholdsPct });
    const pair = [newWorker(), newWorker()];
    const hits = new Map<Fault, number>();
    for (const [i, fault] of faults.entries()) {
      await spend(tenant, 100);
      const met = [
        proxy.inject({ table: 'daily_total', fault, nth: { first: 3 } }),
        proxy.inject({ table: 'alerts', fault, nth: { first: 3 } }),
        proxy.inject({ table: 'config', fault, nth: { first: 2 } }),
      ];
      await Promise.all(pair.map((each) => each.spend.sumAll().catch(() => undefined)));
      hits.set(
        fault,
        met.reduce((sum, rule) => sum + rule.hits, 0),
      );
      for (const rule of met) rule.remove();
      await Promise.all(pair.map((each) => each.spend.sumAll()));
      expect(await thresholdsOf(orgId)).toEqual(thresholdsPct.slice(0, i + 1).map((pct) => `THRESHOLD ${pct}`));
    }
    expect([...hits].filter(([, count]) => count === 0)).toEqual([]);
    expect(await budgetsOf(orgId)).toMatchObject([{ spentUsdMicros: 700, remainingUsdMicros: 300 }]);
    // A worker that has just started knows none of the alerts.
    await newWorker().spend.sumAll();
    const all = await alertsOf(orgId);
    expect(all.map(({ thresholdPct }) => thresholdPct)).toEqual(thresholdsPct);
    expect(await replayed(orgId, all[0]?.cursor ?? '', all.length - 1)).toEqual(all.slice(1).map(({ id }) => id));
  });

  /** The ids of the alerts after a cursor, as a new subscriber gets them. */
  async function replayed(orgId: string, after: string, count: number): Promise<string[]> {
    const live = await LiveSocket.connect(app.url.replace('http', 'ws'), { 'x-admin-key': adminKey });
    const query =
      'subscription ($orgId: UUID, $after: String) { quotaAlerts(orgId: $orgId, after: $after) { id budget } }';
    live.subscribe('1', query, { orgId, after });
    const ids = () =>
      live
        .of('1')
        .filter(({ type }) => type === 'next')
        .map(({ payload }) => (payload as { data: { quotaAlerts: { id: string } } }).data.quotaAlerts.id);
    await until('the alerts are replayed', () => ids().length >= count);
    return ids();
  }

  /** Makes it impossible to store alerts of an org. Returns the repair. */
  async function withoutAlerts(orgId: string): Promise<() => Promise<unknown>> {
    const { store } = app.gateway.services;
    const update = headKey(partitionOf(orgId));
    const before = await store.get('alerts', update, { consistent: true });
    await store.write({ table: 'alerts', update, set: { n: 'broken' } });
    return () => store.write({ table: 'alerts', ...(before ? { put: before } : { delete: update }) });
  }

  it('are not raised for periods that were over when the budget was set', async () => {
    const tenant = await newTenant(app);
    const { orgId } = tenant;
    const yesterday = new Date(clock.nowMs() - 23 * hourMs).toISOString();
    await submit(app.admin, [cost(tenant, { costUsdMicros: 900, occurredAt: yesterday })]);
    await set({ orgId, name: 'day', period: 'DAY', usdMicros: 1000 });
    await submit(app.admin, [cost(tenant, { costUsdMicros: 600 })]);
    await newWorker().spend.sumAll();
    expect((await thresholdsOf(orgId)).filter((each) => each.startsWith('THRESHOLD'))).toEqual(['THRESHOLD 50']);
  });

  it('are raised in the next round if they could not be stored, though nothing has changed', async () => {
    const tenant = await tenantWith();
    const { orgId } = tenant;
    await set({ orgId, name: 'week', period: 'WEEK', usdMicros: 1000 });
    await spend(tenant, 600);
    const repair = await withoutAlerts(orgId);
    const worker = newWorker(testEndpoint());
    await worker.spend.sumAll();
    expect(await budgetsOf(orgId)).toMatchObject([{ spentUsdMicros: 600 }]);
    await repair();
    expect(await thresholdsOf(orgId)).toEqual([]);
    await worker.spend.sumAll();
    expect(await thresholdsOf(orgId)).toEqual(['THRESHOLD 50']);
  });

  it('are raised after a crash between the state and its alert, though the budget was changed meanwhile', async () => {
    const tenant = await tenantWith();
    const { orgId } = tenant;
    await set({ orgId, name: 'week', period: 'WEEK', usdMicros: 1000 });
    await spend(tenant, 1200);
    const repair = await withoutAlerts(orgId);
    await newWorker(testEndpoint()).spend.sumAll();
    expect(await budgetsOf(orgId)).toMatchObject([{ spentUsdMicros: 1200 }]);
    await repair();
    expect(await thresholdsOf(orgId)).toEqual([]);
    await set({ orgId, name: 'week', period: 'WEEK', usdMicros: 5000 });
    expect(await thresholdsOf(orgId)).toEqual(['THRESHOLD 100', 'RECOVERED 100']);
    await newWorker(testEndpoint()).spend.sumAll();
    expect(await thresholdsOf(orgId)).toHaveLength(2);
  });

  it('are judged again when a raise ends, though the org has no costs any more', async () => {
    const tenant = await tenantWith();
    const { orgId } = tenant;
    // To Monday.
    while (new Date(clock.nowMs()).getUTCDay() !== 1) clock.advance(dayMs);
    const until = new Date(clock.nowMs() + 4 * dayMs).toISOString();
    await set({ orgId, name: 'week', period: 'WEEK', usdMicros: 1000, raise: { until, usdMicros: 9000 } });
    await spend(tenant, 1500);
    const worker = newWorker();
    await worker.spend.sumAll();
    clock.advance(4 * dayMs - hourMs);
    await worker.spend.sumAll();
    expect(await worker.spend.sumAll()).toEqual({ scopes: 0, failed: 0 });
    expect(await thresholdsOf(orgId)).toEqual([]);
    clock.advance(hourMs);
    await worker.spend.sumAll();
    expect(await thresholdsOf(orgId)).toEqual(['THRESHOLD 100']);
  });
});

describe('a round', () => {
  it('saves totals though the budgets of an org cannot be read, and checks them when they can', async () => {
    const tenant = await tenantWith();
    const { orgId } = tenant;
    await set({ orgId, name: 'week', period: 'WEEK', usdMicros: 1000 });
    await spend(tenant, 700);
    const worker = newWorker();
    const key = budgetKey({ orgId, name: 'week' });
    const setPeriod = (period: string) =>
      app.gateway.services.store.write({ table: 'config', update: key, set: { period } });
    await setPeriod('YEAR');
    expect((await worker.spend.sumAll()).failed).toBe(0);
    expect((await app.admin.ask(op.OrgSpendDocument, { orgId })).org?.spend.costUsdMicros).toBe(700);
    await setPeriod('WEEK');
    await worker.spend.sumAll();
    expect(await thresholdsOf(orgId)).toEqual(['THRESHOLD 50']);
  });

  it('reads and writes nothing more for an org without budgets, or whose totals have not changed', async () => {
    const [tenant, plain] = [await tenantWith(), await tenantWith()];
    await set({ orgId: tenant.orgId, name: 'week', period: 'WEEK', usdMicros: 1_000_000 });
    await spend(tenant, 700);
    await spend(plain, 800);
    const worker = newWorker();
    await worker.spend.sumAll();
    const budgetCalls = () => proxy.calls.filter(({ body }) => /BUDGET#/.test(JSON.stringify(body)));
    expect(budgetCalls().length).toBeGreaterThan(0);
    expect(budgetCalls().some(({ body }) => JSON.stringify(body).includes(plain.orgId))).toBe(false);
    proxy.clear();
    await worker.spend.sumAll();
    expect(budgetCalls()).toEqual([]);
  });
});
