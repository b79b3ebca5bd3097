import { randomUUID } from 'node:crypto';
import { type TestApp, testEndpoint } from '../support/app.js';
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
const input = (entityId: string, amount: number, operationId: string = randomUUID(), limit = 'tokens') => ({
  input: { orgId: limiter.orgId, entityId, resource, limit, amount, operationId },
});
const topUp = async (entityId: string, amount: number, operationId?: string, via: TestApp = limiter.app) =>
  (await via.admin.ask(op.TopUpDocument, input(entityId, amount, operationId))).topUp;
const topUpCode = (...args: Parameters<typeof input>) => limiter.app.admin.codeOf(op.TopUpDocument, input(...args));

describe('a top-up', () => {
  it('gives tokens up to the burst and does not change the usage', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 100, { burst: 150 }));
    await limiter.take(entityId, tokens(130));
    expect(await topUp(entityId, 30)).toMatchObject({
      replayed: false,
      statuses: [{ available: 50, requested: 0, exceeded: false }],
    });
    expect(await limiter.balances(entityId)).toEqual({ tokens: [50, 130] });
    expect((await topUp(entityId, 1_000_000_000_000_000)).statuses).toMatchObject([{ available: 150 }]);
    await limiter.take(entityId, tokens(150), { via: limiter.other });
    await limiter.refused(entityId, tokens(1));
    expect(await limiter.balances(entityId)).toEqual({ tokens: [0, 280] });
  });

  it('pays a debt first', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    const { leaseId } = await limiter.take(entityId, tokens(10));
    await limiter.adjust(leaseId, tokens(25));
    expect((await topUp(entityId, 20)).statuses).toMatchObject([{ available: -5, exceeded: true }]);
    await limiter.refused(entityId, tokens(0));
    expect((await topUp(entityId, 8)).statuses).toMatchObject([{ available: 3, exceeded: false }]);
    await limiter.take(entityId, tokens(3));
    expect(await limiter.balances(entityId)).toEqual({ tokens: [0, 38] });
  });

  it('followed by a release never gives more than the burst', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10), { name: 'calls', capacity: 10, window: 'DAY' });
    const { leaseId } = await limiter.take(entityId, { tokens: 10, calls: 10 });
    for (const limit of ['tokens', 'calls'])
      await limiter.app.admin.ask(op.TopUpDocument, input(entityId, 10, randomUUID(), limit));
    await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [10, 0], calls: [10, 0] });
    await limiter.take(entityId, { tokens: 10, calls: 10 });
    await limiter.refused(entityId, { calls: 1 });
    await limiter.refused(entityId, { tokens: 1 });
  });

  it.each([2, 8])('is spread over %i shards by what each is missing', async (shards) => {
    const entityId = await limiter.entity(slowLimit('tokens', 80));
    await limiter.take(entityId, tokens(0));
    await limiter.shard(entityId, shards);
    // Through one gateway, so that some shards are emptied before others.
    for (let i = 0; i < 40; i++) await limiter.take(entityId, tokens(1));
    expect((await topUp(entityId, 20, randomUUID(), limiter.other)).statuses).toMatchObject([{ available: 60 }]);
    expect((await limiter.balances(entityId)).tokens).toEqual([60, 40]);
    expect((await topUp(entityId, 30)).statuses).toMatchObject([{ available: 80 }]);
    const { leaseId } = await limiter.take(entityId, tokens(80));
    await limiter.refused(entityId, tokens(1));
    await limiter.adjust(leaseId, tokens(40));
    expect((await topUp(entityId, 50)).statuses).toMatchObject([{ available: 10 }]);
    await limiter.take(entityId, tokens(10), { via: limiter.other });
    await limiter.refused(entityId, tokens(1));
    expect((await limiter.balances(entityId)).tokens).toEqual([0, 170]);
  });

  it('of a calendar limit gives back at most what the window has used', async () => {
    const entityId = await limiter.entity({ name: 'tokens', capacity: 10, window: 'DAY' });
    await limiter.take(entityId, tokens(3));
    expect((await topUp(entityId, 10)).statuses).toMatchObject([{ available: 10 }]);
    await limiter.take(entityId, tokens(10));
    await limiter.refused(entityId, tokens(1));
    expect((await topUp(entityId, 4, randomUUID(), limiter.other)).statuses).toMatchObject([{ available: 4 }]);
    await limiter.take(entityId, tokens(4), { via: limiter.other });
    limiter.clock.advance(86_400_000);
    expect((await topUp(entityId, 4)).statuses).toMatchObject([{ available: 10 }]);
    await limiter.take(entityId, tokens(10));
    await limiter.refused(entityId, tokens(1));
  });

  it('is applied once per operation id, for concurrent calls through two gateways', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 100));
    await limiter.take(entityId, tokens(100));
    const operationId = randomUUID();
    const all = await Promise.all(
      times(12, (i) => topUp(entityId, 7, operationId, i % 2 === 0 ? limiter.app : limiter.other)),
    );
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await limiter.balances(entityId)).toEqual({ tokens: [7, 100] });
    expect(await topUp(entityId, 7, operationId)).toMatchObject({ replayed: true, statuses: [{ available: 7 }] });
    for (const [amount, entity] of [
      [8, entityId],
      [7, 'another'],
    ] as const)
      expect(await topUpCode(entity, amount, operationId)).toBe('IDEMPOTENCY_CONFLICT');
    await Promise.all(times(10, (i) => topUp(entityId, 1, randomUUID(), i % 2 === 0 ? limiter.app : limiter.other)));
    expect(await limiter.balances(entityId)).toEqual({ tokens: [17, 100] });
  });

  it.each(['error-after', 'drop-reply'] as const)(
    'is applied once if the response of the database is lost (%s)',
    async (fault) => {
      const entityId = await limiter.entity(slowLimit('tokens', 100));
      await limiter.take(entityId, tokens(100));
      const rule = proxy.inject({ fault, operation: 'TransactWriteItems', table: 'limiter', nth: 1 });
      const operationId = randomUUID();
      expect(await topUp(entityId, 7, operationId)).toMatchObject({ replayed: false, statuses: [{ available: 7 }] });
      expect(rule.hits).toBe(1);
      expect(await topUp(entityId, 7, operationId, limiter.other)).toMatchObject({ replayed: true });
      expect(await limiter.balances(entityId)).toEqual({ tokens: [7, 100] });
    },
  );

  it('of a bucket that does not exist gives nothing, because it is full, but uses the operation id', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    const operationId = randomUUID();
    expect(await topUp(entityId, 5, operationId)).toEqual({ replayed: false, statuses: [] });
    await limiter.take(entityId, tokens(10));
    expect(await topUp(entityId, 5, operationId)).toMatchObject({ replayed: true, statuses: [{ available: 0 }] });
  });

  it('rejects unknown limits, concurrency limits and amounts below 1', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10), slotLimit('jobs', 5));
    await limiter.take(entityId, { tokens: 5, jobs: 1 });
    for (const [amount, limit] of [
      [1, 'nope'],
      [1, 'jobs'],
      [0, 'tokens'],
      [-1, 'tokens'],
    ] as const)
      expect(await topUpCode(entityId, amount, randomUUID(), limit)).toBe('BAD_USER_INPUT');
    expect(await limiter.balances(entityId)).toEqual({ tokens: [5, 5], jobs: [4, 1] });
  });

  it('is recorded once in the audit trail', async () => {
    const entityId = await limiter.entity(slowLimit('tokens', 10));
    await limiter.take(entityId, tokens(5));
    const operationId = randomUUID();
    for (const via of [limiter.app, limiter.other]) await topUp(entityId, 5, operationId, via);
    const { org } = await limiter.app.admin.ask(op.AuditDocument, { orgId: limiter.orgId, entityId, first: 10 });
    const events = org?.auditEvents.nodes.filter(({ action }) => action === 'limit_topped_up') ?? [];
    expect(events).toHaveLength(1);
    expect(Object.fromEntries(events[0]?.details.map(({ name, value }) => [name, value]) ?? [])).toEqual({
      limit: 'tokens',
      amount: '5',
      operation: operationId,
    });
  });
});
