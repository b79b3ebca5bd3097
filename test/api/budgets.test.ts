import { randomUUID } from 'node:crypto';
import { maxBudgetsPerOrg } from '../../src/spend/budgets/budget.service.js';
import { newApp, newOrg } from '../support/app.js';
import * as op from '../support/operations.js';
import {
  addApp,
  app,
  cost,
  dayMs,
  hourMs,
  moveTo,
  newPlace,
  other,
  type Place,
  startStage,
  stopStage,
  submit,
  worker,
} from '../support/spend-stage.js';
import { until } from '../support/until.js';

beforeAll(startStage);
afterAll(stopStage);

const ofMonth = (orgId: string, over: Partial<op.SetBudgetInput> = {}): op.SetBudgetInput => ({
  orgId,
  name: 'monthly',
  period: 'MONTH',
  usdMicros: 10_000,
  ...over,
});
const set = async (input: op.SetBudgetInput) => (await app.admin.ask(op.SetBudgetDocument, { input })).setBudget;
const issuesOf = async (input: op.SetBudgetInput) =>
  (await app.admin.send(op.SetBudgetDocument, { input })).errors?.[0]?.extensions.issues?.map(({ path }) => path);
const codeOf = (input: op.SetBudgetInput) => app.admin.codeOf(op.SetBudgetDocument, { input });
const budgetsOf = async (orgId: string, on = app): Promise<readonly op.BudgetFragment[]> =>
  (await on.admin.ask(op.BudgetsDocument, { orgId })).org?.budgets ?? [];
const budgetOf = async (orgId: string, name = 'monthly') =>
  (await budgetsOf(orgId)).find((budget) => budget.name === name) as op.BudgetFragment;
const alertsOf = async (orgId: string) =>
  ((await app.admin.ask(op.BudgetAlertsDocument, { orgId })).org?.alerts.nodes ?? [])
    .filter(({ budget }) => budget !== null)
    .map(({ budget, kind, thresholdPct }) => `${budget} ${kind} ${thresholdPct}`)
    .reverse();
const select = async (place: Place, on = app): Promise<op.SelectionFragment> =>
  (await on.admin.ask(op.SelectionDocument, place)).org?.app?.modelSelection as op.SelectionFragment;

/** Submits a cost and runs a round of the worker. */
async function spend(place: Place, costUsdMicros: number, modelLabel = 'premium'): Promise<void> {
  await submit(cost(place, { costUsdMicros, modelLabel }));
  await worker.spend.sumAll();
}

