import { randomUUID } from 'node:crypto';
import { type Caller, newApp, newOrg, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

const dayMs = 86_400_000;

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

interface Place {
  readonly orgId: string;
  readonly entityId: string;
  readonly resource: string;
}
type Amounts = Readonly<Record<string, number>>;

/** Comes back so slowly that nothing does during a test. */
const limit = (name: string, capacity: number): op.LimitInput => ({
  name,
  capacity,
  refillAmount: 1,
  refillPeriodSecs: 10_000_000,
});

async function newPlace(limits: op.LimitInput[] = [limit('rpm', 10), limit('tpm', 100)]): Promise<Place> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  await setLimits(orgId, limits);
  return { orgId, entityId: 'user-1', resource: 'api' };
}

const setLimits = (orgId: string, limits: op.LimitInput[]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
const consumption = (amounts: Amounts): op.ConsumeInput[] =>
  Object.entries(amounts).map(([name, amount]) => ({ limit: name, amount }));

async function lease(
  place: Place,
  consume: Amounts = { rpm: 4 },
  more: Partial<op.AcquireInput> = {},
  on = app,
): Promise<string> {
  const { acquire } = await on.admin.ask(op.AcquireDocument, {
    input: { ...place, consume: consumption(consume), ...more },
  });
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  return acquire.leaseId;
}

const change = (
  leaseId: string,
  amounts: Amounts,
  idempotencyKey: string = randomUUID(),
): { input: op.AdjustLeaseInput } => ({
  input: { leaseId, adjust: consumption(amounts), idempotencyKey },
});
const adjust = async (leaseId: string, amounts: Amounts, idempotencyKey?: string, on = app) =>
  (await on.admin.ask(op.AdjustLeaseDocument, change(leaseId, amounts, idempotencyKey))).adjustLease;
const release = async (leaseId: string, on = app) =>
  (await on.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;
const adjustCode = (leaseId: string, amounts: Amounts, idempotencyKey?: string, on = app) =>
  on.admin.codeOf(op.AdjustLeaseDocument, change(leaseId, amounts, idempotencyKey));

async function adjustIssues(leaseId: string, amounts: Amounts | op.ConsumeInput[]) {
  const input = {
    leaseId,
    adjust: Array.isArray(amounts) ? amounts : consumption(amounts as Amounts),
    idempotencyKey: randomUUID(),
  };
  const { errors } = await app.admin.send(op.AdjustLeaseDocument, { input });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return errors?.[0]?.extensions.issues;
}

/** What each limit has left and has given in all. */
async function standing(place: Place): Promise<Record<string, [available: number, consumed: number]> | undefined> {
  const { org } = await app.admin.ask(op.BucketOfDocument, place);
  const limits = org?.entity?.bucket?.limits;
  return (
    limits &&
    Object.fromEntries(
      limits.map(({ limit: { name }, available, totalConsumed }) => [name, [available, totalConsumed]]),
    )
  );
}

describe('adjusting a lease', () => {
  it('takes more, into debt if need be', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    const adjusted = await adjust(leaseId, { rpm: 11, tpm: 30 });
    expect(adjusted).toMatchObject({ leaseId, replayed: false });
    expect(adjusted.statuses).toMatchObject([
      { entityId: 'user-1', resource: 'api', limit: { name: 'rpm' }, requested: 11, available: -5, exceeded: true },
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'tpm' },
        requested: 30,
        available: 70,
        exceeded: false,
        retryAfterSecs: 0,
      },
    ]);
    expect(await standing(place)).toEqual({ rpm: [-5, 15], tpm: [70, 30] });
  });

  it('gives back', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4, tpm: 50 });
    expect((await adjust(leaseId, { rpm: -1, tpm: -50 })).statuses).toMatchObject([
      { requested: -1, available: 7 },
      { requested: -50, available: 100 },
    ]);
    expect(await standing(place)).toEqual({ rpm: [7, 3], tpm: [100, 0] });
  });

  it('gives and takes at once', async () => {
    const place = await newPlace();
    await adjust(await lease(place, { rpm: 4 }), { rpm: -4, tpm: 20 });
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [80, 20] });
  });

  it('by 0 changes nothing and is done', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    expect(await adjust(leaseId, { rpm: 0 }, key)).toMatchObject({ replayed: false });
    expect(await adjust(leaseId, { rpm: 0 }, key)).toMatchObject({ replayed: true });
    expect(await standing(place)).toEqual({ rpm: [6, 4], tpm: [100, 0] });
  });

  it('gives back no more than is out, whatever came before', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    expect(await adjustIssues(leaseId, { rpm: -5 })).toEqual([
      { path: 'input.adjust.0.amount', message: 'gives back more of "rpm" than the lease has out, 4' },
    ]);
    expect(await adjustIssues(leaseId, { tpm: -1 })).toEqual([
      { path: 'input.adjust.0.amount', message: 'gives back more of "tpm" than the lease has out, 0' },
    ]);
    await adjust(leaseId, { rpm: 2 });
    await adjust(leaseId, { rpm: -6 });
    expect(await adjustIssues(leaseId, { rpm: -1, tpm: 1 })).toHaveLength(1);
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it.each<[string, op.ConsumeInput[], { path: string; message: unknown }[]]>([
    [
      'a limit that the bucket does not have',
      consumption({ rpm: 1, nope: 1 }),
      [{ path: 'input.adjust.1.limit', message: 'the lease is of a bucket without a limit "nope"' }],
    ],
    ['nothing', [], [{ path: 'input.adjust', message: 'must name at least one limit' }]],
    [
      'a limit named twice',
      [...consumption({ rpm: 1 }), ...consumption({ rpm: -1 })],
      [{ path: 'input.adjust.1.limit', message: '"rpm" is named twice' }],
    ],
    [
      'more than can be counted',
      consumption({ rpm: 2e15 }),
      [{ path: 'input.adjust.0.amount', message: 'must be a whole number from -1000000000000000 to 1000000000000000' }],
    ],
    ['a bad name', consumption({ 'rpm\n': 1 }), [{ path: 'input.adjust.0.limit', message: expect.any(String) }]],
  ])('refuses %s, and changes nothing', async (_what, amounts, issues) => {
    const place = await newPlace();
    const leaseId = await lease(place);
    expect(await adjustIssues(leaseId, amounts)).toEqual(issues);
    expect(await standing(place)).toEqual({ rpm: [6, 4], tpm: [100, 0] });
  });

  it('goes sixteen times, and not a seventeenth', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const keys = Array.from({ length: 16 }, () => randomUUID());
    for (const key of keys) await adjust(leaseId, { tpm: 1 }, key);
    expect(await adjustIssues(leaseId, { tpm: 1 })).toEqual([
      { path: 'input.idempotencyKey', message: 'a lease can be adjusted 16 times with a key' },
    ]);
    // A repeat of one of the sixteen is none.
    expect(await adjust(leaseId, { tpm: 1 }, keys[3])).toMatchObject({ replayed: true });
    expect(await standing(place)).toEqual({ rpm: [6, 4], tpm: [84, 16] });
    await release(leaseId);
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('goes sixteen times also when all are sent at once', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => app.admin.send(op.AdjustLeaseDocument, change(leaseId, { tpm: 1 }))),
    );
    expect(answers.flatMap(({ errors }) => errors?.map(({ message }) => message) ?? [])).toEqual([]);
    expect(await standing(place)).toEqual({ rpm: [6, 4], tpm: [84, 16] });
    expect(await adjustIssues(leaseId, { tpm: 1 })).toHaveLength(1);
  });

  it('that sums up to more than JSON can carry still counts, and can be given back', async () => {
    const place = await newPlace([{ name: 'tpm', capacity: 100, refillPeriodSecs: 60 }]);
    const leaseId = await lease(place, { tpm: 1 });
    for (let i = 0; i < 10; i++) await adjust(leaseId, { tpm: 1e15 });
    expect(await standing(place)).toEqual({ tpm: [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] });
    await release(leaseId);
    expect(await standing(place)).toEqual({ tpm: [100, 0] });
  });

  it('into a debt that takes an age to pay is as good as any other', async () => {
    const place = await newPlace([limit('rpm', 10)]);
    const leaseId = await lease(place, { rpm: 1 });
    await adjust(leaseId, { rpm: 1_000_000_000 });
    expect(await standing(place)).toEqual({ rpm: [-999_999_991, 1_000_000_001] });
    await release(leaseId);
    expect(await standing(place)).toEqual({ rpm: [10, 0] });
  });

  it('is judged by what the lease has out now, not by what another gateway knew of it', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await adjust(leaseId, { rpm: 5 });
    const key = randomUUID();
    expect(await adjust(leaseId, { rpm: -8 }, key, other)).toMatchObject({ replayed: false });
    expect(await adjust(leaseId, { rpm: -8 }, key)).toMatchObject({ replayed: true });
    expect(await standing(place)).toEqual({ rpm: [9, 1], tpm: [100, 0] });
  });

  it('sent again through another gateway is a repeat, also where it would not fit the lease as it was issued', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await adjust(leaseId, { rpm: 5 });
    const key = randomUUID();
    await adjust(leaseId, { rpm: -8 }, key);
    expect(await adjust(leaseId, { rpm: -8 }, key, other)).toMatchObject({ replayed: true });
  });
});

