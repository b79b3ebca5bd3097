import { randomUUID } from 'node:crypto';
import {
  acquire,
  app,
  availabilityOf,
  bucketOf,
  consumption,
  countLeases,
  dayMs,
  granted,
  inputOf,
  left,
  minCalls,
  newPlace,
  other,
  refused,
  release,
  rpm,
  setLimits,
  startGateways,
  stopGateways,
} from '../support/acquire.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('acquire', () => {
  it('returns the status of every limit after it and the end of the lease', async () => {
    const place = await newPlace([
      rpm(10, { burst: 15 }),
      { name: 'tpm', capacity: 1000, refillAmount: 500, refillPeriodSecs: 30 },
    ]);
    const lease = await granted(place, { rpm: 2 });
    expect(lease).toMatchObject({ entityId: 'user-1', resource: 'api', degraded: false, replayed: false });
    expect(lease.statuses).toEqual([
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'rpm', capacity: 10, burst: 15, refillAmount: 10, refillPeriodSecs: 60 },
        requested: 2,
        available: 13,
        exceeded: false,
        retryAfterSecs: 0,
        wouldRefuse: false,
      },
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'tpm', capacity: 1000, burst: 1000, refillAmount: 500, refillPeriodSecs: 30 },
        requested: 0,
        available: 1000,
        exceeded: false,
        retryAfterSecs: 0,
        wouldRefuse: false,
      },
    ]);
    expect(Date.parse(lease.expiresAt)).toBe(app.clock.nowMs() + dayMs);
    expect(lease.leaseId).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it('creates the bucket in the write that takes from it, once the limits are cached', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 1 });
    let next = 2;
    const fresh = () => granted({ ...place, entityId: `user-${next++}` }, { rpm: 1 });
    const { consumed } = app.gateway.services.store;
    const before = consumed.write;
    await fresh();
    expect(consumed.write - before).toBeGreaterThan(0);
    // The entity and its levels are read in one batch each, then one write follows.
    expect(await minCalls(fresh)).toBeLessThanOrEqual(3);
    expect(await bucketOf({ ...place, entityId: 'user-2' })).toMatchObject({
      shardCount: 1,
      limits: [{ available: 9, totalConsumed: 1 }],
    });
  });

  it('costs one call to the database if the bucket is cached', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 });
    expect(await minCalls(() => granted(place, { rpm: 1 }))).toBe(1);
  });

  it('keeps entities, resources and orgs separate', async () => {
    const place = await newPlace([rpm(1)]);
    await granted(place, { rpm: 1 });
    await granted({ ...place, entityId: 'user-2' }, { rpm: 1 });
    await granted({ ...place, resource: 'api/v2' }, { rpm: 1 });
    await granted(await newPlace([rpm(1)]), { rpm: 1 });
    await refused(place, { rpm: 1 });
  });

  it('accepts names with every allowed character', async () => {
    const limits = ['a', 'a-b', 'a.b', 'a_b', 'a_fa', 'b_a_cp', 'A'].map((name) => rpm(5, { name }));
    const place = {
      ...(await newPlace(limits)),
      entityId: `0${'a_.-:@'.repeat(42)}zzz`,
      resource: 'v1/chat:complete_x.y-z/',
    };
    expect(place.entityId).toHaveLength(256);
    const lease = await granted(place, { 'a-b': 1, 'a.b': 2, a_fa: 3 });
    expect(Object.fromEntries(lease.statuses.map(({ limit, available }) => [limit.name, available]))).toEqual({
      A: 5,
      a: 5,
      'a-b': 4,
      'a.b': 3,
      a_b: 5,
      a_fa: 2,
      b_a_cp: 5,
    });
    expect(await left(place, 'a.b')).toBe(3);
    await refused(place, { 'a.b': 4 });
    const long = { ...place, resource: `r${'/'.repeat(63)}` };
    await granted(long, { a: 1 });
    expect(await left(long, 'a')).toBe(4);
  });

  it('takes up to 10^15 tokens and counts them exactly', async () => {
    const place = await newPlace([rpm(1e15)]);
    expect((await granted(place, { rpm: 1e15 - 1 })).statuses[0]?.available).toBe(1);
    await refused(place, { rpm: 2 });
    expect((await granted(place, { rpm: 1 })).statuses[0]?.available).toBe(0);
    await refused(place, { rpm: 1 });
  });

  it('works with the slowest limits that can be set', async () => {
    const place = await newPlace([rpm(1e15, { refillAmount: 1, refillPeriodSecs: 1_000_000_000 })]);
    expect((await granted(place, { rpm: 1 })).statuses[0]?.available).toBe(1e15 - 1);
    expect((await granted(place, { rpm: 1e15 - 1 })).statuses[0]?.available).toBe(0);
    await refused(place, { rpm: 1 });
  });

  it('grants no more than the burst after any idle time', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 100 });
    app.clock.advance(3_600_000);
    const results = await Promise.all(Array.from({ length: 21 }, () => acquire(place, { rpm: 10 })));
    expect(countLeases(results)).toBe(10);
  });
});

