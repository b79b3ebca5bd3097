import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { type Key, StoreClient } from '../../src/dynamo/client.js';
import { StoreUnavailable } from '../../src/dynamo/faults.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import type { SpendId } from '../../src/orgs/scope.js';
import type { CostRecord } from '../../src/spend/cost.item.js';
import { CostStore } from '../../src/spend/cost.store.js';
import { sum, type Usage } from '../../src/spend/money.js';
import { TotalStore } from '../../src/spend/total.store.js';
import { type Caller, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
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
/** Past the proxy: what is really there. */
let truth: StoreClient;
const workers: Background[] = [];

function newWorker(endpoint: string): Background {
  clock.advance(2 * 60_000); // past the lease of any other
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

/** Sends the same request until its outcome is known, as a careful client does. */
async function insist(caller: Caller, input: op.SubmitCostInput) {
  for (const untilMs = performance.now() + patience * 20_000; ; await sleep(20)) {
    const { data, errors } = await caller.send(op.SubmitCostDocument, { input });
    if (data) return data.submitCost;
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    if (performance.now() > untilMs) throw new Error(`no definite answer: ${JSON.stringify(errors)}`);
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
  ])('that meet %s and are sent again until they have an answer count once each, exactly', async (fault) => {
    const tenant = await newTenant(app);
    const acknowledged: op.SubmitCostInput[] = [];
    const met = [1, 2, 3].map((nth) =>
      proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault, ms: 1200, nth }),
    );
    for (let round = 0; round < 2; round++) {
      const inputs = labels.flatMap((modelLabel) => costs(tenant, 10, { modelLabel }));
      const receipts = await Promise.all(inputs.map((input) => insist(app.admin, input)));
      expect(receipts.map(({ requestId, costUsdMicros }) => [requestId, costUsdMicros])).toEqual(
        inputs.map((input) => [input.requestId, input.costUsdMicros]),
      );
      acknowledged.push(...inputs);
    }
    expect(met.map(({ hits }) => hits)).toEqual([1, 1, 1]);
    await proxy.quiet(); // what is still on its way to the engine gets there
    const expected = usageOf(acknowledged);
    expect(await shardsSum(tenant)).toEqual(expected);
    expect(await exactSpend(tenant)).toEqual(expected);
    await newWorker(testEndpoint()).spend.sumAll();
    expect(await totalsSum(tenant)).toEqual(expected);
  });

  it('that the gateway gave up on, but the store had done, are found to be done when they are sent again', async () => {
    const tenant = await newTenant(app);
    const inputs = labels.flatMap((modelLabel) => costs(tenant, 10, { modelLabel }));
    proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'error-after' });
    const first = await Promise.all(inputs.map((input) => app.admin.send(op.SubmitCostDocument, { input })));
    for (const { errors } of first)
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    proxy.clear();
    const receipts = await Promise.all(inputs.map((input) => insist(app.admin, input)));
    expect(receipts.map(({ costUsdMicros }) => costUsdMicros)).toEqual(
      inputs.map(({ costUsdMicros }) => costUsdMicros),
    );
    expect(receipts.some(({ replayed }) => replayed)).toBe(true);
    await app.gateway.services.costStore.flush();
    expect(await shardsSum(tenant)).toEqual(usageOf(inputs));
  });

  it('that were recorded before get their receipts, and the rest of their group goes through', async () => {
    const tenant = await newTenant(app);
    const [before, fresh, twice] = [costs(tenant, 20), costs(tenant, 30), cost(tenant)];
    await submit(app.admin, before);
    const other = cost(tenant);
    await submit(app.admin, [other]);
    const changed = { ...other, costUsdMicros: (other.costUsdMicros as number) + 1 };
    // The cancelled transaction's reply is lost as well.
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
    // One by one they would be 53: they went together.
    expect(proxy.calls.filter(({ operation }) => operation === 'TransactWriteItems').length).toBeLessThanOrEqual(5);
  });

  it('fail with their own group and no other', async () => {
    const tenant = await newTenant(app);
    const client = new StoreClient(
      sdkTransport({ ...app.config.store, endpoint: proxy.endpoint }),
      app.config.store.tablePrefix,
    );
    const spend = new CostStore(client, clock, { retention: app.config.retention, homeShard: 0, maxWaiting: 10_000 });
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
    const stalled = proxy.inject({ operation: 'TransactWriteItems', fault: 'no-reply' });
    const first = spend.record(idOf(tenant), tenant.shardCount, record()).catch((error: unknown) => error);
    while (stalled.hits === 0) await sleep(5);
    const waiting = Promise.all(
      Array.from({ length: 10 }, () => spend.record(idOf(tenant), tenant.shardCount, record())),
    );
    expect(await first).toBeInstanceOf(StoreUnavailable);
    proxy.clear();
    expect((await waiting).map(({ kind }) => kind)).toEqual(Array(10).fill('recorded'));
    expect(await shardsSum(tenant)).toMatchObject({ requests: 10 });
    client.close();
  });

  it('to one label do not wait for another whose write got stuck', async () => {
    const tenant = await newTenant(app);
    const stuck = proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'no-reply', nth: 1 });
    const slow = insist(app.admin, cost(tenant));
    while (stuck.hits === 0) await sleep(5);
    let isDone = false;
    void slow.then(() => {
      isDone = true;
    });
    await insist(app.admin, cost(tenant, { modelLabel: 'standard' }));
    expect(isDone).toBe(false);
    await slow;
    expect(await shardsSum(tenant)).toMatchObject({ requests: 2 });
  });
});

