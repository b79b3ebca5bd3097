import { randomUUID } from 'node:crypto';
import {
  app,
  create,
  issuesOf,
  limit,
  moveTo,
  newOrgId,
  other,
  rpm,
  setLimits,
  startGateways,
  stopGateways,
  take,
  worker,
} from '../support/entities.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('usage of an entity', () => {
  let orgId: string;
  const usageOf = async (window: op.UsageWindow, more: Partial<op.UsageOfQueryVariables> = {}) =>
    (await app.admin.ask(op.UsageOfDocument, { orgId, entityId: 'user-1', window, ...more })).org?.entity?.usage;
  /** Start, resource, amounts and events of each window. */
  const windowsOf = async (...args: Parameters<typeof usageOf>) =>
    (await usageOf(...args))?.nodes.map(({ windowStart, resource, counters, totalEvents }) => [
      windowStart,
      resource,
      Object.fromEntries(counters.map(({ limit: name, consumed }) => [name, consumed])),
      totalEvents,
    ]);
  const resourceUsage = async (window: op.UsageWindow, from: string, to: string, resource = 'api') =>
    (await app.admin.ask(op.ResourceUsageOfDocument, { orgId, resource, window, from, to })).org?.resourceUsage;

  const jan22 = '2030-01-31T22:00:00.000Z';
  const jan23 = '2030-01-31T23:00:00.000Z';
  const feb00 = '2030-02-01T00:00:00.000Z';
  const hours = [
    [jan22, 'api', { rpm: 3, tpm: 0 }, 1],
    [jan22, 'v1/chat', { rpm: 0, tpm: 7 }, 1],
    [jan23, 'api', { rpm: 3, tpm: 4 }, 2],
    [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
  ];

  beforeAll(async () => {
    moveTo('2030-01-31T22:30:00Z');
    orgId = await newOrgId([limit('rpm', 100), limit('tpm', 100)]);
    const leaseId = await take(orgId, 'user-1', { rpm: 3 });
    await take(orgId, 'user-1', { tpm: 7 }, { resource: 'v1/chat' });
    await take(orgId, 'user-2', { rpm: 50 });
    moveTo('2030-01-31T23:30:00Z');
    await take(orgId, 'user-1', { rpm: 2 });
    await take(orgId, 'user-1', { rpm: 1, tpm: 4 }, {}, other);
    moveTo('2030-02-01T00:10:00Z');
    await take(orgId, 'user-1', { rpm: 1 }, {}, other);
    await app.admin.ask(op.ReleaseLeaseDocument, { leaseId });
  });

  it('is returned per hour, the current hour included; a return counts in the hour in which it happens', async () => {
    expect(await windowsOf('HOURLY')).toEqual(hours);
    expect((await usageOf('HOURLY'))?.nodes[0]).toMatchObject({
      entityId: 'user-1',
      window: 'HOURLY',
      windowEnd: jan23,
    });
  });

  it('is summed per day and per month, across their ends', async () => {
    expect(await windowsOf('DAILY')).toEqual([
      ['2030-01-31T00:00:00.000Z', 'api', { rpm: 6, tpm: 4 }, 3],
      ['2030-01-31T00:00:00.000Z', 'v1/chat', { rpm: 0, tpm: 7 }, 1],
      [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
    ]);
    expect(await windowsOf('MONTHLY')).toEqual([
      ['2030-01-01T00:00:00.000Z', 'api', { rpm: 6, tpm: 4 }, 3],
      ['2030-01-01T00:00:00.000Z', 'v1/chat', { rpm: 0, tpm: 7 }, 1],
      [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
    ]);
    expect((await usageOf('MONTHLY'))?.nodes.map(({ windowEnd }) => windowEnd)).toEqual([
      feb00,
      feb00,
      '2030-03-01T00:00:00.000Z',
    ]);
  });

  it('is limited to windows that begin in the range, and to the resource', async () => {
    expect(await windowsOf('HOURLY', { resource: 'v1/chat' })).toEqual([hours[1]]);
    expect(await windowsOf('HOURLY', { resource: 'v1' })).toEqual([]);
    expect(await windowsOf('HOURLY', { from: jan23, to: feb00 })).toEqual([hours[2]]);
    expect(await windowsOf('HOURLY', { from: '2030-01-31T22:00:00.001Z' })).toEqual(hours.slice(2));
    expect(await windowsOf('HOURLY', { resource: 'api', from: jan23, to: '2030-02-01T00:00:00.001Z' })).toEqual(
      hours.slice(2),
    );
    expect(await windowsOf('MONTHLY', { resource: 'api', from: '2030-01-15T00:00:00Z' })).toEqual([
      [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
    ]);
    expect(await windowsOf('DAILY', { to: feb00 })).toHaveLength(2);
    for (const to of [jan23, jan22])
      expect(
        await issuesOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'HOURLY', from: jan23, to }),
      ).toEqual([['from', 'must be before `to`']]);
    expect(
      (await issuesOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'HOURLY', resource: '#' })).map(
        ([path]) => path,
      ),
    ).toEqual(['resource']);
  });

  it('comes in pages and rejects a cursor of another list', async () => {
    const seen: unknown[] = [];
    let after: string | undefined;
    for (let more = true; more; ) {
      seen.push(...((await windowsOf('HOURLY', { first: 1, after })) ?? []));
      const page = await usageOf('HOURLY', { first: 1, after });
      more = page?.pageInfo.hasNextPage ?? false;
      after = page?.pageInfo.endCursor ?? undefined;
    }
    expect(seen).toEqual(hours);
    expect(await app.admin.codeOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'DAILY', after })).toBe(
      'BAD_USER_INPUT',
    );
    expect(await app.admin.codeOf(op.UsageOfDocument, { orgId, entityId: 'user-2', window: 'HOURLY', after })).toBe(
      'BAD_USER_INPUT',
    );
    expect(
      await app.admin.codeOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'HOURLY', after: `${after}A` }),
    ).toBe('BAD_USER_INPUT');
  });

  it('is summed per resource over all entities', async () => {
    expect(await resourceUsage('HOURLY', jan22, '2030-02-01T01:00:00Z')).toEqual([
      {
        windowStart: jan22,
        windowEnd: jan23,
        entities: 2,
        counters: [
          { limit: 'rpm', consumed: 53 },
          { limit: 'tpm', consumed: 0 },
        ],
      },
      {
        windowStart: jan23,
        windowEnd: feb00,
        entities: 1,
        counters: [
          { limit: 'rpm', consumed: 3 },
          { limit: 'tpm', consumed: 4 },
        ],
      },
      {
        windowStart: feb00,
        windowEnd: '2030-02-01T01:00:00.000Z',
        entities: 1,
        counters: [
          { limit: 'rpm', consumed: -2 },
          { limit: 'tpm', consumed: 0 },
        ],
      },
    ]);
    expect(await resourceUsage('MONTHLY', '2030-01-01T00:00:00Z', feb00)).toMatchObject([
      { entities: 2, counters: [{ consumed: 56 }, { consumed: 4 }] },
    ]);
    expect(await resourceUsage('HOURLY', jan22, '2030-02-01T01:00:00Z', 'nothing')).toEqual([]);
    expect(
      await issuesOf(op.ResourceUsageOfDocument, { orgId, resource: 'api', window: 'HOURLY', from: jan23, to: jan22 }),
    ).toEqual([['from', 'must be before `to`']]);
  });

  it('is empty for a time before the retention period', async () => {
    const range = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    for (const window of ['HOURLY', 'DAILY', 'MONTHLY'] as const) {
      for (const resource of [undefined, 'api']) expect(await windowsOf(window, { resource, ...range })).toEqual([]);
      expect(await resourceUsage(window, range.from, range.to)).toEqual([]);
      expect(await resourceUsage(window, '0001-01-01T00:00:00Z', '0001-01-02T00:00:00Z')).toEqual([]);
    }
  });

  it('is empty for a time in the future', async () => {
    expect(await resourceUsage('DAILY', '2040-01-01T00:00:00Z', '2040-01-02T00:00:00Z')).toEqual([]);
    for (const window of ['HOURLY', 'DAILY', 'MONTHLY'] as const) {
      expect(await resourceUsage(window, '2040-01-01T00:00:00Z', '9999-12-31T23:59:59Z')).toEqual([]);
    }
    for (const resource of ['api', undefined]) {
      expect(await windowsOf('DAILY', { resource, from: '2040-01-01T00:00:00Z', to: '2040-01-02T00:00:00Z' })).toEqual(
        [],
      );
      expect(await windowsOf('DAILY', { resource, from: '2040-01-01T00:00:00Z' })).toEqual([]);
    }
  });

  it('does not change when the worker books the hours of idle buckets', async () => {
    moveTo('2030-02-02T00:10:00Z');
    expect(await windowsOf('HOURLY')).toEqual(hours);
    expect(await worker.limits.tidyBuckets()).toBeGreaterThan(0);
    expect(await windowsOf('HOURLY')).toEqual(hours);
    expect(await worker.limits.tidyBuckets()).toBeUndefined();
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await windowsOf('HOURLY')).toEqual([...hours, ['2030-02-02T00:00:00.000Z', 'api', { rpm: 1, tpm: 0 }, 1]]);
  });

  it('is kept for a limit that was removed', async () => {
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(100) });
    await take(orgId, 'user-1', { rpm: 1 });
    expect((await windowsOf('HOURLY'))?.slice(0, 4)).toEqual(hours);
    expect(await windowsOf('DAILY', { from: '2030-02-02T00:00:00Z' })).toMatchObject([
      ['2030-02-02T00:00:00.000Z', 'api', { rpm: 2 }, 2],
    ]);
  });
});

