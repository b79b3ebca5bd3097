import { StoreClient } from '../../src/dynamo/client.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { sleep } from '../../src/lib/timers.js';
import type { SpendId } from '../../src/orgs/scope.js';
import { requestKey } from '../../src/spend/cost.item.js';
import { sum, type Usage } from '../../src/spend/money.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type Fault, type FaultProxy, type RuleHandle, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { cost, costs, dateAt, newTenant, shardsOf, submit, type Tenant, totalOf, usageOf } from '../worker/costs.js';
import { untilWell } from './harness.js';
import { ended, type GatewayProcess, killAll, startGatewayProcess, startWorkerProcess } from './processes.js';

const labels = ['premium', 'standard'];
// These processes use the real time, so the org is in a time zone where the day does not end within an hour.
const timezone = new Date().getUTCHours() === 23 ? 'Etc/GMT+6' : 'UTC';
const today = () => dateAt(Date.now() - (timezone === 'UTC' ? 0 : 6 * 3_600_000));

let proxy: FaultProxy;
/** For the setup, not behind the proxy. */
let app: TestApp;
let truth: StoreClient;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp();
  truth = app.gateway.services.store;
});
beforeEach(() => proxy.clear());
afterEach(killAll);
afterAll(async () => {
  killAll();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const newTenantHere = (overrides: Partial<op.RegisterOrgInput> = {}) => newTenant(app, { timezone, ...overrides });
const idOf = ({ orgId }: Tenant, label = 'premium'): SpendId => ({ orgId, appId: 'chat', label, day: today() });
const counted = async (tenant: Tenant): Promise<Usage> =>
  sum((await Promise.all(labels.map((label) => shardsOf(truth, idOf(tenant, label), tenant.shardCount)))).flat());
const newCosts = (tenant: Tenant, count: number) =>
  costs(tenant, count).map((input, i) => ({ ...input, modelLabel: labels[i % labels.length] as string }));

async function hit(rule: RuleHandle): Promise<void> {
  for (const untilMs = performance.now() + patience * 10_000; rule.hits === 0; await sleep(2))
    if (performance.now() > untilMs) throw new Error('no request met the fault');
}

/** Submits each cost in its own request, all at the same time. Returns their outcomes and those with a receipt. */
async function submitEach({ admin }: GatewayProcess, inputs: readonly op.SubmitCostInput[]) {
  const outcomes = await Promise.all(
    inputs.map(async (input) => {
      try {
        const { data, errors } = await admin.send(op.SubmitCostDocument, { input });
        return { input, receipt: data?.submitCost, code: errors?.[0]?.extensions.code };
      } catch {
        return { input, code: 'no response' };
      }
    }),
  );
  return { outcomes, acknowledged: outcomes.filter(({ receipt }) => receipt).map(({ input }) => input) };
}

/** Expects the same sums in the request items and in the shards. */
async function expectConsistent(tenant: Tenant, inputs: readonly op.SubmitCostInput[]): Promise<void> {
  const items = await truth.getMany(
    'cost_requests',
    inputs.map(({ requestId }) => requestKey({ orgId: tenant.orgId, appId: 'chat', requestId })),
    { consistent: true },
  );
  expect(await counted(tenant)).toEqual(usageOf(inputs.filter((_, i) => items[i])));
}

describe('a gateway that is killed', () => {
  const moments: [string, Fault, number][] = [
    ['before its first transaction reaches DynamoDB', 'no-reply', 1],
    ['after its first transaction was committed and before the response', 'no-reply-after', 1],
    ['while its second transaction is on the way', 'slow', 2],
    ['after its third transaction was committed and before the response', 'no-reply-after', 3],
  ];

  it('at any time during a submission loses no acknowledged cost, and counts none twice after a retry', async () => {
    const tenant = await newTenantHere();
    const all: op.SubmitCostInput[] = [];
    let gateway = await startGatewayProcess(app.config, proxy.endpoint);
    for (const [moment, fault, nth] of moments) {
      const inputs = newCosts(tenant, 30);
      const before = usageOf(all);
      // Sent in waves, because on a busy machine all at once would become one transaction.
      const wave = inputs.length / nth;
      const early: op.SubmitCostInput[] = [];
      for (let sent = 0; sent < inputs.length - wave; sent += wave)
        early.push(...(await submitEach(gateway, inputs.slice(sent, sent + wave))).acknowledged);
      const rule = proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault, ms: 200, nth: 1 });
      const submitting = submitEach(gateway, inputs.slice(-wave));
      await hit(rule);
      gateway.child.kill('SIGKILL');
      const acknowledged = [...early, ...(await submitting).acknowledged];
      expect(await ended(gateway.child)).toBe('SIGKILL');
      // Requests that it had sent are still processed after it was killed.
      await proxy.quiet();
      proxy.clear();

      expect(acknowledged.length).toBeLessThan(inputs.length);
      const { requests, costUsdMicros } = await counted(tenant);
      expect(requests - before.requests).toBeGreaterThanOrEqual(acknowledged.length);
      expect(costUsdMicros - before.costUsdMicros).toBeGreaterThanOrEqual(usageOf(acknowledged).costUsdMicros);
      if (fault === 'no-reply-after') expect([moment, requests > before.requests]).toEqual([moment, true]);
      all.push(...inputs);
      await expectConsistent(tenant, all);

      gateway = await startGatewayProcess(app.config, proxy.endpoint);
      const again = await submitEach(gateway, inputs);
      expect(again.acknowledged).toHaveLength(inputs.length);
      for (const { input, receipt } of again.outcomes)
        if (acknowledged.includes(input)) expect(receipt?.replayed).toBe(true);
      expect(await counted(tenant)).toEqual(usageOf(all));
    }
    gateway.child.kill('SIGKILL');
  });
});

