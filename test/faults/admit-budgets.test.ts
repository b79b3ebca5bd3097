// HARD budgets of a week and a month under faults: what is held is exactly the days before, what was settled since, and
// what is reserved.
import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import type { StoreClient } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { newOrg, type TestApp, testEndpoint } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import type { Fault, FaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { type ProxiedApp, startProxiedApp } from './harness.js';

const dayMs = 86_400_000;
const budgetUsdMicros = 1000;
/** A worker that is gone keeps its slices for as long as a claim lasts. */
const claimsAreOverMs = 2 * 60_000;
// A Tuesday.
const clock = new ManualClock({ frozenAtMs: Date.parse('2030-03-05T12:00:00Z') });
let world: ProxiedApp;
let gatewayProxy: FaultProxy;
let workerProxy: FaultProxy;
let app: TestApp;
let truth: StoreClient;

beforeAll(async () => {
  world = await startProxiedApp(clock);
  ({ gatewayProxy, workerProxy, app, truth } = world);
});
afterEach(() => expect(world.clear()).toEqual([]));
afterAll(() => world.stop());

interface Place {
  readonly orgId: string;
  readonly appId: string;
}

const newWorker = (endpoint = testEndpoint()): Background =>
  buildBackground({ ...app.config, store: { ...app.config.store, endpoint } }, { clock, log: silentLog });

/** One round of a worker of its own. */
async function round(endpoint?: string): Promise<void> {
  const worker = newWorker(endpoint);
  try {
    await worker.spend.sumAll();
  } finally {
    worker.close();
  }
}

/** Sends an operation until it succeeds, as a client does. */
async function insist<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (attempt === 5 || !String(error).includes('SERVICE_UNAVAILABLE')) throw error;
    }
  }
}

async function submit(place: Place, costUsdMicros: number, occurredAtMs = clock.nowMs()): Promise<string> {
  const requestId = randomUUID();
  const usage = { modelLabel: 'premium', inputTokens: 0, outputTokens: 0, costUsdMicros };
  const occurredAt = new Date(occurredAtMs).toISOString();
  await insist(() => app.admin.ask(op.SubmitCostDocument, { input: { ...place, requestId, occurredAt, ...usage } }));
  return requestId;
}

/** On the Wednesday of a later week, with a budget that is HARD since that day and 50 micro-dollars spent before it. */
async function newPlace(period: 'WEEK' | 'MONTH'): Promise<Place> {
  const isTuesday = () => new Date(clock.nowMs()).getUTCDay() === 2;
  // A month that begins on that Wednesday would have no day before it.
  const isLastOfMonth = () => new Date(clock.nowMs() + dayMs).getUTCDate() === 1;
  clock.advance(5 * dayMs - ((clock.nowMs() - Date.parse('2030-03-05T12:00:00Z')) % dayMs));
  while (!isTuesday() || isLastOfMonth()) clock.advance(dayMs);
  const quotas = [{ label: 'premium', dailyUsdMicros: 1_000_000 }];
  const { orgId } = await newOrg(app, { timezone: 'UTC', quotas, modelOrdering: ['premium'] });
  const place = { orgId, appId: 'chat' };
  await app.admin.ask(op.RegisterAppDocument, { input: { ...place, name: 'chat' } });
  await app.admin.ask(op.SetBudgetDocument, {
    input: { orgId, name: 'all', period, usdMicros: budgetUsdMicros, enforcement: 'HARD' },
  });
  await submit(place, 50);
  clock.advance(dayMs);
  await round();
  return place;
}

