// Consumed capacity as Amazon DynamoDB and dynoxide count it. DynamoDB Local counts differently, so these tests do not
// run on it.
import { randomUUID } from 'node:crypto';
import { counterOf } from '../../src/changes/change.store.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { sdkTransport, type Transport } from '../../src/dynamo/transport.js';
import { silentLog } from '../../src/lib/log.js';
import type { Units } from '../../src/lib/units.js';
import { BucketRegistry } from '../../src/limits/buckets/bucket.registry.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import type { Operation } from '../../src/limits/buckets/operation.js';
import { NamespaceStore } from '../../src/limits/entities/namespace.store.js';
import type { Lease } from '../../src/limits/grant.service.js';
import type { LeaseHandle } from '../../src/limits/lease.js';
import { placesFor } from '../../src/limits/levels/resolution.js';
import { completeLimit, type LimitSet, limitSet } from '../../src/limits/limit.js';
import type { AcquireRequest } from '../../src/limits/limit-input.js';
import { type BucketId, configKey, entityKey, placeName } from '../../src/limits/limiter-keys.js';
import { LimiterHousekeeping } from '../../src/limits/usage/housekeeping.rollup.js';
import { TaskStore } from '../../src/limits/usage/task.store.js';
import { newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { hourMs, newTenant, noonClock } from '../worker/costs.js';

const clock = noonClock();
const limits = [{ name: 'tokens', capacity: 1_000_000, refillPeriodSecs: 60 }];
const consume = [{ limit: 'tokens', amount: 1 }];

let app: TestApp;
let other: TestApp;
let orgId: string;
let namespace: string;
beforeAll(async () => {
  app = await startTestApp({ clock, config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  ({ orgId } = await newTenant(app, {}, []));
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'RESOURCE', resource: 'api', limits } });
  namespace = await app.gateway.services.namespaces.of(orgId);
  await pollChanges();
});
afterAll(async () => {
  await Promise.all([app.stop(), other.stop()]);
  app.tableAdmin.client.destroy();
});

/** The units that a task consumes. The polls of the gateway are not included. */
async function unitsOf(task: () => Promise<unknown>, on = app): Promise<Units> {
  const units = { read: 0, write: 0, calls: 0 };
  await on.gateway.services.store.metered(units, task);
  return units;
}

/** Makes both gateways poll the change counter. */
async function pollChanges(): Promise<void> {
  clock.age(5001);
  for (const on of [app, other]) await on.admin.ask(op.OrgDocument, { orgId });
}

const times = <T>(count: number, task: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => task(i));
const acquire = (entityId: string, overrides: Partial<AcquireRequest> = {}, on = app) =>
  on.gateway.services.limits.acquire(orgId, { entityId, resource: 'api', consume, ...overrides });

async function lease(
  entityId: string,
  overrides: Partial<AcquireRequest> = {},
): Promise<{ readonly id: string; readonly handle: LeaseHandle }> {
  const { leaseId } = (await acquire(entityId, overrides)) as Lease;
  return { id: leaseId, handle: app.gateway.services.leases.open(leaseId) as LeaseHandle };
}

const adjust = ({ id, handle }: Awaited<ReturnType<typeof lease>>, amount: number) =>
  app.gateway.services.leases.adjust(id, handle, [{ limit: 'tokens', amount }], randomUUID());
const release = ({ id, handle }: Awaited<ReturnType<typeof lease>>, on = app) =>
  on.gateway.services.leases.release(id, handle);
/** A charge without an idempotency key. */
const charge = ({ id, handle }: Awaited<ReturnType<typeof lease>>, on = app) =>
  on.gateway.services.leases.adjust(id, handle, [{ limit: 'tokens', amount: 3 }], undefined);

/** An entity whose bucket exists and is cached by the gateway. */
async function newEntity(): Promise<string> {
  const entityId = `e-${randomUUID()}`;
  await acquire(entityId);
  return entityId;
}

async function newEntityOn(on: TestApp, entityId = `e-${randomUUID()}`): Promise<string> {
  await acquire(entityId, {}, on);
  await acquire(entityId, {}, on);
  return entityId;
}

/** The change counters of the entity itself and of its levels, strongest first. */
function countersOf(entityId: string): number[] {
  const keys = [
    entityKey(namespace, entityId),
    ...placesFor(entityId, 'api').map((place) => configKey(namespace, place)),
  ];
  return keys.map((key) => counterOf(orgId, placeName(key)));
}

