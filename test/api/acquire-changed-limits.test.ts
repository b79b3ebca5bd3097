import { randomUUID } from 'node:crypto';
import {
  acquire,
  app,
  bucketOf,
  consumption,
  countLeases,
  granted,
  inputOf,
  issuesOf,
  minCalls,
  newPlace,
  other,
  refused,
  rpm,
  setLimits,
  startGateways,
  stopGateways,
} from '../support/acquire.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('a change of limits', () => {
  it('takes effect on the next acquire through the gateway that received it', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 });
    await setLimits(place.orgId, [rpm(5)]);
    expect((await issuesOf(inputOf(place, { rpm: 6 })))[0]?.path).toBe('input.consume.0.amount');
    expect((await granted(place, { rpm: 4 })).statuses).toMatchObject([
      { limit: { capacity: 5, burst: 5 }, available: 1 },
    ]);
    expect((await refused(place, { rpm: 2 })).retryAfterSecs).toBe(12);
  });

  it('takes effect through another gateway as soon as the bucket is written under it', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    await granted(place, { rpm: 1 });
    expect((await granted(place, { rpm: 4 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 5 }, available: 0 },
    ]);
    await refused(place, { rpm: 1 }, {}, other);
    await issuesOf(inputOf(place, { rpm: 6 }), other);
    // The gateway has refreshed its cached limits, so they apply to other entities too.
    await issuesOf(inputOf({ ...place, entityId: 'user-2' }, { rpm: 6 }), other);
  });

  it('takes effect for acquires with a request id', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    await granted(place, { rpm: 1 }, { requestId: randomUUID() });
    const requestId = randomUUID();
    expect((await granted(place, { rpm: 4 }, { requestId }, other)).statuses).toMatchObject([
      { limit: { capacity: 5 }, available: 0 },
    ]);
    expect(await granted(place, { rpm: 4 }, { requestId })).toMatchObject({
      replayed: true,
      statuses: [{ limit: { capacity: 5 }, available: 0 }],
    });
    await refused(place, { rpm: 1 }, { requestId: randomUUID() }, other);
  });

  it('does not affect a retry, even if the new limits are lower than the amount of the lease', async () => {
    const place = await newPlace([rpm(100)]);
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 50 }, { requestId });
    await setLimits(place.orgId, [rpm(5)]);
    expect(await granted(place, { rpm: 50 }, { requestId })).toMatchObject({ leaseId, replayed: true });
  });

  it('is not undone by a gateway that has cached the old limits', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => acquire(place, { rpm: 1 }, {}, i % 2 ? app : other)),
    );
    await acquire(place, { rpm: 0 });
    expect(await bucketOf(place)).toMatchObject({ limits: [{ limit: { capacity: 5 } }] });
    // Acquires through the other gateway before the first write under the new limits may still use the old ones.
    expect(countLeases(results)).toBeGreaterThanOrEqual(5);
    for (const on of [app, other]) await refused(place, { rpm: 5 }, {}, on);
  });

  it('takes effect through another gateway once it has polled the change', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    // After five seconds without a poll a gateway must read the change counter before it serves a request.
    app.clock.age(5001);
    app.clock.advance(5001);
    expect((await granted(place, { rpm: 0 }, {}, other)).statuses).toMatchObject([{ limit: { capacity: 5 } }]);
    await issuesOf(inputOf(place, { rpm: 6 }), other);
    expect((await granted(place, { rpm: 5 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 5 }, available: 0 },
    ]);
  });

  it('keeps the available tokens: after a raise they refill up to the new capacity', async () => {
    const place = await newPlace([rpm(10)]);
    await granted(place, { rpm: 8 });
    await setLimits(place.orgId, [rpm(60)]);
    expect((await granted(place, { rpm: 1 })).statuses).toMatchObject([{ limit: { capacity: 60 }, available: 1 }]);
    expect((await refused(place, { rpm: 31 })).retryAfterSecs).toBe(30);
    app.clock.advance(30_000);
    await granted(place, { rpm: 31 });
  });

  it('keeps a debt', async () => {
    const place = await newPlace([rpm(10)]);
    const { leaseId } = await granted(place, { rpm: 10 });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: consumption({ rpm: 20 }), idempotencyKey: randomUUID() },
    });
    await setLimits(place.orgId, [rpm(60)]);
    expect(await refused(place, { rpm: 0 })).toMatchObject({
      retryAfterSecs: 20,
      statuses: [{ available: -20, limit: { capacity: 60 } }],
    });
  });

  it('can add a limit to an existing bucket; the limit starts full', async () => {
    const place = await newPlace([rpm(10)]);
    await granted(place, { rpm: 8 });
    await setLimits(place.orgId, [rpm(10), rpm(3, { name: 'tpm' })]);
    expect((await granted(place, { rpm: 1, tpm: 1 })).statuses).toMatchObject([
      { limit: { name: 'rpm' }, available: 1 },
      { limit: { name: 'tpm' }, available: 2 },
    ]);
    await refused(place, { tpm: 3 });
  });

  it('can remove a limit from an existing bucket; set again, the limit continues where it was', async () => {
    const place = await newPlace([rpm(10), rpm(3, { name: 'tpm' })]);
    await granted(place, { rpm: 1, tpm: 3 });
    await refused(place, { tpm: 1 });
    await setLimits(place.orgId, [rpm(10)]);
    expect((await granted(place, { rpm: 1 })).statuses.map(({ limit }) => limit.name)).toEqual(['rpm']);
    expect((await issuesOf(inputOf(place, { tpm: 1 })))[0]?.path).toBe('input.consume.0.limit');
    expect((await bucketOf(place))?.limits.map(({ limit }) => limit.name)).toEqual(['rpm']);
    await setLimits(place.orgId, [rpm(10), rpm(3, { name: 'tpm' })]);
    await refused(place, { tpm: 1 });
    await setLimits(place.orgId, [rpm(10)]);
    await granted(place, { rpm: 1 });
    app.clock.advance(60_000);
    await setLimits(place.orgId, [rpm(10), rpm(3, { name: 'tpm' })]);
    expect((await granted(place, { tpm: 3 })).statuses).toMatchObject([{ available: 10 }, { available: 0 }]);
  });

  it('takes effect on both gateways when a level is deleted', async () => {
    const place = await newPlace([rpm(100)]);
    const own = { orgId: place.orgId, level: 'ENTITY', entityId: place.entityId, resource: place.resource } as const;
    await app.admin.ask(op.SetLimitsDocument, { input: { ...own, limits: [rpm(5)] } });
    await granted(place, { rpm: 5 }, {}, other);
    await app.admin.ask(op.DeleteLimitsDocument, { input: own });
    await granted(place, { rpm: 0 });
    expect((await refused(place, { rpm: 5 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 100 }, available: 0 },
    ]);
    expect((await refused(place, { rpm: 100 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 100 }, available: 0 },
    ]);
  });

  it.each(['by setLimits', 'by deleteLimits and setLimits'])(
    '%s is read once by another gateway: after that an acquire is one call again',
    async (how) => {
      const place = await newPlace([rpm(100)]);
      await granted(place, { rpm: 1 }, {}, other);
      if (how === 'by deleteLimits and setLimits')
        await app.admin.ask(op.DeleteLimitsDocument, { input: { orgId: place.orgId, level: 'SYSTEM' } });
      await setLimits(place.orgId, [rpm(50)]);
      await granted(place, { rpm: 1 });
      await granted(place, { rpm: 1 }, {}, other);
      expect(await minCalls(() => granted(place, { rpm: 1 }, {}, other), other)).toBe(1);
    },
  );

  it('that raises a limit is found by a gateway whose cached limits would reject the amount', async () => {
    const place = await newPlace([rpm(5)]);
    await granted(place, { rpm: 5 }, {}, other);
    await setLimits(place.orgId, [rpm(100)]);
    await granted(place, { rpm: 0 });
    expect((await refused(place, { rpm: 100 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 100 }, available: 0 },
    ]);
  });

  it('that adds a limit is found by a gateway whose cached limits do not have it', async () => {
    const place = await newPlace([rpm(5)]);
    await granted(place, { rpm: 5 }, {}, other);
    await setLimits(place.orgId, [rpm(5), rpm(3, { name: 'tpm' })]);
    await granted(place, { rpm: 0 });
    expect((await granted(place, { tpm: 1 }, {}, other)).statuses).toMatchObject([
      { available: 0 },
      { limit: { name: 'tpm' }, available: 2 },
    ]);
  });

  it('that sets the first limits is found at once by a gateway that has cached that there were none', async () => {
    const place = await newPlace([]);
    await issuesOf(inputOf(place, { rpm: 1 }), other);
    await setLimits(place.orgId, [rpm(5)]);
    await granted(place, { rpm: 1 });
    await granted(place, { rpm: 1 }, {}, other);
  });
});