describe('a refusal', () => {
  it('returns the status of every limit and the violations, and takes nothing', async () => {
    const place = await newPlace([rpm(10), { name: 'tpm', capacity: 600, refillPeriodSecs: 60 }]);
    await granted(place, { rpm: 2, tpm: 600 });
    const result = await refused(place, { rpm: 3, tpm: 60 });
    expect(result.statuses).toMatchObject([
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'rpm' },
        requested: 3,
        available: 8,
        exceeded: false,
        retryAfterSecs: 0,
      },
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'tpm' },
        requested: 60,
        available: 0,
        exceeded: true,
        retryAfterSecs: 6,
      },
    ]);
    expect(result.violations).toEqual([result.statuses[1]]);
    expect(result.retryAfterSecs).toBe(6);
    expect(result.message).toBe('rate limited on "api": "tpm" of "user-1" has 0 of 60 requested tokens; retry in 6 s');
    expect((await bucketOf(place))?.limits).toMatchObject([
      { available: 8, totalConsumed: 2 },
      { available: 0, totalConsumed: 600 },
    ]);
  });

  it.each([
    ['seven per minute', rpm(7)],
    ['one per seven seconds', rpm(3, { refillAmount: 1, refillPeriodSecs: 7 })],
    ['1001 per second', rpm(1001, { refillPeriodSecs: 1 })],
    ['one per day with a burst of two', rpm(1, { burst: 2, refillPeriodSecs: 86_400 })],
  ])('of %s ends at the promised millisecond and not one earlier', async (_what, limit) => {
    const place = await newPlace([limit]);
    await granted(place, { rpm: limit.burst ?? limit.capacity });
    if (limit.capacity < 1000) app.clock.advance(17);
    const { retryAfterSecs } = await refused(place, { rpm: 1 });
    const waitMs = Math.round(retryAfterSecs * 1000);
    expect(waitMs / 1000).toBe(retryAfterSecs);
    for (let leftMs = waitMs; leftMs > 1; ) {
      expect((await refused(place, { rpm: 1 })).retryAfterSecs).toBe(leftMs / 1000);
      const halfMs = Math.floor(leftMs / 2);
      app.clock.advance(halfMs);
      leftMs -= halfMs;
    }
    expect((await refused(place, { rpm: 1 })).retryAfterSecs).toBe(0.001);
    expect((await refused(place, { rpm: 1 }, {}, other)).retryAfterSecs).toBe(0.001);
    app.clock.advance(1);
    await granted(place, { rpm: 1 }, {}, other);
    await refused(place, { rpm: 1 });
  });

  it('returns the wait of the slowest limit that refuses', async () => {
    const place = await newPlace([rpm(10), { name: 'rpd', capacity: 10, refillPeriodSecs: 86_400 }]);
    await granted(place, { rpm: 10, rpd: 10 });
    expect(await refused(place, { rpm: 1, rpd: 1 })).toMatchObject({
      retryAfterSecs: 8640,
      violations: [{ limit: { name: 'rpd' } }, { limit: { name: 'rpm' } }],
    });
  });

  it('sends the wait and the status of every limit in headers; a grant sends the statuses too', async () => {
    const place = await newPlace([
      rpm(10, { burst: 20, refillAmount: 5 }),
      { name: 'tpm', capacity: 60, refillPeriodSecs: 60 },
    ]);
    const names = ['retry-after', 'ratelimit', 'ratelimit-policy'];
    const first = await app.admin.send(op.AcquireDocument, { input: inputOf(place, { rpm: 20, tpm: 1 }) });
    const policy = '"rpm";q=5;w=60, "tpm";q=60;w=60';
    expect(names.map((name) => first.headers.get(name))).toEqual([null, '"rpm";r=0;t=240, "tpm";r=59;t=1', policy]);
    app.clock.advance(1);
    const { status, headers, errors, data } = await app.admin.send(op.AcquireDocument, {
      input: inputOf(place, { rpm: 1, tpm: 1 }),
    });
    expect([status, errors, data?.acquire.__typename]).toEqual([200, undefined, 'RateLimited']);
    expect(names.map((name) => headers.get(name))).toEqual(['12', '"rpm";r=0;t=12, "tpm";r=59;t=1', policy]);
  });

  it('keeps its headers if a later acquire of the same operation is granted', async () => {
    const place = await newPlace([rpm(10)]);
    const both = `mutation ($a: AcquireInput!, $b: AcquireInput!) {
      a: acquire(input: $a) { __typename }
      b: acquire(input: $b) { __typename }
    }`;
    await granted(place, { rpm: 10 });
    const { headers } = await app.admin.send(both, {
      a: inputOf(place, { rpm: 1 }),
      b: inputOf({ ...place, entityId: 'user-2' }, { rpm: 1 }),
    });
    expect([headers.get('retry-after'), headers.get('ratelimit')]).toEqual(['7', '"rpm";r=0;t=7']);
  });
});