describe('an idempotency key', () => {
  it('applies once, through whichever gateway', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    expect(await adjust(leaseId, { rpm: 1 }, key)).toMatchObject({ replayed: false });
    for (const on of [app, other, app]) {
      expect(await adjust(leaseId, { rpm: 1 }, key, on)).toMatchObject({
        leaseId,
        replayed: true,
        statuses: [{ limit: { name: 'rpm' }, available: 5 }, { available: 100 }],
      });
    }
    expect(await standing(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('applies once when it is sent many times at once, through two gateways', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, i) => adjust(leaseId, { rpm: 1 }, key, i % 2 ? app : other)),
    );
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await standing(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('with other amounts is a conflict', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    await adjust(leaseId, { rpm: 1, tpm: 2 }, key);
    expect(await adjust(leaseId, { tpm: 2, rpm: 1 }, key.toUpperCase())).toMatchObject({ replayed: true });
    for (const amounts of [{ rpm: 2 }, { rpm: 1 }, { rpm: 1, tpm: 3 }] as Amounts[]) {
      for (const on of [app, other]) expect(await adjustCode(leaseId, amounts, key, on)).toBe('IDEMPOTENCY_CONFLICT');
    }
    const { errors } = await app.admin.send(op.AdjustLeaseDocument, change(leaseId, { rpm: 3 }, key));
    expect(errors?.[0]?.message).toBe(`the key ${key} has adjusted this lease by something else`);
    expect(await standing(place)).toEqual({ rpm: [5, 5], tpm: [98, 2] });
  });

  it('of one lease says nothing of another', async () => {
    const place = await newPlace();
    const [first, second] = [await lease(place), await lease(place)];
    const key = randomUUID();
    await adjust(first, { rpm: -1 }, key);
    expect(await adjust(second, { rpm: -2 }, key)).toMatchObject({ replayed: false });
    expect(await standing(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('is remembered after the release', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    await adjust(leaseId, { rpm: 1 }, key);
    await release(leaseId);
    for (const on of [app, other]) expect(await adjust(leaseId, { rpm: 1 }, key, on)).toMatchObject({ replayed: true });
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });
});

describe('releasing a lease', () => {
  it('gives back all that it took, once', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4, tpm: 50 });
    await lease(place, { rpm: 5 });
    expect(await release(leaseId)).toMatchObject({
      leaseId,
      replayed: false,
      statuses: [
        { requested: -4, available: 5, exceeded: false },
        { requested: -50, available: 100, exceeded: false },
      ],
    });
    for (const on of [app, other])
      expect(await release(leaseId, on)).toMatchObject({
        leaseId,
        replayed: true,
        statuses: [{ available: 5 }, { available: 100 }],
      });
    expect(await standing(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('gives back what it has out after adjusts, a debt included', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await adjust(leaseId, { rpm: 20 });
    await adjust(leaseId, { rpm: -3, tpm: 7 }, undefined, other);
    await release(leaseId);
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('gives back once when it is sent many times at once, through two gateways', async () => {
    const place = await newPlace();
    await lease(place, { rpm: 5 });
    const leaseId = await lease(place);
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => release(leaseId, i % 2 ? app : other)));
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await standing(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('of a lease that took nothing is done all the same', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 0 });
    expect(await release(leaseId)).toMatchObject({ replayed: false });
    expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect(await adjustCode(leaseId, { rpm: 1 })).toBe('LEASE_EXPIRED');
  });

  it('ends the lease: it can be adjusted no more', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    await release(leaseId);
    for (const on of [app, other]) expect(await adjustCode(leaseId, { rpm: 1 }, undefined, on)).toBe('LEASE_EXPIRED');
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('works for a lease that was taken with a request id, through the other gateway', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 }, { requestId: randomUUID() });
    await adjust(leaseId, { rpm: 1 }, undefined, other);
    expect(await release(leaseId)).toMatchObject({ replayed: false });
    expect(await release(leaseId, other)).toMatchObject({ replayed: true });
    expect(await standing(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('beside adjusts of the same lease, all at once, conserves what there is', async () => {
    const place = await newPlace([limit('rpm', 100), limit('tpm', 100)]);
    const leases = await Promise.all(
      Array.from({ length: 8 }, (_, i) => lease(place, { rpm: 5 }, {}, i % 2 ? app : other)),
    );
    await Promise.all(
      leases.flatMap((leaseId, i) => [
        ...[3, -2, 40].map((by, n) => app.admin.send(op.AdjustLeaseDocument, change(leaseId, { rpm: by, tpm: n }))),
        other.admin.send(op.AdjustLeaseDocument, change(leaseId, { rpm: -4 })),
        release(leaseId, i % 2 ? app : other),
      ]),
    );
    // Whatever went before the release, it gave back; whatever came after was refused.
    for (const leaseId of leases) expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect(await standing(place)).toEqual({ rpm: [100, 0], tpm: [100, 0] });
  });

  it('beside acquires on the same bucket, all at once, conserves what there is', async () => {
    const place = await newPlace([limit('rpm', 50)]);
    const out = await Promise.all(Array.from({ length: 20 }, () => lease(place, { rpm: 2 })));
    const results = await Promise.all([
      ...out.map((leaseId, i) => release(leaseId, i % 2 ? app : other).then(() => 0)),
      ...Array.from({ length: 30 }, async (_, i) => {
        const { acquire } = await (i % 2 ? app : other).admin.ask(op.AcquireDocument, {
          input: { ...place, consume: consumption({ rpm: 3 }) },
        });
        return acquire.__typename === 'Lease' ? 3 : 0;
      }),
    ]);
    const taken = results.reduce<number>((sum, amount) => sum + amount, 0);
    expect(taken).toBeLessThanOrEqual(50);
    expect(await standing(place)).toEqual({ rpm: [50 - taken, taken] });
  });
});

describe('a lease that is none', () => {
  const nowhere = async (caller: Caller, leaseId: string) => {
    const answers = [
      await caller.send(op.ReleaseLeaseDocument, { leaseId }),
      await caller.send(op.AdjustLeaseDocument, change(leaseId, { rpm: 1 })),
    ];
    return answers.map(({ data, errors }) =>
      JSON.stringify([data, errors?.map(({ message, extensions: { code } }) => [message, code])]),
    );
  };
  const notFound = ['[null,[["lease not found","NOT_FOUND"]]]', '[null,[["lease not found","NOT_FOUND"]]]'];

  it('is not found, byte for byte alike, be it forged, edited or of another org', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const { caller } = await newOrg(app);
    const middle = Math.floor(leaseId.length / 2);
    const edited = leaseId.slice(0, middle) + (leaseId[middle] === 'A' ? 'B' : 'A') + leaseId.slice(middle + 1);
    const forged = [
      '',
      'x',
      'x'.repeat(200),
      'x'.repeat(20_000),
      edited,
      `${leaseId}A`,
      leaseId.slice(0, -1),
      ` ${leaseId}`,
      `${leaseId}\n`,
      randomUUID(),
    ];
    for (const id of forged) expect(await nowhere(app.admin, id)).toEqual(notFound);
    for (const id of [...forged, leaseId]) expect(await nowhere(caller, id)).toEqual(notFound);
    expect(await standing(place)).toEqual({ rpm: [6, 4], tpm: [100, 0] });
  });

  it('is not found once the limiter was purged, nor is its bucket there', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const adjusted = await lease(place);
    await adjust(adjusted, { rpm: 1 });
    await app.admin.ask(op.PurgeLimiterDocument, { orgId: place.orgId });
    for (const id of [leaseId, adjusted]) expect(await nowhere(app.admin, id)).toEqual(notFound);
    expect(await standing(place)).toBeUndefined();
  });

  it('is told apart from one that has expired, after 24 hours', async () => {
    const place = await newPlace();
    const [leaseId, adjusted] = [await lease(place), await lease(place, { rpm: 2 }, { requestId: randomUUID() })];
    await adjust(adjusted, { rpm: 1 });
    app.clock.advance(dayMs - 60_000);
    await adjust(adjusted, { rpm: -1 });
    app.clock.advance(60_001);
    for (const id of [leaseId, adjusted]) {
      for (const on of [app, other])
        expect(await on.admin.codeOf(op.ReleaseLeaseDocument, { leaseId: id })).toBe('LEASE_EXPIRED');
      expect(await adjustCode(id, { rpm: -1 })).toBe('LEASE_EXPIRED');
    }
    const { errors } = await app.admin.send(op.ReleaseLeaseDocument, { leaseId });
    expect(errors?.[0]?.message).toBe('the lease has expired: what it took stays taken');
    expect((await standing(place))?.rpm).toEqual([4, 6]);
  });
});

describe('what happens between', () => {
  it('a bucket that is gone: the lease is settled without an error and nothing is made of it', async () => {
    const place = await newPlace();
    const [first, second] = [await lease(place), await lease(place)];
    await app.admin.ask(op.DeleteEntityDocument, { orgId: place.orgId, entityId: place.entityId });
    const key = randomUUID();
    for (const [on, replayed] of [
      [other, false],
      [app, true],
    ] as const)
      expect(await adjust(first, { rpm: 1 }, key, on)).toEqual({ leaseId: first, replayed, statuses: [], unknown: [] });
    expect(await release(first)).toMatchObject({ replayed: false });
    expect(await release(second, other)).toMatchObject({ replayed: false });
    expect(await release(second)).toMatchObject({ replayed: true });
    expect(await standing(place)).toBeUndefined();
  });

  it('a bucket that is gone and came again is another: nothing is given back to it', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    await app.admin.ask(op.DeleteEntityDocument, { orgId: place.orgId, entityId: place.entityId });
    await lease(place, { rpm: 1 });
    await release(leaseId);
    expect(await standing(place)).toMatchObject({ rpm: [9, 1] });
    await lease(place, { rpm: 9 });
    const { acquire } = await app.admin.ask(op.AcquireDocument, {
      input: { ...place, consume: consumption({ rpm: 1 }) },
    });
    expect(acquire.__typename).toBe('RateLimited');
  });

  it('raised limits: the release gives back what was taken', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await setLimits(place.orgId, [limit('rpm', 20), limit('tpm', 100)]);
    await lease(place, { rpm: 1 });
    expect((await release(leaseId)).statuses).toMatchObject([
      { limit: { capacity: 20 }, available: 9 },
      { available: 100 },
    ]);
    expect(await standing(place)).toEqual({ rpm: [9, 1], tpm: [100, 0] });
  });

  it('lowered limits: the release gives back no more than fits', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 8 });
    await setLimits(place.orgId, [limit('rpm', 3), limit('tpm', 100)]);
    await release(leaseId, other);
    await lease(place, { rpm: 3 });
    expect(await standing(place)).toEqual({ rpm: [0, 3], tpm: [100, 0] });
  });

  it('a limit that went away: the rest is given back, and what is gone is not missed', async () => {
    const place = await newPlace();
    const [first, second] = [await lease(place, { rpm: 2, tpm: 20 }), await lease(place, { rpm: 2, tpm: 20 })];
    await setLimits(place.orgId, [limit('rpm', 10)]);
    await lease(place, { rpm: 1 });
    expect((await adjust(first, { rpm: -1, tpm: 5 })).statuses).toMatchObject([
      { limit: { name: 'rpm' }, available: 6 },
    ]);
    await release(first);
    await release(second, other);
    expect(await standing(place)).toEqual({ rpm: [9, 1] });
  });

  it('a limit that is new: it can be adjusted neither up nor down by an older lease', async () => {
    const place = await newPlace([limit('rpm', 10)]);
    const leaseId = await lease(place, { rpm: 2 });
    await setLimits(place.orgId, [limit('rpm', 10), limit('tpm', 100)]);
    await lease(place, { rpm: 1, tpm: 1 });
    expect(await adjustIssues(leaseId, { tpm: 1 })).toEqual([
      { path: 'input.adjust.0.limit', message: 'the lease is of a bucket without a limit "tpm"' },
    ]);
    await release(leaseId);
    expect(await standing(place)).toEqual({ rpm: [9, 1], tpm: [99, 1] });
  });
});

