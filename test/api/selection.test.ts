import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

const dayMs = 24 * 3_600_000;

let app: TestApp;
let other: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp();
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  app.clock.advance(Date.parse('2030-03-05T15:00:00Z') - app.clock.nowMs());
});
afterAll(async () => {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
});

interface Place {
  readonly orgId: string;
  readonly appId: string;
}

const quotas = (premium: number, standard: number, economy: number): op.ModelQuotaInput[] => [
  { label: 'premium', dailyUsdMicros: premium },
  { label: 'standard', dailyUsdMicros: standard },
  { label: 'economy', dailyUsdMicros: economy },
];

async function newPlace(overrides: Partial<op.RegisterOrgInput> = {}): Promise<Place> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, {
    input: {
      name: 'Acme',
      timezone: 'UTC',
      quotaScope: 'APP',
      modelOrdering: ['premium', 'standard', 'economy'],
      quotas: quotas(1000, 1000, 1000),
      ...overrides,
    },
  });
  return addApp(registerOrg.org.orgId, 'chat');
}

async function addApp(orgId: string, appId: string): Promise<Place> {
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId } });
  return { orgId, appId };
}

/** Submits a cost and runs a round of the worker. */
async function spend(place: Place, modelLabel: string, costUsdMicros: number): Promise<void> {
  const input = { ...place, requestId: randomUUID(), modelLabel, inputTokens: 0, outputTokens: 0, costUsdMicros };
  await app.admin.ask(op.SubmitCostDocument, { input });
  await worker.spend.sumAll();
}

const select = async (place: Place, on = app): Promise<op.SelectionFragment> =>
  (await on.admin.ask(op.SelectionDocument, place)).org?.app?.modelSelection as op.SelectionFragment;
const choice = async (place: Place) => {
  const { label, reason, mode } = await select(place);
  return [label, reason, mode];
};
const override = async (place: Partial<Place>, label: string | null) =>
  (await app.admin.ask(op.OverrideModelDocument, { input: { ...place, label } })).overrideModel;
const stickyOf = async (place: Place) =>
  (await app.admin.ask(op.AppSpendDocument, { ...place, consistency: 'EXACT' })).org?.app?.spend
    .stickyFallback as op.DayFragment['stickyFallback'];
const alertsOf = async (orgId: string, kind: op.QuotaAlertKind) =>
  ((await app.admin.ask(op.OrgAlertsDocument, { orgId })).org?.alerts.nodes ?? []).filter(
    (alert) => alert.kind === kind,
  );

