import { newOrg } from '../support/app.js';
import * as op from '../support/operations.js';
import {
  addApp,
  app,
  cost,
  dayMs,
  daysAgo,
  exact,
  inUtc,
  labelOf,
  newPlace,
  orgSpend,
  spendOf,
  startStage,
  stopStage,
  submit,
  worker,
} from '../support/spend-stage.js';

beforeAll(startStage);
afterAll(stopStage);

describe('spend', () => {
  it('as aggregated is zero without `asOf` before the first round, then the state at that round', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 2_500_000 }));
    const before = await spendOf(place, 'AGGREGATED');
    expect(before).toMatchObject({ costUsdMicros: 0, requests: 0, mode: 'NORMAL', scope: 'APP', stickyFallback: null });
    expect(before.labels.map(({ asOf }) => asOf)).toEqual([null, null, null]);
    const beganMs = app.clock.nowMs();
    await worker.spend.sumAll();
    await submit(cost(place, { costUsdMicros: 1 }));
    const premium = labelOf(await spendOf(place, 'AGGREGATED'), 'premium');
    expect(premium).toMatchObject({
      costUsdMicros: 2_500_000,
      requests: 1,
      quotaUsdMicros: 10_000_000,
      quotaPct: 25,
      mode: 'NORMAL',
    });
    // Minus one second, because the index of shards is eventually consistent.
    expect(Date.parse(premium?.asOf ?? '')).toBeGreaterThanOrEqual(beganMs - 1000);
    expect(Date.parse(premium?.asOf ?? '')).toBeLessThanOrEqual(app.clock.nowMs());
    const { submitCost } = await app.admin.ask(op.SubmitCostWithSpendDocument, { input: cost(place) });
    expect(submitCost.spend).toEqual(premium);
  });

  it('as exact is the current state, with the current time', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 9_500_000 }));
    await submit(cost(place, { costUsdMicros: 5_000_000, modelLabel: 'standard' }));
    const beganMs = app.clock.nowMs();
    const spend = await exact(place);
    expect(spend).toMatchObject({
      costUsdMicros: 14_500_000,
      inputTokens: 20,
      outputTokens: 40,
      requests: 2,
      mode: 'EXCEEDED',
    });
    expect(spend.labels.map(({ label, quotaPct, mode }) => [label, quotaPct, mode])).toEqual([
      ['premium', 95, 'TIGHT'],
      ['standard', 100, 'EXCEEDED'],
      ['economy', 0, 'NORMAL'],
    ]);
    for (const { asOf } of spend.labels) expect(Date.parse(asOf ?? '')).toBeGreaterThanOrEqual(beganMs);
  });

  it('of an org under quotaScope APP is the sum over its apps, without a quota and with their worst mode', async () => {
    const { orgId } = await newOrg(app, inUtc);
    const [low, high, idle] = [await addApp(orgId, 'low'), await addApp(orgId, 'high'), await addApp(orgId, 'idle')];
    await submit(cost(low, { costUsdMicros: 100 }));
    await submit(cost(high, { costUsdMicros: 9_600_000 }));
    await submit(cost(high, { costUsdMicros: 5_000_000, modelLabel: 'standard' }));
    await worker.spend.sumAll();
    for (const consistency of ['EXACT', 'AGGREGATED'] as const) {
      const spend = await orgSpend(orgId, consistency);
      expect(spend).toMatchObject({
        scope: 'ORG',
        costUsdMicros: 14_600_100,
        requests: 3,
        inputTokens: 30,
        mode: 'EXCEEDED',
        stickyFallback: null,
      });
      expect(
        spend.labels.map(({ label, costUsdMicros, quotaUsdMicros, quotaPct, mode }) => [
          label,
          costUsdMicros,
          quotaUsdMicros,
          quotaPct,
          mode,
        ]),
      ).toEqual([
        ['premium', 9_600_100, null, null, 'TIGHT'],
        ['standard', 5_000_000, null, null, 'EXCEEDED'],
        ['economy', 0, null, null, 'NORMAL'],
      ]);
      expect((await spendOf(idle, consistency)).requests).toBe(0);
      expect(await spendOf(low, consistency)).toMatchObject({ scope: 'APP', costUsdMicros: 100, mode: 'NORMAL' });
    }
    // An app that is not summed in the round still counts in the roll-up.
    await submit(cost(low, { costUsdMicros: 1 }));
    await worker.spend.sumAll();
    expect((await orgSpend(orgId, 'AGGREGATED')).costUsdMicros).toBe(14_600_101);
    await submit(cost(high, { costUsdMicros: 1 }));
    await worker.spend.sumNear();
    expect((await orgSpend(orgId, 'AGGREGATED')).costUsdMicros).toBe(14_600_102);
  });

  it('of an org under quotaScope APP follows a change of the quotas of its apps at the next round', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 10_000_000 }));
    await worker.spend.sumAll();
    expect((await orgSpend(place.orgId, 'AGGREGATED')).mode).toBe('EXCEEDED');
    await app.admin.ask(op.UpdateAppDocument, {
      input: {
        ...place,
        quotas: ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 90_000_000 })),
      },
    });
    await worker.spend.sumAll();
    expect((await spendOf(place, 'AGGREGATED')).mode).toBe('NORMAL');
    expect((await orgSpend(place.orgId, 'EXACT')).mode).toBe('NORMAL');
    expect((await orgSpend(place.orgId, 'AGGREGATED')).mode).toBe('NORMAL');
  });

  it('of an app under quotaScope ORG is the spend of the org, which its apps share', async () => {
    const { orgId } = await newOrg(app, { ...inUtc, quotaScope: 'ORG' });
    const [one, two] = [await addApp(orgId, 'one'), await addApp(orgId, 'two')];
    await submit(cost(one, { costUsdMicros: 4_000_000 }));
    await submit(cost(two, { costUsdMicros: 6_000_000 }));
    await worker.spend.sumAll();
    for (const consistency of ['EXACT', 'AGGREGATED'] as const) {
      const [ofOrg, ofOne, ofTwo] = [
        await orgSpend(orgId, consistency),
        await spendOf(one, consistency),
        await spendOf(two, consistency),
      ];
      for (const spend of [ofOrg, ofOne, ofTwo]) {
        expect(spend).toMatchObject({ scope: 'ORG', costUsdMicros: 10_000_000, requests: 2, mode: 'EXCEEDED' });
        expect(labelOf(spend, 'premium')).toMatchObject({ quotaUsdMicros: 10_000_000, quotaPct: 100 });
      }
    }
  });

  it('of a past day is aggregated after its end too; of a future day it is rejected', async () => {
    const place = await newPlace();
    const { day } = await submit(cost(place, { costUsdMicros: 5 }));
    app.clock.advance(dayMs);
    await submit(cost(place, { costUsdMicros: 7 }));
    await worker.spend.sumAll();
    for (const consistency of ['EXACT', 'AGGREGATED'] as const) {
      expect(await spendOf(place, consistency, day)).toMatchObject({ day, costUsdMicros: 5 });
      expect(await spendOf(place, consistency)).toMatchObject({ day: daysAgo(0), costUsdMicros: 7 });
      expect(await spendOf(place, consistency, '2020-01-01')).toMatchObject({ day: '2020-01-01', costUsdMicros: 0 });
    }
    expect(await app.admin.codeOf(op.AppSpendDocument, { ...place, consistency: 'EXACT', day: daysAgo(-1) })).toBe(
      'BAD_USER_INPUT',
    );
    expect(
      await app.admin.codeOf(op.OrgSpendDocument, { orgId: place.orgId, consistency: 'AGGREGATED', day: daysAgo(-1) }),
    ).toBe('BAD_USER_INPUT');
  });
});

