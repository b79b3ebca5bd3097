import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { type Key, StoreClient } from '../../src/dynamo/client.js';
import { StoreUnavailable } from '../../src/dynamo/faults.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import type { SpendId } from '../../src/orgs/scope.js';
import { type CostRecord, toCostRecord } from '../../src/spend/cost.item.js';
import { CostStore } from '../../src/spend/cost.store.js';
import { countersOf } from '../../src/spend/counters.js';
import { sum, type Usage } from '../../src/spend/money.js';
import { TotalStore } from '../../src/spend/total.store.js';
import { type Caller, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { plainCosts } from '../support/cost-store.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import {
  cost,
  costs,
  dateAt,
  dayMs,
  newTenant,
  noonClock,
  shardsOf,
  submit,
  type Tenant,
  totalOf,
  usageOf,
} from '../worker/costs.js';
import { untilWell } from './harness.js';

const labels = ['premium', 'standard', 'economy'];
const clock = noonClock();
let proxy: FaultProxy;
let app: TestApp;
/** Not behind the proxy: reads the real state. */
let truth: StoreClient;
const workers: Background[] = [];

function newWorker(endpoint: string): Background {
  clock.advance(2 * 60_000); // after the claims of other workers have expired
  const worker = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint } },
    { clock, log: silentLog },
  );
  workers.push(worker);
  return worker;
}

const today = () => dateAt(clock.nowMs());
const idOf = ({ orgId }: Tenant, label = 'premium'): SpendId => ({ orgId, appId: 'chat', label, day: today() });
const shardsSum = async (tenant: Tenant): Promise<Usage> =>
  sum((await Promise.all(labels.map((label) => shardsOf(truth, idOf(tenant, label), tenant.shardCount)))).flat());
const totalsSum = async (tenant: Tenant): Promise<Usage> =>
  sum(
    (await Promise.all(labels.map((label) => totalOf(truth, idOf(tenant, label))))).filter(
      (total) => total !== undefined,
    ),
  );
const alertsOf = async ({ orgId }: Tenant) =>
  (await app.admin.ask(op.OrgAlertsDocument, { orgId, first: 50 })).org?.alerts.nodes ?? [];

async function exactSpend({ orgId }: Tenant): Promise<Usage> {
  const { org } = await app.admin.ask(op.AppSpendDocument, { orgId, appId: 'chat', consistency: 'EXACT' });
  const { costUsdMicros = -1, inputTokens = -1, outputTokens = -1, requests = -1 } = org?.app?.spend ?? {};
  return { costUsdMicros, inputTokens, outputTokens, requests };
}

