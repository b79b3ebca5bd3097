import { randomUUID } from 'node:crypto';
import { newApp, newOrg } from '../support/app.js';
import {
  type Amounts,
  adjust,
  adjustCode,
  adjustIssues,
  app,
  balances,
  change,
  consumption,
  lease,
  limit,
  newPlace,
  other,
  release,
  setLimits,
  startGateways,
  stopGateways,
} from '../support/leases.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('adjustLease', () => {
  it('takes more and can cause debt', async () => {
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
    expect(await balances(place)).toEqual({ rpm: [-5, 15], tpm: [70, 30] });
  });

  it('gives tokens back', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4, tpm: 50 });
    expect((await adjust(leaseId, { rpm: -1, tpm: -50 })).statuses).toMatchObject([
      { requested: -1, available: 7 },
      { requested: -50, available: 100 },
    ]);
    expect(await balances(place)).toEqual({ rpm: [7, 3], tpm: [100, 0] });
  });

  it('gives back one limit and takes from another in one call', async () => {
    const place = await newPlace();
    await adjust(await lease(place, { rpm: 4 }), { rpm: -4, tpm: 20 });
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [80, 20] });
  });

  it('by 0 changes nothing and uses the key', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    expect(await adjust(leaseId, { rpm: 0 }, key)).toMatchObject({ replayed: false });
    expect(await adjust(leaseId, { rpm: 0 }, key)).toMatchObject({ replayed: true });
    expect(await balances(place)).toEqual({ rpm: [6, 4], tpm: [100, 0] });
  });

  it('gives back no more than the lease holds after earlier adjustments', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    expect(await adjustIssues(leaseId, { rpm: -5 })).toEqual([
      { path: 'input.adjust.0.amount', message: 'gives back more of "rpm" than the lease holds; the maximum is 4' },
    ]);
    expect(await adjustIssues(leaseId, { tpm: -1 })).toEqual([
      { path: 'input.adjust.0.amount', message: 'gives back more of "tpm" than the lease holds; the maximum is 0' },
    ]);
    await adjust(leaseId, { rpm: 2 });
    await adjust(leaseId, { rpm: -6 });
    expect(await adjustIssues(leaseId, { rpm: -1, tpm: 1 })).toHaveLength(1);
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it.each<[string, op.ConsumeInput[], { path: string; message: unknown }[]]>([
    [
      'a limit that the bucket does not have',
      consumption({ rpm: 1, nope: 1 }),
      [{ path: 'input.adjust.1.limit', message: 'the lease has no limit "nope"' }],
    ],
    ['nothing', [], [{ path: 'input.adjust', message: 'must name at least one limit' }]],
    [
      'the same limit twice',
      [...consumption({ rpm: 1 }), ...consumption({ rpm: -1 })],
      [{ path: 'input.adjust.1.limit', message: '"rpm" appears more than once' }],
    ],
    [
      'an amount above the maximum',
      consumption({ rpm: 2e15 }),
      [{ path: 'input.adjust.0.amount', message: 'must be a whole number from -1000000000000000 to 1000000000000000' }],
    ],
    ['an invalid name', consumption({ 'rpm\n': 1 }), [{ path: 'input.adjust.0.limit', message: expect.any(String) }]],
  ])('rejects %s and changes nothing', async (_what, amounts, issues) => {
    const place = await newPlace();
    const leaseId = await lease(place);
    expect(await adjustIssues(leaseId, amounts)).toEqual(issues);
    expect(await balances(place)).toEqual({ rpm: [6, 4], tpm: [100, 0] });
  });

  it('accepts sixteen adjustments per lease and rejects the next', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const keys = Array.from({ length: 16 }, () => randomUUID());
    for (const key of keys) await adjust(leaseId, { tpm: 1 }, key);
    expect(await adjustIssues(leaseId, { tpm: 1 })).toEqual([
      {
        path: 'input.idempotencyKey',
        message: 'a lease can be adjusted at most 16 times with an idempotencyKey; acquire a new lease',
      },
    ]);
    // A retry of one of the sixteen does not count.
    expect(await adjust(leaseId, { tpm: 1 }, keys[3])).toMatchObject({ replayed: true });
    expect(await balances(place)).toEqual({ rpm: [6, 4], tpm: [84, 16] });
    await release(leaseId);
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('accepts sixteen concurrent adjustments', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const responses = await Promise.all(
      Array.from({ length: 16 }, () => app.admin.send(op.AdjustLeaseDocument, change(leaseId, { tpm: 1 }))),
    );
    expect(responses.flatMap(({ errors }) => errors?.map(({ message }) => message) ?? [])).toEqual([]);
    expect(await balances(place)).toEqual({ rpm: [6, 4], tpm: [84, 16] });
    expect(await adjustIssues(leaseId, { tpm: 1 })).toHaveLength(1);
  });

  it('counts sums above what JSON can carry, and can give them back', async () => {
    const place = await newPlace([{ name: 'tpm', capacity: 100, refillPeriodSecs: 60 }]);
    const leaseId = await lease(place, { tpm: 1 });
    for (let i = 0; i < 10; i++) await adjust(leaseId, { tpm: 1e15 });
    expect(await balances(place)).toEqual({ tpm: [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] });
    await release(leaseId);
    expect(await balances(place)).toEqual({ tpm: [100, 0] });
  });

  it('can cause a debt that takes years to pay back', async () => {
    const place = await newPlace([limit('rpm', 10)]);
    const leaseId = await lease(place, { rpm: 1 });
    await adjust(leaseId, { rpm: 1_000_000_000 });
    expect(await balances(place)).toEqual({ rpm: [-999_999_991, 1_000_000_001] });
    await release(leaseId);
    expect(await balances(place)).toEqual({ rpm: [10, 0] });
  });

  it('checks against the current state of the lease if another gateway has cached an older one', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await adjust(leaseId, { rpm: 5 });
    const key = randomUUID();
    expect(await adjust(leaseId, { rpm: -8 }, key, other)).toMatchObject({ replayed: false });
    expect(await adjust(leaseId, { rpm: -8 }, key)).toMatchObject({ replayed: true });
    expect(await balances(place)).toEqual({ rpm: [9, 1], tpm: [100, 0] });
  });

  it('recognizes a retry through another gateway even if the first state of the lease would not allow it', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await adjust(leaseId, { rpm: 5 });
    const key = randomUUID();
    await adjust(leaseId, { rpm: -8 }, key);
    expect(await adjust(leaseId, { rpm: -8 }, key, other)).toMatchObject({ replayed: true });
  });
});