async function newChild(): Promise<{ readonly child: string; readonly parent: string }> {
  const [child, parent] = [`c-${randomUUID()}`, `p-${randomUUID()}`];
  await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: parent } });
  await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: child, parentId: parent, cascade: true } });
  await pollChanges();
  await acquire(child);
  return { child, parent };
}

const totalOf = async (entityId: string) =>
  (await app.admin.ask(op.BucketOfDocument, { orgId, entityId, resource: 'api' })).org?.entity?.bucket?.limits[0]
    ?.totalConsumed;

describe('the price in capacity units', () => {
  it('of an acquire is 1 write unit and no read', async () => {
    const entityId = await newEntity();
    expect(await unitsOf(() => acquire(entityId))).toEqual({ read: 0, write: 1, calls: 1 });
  });

  it('of an acquire over HTTP is the same, because the caller is cached', async () => {
    const { caller } = await newOrg(app);
    await caller.ask(op.SetLimitsDocument, { input: { level: 'SYSTEM', limits } });
    const send = () => caller.ask(op.AcquireDocument, { input: { entityId: 'e', resource: 'api', consume } });
    await send();
    const { consumed } = app.gateway.services.store;
    let min = Number.POSITIVE_INFINITY;
    // The gateway polls meanwhile, so the minimum of a few tries counts.
    for (let attempt = 0; attempt < 10 && min > 1; attempt++) {
      const before = { ...consumed };
      await send();
      min = Math.min(min, consumed.read - before.read + consumed.write - before.write);
    }
    expect(min).toBe(1);
  });

  // The entity, its two levels and its bucket.
  it('of the first acquire for an entity through a gateway is one more call and 4 read units', async () => {
    await newEntityOn(other);
    const entityId = await newEntity();
    expect(await unitsOf(() => acquire(entityId, {}, other), other)).toEqual({ read: 4, write: 1, calls: 2 });
    // Not full any more: the state that was read makes the first write fit.
    const used = await newEntity();
    await acquire(used, { consume: [{ limit: 'tokens', amount: 500_000 }] });
    expect(await unitsOf(() => acquire(used, {}, other), other)).toEqual({ read: 4, write: 1, calls: 2 });
  });

  // The directory entry is 1 unit on the table and 1 in each of its three indexes; the bucket is 1.
  it('of an acquire that creates its bucket is 5 write units, one read and two writes', async () => {
    await newEntity();
    expect(await unitsOf(() => acquire(`e-${randomUUID()}`))).toEqual({ read: 4, write: 5, calls: 3 });
  });

  it('of 50 concurrent acquires on 50 buckets is 1 write unit each, and at most 0.25 calls', async () => {
    const entities = await Promise.all(times(50, newEntity));
    let min = Number.POSITIVE_INFINITY;
    // Batches begin small and grow, so the minimum of a few tries counts.
    for (let attempt = 0; attempt < 10 && min > 0.25; attempt++) {
      const { read, write, calls } = await unitsOf(() => Promise.all(entities.map((entityId) => acquire(entityId))));
      expect({ read, write }).toEqual({ read: 0, write: 50 });
      min = Math.min(min, calls / 50);
    }
    expect(min).toBeLessThanOrEqual(0.25);
  });

  it('of an acquire is not changed by new limits of other entities, on this gateway and on another', async () => {
    const [here, there] = [await newEntity(), await newEntityOn(other)];
    const busy = new Set([here, there].flatMap(countersOf));
    const neighbours = times(200, () => `e-${randomUUID()}`).filter((entityId) =>
      countersOf(entityId).every((counter) => !busy.has(counter)),
    );
    for (const entityId of neighbours.slice(0, 3)) {
      for (const place of [
        { level: 'ENTITY_DEFAULT', entityId } as const,
        { level: 'ENTITY', entityId, resource: 'api' } as const,
      ])
        await app.admin.ask(op.SetLimitsDocument, { input: { orgId, ...place, limits } });
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId } });
      expect(await unitsOf(() => acquire(here))).toEqual({ read: 0, write: 1, calls: 1 });
      await pollChanges();
      expect(await unitsOf(() => acquire(here))).toEqual({ read: 0, write: 1, calls: 1 });
      expect(await unitsOf(() => acquire(there, {}, other), other)).toEqual({ read: 0, write: 1, calls: 1 });
    }
  });

  it('of an acquire after a change of one of its levels includes 1 read unit', async () => {
    const entityId = await newEntity();
    await newEntityOn(other, entityId);
    const counters = countersOf(entityId);
    const unrelated =
      times(200, () => `e-${randomUUID()}`).find((id) => !counters.includes(countersOf(id)[2] as number)) ?? '';
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY_DEFAULT', entityId: unrelated, limits },
    });
    await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'ENTITY_DEFAULT', entityId, limits } });
    await pollChanges();
    const { read } = await unitsOf(() => acquire(entityId, {}, other), other);
    // Places that share a change counter are read again together.
    expect(read).toBe(counters.filter((counter) => counter === counters[2]).length);
    expect(await unitsOf(() => acquire(entityId, {}, other), other)).toEqual({ read: 0, write: 1, calls: 1 });
  });

  it('of 50 concurrent acquires on one bucket is at most 0.1 write units each', async () => {
    const entityId = await newEntity();
    const { read, write } = await unitsOf(() => Promise.all(times(50, () => acquire(entityId))));
    expect(read).toBe(0);
    expect(write).toBeGreaterThan(0);
    expect(write / 50).toBeLessThanOrEqual(0.1);
    expect(await totalOf(entityId)).toBe(51);
  });

  it('of an acquire that cascades is 2 write units and no read', async () => {
    const { child, parent } = await newChild();
    expect(await unitsOf(() => acquire(child))).toEqual({ read: 0, write: 2, calls: 2 });
    expect([await totalOf(child), await totalOf(parent)]).toEqual([2, 2]);
  });

  it('of 50 concurrent acquires that cascade is at most 0.2 write units each', async () => {
    const { child } = await newChild();
    const { read, write } = await unitsOf(() => Promise.all(times(50, () => acquire(child))));
    expect(read).toBe(0);
    expect(write / 50).toBeLessThanOrEqual(0.2);
  });

  // A failed condition costs a write unit, but the error does not report it. So only the call can be counted.
  it('of a refusal is one write and no read, and nothing for the same refusal within a second', async () => {
    const entityId = await newEntity();
    const scarce = {
      limits: [{ name: 'tokens', capacity: 5, refillPeriodSecs: 3600 }],
      consume: [{ limit: 'tokens', amount: 4 }],
    };
    await acquire(entityId, scarce);
    expect(await acquire(entityId, { ...scarce, consume })).toMatchObject({ kind: 'Lease' });
    const refused = async () => expect(await acquire(entityId, scarce)).toMatchObject({ kind: 'RateLimited' });
    expect(await unitsOf(refused)).toEqual({ read: 0, write: 0, calls: 1 });
    expect(await unitsOf(() => Promise.all(times(50, refused)))).toEqual({ read: 0, write: 0, calls: 0 });
  });

  it('of an acquire with a request id is 4 write units and no read', async () => {
    const entityId = await newEntity();
    expect(await unitsOf(() => acquire(entityId, { requestId: randomUUID() }))).toEqual({
      read: 0,
      write: 4,
      calls: 1,
    });
  });

  it('of 50 concurrent acquires with request ids on one bucket is at most 2.1 write units each', async () => {
    const entityId = await newEntity();
    const { read, write } = await unitsOf(() =>
      Promise.all(times(50, () => acquire(entityId, { requestId: randomUUID() }))),
    );
    expect(read).toBe(0);
    expect(write).toBeGreaterThanOrEqual(100);
    expect(write / 50).toBeLessThanOrEqual(2.1);
    expect(await totalOf(entityId)).toBe(51);
  });

  it.each<[string, (taken: Awaited<ReturnType<typeof lease>>) => Promise<unknown>]>([
    ['an adjust up', (taken) => adjust(taken, 3)],
    ['an adjust down', (taken) => adjust(taken, -1)],
    ['a release', release],
  ])('of %s is 4 write units and no read, 6 with a parent', async (_, change) => {
    const alone = await lease(await newEntity());
    expect(await unitsOf(() => change(alone))).toEqual({ read: 0, write: 4, calls: 1 });
    const { child } = await newChild();
    const cascaded = await lease(child);
    expect(await unitsOf(() => change(cascaded))).toEqual({ read: 0, write: 6, calls: 1 });
  });

  it.each<[string, (taken: Awaited<ReturnType<typeof lease>>) => Promise<unknown>, number]>([
    ['adjusts', (taken) => adjust(taken, 2), 151],
    ['releases', release, 1],
  ])('of 50 concurrent %s on one bucket is at most 2.1 write units each', async (_, change, total) => {
    const entityId = await newEntity();
    const leases = await Promise.all(times(50, () => lease(entityId)));
    const { read, write } = await unitsOf(() => Promise.all(leases.map((taken) => change(taken))));
    expect(read).toBe(0);
    expect(write).toBeGreaterThanOrEqual(100);
    expect(write / 50).toBeLessThanOrEqual(2.1);
    expect(await totalOf(entityId)).toBe(total);
  });

  it('of a charge without a key is 1 write unit and no read, 2 with a parent', async () => {
    const alone = await lease(await newEntity());
    expect(await unitsOf(() => charge(alone))).toEqual({ read: 0, write: 1, calls: 1 });
    const { child } = await newChild();
    const cascaded = await lease(child);
    expect(await unitsOf(() => charge(cascaded))).toEqual({ read: 0, write: 2, calls: 2 });
  });

  it('of 50 concurrent charges without a key on one bucket is at most 0.1 write units each', async () => {
    const entityId = await newEntity();
    const leases = await Promise.all(times(50, () => lease(entityId)));
    const { read, write } = await unitsOf(() => Promise.all(leases.map((taken) => charge(taken))));
    expect(read).toBe(0);
    expect(write / 50).toBeLessThanOrEqual(0.1);
    expect(await totalOf(entityId)).toBe(201);
  });

  it('of a charge or release without a cached bucket is one more call and at most 3 read units', async () => {
    await newEntityOn(other);
    for (const [change, write] of [
      [charge, 1],
      [release, 4],
    ] as const) {
      const taken = await lease(await newEntity());
      const units = await unitsOf(() => change(taken, other), other);
      expect({ write: units.write, calls: units.calls }).toEqual({ write, calls: 2 });
      expect(units.read).toBeLessThanOrEqual(3);
    }
  });

  it('of an acquireAll on two buckets is 4 write units and no read, on one bucket 1', async () => {
    const [a, b] = [await newEntity(), await newEntity()];
    const all = (...entityIds: string[]) =>
      app.gateway.services.limits.acquireAll(
        orgId,
        entityIds.map((entityId) => ({ entityId, resource: 'api', consume })),
      );
    expect(await unitsOf(() => all(a, b))).toEqual({ read: 0, write: 4, calls: 1 });
    expect(await unitsOf(() => all(a))).toEqual({ read: 0, write: 1, calls: 1 });
    expect(await unitsOf(() => all(a, a))).toEqual({ read: 0, write: 1, calls: 1 });
  });

  it.each<[string, op.LimitInput]>([
    ['a concurrency limit', { name: 'tokens', capacity: 100, kind: 'CONCURRENCY' }],
    ['a calendar limit', { name: 'tokens', capacity: 100, window: 'DAY' }],
    ['a shadow limit', { name: 'tokens', capacity: 100, refillPeriodSecs: 60, enforce: false }],
  ])('of an acquire under %s is 1 write unit and no read, of a release 4', async (_, limit) => {
    const entityId = `e-${randomUUID()}`;
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY', entityId, resource: 'api', limits: [limit] },
    });
    await acquire(entityId);
    await acquire(entityId);
    expect(await unitsOf(() => acquire(entityId))).toEqual({ read: 0, write: 1, calls: 1 });
    const taken = await lease(entityId);
    if (limit.kind === 'CONCURRENCY')
      expect(await unitsOf(() => app.gateway.services.leases.renew(taken.id, taken.handle, 60))).toEqual({
        read: 0,
        write: 1,
        calls: 1,
      });
    expect(await unitsOf(() => release(taken))).toEqual({ read: 0, write: 4, calls: 1 });
  });

  it('of an acquire that a shadow limit would have refused is one more read, once per second', async () => {
    const entityId = `e-${randomUUID()}`;
    const scarce = { name: 'tokens', capacity: 1, refillPeriodSecs: 1_000_000, enforce: false };
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY', entityId, resource: 'api', limits: [scarce] },
    });
    await acquire(entityId);
    expect(await unitsOf(() => acquire(entityId))).toEqual({ read: 1, write: 1, calls: 2 });
    expect(await unitsOf(() => acquire(entityId))).toEqual({ read: 0, write: 1, calls: 1 });
  });

  // The audit event is an item of another table, with its own index.
  it('of a top-up is one read of the bucket and one transaction of three items', async () => {
    const entityId = await newEntity();
    const request = { entityId, resource: 'api', limit: 'tokens', amount: 1, operationId: randomUUID() };
    const units = await unitsOf(() => app.gateway.services.topUps.topUp(orgId, request, { kind: 'ADMIN' } as never));
    expect({ read: units.read, calls: units.calls }).toEqual({ read: 1, calls: 2 });
    expect(units.write).toBeLessThanOrEqual(8);
  });

  // 4 on the table: bucket and usage item in one transaction. The other 2 are the usage item's entries in GSI2 and
  // GSI4.
  it('of the first acquire in an hour is 6 more write units, 4 of them on the table, and no read', async () => {
    const entityId = await newEntity();
    await acquire(entityId);
    clock.advance(hourMs);
    expect(await unitsOf(() => acquire(entityId))).toEqual({ read: 0, write: 7, calls: 2 });
    expect(await unitsOf(() => acquire(entityId))).toEqual({ read: 0, write: 1, calls: 1 });
    clock.advance(hourMs);
    const { write } = await unitsOf(() => Promise.all(times(50, () => acquire(entityId))));
    expect(write).toBeLessThanOrEqual(6 + 5);
  });
});