/** Retries the same request until its outcome is known, as a client should. */
async function submitWithRetry(caller: Caller, input: op.SubmitCostInput) {
  for (const untilMs = performance.now() + patience * 20_000; ; await sleep(20)) {
    const { data, errors } = await caller.send(op.SubmitCostDocument, { input });
    if (data) return data.submitCost;
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    if (performance.now() > untilMs) throw new Error(`no definite response: ${JSON.stringify(errors)}`);
  }
}

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, clock });
  truth = new StoreClient(
    sdkTransport({ ...app.config.store, endpoint: testEndpoint() }),
    app.config.store.tablePrefix,
  );
});
beforeEach(() => proxy.clear());
afterEach(() => {
  proxy.clear();
  for (const worker of workers.splice(0)) worker.close();
});
afterAll(async () => {
  proxy.clear();
  await app.stop();
  truth.close();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

describe('submissions', () => {
  it.each<Fault>([
    'throttle',
    'error-before',
    'error-after',
    'drop-reply',
    'no-reply',
    'no-reply-after',
    'slow',
    'conflict',
  ])('that meet %s and are retried until they succeed count exactly once each', async (fault) => {
    const tenant = await newTenant(app);
    const acknowledged: op.SubmitCostInput[] = [];
    const met = [1, 2, 3].map((nth) =>
      proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault, ms: 1200, nth }),
    );
    for (let round = 0; round < 2; round++) {
      const inputs = labels.flatMap((modelLabel) => costs(tenant, 10, { modelLabel }));
      const receipts = await Promise.all(inputs.map((input) => submitWithRetry(app.admin, input)));
      expect(receipts.map(({ requestId, costUsdMicros }) => [requestId, costUsdMicros])).toEqual(
        inputs.map((input) => [input.requestId, input.costUsdMicros]),
      );
      acknowledged.push(...inputs);
    }
    expect(met.map(({ hits }) => hits)).toEqual([1, 1, 1]);
    await proxy.quiet(); // waits for requests that are still on their way to the engine
    const expected = usageOf(acknowledged);
    expect(await shardsSum(tenant)).toEqual(expected);
    expect(await exactSpend(tenant)).toEqual(expected);
    await newWorker(testEndpoint()).spend.sumAll();
    expect(await totalsSum(tenant)).toEqual(expected);
  });

  it('that were written but whose responses were lost return their receipts when they are retried', async () => {
    const tenant = await newTenant(app);
    const inputs = labels.flatMap((modelLabel) => costs(tenant, 10, { modelLabel }));
    proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'error-after' });
    const first = await Promise.all(inputs.map((input) => app.admin.send(op.SubmitCostDocument, { input })));
    for (const { errors } of first)
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    proxy.clear();
    const receipts = await Promise.all(inputs.map((input) => submitWithRetry(app.admin, input)));
    expect(receipts.map(({ costUsdMicros }) => costUsdMicros)).toEqual(
      inputs.map(({ costUsdMicros }) => costUsdMicros),
    );
    expect(receipts.some(({ replayed }) => replayed)).toBe(true);
    await app.gateway.services.costStore.flush();
    expect(await shardsSum(tenant)).toEqual(usageOf(inputs));
  });

  it('that were recorded before return their receipts, and the rest of their group is recorded', async () => {
    const tenant = await newTenant(app);
    const [before, fresh, twice] = [costs(tenant, 20), costs(tenant, 30), cost(tenant)];
    await submit(app.admin, before);
    const other = cost(tenant);
    await submit(app.admin, [other]);
    const changed = { ...other, costUsdMicros: (other.costUsdMicros as number) + 1 };
    // The response of the cancelled transaction is lost too.
    proxy.clear();
    proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'drop-reply', nth: 1 });
    const inputs = [...before.slice(0, 10), ...fresh, changed, ...before.slice(10), twice, twice];
    const { submitCosts } = await app.admin.ask(op.SubmitCostsDocument, { inputs });
    const kinds = submitCosts.map(({ receipt, error }) => error?.code ?? (receipt?.replayed ? 'replayed' : 'recorded'));
    expect(kinds).toEqual([
      ...Array(10).fill('replayed'),
      ...Array(30).fill('recorded'),
      'IDEMPOTENCY_CONFLICT',
      ...Array(10).fill('replayed'),
      'recorded',
      'replayed',
    ]);
    expect(submitCosts.map(({ receipt }) => receipt?.costUsdMicros)).toEqual(
      inputs.map((input) => (input === changed ? undefined : input.costUsdMicros)),
    );
    expect(await shardsSum(tenant)).toEqual(usageOf([...before, ...fresh, other, twice]));
    // Group commit: one transaction per submission would be 53.
    expect(proxy.calls.filter(({ operation }) => operation === 'TransactWriteItems').length).toBeLessThanOrEqual(5);
  });

  it('fail only with their own group', async () => {
    const tenant = await newTenant(app);
    const client = new StoreClient(
      sdkTransport({ ...app.config.store, endpoint: proxy.endpoint }),
      app.config.store.tablePrefix,
    );
    const spend = new CostStore(
      client,
      clock,
      plainCosts({ retention: app.config.retention, homeShard: 0, maxWaiting: 10_000 }),
    );
    const record = (): CostRecord => {
      const usage = { costUsdMicros: 1, inputTokens: 1, outputTokens: 1, requests: 1 };
      const call = { callStatus: 'OK', occurredAtMs: clock.nowMs(), receivedAtMs: clock.nowMs() } as const;
      return {
        requestId: randomUUID(),
        ...idOf(tenant),
        appId: 'chat',
        payloadHash: 'x',
        usage,
        priceSource: 'SUBMITTED',
        ...call,
      };
    };
    const draft = () => ({ id: idOf(tenant), shardCount: tenant.shardCount, record: record(), charges: [] });
    const stalled = proxy.inject({ operation: 'TransactWriteItems', fault: 'no-reply' });
    const first = spend.record(draft()).catch((error: unknown) => error);
    while (stalled.hits === 0) await sleep(5);
    const waiting = Promise.all(Array.from({ length: 10 }, () => spend.record(draft())));
    expect(await first).toBeInstanceOf(StoreUnavailable);
    proxy.clear();
    expect((await waiting).map(({ kind }) => kind)).toEqual(Array(10).fill('recorded'));
    expect(await shardsSum(tenant)).toMatchObject({ requests: 10 });
    client.close();
  });

  it('of one label do not wait for the stalled write of another', async () => {
    const tenant = await newTenant(app);
    const stalled = proxy.inject({
      operation: 'TransactWriteItems',
      table: 'cost_requests',
      fault: 'no-reply',
      nth: 1,
    });
    const slow = submitWithRetry(app.admin, cost(tenant));
    while (stalled.hits === 0) await sleep(5);
    let isDone = false;
    void slow.then(() => {
      isDone = true;
    });
    await submitWithRetry(app.admin, cost(tenant, { modelLabel: 'standard' }));
    expect(isDone).toBe(false);
    await slow;
    expect(await shardsSum(tenant)).toMatchObject({ requests: 2 });
  });
});

