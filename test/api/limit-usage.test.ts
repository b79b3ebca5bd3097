import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import type { Item, Key } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { refusalIndexKeys, refusalKey } from '../../src/limits/limiter-keys.js';
import { maxWritesPerFlush } from '../../src/limits/usage/refusal.service.js';
import { RefusalStore } from '../../src/limits/usage/refusal.store.js';
import { maxTallies } from '../../src/limits/usage/refusals.js';
import { maxTopItems } from '../../src/limits/usage/usage.service.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { dayMs, hourMs, newTenant, noonClock } from '../worker/costs.js';

const clock = noonClock();
let proxy: FaultProxy;
let app: TestApp;
let worker: Background;
let orgId: string;
let namespace: string;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock, endpoint: proxy.endpoint, config: { principalRps: 0, principalConcurrency: 0 } });
  worker = buildBackground(app.config, { clock, log: silentLog });
});
beforeEach(async () => {
  proxy.clear();
  await app.gateway.services.refusals.flush();
  ({ orgId } = await newTenant(app, {}, []));
  namespace = await app.gateway.services.namespaces.of(orgId);
  const limits = ['rpm', 'tpm'].map((name) => ({ name, capacity: 1000, refillPeriodSecs: 60 }));
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
});
afterAll(async () => {
  worker.close();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const resource = 'api';
const bucket = (entityId: string, on = resource) => ({ namespace, entityId, resource: on });
const note = (entityId: string, limits: string[], kind: 'refused' | 'wouldRefuse' = 'refused', on = app) =>
  on.gateway.services.refusals.note(bucket(entityId), limits, kind);
const flush = (on = app) => on.gateway.services.refusals.flush();
const take = async (entityId: string, amount: number, on = resource) => {
  const { acquire } = await app.admin.ask(op.AcquireDocument, {
    input: { orgId, entityId, resource: on, consume: [{ limit: 'rpm', amount }] },
  });
  expect(acquire.__typename).toBe('Lease');
};
const create = (entityId: string, more: Partial<op.CreateEntityInput> = {}) =>
  app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, ...more } });
const hourStart = () => new Date(Math.floor(clock.nowMs() / hourMs) * hourMs).toISOString();
const thisMonth = () => ({
  from: new Date(clock.nowMs() - 40 * dayMs).toISOString(),
  to: new Date(clock.nowMs() + hourMs).toISOString(),
});
const usageOf = async (entityId: string) => {
  const { org } = await app.admin.ask(op.RefusalsOfDocument, {
    orgId,
    entityId,
    resource,
    window: 'HOURLY',
    ...thisMonth(),
  });
  return { entity: org?.entity?.usage.nodes, resource: org?.resourceUsage };
};
const refusedOf = async (entityId: string) =>
  (await usageOf(entityId)).entity?.flatMap(({ counters }) =>
    counters.map(({ limit, refused, wouldRefuse }) => [limit, refused, wouldRefuse]),
  );

async function stored(entityId: string): Promise<Item[]> {
  const found: Item[] = [];
  let after: Key | undefined;
  do {
    const page = await app.gateway.services.store.scan('limiter', after);
    found.push(
      ...page.items.filter(({ PK, SK }) => PK === `${namespace}/ENTITY#${entityId}` && (SK as string).includes('#r-')),
    );
    after = page.next;
  } while (after);
  return found;
}