interface Consumed {
  readonly Table?: { readonly CapacityUnits: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
}

/** A bucket registry with its own client, and the consumed capacity of each of its writes per index. */
function newBuckets(): { readonly buckets: BucketRegistry; readonly reports: Consumed[]; close(): void } {
  const reports: Consumed[] = [];
  const real = sdkTransport(app.config.store);
  const transport: Transport = {
    ...real,
    async send(call, input) {
      const output = await real.send(call, { ...input, ReturnConsumedCapacity: 'INDEXES' });
      reports.push(...([output.ConsumedCapacity].flat() as Consumed[]));
      return output;
    },
  };
  const store = new BucketStore(new StoreClient(transport, app.config.store.tablePrefix), clock, 90);
  const buckets = new BucketRegistry(store, clock, { maxWaiting: 1000, log: silentLog });
  return { buckets, reports, close: () => real.close() };
}

/** A take of one token from a bucket that does not exist yet. */
function takeFrom(namespace: string, set: LimitSet): { readonly bucket: BucketId; readonly take: Operation } {
  const bucket = { namespace, entityId: `e-${randomUUID()}`, resource: 'api' };
  const action = {
    kind: 'take',
    set,
    amounts: { tokens: 1000n },
    mayExpire: true,
    slot: { lease: 'l', untilMs: 0 },
  } as const;
  return { bucket, take: { parts: [{ bucket, action }] } };
}

const indexUnits = ({ GlobalSecondaryIndexes = {} }: Consumed): Record<string, number> =>
  Object.fromEntries(
    Object.entries(GlobalSecondaryIndexes).flatMap(([name, { CapacityUnits }]) =>
      CapacityUnits > 0 ? [[name, CapacityUnits]] : [],
    ),
  );

it('writes no index in an acquire, a charge or a return; only a new directory entry writes its three', async () => {
  const { buckets, reports, close } = newBuckets();
  const namespace = await app.gateway.services.namespaces.of(orgId);
  const set = limitSet(limits.map(completeLimit));
  const { bucket, take } = takeFrom(namespace, set);
  const move = (milli: bigint): Operation => {
    const out = { tokens: { milli, units: milli * 60_000n, period: 60_000n } };
    return {
      parts: [
        {
          bucket,
          action: { kind: 'settle', moves: [{ entityId: bucket.entityId, shard: 0, shards: 1, out }], events: 0 },
        },
      ],
    };
  };

  await buckets.apply(take);
  expect(reports.splice(0).map(indexUnits)).toEqual([{ GSI2: 1, GSI3: 1, GSI4: 1 }, {}]);
  await buckets.apply(take);
  await Promise.all(times(20, () => buckets.apply(take)));
  await buckets.apply(move(5000n));
  await buckets.apply(move(-5000n));
  // A registry without the bucket in its cache speculates that the bucket is full.
  clock.advance(60_000);
  const uncached = newBuckets();
  await uncached.buckets.apply(take);
  for (const report of [...reports, ...uncached.reports]) {
    expect(indexUnits(report)).toEqual({});
    expect(report.Table?.CapacityUnits).toBe(1);
  }
  expect(reports.length).toBeGreaterThanOrEqual(4);
  expect(uncached.reports).toHaveLength(1);
  for (const opened of [close, uncached.close]) opened();
});

it('closes an hour for 4 write units on the table and 1 in each of the two indexes of the usage item', async () => {
  const { buckets, reports, close } = newBuckets();
  const namespace = await app.gateway.services.namespaces.of(orgId);
  const { take } = takeFrom(namespace, limitSet(limits.map(completeLimit)));
  await buckets.apply(take);
  clock.advance(hourMs);
  reports.splice(0);
  await buckets.apply(take);
  expect(reports.map((report) => [report.Table?.CapacityUnits, indexUnits(report)])).toEqual([
    [4, { GSI2: 1, GSI4: 1 }],
    [1, {}],
  ]);
  close();
});

describe('the price of counted refusals', () => {
  const note = async (entityId: string, count: number) => {
    const bucket = { namespace: await app.gateway.services.namespaces.of(orgId), entityId, resource: 'api' };
    for (let i = 0; i < count; i++) app.gateway.services.refusals.note(bucket, ['tokens'], 'refused');
  };
  const flush = () => app.gateway.services.refusals.flush();

  // The first write of an hour also writes GSI2 and GSI4.
  it('is 1 write unit per bucket and flush for any number, 2 more for the first of an hour, and no read', async () => {
    await flush();
    const entityId = `e-${randomUUID()}`;
    await note(entityId, 1000);
    expect(await unitsOf(flush)).toEqual({ read: 0, write: 3, calls: 1 });
    await note(entityId, 1000);
    expect(await unitsOf(flush)).toEqual({ read: 0, write: 1, calls: 1 });
    expect(await unitsOf(flush)).toEqual({ read: 0, write: 0, calls: 0 });
  });

  it('is nothing for counting them in memory', async () => {
    expect(await unitsOf(() => note(`e-${randomUUID()}`, 10))).toEqual({ read: 0, write: 0, calls: 0 });
    await flush();
  });
});

it('reads two lists and 60 items for the top entities of 20 buckets with one closed hour each', async () => {
  const { orgId: newOrgId } = await newTenant(app, {}, []);
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId: newOrgId, level: 'RESOURCE', resource: 'api', limits } });
  const round = () =>
    Promise.all(
      times(20, (i) => app.gateway.services.limits.acquire(newOrgId, { entityId: `e${i}`, resource: 'api', consume })),
    );
  await round();
  clock.advance(hourMs);
  await round();
  let charged = 0;
  const { read, write, calls } = await unitsOf(() =>
    app.gateway.services.usage.topEntities(
      newOrgId,
      { resource: 'api', window: 'MONTHLY', limit: 'tokens', by: 'CONSUMED', first: 10 },
      (units) => {
        charged += units;
      },
    ),
  );
  expect([write, calls, charged]).toEqual([0, 5, 10]);
  expect(read).toBeLessThanOrEqual(60 + 5);
});

