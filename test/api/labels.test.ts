import { type Background, buildBackground } from '../../src/app.js';
import { type Log, silentLog } from '../../src/lib/log.js';
import type { LiveCatalog } from '../../src/spend/catalog/catalog.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { caughtUp } from '../support/caught-up.js';
import * as op from '../support/operations.js';
import { cost, dateAt, newTenant, noonClock, submit, type Tenant } from '../worker/costs.js';

const clock = noonClock();
const warnings: Record<string, unknown>[] = [];
const log: Log = { ...silentLog, warn: (line: unknown) => void warnings.push(line as Record<string, unknown>) };
const opened: TestApp[] = [];
const workers: Background[] = [];

/** A gateway that has loaded premium, standard and economy. */
let full: TestApp;

beforeAll(async () => {
  full = await startTestApp({ clock, log });
});
beforeEach(() => {
  warnings.length = 0;
});
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.close();
  await Promise.all(opened.splice(0).map((app) => app.stop()));
});
afterAll(() => full.stop());

/** Lets a process have loaded all labels but these, until the catalog changes. */
function forget({ catalog }: { readonly catalog: LiveCatalog }, labels: readonly string[]): void {
  catalog.replace(catalog.listAll().filter(({ label }) => !labels.includes(label)));
}

/** A gateway that has not loaded these labels. */
async function gatewayWithout(...labels: string[]): Promise<TestApp> {
  const app = await full.another();
  opened.push(app);
  forget(app.gateway.services, labels);
  return app;
}

/** Runs a round of a worker that has not loaded these labels, after the claims of other workers have expired. */
async function sumWithout(...labels: string[]): Promise<void> {
  clock.advance(2 * 60_000);
  const worker = buildBackground(full.config, { clock, log: silentLog });
  workers.push(worker);
  await worker.spend.sumAll();
  forget(worker, labels);
  clock.advance(2 * 60_000);
  expect((await worker.spend.sumAll()).failed).toBe(0);
  for (const label of labels) expect(worker.catalog.has(label)).toBe(false);
}

const place = ({ orgId }: Tenant) => ({ orgId, appId: 'chat' });
const select = async (app: TestApp, tenant: Tenant) =>
  (await app.admin.ask(op.SelectionDocument, place(tenant))).org?.app?.modelSelection as op.SelectionFragment;

/**
 * All figures of today that a gateway returns: of the app and of the org, each aggregated, exact and from its history.
 */
async function figures(
  app: TestApp,
  tenant: Tenant,
): Promise<{ costs: number[]; labels: (string | null | undefined)[][] }> {
  const { orgId } = tenant;
  const days: op.DayFragment[] = [];
  for (const consistency of ['AGGREGATED', 'EXACT'] as const) {
    days.push(
      (await app.admin.ask(op.AppSpendDocument, { ...place(tenant), consistency })).org?.app?.spend as op.DayFragment,
    );
    days.push((await app.admin.ask(op.OrgSpendDocument, { orgId, consistency })).org?.spend as op.DayFragment);
  }
  const range = { from: dateAt(clock.nowMs()), to: dateAt(clock.nowMs()) };
  days.push(
    ...((await app.admin.ask(op.AppHistoryDocument, { ...place(tenant), ...range })).org?.app?.spendHistory ?? []),
  );
  days.push(...((await app.admin.ask(op.OrgHistoryDocument, { orgId, ...range })).org?.spendHistory ?? []));
  expect(days).toHaveLength(6);
  return {
    costs: days.map(({ costUsdMicros }) => costUsdMicros),
    labels: days.map(({ labels }) => labels.map(({ label }) => label)),
  };
}

