import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { sdkTransport } from '../../src/dynamo/transport.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import { sliceOf } from '../../src/orgs/scope.js';
import { dirtyKey } from '../../src/spend/ledger/dirty-day.store.js';
import { shardTable } from '../../src/spend/shard.store.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { deniedBy } from '../support/policy.js';
import { until } from '../support/until.js';
import { cost, dateAt, dayMs, newTenant, noonClock, submit, type Tenant } from '../worker/costs.js';

const clock = noonClock();
let gatewayProxy: FaultProxy;
let workerProxy: FaultProxy;
let app: TestApp;
/** Not behind a proxy: reads the real state. */
let truth: StoreClient;
const workers: Background[] = [];

beforeAll(async () => {
  [gatewayProxy, workerProxy] = await Promise.all([startFaultProxy(testEndpoint()), startFaultProxy(testEndpoint())]);
  app = await startTestApp({ endpoint: gatewayProxy.endpoint, clock });
  truth = new StoreClient(
    sdkTransport({ ...app.config.store, endpoint: testEndpoint() }),
    app.config.store.tablePrefix,
  );
});
afterEach(() => {
  const { calls } = workerProxy;
  for (const proxy of [gatewayProxy, workerProxy]) proxy.clear();
  for (const worker of workers.splice(0)) worker.close();
  expect(deniedBy('WorkerPolicy', calls)).toEqual([]);
});
afterAll(async () => {
  await app.stop();
  truth.close();
  app.tableAdmin.client.destroy();
  await Promise.all([gatewayProxy.stop(), workerProxy.stop()]);
});

/** A worker that may claim every slice, because the claims before it have expired. */
function newWorker(): Background {
  clock.advance(2 * 60_000);
  const { endpoint } = workerProxy;
  const worker = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint } },
    { clock, log: silentLog },
  );
  workers.push(worker);
  return worker;
}

interface Corrected {
  readonly tenant: Tenant;
  readonly requestId: string;
  readonly day: string;
}

async function newCost(): Promise<Corrected> {
  const tenant = await newTenant(app);
  const input = cost(tenant, { costUsdMicros: 1000 });
  await submit(app.admin, [input]);
  return { tenant, requestId: input.requestId, day: dateAt(clock.nowMs()) };
}

/** A cost whose day is closed. */
async function newClosedCost(): Promise<Corrected> {
  const recorded = await newCost();
  await newWorker().spend.sumAll();
  clock.advance(4 * dayMs);
  await newWorker().spend.sumAll();
  return recorded;
}

const inputOf = ({ tenant: { orgId }, requestId }: Corrected, deltaUsdMicros: number): op.CorrectCostInput => ({
  orgId,
  appId: 'chat',
  requestId,
  correctionId: randomUUID(),
  deltaUsdMicros,
  reason: 'test',
});

/** Retries until the outcome is known, as a client should. */
async function correct(recorded: Corrected, deltaUsdMicros: number) {
  const input = inputOf(recorded, deltaUsdMicros);
  for (const untilMs = performance.now() + patience * 20_000; ; await sleep(20)) {
    const { data, errors } = await app.admin.send(op.CorrectCostDocument, { input });
    if (data) return data.correctCost;
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    if (performance.now() > untilMs) throw new Error(`no definite response: ${JSON.stringify(errors)}`);
  }
}

const spendOf = async ({ tenant: { orgId }, day }: Corrected, consistency: op.Consistency) =>
  (await app.admin.ask(op.AppSpendDocument, { orgId, appId: 'chat', day, consistency })).org?.app?.spend.costUsdMicros;
const isDirty = async ({ tenant: { orgId }, day }: Corrected) =>
  (await truth.get(shardTable, dirtyKey(orgId, day), { consistent: true })) !== undefined;

describe('corrections', () => {
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
    const recorded = await newCost();
    const rules = [1, 3].map((nth) =>
      gatewayProxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault, ms: 1200, nth }),
    );
    await Promise.all([-1, -20, 300, -500].map((delta) => correct(recorded, delta)));
    expect(rules.some(({ hits }) => hits > 0)).toBe(true);
    gatewayProxy.clear();
    await gatewayProxy.quiet();
    expect(await spendOf(recorded, 'EXACT')).toBe(1000 - 1 - 20 + 300 - 500);
    await newWorker().spend.sumAll();
    expect(await spendOf(recorded, 'AGGREGATED')).toBe(779);
    const { org } = await app.admin.ask(op.CostDocument, {
      orgId: recorded.tenant.orgId,
      appId: 'chat',
      requestId: recorded.requestId,
    });
    expect([org?.cost?.correctedUsdMicros, org?.cost?.corrections.length]).toEqual([779, 4]);
  });
});

describe('the correction of a closed day', () => {
  it('is summed by the next worker if one dies before it has saved the total', async () => {
    const recorded = await newClosedCost();
    await correct(recorded, -100);
    const rule = workerProxy.inject({ operation: 'UpdateItem', table: 'daily_total', fault: 'refuse' });
    await newWorker().spend.sumAll();
    expect(rule.hits).toBeGreaterThan(0);
    rule.remove();
    expect([await isDirty(recorded), await spendOf(recorded, 'EXACT')]).toEqual([true, 900]);
    await newWorker().spend.sumAll();
    expect([await isDirty(recorded), await spendOf(recorded, 'AGGREGATED')]).toEqual([false, 900]);
  });

  it('is summed again if a worker dies before it has removed the mark', async () => {
    const recorded = await newClosedCost();
    await correct(recorded, -100);
    const rule = workerProxy.inject({ operation: 'DeleteItem', table: shardTable, fault: 'refuse' });
    await newWorker().spend.sumAll();
    expect(rule.hits).toBeGreaterThan(0);
    rule.remove();
    expect([await isDirty(recorded), await spendOf(recorded, 'AGGREGATED')]).toEqual([true, 900]);
    await newWorker().spend.sumAll();
    expect([await isDirty(recorded), await spendOf(recorded, 'AGGREGATED')]).toEqual([false, 900]);
  });

  it('is not lost if it is made while a worker sums the correction before it', async () => {
    const recorded = await newClosedCost();
    await correct(recorded, -100);
    const held = workerProxy.inject({ operation: 'DeleteItem', table: shardTable, fault: 'hold', nth: 1 });
    const round = newWorker().spend.sumAll();
    await until('the worker to remove the mark', () => held.hits > 0);
    await correct(recorded, -50);
    held.remove();
    await round;
    expect([await isDirty(recorded), await spendOf(recorded, 'EXACT')]).toEqual([true, 850]);
    expect(await spendOf(recorded, 'AGGREGATED')).toBe(900);
    await newWorker().spend.sumAll();
    expect([await isDirty(recorded), await spendOf(recorded, 'AGGREGATED')]).toEqual([false, 850]);
  });

  it('is summed once by two workers, of which the slower one has an older view', async () => {
    const recorded = await newClosedCost();
    await correct(recorded, -100);
    // A round claims each slice before it saves the totals of the slice.
    const nth = sliceOf(recorded.tenant.orgId) + 2;
    const held = workerProxy.inject({ operation: 'UpdateItem', table: 'daily_total', fault: 'hold', nth });
    const slow = newWorker().spend.sumAll();
    await until('the slower worker to save its total', () => held.hits > 0);
    await correct(recorded, 40);
    await newWorker().spend.sumAll();
    held.remove();
    await slow;
    await newWorker().spend.sumAll();
    expect([await isDirty(recorded), await spendOf(recorded, 'AGGREGATED')]).toEqual([false, 940]);
    expect(await spendOf(recorded, 'EXACT')).toBe(940);
  });
});
