import { testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { Limiter, resource, slotLimit, slowLimit, times } from '../support/limiter.js';
import * as op from '../support/operations.js';

let proxy: FaultProxy;
let limiter: Limiter;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  limiter = await Limiter.start({ endpoint: proxy.endpoint });
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await limiter.stop();
  await proxy.stop();
});

const tokens = (amount: number) => ({ tokens: amount });
type Requests = Parameters<Limiter['acquireAll']>[0];

async function takeAll(requests: Requests, via = limiter.app) {
  const all = await limiter.acquireAll(requests, via);
  if (all.__typename !== 'Leases') throw new Error(all.message);
  return all.leases;
}

async function refusedAll(requests: Requests, via = limiter.app) {
  const all = await limiter.acquireAll(requests, via);
  if (all.__typename !== 'RateLimited') throw new Error('granted instead of refused');
  return all;
}

const codeOf = (requests: Requests) =>
  limiter.app.admin.codeOf(op.AcquireAllDocument, {
    input: {
      orgId: limiter.orgId,
      requests: requests.map(([entityId, amounts]) => ({
        entityId,
        resource,
        consume: Object.entries(amounts).map(([limit, amount]) => ({ limit, amount })),
      })),
    },
  });

const balances = (...entityIds: string[]) =>
  Promise.all(entityIds.map(async (entityId) => (await limiter.balances(entityId)).tokens));

