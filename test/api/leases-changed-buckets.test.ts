import { randomUUID } from 'node:crypto';
import { type Caller, newOrg } from '../support/app.js';
import {
  adjust,
  adjustCode,
  adjustIssues,
  app,
  balances,
  change,
  consumption,
  dayMs,
  lease,
  limit,
  newPlace,
  other,
  type Place,
  release,
  setLimits,
  startGateways,
  stopGateways,
} from '../support/leases.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('a lease whose bucket has changed', () => {
  it('is adjusted and released without an error if the bucket was deleted, and creates no bucket', async () => {
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
    expect(await balances(place)).toBeUndefined();
  });

  it('gives nothing back to a new bucket of the same entity', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    await app.admin.ask(op.DeleteEntityDocument, { orgId: place.orgId, entityId: place.entityId });
    await lease(place, { rpm: 1 });
    await release(leaseId);
    expect(await balances(place)).toMatchObject({ rpm: [9, 1] });
    await lease(place, { rpm: 9 });
    const { acquire } = await app.admin.ask(op.AcquireDocument, {
      input: { ...place, consume: consumption({ rpm: 1 }) },
    });
    expect(acquire.__typename).toBe('RateLimited');
  });

  it('gives back what it took if the limits were raised', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 4 });
    await setLimits(place.orgId, [limit('rpm', 20), limit('tpm', 100)]);
    await lease(place, { rpm: 1 });
    expect((await release(leaseId)).statuses).toMatchObject([
      { limit: { capacity: 20 }, available: 9 },
      { available: 100 },
    ]);
    expect(await balances(place)).toEqual({ rpm: [9, 1], tpm: [100, 0] });
  });

  it('gives back no more than fits if the limits were lowered', async () => {
    const place = await newPlace();
    const leaseId = await lease(place, { rpm: 8 });
    await setLimits(place.orgId, [limit('rpm', 3), limit('tpm', 100)]);
    await release(leaseId, other);
    await lease(place, { rpm: 3 });
    expect(await balances(place)).toEqual({ rpm: [0, 3], tpm: [100, 0] });
  });

  it('gives back the other limits if a limit was removed', async () => {
    const place = await newPlace();
    const [first, second] = [await lease(place, { rpm: 2, tpm: 20 }), await lease(place, { rpm: 2, tpm: 20 })];
    await setLimits(place.orgId, [limit('rpm', 10)]);
    await lease(place, { rpm: 1 });
    expect((await adjust(first, { rpm: -1, tpm: 5 })).statuses).toMatchObject([
      { limit: { name: 'rpm' }, available: 6 },
    ]);
    await release(first);
    await release(second, other);
    expect(await balances(place)).toEqual({ rpm: [9, 1] });
  });

  it('cannot be adjusted by a limit that was added later', async () => {
    const place = await newPlace([limit('rpm', 10)]);
    const leaseId = await lease(place, { rpm: 2 });
    await setLimits(place.orgId, [limit('rpm', 10), limit('tpm', 100)]);
    await lease(place, { rpm: 1, tpm: 1 });
    expect(await adjustIssues(leaseId, { tpm: 1 })).toEqual([
      { path: 'input.adjust.0.limit', message: 'the lease has no limit "tpm"' },
    ]);
    await release(leaseId);
    expect(await balances(place)).toEqual({ rpm: [9, 1], tpm: [99, 1] });
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

  it('is adjusted and released on both buckets; limits of the child alone on its bucket only', async () => {
    const { child, parent } = await newFamily();
    const leaseId = await lease(child, { rpm: 4, tpm: 10 });
    expect(await balances(parent)).toEqual({ rpm: [16, 4] });
    expect((await adjust(leaseId, { rpm: 3, tpm: 5 })).statuses).toMatchObject([
      { entityId: 'user-1', limit: { name: 'rpm' }, requested: 3, available: 3 },
      { entityId: 'user-1', limit: { name: 'tpm' }, requested: 5, available: 85 },
      { entityId: 'team', limit: { name: 'rpm' }, requested: 3, available: 13 },
    ]);
    expect([await balances(child), await balances(parent)]).toEqual([{ rpm: [3, 7], tpm: [85, 15] }, { rpm: [13, 7] }]);
    await release(leaseId, other);
    expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect([await balances(child), await balances(parent)]).toEqual([
      { rpm: [10, 0], tpm: [100, 0] },
      { rpm: [20, 0] },
    ]);
  });

  it('with a request id takes from both buckets and is released from both', async () => {
    const { child, parent } = await newFamily();
    const leaseId = await lease(child, { rpm: 4 }, { requestId: randomUUID() });
    await adjust(leaseId, { rpm: 30 });
    expect([await balances(child), await balances(parent)]).toEqual([
      { rpm: [-24, 34], tpm: [100, 0] },
      { rpm: [-14, 34] },
    ]);
    await release(leaseId);
    expect([await balances(child), await balances(parent)]).toEqual([
      { rpm: [10, 0], tpm: [100, 0] },
      { rpm: [20, 0] },
    ]);
  });

  it('is adjusted and released on the child only if the parent was deleted', async () => {
    const { child, parent } = await newFamily();
    const leaseId = await lease(child, { rpm: 4 });
    await app.admin.ask(op.DeleteEntityDocument, { orgId: child.orgId, entityId: 'team' });
    await adjust(leaseId, { rpm: 1 });
    await release(leaseId);
    expect([await balances(child), await balances(parent)]).toEqual([{ rpm: [10, 0], tpm: [100, 0] }, undefined]);
  });

  it('gives everything back to the parent with concurrent releases of its children', async () => {
    const { child, parent } = await newFamily();
    const children = Array.from({ length: 6 }, (_, i) => ({ ...child, entityId: `user-1${i}` }));
    for (const { orgId, entityId } of children)
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, parentId: 'team', cascade: true } });
    const leases = await Promise.all(children.map((place, i) => lease(place, { rpm: 3 }, {}, i % 2 ? app : other)));
    expect(await balances(parent)).toEqual({ rpm: [2, 18] });
    await Promise.all(
      leases.flatMap((leaseId, i) => [release(leaseId, i % 2 ? app : other), release(leaseId, i % 2 ? other : app)]),
    );
    expect(await balances(parent)).toEqual({ rpm: [20, 0] });
    for (const place of children) expect((await balances(place))?.rpm).toEqual([10, 0]);
  });
});