describe('refusals', () => {
  it('are counted per limit in the usage of the entity and of the resource', async () => {
    await take('a', 7);
    note('a', ['rpm']);
    note('a', ['rpm', 'tpm']);
    note('a', ['tpm'], 'wouldRefuse');
    note('b', ['rpm']);
    await flush();
    const counters = [
      { limit: 'rpm', consumed: 7, refused: 2, wouldRefuse: 0 },
      { limit: 'tpm', consumed: 0, refused: 1, wouldRefuse: 1 },
    ];
    const windowStart = hourStart();
    expect(await usageOf('a')).toEqual({
      entity: [{ windowStart, totalEvents: 1, counters }],
      resource: [
        {
          windowStart,
          entities: 1,
          counters: [{ limit: 'rpm', consumed: 7, refused: 3, wouldRefuse: 0 }, counters[1]],
        },
      ],
    });
    expect((await usageOf('b')).entity).toEqual([
      { windowStart, totalEvents: 0, counters: [{ limit: 'rpm', consumed: 0, refused: 1, wouldRefuse: 0 }] },
    ]);
  });

  it('count in the hour in which they happened, in one item per process and hour', async () => {
    const other = await app.another();
    note('a', ['rpm']);
    await flush();
    note('a', ['rpm']);
    note('a', ['rpm'], 'refused', other);
    await Promise.all([flush(), flush(other)]);
    clock.advance(hourMs);
    note('a', ['rpm']);
    await flush();
    expect((await refusedOf('a'))?.map(([, refused]) => refused)).toEqual([3, 1]);
    expect((await stored('a')).map(({ r_rpm }) => r_rpm).sort()).toEqual([1, 1, 2]);
    await other.stop();
  });

  it('are stored when the gateway stops', async () => {
    const other = await app.another();
    for (let i = 0; i < 3; i++) note('a', ['rpm'], 'refused', other);
    await other.stop();
    expect(await refusedOf('a')).toEqual([['rpm', 3, 0]]);
  });

  it('are counted once if responses are lost, and none is lost during an outage', async () => {
    note('a', ['rpm']);
    proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'drop-reply', nth: 1 });
    await flush();
    expect(await refusedOf('a')).toEqual([['rpm', 1, 0]]);

    note('a', ['rpm']);
    const outage = proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'error-after' });
    expect(await flush()).toBe(false);
    expect(outage.hits).toBeGreaterThan(0);
    note('a', ['rpm']);
    outage.remove();
    await flush();
    await flush();
    expect(await refusedOf('a')).toEqual([['rpm', 3, 0]]);
    expect(await stored('a')).toHaveLength(1);
  });

  it('keep the newest count if an older write arrives late', async () => {
    note('a', ['rpm']);
    await flush();
    const held = proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'hold', nth: 1 });
    note('a', ['rpm']);
    const slow = flush();
    while (held.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    note('a', ['rpm']);
    held.remove();
    await slow;
    await flush();
    const [item] = await stored('a');
    expect(item).toMatchObject({ r_rpm: 3, version: 3 });
    const { store } = app.gateway.services;
    const key = { PK: item?.PK as string, SK: item?.SK as string };
    const id = key.SK.split('#r-')[1] as string;
    const hour = Math.floor(clock.nowMs() / hourMs);
    expect(refusalKey(bucket('a'), hour, id)).toEqual(key);
    await new RefusalStore(store, clock, 90).save({
      bucket: bucket('a'),
      hour,
      id,
      refused: { rpm: 2 },
      wouldRefuse: {},
      version: 2,
    });
    expect(await refusedOf('a')).toEqual([['rpm', 3, 0]]);
  });

  it(`are stored in at most ${maxWritesPerFlush} writes per flush, the rest in the next flush`, async () => {
    for (let i = 0; i < maxWritesPerFlush + 3; i++) note(`e${i}`, ['rpm']);
    proxy.clear();
    expect(await flush()).toBe(true);
    const puts = () => proxy.calls.filter(({ operation }) => operation === 'PutItem').length;
    expect(puts()).toBe(maxWritesPerFlush);
    expect(await flush()).toBe(false);
    expect(puts()).toBe(maxWritesPerFlush + 3);
    expect(await flush()).toBe(false);
    expect(puts()).toBe(maxWritesPerFlush + 3);
  });

  it('are dropped and counted by a metric if there are more buckets than space', async () => {
    const other = await app.another();
    const dropped = async () => (await other.gateway.services.metrics.refusalsDropped.get()).values[0]?.value ?? 0;
    const outage = proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'refuse' });
    for (let i = 0; i < maxTallies; i++) note(`e${i}`, ['rpm'], 'refused', other);
    expect(await dropped()).toBe(0);
    for (let i = 0; i < 5; i++) note(`late${i}`, ['rpm'], 'refused', other);
    expect(await dropped()).toBe(5);
    await other.stop();
    outage.remove();
  });

  it('are deleted by a purge of the limiter', async () => {
    note('a', ['rpm']);
    await flush();
    expect(await stored('a')).toHaveLength(1);
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    await worker.limits.purge();
    expect(await stored('a')).toEqual([]);
  });
});