describe('setBudget', () => {
  it('creates a budget with its defaults and the spend of the period so far', async () => {
    const place = await newPlace();
    await spend(place, 2500);
    const budget = await set(ofMonth(place.orgId));
    expect(budget).toMatchObject({
      name: 'monthly',
      appId: null,
      label: null,
      dimension: null,
      period: 'MONTH',
      usdMicros: 10_000,
      thresholdsPct: [50, 80, 95],
      enforcement: 'ALERT',
      raise: null,
      version: 1,
      inForceUsdMicros: 10_000,
      periodStart: '2030-03-01',
      periodEnd: '2030-03-31',
      resetsAt: '2030-04-01T00:00:00.000Z',
      spentUsdMicros: 2500,
      remainingUsdMicros: 7500,
      pct: 25,
    });
    expect(budget.createdAt).toBe(budget.updatedAt);
    expect(Date.parse(budget.asOf ?? '')).toBeLessThanOrEqual(app.clock.nowMs());
    expect(await budgetsOf(place.orgId)).toEqual([budget]);
    const query = 'query ($orgId: UUID, $name: String!) { org(orgId: $orgId) { budget(name: $name) { version } } }';
    const named = async (name: string) =>
      (await app.admin.ask<{ org: { budget: unknown } }, object>(query, { orgId: place.orgId, name })).org.budget;
    expect([await named('monthly'), await named('weekly'), await named('No name!')]).toEqual([
      { version: 1 },
      null,
      null,
    ]);
  });

  it('replaces all settings, makes a new version only if something differs, and is audited', async () => {
    const { orgId } = await newPlace();
    const first = await set(ofMonth(orgId, { thresholdsPct: [10], enforcement: 'HARD' }));
    expect(await set(ofMonth(orgId, { thresholdsPct: [10], enforcement: 'HARD' }))).toEqual(first);
    app.clock.advance(1000);
    const second = await set(ofMonth(orgId, { usdMicros: 20_000, label: 'premium' }));
    expect(second).toMatchObject({ version: 2, thresholdsPct: [50, 80, 95], enforcement: 'ALERT', label: 'premium' });
    expect([second.createdAt, second.updatedAt > first.updatedAt]).toEqual([first.createdAt, true]);
    expect(await app.admin.ask(op.DeleteBudgetDocument, { orgId, name: 'monthly' })).toEqual({ deleteBudget: true });
    expect(await app.admin.ask(op.DeleteBudgetDocument, { orgId, name: 'monthly' })).toEqual({ deleteBudget: false });
    expect(await budgetsOf(orgId)).toEqual([]);
    const { org } = await app.admin.ask<
      { org: { auditEvents: { nodes: { action: string; entityId: string; details: { name: string }[] }[] } } },
      object
    >('query ($orgId: UUID) { org(orgId: $orgId) { auditEvents { nodes { action entityId details { name } } } } }', {
      orgId,
    });
    const events = org.auditEvents.nodes.filter(({ entityId }) => entityId === '$BUDGET:monthly');
    expect(events.map(({ action }) => action)).toEqual(['budget_deleted', 'budget_set', 'budget_set']);
    expect(events[1]?.details.map(({ name }) => name)).toEqual(['enforcement', 'label', 'thresholdsPct', 'usdMicros']);
  });

  it('with an expected version changes only that version, and 0 means that there must be none', async () => {
    const { orgId } = await newPlace();
    const conflict = async (input: op.SetBudgetInput) =>
      (await app.admin.send(op.SetBudgetDocument, { input })).errors?.[0]?.extensions;
    expect(await conflict(ofMonth(orgId, { expectedVersion: 1 }))).toMatchObject({
      code: 'VERSION_CONFLICT',
      currentVersion: 0,
    });
    expect((await set(ofMonth(orgId, { expectedVersion: 0 }))).version).toBe(1);
    expect(await conflict(ofMonth(orgId, { expectedVersion: 0, usdMicros: 1 }))).toMatchObject({ currentVersion: 1 });
    expect((await set(ofMonth(orgId, { expectedVersion: 1, usdMicros: 1 }))).version).toBe(2);
    const stale = { orgId, name: 'monthly', expectedVersion: 1 };
    expect(await app.admin.codeOf(op.DeleteBudgetDocument, stale)).toBe('VERSION_CONFLICT');
    expect(await app.admin.ask(op.DeleteBudgetDocument, { ...stale, expectedVersion: 2 })).toEqual({
      deleteBudget: true,
    });
    expect((await set(ofMonth(orgId, { expectedVersion: 0 }))).version).toBe(1);
    expect(await issuesOf(ofMonth(orgId, { expectedVersion: -1 }))).toEqual(['input.expectedVersion']);
  });

  it('refuses a scope that cannot be summed, and says what to do', async () => {
    const place = await newPlace({ timezone: 'UTC', quotaScope: 'ORG' });
    const { orgId } = place;
    expect(await issuesOf(ofMonth(orgId, { period: 'DAY', label: 'premium' }))).toEqual(['input.period']);
    expect(await issuesOf(ofMonth(orgId, { label: 'gold' }))).toEqual(['input.label']);
    expect(await issuesOf(ofMonth(orgId, { appId: 'chat' }))).toEqual(['input.appId']);
    expect(await issuesOf(ofMonth(orgId, { dimension: { name: 'user', value: 'u' } }))).toEqual([
      'input.dimension.name',
    ]);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, attributeApps: true } });
    expect(await codeOf(ofMonth(orgId, { appId: 'nobody' }))).toBe('NOT_FOUND');
    expect(await codeOf(ofMonth(orgId, { appId: 'No App!' }))).toBe('NOT_FOUND');
    await addApp(orgId, 'batch');
    await set(ofMonth(orgId, { name: 'all' }));
    await set(ofMonth(orgId, { name: 'chat', appId: 'chat' }));
    await submit(cost(place, { costUsdMicros: 30 }));
    await submit(cost({ orgId, appId: 'batch' }, { costUsdMicros: 12 }));
    await worker.spend.sumAll();
    expect((await budgetsOf(orgId)).map(({ name, spentUsdMicros }) => [name, spentUsdMicros])).toEqual([
      ['all', 42],
      ['chat', 30],
    ]);
  });

  it(`refuses more than ${maxBudgetsPerOrg} budgets, also if they are set at the same time`, async () => {
    const { orgId } = await newPlace();
    const names = Array.from({ length: maxBudgetsPerOrg - 1 }, (_, i) => `b-${i}`);
    for (const name of names) await set(ofMonth(orgId, { name }));
    const last = await Promise.all(
      ['x', 'y', 'z'].map((name) => app.admin.send(op.SetBudgetDocument, { input: ofMonth(orgId, { name }) })),
    );
    expect(last.map(({ errors }) => errors?.[0]?.extensions.code ?? 'ok').sort()).toEqual([
      'BAD_USER_INPUT',
      'BAD_USER_INPUT',
      'ok',
    ]);
    expect(await budgetsOf(orgId)).toHaveLength(maxBudgetsPerOrg);
    expect((await set(ofMonth(orgId, { name: 'b-0', usdMicros: 7 }))).version).toBe(2);
  });

  it('is not for apps, and does not reach another org', async () => {
    const [own, foreign] = [await newOrg(app), await newOrg(app)];
    const client = await newApp(app, own);
    await set(ofMonth(foreign.orgId));
    expect(await client.caller.codeOf(op.BudgetsDocument, {})).toBe('FORBIDDEN');
    expect(await own.caller.codeOf(op.SetBudgetDocument, { input: ofMonth(foreign.orgId) })).toBe('NOT_FOUND');
    expect(await own.caller.codeOf(op.DeleteBudgetDocument, { orgId: foreign.orgId, name: 'monthly' })).toBe(
      'NOT_FOUND',
    );
    expect((await own.caller.ask(op.BudgetsDocument, {})).org?.budgets).toEqual([]);
  });
});

