import { jest } from '@jest/globals';
import { type Background, buildBackground } from '../../src/app.js';
import type { Item } from '../../src/dynamo/expression.js';
import { silentLog } from '../../src/lib/log.js';
import { requestKey, toCostRecord } from '../../src/spend/cost.item.js';
import { orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { cost, hourMs, newTenant, noonClock, submit, type Tenant } from '../worker/costs.js';

const clock = noonClock();
let app: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ clock });
  worker = buildBackground(app.config, { clock, log: silentLog });
});
afterAll(async () => {
  worker.close();
  await app.stop();
});

const labels = ['premium', 'standard', 'economy'];
const quotasOf = (dailyUsdMicros: number) => ({ quotas: labels.map((label) => ({ label, dailyUsdMicros })) });
const place = ({ orgId }: Tenant) => ({ orgId, appId: 'chat' });
const spend = async (tenant: Tenant, costUsdMicros: number, overrides: Partial<op.SubmitCostInput> = {}) => {
  await submit(app.admin, [cost(tenant, { costUsdMicros, ...overrides })]);
  await worker.spend.sumAll();
};
const select = async (tenant: Tenant) =>
  (await app.admin.ask(op.SelectionDocument, place(tenant))).org?.app?.modelSelection as op.SelectionFragment;
const issuesOf = (
  errors: readonly { extensions: { code: string; issues?: readonly { path: string }[] } }[] | undefined,
) => errors?.map(({ extensions: { code, issues } }) => [code, ...(issues ?? []).map(({ path }) => path)]);