/** What the item of the budget holds: [held, base, reserved]. */
async function stored({ orgId }: Place): Promise<[number, number, number]> {
  for (let page = await truth.scan('usage_agg_sharded'); ; ) {
    const item = page.items.find(({ PK }) => String(PK).startsWith(`ORG#${orgId}#HELD#`));
    if (item || !page.next) {
      const slots = Object.entries(item ?? {}).filter(([name]) => /^r\d+$/.test(name));
      const reserved = slots.reduce((sum, [, amount]) => sum + (amount as number), 0);
      return [Number(item?.held ?? 0), Number(item?.base ?? 0), reserved];
    }
    page = await truth.scan('usage_agg_sharded', page.next);
  }
}

/** Settled since the budget is HARD, by the counters of the costs themselves. */
const settledOf = async (place: Place): Promise<number | undefined> =>
  (await app.admin.ask(op.AppSpendDocument, { ...place, consistency: 'EXACT' })).org?.app?.spend.costUsdMicros;

async function overruns({ orgId }: Place): Promise<number> {
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const { nodes } = (await app.admin.ask(op.OverrunsDocument, { orgId, from: day, to: day })).overruns;
  return nodes.reduce((sum, { overUsdMicros }) => sum + overUsdMicros, 0);
}

/** The promise: held = days before + settled + reserved, and at most the budget and what is listed as overrun. */
async function expectHeld(place: Place, figures: { base?: number; settled: number; reserved: number }): Promise<void> {
  const { base = 50, settled, reserved } = figures;
  expect(await stored(place)).toEqual([base + settled + reserved, base, reserved]);
  expect(await settledOf(place)).toBe(settled);
  expect(base + settled + reserved).toBeLessThanOrEqual(budgetUsdMicros + (await overruns(place)));
}

const input = (place: Place, costUsdMicros: number): op.AdmitInput => ({
  ...place,
  requestId: randomUUID(),
  estimate: { costUsdMicros },
  ttlSecs: 600,
});

const admit = (request: op.AdmitInput): Promise<string> =>
  insist(async () => {
    const { admit: result } = await app.admin.ask(op.AdmitDocument, { input: request });
    if (result.__typename !== 'Admitted') throw new Error(`denied: ${JSON.stringify(result)}`);
    return result.admissionId;
  });
const settle = (admissionId: string, costUsdMicros: number) =>
  insist(() => app.admin.ask(op.SettleDocument, { input: { admissionId, costUsdMicros } }));

const periods = ['WEEK', 'MONTH'] as const;
const faults: readonly Fault[] = ['drop-reply', 'throttle', 'error-after'];

