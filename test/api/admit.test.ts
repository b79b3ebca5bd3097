import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { heldKey } from '../../src/spend/held/held.item.js';
import { newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

const dayMs = 86_400_000;
let app: TestApp;
let other: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  app.clock.advance(Date.parse('2030-03-04T12:00:00Z') - app.clock.nowMs());
});
afterAll(async () => {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
});

interface Place {
  readonly orgId: string;
  readonly appId: string;
}

const hard = (label: string, dailyUsdMicros: number): op.ModelQuotaInput => ({
  label,
  dailyUsdMicros,
  enforcement: 'HARD',
});

async function newPlace(
  quotas: op.ModelQuotaInput[] = [hard('premium', 1000)],
  more: Partial<op.RegisterOrgInput> = {},
): Promise<Place> {
  const modelOrdering = quotas.map(({ label }) => label);
  const { orgId } = await newOrg(app, { timezone: 'UTC', quotas, modelOrdering, ...more });
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId: 'chat', name: 'chat' } });
  return { orgId, appId: 'chat' };
}

const input = (place: Place, costUsdMicros: number, more: Partial<op.AdmitInput> = {}): op.AdmitInput => ({
  ...place,
  requestId: randomUUID(),
  estimate: { costUsdMicros },
  ...more,
});

const admit = async (request: op.AdmitInput, on = app) =>
  (await on.admin.ask(op.AdmitDocument, { input: request })).admit;

async function admitted(request: op.AdmitInput, on = app) {
  const result = await admit(request, on);
  if (result.__typename !== 'Admitted') throw new Error(`denied: ${JSON.stringify(result)}`);
  return result;
}

async function denied(request: op.AdmitInput, on = app) {
  const result = await admit(request, on);
  if (result.__typename !== 'Denied') throw new Error(`admitted: ${JSON.stringify(result)}`);
  return result;
}

const settle = async (admissionId: string, costUsdMicros: number, more: Partial<op.SettleInput> = {}, on = app) =>
  (await on.admin.ask(op.SettleDocument, { input: { admissionId, costUsdMicros, ...more } })).settle;
const cancel = async (admissionId: string, sent: boolean) =>
  (await app.admin.ask(op.CancelAdmissionDocument, { admissionId, sent })).cancelAdmission;
const submit = async (place: Place, requestId: string, costUsdMicros: number, more: Partial<op.SubmitCostInput> = {}) =>
  (
    await app.admin.ask(op.SubmitCostDocument, {
      input: { ...place, requestId, modelLabel: 'premium', inputTokens: 0, outputTokens: 0, costUsdMicros, ...more },
    })
  ).submitCost;

const today = (): string => new Date(app.clock.nowMs()).toISOString().slice(0, 10);
const overruns = async ({ orgId }: Place) =>
  (await app.admin.ask(op.OverrunsDocument, { orgId, from: today(), to: today() })).overruns.nodes;

/** The item that decides: what is settled and reserved, and by slot what is reserved. */
async function held(place: Place, label = 'premium', day = today()) {
  const at = heldKey({ kind: 'quota', id: { ...place, label, day } });
  const item = await app.gateway.services.store.get('usage_agg_sharded', at, { consistent: true });
  const slots = Object.entries(item ?? {}).filter(([name]) => /^r\d+$/.test(name));
  return {
    held: (item?.held ?? 0) as number,
    reserved: slots.reduce((sum, [, amount]) => sum + (amount as number), 0),
    spent: (item?.cost_usd_micros ?? 0) as number,
  };
}

