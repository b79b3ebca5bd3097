// Reservations through two gateways: races for the last cent, changed quotas, and the amount that a denial names.
import fc from 'fast-check';
import {
  type Admitted,
  admit,
  admittedBy,
  bindingOf,
  cancel,
  type Denied,
  estimateOf,
  type HardApp,
  hard,
  newHardApp,
  settle,
} from '../support/admissions.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSeed } from '../support/chance.js';
import { frozenNoon } from '../support/clock.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const callers = 100;
const quota = 1_000_000;
const lastCent = 10_000;
const resource = 'api';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock: frozenNoon(), config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

/** Calls through both gateways at the same time. */
const race = (place: HardApp, amounts: readonly number[]) =>
  Promise.all(
    amounts.map(async (amount, i) => ({
      amount,
      result: await admit((i % 2 === 0 ? app : other).admin, estimateOf(place, amount)),
    })),
  );
const isAdmitted = ({ result }: { readonly result: Admitted | Denied }) => result.__typename === 'Admitted';
/** Lets the gateways forget their denials. */
const forgetDenials = () => app.clock.age(2000);

/** An app whose quota is settled and reserved but for the last cent. */
async function nearlyFull(): Promise<HardApp> {
  const place = await newHardApp(app, { premium: quota });
  const { admissionId } = await admittedBy(app.admin, estimateOf(place, 600_000));
  await settle(app.admin, { admissionId, costUsdMicros: 500_000 });
  await admittedBy(other.admin, estimateOf(place, quota - 500_000 - lastCent));
  return place;
}

describe(`${callers} callers on the last cent through two gateways`, () => {
  it.each([1, 3, 10])('admit as many as fit, if each takes 1/%i of it', async (parts) => {
    const place = await nearlyFull();
    const amount = Math.floor(lastCent / parts);
    const results = await race(
      place,
      Array.from({ length: callers }, () => amount),
    );
    expect(results.filter(isAdmitted)).toHaveLength(parts);
    forgetDenials();
    expect(await bindingOf(app.admin, estimateOf(place, amount))).toMatchObject({
      kind: 'QUOTA',
      name: 'premium',
      wouldPass: lastCent - parts * amount,
    });
  });

  it('admit different amounts up to the last micro-dollar, and deny none that would fit', async () => {
    const place = await nearlyFull();
    const amounts = Array.from({ length: callers }, (_, i) => 1 + ((i * 7919) % 900));
    const results = await race(place, amounts);
    const reserved = results.filter(isAdmitted).reduce((sum, { amount }) => sum + amount, 0);
    const room = lastCent - reserved;
    expect(room).toBeGreaterThanOrEqual(0);
    expect(results.filter((each) => !isAdmitted(each) && each.amount <= room)).toEqual([]);
    forgetDenials();
    expect((await bindingOf(other.admin, estimateOf(place, lastCent))).wouldPass).toBe(room);
    if (room > 0) await admittedBy(other.admin, estimateOf(place, room));
    forgetDenials();
    expect((await bindingOf(app.admin, estimateOf(place, 1))).wouldPass).toBe(0);
  });

  it('that all give it back leave it whole', async () => {
    const place = await nearlyFull();
    const results = await race(
      place,
      Array.from({ length: callers }, () => lastCent / 20),
    );
    const admissions = results.flatMap(({ result }) => (result.__typename === 'Admitted' ? [result.admissionId] : []));
    expect(admissions).toHaveLength(20);
    // Each is cancelled through both gateways at once.
    await Promise.all(admissions.flatMap((id) => [cancel(app.admin, id), cancel(other.admin, id)]));
    forgetDenials();
    expect((await bindingOf(app.admin, estimateOf(place, quota))).wouldPass).toBe(lastCent);
  });
});

describe('a quota that is changed', () => {
  const setQuota = (on: TestApp, { orgId }: HardApp, dailyUsdMicros: number) =>
    on.admin.ask(op.UpdateOrgDocument, { input: { orgId, quotas: hard({ premium: dailyUsdMicros }) } });

  it('admits through the other gateway as soon as that knows the larger one', async () => {
    const place = await nearlyFull();
    expect((await bindingOf(other.admin, estimateOf(place, 2 * lastCent))).missing).toBe(lastCent);
    await setQuota(app, place, quota + lastCent);
    await until('the other gateway admits', async () => {
      const { __typename } = await admit(other.admin, estimateOf(place, 2 * lastCent));
      return __typename === 'Admitted';
    });
    forgetDenials();
    expect((await bindingOf(app.admin, estimateOf(place, 1))).wouldPass).toBe(0);
  });

  it('admits nothing below what is held, and again what is left when that is settled', async () => {
    const place = await newHardApp(app, { premium: quota });
    const { admissionId } = await admittedBy(app.admin, estimateOf(place, quota));
    await setQuota(app, place, lastCent);
    await settle(app.admin, { admissionId, costUsdMicros: 1 });
    await until('the other gateway knows the smaller one', async () => {
      const result = await admit(other.admin, estimateOf(place, quota - 1));
      if (result.__typename === 'Admitted') await cancel(other.admin, result.admissionId);
      return result.__typename === 'Denied' && result.binding.wouldPass === lastCent - 1;
    });
    await admittedBy(other.admin, estimateOf(place, lastCent - 1));
  });
});

