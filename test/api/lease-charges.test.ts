import { randomUUID } from 'node:crypto';
import { testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { Limiter, slotLimit, slowLimit, times } from '../support/limiter.js';
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
const createEntity = (entityId: string) =>
  limiter.app.admin.ask(op.CreateEntityDocument, { input: { orgId: limiter.orgId, entityId } });
/** An entity that was created, so that it can be deleted. */
async function newEntity(): Promise<string> {
  const entityId = await limiter.entity(slowLimit('tokens', 10));
  await createEntity(entityId);
  return entityId;
}
/** Deletes the entity and sets the same limits again, so that its next acquire creates a new bucket. */
async function deleteAndReset(entityId: string): Promise<void> {
  await limiter.app.admin.ask(op.DeleteEntityDocument, { orgId: limiter.orgId, entityId });
  await limiter.setLimits(entityId, slowLimit('tokens', 10));
}

describe('a charge without an idempotency key', () => {
  it('is applied by each call, can cause debt, and is not given back by a release', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    const { leaseId } = await limiter.take(entityId, tokens(4));
    expect(await limiter.charge(leaseId, tokens(5))).toMatchObject({
      leaseId,
      replayed: false,
      unknown: [],
      statuses: [{ requested: 5, available: 1 }],
    });
    expect((await limiter.charge(leaseId, tokens(5), limiter.other)).statuses).toMatchObject([
      { available: -4, exceeded: true },
    ]);
    await limiter.adjust(leaseId, tokens(1));
    await limiter.release(leaseId, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [0, 10] });
  });

  it('changes nothing if it is 0; a negative one is recorded as if it had a key', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    const { leaseId } = await limiter.take(entityId, tokens(4));
    await limiter.charge(leaseId, tokens(0));
    await limiter.charge(leaseId, tokens(-3));
    expect(
      await limiter.app.admin.codeOf(op.AdjustLeaseDocument, {
        input: { leaseId, adjust: [{ limit: 'tokens', amount: -2 }] },
      }),
    ).toBe('BAD_USER_INPUT');
    await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [10, 0] });
    expect(
      await limiter.app.admin.codeOf(op.AdjustLeaseDocument, {
        input: { leaseId, adjust: [{ limit: 'tokens', amount: 1 }] },
      }),
    ).toBe('LEASE_EXPIRED');
  });

  it('is also charged to the parent', async () => {
    const { child, parent } = await limiter.family(slowLimit('tokens', 10));
    const { leaseId } = await limiter.take(child, tokens(2));
    expect(await limiter.charge(leaseId, tokens(3))).toMatchObject({
      unknown: [],
      statuses: [{ entityId: child }, { entityId: parent }],
    });
    await limiter.release(leaseId);
    expect([await limiter.balances(child), await limiter.balances(parent)]).toEqual([
      { tokens: [7, 3] },
      { tokens: [7, 3] },
    ]);
  });

  it('adds up for concurrent charges through two gateways over several shards', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 320));
    const leases = await Promise.all(times(4, () => limiter.take(entityId, tokens(1))));
    await limiter.shard(entityId, 4);
    await Promise.all(
      times(40, (i) =>
        limiter.charge(leases[i % 4]?.leaseId as string, tokens(3), i % 2 === 0 ? limiter.app : limiter.other),
      ),
    );
    expect(await limiter.balances(entityId)).toEqual({ tokens: [196, 124] });
    for (const { leaseId } of leases) await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [200, 120] });
  });

  it.each(['error-after', 'drop-reply', 'error-before'] as const)(
    'is applied at most once if the database does not respond (%s)',
    async (fault) => {
      const entityId = await limiter.entity(slowLimit('tokens', 10));
      const { leaseId } = await limiter.take(entityId, tokens(1));
      const rule = proxy.inject({ fault, operation: 'UpdateItem', table: 'limiter', nth: 1 });
      const { errors } = await limiter.app.admin.send(op.AdjustLeaseDocument, {
        input: { leaseId, adjust: [{ limit: 'tokens', amount: 3 }] },
      });
      expect(rule.hits).toBe(1);
      const [available, total] = (await limiter.balances(entityId)).tokens as [number, number];
      expect(available + total).toBe(10);
      expect(total).toBeLessThanOrEqual(4);
      if (!errors) expect(total).toBe(4);
      else expect(errors.map(({ extensions }) => extensions.code)).toEqual(['SERVICE_UNAVAILABLE']);
    },
  );

  it('returns the entities for which it is unknown if they were charged', async () => {
    const { child, parent } = await limiter.family(slowLimit('tokens', 10));
    const { leaseId } = await limiter.take(child, tokens(1));
    const rule = proxy.inject({ fault: 'drop-reply', operation: 'UpdateItem', table: 'limiter', nth: 1 });
    const { unknown, statuses } = await limiter.charge(leaseId, tokens(2));
    expect(rule.hits).toBe(1);
    expect([child, parent]).toContain(unknown[0]);
    expect(unknown).toHaveLength(1);
    expect(statuses.map(({ entityId }) => entityId)).toEqual(
      [child, parent].filter((entityId) => entityId !== unknown[0]),
    );
    expect([await limiter.balances(child), await limiter.balances(parent)]).toEqual([
      { tokens: [7, 3] },
      { tokens: [7, 3] },
    ]);
  });
});

