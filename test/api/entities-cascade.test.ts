import { randomUUID } from 'node:crypto';
import {
  acquire,
  app,
  balances,
  create,
  inputOf,
  issuesOf,
  limit,
  newOrgId,
  other,
  refusal,
  rpm,
  setLimits,
  startGateways,
  stopGateways,
  take,
} from '../support/entities.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('cascade', () => {
  async function newFamily(parentLimits: op.LimitInput[], childLimits: op.LimitInput[] = rpm(10)): Promise<string> {
    const orgId = await newOrgId(childLimits);
    await create(orgId, 'team');
    if (parentLimits.length > 0)
      await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'team', limits: parentLimits });
    await create(orgId, 'user-1', { parentId: 'team', cascade: true });
    return orgId;
  }
  const events = async (orgId: string, entityId: string) =>
    (await app.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'MONTHLY' })).org?.entity?.usage.nodes.map(
      ({ totalEvents }) => totalEvents,
    );

  it('takes from child and parent and returns the statuses of both', async () => {
    const orgId = await newFamily(rpm(20));
    const result = await acquire(orgId, 'user-1', { rpm: 4 });
    expect(result.statuses).toMatchObject([
      { entityId: 'user-1', requested: 4, available: 6 },
      { entityId: 'team', requested: 4, available: 16 },
    ]);
    expect([await events(orgId, 'user-1'), await events(orgId, 'team')]).toEqual([[1], [1]]);
  });

  it.each([undefined, randomUUID()])(
    'gives back what it took from the child if the parent refuses (request id %s)',
    async (requestId) => {
      const orgId = await newFamily(rpm(5));
      await take(orgId, 'user-1', { rpm: 3 });
      const more = requestId ? { requestId } : {};
      // The second refusal may come from the cache. It must be the same.
      for (let i = 0; i < 2; i++) {
        const result = await refusal(orgId, 'user-1', { rpm: 3 }, more);
        expect(result.statuses).toMatchObject([
          { entityId: 'user-1', resource: 'api', requested: 3, available: 7, exceeded: false },
          { entityId: 'team', resource: 'api', requested: 3, available: 2, exceeded: true },
        ]);
        expect(result.violations).toMatchObject([{ entityId: 'team' }]);
        expect(result.message).toContain('"rpm" of "team" has 2 of 3 requested tokens');
      }
      expect([await balances(orgId, 'user-1'), await balances(orgId, 'team')]).toEqual([
        { rpm: [7, 3] },
        { rpm: [2, 3] },
      ]);
      expect([await events(orgId, 'user-1'), await events(orgId, 'team')]).toEqual([[1], [1]]);
    },
  );

  it('gives back what it took from the parent if the child refuses', async () => {
    const orgId = await newFamily(rpm(50));
    await take(orgId, 'user-1', { rpm: 8 });
    const result = await refusal(orgId, 'user-1', { rpm: 3 });
    expect(result.statuses).toMatchObject([
      { entityId: 'user-1', available: 2, exceeded: true },
      { entityId: 'team', available: 42, exceeded: false },
    ]);
    expect([await balances(orgId, 'user-1'), await balances(orgId, 'team')]).toEqual([
      { rpm: [2, 8] },
      { rpm: [42, 8] },
    ]);
    expect([await events(orgId, 'user-1'), await events(orgId, 'team')]).toEqual([[1], [1]]);
  });

  it('is included in availability, which returns both statuses and changes nothing', async () => {
    const orgId = await newFamily(rpm(5));
    await take(orgId, 'user-1', { rpm: 3 });
    const variables = { orgId, entityId: 'user-1', resource: 'api', consume: [{ limit: 'rpm', amount: 3 }] };
    const { availability } = await app.admin.ask(op.AvailabilityDocument, variables);
    expect(availability.statuses).toMatchObject([
      { entityId: 'user-1', requested: 3, available: 7, exceeded: false },
      { entityId: 'team', requested: 3, available: 2, exceeded: true },
    ]);
    expect(availability.retryAfterSecs).toBeGreaterThan(0);
    expect([await balances(orgId, 'user-1'), await balances(orgId, 'team')]).toEqual([
      { rpm: [7, 3] },
      { rpm: [2, 3] },
    ]);
  });

  it('applies changed limits of the parent through either gateway', async () => {
    const orgId = await newFamily(rpm(20));
    for (const on of [app, other]) await take(orgId, 'user-1', { rpm: 1 }, {}, on);
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'team', limits: rpm(3) });
    await take(orgId, 'user-1', { rpm: 1 });
    expect((await refusal(orgId, 'user-1', { rpm: 3 }, {}, other)).violations).toMatchObject([
      { entityId: 'team', available: 2, limit: { capacity: 3 } },
    ]);
    expect((await refusal(orgId, 'user-1', { rpm: 3 }, { requestId: randomUUID() }, other)).violations).toMatchObject([
      { entityId: 'team', available: 2 },
    ]);
    expect([await balances(orgId, 'user-1'), await balances(orgId, 'team')]).toEqual([
      { rpm: [7, 3] },
      { rpm: [2, 3] },
    ]);
  });

  it('returns violations of both if both refuse', async () => {
    const orgId = await newFamily(rpm(10));
    await take(orgId, 'user-1', { rpm: 10 });
    expect((await refusal(orgId, 'user-1', { rpm: 1 })).violations).toMatchObject([
      { entityId: 'user-1' },
      { entityId: 'team' },
    ]);
  });

  it('never takes more from the parent than it has, for concurrent acquires of several children', async () => {
    const orgId = await newFamily(rpm(12));
    const children = ['user-1', 'user-2', 'user-3'];
    for (const entityId of children.slice(1)) await create(orgId, entityId, { parentId: 'team', cascade: true });
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        acquire(orgId, children[i % 3] as string, { rpm: 1 }, {}, i % 2 ? app : other),
      ),
    );
    const taken = results.filter(({ __typename }) => __typename === 'Lease').length;
    expect(taken).toBeLessThanOrEqual(12);
    const left = await Promise.all(children.map(async (entityId) => (await balances(orgId, entityId))?.rpm?.[1] ?? 0));
    expect(left.reduce((sum, consumed) => sum + consumed, 0)).toBe(taken);
    expect(await balances(orgId, 'team')).toEqual({ rpm: [12 - taken, taken] });
  });

  it('skips limits that the parent does not have', async () => {
    const orgId = await newFamily(rpm(20), [limit('rpm', 10), limit('tpm', 10)]);
    expect((await acquire(orgId, 'user-1', { rpm: 1, tpm: 2 })).statuses).toMatchObject([
      { entityId: 'user-1', limit: { name: 'rpm' }, available: 9 },
      { entityId: 'user-1', limit: { name: 'tpm' }, available: 8 },
      { entityId: 'team', limit: { name: 'rpm' }, available: 19 },
    ]);
    await take(orgId, 'user-1', { tpm: 1 });
    expect(await balances(orgId, 'team')).toEqual({ rpm: [19, 1] });
  });

  it('rejects amounts above the burst of the parent and a parent without limits, and takes nothing', async () => {
    const orgId = await newFamily(rpm(2));
    expect(await issuesOf(op.AcquireDocument, { input: inputOf(orgId, 'user-1', { rpm: 3 }) })).toEqual([
      ['input.consume.0.amount', '3 exceeds the burst of "rpm" for parent "team" on "api", 2'],
    ]);
    expect(await balances(orgId, 'user-1')).toBeUndefined();
    const without = await newFamily([], []);
    await setLimits({ orgId: without, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(10) });
    const [[, message] = []] = await issuesOf(op.AcquireDocument, { input: inputOf(without, 'user-1', { rpm: 3 }) });
    expect(message).toContain('no limits are set for the parent "team" on "api"');
    expect(await balances(without, 'user-1')).toBeUndefined();
  });

  it('goes one level up, and only for entities with cascade', async () => {
    const orgId = await newFamily(rpm(20));
    await create(orgId, 'grandchild', { parentId: 'user-1', cascade: true });
    await create(orgId, 'no-cascade', { parentId: 'team' });
    await take(orgId, 'grandchild', { rpm: 1 });
    await take(orgId, 'no-cascade', { rpm: 1 });
    expect(await balances(orgId, 'user-1')).toEqual({ rpm: [9, 1] });
    expect(await balances(orgId, 'team')).toBeUndefined();
  });
});