describe('the amount that a denial names', () => {
  const options = { seed: testSeed, numRuns: 25 };
  const amount = fc.integer({ min: 1, max: quota });
  const share = fc.integer({ min: 0, max: 100 });
  const mapped = (all: Readonly<Record<string, number>>, change: (each: number) => number) =>
    Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]));

  it('passes for money, and one micro-dollar more does not', async () => {
    const scenario = fc.record({
      quotas: fc.record({ premium: amount, standard: amount }),
      maxReservationPct: fc.integer({ min: 1, max: 100 }),
      budget: fc.option(
        fc.record({ usdMicros: amount, period: fc.constantFrom<op.BudgetPeriod>('DAY', 'WEEK', 'MONTH') }),
      ),
      settledPct: share,
      reservedPct: share,
      over: fc.integer({ min: 1, max: 1000 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ quotas, maxReservationPct, budget, settledPct, reservedPct, over }) => {
        const place = await newHardApp(app, quotas, {
          org: { maxReservationPct },
          budget: budget ?? undefined,
        });
        for (const [label, size] of Object.entries(quotas)) {
          await use(place, label, Math.floor((size * settledPct) / 100), true);
          await use(place, label, Math.floor((size * reservedPct) / 100), false);
        }
        const most = Math.max(...Object.values(quotas));
        const denied = await bindingOf(app.admin, estimateOf(place, most + over));
        const { wouldPass, missing, label } = denied;
        expect(missing).toBe(most + over - wouldPass);
        forgetDenials();
        const labels = [label as string];
        expect((await bindingOf(other.admin, estimateOf(place, wouldPass + 1, { labels }))).wouldPass).toBe(wouldPass);
        if (wouldPass > 0) await admittedBy(other.admin, estimateOf(place, wouldPass, { labels }));
        // The named label is the one that allows the largest amount.
        forgetDenials();
        expect((await admit(app.admin, estimateOf(place, wouldPass + 1))).__typename).toBe('Denied');
      }),
      options,
    );
  });

  /** Settles or reserves as much of the amount as is allowed. */
  async function use({ orgId, appId }: HardApp, label: string, wanted: number, isSettled: boolean): Promise<void> {
    const place = { orgId, appId };
    let result = await admit(app.admin, estimateOf(place, Math.max(1, wanted), { labels: [label] }));
    if (result.__typename === 'Denied') {
      if (result.binding.wouldPass === 0) return;
      result = await admit(app.admin, estimateOf(place, result.binding.wouldPass, { labels: [label] }));
    }
    if (result.__typename === 'Denied') throw new Error(`denied the amount that it named: ${JSON.stringify(result)}`);
    if (isSettled)
      await settle(app.admin, {
        admissionId: result.admissionId,
        costUsdMicros: Math.ceil(result.reservedUsdMicros / 2),
      });
  }

  it('passes for tokens of rate limits, and one token more does not', async () => {
    const place = await newHardApp(app, { premium: 10 ** 12 });
    let entities = 0;
    const scenario = fc.record({
      capacities: fc.record({ rpm: fc.integer({ min: 1, max: 50 }), tpm: fc.integer({ min: 1, max: 100_000 }) }),
      usedPct: share,
      wantedPct: fc.integer({ min: 1, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ capacities, usedPct, wantedPct }) => {
        const entityId = `user${++entities}`;
        await app.admin.ask(op.SetLimitsDocument, {
          input: {
            ...{ orgId: place.orgId, level: 'ENTITY', entityId, resource },
            limits: Object.entries(capacities).map(([name, capacity]) => ({
              name,
              capacity,
              refillPeriodSecs: 86_400,
            })),
          },
        });
        const call = (amounts: Readonly<Record<string, number>>) => {
          const consume = Object.entries(amounts).map(([limit, each]) => ({ limit, amount: each }));
          return estimateOf(place, 1, { limits: [{ entityId, resource, consume }] });
        };
        await admittedBy(app.admin, call(mapped(capacities, (capacity) => Math.floor((capacity * usedPct) / 100))));
        const wanted = mapped(capacities, (capacity) => Math.ceil((capacity * wantedPct) / 100));
        let asked = wanted;
        // Each denial names one limit. With its amount the call passes that limit.
        for (let denials = 0; ; denials++) {
          const result = await admit(other.admin, call(asked));
          if (result.__typename === 'Admitted') break;
          const { kind, name, wouldPass, missing } = result.binding;
          expect([kind, result.binding.entityId]).toEqual(['LIMIT', entityId]);
          expect(missing).toBe((asked[name] as number) - wouldPass);
          forgetDenials();
          const more = await bindingOf(other.admin, call({ [name]: wouldPass + 1 }));
          expect(more).toMatchObject({ name, wouldPass, missing: 1 });
          expect(denials).toBeLessThan(Object.keys(wanted).length);
          asked = { ...asked, [name]: wouldPass };
          forgetDenials();
        }
        const tooMuch = app.admin.ask(op.AdmitDocument, { input: call({ tpm: capacities.tpm + 1 }) });
        await expect(tooMuch).rejects.toThrow('input.limits.0.consume.0.amount');
      }),
      options,
    );
  });
});