describe('acquireAll', () => {
  it.each([1, 2, 8])('takes all of %i requests or none', async (count) => {
    const entityIds = await Promise.all(times(count, () => limiter.entity(slowLimit('tokens', 10))));
    const leases = await takeAll(entityIds.map((entityId, i) => [entityId, tokens(i + 1)]));
    expect(leases.map(({ entityId, statuses }) => [entityId, statuses[0]?.available, statuses.length])).toEqual(
      entityIds.map((entityId, i) => [entityId, 9 - i, 1]),
    );
    const last = entityIds.at(-1) as string;
    for (const via of [limiter.app, limiter.other]) {
      const refusal = await refusedAll(
        entityIds.map((entityId) => [entityId, tokens(entityId === last ? 10 : 1)]),
        via,
      );
      expect(refusal.violations).toMatchObject([{ entityId: last, requested: 10, available: 10 - count }]);
      expect(refusal.statuses.map(({ entityId }) => entityId)).toEqual(entityIds);
      expect(refusal.retryAfterSecs).toBe(refusal.violations[0]?.retryAfterSecs);
    }
    expect(await balances(...entityIds)).toEqual(entityIds.map((_, i) => [9 - i, i + 1]));
    expect((await limiter.usage(last)).tokens).toEqual({ consumed: count, refused: 2, wouldRefuse: 0 });
  });

  it('accepts 1 to 8 requests', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 100));
    expect(await codeOf([])).toBe('BAD_USER_INPUT');
    expect(await codeOf(times(9, () => [entityId, tokens(1)] as const))).toBe('BAD_USER_INPUT');
    expect(await limiter.bucket(entityId)).toBeNull();
  });

  it('names the invalid request and takes nothing', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    const consume = [
      { entityId, resource, consume: [{ limit: 'tokens', amount: 1 }] },
      { entityId, resource, consume: [{ limit: 'tokens', amount: 11 }] },
    ];
    const { errors } = await limiter.app.admin.send(op.AcquireAllDocument, {
      input: { orgId: limiter.orgId, requests: consume },
    });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: 'input.requests.1.consume.0.amount' }],
    });
    expect(await limiter.bucket(entityId)).toBeNull();
  });

  it('takes for two requests on one bucket and returns a lease for each', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    const twice = (amount: number): Requests => [
      [entityId, tokens(amount)],
      [entityId, tokens(amount)],
    ];
    const [first, second] = await takeAll(twice(3));
    const { violations, retryAfterSecs } = await refusedAll(twice(3));
    expect(violations).toMatchObject([{ entityId, requested: 6, available: 4 }]);
    expect(retryAfterSecs).toBe(2 * 10_000_000);
    expect(await codeOf(twice(6))).toBe('BAD_USER_INPUT');
    expect(await balances(entityId)).toEqual([[4, 6]]);
    await limiter.adjust(first?.leaseId as string, tokens(-1));
    await limiter.release(second?.leaseId as string, limiter.other);
    expect(await balances(entityId)).toEqual([[8, 2]]);
    await limiter.release(first?.leaseId as string);
    await takeAll(twice(5), limiter.other);
    expect(await balances(entityId)).toEqual([[0, 10]]);
  });

  it('takes for two children only if the bucket of their parent has enough for both', async () => {
    const parent = await limiter.entity(slowLimit('tokens', 10));
    const children = [
      await limiter.childOf(parent, slowLimit('tokens', 8)),
      await limiter.childOf(parent, slowLimit('tokens', 8)),
    ] as const;
    const [first] = await takeAll([
      [children[0], tokens(4)],
      [children[1], tokens(4)],
    ]);
    expect(await balances(parent, ...children)).toEqual([
      [2, 8],
      [4, 4],
      [4, 4],
    ]);
    const { violations } = await refusedAll([
      [children[0], tokens(2)],
      [children[1], tokens(1)],
    ]);
    expect(violations.map(({ entityId }) => entityId)).toContain(parent);
    expect(await balances(parent, ...children)).toEqual([
      [2, 8],
      [4, 4],
      [4, 4],
    ]);
    await limiter.release(first?.leaseId as string);
    expect(await balances(parent, ...children)).toEqual([
      [6, 4],
      [8, 0],
      [4, 4],
    ]);
  });

  it('holds one slot of a concurrency limit per request', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 3), slowLimit('tokens', 10));
    const other = await limiter.entity(slotLimit('jobs', 1));
    const leases = await takeAll([
      [entityId, { jobs: 1, tokens: 1 }, { ttlSecs: 10 }],
      [entityId, { jobs: 1 }],
      [other, { jobs: 1 }],
    ]);
    expect(leases.map(({ renewBy }) => Date.parse(renewBy as string) - limiter.clock.nowMs())).toEqual([
      10_000, 60_000, 60_000,
    ]);
    await refusedAll([
      [entityId, { jobs: 1 }],
      [entityId, { jobs: 1 }],
    ]);
    await refusedAll([
      [entityId, { jobs: 1 }],
      [other, { jobs: 1 }],
    ]);
    expect((await limiter.balances(entityId)).jobs).toEqual([1, 2]);
    await limiter.release(leases[2]?.leaseId as string, limiter.other);
    limiter.clock.age(1001);
    await takeAll([
      [entityId, { jobs: 1 }],
      [other, { jobs: 1 }],
    ]);
    await limiter.renew(leases[0]?.leaseId as string, 100, limiter.other);
    await limiter.release(leases[1]?.leaseId as string);
    expect((await limiter.balances(entityId)).jobs).toEqual([1, 2]);
  });

  it('never takes more than there is for concurrent calls with the buckets in any order', async () => {
    const [a, b] = [await limiter.entity(slowLimit('tokens', 20)), await limiter.entity(slowLimit('tokens', 30))];
    const attempts: Requests[] = times(40, (i) =>
      i % 3 === 0
        ? [
            [a, tokens(1)],
            [b, tokens(1)],
          ]
        : i % 3 === 1
          ? [
              [b, tokens(1)],
              [a, tokens(1)],
            ]
          : [[a, tokens(1)]],
    );
    const all = await Promise.all(
      attempts.map((each, i) => limiter.acquireAll(each, i % 2 === 0 ? limiter.app : limiter.other)),
    );
    const taken = attempts.filter((_, i) => all[i]?.__typename === 'Leases');
    expect(taken).toHaveLength(20);
    const both = taken.filter(({ length }) => length === 2).length;
    expect(await balances(a, b)).toEqual([
      [0, 20],
      [30 - both, both],
    ]);
  });

  it('applies limits that were changed through another gateway to every request', async () => {
    const [entityId, second] = [
      await limiter.entity(slowLimit('tokens', 10)),
      await limiter.entity(slowLimit('tokens', 10)),
    ];
    const requests: Requests = [
      [entityId, tokens(2)],
      [second, tokens(2)],
      [entityId, tokens(2)],
    ];
    await takeAll(requests, limiter.other);
    await limiter.setLimits(entityId, slowLimit('tokens', 20));
    await takeAll(requests, limiter.other);
    expect((await limiter.bucket(entityId))?.limits[0]?.limit.capacity).toBe(20);
    await limiter.setLimits(entityId, slowLimit('tokens', 1));
    const { errors } = await limiter.other.admin.send(op.AcquireAllDocument, {
      input: {
        orgId: limiter.orgId,
        requests: [1, 2].map((amount) => ({ entityId, resource, consume: [{ limit: 'tokens', amount }] })),
      },
    });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: 'input.requests.1.consume.0.amount' }],
    });
    expect((await balances(second))[0]).toEqual([6, 4]);
  });

  it('splits amounts that no single shard has, over several buckets with many shards', async () => {
    const entityIds = await Promise.all(times(5, () => limiter.entity(slowLimit('tokens', 320))));
    for (const entityId of entityIds) {
      await limiter.take(entityId, tokens(1));
      await limiter.shard(entityId, 32);
    }
    const leases = await takeAll(entityIds.map((entityId) => [entityId, tokens(300)]));
    expect(await balances(...entityIds)).toEqual(entityIds.map(() => [19, 301]));
    for (const { leaseId } of leases) await limiter.release(leaseId, limiter.other);
    expect(await balances(...entityIds)).toEqual(entityIds.map(() => [319, 1]));
  });

  it.each(['error-after', 'drop-reply'] as const)(
    'never takes twice if the response of the database is lost (%s)',
    async (fault) => {
      const [a, b] = [await limiter.entity(slowLimit('tokens', 10)), await limiter.entity(slowLimit('tokens', 10))];
      const requests: Requests = [
        [a, tokens(2)],
        [b, tokens(2)],
      ];
      await takeAll(requests);
      const rule = proxy.inject({ fault, operation: 'TransactWriteItems', table: 'limiter', nth: 1 });
      expect(await codeOf(requests)).toBe('SERVICE_UNAVAILABLE');
      expect(rule.hits).toBe(1);
      expect(await balances(a, b)).toEqual([
        [6, 4],
        [6, 4],
      ]);
      await takeAll(requests);
      expect(await balances(a, b)).toEqual([
        [4, 6],
        [4, 6],
      ]);
    },
  );
});