describe('topEntities', () => {
  const top = async (more: Partial<op.TopEntitiesQueryVariables> = {}) =>
    (await app.admin.ask(op.TopEntitiesDocument, { orgId, resource, window: 'HOURLY', limit: 'rpm', ...more })).org
      ?.topEntities;
  const named = async (more: Partial<op.TopEntitiesQueryVariables> = {}) =>
    (await top(more))?.entities.map(({ entityId, consumed, refused }) => [entityId, consumed, refused]);

  it('returns the entities with the most usage of a limit in the current window, the open hour included', async () => {
    await take('early', 50);
    clock.advance(hourMs);
    await take('early', 1);
    await take('c', 3);
    await take('b', 3);
    await take('a', 9);
    await take('elsewhere', 99, 'web');
    await take('nothing', 0);
    note('b', ['rpm', 'tpm']);
    note('b', ['rpm']);
    note('refused', ['rpm']);
    note('shadowed', ['rpm'], 'wouldRefuse');
    await flush();
    const windowStart = hourStart();
    expect(await top()).toEqual({
      windowStart,
      windowEnd: new Date(Date.parse(windowStart) + hourMs).toISOString(),
      truncated: false,
      entities: [
        { entityId: 'a', consumed: 9, refused: 0 },
        { entityId: 'b', consumed: 3, refused: 2 },
        { entityId: 'c', consumed: 3, refused: 0 },
        { entityId: 'early', consumed: 1, refused: 0 },
      ],
    });
    expect(await named({ window: 'DAILY', first: 2 })).toEqual([
      ['early', 51, 0],
      ['a', 9, 0],
    ]);
    expect((await named({ window: 'MONTHLY' }))?.slice(0, 1)).toEqual([['early', 51, 0]]);
    expect(await named({ by: 'REFUSED' })).toEqual([
      ['b', 3, 2],
      ['refused', 0, 1],
    ]);
    expect(await named({ by: 'REFUSED', limit: 'tpm' })).toEqual([['b', 0, 1]]);
    expect(await named({ limit: 'nope' })).toEqual([]);
    expect(await named({ resource: 'nope' })).toEqual([]);
  });

  it('accepts 1 to 50 entities and valid names of a resource and a limit', async () => {
    const issuesOf = async (more: Partial<op.TopEntitiesQueryVariables>) => {
      const { errors } = await app.admin.send(op.TopEntitiesDocument, {
        orgId,
        resource,
        window: 'HOURLY',
        limit: 'rpm',
        ...more,
      });
      return errors?.flatMap(({ extensions }) => extensions.issues?.map(({ path }) => path) ?? [extensions.code]);
    };
    for (const first of [0, -1, 51, 100]) expect(await issuesOf({ first })).toEqual(['first']);
    expect(await issuesOf({ resource: '#', limit: '#', first: 0 })).toEqual(['resource', 'limit', 'first']);
    for (const first of [1, 50]) expect(await issuesOf({ first })).toBeUndefined();
  });

  it(`reads at most ${maxTopItems} usage items and reports more; an operation may do that three times`, async () => {
    const { store } = app.gateway.services;
    const hour = Math.floor(clock.nowMs() / hourMs);
    const item = (i: number) => {
      const id = bucket(`e${i % 3}`);
      return {
        put: { ...refusalKey(id, hour, `x${i}`), ...refusalIndexKeys(id, hour, `x${i}`), r_rpm: 1, version: 1 },
      };
    };
    await store.writeMany(
      'limiter',
      Array.from({ length: maxTopItems }, (_, i) => item(i)),
    );
    const total = async () => {
      const found = await top({ by: 'REFUSED' });
      return [found?.entities.reduce((sum, { refused }) => sum + refused, 0), found?.truncated];
    };
    expect(await total()).toEqual([maxTopItems, false]);
    await store.writeMany('limiter', [item(maxTopItems), item(maxTopItems + 1)]);
    expect(await total()).toEqual([maxTopItems, true]);
    const field = 'topEntities(resource: "api", window: HOURLY, limit: "rpm") { truncated }';
    const queryWith = (names: string[]) =>
      `query($orgId: UUID) { org(orgId: $orgId) { ${names.map((name) => `${name}: ${field}`).join(' ')} } }`;
    expect(await app.admin.ask(queryWith(['a', 'b', 'c']), { orgId })).toBeDefined();
    // On an overloaded machine the database may not respond to the 30,000 reads in time; then the query is retried.
    const codes: string[] = [];
    await until('a response of the database', async () => {
      codes.push(await app.admin.codeOf(queryWith(['a', 'b', 'c', 'd']), { orgId }));
      return codes.at(-1) !== 'SERVICE_UNAVAILABLE';
    });
    expect(codes.at(-1)).toBe('BAD_USER_INPUT');
  });
});

