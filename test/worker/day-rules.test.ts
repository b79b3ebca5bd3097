import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { countersOf } from '../../src/spend/counters.js';
import { TotalStore } from '../../src/spend/total.store.js';
import { startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { cost, dateAt, dayMs, hourMs, newTenant, noonClock, submit, type Tenant, toHour, usageOf } from './costs.js';

const clock = noonClock();
let app: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ clock });
  worker = buildBackground(app.config, { clock, log: silentLog });
});
beforeEach(() => {
  clock.advance(4 * dayMs);
  toHour(clock, 12);
});
afterAll(async () => {
  worker.close();
  await app.stop();
});

const premiumQuota = (dailyUsdMicros: number) => ({
  modelOrdering: ['premium'],
  quotas: [{ label: 'premium', dailyUsdMicros }],
});
const today = () => dateAt(clock.nowMs());
const yesterday = () => dateAt(clock.nowMs() - dayMs);
const late = () => new Date(clock.nowMs() - 23 * hourMs).toISOString();
const setQuota = ({ orgId }: Tenant, micros: number, more: Partial<op.UpdateOrgInput> = {}) =>
  app.admin.ask(op.UpdateOrgDocument, { input: { orgId, ...premiumQuota(micros), ...more } });
const spend = async (tenant: Tenant, costUsdMicros: number, overrides: Partial<op.SubmitCostInput> = {}) => {
  await submit(app.admin, [cost(tenant, { costUsdMicros, ...overrides })]);
  await worker.spend.sumAll();
};
const alertsOf = async ({ orgId }: Tenant) =>
  (await app.admin.ask(op.OrgAlertsDocument, { orgId, first: 50 })).org?.alerts.nodes ?? [];
const dayOf = async ({ orgId }: Tenant, day: string, consistency: op.Consistency = 'AGGREGATED') =>
  (await app.admin.ask(op.AppSpendDocument, { orgId, appId: 'chat', day, consistency })).org?.app
    ?.spend as op.DayFragment;
const orgDayOf = async ({ orgId }: Tenant, day: string, consistency: op.Consistency = 'AGGREGATED') =>
  (await app.admin.ask(op.OrgSpendDocument, { orgId, day, consistency })).org?.spend as op.DayFragment;

/** Quota, percentage and modes of premium on a day, in every report. */
async function modesOf(tenant: Tenant, day: string) {
  const { org } = await app.admin.ask(op.AppHistoryDocument, {
    orgId: tenant.orgId,
    appId: 'chat',
    from: day,
    to: day,
  });
  const days = [
    await dayOf(tenant, day),
    await dayOf(tenant, day, 'EXACT'),
    org?.app?.spendHistory[0] as op.DayFragment,
  ];
  const ofApp = days.map(({ labels: [premium], mode }) => [
    premium?.quotaUsdMicros,
    premium?.quotaPct,
    premium?.mode,
    mode,
  ]);
  const rollups = [await orgDayOf(tenant, day), await orgDayOf(tenant, day, 'EXACT')].map(({ mode }) => mode);
  return { ofApp, rollups };
}