describe('a cached refusal', () => {
  it('is repeated with every status and without a call to the database', async () => {
    const place = await newPlace([rpm(10), { name: 'tpm', capacity: 100, refillPeriodSecs: 60 }]);
    await granted(place, { rpm: 10, tpm: 10 });
    const first = await refused(place, { rpm: 1, tpm: 5 });
    expect(await minCalls(async () => expect(await refused(place, { rpm: 1, tpm: 5 })).toEqual(first))).toBe(0);
    app.clock.advance(1000);
    const later = await refused(place, { rpm: 1, tpm: 5 });
    expect(later).toMatchObject({ retryAfterSecs: 5, statuses: [{ available: 0 }, { available: 91 }] });
  });

  it('does not apply to a smaller amount', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 5 });
    await refused(place, { rpm: 6 });
    await granted(place, { rpm: 5 });
    await refused(place, { rpm: 1 });
    await granted(place, { rpm: 0 });
  });

  it('is dropped when tokens are given back', async () => {
    const place = await newPlace();
    const { leaseId } = await granted(place, { rpm: 10 });
    await refused(place, { rpm: 1 });
    await release(leaseId);
    await granted(place, { rpm: 10 });
    await refused(place, { rpm: 1 });
    const { leaseId: next } = await granted(place, { rpm: 0 });
    await refused(place, { rpm: 1 });
    await release(next);
    await refused(place, { rpm: 1 });
  });

  it('is dropped when the limits are changed through this gateway', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 10 });
    await refused(place, { rpm: 1 });
    await setLimits(place.orgId, [rpm(10), rpm(5, { name: 'other' })]);
    expect((await refused(place, { rpm: 1 })).statuses.map(({ limit }) => limit.name)).toEqual(['other', 'rpm']);
  });
});

describe('an acquire of 0', () => {
  it('is granted by an empty bucket and refused by a bucket in debt', async () => {
    const place = await newPlace();
    const { leaseId } = await granted(place, { rpm: 10 });
    expect((await granted(place, { rpm: 0 })).statuses).toMatchObject([
      { requested: 0, available: 0, exceeded: false },
    ]);
    const input = { leaseId, adjust: consumption({ rpm: 5 }), idempotencyKey: randomUUID() };
    await app.admin.ask(op.AdjustLeaseDocument, { input });
    const result = await refused(place, { rpm: 0 });
    expect(result).toMatchObject({
      retryAfterSecs: 30,
      violations: [{ requested: 0, available: -5, exceeded: true, retryAfterSecs: 30 }],
    });
    app.clock.advance(29_999);
    await refused(place, { rpm: 0 });
    app.clock.advance(1);
    await granted(place, { rpm: 0 });
  });

  it('creates the bucket', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 0 });
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 10, totalConsumed: 0 }] });
  });

  it('applies to limits that are left out: their debt refuses the acquire', async () => {
    const place = await newPlace([rpm(10), rpm(10, { name: 'tpm' })]);
    const { leaseId } = await granted(place, { tpm: 10 });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: consumption({ tpm: 1 }), idempotencyKey: randomUUID() },
    });
    expect((await refused(place, { rpm: 1 })).violations).toMatchObject([
      { limit: { name: 'tpm' }, requested: 0, available: -1 },
    ]);
  });
});