it('lists the buckets of a resource up to a number and reports if there are more', async () => {
  for (const entityId of ['a', 'b', 'c', 'd']) await take(entityId, 1);
  await take('elsewhere', 1, 'web');
  const buckets = new BucketStore(app.gateway.services.store, app.clock, 90);
  const listed = async (max: number) => {
    const { ids, truncated } = await buckets.directory.firstOfResource(namespace, resource, max);
    return [ids.map(({ entityId }) => entityId), truncated];
  };
  expect(await listed(3)).toEqual([['a', 'b', 'c'], true]);
  for (const max of [4, 5]) expect(await listed(max)).toEqual([['a', 'b', 'c', 'd'], false]);
});

describe('resourceUsage', () => {
  it('counts a cascading acquire once with parentsOnly, even if the buckets have expired', async () => {
    await create('team');
    await create('user', { parentId: 'team', cascade: true });
    await take('user', 5);
    await take('unknown', 3);
    note('user', ['rpm']);
    note('team', ['rpm']);
    await flush();
    const usage = async (parentsOnly?: boolean) =>
      (
        await app.admin.ask(op.ResourceUsageOfDocument, {
          orgId,
          resource,
          window: 'MONTHLY',
          ...thisMonth(),
          ...(parentsOnly === undefined ? {} : { parentsOnly }),
        })
      ).org?.resourceUsage;
    const expectSums = async () => {
      expect(await usage()).toMatchObject([
        { entities: 3, counters: [{ limit: 'rpm', consumed: 13 }, { limit: 'tpm' }] },
      ]);
      expect(await usage(true)).toMatchObject([
        { entities: 1, counters: [{ limit: 'rpm', consumed: 5 }, { limit: 'tpm' }] },
      ]);
    };
    await expectSums();
    clock.advance(5 * dayMs);
    await worker.limits.tidyBuckets();
    await worker.sweep();
    await expectSums();
  });
});

describe('usage without `from`', () => {
  it('has every window with a stored hour, and none that has expired', async () => {
    const entityId = `e-${randomUUID()}`;
    await create(entityId);
    // The end of a month: 79 days later its usage is still stored, although the month began more than 90 days ago.
    const now = new Date(clock.nowMs());
    clock.advance(Date.UTC(now.getUTCFullYear() + 1, 0, 31, 12) - clock.nowMs());
    await take(entityId, 4);
    clock.advance(dayMs);
    await worker.limits.tidyBuckets();
    clock.advance(78 * dayMs);
    const year = new Date(clock.nowMs()).getUTCFullYear();
    const starts = async (window: op.UsageWindow, on?: string) =>
      (
        await app.admin.ask(op.UsageOfDocument, { orgId, entityId, window, ...(on ? { resource: on } : {}) })
      ).org?.entity?.usage.nodes.map(({ windowStart, counters }) => [windowStart, counters[0]?.consumed]);
    for (const on of [resource, undefined]) {
      expect(await starts('MONTHLY', on)).toEqual([[`${year}-01-01T00:00:00.000Z`, 4]]);
      expect(await starts('DAILY', on)).toEqual([[`${year}-01-31T00:00:00.000Z`, 4]]);
      expect(await starts('HOURLY', on)).toEqual([[`${year}-01-31T12:00:00.000Z`, 4]]);
    }
    // The items were written a day later and are kept for 90 days from then.
    clock.advance(12 * dayMs - hourMs);
    expect(await starts('DAILY')).toHaveLength(1);
    clock.advance(2 * hourMs);
    for (const window of ['HOURLY', 'DAILY', 'MONTHLY'] as const) expect(await starts(window)).toEqual([]);
  });
});