describe('a lease of an entity that cascades', () => {
  async function newFamily(): Promise<{ child: Place; parent: Place }> {
    const child = await newPlace();
    const { orgId } = child;
    const parent = { ...child, entityId: 'team' };
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'team' } });
    await app.admin.ask(op.CreateEntityDocument, {
      input: { orgId, entityId: 'user-1', parentId: 'team', cascade: true },
    });
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY_DEFAULT', entityId: 'team', limits: [limit('rpm', 20)] },
    });
    return { child, parent };
  }

  it('is adjusted and released on both, a limit that only the child has on the child alone', async () => {
    const { child, parent } = await newFamily();
    const leaseId = await lease(child, { rpm: 4, tpm: 10 });
    expect(await standing(parent)).toEqual({ rpm: [16, 4] });
    expect((await adjust(leaseId, { rpm: 3, tpm: 5 })).statuses).toMatchObject([
      { entityId: 'user-1', limit: { name: 'rpm' }, requested: 3, available: 3 },
      { entityId: 'user-1', limit: { name: 'tpm' }, requested: 5, available: 85 },
      { entityId: 'team', limit: { name: 'rpm' }, requested: 3, available: 13 },
    ]);
    expect([await standing(child), await standing(parent)]).toEqual([{ rpm: [3, 7], tpm: [85, 15] }, { rpm: [13, 7] }]);
    await release(leaseId, other);
    expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect([await standing(child), await standing(parent)]).toEqual([
      { rpm: [10, 0], tpm: [100, 0] },
      { rpm: [20, 0] },
    ]);
  });

  it('with a request id takes from both at once, and is released from both', async () => {
    const { child, parent } = await newFamily();
    const leaseId = await lease(child, { rpm: 4 }, { requestId: randomUUID() });
    await adjust(leaseId, { rpm: 30 });
    expect([await standing(child), await standing(parent)]).toEqual([
      { rpm: [-24, 34], tpm: [100, 0] },
      { rpm: [-14, 34] },
    ]);
    await release(leaseId);
    expect([await standing(child), await standing(parent)]).toEqual([
      { rpm: [10, 0], tpm: [100, 0] },
      { rpm: [20, 0] },
    ]);
  });

  it('is settled on the child alone where the parent is gone since', async () => {
    const { child, parent } = await newFamily();
    const leaseId = await lease(child, { rpm: 4 });
    await app.admin.ask(op.DeleteEntityDocument, { orgId: child.orgId, entityId: 'team' });
    await adjust(leaseId, { rpm: 1 });
    await release(leaseId);
    expect([await standing(child), await standing(parent)]).toEqual([{ rpm: [10, 0], tpm: [100, 0] }, undefined]);
  });

  it('releases of many children at once give everything back to their parent', async () => {
    const { child, parent } = await newFamily();
    const children = Array.from({ length: 6 }, (_, i) => ({ ...child, entityId: `user-1${i}` }));
    for (const { orgId, entityId } of children)
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, parentId: 'team', cascade: true } });
    const leases = await Promise.all(children.map((place, i) => lease(place, { rpm: 3 }, {}, i % 2 ? app : other)));
    expect(await standing(parent)).toEqual({ rpm: [2, 18] });
    await Promise.all(
      leases.flatMap((leaseId, i) => [release(leaseId, i % 2 ? app : other), release(leaseId, i % 2 ? other : app)]),
    );
    expect(await standing(parent)).toEqual({ rpm: [20, 0] });
    for (const place of children) expect((await standing(place))?.rpm).toEqual([10, 0]);
  });
});

describe('who may settle a lease', () => {
  it('is every client of its org, whoever took it', async () => {
    const org = await newOrg(app);
    await setLimits(org.orgId, [limit('rpm', 10)]);
    const chat = await newApp(app, org);
    const input = { entityId: 'user-1', resource: 'api', consume: consumption({ rpm: 4 }) };
    const { acquire } = await org.caller.ask(op.AcquireDocument, { input });
    const { leaseId } = acquire as { leaseId: string };
    expect((await chat.caller.ask(op.AdjustLeaseDocument, change(leaseId, { rpm: 1 }))).adjustLease.replayed).toBe(
      false,
    );
    expect((await chat.caller.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease.replayed).toBe(false);
    expect((await org.caller.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease.replayed).toBe(true);
  });
});