describe('a cost', () => {
  it('is stored with the call status, the times of the call and of its receipt, and the unit prices', async () => {
    const tenant = await newTenant(app);
    const occurredAt = new Date(clock.nowMs() - 3 * hourMs).toISOString();
    const input = cost(tenant, { costUsdMicros: null, callStatus: 'ERROR', occurredAt });
    const beforeMs = clock.nowMs();
    await submit(app.admin, [input]);
    const item = await app.gateway.services.store.get(
      'cost_requests',
      requestKey({ ...place(tenant), requestId: input.requestId }),
    );
    const record = toCostRecord(item as Item);
    expect(record).toMatchObject({
      callStatus: 'ERROR',
      occurredAtMs: Date.parse(occurredAt),
      unitPrices: { input: 3_000_000, output: 15_000_000 },
    });
    expect(record.receivedAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(record.receivedAtMs).toBeLessThanOrEqual(clock.nowMs());
  });

  it.each(['APP', 'ORG'] as const)(
    'belongs to its app: another app can use the same id, under quotaScope %s',
    async (quotaScope) => {
      const tenant = await newTenant(app, { quotaScope }, ['chat', 'second']);
      const input = cost(tenant, { costUsdMicros: 1000 });
      const submitted = async (change: Partial<op.SubmitCostInput>) =>
        (await app.admin.ask(op.SubmitCostDocument, { input: { ...input, ...change } })).submitCost;
      expect(await submitted({ appId: 'second', costUsdMicros: 1 })).toMatchObject({
        replayed: false,
        costUsdMicros: 1,
      });
      expect(await submitted({})).toMatchObject({ replayed: false, costUsdMicros: 1000 });
      expect(await submitted({})).toMatchObject({ replayed: true, costUsdMicros: 1000 });
      const both = [input, { ...input, appId: 'second', costUsdMicros: 1 }];
      const { submitCosts } = await app.admin.ask(op.SubmitCostsDocument, { inputs: both });
      expect(submitCosts.map(({ receipt }) => [receipt?.replayed, receipt?.costUsdMicros])).toEqual([
        [true, 1000],
        [true, 1],
      ]);
      const { org } = await app.admin.ask(op.OrgSpendDocument, { orgId: tenant.orgId, consistency: 'EXACT' });
      expect(org?.spend.costUsdMicros).toBe(1001);
    },
  );
});

describe('recheckAfterSecs', () => {
  it('never exceeds the rest of the day', async () => {
    const tenant = await newTenant(app, { refreshIntervalNormalSecs: 86_400 });
    const { recheckAfterSecs, resetsAt } = await select(tenant);
    const restOfDaySecs = (Date.parse(resetsAt) - clock.nowMs()) / 1000;
    expect(recheckAfterSecs).toBeGreaterThanOrEqual(Math.floor(restOfDaySecs));
    expect(recheckAfterSecs).toBeLessThanOrEqual(Math.ceil(restOfDaySecs) + 5);
  });

  it('is the rest of the day when all quotas are used up', async () => {
    const tenant = await newTenant(app, quotasOf(0));
    const { allowed, recheckAfterSecs, resetsAt } = await select(tenant);
    expect(allowed).toBe(false);
    expect(Math.abs(recheckAfterSecs - (Date.parse(resetsAt) - clock.nowMs()) / 1000)).toBeLessThan(6);
  });
});

describe('overrideModel', () => {
  it('without a label is rejected and clears nothing', async () => {
    const tenant = await newTenant(app);
    await app.admin.ask(op.OverrideModelDocument, { input: { ...place(tenant), label: 'economy' } });
    const { errors } = await app.admin.send(op.OverrideModelDocument, { input: place(tenant) });
    expect(issuesOf(errors)).toEqual([['BAD_USER_INPUT', 'input.label']]);
    expect(await select(tenant)).toMatchObject({ label: 'economy', reason: 'MANUAL_OVERRIDE' });
  });
});

describe('stickyFallback', () => {
  const stickyOf = async (tenant: Tenant) =>
    (await app.admin.ask(op.AppSpendDocument, { ...place(tenant), consistency: 'AGGREGATED' })).org?.app?.spend
      .stickyFallback;
  const setSticky = ({ orgId }: Tenant, stickyFallbackEnabled: boolean) =>
    app.admin.ask(op.UpdateOrgDocument, { input: { orgId, stickyFallbackEnabled } });

  it('is not shown while sticky fallback is off, except for an override', async () => {
    const tenant = await newTenant(app, quotasOf(1000));
    await spend(tenant, 1000);
    expect((await select(tenant)).label).toBe('standard');
    await setSticky(tenant, false);
    expect(await stickyOf(tenant)).toBeNull();
    await setSticky(tenant, true);
    expect(await stickyOf(tenant)).toMatchObject({ activeLabel: 'standard' });
    await setSticky(tenant, false);
    await app.admin.ask(op.OverrideModelDocument, { input: { ...place(tenant), label: 'premium' } });
    expect(await stickyOf(tenant)).toMatchObject({ activeLabel: 'premium', reason: 'MANUAL_OVERRIDE' });
  });
});

describe('a day', () => {
  it.each([
    '0000-01-01',
    '0001-01-01',
    '1969-12-31',
    '9999-12-31',
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '+010000-01-01',
    '',
  ])('%j is rejected', async (day) => {
    const tenant = await newTenant(app);
    const { errors } = await app.admin.send(op.AppSpendDocument, { ...place(tenant), consistency: 'AGGREGATED', day });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('long ago has the right end', async () => {
    const tenant = await newTenant(app, { timezone: 'America/Los_Angeles' });
    const { org } = await app.admin.ask(op.AppSpendDocument, {
      ...place(tenant),
      consistency: 'EXACT',
      day: '1970-01-01',
    });
    expect(org?.app?.spend).toMatchObject({ day: '1970-01-01', costUsdMicros: 0 });
    expect(Date.parse(org?.app?.spend.resetsAt ?? '')).toBe(Date.parse('1970-01-02T08:00:00Z'));
  });
});

describe('settings', () => {
  it('of an app under quotaScope ORG have no threshold, because it would apply to the quota of all apps', async () => {
    const tenant = await newTenant(app, { quotaScope: 'ORG', ...quotasOf(1000) });
    const input = { ...place(tenant), tightModeThresholdPct: 10 };
    expect(
      issuesOf(
        (await app.admin.send(op.RegisterAppDocument, { input: { ...input, appId: 'second', name: 'Second' } })).errors,
      ),
    ).toEqual([['BAD_USER_INPUT', 'input.tightModeThresholdPct']]);
    expect(issuesOf((await app.admin.send(op.UpdateAppDocument, { input })).errors)).toEqual([
      ['BAD_USER_INPUT', 'input.tightModeThresholdPct'],
    ]);
    await spend(tenant, 960);
    await select(tenant);
    const { org } = await app.admin.ask(op.OrgAlertsDocument, { orgId: tenant.orgId });
    expect(org?.alerts.nodes).toMatchObject([{ kind: 'TIGHT_MODE', appId: null, thresholdPct: 95, quotaPct: 96 }]);
  });

  it('with a tight interval above the normal one are rejected, also if a change of the org causes it', async () => {
    const path = [['BAD_USER_INPUT', 'input.refreshIntervalTightSecs']];
    const invalid = { refreshIntervalNormalSecs: 60, refreshIntervalTightSecs: 61 };
    expect(issuesOf((await app.admin.send(op.RegisterOrgDocument, { input: orgInput(invalid) })).errors)).toEqual(path);
    const tenant = await newTenant(app, { refreshIntervalNormalSecs: 60, refreshIntervalTightSecs: 60 });
    expect(
      issuesOf(
        (await app.admin.send(op.UpdateOrgDocument, { input: { orgId: tenant.orgId, refreshIntervalTightSecs: 61 } }))
          .errors,
      ),
    ).toEqual(path);
    const updateApp = (input: Partial<op.UpdateAppInput>) =>
      app.admin.send(op.UpdateAppDocument, { input: { ...place(tenant), ...input } });
    expect(issuesOf((await updateApp({ refreshIntervalNormalSecs: 59 })).errors)).toEqual(path);
    await updateApp({ refreshIntervalNormalSecs: 50, refreshIntervalTightSecs: 40 });
    expect((await updateApp({ refreshIntervalNormalSecs: 60, refreshIntervalTightSecs: null })).errors).toBeUndefined();
    const invalidForApp = { orgId: tenant.orgId, refreshIntervalNormalSecs: 300, refreshIntervalTightSecs: 200 };
    const { errors } = await app.admin.send(op.UpdateOrgDocument, { input: invalidForApp });
    expect(issuesOf(errors)).toEqual(path);
    expect(errors?.[0]?.message).toContain('app chat');
  });

  it.each(['\u202egpj.exe', 'a\u2066b', 'a\u200eb', 'a\u061cb', 'a\u2028b', 'a\u0085b', 'a\nb'])(
    'with the name %j are rejected',
    async (name) => {
      expect(issuesOf((await app.admin.send(op.RegisterOrgDocument, { input: orgInput({ name }) })).errors)).toEqual([
        ['BAD_USER_INPUT', 'input.name'],
      ]);
    },
  );

  it.each(['Ünïcode GmbH', '株式会社', 'חברה', 'a 👩‍👩‍👧 b'])('with the name %j are accepted', async (name) => {
    expect((await app.admin.ask(op.RegisterOrgDocument, { input: orgInput({ name }) })).registerOrg.org.name).toBe(
      name,
    );
  });
});

describe('timezone', () => {
  it('is returned without constructing a DateTimeFormat per field', async () => {
    const tenant = await newTenant(app, { timezone: 'Europe/Lisbon' });
    const aliases = Array.from({ length: 10 }, (_, i) => `t${i}: timezone`).join(' ');
    const query = `query ($orgId: UUID) { org(orgId: $orgId) { ${aliases} } }`;
    await app.admin.ask(query, { orgId: tenant.orgId });
    const dateTimeFormat = jest.spyOn(Intl, 'DateTimeFormat');
    try {
      expect(await app.admin.ask<{ org: { t9: string } }, object>(query, { orgId: tenant.orgId })).toMatchObject({
        org: { t9: 'Europe/Lisbon' },
      });
      expect(dateTimeFormat).not.toHaveBeenCalled();
    } finally {
      dateTimeFormat.mockRestore();
    }
  });
});