describe('admit under a HARD quota', () => {
  it('reserves the estimate, and settle replaces it by the cost', async () => {
    const place = await newPlace();
    const first = await admitted(input(place, 400));
    expect(first).toMatchObject({ label: 'premium', reservedUsdMicros: 400, replayed: false, degraded: false });
    expect(await held(place)).toEqual({ held: 400, reserved: 400, spent: 0 });
    expect(await settle(first.admissionId, 300)).toMatchObject({ costUsdMicros: 300, replayed: false, day: today() });
    expect(await held(place)).toEqual({ held: 300, reserved: 0, spent: 300 });
    expect(await overruns(place)).toEqual([]);
  });

  it('denies what does not fit, and names an amount that passes', async () => {
    const place = await newPlace();
    await admitted(input(place, 700));
    const { binding, retryAt } = await denied(input(place, 400));
    expect(binding).toEqual({
      kind: 'QUOTA',
      name: 'premium',
      label: 'premium',
      entityId: null,
      missing: 100,
      wouldPass: 300,
    });
    expect(retryAt).toBe(`${new Date(app.clock.nowMs() + dayMs).toISOString().slice(0, 10)}T00:00:00.000Z`);
    await admitted(input(place, binding.wouldPass));
    expect(await held(place)).toMatchObject({ held: 1000 });
  });

  it('admits exactly those that fit of 100 callers on the last cent through two gateways', async () => {
    const place = await newPlace();
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => admit(input(place, 90), i % 2 === 0 ? app : other)),
    );
    const won = results.filter(({ __typename }) => __typename === 'Admitted');
    expect(won).toHaveLength(11);
    expect(await held(place)).toEqual({ held: 990, reserved: 990, spent: 0 });
    await admitted(input(place, 10));
    await denied(input(place, 1));
  });

  it('falls back to the next label that fits', async () => {
    const place = await newPlace([hard('premium', 100), hard('standard', 500), hard('economy', 1000)]);
    expect(await admitted(input(place, 300))).toMatchObject({ label: 'standard' });
    expect(await admitted(input(place, 300))).toMatchObject({ label: 'economy' });
    expect(await admitted(input(place, 100))).toMatchObject({ label: 'premium' });
    expect(await admitted(input(place, 100, { labels: ['economy', 'standard'] }))).toMatchObject({ label: 'economy' });
    const { binding } = await denied(input(place, 700));
    expect(binding).toMatchObject({ label: 'economy', wouldPass: 600, missing: 100 });
  });

  it('returns the first admission to a retry, through any gateway, until it is settled', async () => {
    const place = await newPlace();
    const request = input(place, 600);
    const first = await admitted(request);
    const second = await admitted(request, other);
    expect(second).toEqual({ ...first, replayed: true });
    expect(await admitted({ ...request, waitMs: 100 })).toMatchObject({ replayed: true });
    expect(await held(place)).toMatchObject({ held: 600 });
    expect(await app.admin.codeOf(op.AdmitDocument, { input: { ...request, estimate: { costUsdMicros: 1 } } })).toBe(
      'IDEMPOTENCY_CONFLICT',
    );
    await settle(first.admissionId, 500, {}, other);
    expect(await app.admin.codeOf(op.AdmitDocument, { input: request })).toBe('LEASE_EXPIRED');
    expect(await held(place)).toEqual({ held: 500, reserved: 0, spent: 500 });
  });

  it('records a settle once', async () => {
    const place = await newPlace();
    const { admissionId } = await admitted(input(place, 600));
    const [a, b] = await Promise.all([settle(admissionId, 500), settle(admissionId, 500, {}, other)]);
    expect([a.replayed, b.replayed].sort()).toEqual([false, true]);
    for (const other of [{ costUsdMicros: 501 }, { costUsdMicros: 500, estimated: true }])
      expect(await app.admin.codeOf(op.SettleDocument, { input: { admissionId, ...other } })).toBe(
        'IDEMPOTENCY_CONFLICT',
      );
    expect(await held(place)).toEqual({ held: 500, reserved: 0, spent: 500 });
  });

  it('returns a reservation when the call is cancelled, and keeps the price of its input if it was sent', async () => {
    const place = await newPlace([hard('premium', 1_000_000)]);
    const estimate = { inputTokens: 1000, maxOutputTokens: 1000 };
    const first = await admitted(input(place, 0, { estimate }));
    const second = await admitted(input(place, 0, { estimate }));
    expect(first.reservedUsdMicros).toBe(18_000);
    expect(await cancel(first.admissionId, false)).toMatchObject({ costUsdMicros: 0, replayed: false });
    expect(await cancel(first.admissionId, false)).toMatchObject({ costUsdMicros: 0, replayed: true });
    expect(await app.admin.codeOf(op.SettleDocument, { input: { admissionId: first.admissionId } })).toBe(
      'IDEMPOTENCY_CONFLICT',
    );
    expect(await cancel(second.admissionId, true)).toMatchObject({ costUsdMicros: 3000, replayed: false });
    expect(await cancel(second.admissionId, true)).toMatchObject({ costUsdMicros: 3000, replayed: true });
    expect(await held(place)).toEqual({ held: 3000, reserved: 0, spent: 3000 });
  });

  it('shows that a cost was estimated: in the receipt, also of a retry, and in the ledger', async () => {
    const place = await newPlace([hard('premium', 1_000_000)], { ledger: true });
    const document = 'mutation ($input: SettleInput!) { settle(input: $input) { estimated } }';
    const cancelled =
      'mutation ($admissionId: String!) { cancelAdmission(admissionId: $admissionId, sent: true) { estimated } }';
    const settled = async (estimated: boolean) => {
      const request = input(place, 600);
      const { admissionId } = await admitted(request);
      const variables = { input: { admissionId, costUsdMicros: 500, estimated } };
      for (const caller of [app.admin, other.admin])
        expect(await caller.ask(document, variables)).toEqual({ settle: { estimated } });
      return request.requestId;
    };
    const exactId = await settled(false);
    const estimatedId = await settled(true);
    const sent = input(place, 600);
    const { admissionId } = await admitted(sent);
    expect(await app.admin.ask(cancelled, { admissionId })).toEqual({ cancelAdmission: { estimated: true } });
    const { org } = await app.admin.ask<
      { org: { costs: { nodes: { requestId: string; estimated: boolean }[] } } },
      object
    >(
      `query ($orgId: UUID, $day: LocalDate!) { org(orgId: $orgId) {
        costs(from: $day, to: $day) { nodes { requestId estimated } } } }`,
      { orgId: place.orgId, day: today() },
    );
    expect(new Map(org.costs.nodes.map(({ requestId, estimated }) => [requestId, estimated]))).toEqual(
      new Map([
        [exactId, false],
        [estimatedId, true],
        [sent.requestId, true],
      ]),
    );
  });

  it('settles the reservation when the cost is submitted instead', async () => {
    const place = await newPlace();
    const request = input(place, 600);
    await admitted(request);
    expect(await submit(place, request.requestId, 450)).toMatchObject({ replayed: false, costUsdMicros: 450 });
    expect(await submit(place, request.requestId, 450)).toMatchObject({ replayed: true, costUsdMicros: 450 });
    expect(await held(place)).toEqual({ held: 450, reserved: 0, spent: 450 });
    expect(await overruns(place)).toEqual([]);
  });

  it('returns the reservation of a lost call after its slot, by the worker or by the next writer', async () => {
    const [swept, denying] = [await newPlace(), await newPlace()];
    const late = await admitted(input(swept, 600));
    await admitted(input(denying, 600));
    app.clock.advance(13 * 60_000);
    await worker.spend.sumAll();
    expect(await held(swept)).toEqual({ held: 0, reserved: 0, spent: 0 });
    await admitted(input(denying, 1000));
    expect(await held(denying)).toEqual({ held: 1000, reserved: 1000, spent: 0 });
    expect(await settle(late.admissionId, 550)).toMatchObject({ costUsdMicros: 550 });
    expect(await held(swept)).toEqual({ held: 550, reserved: 0, spent: 550 });
    expect(await overruns(swept)).toMatchObject([{ kind: 'LATE_SETTLE', overUsdMicros: 550 }]);
  });

  it('renews a reservation for at most an hour', async () => {
    const place = await newPlace();
    const { admissionId, expiresAt } = await admitted(input(place, 600));
    for (const minutes of [10, 10, 10, 10, 10]) {
      const { renewAdmission } = await app.admin.ask(op.RenewAdmissionDocument, { admissionId, ttlSecs: 900 });
      expect(Date.parse(renewAdmission.expiresAt)).toBeGreaterThan(Date.parse(expiresAt));
      app.clock.advance(minutes * 60_000);
      await worker.spend.sumAll();
      expect(await held(place)).toEqual({ held: 600, reserved: 600, spent: 0 });
    }
    app.clock.advance(11 * 60_000);
    expect(await app.admin.codeOf(op.RenewAdmissionDocument, { admissionId, ttlSecs: 900 })).toBe('LEASE_EXPIRED');
    await settle(admissionId, 100);
    expect(await held(place)).toEqual({ held: 100, reserved: 0, spent: 100 });
  });

  it('lists and audits what no reservation covered', async () => {
    const place = await newPlace();
    const { admissionId, requestId } = await admitted(input(place, 300));
    await settle(admissionId, 450);
    const plain = randomUUID();
    await submit(place, plain, 700);
    await submit(place, randomUUID(), 5);
    expect(await held(place)).toEqual({ held: 1155, reserved: 0, spent: 1155 });
    const listed = await overruns(place);
    expect(new Set(listed.map(({ kind, overUsdMicros }) => `${kind} ${overUsdMicros}`))).toEqual(
      new Set(['ABOVE_RESERVATION 150', 'UNRESERVED 150', 'UNRESERVED 5']),
    );
    expect(listed.map((each) => each.requestId)).toEqual(expect.arrayContaining([requestId, plain]));
    const { org } = await app.admin.ask<{ org: { auditEvents: { nodes: { action: string }[] } } }, object>(
      'query ($orgId: UUID) { org(orgId: $orgId) { auditEvents { nodes { action } } } }',
      { orgId: place.orgId },
    );
    expect(org.auditEvents.nodes.filter(({ action }) => action === 'quota_overrun')).toHaveLength(3);
    const first = await app.admin.ask(op.OverrunsDocument, {
      orgId: place.orgId,
      from: today(),
      to: today(),
      first: 2,
    });
    const { hasNextPage, endCursor } = first.overruns.pageInfo;
    expect([first.overruns.nodes.length, hasNextPage]).toEqual([2, true]);
    const rest = await app.admin.ask(op.OverrunsDocument, {
      ...place,
      from: today(),
      to: today(),
      first: 2,
      after: endCursor,
    });
    expect(rest.overruns.nodes).toEqual(listed.slice(2));
  });

  it('follows corrections', async () => {
    const place = await newPlace();
    const { admissionId, requestId } = await admitted(input(place, 800));
    await settle(admissionId, 800);
    await denied(input(place, 300));
    await app.admin.ask('mutation ($input: CorrectCostInput!) { correctCost(input: $input) { replayed } }', {
      input: { ...place, requestId, correctionId: randomUUID(), deltaUsdMicros: -200, reason: 'refund' },
    });
    expect(await held(place)).toMatchObject({ held: 600, spent: 800 });
    await admitted(input(place, 400), other);
  });

  it('refuses a reservation above the share that one may take', async () => {
    const place = await newPlace([hard('premium', 1000)], { maxReservationPct: 30 });
    const { binding, retryAt } = await denied(input(place, 301));
    expect([binding.wouldPass, binding.missing, retryAt]).toEqual([300, 1, null]);
    await admitted(input(place, 300));
  });

  it('admits at once after the quota is raised, through any gateway', async () => {
    const place = await newPlace();
    await admitted(input(place, 1000));
    const request = input(place, 500);
    await denied(request);
    await denied(request, other);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, quotas: [hard('premium', 2000)] } });
    await admitted(request);
    const deadline = Date.now() + 20_000;
    const through = input(place, 500);
    while ((await admit(through, other)).__typename === 'Denied' && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await held(place)).toMatchObject({ held: 2000 });
  });
});