describe('aggregation', () => {
  it.each<Fault>(['partial-batch', 'throttle', 'error-before', 'error-after', 'drop-reply', 'stale-read'])(
    'never lets a total shrink under %s, and reaches the sum afterwards',
    async (fault) => {
      const tenant = await newTenant(app);
      const all: op.SubmitCostInput[] = [];
      const worker = newWorker(proxy.endpoint);
      let lastRequests = 0;
      let hits = 0;
      for (let round = 0; round < 3; round++) {
        const more = labels.flatMap((modelLabel) => costs(tenant, 3, { modelLabel }));
        all.push(...more);
        await submit(app.admin, more);
        const met = ['BatchGetItem', 'Query', 'UpdateItem'].map((operation) =>
          proxy.inject({ operation, fault, nth: { first: fault === 'stale-read' ? 1000 : 2 } }),
        );
        await worker.spend.sumAll().catch(() => undefined);
        for (const rule of met) {
          hits += rule.hits;
          rule.remove();
        }
        const { requests, costUsdMicros } = await totalsSum(tenant);
        expect(requests).toBeGreaterThanOrEqual(lastRequests);
        expect(costUsdMicros).toBeLessThanOrEqual(usageOf(all).costUsdMicros);
        lastRequests = requests;
      }
      expect(hits).toBeGreaterThan(2);
      proxy.clear();
      await worker.spend.sumAll();
      expect(await totalsSum(tenant)).toEqual(usageOf(all));
    },
  );
});

describe('while the alerts table is unavailable', () => {
  // A new day, on which no alert is to be raised yet.
  beforeEach(async () => {
    clock.advance(4 * dayMs);
    await newWorker(testEndpoint()).spend.sumAll();
  });

  /** An app whose first label is used up, before any process has found that. */
  async function usedUp(): Promise<Tenant> {
    const quotas = [
      { label: 'premium', dailyUsdMicros: 1000 },
      { label: 'standard', dailyUsdMicros: 1_000_000 },
    ];
    const tenant = await newTenant(app, { modelOrdering: ['premium', 'standard'], quotas });
    const inputs = costs(tenant, 2, { costUsdMicros: 500 });
    await submit(app.admin, inputs);
    const rules = { quotaUsdMicros: 1000, thresholdPct: 95 };
    const counters = countersOf(usageOf(inputs), 12);
    const draft = { counters, startsAtMs: 0, asOfMs: clock.nowMs(), basis: { rules }, isOver: false };
    expect((await new TotalStore(truth, 400).saveTotal(idOf(tenant), draft)).saved).toBe(true);
    return tenant;
  }
  const select = async ({ orgId }: Tenant) =>
    (await app.admin.ask(op.SelectionDocument, { orgId, appId: 'chat' })).org?.app?.modelSelection;

  it.each<Fault>(['throttle', 'no-reply'])(
    'selections succeed, and the alert is raised once afterwards (%s)',
    async (fault) => {
      const tenant = await usedUp();
      const met = proxy.inject({ table: 'alerts', fault });
      expect(await select(tenant)).toMatchObject({ allowed: true, label: 'standard', reason: 'QUOTA_EXCEEDED' });
      await untilWell(2000, async () => expect(met.hits).toBeGreaterThan(0));
      proxy.clear();
      for (let i = 0; i < 2; i++) await newWorker(testEndpoint()).spend.sumAll();
      await select(tenant);
      expect((await alertsOf(tenant)).filter(({ kind }) => kind === 'QUOTA_EXCEEDED')).toHaveLength(1);
    },
  );

  it('a fallback is made, and its alert is raised once afterwards', async () => {
    const tenant = await usedUp();
    proxy.inject({ table: 'alerts', fault: 'throttle' });
    await select(tenant).catch(() => undefined);
    proxy.clear();
    await newWorker(testEndpoint()).spend.sumAll();
    for (let i = 0; i < 2; i++) expect(await select(tenant)).toMatchObject({ label: 'standard' });
    const fallbacks = (await alertsOf(tenant)).filter(({ kind }) => kind === 'FALLBACK_ACTIVATED');
    expect(fallbacks).toMatchObject([{ label: 'premium', activeLabel: 'standard', appId: 'chat' }]);
  });

  it('the worker saves totals, and raises the alert once afterwards', async () => {
    const tenant = await newTenant(app, {
      modelOrdering: ['premium'],
      quotas: [{ label: 'premium', dailyUsdMicros: 1000 }],
    });
    const inputs = costs(tenant, 1, { costUsdMicros: 1500 });
    await submit(app.admin, inputs);
    const worker = newWorker(proxy.endpoint);
    const lost = proxy.inject({
      table: 'alerts',
      operation: 'TransactWriteItems',
      fault: 'error-after',
      nth: { first: 1 },
    });
    const failing = proxy.inject({ table: 'alerts', operation: 'GetItem', fault: 'error-before' });
    await worker.spend.sumAll();
    expect(failing.hits).toBeGreaterThan(0);
    expect(await totalsSum(tenant)).toEqual(usageOf(inputs));
    expect(await alertsOf(tenant)).toEqual([]);
    failing.remove();
    for (let i = 0; i < 2; i++) await worker.spend.sumAll();
    expect(lost.hits).toBe(1);
    expect((await alertsOf(tenant)).map(({ kind }) => kind)).toEqual(['QUOTA_EXCEEDED']);
  });
});