describe('a budget', () => {
  it('counts its app and its label alone, and all of them without', async () => {
    const place = await newPlace();
    const { orgId } = place;
    const side = await addApp(orgId, 'side');
    await set(ofMonth(orgId, { name: 'all' }));
    await set(ofMonth(orgId, { name: 'chat', appId: 'chat' }));
    await set(ofMonth(orgId, { name: 'premium', label: 'premium' }));
    await set(ofMonth(orgId, { name: 'side-premium', appId: 'side', label: 'premium' }));
    await set(ofMonth(orgId, { name: 'today', period: 'DAY' }));
    await set(ofMonth(orgId, { name: 'week', period: 'WEEK' }));
    await submit(cost(place, { costUsdMicros: 1 }));
    await submit(cost(place, { costUsdMicros: 10, modelLabel: 'economy' }));
    await submit(cost(side, { costUsdMicros: 100 }));
    await submit(
      cost(side, { costUsdMicros: 1000, occurredAt: new Date(app.clock.nowMs() - 23 * hourMs).toISOString() }),
    );
    await worker.spend.sumAll();
    const spent = Object.fromEntries((await budgetsOf(orgId)).map((each) => [each.name, each.spentUsdMicros]));
    expect(spent).toEqual({ all: 1111, chat: 11, premium: 1101, 'side-premium': 1100, today: 111, week: 1111 - 1000 });
  });

  it('of a dimension value sums its days, also late ones, and alerts', async () => {
    const place = await newPlace();
    const { orgId } = place;
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, dimensions: ['user'] } });
    const dimension = { name: 'user', value: 'u/1' };
    const by = (value: string, costUsdMicros: number, over: Partial<op.SubmitCostInput> = {}) =>
      submit(cost(place, { costUsdMicros, dimensions: [{ name: 'user', value }], ...over }));
    await by('u/1', 100);
    await set(ofMonth(orgId, { name: 'u1-week', period: 'WEEK', usdMicros: 1000, dimension, enforcement: 'ADVISORY' }));
    await set(ofMonth(orgId, { name: 'u1-month', usdMicros: 10_000, dimension }));
    expect((await budgetsOf(orgId)).map(({ spentUsdMicros }) => spentUsdMicros)).toEqual([100, 100]);
    moveTo(new Date(app.clock.nowMs() + 26 * hourMs).toISOString());
    await by('u/1', 20, { modelLabel: 'economy' });
    await by('u/10', 7000);
    await worker.spend.sumAll();
    await by('u/1', 3, { occurredAt: new Date(app.clock.nowMs() - 23 * hourMs).toISOString() });
    await worker.spend.sumAll();
    expect((await budgetsOf(orgId)).map(({ spentUsdMicros }) => spentUsdMicros)).toEqual([123, 123]);
    expect(await alertsOf(orgId)).toEqual([]);
    await by('u/1', 900);
    await worker.spend.sumAll();
    expect(await alertsOf(orgId)).toEqual(['u1-week THRESHOLD 100']);
    expect((await budgetsOf(orgId))[1]?.dimension).toEqual(dimension);
    expect(await select(place)).toMatchObject({ allowed: true, budget: null });
    // Five mutations are allowed in one operation, but not that much work.
    const fields =
      'name version period usdMicros thresholdsPct enforcement createdAt updatedAt inForceUsdMicros periodStart ' +
      'periodEnd resetsAt spentUsdMicros remainingUsdMicros pct asOf label appId';
    const five = Array.from({ length: 5 }, (_, i) => `b${i}: setBudget(input: $input) { ${fields} }`).join(' ');
    const input = ofMonth(orgId, { name: 'u1-month', usdMicros: 10_000, dimension });
    const { errors } = await app.admin.send(`mutation ($input: SetBudgetInput!) { ${five} }`, { input });
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringMatching('complexity')]);
  });

  it('that is set or raised again shows the amount in force until the raise ends', async () => {
    const place = await newPlace();
    const { orgId } = place;
    await spend(place, 12_000);
    const until = new Date(app.clock.nowMs() + hourMs).toISOString();
    await set(ofMonth(orgId));
    expect(await budgetOf(orgId)).toMatchObject({ remainingUsdMicros: 0, pct: 120 });
    expect(await alertsOf(orgId)).toEqual(['monthly THRESHOLD 100']);
    expect(await issuesOf(ofMonth(orgId, { raise: { until, usdMicros: 9999 } }))).toEqual(['input.raise.usdMicros']);
    const raised = await set(ofMonth(orgId, { raise: { until, usdMicros: 30_000 } }));
    expect(raised).toMatchObject({
      usdMicros: 10_000,
      inForceUsdMicros: 30_000,
      remainingUsdMicros: 18_000,
      pct: 40,
      raise: { until, usdMicros: 30_000 },
    });
    expect(await alertsOf(orgId)).toEqual(['monthly THRESHOLD 100', 'monthly RECOVERED 100']);
    await worker.spend.sumAll();
    app.clock.advance(hourMs);
    expect(await budgetOf(orgId)).toMatchObject({ inForceUsdMicros: 10_000, remainingUsdMicros: 0, raise: null });
    // The org has no cost that a round has not summed, but its raise has ended.
    await worker.spend.sumAll();
    expect(await alertsOf(orgId)).toEqual(['monthly THRESHOLD 100', 'monthly RECOVERED 100', 'monthly THRESHOLD 100']);
  });

  it('raises each threshold once per version and period, and again in the next period', async () => {
    moveTo('2030-03-15T12:00:00Z');
    const place = await newPlace();
    const { orgId } = place;
    await set(ofMonth(orgId, { name: 'week', period: 'WEEK', usdMicros: 1000 }));
    await spend(place, 400);
    expect(await alertsOf(orgId)).toEqual([]);
    await spend(place, 100);
    await spend(place, 1);
    await spend(place, 460);
    expect(await alertsOf(orgId)).toEqual(['week THRESHOLD 50', 'week THRESHOLD 95']);
    await set(ofMonth(orgId, { name: 'week', period: 'WEEK', usdMicros: 1900 }));
    expect(await alertsOf(orgId)).toEqual(['week THRESHOLD 50', 'week THRESHOLD 95', 'week THRESHOLD 50']);
    await app.admin.ask(op.DeleteBudgetDocument, { orgId, name: 'week' });
    await set(ofMonth(orgId, { name: 'week', period: 'WEEK', usdMicros: 1900 }));
    expect((await alertsOf(orgId)).slice(3)).toEqual(['week THRESHOLD 50']);
    // A week later, and a late cost of the week before.
    moveTo('2030-03-18T10:00:00Z');
    await submit(cost(place, { costUsdMicros: 2000 }));
    await submit(cost(place, { costUsdMicros: 1000, occurredAt: '2030-03-17T20:00:00Z' }));
    await worker.spend.sumAll();
    const { org } = await app.admin.ask(op.BudgetAlertsDocument, { orgId, first: 2 });
    expect(org?.alerts.nodes.map((alert) => [alert.thresholdPct, alert.periodStart, alert.day]).sort()).toEqual([
      [100, '2030-03-11', '2030-03-17'],
      [100, '2030-03-18', '2030-03-18'],
    ]);
    expect(org?.alerts.nodes.find(({ periodStart }) => periodStart === '2030-03-11')).toMatchObject({
      kind: 'THRESHOLD',
      appId: null,
      label: '',
      costUsdMicros: 1961,
      quotaUsdMicros: 1900,
      periodEnd: '2030-03-17',
      budget: 'week',
    });
  });

  it('counts corrections of closed days in their period, and recovers by a credit', async () => {
    const place = await newPlace();
    const { orgId } = place;
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, dimensions: ['user'] } });
    await set(ofMonth(orgId, { usdMicros: 1000 }));
    const dimension = { name: 'user', value: 'u-1' };
    await set(ofMonth(orgId, { name: 'user', usdMicros: 10_000, dimension }));
    const recorded = cost(place, { costUsdMicros: 1200, dimensions: [dimension] });
    await submit(recorded);
    await worker.spend.sumAll();
    expect(await alertsOf(orgId)).toEqual(['monthly THRESHOLD 100']);
    moveTo(new Date(app.clock.nowMs() + 4 * dayMs).toISOString());
    await worker.spend.sumAll();
    const { requestId } = recorded;
    const correction = { ...place, requestId, correctionId: randomUUID(), reason: 'refund', deltaUsdMicros: -500 };
    await app.admin.ask(op.CorrectCostDocument, { input: correction });
    await worker.spend.sumAll();
    expect((await budgetsOf(orgId)).map(({ name, spentUsdMicros }) => [name, spentUsdMicros])).toEqual([
      ['monthly', 700],
      ['user', 700],
    ]);
    expect(await alertsOf(orgId)).toEqual(['monthly THRESHOLD 100', 'monthly RECOVERED 100']);
  });

  it('has a forecast after three hours of data, and an alert if that exceeds it', async () => {
    moveTo('2030-03-23T00:30:00Z');
    const place = await newPlace();
    const { orgId } = place;
    await set(ofMonth(orgId, { name: 'day', period: 'DAY', usdMicros: 20_000 }));
    const forecast = async () => (await app.admin.ask(op.BudgetForecastsDocument, { orgId })).org?.budgets[0]?.forecast;
    await spend(place, 1000);
    expect(await forecast()).toBeNull();
    for (let hour = 1; hour <= 4; hour++) {
      app.clock.advance(hourMs);
      await spend(place, 1000);
    }
    const found = await forecast();
    expect(found).toMatchObject({ basis: expect.stringMatching('60 minutes') as string });
    expect(found?.projectedUsdMicros).toBeGreaterThan(20_000);
    expect(Date.parse(found?.exhaustsAt ?? '')).toBeGreaterThan(app.clock.nowMs());
    await spend(place, 1);
    expect(await alertsOf(orgId)).toEqual(['day PROJECTED 100']);
  });
});

