import { randomUUID } from 'node:crypto';
import { Chance, testSeed } from '../support/chance.js';
import { type Lease, Limiter, slotLimit, slowLimit, times } from '../support/limiter.js';
import * as op from '../support/operations.js';

let limiter: Limiter;
beforeAll(async () => {
  limiter = await Limiter.start();
});
afterAll(() => limiter.stop());

const graceMs = 2000;
const one = { jobs: 1 };
const nowMs = () => limiter.clock.nowMs();
/** The leases that `count` concurrent acquires get. */
async function takeConcurrently(entityId: string, count: number): Promise<Lease[]> {
  const all = await Promise.all(
    times(count, (i) => limiter.acquire(entityId, one, { via: i % 2 === 0 ? limiter.app : limiter.other })),
  );
  return all.filter((each) => each.__typename === 'Lease');
}

describe('a concurrency limit', () => {
  it('accepts a capacity of 1 to 100, and neither burst, refill nor window', async () => {
    for (const capacity of [1, 100]) expect(await limiter.limitIssues(slotLimit('jobs', capacity))).toBeUndefined();
    expect(await limiter.limitIssues(slotLimit('jobs', 101))).toEqual([['BAD_USER_INPUT', 'input.limits.0.capacity']]);
    expect(await limiter.limitIssues(slotLimit('jobs', 0))).toEqual([['BAD_USER_INPUT', 'input.limits.0.capacity']]);
    expect(await limiter.limitIssues(slotLimit('jobs', 10, { burst: 20 }))).toEqual([
      ['BAD_USER_INPUT', 'input.limits.0.burst'],
    ]);
    expect(await limiter.limitIssues(slotLimit('jobs', 10, { refillAmount: 1 }))).toEqual([
      ['BAD_USER_INPUT', 'input.limits.0.refillAmount'],
    ]);
    expect(await limiter.limitIssues(slotLimit('jobs', 10, { window: 'DAY' }))).toEqual([
      ['BAD_USER_INPUT', 'input.limits.0.window'],
    ]);
  });

  it('accepts amounts of 0 and 1, and a lease of 0 holds nothing', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 1));
    const idle = await limiter.take(entityId, { jobs: 0 });
    expect(idle.renewBy).toBeNull();
    expect(await limiter.renewCode(idle.leaseId)).toBe('BAD_USER_INPUT');
    const held = await limiter.take(entityId, one);
    expect(held.statuses).toMatchObject([{ requested: 1, available: 0, exceeded: false }]);
    await limiter.release(idle.leaseId);
    await limiter.refused(entityId, one);
    expect(await limiter.app.admin.codeOf(op.AcquireDocument, limiter.input(entityId, { jobs: 2 }))).toBe(
      'BAD_USER_INPUT',
    );
  });

  it.each(['app', 'other'] as const)(
    'is freed by a release through %s, which may have cached an older state of the bucket',
    async (via) => {
      const entityId = await limiter.entity(slotLimit('jobs', 2));
      // Both gateways have seen the bucket before the slot is taken.
      for (const gateway of [limiter.app, limiter.other])
        await limiter.release((await limiter.take(entityId, one, { via: gateway })).leaseId, gateway);
      const leases = [await limiter.take(entityId, one), await limiter.take(entityId, one)];
      await limiter.refused(entityId, one);
      expect(await limiter.release(leases[0]?.leaseId as string, limiter[via])).toMatchObject({ replayed: false });
      expect(await limiter.balances(entityId)).toEqual({ jobs: [1, 1] });
      // A cached refusal may be repeated for a second.
      limiter.clock.age(1001);
      await limiter.take(entityId, one);
      await limiter.refused(entityId, one);
      expect(await limiter.release(leases[0]?.leaseId as string)).toMatchObject({ replayed: true });
      expect(await limiter.balances(entityId)).toEqual({ jobs: [0, 2] });
    },
  );

  it('frees a slot 2 s after renewBy and not a millisecond earlier, and a refusal returns that wait', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 2));
    const first = await limiter.take(entityId, one, { ttlSecs: 10 });
    expect(Date.parse(first.renewBy as string)).toBe(nowMs() + 10_000);
    limiter.clock.advance(3000);
    const second = await limiter.take(entityId, one);
    expect(Date.parse(second.renewBy as string)).toBe(nowMs() + 60_000);
    const { retryAfterSecs, violations } = await limiter.refused(entityId, one);
    expect(retryAfterSecs).toBe((7000 + graceMs) / 1000);
    expect(violations).toMatchObject([{ available: 0, requested: 1, exceeded: true, retryAfterSecs }]);
    expect(await limiter.availability(entityId, one)).toMatchObject({ retryAfterSecs });
    limiter.clock.advance(7000 + graceMs - 1);
    expect((await limiter.refused(entityId, one, { via: limiter.other })).retryAfterSecs).toBe(0.001);
    limiter.clock.advance(1);
    expect((await limiter.availability(entityId, one)).retryAfterSecs).toBe(0);
    await limiter.take(entityId, one);
    await limiter.refused(entityId, one);
    // A slot that was dropped counts as used and is not given back.
    await limiter.release(first.leaseId);
    await limiter.refused(entityId, one);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [0, 3] });
  });

  it.each(['app', 'other'] as const)('holds a slot longer after a renewal through %s', async (via) => {
    const entityId = await limiter.entity(slotLimit('jobs', 1));
    await limiter.release((await limiter.take(entityId, one, { via: limiter.other })).leaseId, limiter.other);
    const { leaseId } = await limiter.take(entityId, one, { ttlSecs: 10 });
    limiter.clock.advance(9000);
    expect(await limiter.renew(leaseId, 100, limiter[via])).toBe(nowMs() + 100_000);
    limiter.clock.advance(90_000);
    expect((await limiter.refused(entityId, one)).retryAfterSecs).toBe(12);
    expect(await limiter.renew(leaseId, undefined, limiter[via])).toBe(nowMs() + 60_000);
    limiter.clock.advance(60_000 + graceMs);
    await limiter.take(entityId, one);
    expect(await limiter.renewCode(leaseId, limiter[via])).toBe('LEASE_EXPIRED');
  });

  it('allows a late renewal while the slot is free, and at most until the lease expires', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 1));
    const { leaseId, expiresAt } = await limiter.take(entityId, one, { ttlSecs: 10 });
    limiter.clock.advance(60_000);
    expect(await limiter.renew(leaseId, 86_400)).toBe(Date.parse(expiresAt));
    expect((await limiter.refused(entityId, one)).retryAfterSecs).toBe(
      (Date.parse(expiresAt) + graceMs - nowMs()) / 1000,
    );
    limiter.clock.freeze(Date.parse(expiresAt));
    expect(await limiter.renewCode(leaseId)).toBe('LEASE_EXPIRED');
  });

  it('rejects a renewal after a release', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 1));
    const { leaseId } = await limiter.take(entityId, one);
    await limiter.release(leaseId, limiter.other);
    expect(await limiter.renewCode(leaseId)).toBe('LEASE_EXPIRED');
    expect((await limiter.balances(entityId)).jobs).toEqual([1, 0]);
  });

  it('rejects a ttl outside 1 to 86,400 s', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 1));
    const { leaseId } = await limiter.take(entityId, { jobs: 1 });
    for (const ttlSecs of [0, 86_401]) {
      expect(await limiter.app.admin.codeOf(op.AcquireDocument, limiter.input(entityId, one, { ttlSecs }))).toBe(
        'BAD_USER_INPUT',
      );
      expect(await limiter.app.admin.codeOf(op.RenewLeaseDocument, { leaseId, ttlSecs })).toBe('BAD_USER_INPUT');
    }
  });

  it('rejects adjustments with and without a key', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 3), slowLimit('tokens', 10));
    const { leaseId } = await limiter.take(entityId, { jobs: 1, tokens: 1 });
    for (const amount of [1, -1])
      for (const idempotencyKey of [randomUUID(), undefined]) {
        const input = { leaseId, adjust: [{ limit: 'jobs', amount }], ...(idempotencyKey ? { idempotencyKey } : {}) };
        expect(await limiter.app.admin.codeOf(op.AdjustLeaseDocument, { input })).toBe('BAD_USER_INPUT');
      }
    await limiter.adjust(leaseId, { tokens: 4 });
    expect(await limiter.balances(entityId)).toEqual({ jobs: [2, 1], tokens: [5, 5] });
  });

  it('never grants more than its capacity to a hundred concurrent callers through two gateways', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 7));
    const granted = await takeConcurrently(entityId, 100);
    expect(granted).toHaveLength(7);
    await limiter.refused(entityId, one);
    await Promise.all(
      granted.map(({ leaseId }, i) => limiter.release(leaseId, i % 2 === 0 ? limiter.other : limiter.app)),
    );
    expect(await limiter.balances(entityId)).toEqual({ jobs: [7, 0] });
    expect(await takeConcurrently(entityId, 100)).toHaveLength(7);
  });

  it('never grants more than its capacity while leases are released, renewed and expire', async () => {
    const chance = new Chance(testSeed);
    const capacity = 5;
    const entityId = await limiter.entity(slotLimit('jobs', capacity));
    const held = new Map<string, number>();
    for (let round = 0; round < 10; round++) {
      limiter.clock.age(1000 * chance.between(1, 8));
      limiter.clock.advance(1000 * chance.between(1, 8));
      for (const [leaseId, untilMs] of held) if (untilMs + graceMs <= nowMs()) held.delete(leaseId);
      const leaving = chance.shuffled([...held.keys()]).slice(0, chance.below(3));
      const renewing = chance
        .shuffled([...held.keys()].filter((leaseId) => !leaving.includes(leaseId)))
        .slice(0, chance.below(3));
      const vias = times(20, () => (chance.hit(0.5) ? limiter.app : limiter.other));
      const [, , acquired] = await Promise.all([
        Promise.all(leaving.map((leaseId, i) => limiter.release(leaseId, vias[i]))),
        Promise.all(renewing.map(async (leaseId, i) => held.set(leaseId, await limiter.renew(leaseId, 10, vias[i])))),
        Promise.all(vias.map((via, i) => limiter.acquire(entityId, one, { via, ttlSecs: 5 + (i % 10) }))),
      ]);
      for (const each of acquired)
        if (each.__typename === 'Lease') held.set(each.leaseId, Date.parse(each.renewBy as string));
      // Released slots may have been taken by others in this round.
      for (const leaseId of leaving) held.delete(leaseId);
      expect(held.size).toBeLessThanOrEqual(capacity);
      limiter.clock.age(1001);
      for (const via of [limiter.app, limiter.other, limiter.app, limiter.other, limiter.app]) {
        const each = await limiter.acquire(entityId, one, { via, ttlSecs: 5 });
        if (each.__typename === 'Lease') held.set(each.leaseId, Date.parse(each.renewBy as string));
      }
      expect(held.size).toBe(capacity);
      expect((await limiter.balances(entityId)).jobs?.[0]).toBe(0);
    }
  });

  it('is never split: its bucket cannot be doubled, and a sharded bucket that gets it is folded', async () => {
    const { buckets } = limiter.app.gateway.services;
    const entityId = await limiter.entity(slotLimit('jobs', 100));
    await limiter.take(entityId, one);
    expect(await buckets.double(limiter.id(entityId))).toBe(false);

    const sharded = await limiter.entity(slowLimit('tokens', 3200));
    for (let i = 0; i < 4; i++) await limiter.take(sharded, { tokens: 250 });
    await limiter.shard(sharded, 8);
    for (let i = 0; i < 4; i++) await limiter.take(sharded, { tokens: 250 });
    await limiter.setLimits(sharded, slowLimit('tokens', 3200), slotLimit('jobs', 2));
    expect((await limiter.bucket(sharded))?.shardCount).toBe(1);
    const leases = [
      await limiter.take(sharded, { jobs: 1, tokens: 100 }),
      await limiter.take(sharded, { jobs: 1 }, { via: limiter.other }),
    ];
    await limiter.refused(sharded, { jobs: 1 });
    expect(await limiter.balances(sharded)).toEqual({ jobs: [0, 2], tokens: [1100, 2100] });
    for (const { leaseId } of leases) await limiter.release(leaseId, limiter.other);
    expect(await limiter.balances(sharded)).toEqual({ jobs: [2, 0], tokens: [1200, 2000] });
  });

  it('is taken together with the rate limits of its bucket or not at all', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 2), slowLimit('tokens', 10));
    await limiter.take(entityId, { jobs: 1, tokens: 8 });
    await limiter.refused(entityId, { jobs: 1, tokens: 3 });
    expect(await limiter.balances(entityId)).toEqual({ jobs: [1, 1], tokens: [2, 8] });
    const last = await limiter.take(entityId, { jobs: 1, tokens: 1 });
    await limiter.refused(entityId, { jobs: 1, tokens: 1 });
    expect(await limiter.balances(entityId)).toEqual({ jobs: [0, 2], tokens: [1, 9] });
    await limiter.take(entityId, { tokens: 1 });
    await limiter.release(last.leaseId);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [1, 1], tokens: [1, 9] });
  });

  it('of a parent is held and freed together with that of its child', async () => {
    const { child, parent } = await limiter.family(slotLimit('jobs', 2));
    const sibling = await limiter.childOf(parent, slotLimit('jobs', 2));
    const lease = await limiter.take(child, one, { ttlSecs: 10 });
    await limiter.take(sibling, one);
    expect((await limiter.refused(sibling, one)).violations).toMatchObject([{ entityId: parent }]);
    expect(await limiter.balances(sibling)).toEqual({ jobs: [1, 1] });
    expect(await limiter.renew(lease.leaseId, 30, limiter.other)).toBe(nowMs() + 30_000);
    limiter.clock.advance(20_000);
    expect((await limiter.refused(sibling, one)).retryAfterSecs).toBe(12);
    await limiter.release(lease.leaseId, limiter.other);
    expect([await limiter.balances(child), await limiter.balances(parent)]).toEqual([
      { jobs: [2, 0] },
      { jobs: [1, 1] },
    ]);
    limiter.clock.age(1001);
    await limiter.take(sibling, one, { ttlSecs: 5 });
    limiter.clock.advance(60_000);
    await limiter.take(child, one);
    await limiter.take(sibling, one);
  });

  it('holds one slot for all retries of a request id, and each retry gets the current renewBy', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 3));
    const requestId = randomUUID();
    const leases = await Promise.all(
      times(10, (i) => limiter.take(entityId, one, { requestId, via: i % 2 === 0 ? limiter.app : limiter.other })),
    );
    expect(new Set(leases.map(({ renewBy }) => renewBy))).toEqual(new Set([new Date(nowMs() + 60_000).toISOString()]));
    expect(leases.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [2, 1] });
    const renewBy = await limiter.renew(leases[0]?.leaseId as string, 600, limiter.other);
    expect(await limiter.take(entityId, one, { requestId })).toMatchObject({
      replayed: true,
      renewBy: new Date(renewBy).toISOString(),
    });
    await limiter.release(leases[1]?.leaseId as string, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [3, 0] });
    expect(await limiter.app.admin.codeOf(op.AcquireDocument, limiter.input(entityId, one, { requestId }))).toBe(
      'LEASE_EXPIRED',
    );
  });

  it('treats a request id that is used again after a day as another lease', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 2));
    const requestId = randomUUID();
    const { expiresAt } = await limiter.take(entityId, one, { requestId, ttlSecs: 86_400 });
    limiter.clock.freeze(Date.parse(expiresAt) + 1);
    await limiter.take(entityId, one, { requestId, ttlSecs: 10 });
    await limiter.refused(entityId, one);
    limiter.clock.advance(graceMs);
    await limiter.take(entityId, one);
    limiter.clock.advance(60_000 + graceMs);
    expect(await takeConcurrently(entityId, 5)).toHaveLength(2);
  });

  it('grants nothing while more slots are held than a lowered capacity, and grants at once after a raise', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 3));
    const leases = [
      await limiter.take(entityId, one),
      await limiter.take(entityId, one),
      await limiter.take(entityId, one, { ttlSecs: 30 }),
    ];
    await limiter.setLimits(entityId, slotLimit('jobs', 1));
    const { retryAfterSecs, violations } = await limiter.refused(entityId, one);
    expect(retryAfterSecs).toBe(62);
    expect(violations).toMatchObject([{ available: -2 }]);
    await limiter.release(leases[0]?.leaseId as string, limiter.other);
    await limiter.release(leases[1]?.leaseId as string);
    expect((await limiter.refused(entityId, one)).retryAfterSecs).toBe(32);
    await limiter.setLimits(entityId, slotLimit('jobs', 2));
    await limiter.take(entityId, one);
    await limiter.refused(entityId, one);
    await limiter.release(leases[2]?.leaseId as string);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [1, 1] });
  });

  it('keeps its slots if it is removed and set again', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 2), slowLimit('tokens', 10));
    const leases = [await limiter.take(entityId, one), await limiter.take(entityId, one)];
    await limiter.setLimits(entityId, slowLimit('tokens', 10));
    await limiter.take(entityId, { tokens: 1 });
    await limiter.release(leases[0]?.leaseId as string);
    expect(await limiter.renew(leases[1]?.leaseId as string, 600)).toBe(nowMs() + 600_000);
    await limiter.setLimits(entityId, slotLimit('jobs', 2), slowLimit('tokens', 10));
    limiter.clock.advance(300_000);
    await limiter.take(entityId, one);
    expect((await limiter.refused(entityId, one)).retryAfterSecs).toBe(62);
  });

  it('has no held slots after its entity is deleted and created again', async () => {
    const entityId = await limiter.entity(slotLimit('jobs', 1));
    await limiter.app.admin.ask(op.CreateEntityDocument, { input: { orgId: limiter.orgId, entityId } });
    const { leaseId } = await limiter.take(entityId, one);
    await limiter.app.admin.ask(op.DeleteEntityDocument, { orgId: limiter.orgId, entityId });
    await limiter.setLimits(entityId, slotLimit('jobs', 1));
    const next = await limiter.take(entityId, one, { via: limiter.other });
    expect(await limiter.renewCode(leaseId)).toBe('LEASE_EXPIRED');
    await limiter.release(leaseId);
    await limiter.refused(entityId, one);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [0, 1] });
    await limiter.release(next.leaseId);
    expect(await limiter.balances(entityId)).toEqual({ jobs: [1, 0] });
  });

  it('keeps its slots at least as long as its bucket item exists', async () => {
    const org = await limiter.forOrg({});
    await org.app.admin.ask(op.SetLimitsDocument, {
      input: { orgId: org.orgId, level: 'SYSTEM', limits: [slotLimit('jobs', 1)] },
    });
    const { leaseId } = await org.take('e', one, { ttlSecs: 86_400 });
    const [item] = await org.items('e');
    expect(item?.ttl).toBeGreaterThan(nowMs() / 1000 + 86_402);
    limiter.clock.advance(((item?.ttl as number) + 1) * 1000 - nowMs());
    await org.take('e', one, { via: org.other });
    expect(await org.renewCode(leaseId)).toBe('LEASE_EXPIRED');
    await org.refused('e', one);
  });
});