describe('concurrent acquires', () => {
  it('take exactly what fits from a bucket that does not exist yet', async () => {
    const place = await newPlace([rpm(60)]);
    const results = await Promise.all(Array.from({ length: 100 }, () => acquire(place, { rpm: 1 })));
    expect(countLeases(results)).toBe(60);
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 0, totalConsumed: 60 }] });
  });

  it('of different amounts never take more than there is, and none that still fits is refused', async () => {
    const place = await newPlace([rpm(100), rpm(50, { name: 'tpm' })]);
    const costs = Array.from({ length: 60 }, (_, i) => ({ rpm: (i % 7) + 1, tpm: i % 3 }));
    const results = await Promise.all(costs.map((cost) => acquire(place, cost)));
    const taken = costs.filter((_, i) => results[i]?.__typename === 'Lease');
    const spent = (name: 'rpm' | 'tpm') => taken.reduce((sum, cost) => sum + cost[name], 0);
    expect(await left(place)).toBe(100 - spent('rpm'));
    expect(await left(place, 'tpm')).toBe(50 - spent('tpm'));
    const smallest = Math.min(
      ...costs.filter((_, i) => results[i]?.__typename === 'RateLimited').map((cost) => cost.rpm),
    );
    expect(100 - spent('rpm') < smallest || 50 - spent('tpm') < 2).toBe(true);
  });

  it('through two gateways never take more than there is', async () => {
    const place = await newPlace([rpm(50)]);
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => acquire(place, { rpm: 1 }, {}, i % 2 ? app : other)),
    );
    expect(countLeases(results)).toBe(50);
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 0, totalConsumed: 50 }] });
    for (const on of [app, other]) await refused(place, { rpm: 1 }, {}, on);
  });

  it('leave the bucket unchanged if all tokens are given back', async () => {
    const place = await newPlace([rpm(40)]);
    const results = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const result = await acquire(place, { rpm: 1 }, {}, i % 2 ? app : other);
        if (result.__typename === 'Lease') await release(result.leaseId, i % 3 ? app : other);
        return result;
      }),
    );
    expect(countLeases(results)).toBeGreaterThanOrEqual(40);
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 40, totalConsumed: 0 }] });
  });
});

describe('availability', () => {
  it('returns what an acquire finds and changes nothing', async () => {
    const place = await newPlace([rpm(10), rpm(7, { name: 'tpm', refillPeriodSecs: 11 })]);
    await granted(place, { rpm: 7, tpm: 5 });
    app.clock.advance(777);
    for (const on of [app, other]) {
      for (const cost of [{ rpm: 4 }, { rpm: 10, tpm: 7 }, { tpm: 3 }, { rpm: 4, tpm: 1 }]) {
        const predicted = await availabilityOf(place, cost, on);
        const found = await refused(place, cost, {}, on);
        expect(predicted).toEqual({ statuses: found.statuses, retryAfterSecs: found.retryAfterSecs });
      }
    }
    const before = await bucketOf(place);
    expect(await availabilityOf(place)).toMatchObject({
      retryAfterSecs: 0,
      statuses: [
        { requested: 0, available: 3 },
        { requested: 0, available: 2 },
      ],
    });
    expect(await availabilityOf(place, { rpm: 3, tpm: 2 })).toMatchObject({ retryAfterSecs: 0 });
    expect(await bucketOf(place)).toEqual(before);
    await granted(place, { rpm: 3, tpm: 2 });
  });

  it('shows a full bucket if none exists, and creates none', async () => {
    const place = await newPlace([rpm(10, { burst: 30 })]);
    expect(await availabilityOf(place, { rpm: 30 })).toMatchObject({
      retryAfterSecs: 0,
      statuses: [{ requested: 30, available: 30, exceeded: false }],
    });
    expect(await bucketOf(place)).toBeNull();
  });

  it('applies limits that were set after the last write of the bucket', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 });
    await setLimits(place.orgId, [rpm(5), rpm(2, { name: 'tpm' })]);
    expect((await availabilityOf(place, { rpm: 5 })).statuses).toMatchObject([
      { limit: { name: 'rpm', capacity: 5 }, available: 5 },
      { limit: { name: 'tpm', capacity: 2 }, available: 2 },
    ]);
    expect(await bucketOf(place)).toMatchObject({
      limits: [
        { limit: { capacity: 5 }, available: 5, totalConsumed: 1 },
        { limit: { capacity: 2 }, available: 2 },
      ],
    });
  });

  it('rejects the same inputs as an acquire and names its own arguments', async () => {
    const place = await newPlace();
    const pathsOf = async (variables: op.AvailabilityQueryVariables) => {
      const { errors } = await app.admin.send(op.AvailabilityDocument, variables);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      return errors?.[0]?.extensions.issues?.map(({ path }) => path);
    };
    expect(await pathsOf({ ...place, consume: consumption({ rpm: 11 }) })).toEqual(['consume.0.amount']);
    expect(await pathsOf({ ...place, consume: consumption({ nope: 1 }) })).toEqual(['consume.0.limit']);
    expect(await pathsOf({ ...place, entityId: 'a\n', resource: '#' })).toEqual(['entityId', 'resource']);
    expect(await pathsOf(await newPlace([]))).toEqual(['resource']);
  });
});