describe('a gateway that is stopped with SIGTERM', () => {
  it('under load responds to every accepted request, and has written every acknowledged cost', async () => {
    const tenant = await newTenantHere();
    const gateway = await startGatewayProcess(app.config, proxy.endpoint);
    const sent: op.SubmitCostInput[] = [];
    const acknowledged: op.SubmitCostInput[] = [];
    let stopping = false;
    let refused = 0;
    /** Submits one cost after the other until the gateway accepts no more connections. */
    async function keepSubmitting(): Promise<void> {
      for (;;) {
        const input = cost(tenant);
        sent.push(input);
        try {
          const { data, errors } = await gateway.admin.send(op.SubmitCostDocument, { input });
          if (data) acknowledged.push(input);
          else expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        } catch (error) {
          // A refused connection was never accepted. A reset connection would leave the outcome unknown.
          expect([stopping, (error as { cause?: { code?: string } }).cause?.code]).toEqual([true, 'ECONNREFUSED']);
          refused++;
          return;
        }
      }
    }
    const callers = Promise.all(Array.from({ length: 8 }, keepSubmitting));
    await sleep(400);
    // The last requests wait for DynamoDB.
    proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'slow', ms: 150 });
    stopping = true;
    gateway.child.kill('SIGTERM');
    await callers;
    expect(await ended(gateway.child)).toBe(0);
    expect(refused).toBe(8);
    expect(acknowledged.length).toBeGreaterThan(20);
    await proxy.quiet();
    const items = await truth.getMany(
      'cost_requests',
      acknowledged.map(({ requestId }) => requestKey({ orgId: tenant.orgId, appId: 'chat', requestId })),
      { consistent: true },
    );
    expect(items).not.toContain(undefined);
    await expectConsistent(tenant, sent);
  });
});

describe('a worker that is paused during a round', () => {
  it('does not overwrite newer totals of another worker when it continues', async () => {
    // With its own tables, so that the workers have nothing else to write.
    const other = await startTestApp();
    const { store } = other.gateway.services;
    const tenant = await newTenant(other, { timezone });
    const first = costs(tenant, 5);
    await submit(other.admin, first);

    // It is paused while its total is on the way, which arrives after that of the other worker.
    const reading = proxy.inject({
      operation: 'BatchGetItem',
      table: 'usage_agg_sharded',
      fault: 'slow',
      ms: 200,
      nth: 1,
    });
    const paused = await startWorkerProcess(other.config, proxy.endpoint);
    await hit(reading);
    const writing = proxy.inject({ operation: 'UpdateItem', table: 'daily_total', fault: 'slow', ms: 4000, nth: 1 });
    await hit(writing);
    paused.kill('SIGSTOP');

    const truthful = new StoreClient(
      sdkTransport({ ...other.config.store, endpoint: testEndpoint() }),
      other.config.store.tablePrefix,
    );
    const requestCounts: number[] = [];
    let watching = true;
    const watcher = (async () => {
      for (; watching; await sleep(20)) requestCounts.push((await totalOf(truthful, idOf(tenant)))?.requests ?? 0);
    })();
    const running = await startWorkerProcess(other.config, testEndpoint());
    const later = costs(tenant, 5);
    await submit(other.admin, later);
    await untilWell(10_000, async () =>
      expect(await totalOf(store, idOf(tenant))).toEqual(usageOf([...first, ...later])),
    );
    paused.kill('SIGCONT');
    const last = costs(tenant, 5);
    await submit(other.admin, last);
    await sleep(3000);
    const whole = usageOf([...first, ...later, ...last]);
    await untilWell(5000, async () => expect(await totalOf(store, idOf(tenant))).toEqual(whole));
    watching = false;
    await watcher;
    expect(requestCounts).toEqual(requestCounts.toSorted((a, b) => a - b));
    expect(requestCounts.at(-1)).toBe(15);

    for (const worker of [paused, running]) worker.kill('SIGTERM');
    expect(await Promise.all([ended(paused), ended(running)])).toEqual([0, 0]);
    expect(await totalOf(store, idOf(tenant))).toEqual(whole);
    truthful.close();
    await other.stop();
    other.tableAdmin.client.destroy();
  });

  it('is replaced by another worker when it is killed', async () => {
    const other = await startTestApp();
    const tenant = await newTenant(other, { timezone });
    const first = costs(tenant, 3);
    await submit(other.admin, first);
    const rule = proxy.inject({ operation: 'UpdateItem', table: 'daily_total', fault: 'no-reply', nth: 5 });
    const killed = await startWorkerProcess(other.config, proxy.endpoint);
    await hit(rule);
    killed.kill('SIGKILL');
    const successor = await startWorkerProcess(other.config, testEndpoint());
    await untilWell(10_000, async () =>
      expect(await totalOf(other.gateway.services.store, idOf(tenant))).toEqual(usageOf(first)),
    );
    successor.kill('SIGTERM');
    expect(await ended(successor)).toBe(0);
    await other.stop();
    other.tableAdmin.client.destroy();
  });
});
