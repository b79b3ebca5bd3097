import { randomUUID } from 'node:crypto';
import { buildBackground } from '../../src/app.js';
import type { StoreClient } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { heldKey } from '../../src/spend/held/held.item.js';
import { newOrg, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import type { Fault, FaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { type ProxiedApp, startProxiedApp } from './harness.js';

const clock = new ManualClock({ frozenAtMs: Date.parse('2030-03-04T12:00:00Z') });
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

async function newPlace(): Promise<Place> {
  const quotas = [{ label: 'premium', dailyUsdMicros: 1000, enforcement: 'HARD' as const }];
  const { orgId } = await newOrg(app, { timezone: 'UTC', quotas, modelOrdering: ['premium'] });
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId: 'chat', name: 'chat' } });
  return { orgId, appId: 'chat' };
}

async function held(place: Place) {
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const at = heldKey({ kind: 'quota', id: { ...place, label: 'premium', day } });
  const item = (await truth.get('usage_agg_sharded', at, { consistent: true })) ?? {};
  const slots = Object.entries(item).filter(([name]) => /^r\d+$/.test(name));
  const reserved = slots.reduce((sum, [, amount]) => sum + (amount as number), 0);
  return [item.held ?? 0, reserved, item.cost_usd_micros ?? 0, item.requests ?? 0];
}

const input = (place: Place, costUsdMicros: number): op.AdmitInput => ({
  ...place,
  requestId: randomUUID(),
  estimate: { costUsdMicros },
});

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

const admit = (request: op.AdmitInput): Promise<string> =>
  insist(async () => {
    const { admit: result } = await app.admin.ask(op.AdmitDocument, { input: request });
    if (result.__typename !== 'Admitted') throw new Error(`denied: ${JSON.stringify(result)}`);
    return result.admissionId;
  });

const faults: readonly Fault[] = ['drop-reply', 'error-after', 'error-before', 'throttle', 'conflict', 'refuse'];

describe.each(faults)('with a first write that fails by %s', (fault) => {
  const spoil = (operation = 'TransactWriteItems') => gatewayProxy.inject({ operation, fault, nth: 1 });

  it('an admission, its settle, renewal and cancellation count once', async () => {
    const place = await newPlace();
    spoil();
    const first = await admit(input(place, 400));
    expect(await held(place)).toEqual([400, 400, 0, 0]);
    gatewayProxy.clear();
    spoil();
    await insist(() => app.admin.ask(op.SettleDocument, { input: { admissionId: first, costUsdMicros: 300 } }));
    expect(await held(place)).toEqual([300, 0, 300, 1]);
    const second = await admit(input(place, 500));
    clock.advance(6 * 60_000);
    gatewayProxy.clear();
    spoil();
    await insist(() => app.admin.ask(op.RenewAdmissionDocument, { admissionId: second, ttlSecs: 900 }));
    expect(await held(place)).toEqual([800, 500, 300, 1]);
    gatewayProxy.clear();
    spoil();
    await insist(() => app.admin.ask(op.CancelAdmissionDocument, { admissionId: second, sent: false }));
    expect(await held(place)).toEqual([300, 0, 300, 1]);
  });

  it('a group of reservations beyond the quota admits those that fit once', async () => {
    const place = await newPlace();
    spoil();
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        insist(async () => (await app.admin.ask(op.AdmitDocument, { input: input(place, 90) })).admit.__typename),
      ),
    );
    const won = results.filter((name) => name === 'Admitted').length;
    expect(won).toBe(11);
    expect(await held(place)).toEqual([990, 990, 0, 0]);
  });

  it('a sweep returns a reservation once, and a settle after it is late', async () => {
    const place = await newPlace();
    const admissionId = await admit(input(place, 400));
    await admit(input(place, 300));
    clock.advance(15 * 60_000);
    const { endpoint } = workerProxy;
    const config = { ...app.config, store: { ...app.config.store, endpoint } };
    const worker = buildBackground(config, { clock, log: silentLog });
    try {
      workerProxy.inject({ operation: 'UpdateItem', table: 'usage_agg_sharded', fault, nth: 1 });
      await worker.spend.sumAll();
      workerProxy.clear();
      await worker.spend.sumAll();
    } finally {
      worker.close();
    }
    expect(await held(place)).toEqual([0, 0, 0, 0]);
    await app.admin.ask(op.SettleDocument, { input: { admissionId, costUsdMicros: 350 } });
    expect(await held(place)).toEqual([350, 0, 350, 1]);
  });
});