describe('admit', () => {
  const limited = { entityId: 'user-1', resource: 'api' };
  const setLimits = (orgId: string, limits: op.LimitInput[]) =>
    app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
  const rate = { name: 'tokens', capacity: 1000, refillPeriodSecs: 86_400 };
  const need = (amount: number, more: op.ConsumeInput[] = []): op.AdmitLimitInput => ({
    ...limited,
    consume: [{ limit: 'tokens', amount }, ...more],
  });
  const left = async (orgId: string) =>
    (await app.admin.ask(op.AvailabilityDocument, { orgId, ...limited })).availability.statuses.map(
      ({ available }) => available,
    );

  it('takes the tokens of a rate limit too, and settle charges what was used', async () => {
    const place = await newPlace();
    await setLimits(place.orgId, [rate, { name: 'calls', capacity: 2, kind: 'CONCURRENCY' }]);
    const limits = [need(400, [{ limit: 'calls', amount: 1 }])];
    const first = await admitted(input(place, 100, { limits }));
    expect(first.statuses.map(({ available }) => available)).toEqual([1, 600]);
    const second = await admitted(input(place, 100, { limits }));
    const { binding } = await denied(input(place, 100, { limits }));
    expect(binding).toMatchObject({ kind: 'LIMIT', entityId: 'user-1', label: null });
    const adjust = [{ ...limited, consumed: [{ limit: 'tokens', amount: 150 }] }];
    await settle(first.admissionId, 90, { adjust });
    await settle(first.admissionId, 90, { adjust }, other);
    expect(await left(place.orgId)).toEqual([1, 450]);
    await cancel(second.admissionId, false);
    expect(await left(place.orgId)).toEqual([2, 850]);
    expect(await held(place)).toEqual({ held: 90, reserved: 0, spent: 90 });
  });

  it('names an amount of a rate limit that passes, and takes no tokens if the money is denied', async () => {
    const place = await newPlace();
    await setLimits(place.orgId, [rate]);
    await admitted(input(place, 600, { limits: [need(300)] }));
    await denied(input(place, 500, { limits: [need(300)] }));
    await denied(input(place, 500, { limits: [need(300)] }), other);
    expect(await left(place.orgId)).toEqual([700]);
    const { binding } = await denied(input(place, 1, { limits: [need(701)] }));
    expect(binding).toMatchObject({ kind: 'LIMIT', name: 'tokens', missing: 1, wouldPass: 700 });
    await admitted(input(place, 1, { limits: [need(binding.wouldPass)] }));
  });

  it('reserves nothing under ADVISORY, and follows the selection', async () => {
    const place = await newPlace([
      { label: 'premium', dailyUsdMicros: 1000 },
      { label: 'economy', dailyUsdMicros: 1000 },
    ]);
    const request = input(place, 5000);
    const first = await admitted(request);
    expect(first).toMatchObject({ label: 'premium', reservedUsdMicros: 0 });
    expect(await admitted(request, other)).toMatchObject({ label: 'premium', replayed: true });
    expect(await settle(first.admissionId, 1500)).toMatchObject({ label: 'premium', costUsdMicros: 1500 });
    await worker.spend.sumAll();
    const second = await admitted(input(place, 5000));
    expect(second).toMatchObject({ label: 'economy' });
    await settle(second.admissionId, 1000);
    await worker.spend.sumAll();
    const { binding } = await denied(input(place, 1));
    expect(binding).toMatchObject({ kind: 'QUOTA', wouldPass: 0 });
    expect(await overruns(place)).toEqual([]);
  });

  it('waits until money comes back, and is denied if none does', async () => {
    const place = await newPlace();
    const first = await admitted(input(place, 500));
    const second = await admitted(input(place, 500));
    const waiting = [600, 300, 100].map((amount) => admitted(input(place, amount, { waitMs: 4000 })));
    await settle(first.admissionId, 0);
    await settle(second.admissionId, 0, {}, other);
    await Promise.all(waiting);
    expect(await held(place)).toEqual({ held: 1000, reserved: 1000, spent: 0 });
    await denied(input(place, 1, { waitMs: 300 }));
  });

  it.each([
    [{ ttlSecs: 0 }, 'input.ttlSecs'],
    [{ ttlSecs: 901 }, 'input.ttlSecs'],
    [{ waitMs: -1 }, 'input.waitMs'],
    [{ waitMs: 4001 }, 'input.waitMs'],
    [{ estimate: { inputTokens: -1 } }, 'input.estimate.inputTokens'],
    [{ estimate: { costUsdMicros: 1_000_000_000_001 } }, 'input.estimate.costUsdMicros'],
    [{ estimate: { components: [{ name: 'unpriced', quantity: 1 }] } }, 'input.estimate.components.0.name'],
    [{ labels: ['premium', 'premium'] }, 'input.labels'],
    [{ labels: ['nowhere'] }, 'input.labels.0'],
    [{ labels: Array.from({ length: 11 }, (_, i) => `l${i}`) }, 'input.labels'],
    [{ limits: [need(1), need(1)] }, 'input.limits.1'],
    [{ limits: Array.from({ length: 4 }, () => need(1)) }, 'input.limits'],
  ] satisfies [Partial<op.AdmitInput>, string][])('refuses %j', async (more, path) => {
    const place = await newPlace();
    const { errors } = await app.admin.send(op.AdmitDocument, { input: input(place, 1, more) });
    expect(errors?.[0]?.extensions.issues?.map((issue) => issue.path)).toContain(path);
  });
});