it('deletes the leases of a purged namespace with 64 queries, and no query until the next are due', async () => {
  const { orgId: newOrgId } = await newTenant(app, {}, []);
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId: newOrgId, level: 'RESOURCE', resource: 'api', limits } });
  await app.admin.ask(op.PurgeLimiterDocument, { orgId: newOrgId });
  const store = new StoreClient(sdkTransport(app.config.store), app.config.store.tablePrefix);
  const namespaces = new NamespaceStore(store);
  const buckets = new BucketStore(store, clock, 90);
  const registry = new BucketRegistry(buckets, clock, { maxWaiting: 0, log: silentLog });
  const housekeeping = new LimiterHousekeeping({
    buckets,
    registry,
    namespaces,
    tasks: new TaskStore(store, 'w'),
    clock,
    log: silentLog,
  });
  await housekeeping.purge();
  clock.advance(10 * 60_000);
  // The list of namespaces, the query for other items, the claim, and the 64 queries.
  const before = { ...store.consumed };
  await housekeeping.purge();
  expect(store.consumed.calls - before.calls).toBe(3 + 64);
  expect(store.consumed.read - before.read).toBeLessThanOrEqual(40);
  const after = { ...store.consumed };
  await housekeeping.purge();
  expect(store.consumed.calls - after.calls).toBe(3);
  store.close();
});