describe('a past day', () => {
  it('has the quota and the mode it ended with, whatever is set later', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    await spend(tenant, 960);
    const before = { ofApp: Array(3).fill([1000, 96, 'TIGHT', 'TIGHT']), rollups: ['TIGHT', 'TIGHT'] };
    expect(await modesOf(tenant, today())).toEqual(before);
    clock.advance(dayMs);
    for (const [micros, thresholdPct] of [
      [100, 95],
      [1_000_000, 95],
      [1000, 99],
    ] as const) {
      await setQuota(tenant, micros, { tightModeThresholdPct: thresholdPct });
      await worker.spend.sumAll();
      expect(await modesOf(tenant, yesterday())).toEqual(before);
    }
  });

  it('raises no alert when a quota is lowered below its spend', async () => {
    const tenant = await newTenant(app, premiumQuota(1_000_000));
    await spend(tenant, 960);
    clock.advance(dayMs);
    await setQuota(tenant, 100);
    await worker.spend.sumAll();
    await worker.spend.sumNear();
    expect(await alertsOf(tenant)).toEqual([]);
  });

  it('raises an alert for a late cost, with the quota of that day', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    await spend(tenant, 900);
    clock.advance(dayMs);
    await setQuota(tenant, 1_000_000, { tightModeThresholdPct: 50 });
    await spend(tenant, 60, { occurredAt: late() });
    expect(await alertsOf(tenant)).toMatchObject([
      {
        kind: 'TIGHT_MODE',
        day: yesterday(),
        costUsdMicros: 960,
        quotaUsdMicros: 1000,
        quotaPct: 96,
        thresholdPct: 95,
      },
    ]);
    await spend(tenant, 40, { occurredAt: late() });
    expect((await alertsOf(tenant))[0]).toMatchObject({
      kind: 'QUOTA_EXCEEDED',
      day: yesterday(),
      costUsdMicros: 1000,
      quotaUsdMicros: 1000,
    });
    expect(await modesOf(tenant, yesterday())).toEqual({
      ofApp: Array(3).fill([1000, 100, 'EXCEEDED', 'EXCEEDED']),
      rollups: ['EXCEEDED', 'EXCEEDED'],
    });
  });

  it('raises the alert of its last minutes after a worker crashed between the total and the alert', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    const inputs = [cost(tenant, { costUsdMicros: 1000 })];
    await submit(app.admin, inputs);
    const basis = { rules: { quotaUsdMicros: 1000, thresholdPct: 95 } };
    const id = { orgId: tenant.orgId, appId: 'chat', label: 'premium', day: today() };
    const totals = new TotalStore(app.gateway.services.store, 400);
    const counters = countersOf(usageOf(inputs), 12);
    await totals.saveTotal(id, { counters, startsAtMs: 0, asOfMs: clock.nowMs(), basis, isOver: false });
    clock.advance(dayMs);
    await setQuota(tenant, 1_000_000);
    await worker.spend.sumAll();
    expect(await alertsOf(tenant)).toMatchObject([{ kind: 'QUOTA_EXCEEDED', day: yesterday(), quotaUsdMicros: 1000 }]);
  });

  it('still has no quota for a label that had none', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    await spend(tenant, 500, { modelLabel: 'economy' });
    clock.advance(dayMs);
    const quotas = ['premium', 'economy'].map((label) => ({ label, dailyUsdMicros: 100 }));
    await app.admin.ask(op.UpdateOrgDocument, {
      input: { orgId: tenant.orgId, modelOrdering: ['premium', 'economy'], quotas },
    });
    await spend(tenant, 5, { modelLabel: 'economy', occurredAt: late() });
    const economy = (await dayOf(tenant, yesterday())).labels.find(({ label }) => label === 'economy');
    expect(economy).toMatchObject({ costUsdMicros: 505, quotaUsdMicros: null, quotaPct: null, mode: 'NORMAL' });
    expect(await alertsOf(tenant)).toEqual([]);
  });

  it('without spend has no quota, because it is unknown', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    expect((await dayOf(tenant, yesterday())).labels[0]).toMatchObject({
      costUsdMicros: 0,
      quotaUsdMicros: null,
      quotaPct: null,
      mode: 'NORMAL',
    });
    expect((await dayOf(tenant, today())).labels[0]).toMatchObject({ quotaUsdMicros: 1000, quotaPct: 0 });
  });
});

describe('today', () => {
  it('has the quota in force now, also without new costs since the change', async () => {
    const tenant = await newTenant(app, premiumQuota(1_000_000));
    await spend(tenant, 960);
    await setQuota(tenant, 1000);
    await worker.spend.sumAll();
    expect((await alertsOf(tenant)).map(({ kind }) => kind)).toEqual(['TIGHT_MODE']);
    expect(await modesOf(tenant, today())).toEqual({
      ofApp: Array(3).fill([1000, 96, 'TIGHT', 'TIGHT']),
      rollups: ['TIGHT', 'TIGHT'],
    });
    clock.advance(dayMs);
    await worker.spend.sumAll();
    expect((await dayOf(tenant, yesterday())).labels[0]).toMatchObject({ quotaUsdMicros: 1000, mode: 'TIGHT' });
  });
});

describe('an exact read of an old day', () => {
  it('returns the closed total with its `asOf` when the shards have expired', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    await spend(tenant, 744);
    const day = today();
    for (let i = 0; i < 40; i += 4) {
      clock.advance(4 * dayMs);
      await worker.spend.sumAll();
    }
    await worker.sweep();
    for (const read of [dayOf, orgDayOf]) {
      const [aggregated, exact] = [await read(tenant, day), await read(tenant, day, 'EXACT')];
      expect(exact).toMatchObject({ costUsdMicros: 744, requests: 1 });
      expect(exact).toEqual(aggregated);
      expect(exact.labels[0]?.asOf).not.toBeNull();
    }
    expect((await dayOf(tenant, day, 'EXACT')).labels[0]).toMatchObject({ quotaUsdMicros: 1000, quotaPct: 74.4 });
  });

  it('returns the closed total as soon as the day is closed, and the sum of the shards before', async () => {
    const tenant = await newTenant(app, premiumQuota(1000));
    await spend(tenant, 100);
    const day = today();
    await submit(app.admin, [cost(tenant, { costUsdMicros: 11 })]);
    // No round has summed the second cost, so the day is not closed and the shards are read.
    clock.advance(3 * dayMs);
    expect((await dayOf(tenant, day, 'EXACT')).costUsdMicros).toBe(111);
    expect((await dayOf(tenant, day)).costUsdMicros).toBe(100);
    await worker.spend.sumAll();
    expect(await dayOf(tenant, day, 'EXACT')).toEqual(await dayOf(tenant, day));
    expect((await dayOf(tenant, day)).costUsdMicros).toBe(111);
  });
});