describe.each(periods)('a hard budget of a %s', (period) => {
  it.each(faults)('counts an admission, its settle, renewal and cancellation once (%s)', async (fault) => {
    const place = await newPlace(period);
    const spoil = () => {
      gatewayProxy.clear();
      return gatewayProxy.inject({ operation: 'TransactWriteItems', fault, nth: 1 });
    };
    const rules = [spoil()];
    const first = await admit(input(place, 400));
    await expectHeld(place, { settled: 0, reserved: 400 });
    rules.push(spoil());
    await settle(first, 300);
    await expectHeld(place, { settled: 300, reserved: 0 });
    const second = await admit(input(place, 500));
    clock.advance(6 * 60_000);
    rules.push(spoil());
    await insist(() => app.admin.ask(op.RenewAdmissionDocument, { admissionId: second, ttlSecs: 900 }));
    await expectHeld(place, { settled: 300, reserved: 500 });
    rules.push(spoil());
    await insist(() => app.admin.ask(op.CancelAdmissionDocument, { admissionId: second, sent: false }));
    await expectHeld(place, { settled: 300, reserved: 0 });
    expect(rules.map(({ hits }) => hits)).toEqual([1, 1, 1, 1]);
  });

  it.each(faults)('admits of a group those that fit, once (%s)', async (fault) => {
    const place = await newPlace(period);
    gatewayProxy.inject({ operation: 'TransactWriteItems', fault, nth: 1 });
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        insist(async () => (await app.admin.ask(op.AdmitDocument, { input: input(place, 90) })).admit.__typename),
      ),
    );
    expect(results.filter((name) => name === 'Admitted')).toHaveLength(10);
    await expectHeld(place, { settled: 0, reserved: 900 });
  });

  it.each(faults)(
    'gets a reservation back once by a sweep, and a settle after it is an overrun (%s)',
    async (fault) => {
      const place = await newPlace(period);
      const late = await admit(input(place, 500));
      await admit(input(place, 300));
      clock.advance(20 * 60_000);
      const rule = workerProxy.inject({ operation: 'UpdateItem', table: 'usage_agg_sharded', fault, nth: 1 });
      await round(workerProxy.endpoint);
      workerProxy.clear();
      await round(workerProxy.endpoint);
      expect(rule.hits).toBe(1);
      await expectHeld(place, { settled: 0, reserved: 0 });
      await admit(input(place, 900));
      await settle(late, 450);
      await expectHeld(place, { settled: 450, reserved: 900 });
      // All of it is listed, because no reservation covered it.
      expect(await overruns(place)).toBe(450);
    },
  );

  it.each(faults)('adds a late cost of a day before it once, by two workers at once (%s)', async (fault) => {
    const place = await newPlace(period);
    const admissionId = await admit(input(place, 400));
    await submit(place, 30, clock.nowMs() - dayMs + 60_000);
    clock.advance(claimsAreOverMs);
    const rule = workerProxy.inject({ operation: 'UpdateItem', table: 'usage_agg_sharded', fault, nth: 1 });
    await Promise.all([round(workerProxy.endpoint), round(workerProxy.endpoint), settle(admissionId, 100)]);
    workerProxy.clear();
    clock.advance(claimsAreOverMs);
    await Promise.all([round(workerProxy.endpoint), round(workerProxy.endpoint)]);
    expect(rule.hits).toBe(1);
    await expectHeld(place, { base: 80, settled: 100, reserved: 0 });
  });

  it('stays exact if a worker is killed while it adds a late cost, and its write arrives later', async () => {
    const place = await newPlace(period);
    const admissionId = await admit(input(place, 400));
    await submit(place, 30, clock.nowMs() - dayMs + 3_600_000);
    clock.advance(claimsAreOverMs);
    const rule = workerProxy.inject({ operation: 'UpdateItem', table: 'usage_agg_sharded', fault: 'hold', nth: 1 });
    const killed = newWorker(workerProxy.endpoint);
    const dying = killed.spend.sumAll().catch(() => undefined);
    await until('the write of the worker is on its way', () => rule.hits > 0);
    killed.close();
    // Another worker takes over, and finds a second late cost too.
    await submit(place, 20, clock.nowMs() - dayMs + 3_600_000);
    clock.advance(claimsAreOverMs);
    await round();
    await expectHeld(place, { base: 100, settled: 0, reserved: 400 });
    rule.remove();
    await workerProxy.quiet();
    await dying;
    await settle(admissionId, 100);
    await expectHeld(place, { base: 100, settled: 100, reserved: 0 });
    await round();
    await expectHeld(place, { base: 100, settled: 100, reserved: 0 });
  });

  it('returns a reservation once if a worker is killed while it sweeps, and its write arrives later', async () => {
    const place = await newPlace(period);
    await admit(input(place, 400));
    clock.advance(20 * 60_000);
    const rule = workerProxy.inject({ operation: 'UpdateItem', table: 'usage_agg_sharded', fault: 'hold', nth: 1 });
    const killed = newWorker(workerProxy.endpoint);
    const dying = killed.spend.sumAll().catch(() => undefined);
    await until('the sweep of the worker is on its way', () => rule.hits > 0);
    killed.close();
    clock.advance(claimsAreOverMs);
    await round();
    await expectHeld(place, { settled: 0, reserved: 0 });
    await admit(input(place, 950));
    rule.remove();
    await workerProxy.quiet();
    await dying;
    await expectHeld(place, { settled: 0, reserved: 950 });
  });
});