describe('a label that a gateway has not loaded, or not any more', () => {
  async function tenantWithSpend(): Promise<Tenant> {
    const tenant = await newTenant(full);
    const spent = { premium: 10, standard: 500, economy: 20 };
    await submit(
      full.admin,
      Object.entries(spent).map(([modelLabel, costUsdMicros]) => cost(tenant, { modelLabel, costUsdMicros })),
    );
    await sumWithout();
    return tenant;
  }

  it('keeps its figures in every report, whichever worker sums and whichever gateway reports', async () => {
    const tenant = await tenantWithSpend();
    await submit(full.admin, [cost(tenant, { modelLabel: 'standard', costUsdMicros: 7 })]);
    await sumWithout('standard');
    const app = await gatewayWithout('standard');
    expect((await figures(app, tenant)).costs).toEqual([537, 537, 537, 537, 537, 537]);
    const spend = (await app.admin.ask(op.AppSpendDocument, { ...place(tenant), consistency: 'AGGREGATED' })).org?.app
      ?.spend;
    expect(spend?.labels[1]).toMatchObject({
      label: 'standard',
      costUsdMicros: 507,
      bedrockModelId: null,
      quotaUsdMicros: 5_000_000,
    });
  });

  it('stays in the reports when the ordering and the quotas drop it too', async () => {
    const tenant = await tenantWithSpend();
    const quotas = ['premium', 'economy'].map((label) => ({ label, dailyUsdMicros: 1_000_000 }));
    await full.admin.ask(op.UpdateOrgDocument, {
      input: { orgId: tenant.orgId, modelOrdering: ['premium', 'economy'], quotas },
    });
    const app = await gatewayWithout('standard');
    const { costs, labels } = await figures(app, tenant);
    expect(costs).toEqual([530, 530, 530, 530, 530, 530]);
    for (const names of labels) expect(names).toEqual(['premium', 'economy', 'standard']);
  });

  it('is skipped by selections, which list it in `skipped` and recommend only labels with a model', async () => {
    const tenant = await newTenant(full);
    const app = await gatewayWithout('premium');
    const selection = await select(app, tenant);
    expect(selection).toMatchObject({
      allowed: true,
      label: 'standard',
      bedrockModelId: 'anthropic.claude-3-5-haiku-20241022-v1:0',
      reason: 'WITHIN_QUOTA',
      skipped: [{ label: 'premium', reason: 'UNKNOWN_LABEL' }],
    });
    expect(selection.price).not.toBeNull();
    await submit(app.admin, [cost(tenant, { modelLabel: selection.label as string })]);
    expect((await select(full, tenant)).skipped).toEqual([]);
  });

  it('does not move the fallback that gateways share', async () => {
    const quotas = ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 1000 }));
    const tenant = await newTenant(full, { quotas });
    await submit(full.admin, [cost(tenant, { costUsdMicros: 1000 })]);
    await sumWithout();
    const app = await gatewayWithout('standard');
    expect(await select(app, tenant)).toMatchObject({ label: 'economy', reason: 'QUOTA_EXCEEDED' });
    expect(await select(full, tenant)).toMatchObject({ label: 'standard', reason: 'QUOTA_EXCEEDED' });
    expect(await select(app, tenant)).toMatchObject({ label: 'economy', reason: 'STICKY_FALLBACK' });
    expect(await select(full, tenant)).toMatchObject({ label: 'standard', reason: 'STICKY_FALLBACK' });
  });

  it('leaves no recommendation if no label has a model, for the normal interval', async () => {
    const tenant = await newTenant(full);
    const none = await gatewayWithout('premium', 'standard', 'economy');
    expect(await select(none, tenant)).toMatchObject({
      allowed: false,
      label: null,
      bedrockModelId: null,
      price: null,
      reason: 'NO_USABLE_MODEL',
      recheckAfterSecs: 300,
    });
    expect((await select(full, tenant)).label).toBe('premium');
  });

  it('cannot be set by an override, and an existing override to it is ignored', async () => {
    const tenant = await newTenant(full);
    await full.admin.ask(op.OverrideModelDocument, { input: { ...place(tenant), label: 'standard' } });
    const app = await gatewayWithout('standard');
    expect(await select(app, tenant)).toMatchObject({ label: 'economy', skipped: [{ label: 'standard' }] });
    const { errors } = await app.admin.send(op.OverrideModelDocument, {
      input: { ...place(tenant), label: 'standard' },
    });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_MODEL_LABEL', validLabels: ['premium', 'economy'] });
    expect(await select(full, tenant)).toMatchObject({ label: 'standard', reason: 'MANUAL_OVERRIDE' });
  });

  it('still returns the receipt of a retry and the conflict of a changed payload, and rejects a new cost', async () => {
    const tenant = await newTenant(full);
    const input = cost(tenant, { modelLabel: 'standard', costUsdMicros: 7 });
    await submit(full.admin, [input]);
    const app = await gatewayWithout('standard');
    expect((await app.admin.ask(op.SubmitCostDocument, { input })).submitCost).toMatchObject({
      replayed: true,
      costUsdMicros: 7,
      label: 'standard',
    });
    expect(await app.admin.codeOf(op.SubmitCostDocument, { input: { ...input, costUsdMicros: 8 } })).toBe(
      'IDEMPOTENCY_CONFLICT',
    );
    expect(await app.admin.codeOf(op.SubmitCostDocument, { input: cost(tenant, { modelLabel: 'standard' }) })).toBe(
      'INVALID_MODEL_LABEL',
    );
  });

  it('is logged at start with the orgs that use it, and by the first selection that skips it', async () => {
    const tenant = await newTenant(full);
    const app = await gatewayWithout('economy');
    const warningAboutOrgs = () => warnings.find(({ orgs }) => orgs !== undefined);
    // The check at the start may have run before the gateway forgot the label.
    await app.gateway.services.labelCheck.run();
    const { orgs, count } = warningAboutOrgs() as { orgs: { orgId: string; labels: string[] }[]; count: number };
    expect(count).toBeGreaterThan(0);
    expect(orgs.length).toBeLessThanOrEqual(20);
    expect(orgs[0]?.labels).toContain('economy');
    for (let i = 0; i < 3; i++) await select(app, tenant);
    expect(warnings.filter(({ orgId }) => orgId === tenant.orgId)).toEqual([
      { orgId: tenant.orgId, appId: 'chat', label: 'economy' },
    ]);
  });
});