describe('a selection', () => {
  it('starts with the first label of the chain, and returns everything that a caller needs', async () => {
    const selection = await select(await newPlace());
    expect(selection).toMatchObject({
      allowed: true,
      label: 'premium',
      bedrockModelId: 'anthropic.claude-3-5-sonnet-20241022-v2:0',
      reason: 'WITHIN_QUOTA',
      mode: 'NORMAL',
      price: {
        inputUsdMicrosPer1M: 3_000_000,
        outputUsdMicrosPer1M: 15_000_000,
        source: 'CONFIG_DEFAULT',
        fetchedAt: null,
      },
      day: '2030-03-05',
    });
    expect(Date.parse(selection.resetsAt)).toBe(Date.parse('2030-03-06T00:00Z'));
    expect(
      selection.chain.map(({ label, costUsdMicros, quotaUsdMicros, asOf }) => [
        label,
        costUsdMicros,
        quotaUsdMicros,
        asOf,
      ]),
    ).toEqual([
      ['premium', 0, 1000, null],
      ['standard', 0, 1000, null],
      ['economy', 0, 1000, null],
    ]);
  });

  it('is tight from the threshold on, and then has the shorter recheck interval', async () => {
    const place = await newPlace({ refreshIntervalNormalSecs: 300, refreshIntervalTightSecs: 20 });
    await spend(place, 'premium', 949);
    expect(await select(place)).toMatchObject({ label: 'premium', mode: 'NORMAL', recheckAfterSecs: 300 });
    await spend(place, 'premium', 1);
    expect(await select(place)).toMatchObject({
      label: 'premium',
      reason: 'WITHIN_QUOTA',
      mode: 'TIGHT',
      recheckAfterSecs: 20,
    });
    await spend(place, 'premium', 49);
    expect(await select(place)).toMatchObject({
      label: 'premium',
      reason: 'WITHIN_QUOTA',
      mode: 'TIGHT',
      recheckAfterSecs: 20,
    });
    await spend(place, 'premium', 1);
    const moved = await select(place);
    expect(moved).toMatchObject({ label: 'standard', mode: 'NORMAL', recheckAfterSecs: 300 });
    expect(moved.chain.map(({ mode }) => mode)).toEqual(['EXCEEDED', 'NORMAL', 'NORMAL']);
  });

  it('is based on the aggregated total: costs that no round has summed do not count yet', async () => {
    const place = await newPlace();
    const input = {
      ...place,
      requestId: randomUUID(),
      modelLabel: 'premium',
      inputTokens: 0,
      outputTokens: 0,
      costUsdMicros: 5000,
    };
    await app.admin.ask(op.SubmitCostDocument, { input });
    expect(await choice(place)).toEqual(['premium', 'WITHIN_QUOTA', 'NORMAL']);
    await worker.spend.sumAll();
    expect(await choice(place)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']);
  });

  it('treats a quota of 0 as used up from the start', async () => {
    const place = await newPlace({ quotas: quotas(0, 1000, 1000) });
    expect(await choice(place)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']);
    const none = await newPlace({ quotas: quotas(0, 0, 0) });
    expect(await select(none)).toMatchObject({ allowed: false, label: null });
  });

  it('is allowed for the app itself, and not for a sibling', async () => {
    const org = await newOrg(app, { timezone: 'UTC' });
    const own = await newApp(app, org, 'own');
    await addApp(org.orgId, 'sibling');
    expect((await own.caller.ask(op.SelectionDocument, { appId: 'own' })).org?.app?.modelSelection.label).toBe(
      'premium',
    );
    expect((await own.caller.ask(op.SelectionDocument, { appId: 'sibling' })).org?.app).toBeNull();
    expect(await own.caller.codeOf(op.OverrideModelDocument, { input: { appId: 'own', label: 'economy' } })).toBe(
      'FORBIDDEN',
    );
  });
});

describe('sticky fallback', () => {
  it('moves along the chain when a quota is used up, stays there, and checks the next quota too', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    expect(await stickyOf(place)).toBeNull();
    const beganMs = app.clock.nowMs();
    expect(await choice(place)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']);
    expect(await choice(place)).toEqual(['standard', 'STICKY_FALLBACK', 'NORMAL']);
    const sticky = await stickyOf(place);
    expect(sticky).toMatchObject({ activeLabel: 'standard', previousLabel: 'premium', reason: 'QUOTA_EXCEEDED' });
    expect(Date.parse(sticky?.activatedAt ?? '')).toBeGreaterThanOrEqual(beganMs);

    await spend(place, 'standard', 960);
    expect(await choice(place)).toEqual(['standard', 'STICKY_FALLBACK', 'TIGHT']);
    await spend(place, 'standard', 40);
    expect(await choice(place)).toEqual(['economy', 'QUOTA_EXCEEDED', 'NORMAL']);
    expect(await choice(place)).toEqual(['economy', 'STICKY_FALLBACK', 'NORMAL']);
    expect(await stickyOf(place)).toMatchObject({ activeLabel: 'economy', previousLabel: 'standard' });

    await spend(place, 'economy', 1000);
    for (let i = 0; i < 2; i++) {
      expect(await select(place)).toMatchObject({
        allowed: false,
        label: null,
        bedrockModelId: null,
        price: null,
        reason: 'ALL_QUOTAS_EXCEEDED',
        mode: 'EXCEEDED',
      });
    }
  });

  it('skips a label that is already used up', async () => {
    const place = await newPlace();
    await spend(place, 'standard', 1000);
    await spend(place, 'premium', 1000);
    expect(await choice(place)).toEqual(['economy', 'QUOTA_EXCEEDED', 'NORMAL']);
    expect(await alertsOf(place.orgId, 'FALLBACK_ACTIVATED')).toMatchObject([
      { label: 'premium', activeLabel: 'economy' },
    ]);
  });

  it('starts again at the first label on the next day', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    expect((await select(place)).label).toBe('standard');
    const { day } = await select(place);
    app.clock.advance(dayMs);
    const next = await select(place);
    expect(next).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA', mode: 'NORMAL' });
    expect(next.day > day).toBe(true);
    expect(await stickyOf(place)).toBeNull();
    // The report of the day before still shows its fallback.
    const { org } = await app.admin.ask(op.AppSpendDocument, { ...place, day, consistency: 'AGGREGATED' });
    expect(org?.app?.spend.stickyFallback).toMatchObject({ activeLabel: 'standard' });
  });

  it('is separate for each app under quotaScope APP', async () => {
    const place = await newPlace();
    const second = await addApp(place.orgId, 'second');
    await spend(place, 'premium', 1000);
    expect((await select(place)).label).toBe('standard');
    expect(await choice(second)).toEqual(['premium', 'WITHIN_QUOTA', 'NORMAL']);
  });

  it('is shared by the apps of an org under quotaScope ORG', async () => {
    const one = await newPlace({ quotaScope: 'ORG' });
    const two = await addApp(one.orgId, 'two');
    await spend(one, 'premium', 400);
    await spend(two, 'premium', 600);
    expect(await choice(two)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']);
    expect(await choice(one)).toEqual(['standard', 'STICKY_FALLBACK', 'NORMAL']);
    expect(await stickyOf(one)).toEqual(await stickyOf(two));
    expect(await alertsOf(one.orgId, 'FALLBACK_ACTIVATED')).toMatchObject([
      { appId: null, label: 'premium', activeLabel: 'standard' },
    ]);
  });

  it('moves once and raises one alert when two gateways select at the same time', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    const selections = await Promise.all(
      Array.from({ length: 20 }, (_, i) => select(place, i % 2 === 0 ? app : other)),
    );
    expect(new Set(selections.map(({ label }) => label))).toEqual(new Set(['standard']));
    expect(await alertsOf(place.orgId, 'FALLBACK_ACTIVATED')).toMatchObject([
      { label: 'premium', activeLabel: 'standard' },
    ]);
    expect(await alertsOf(place.orgId, 'QUOTA_EXCEEDED')).toHaveLength(1);
  });

  it('that is disabled writes nothing and raises no alert: each selection walks the chain', async () => {
    const place = await newPlace({ stickyFallbackEnabled: false });
    await spend(place, 'premium', 1000);
    for (let i = 0; i < 2; i++) expect(await choice(place)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']);
    expect(await stickyOf(place)).toBeNull();
    expect(await alertsOf(place.orgId, 'FALLBACK_ACTIVATED')).toEqual([]);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, quotas: quotas(5000, 1000, 1000) } });
    expect(await choice(place)).toEqual(['premium', 'WITHIN_QUOTA', 'NORMAL']);
  });
});