describe('spendHistory', () => {
  it('has every day of the range, oldest first, both ends included, also days without spend', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 1 }));
    app.clock.advance(dayMs);
    await worker.spend.sumAll();
    app.clock.advance(dayMs);
    await submit(cost(place, { costUsdMicros: 2 }));
    await submit(cost(place, { costUsdMicros: 4, modelLabel: 'economy' }));
    await worker.spend.sumAll();
    const range = { from: daysAgo(3), to: daysAgo(0) };
    const ofApp = (await app.admin.ask(op.AppHistoryDocument, { ...place, ...range })).org?.app?.spendHistory ?? [];
    expect(ofApp.map(({ day, costUsdMicros, requests }) => [day, costUsdMicros, requests])).toEqual([
      [daysAgo(3), 0, 0],
      [daysAgo(2), 1, 1],
      [daysAgo(1), 0, 0],
      [daysAgo(0), 6, 2],
    ]);
    expect(ofApp.at(-1)?.labels.map(({ label, costUsdMicros }) => [label, costUsdMicros])).toEqual([
      ['premium', 2],
      ['standard', 0],
      ['economy', 4],
    ]);
    const ofOrg =
      (await app.admin.ask(op.OrgHistoryDocument, { orgId: place.orgId, ...range })).org?.spendHistory ?? [];
    expect(ofOrg.map(({ costUsdMicros }) => costUsdMicros)).toEqual([0, 1, 0, 6]);
    const oneDay = await app.admin.ask(op.AppHistoryDocument, { ...place, from: daysAgo(2), to: daysAgo(2) });
    expect(oneDay.org?.app?.spendHistory.map(({ costUsdMicros }) => costUsdMicros)).toEqual([1]);
  });

  it('has at most 366 days', async () => {
    const place = await newPlace();
    const days =
      'query ($orgId: UUID, $appId: String!, $from: LocalDate!, $to: LocalDate!) ' +
      '{ org(orgId: $orgId) { app(appId: $appId) { spendHistory(from: $from, to: $to) { day } } } }';
    const { org } = await app.admin.ask<{ org: { app: { spendHistory: { day: string }[] } } }, object>(days, {
      ...place,
      from: daysAgo(365),
      to: daysAgo(0),
    });
    expect(org.app.spendHistory).toHaveLength(366);
    expect([org.app.spendHistory[0]?.day, org.app.spendHistory.at(-1)?.day]).toEqual([daysAgo(365), daysAgo(0)]);
    expect(await app.admin.codeOf(days, { ...place, from: daysAgo(366), to: daysAgo(0) })).toBe('BAD_USER_INPUT');
  });

  it.each([
    ['ends before it begins', () => ({ from: daysAgo(1), to: daysAgo(2) })],
    ['ends in the future', () => ({ from: daysAgo(1), to: daysAgo(-1) })],
    ['is in the future', () => ({ from: daysAgo(-1), to: daysAgo(-2) })],
  ])('is rejected if it %s', async (_what, range) => {
    const place = await newPlace();
    expect(await app.admin.codeOf(op.AppHistoryDocument, { ...place, ...range() })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.OrgHistoryDocument, { orgId: place.orgId, ...range() })).toBe('BAD_USER_INPUT');
  });
});