describe('enforcement', () => {
  const quotasOf = async ({ orgId }: Place) =>
    (
      await app.admin.ask<{ org: { quotas: object[] } }, object>(
        `query ($orgId: UUID) { org(orgId: $orgId) {
          quotas { label dailyUsdMicros enforcement nextEnforcement { enforcement from } } } }`,
        { orgId },
      )
    ).org.quotas;
  const tomorrow = () => new Date(app.clock.nowMs() + dayMs).toISOString().slice(0, 10);
  const nextDay = () => app.clock.advance(Date.parse(tomorrow()) + 3_600_000 - app.clock.nowMs());

  it('changes on the next local day, and costs of the day before do not count', async () => {
    nextDay();
    const place = await newPlace([{ label: 'premium', dailyUsdMicros: 1000 }]);
    const change = (enforcement: op.QuotaEnforcement) =>
      app.admin.ask(op.UpdateOrgDocument, {
        input: { orgId: place.orgId, quotas: [{ label: 'premium', dailyUsdMicros: 1000, enforcement }] },
      });
    await change('HARD');
    expect(await quotasOf(place)).toMatchObject([
      { enforcement: 'ADVISORY', nextEnforcement: { enforcement: 'HARD', from: tomorrow() } },
    ]);
    expect(await admitted(input(place, 5000))).toMatchObject({ reservedUsdMicros: 0 });
    await submit(place, randomUUID(), 900);
    nextDay();
    expect(await quotasOf(place)).toMatchObject([{ enforcement: 'HARD', nextEnforcement: null }]);
    await submit(place, randomUUID(), 400);
    await denied(input(place, 601));
    await admitted(input(place, 600));
    await change('ADVISORY');
    await denied(input(place, 1));
    // Unchanged without an enforcement.
    await app.admin.ask(op.UpdateOrgDocument, {
      input: { orgId: place.orgId, quotas: [{ label: 'premium', dailyUsdMicros: 1001 }] },
    });
    expect(await quotasOf(place)).toMatchObject([
      { enforcement: 'HARD', nextEnforcement: { enforcement: 'ADVISORY', from: tomorrow() } },
    ]);
    await admitted(input(place, 1));
  });

  it('does not let an app inherit another enforcement during a day', async () => {
    const place = await newPlace([hard('premium', 1000)]);
    const { orgId } = place;
    const own = { quotas: [{ label: 'premium', dailyUsdMicros: 500 }] };
    await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId: 'own', name: 'own', ...own } });
    expect(await app.admin.codeOf(op.UpdateAppDocument, { input: { orgId, appId: 'own', quotas: null } })).toBe(
      'BAD_USER_INPUT',
    );
    expect(await admitted(input({ orgId, appId: 'own' }, 100))).toMatchObject({ reservedUsdMicros: 0 });
  });

  it('is refused while an older process may be running', async () => {
    const { store } = app.gateway.services;
    const at = { PK: '_/SYSTEM#', SK: '#VERSION' };
    await store.write({ table: 'limiter', update: at, set: { min_version: 4 } });
    try {
      const quotas = [hard('premium', 1000)];
      const place = await newPlace([{ label: 'premium', dailyUsdMicros: 1000 }]);
      expect(await app.admin.codeOf(op.UpdateOrgDocument, { input: { orgId: place.orgId, quotas } })).toBe(
        'BAD_USER_INPUT',
      );
    } finally {
      await store.write({ table: 'limiter', update: at, set: { min_version: 5 } });
    }
  });

  it('of a budget counts the days before it, all labels of its scope, and what is reserved', async () => {
    nextDay();
    const place = await newPlace([hard('premium', 10_000), { label: 'economy', dailyUsdMicros: 10_000 }]);
    const { orgId } = place;
    await submit(place, randomUUID(), 300, { modelLabel: 'economy' });
    await worker.spend.sumAll();
    const set = async (more: Partial<op.SetBudgetInput>) =>
      (
        await app.admin.ask(op.SetBudgetDocument, {
          input: { orgId, name: 'week', period: 'WEEK', usdMicros: 1000, enforcement: 'HARD', ...more },
        })
      ).setBudget;
    await set({});
    await submit(place, randomUUID(), 50);
    nextDay();
    await worker.spend.sumAll();
    expect(new Date(app.clock.nowMs()).getUTCDay()).not.toBe(1);
    const first = await admitted(input(place, 400));
    await submit(place, randomUUID(), 100, { modelLabel: 'economy' });
    const { binding } = await denied(input(place, 200));
    expect(binding).toMatchObject({ kind: 'BUDGET', name: 'week', wouldPass: 150, missing: 50 });
    await admitted(input(place, 150), other);
    await settle(first.admissionId, 300);
    await admitted(input(place, 100, { labels: ['economy'] }));
    await denied(input(place, 1));
    await set({ usdMicros: 1001 });
    await admitted(input(place, 1));
    await set({ name: 'second', usdMicros: 1_000_000 });
    expect(
      await app.admin.codeOf(op.SetBudgetDocument, {
        input: { orgId, name: 'third', appId: 'chat', period: 'WEEK', usdMicros: 1000, enforcement: 'HARD' },
      }),
    ).toBe('BAD_USER_INPUT');
  });
});