describe('a change of settings', () => {
  it('that raises a used-up quota makes the label available at once', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    await select(place);
    await spend(place, 'standard', 1000);
    await select(place);
    await spend(place, 'economy', 1000);
    expect((await select(place)).allowed).toBe(false);
    await app.admin.ask(op.UpdateAppDocument, { input: { ...place, quotas: quotas(1000, 1000, 2000) } });
    expect(await choice(place)).toEqual(['economy', 'STICKY_FALLBACK', 'NORMAL']);
    await app.admin.ask(op.UpdateAppDocument, { input: { ...place, quotas: null } });
    expect((await select(place)).allowed).toBe(false);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, quotas: quotas(1000, 1000, 1010) } });
    expect(await choice(place)).toEqual(['economy', 'STICKY_FALLBACK', 'TIGHT']);
  });

  it('that lowers the quota of the label in use moves on at once', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 500);
    expect((await select(place)).label).toBe('premium');
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, quotas: quotas(500, 1000, 1000) } });
    expect(await choice(place)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']);
  });

  it('that raises the first quota after a fallback takes effect when the sticky state is cleared', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    expect((await select(place)).label).toBe('standard');
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, quotas: quotas(2000, 1000, 1000) } });
    expect(await override(place, null)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA' });
    expect(await choice(place)).toEqual(['premium', 'WITHIN_QUOTA', 'NORMAL']);
  });

  it('that reorders the chain lets a fallback move to a label that is now nearer to its start', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    await spend(place, 'standard', 1000);
    expect(await choice(place)).toEqual(['economy', 'QUOTA_EXCEEDED', 'NORMAL']); // at index 2
    const reordered = { modelOrdering: ['economy', 'standard', 'premium'], quotas: quotas(1000, 2000, 1000) };
    await app.admin.ask(op.UpdateAppDocument, { input: { ...place, ...reordered } });
    await spend(place, 'economy', 1000);
    expect(await choice(place)).toEqual(['standard', 'QUOTA_EXCEEDED', 'NORMAL']); // at index 1
    expect(await choice(place)).toEqual(['standard', 'STICKY_FALLBACK', 'NORMAL']);
    expect(await stickyOf(place)).toMatchObject({ activeLabel: 'standard', previousLabel: 'economy' });
  });

  it('that removes the label in use from the chain starts again at its first label', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    expect((await select(place)).label).toBe('standard');
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, modelOrdering: ['premium', 'economy'] } });
    const moved = await select(place);
    expect(moved).toMatchObject({ label: 'economy', reason: 'QUOTA_EXCEEDED' });
    expect(moved.chain.map(({ label }) => label)).toEqual(['premium', 'economy']);
    expect(await choice(place)).toEqual(['economy', 'STICKY_FALLBACK', 'NORMAL']);
  });

  it('on one gateway takes effect on another within a few seconds', async () => {
    const place = await newPlace();
    expect((await select(place, other)).label).toBe('premium');
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, modelOrdering: ['economy', 'premium'] } });
    const endMs = performance.now() + patience * 10_000;
    while ((await select(place, other)).label !== 'economy' && performance.now() < endMs)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await select(place, other)).label).toBe('economy');
  });
});