describe('while DynamoDB stalls', () => {
  it('submissions beyond the queue limit are rejected at once, and the queued ones are written once', async () => {
    const tenant = await newTenant(app);
    const inputs = costs(tenant, 2000);
    const small = await app.another({ submissionsWaiting: 1000 });
    const send = (batch: op.SubmitCostInput[]) => small.admin.send(op.SubmitCostsDocument, { inputs: batch });
    const isRejected = ({ data }: Awaited<ReturnType<typeof send>>) =>
      data?.submitCosts.every(
        ({ error }) => error?.code === 'SERVICE_UNAVAILABLE' && /too many writes/.test(error.message),
      ) ?? false;
    const batches = Array.from({ length: 20 }, (_, i) => inputs.slice(i * 100, i * 100 + 100));

    proxy.inject({ operation: 'TransactWriteItems', fault: 'no-reply' });
    let rejected = 0;
    const flood = Promise.all(
      batches.map((batch) => send(batch).then((response) => isRejected(response) && rejected++)),
    );
    await untilWell(20_000, async () => expect(rejected).toBeGreaterThan(0));
    const probes = Array.from({ length: 8 }, () => send(costs(tenant, 100)).then(isRejected));
    expect(
      await Promise.any(probes.map(async (probe) => (await probe) || Promise.reject(new Error('it was not rejected')))),
    ).toBe(true);
    expect(await shardsSum(tenant)).toMatchObject({ requests: 0 });

    proxy.clear();
    await Promise.all([flood, ...probes]);
    await small.gateway.services.costStore.flush();
    const written = await recordedUsage(tenant);
    expect(written.requests).toBeGreaterThan(0);
    expect(await shardsSum(tenant)).toEqual(written);
    const some = [...inputs.slice(0, 100), ...inputs.slice(-100)];
    await Promise.all(some.map((input) => submitWithRetry(app.admin, input)));
    expect(await shardsSum(tenant)).toEqual(await recordedUsage(tenant));
    await small.stop();
  });
});

/** The sum over the request items of an org. Each cost has one, so the shards must have the same sum. */
async function recordedUsage({ orgId }: Tenant): Promise<Usage> {
  const found: Usage[] = [];
  let after: Key | undefined;
  do {
    const page = await truth.scan('cost_requests', after);
    for (const item of page.items) {
      const record = toCostRecord(item);
      if (record.orgId === orgId) found.push(record.usage);
    }
    after = page.next;
  } while (after);
  return sum(found);
}