describe('an idempotency key of adjustLease', () => {
  it('applies once through any gateway', async () => {
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
    expect(await balances(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('applies once for concurrent calls through two gateways', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, i) => adjust(leaseId, { rpm: 1 }, key, i % 2 ? app : other)),
    );
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await balances(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('fails with a conflict if the amounts differ', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    await adjust(leaseId, { rpm: 1, tpm: 2 }, key);
    expect(await adjust(leaseId, { tpm: 2, rpm: 1 }, key.toUpperCase())).toMatchObject({ replayed: true });
    for (const amounts of [{ rpm: 2 }, { rpm: 1 }, { rpm: 1, tpm: 3 }] as Amounts[]) {
      for (const on of [app, other]) expect(await adjustCode(leaseId, amounts, key, on)).toBe('IDEMPOTENCY_CONFLICT');
    }
    const { errors } = await app.admin.send(op.AdjustLeaseDocument, change(leaseId, { rpm: 3 }, key));
    expect(errors?.[0]?.message).toBe(
      `idempotencyKey ${key} was already used with a different adjustment of this lease`,
    );
    expect(await balances(place)).toEqual({ rpm: [5, 5], tpm: [98, 2] });
  });

  it('is independent of the same key of another lease', async () => {
    const place = await newPlace();
    const [first, second] = [await lease(place), await lease(place)];
    const key = randomUUID();
    await adjust(first, { rpm: -1 }, key);
    expect(await adjust(second, { rpm: -2 }, key)).toMatchObject({ replayed: false });
    expect(await balances(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('is still recognized after the release', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const key = randomUUID();
    await adjust(leaseId, { rpm: 1 }, key);
    await release(leaseId);
    for (const on of [app, other]) expect(await adjust(leaseId, { rpm: 1 }, key, on)).toMatchObject({ replayed: true });
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });
});

describe('releaseLease', () => {
  it('gives back all that the lease took, once', async () => {
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
    expect(await balances(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('gives back what the lease holds after adjustments, a debt included', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await adjust(leaseId, { rpm: 20 });
    await adjust(leaseId, { rpm: -3, tpm: 7 }, undefined, other);
    await release(leaseId);
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('gives back once for concurrent calls through two gateways', async () => {
    const place = await newPlace();
    await lease(place, { rpm: 5 });
    const leaseId = await lease(place);
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => release(leaseId, i % 2 ? app : other)));
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await balances(place)).toEqual({ rpm: [5, 5], tpm: [100, 0] });
  });

  it('releases a lease that took nothing', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 0 });
    expect(await release(leaseId)).toMatchObject({ replayed: false });
    expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect(await adjustCode(leaseId, { rpm: 1 })).toBe('LEASE_EXPIRED');
  });

  it('ends the lease, so that it cannot be adjusted any more', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    await release(leaseId);
    for (const on of [app, other]) expect(await adjustCode(leaseId, { rpm: 1 }, undefined, on)).toBe('LEASE_EXPIRED');
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('releases a lease with a request id through another gateway', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 }, { requestId: randomUUID() });
    await adjust(leaseId, { rpm: 1 }, undefined, other);
    expect(await release(leaseId)).toMatchObject({ replayed: false });
    expect(await release(leaseId, other)).toMatchObject({ replayed: true });
    expect(await balances(place)).toEqual({ rpm: [10, 0], tpm: [100, 0] });
  });

  it('conserves tokens with concurrent adjustments of the same lease', async () => {
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
    // The release gave back all earlier adjustments; later ones were rejected.
    for (const leaseId of leases) expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect(await balances(place)).toEqual({ rpm: [100, 0], tpm: [100, 0] });
  });

  it('conserves tokens with concurrent acquires on the same bucket', async () => {
    const place = await newPlace([limit('rpm', 50)]);
    const leases = await Promise.all(Array.from({ length: 20 }, () => lease(place, { rpm: 2 })));
    const results = await Promise.all([
      ...leases.map((leaseId, i) => release(leaseId, i % 2 ? app : other).then(() => 0)),
      ...Array.from({ length: 30 }, async (_, i) => {
        const { acquire } = await (i % 2 ? app : other).admin.ask(op.AcquireDocument, {
          input: { ...place, consume: consumption({ rpm: 3 }) },
        });
        return acquire.__typename === 'Lease' ? 3 : 0;
      }),
    ]);
    const taken = results.reduce<number>((sum, amount) => sum + amount, 0);
    expect(taken).toBeLessThanOrEqual(50);
    expect(await balances(place)).toEqual({ rpm: [50 - taken, taken] });
  });
});

describe('permission to change a lease', () => {
  it('is given to every client of its org, whichever took it', async () => {
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