describe('a lease id that is not valid', () => {
  const responsesTo = async (caller: Caller, leaseId: string) => {
    const responses = [
      await caller.send(op.ReleaseLeaseDocument, { leaseId }),
      await caller.send(op.AdjustLeaseDocument, change(leaseId, { rpm: 1 })),
    ];
    return responses.map(({ data, errors }) =>
      JSON.stringify([data, errors?.map(({ message, extensions: { code } }) => [message, code])]),
    );
  };
  const notFound = ['[null,[["lease not found","NOT_FOUND"]]]', '[null,[["lease not found","NOT_FOUND"]]]'];

  it('gets the same NOT_FOUND if it is forged, edited or of another org', async () => {
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
    for (const id of forged) expect(await responsesTo(app.admin, id)).toEqual(notFound);
    for (const id of [...forged, leaseId]) expect(await responsesTo(caller, id)).toEqual(notFound);
    expect(await balances(place)).toEqual({ rpm: [6, 4], tpm: [100, 0] });
  });

  it('gets NOT_FOUND after a purge of the limiter', async () => {
    const place = await newPlace();
    const leaseId = await lease(place);
    const adjusted = await lease(place);
    await adjust(adjusted, { rpm: 1 });
    await app.admin.ask(op.PurgeLimiterDocument, { orgId: place.orgId });
    for (const id of [leaseId, adjusted]) expect(await responsesTo(app.admin, id)).toEqual(notFound);
    expect(await balances(place)).toBeUndefined();
  });

  it('differs from an expired one, which gets LEASE_EXPIRED after 24 hours', async () => {
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
    expect(errors?.[0]?.message).toBe('the lease has expired and can no longer be changed; its tokens stay taken');
    expect((await balances(place))?.rpm).toEqual([4, 6]);
  });
});