describe('aggregation', () => {
  it.each<Fault>(['partial-batch', 'throttle', 'error-before', 'error-after', 'drop-reply', 'stale-read'])(
    'under %s never lets a total fall, and reaches the sum when it is over',
    async (fault) => {
      const tenant = await newTenant(app);
      const all: op.SubmitCostInput[] = [];
      const worker = newWorker(proxy.endpoint);
      let seen = 0;
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
        expect(requests).toBeGreaterThanOrEqual(seen);
        expect(costUsdMicros).toBeLessThanOrEqual(usageOf(all).costUsdMicros);
        seen = requests;
      }
      expect(hits).toBeGreaterThan(2);
      proxy.clear();
      await worker.spend.sumAll();
      expect(await totalsSum(tenant)).toEqual(usageOf(all));
    },
  );
});

describe('with the alerts out of reach', () => {
  // A day on which nobody has an alert to raise yet.
  beforeEach(async () => {
    clock.advance(4 * dayMs);
    await newWorker(testEndpoint()).spend.sumAll();
  });

  /** An app whose first label is used up, known to nobody yet. */
  async function usedUp(): Promise<Tenant> {
    const quotas = [
      { label: 'premium', dailyUsdMicros: 1000 },
      { label: 'standard', dailyUsdMicros: 1_000_000 },
    ];
    const tenant = await newTenant(app, { modelOrdering: ['premium', 'standard'], quotas });
    const inputs = costs(tenant, 2, { costUsdMicros: 500 });
    await submit(app.admin, inputs);
    const rules = { quotaUsdMicros: 1000, thresholdPct: 95 };
    const draft = { usage: usageOf(inputs), asOfMs: clock.nowMs(), basis: { rules }, isOver: false };
    expect((await new TotalStore(truth, 400).saveTotal(idOf(tenant), draft)).saved).toBe(true);
    return tenant;
  }
  const select = async ({ orgId }: Tenant) =>
    (await app.admin.ask(op.SelectionDocument, { orgId, appId: 'chat' })).org?.app?.modelSelection;

  it.each<Fault>(['throttle', 'no-reply'])(
    '(%s) selection answers all the same, and what is used up is told once, later',
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

  it('the fallback that was made meanwhile is told once, later', async () => {
    const tenant = await usedUp();
    proxy.inject({ table: 'alerts', fault: 'throttle' });
    await select(tenant).catch(() => undefined);
    proxy.clear();
    await newWorker(testEndpoint()).spend.sumAll();
    for (let i = 0; i < 2; i++) expect(await select(tenant)).toMatchObject({ label: 'standard' });
    const fallbacks = (await alertsOf(tenant)).filter(({ kind }) => kind === 'FALLBACK_ACTIVATED');
    expect(fallbacks).toMatchObject([{ label: 'premium', activeLabel: 'standard', appId: 'chat' }]);
  });

  it('the worker saves its totals, and raises once what it could not', async () => {
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
    const refused = proxy.inject({ table: 'alerts', operation: 'GetItem', fault: 'error-before' });
    await worker.spend.sumAll();
    expect(refused.hits).toBeGreaterThan(0);
    expect(await totalsSum(tenant)).toEqual(usageOf(inputs));
    expect(await alertsOf(tenant)).toEqual([]);
    refused.remove();
    for (let i = 0; i < 2; i++) await worker.spend.sumAll();
    expect(lost.hits).toBe(1);
    expect((await alertsOf(tenant)).map(({ kind }) => kind)).toEqual(['QUOTA_EXCEEDED']);
  });
});

describe('with the store stalled', () => {
  it('a flood is turned away at once past what may wait; what was taken on is written when it is over, and nothing twice', async () => {
    const tenant = await newTenant(app);
    const inputs = costs(tenant, 2000);
    const small = await app.another({ submissionsWaiting: 1000 });
    const send = (batch: op.SubmitCostInput[]) => small.admin.send(op.SubmitCostsDocument, { inputs: batch });
    const isTurnedAway = ({ data }: Awaited<ReturnType<typeof send>>) =>
      data?.submitCosts.every(
        ({ error }) => error?.code === 'SERVICE_UNAVAILABLE' && /too many writes/.test(error.message),
      ) ?? false;
    const batches = Array.from({ length: 20 }, (_, i) => inputs.slice(i * 100, i * 100 + 100));

    proxy.inject({ operation: 'TransactWriteItems', fault: 'no-reply' });
    let turnedAway = 0;
    const flood = Promise.all(
      batches.map((batch) => send(batch).then((answer) => isTurnedAway(answer) && turnedAway++)),
    );
    await untilWell(20_000, async () => expect(turnedAway).toBeGreaterThan(0));
    const probes = Array.from({ length: 8 }, () => send(costs(tenant, 100)).then(isTurnedAway));
    expect(
      await Promise.any(
        probes.map(async (probe) => (await probe) || Promise.reject(new Error('it was not turned away'))),
      ),
    ).toBe(true);
    expect(await shardsSum(tenant)).toMatchObject({ requests: 0 });

    proxy.clear();
    await Promise.all([flood, ...probes]);
    await small.gateway.services.costStore.flush();
    const written = await countedOf(tenant);
    expect(written.requests).toBeGreaterThan(0);
    expect(await shardsSum(tenant)).toEqual(written);
    const some = [...inputs.slice(0, 100), ...inputs.slice(-100)];
    await Promise.all(some.map((input) => insist(app.admin, input)));
    expect(await shardsSum(tenant)).toEqual(await countedOf(tenant));
    await small.stop();
  });
});

/** What the request items of an org come to: each is there once, so this is what must have been counted. */
async function countedOf({ orgId }: Tenant): Promise<Usage> {
  const found: Usage[] = [];
  let after: Key | undefined;
  do {
    const page = await truth.scan('cost_requests', after);
    for (const item of page.items) {
      if (item.org_id !== orgId) continue;
      const { cost_usd_micros, input_tokens, output_tokens } = item as Record<string, number>;
      found.push({
        costUsdMicros: cost_usd_micros ?? 0,
        inputTokens: input_tokens ?? 0,
        outputTokens: output_tokens ?? 0,
        requests: 1,
      });
    }
    after = page.next;
  } while (after);
  return sum(found);
}