describe('resourceCapacity', () => {
  const capacityOf = async (orgId: string, more: Partial<op.CapacityOfQueryVariables> = {}) =>
    (await app.admin.ask(op.CapacityOfDocument, { orgId, resource: 'api', limit: 'rpm', ...more })).org
      ?.resourceCapacity;

  it('sums the available tokens of all entities, each at most its capacity, debts included', async () => {
    const orgId = await newOrgId([limit('rpm', 10, { burst: 30 }), limit('tpm', 10)]);
    await create(orgId, 'team');
    await create(orgId, 'child', { parentId: 'team' });
    await take(orgId, 'team', { rpm: 5 });
    await take(orgId, 'child', { rpm: 28 });
    const leaseId = await take(orgId, 'acquired-for', { rpm: 30 });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'rpm', amount: 5 }], idempotencyKey: randomUUID() },
    });
    await take(orgId, 'elsewhere', { rpm: 1 }, { resource: 'api/v2' });
    expect(await capacityOf(orgId)).toEqual({
      resource: 'api',
      limit: 'rpm',
      totalCapacity: 30,
      totalAvailable: 7,
      utilizationPct: 76.667,
      entities: [
        { entityId: 'acquired-for', capacity: 10, available: -5, utilizationPct: 150 },
        { entityId: 'child', capacity: 10, available: 2, utilizationPct: 80 },
        { entityId: 'team', capacity: 10, available: 10, utilizationPct: 0 },
      ],
    });
    expect((await capacityOf(orgId, { parentsOnly: true }))?.entities.map(({ entityId }) => entityId)).toEqual([
      'team',
    ]);
    expect(await capacityOf(orgId, { limit: 'tpm' })).toMatchObject({
      totalCapacity: 30,
      totalAvailable: 30,
      utilizationPct: 0,
    });
  });

  it('is empty if no entity has a bucket for the resource or the limit', async () => {
    const orgId = await newOrgId(rpm(10));
    const nothing = { totalCapacity: 0, totalAvailable: 0, utilizationPct: 0, entities: [] };
    expect(await capacityOf(orgId)).toMatchObject(nothing);
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await capacityOf(orgId, { limit: 'nope' })).toMatchObject(nothing);
    expect((await issuesOf(op.CapacityOfDocument, { orgId, resource: '#', limit: '#' })).map(([path]) => path)).toEqual(
      ['resource', 'limit'],
    );
  });
});