describe('a label that was added a moment ago', () => {
  /** The label is in the catalog, but the gateway `full` has not loaded it. */
  async function addLabel(label: string): Promise<TestApp> {
    const prices = [
      { name: 'input', usdMicrosPer1M: 1 },
      { name: 'output', usdMicrosPer1M: 1 },
    ];
    await full.admin.ask(op.UpsertModelDocument, { input: { label, modelId: `vendor.${label}`, prices } });
    const app = await full.another();
    opened.push(app);
    // Otherwise the gateway would load the label again.
    await caughtUp(full);
    forget(full.gateway.services, [label]);
    return app;
  }

  it('loses no figure on gateways and workers that have not loaded it', async () => {
    const tenant = await newTenant(full);
    const app = await addLabel('flash');
    const quotas = ['flash', 'premium'].map((label) => ({ label, dailyUsdMicros: 1_000_000 }));
    await app.admin.ask(op.UpdateOrgDocument, {
      input: { orgId: tenant.orgId, modelOrdering: ['flash', 'premium'], quotas },
    });
    await submit(app.admin, [cost(tenant, { modelLabel: 'flash', costUsdMicros: 10 })]);
    await sumWithout('flash');
    clock.age(3000);
    for (const gateway of [full, app]) expect((await figures(gateway, tenant)).costs).toEqual([10, 10, 10, 10, 10, 10]);
    expect(await select(app, tenant)).toMatchObject({ label: 'flash', skipped: [] });
  });

  it('is in an exact report from its first cost on, though it is neither in the chain nor in the quotas', async () => {
    const tenant = await newTenant(full);
    const app = await addLabel('turbo');
    await submit(app.admin, [cost(tenant, { modelLabel: 'turbo', costUsdMicros: 10 })]);
    const { org } = await full.admin.ask(op.AppSpendDocument, { ...place(tenant), consistency: 'EXACT' });
    expect(org?.app?.spend).toMatchObject({ costUsdMicros: 10 });
    expect(org?.app?.spend.labels.at(-1)).toMatchObject({ label: 'turbo', costUsdMicros: 10, bedrockModelId: null });
  });
});