describe('a selection', () => {
  const quotas = ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 1_000_000 }));
  const small = { timezone: 'UTC', quotas, refreshIntervalNormalSecs: 120 };

  it('skips a label whose budget is used up, names the budget, and returns to the label after a raise', async () => {
    const place = await newPlace(small);
    const { orgId } = place;
    const budget = ofMonth(orgId, { name: 'top', label: 'premium', usdMicros: 1000, enforcement: 'ADVISORY' });
    await set(budget);
    await spend(place, 999);
    expect(await select(place)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA', budget: null });
    await spend(place, 1);
    expect(await select(place)).toMatchObject({
      allowed: true,
      label: 'standard',
      reason: 'BUDGET_EXCEEDED',
      mode: 'NORMAL',
      budget: 'top',
      recheckAfterSecs: 120,
    });
    await set({ ...budget, raise: { until: new Date(app.clock.nowMs() + dayMs).toISOString(), usdMicros: 2000 } });
    expect(await select(place)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA', budget: null });
    await until('the raise is noticed', async () => (await select(place, other)).label === 'premium');
  });

  it('allows nothing if a budget of all labels is used up, except by override', async () => {
    const place = await newPlace(small);
    const side = await addApp(place.orgId, 'side');
    await set(ofMonth(place.orgId, { name: 'chat', appId: 'chat', usdMicros: 500, enforcement: 'HARD' }));
    await set(ofMonth(place.orgId, { name: 'quiet', usdMicros: 1, enforcement: 'ALERT' }));
    await spend(place, 600);
    expect(await select(place)).toMatchObject({
      allowed: false,
      label: null,
      reason: 'BUDGET_EXCEEDED',
      mode: 'EXCEEDED',
      budget: 'chat',
      recheckAfterSecs: 120,
    });
    expect(await select(side)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA' });
    const { overrideModel } = await app.admin.ask(op.OverrideModelDocument, { input: { ...place, label: 'economy' } });
    expect(overrideModel).toMatchObject({ label: 'economy', reason: 'MANUAL_OVERRIDE', budget: null });
    await app.admin.ask(op.OverrideModelDocument, { input: { ...place, label: null } });
    await set(ofMonth(place.orgId, { name: 'all', usdMicros: 100, enforcement: 'ADVISORY' }));
    expect(await select(place)).toMatchObject({ reason: 'BUDGET_EXCEEDED', budget: 'all' });
    expect(await select(side)).toMatchObject({ allowed: false, budget: 'all' });
  });

  it('is free again in the next period', async () => {
    moveTo('2030-03-24T20:00:00Z');
    const place = await newPlace(small);
    await set(ofMonth(place.orgId, { name: 'week', period: 'WEEK', usdMicros: 500, enforcement: 'ADVISORY' }));
    await spend(place, 600);
    expect(await select(place)).toMatchObject({ allowed: false, budget: 'week' });
    moveTo('2030-03-25T00:00:00Z');
    expect(await select(place)).toMatchObject({ allowed: true, label: 'premium', budget: null });
    expect(await budgetOf(place.orgId, 'week')).toMatchObject({
      spentUsdMicros: 0,
      asOf: null,
      periodStart: '2030-03-25',
    });
  });
});