describe('overrideModel', () => {
  it('sets a later label of the chain, and an earlier one, until null clears it', async () => {
    const place = await newPlace();
    expect(await override(place, 'economy')).toMatchObject({
      allowed: true,
      label: 'economy',
      reason: 'MANUAL_OVERRIDE',
      mode: 'NORMAL',
    });
    expect(await choice(place)).toEqual(['economy', 'MANUAL_OVERRIDE', 'NORMAL']);
    expect(await stickyOf(place)).toMatchObject({ activeLabel: 'economy', reason: 'MANUAL_OVERRIDE' });
    expect(await override(place, 'premium')).toMatchObject({ label: 'premium', reason: 'MANUAL_OVERRIDE' });
    expect(await choice(place)).toEqual(['premium', 'MANUAL_OVERRIDE', 'NORMAL']);
    expect(await override(place, null)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA' });
    expect(await stickyOf(place)).toBeNull();
    expect(await alertsOf(place.orgId, 'FALLBACK_ACTIVATED')).toEqual([]);
  });

  it('applies to a used-up label, and no fallback overwrites it', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    expect((await select(place)).label).toBe('standard');
    expect(await override(place, 'premium')).toMatchObject({
      allowed: true,
      label: 'premium',
      reason: 'MANUAL_OVERRIDE',
      mode: 'EXCEEDED',
    });
    await spend(place, 'premium', 1000);
    await Promise.all(Array.from({ length: 6 }, (_, i) => select(place, i % 2 === 0 ? app : other)));
    expect(await choice(place)).toEqual(['premium', 'MANUAL_OVERRIDE', 'EXCEEDED']);
    await spend(place, 'standard', 1000);
    await spend(place, 'economy', 1000);
    expect(await select(place)).toMatchObject({
      allowed: true,
      label: 'premium',
      reason: 'MANUAL_OVERRIDE',
      mode: 'EXCEEDED',
    });
    expect(await override(place, null)).toMatchObject({ allowed: false, label: null, reason: 'ALL_QUOTAS_EXCEEDED' });
  });

  it('lets the quotas decide again from the start of the chain when it is cleared', async () => {
    const place = await newPlace();
    await spend(place, 'premium', 1000);
    await override(place, 'economy');
    expect(await override(place, null)).toMatchObject({ label: 'standard', reason: 'QUOTA_EXCEEDED' });
    expect(await choice(place)).toEqual(['standard', 'STICKY_FALLBACK', 'NORMAL']);
  });

  it('applies if sticky fallback is disabled', async () => {
    const place = await newPlace({ stickyFallbackEnabled: false });
    await override(place, 'standard');
    expect(await choice(place)).toEqual(['standard', 'MANUAL_OVERRIDE', 'NORMAL']);
    expect(await override(place, null)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA' });
  });

  it('ends with the day', async () => {
    const place = await newPlace();
    await override(place, 'economy');
    app.clock.advance(dayMs);
    expect(await choice(place)).toEqual(['premium', 'WITHIN_QUOTA', 'NORMAL']);
  });

  it('rejects a label that is unknown or not in the chain, returns the valid ones, and changes nothing', async () => {
    const place = await newPlace({ modelOrdering: ['premium', 'standard'] });
    await override(place, 'standard');
    for (const label of ['gold', 'economy', '']) {
      const { errors } = await app.admin.send(op.OverrideModelDocument, { input: { ...place, label } });
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'INVALID_MODEL_LABEL',
        validLabels: ['premium', 'standard'],
      });
    }
    expect(await choice(place)).toEqual(['standard', 'MANUAL_OVERRIDE', 'NORMAL']);
  });

  it('requires an existing app under quotaScope APP', async () => {
    const org = await newOrg(app);
    const foreign = await newPlace();
    await addApp(org.orgId, 'own');
    const codeOf = (input: op.OverrideModelInput) => org.caller.codeOf(op.OverrideModelDocument, { input });
    expect(await codeOf({ label: 'economy' })).toBe('BAD_USER_INPUT');
    expect(await codeOf({ appId: 'nobody', label: 'economy' })).toBe('NOT_FOUND');
    expect(await codeOf({ ...foreign, label: 'economy' })).toBe('NOT_FOUND');
    expect((await select(foreign)).label).toBe('premium');
    const { overrideModel } = await org.caller.ask(op.OverrideModelDocument, {
      input: { appId: 'own', label: 'economy' },
    });
    expect(overrideModel.label).toBe('economy');
  });

  it('applies to the whole org under quotaScope ORG, with or without an app', async () => {
    const one = await newPlace({ quotaScope: 'ORG' });
    const two = await addApp(one.orgId, 'two');
    expect(await override({ orgId: one.orgId }, 'economy')).toMatchObject({
      label: 'economy',
      reason: 'MANUAL_OVERRIDE',
    });
    expect(await choice(one)).toEqual(['economy', 'MANUAL_OVERRIDE', 'NORMAL']);
    expect(await override(two, 'standard')).toMatchObject({ label: 'standard' });
    expect(await choice(one)).toEqual(['standard', 'MANUAL_OVERRIDE', 'NORMAL']);
    expect(await override({ orgId: one.orgId }, null)).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA' });
    expect(await choice(two)).toEqual(['premium', 'WITHIN_QUOTA', 'NORMAL']);
  });
});