describe('a lease', () => {
  it.each(['app', 'other'] as const)(
    'of a deleted bucket neither charges the next bucket nor gives back to it (through %s)',
    async (via) => {
      const entityId = await newEntity();
      await limiter.take(entityId, tokens(1), { via: limiter.other });
      const { leaseId } = await limiter.take(entityId, tokens(5));
      await deleteAndReset(entityId);
      await limiter.charge(leaseId, tokens(3), limiter[via]);
      const next = await limiter.take(entityId, tokens(2));
      await limiter.charge(leaseId, tokens(3), limiter[via]);
      await limiter.adjust(leaseId, tokens(3), limiter[via]);
      await limiter.adjust(leaseId, tokens(-1), limiter[via]);
      await limiter.release(leaseId, limiter[via]);
      expect(await limiter.balances(entityId)).toEqual({ tokens: [8, 2] });
      // The other gateway has not seen this incarnation of the bucket.
      await limiter.adjust(next.leaseId, tokens(2), limiter[via]);
      expect(await limiter.balances(entityId)).toEqual({ tokens: [6, 4] });
      await limiter.release(next.leaseId, limiter[via]);
      expect(await limiter.balances(entityId)).toEqual({ tokens: [10, 0] });
    },
  );

  it('is found by a gateway that has cached an earlier incarnation of its bucket', async () => {
    const entityId = await newEntity();
    await limiter.take(entityId, tokens(1), { via: limiter.other });
    await deleteAndReset(entityId);
    const { leaseId } = await limiter.take(entityId, tokens(5));
    await limiter.charge(leaseId, tokens(1), limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [4, 6] });
    await limiter.release(leaseId, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [9, 1] });
  });

  it('holds only what was charged, and not adjustments made while its limit or its bucket did not exist', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10), slowLimit('other', 10));
    const { leaseId } = await limiter.take(entityId, { tokens: 0, other: 2 });
    await limiter.setLimits(entityId, slowLimit('other', 10));
    await limiter.take(entityId, { other: 1 });
    await limiter.adjust(leaseId, { tokens: 4, other: 1 });
    await limiter.setLimits(entityId, slowLimit('tokens', 10), slowLimit('other', 10));
    await limiter.take(entityId, tokens(6));
    const { errors } = await limiter.app.admin.send(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'tokens', amount: -4 }], idempotencyKey: randomUUID() },
    });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [4, 6], other: [9, 1] });

    const [deletedId, none] = [await newEntity(), tokens(0)];
    const lease = await limiter.take(deletedId, none);
    await deleteAndReset(deletedId);
    await limiter.adjust(lease.leaseId, tokens(4));
    await limiter.take(deletedId, tokens(6));
    await limiter.release(lease.leaseId, limiter.other);
    expect(await limiter.balances(deletedId)).toEqual({ tokens: [4, 6] });
  });

  it('of the maximum size (ten long limits, all shards, a parent) is adjusted and released', async () => {
    const long = (letter: string, length: number) => `${letter.repeat(length - 36)}${randomUUID()}`;
    const names = times(10, () => long('l', 64));
    const capacity = 1_000_000_000_000_000;
    const limits = names.map((name) => ({ name, capacity, refillPeriodSecs: 999_999_999 }));
    const [parent, child] = [long('p', 256), long('c', 256)];
    for (const entityId of [parent, child]) await limiter.setLimits(entityId, ...limits);
    await createEntity(parent);
    await limiter.app.admin.ask(op.CreateEntityDocument, {
      input: { orgId: limiter.orgId, entityId: child, parentId: parent, cascade: true },
    });
    const amounts = (amount: number) => Object.fromEntries(names.map((name) => [name, amount]));
    await limiter.take(child, amounts(0));
    for (const entityId of [parent, child]) await limiter.shard(entityId, 32);
    // Shares with fractions of a token, so that every part of the lease id has its maximum length.
    await limiter.take(child, amounts(capacity));
    limiter.clock.advance(499_999_123_457);
    const left = (await limiter.availability(child, {})).statuses[0]?.available as number;
    const { leaseId } = await limiter.take(child, amounts(left - 1), { requestId: randomUUID() });
    expect(leaseId.length).toBeGreaterThan(65_536);
    await limiter.charge(leaseId, amounts(2));
    await limiter.adjust(leaseId, amounts(3));
    await limiter.adjust(leaseId, amounts(-1), limiter.other);
    await limiter.release(leaseId, limiter.other);
    for (const entityId of [child, parent])
      expect(Object.values(await limiter.balances(entityId))).toEqual(names.map(() => [left - 2, capacity + 2]));
  });

  it('can be renewed if a hundred leases hold slots in its bucket', async () => {
    const entityId = await limiter.entity(...times(3, (i) => slotLimit(`${'s'.repeat(60)}${i}`, 100)));
    const all = Object.fromEntries(times(3, (i) => [`${'s'.repeat(60)}${i}`, 1]));
    const leases = await Promise.all(times(100, () => limiter.take(entityId, all)));
    await limiter.refused(entityId, all);
    await Promise.all(leases.map(({ leaseId }) => limiter.renew(leaseId, 100, limiter.other)));
    limiter.clock.advance(102_000);
    await limiter.take(entityId, all);
    expect(Object.values(await limiter.balances(entityId))).toEqual(times(3, () => [99, 101]));
  });
});
