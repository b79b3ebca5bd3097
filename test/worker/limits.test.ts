import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import type { Item, Key } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { BucketRegistry } from '../../src/limits/buckets/bucket.registry.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { NamespaceStore } from '../../src/limits/entities/namespace.store.js';
import {
  type BucketId,
  leaseKey,
  namespaceIdKey,
  namespaceIndexKeys,
  shardKey,
  taskKey,
} from '../../src/limits/limiter-keys.js';
import { LimitRollup } from '../../src/limits/usage/limit.rollup.js';
import { TaskStore } from '../../src/limits/usage/task.store.js';
import { startWorker } from '../../src/worker.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { deniedBy } from '../support/policy.js';
import { until } from '../support/until.js';
import { dayMs, hourMs, newTenant, noonClock } from './costs.js';

const clock = noonClock();
const resource = 'api';
let proxy: FaultProxy;
let app: TestApp;
let orgId: string;
let namespace: string;
const workers: Background[] = [];

/** A worker with a memory of its own, through the proxy. */
function newWorker(endpoint = proxy.endpoint): Background {
  const worker = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint } },
    { clock, log: silentLog },
  );
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock });
});
// An org of its own for each test, and whatever those before have left is tidied.
beforeEach(async () => {
  clock.advance(dayMs);
  await newWorker().limits.tidyBuckets();
  ({ orgId } = await newTenant(app, {}, []));
  namespace = await app.gateway.services.namespaces.of(orgId);
  proxy.clear();
});
afterEach(() => {
  const { calls } = proxy;
  proxy.clear();
  for (const worker of workers.splice(0)) worker.close();
  expect(deniedBy('WorkerPolicy', calls)).toEqual([]);
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const newId = (): BucketId => ({ namespace, entityId: `e-${randomUUID()}`, resource });
const limit = (capacity: number, refillPeriodSecs = 60): op.LimitInput => ({
  name: 'tokens',
  capacity,
  refillPeriodSecs,
});
const setLimits = (...limits: op.LimitInput[]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'RESOURCE', resource, limits } });
const acquire = async ({ entityId }: BucketId, amount = 1) =>
  (
    await app.admin.ask(op.AcquireDocument, {
      input: { orgId, entityId, resource, consume: [{ limit: 'tokens', amount }] },
    })
  ).acquire;

async function take(id: BucketId, amount = 1): Promise<string> {
  const acquired = await acquire(id, amount);
  if (acquired.__typename !== 'Lease') throw new Error(`refused: ${acquired.message}`);
  return acquired.leaseId;
}

const adjust = (leaseId: string, amount: number) =>
  app.admin.ask(op.AdjustLeaseDocument, {
    input: { leaseId, adjust: [{ limit: 'tokens', amount }], idempotencyKey: randomUUID() },
  });
const release = (leaseId: string) => app.admin.ask(op.ReleaseLeaseDocument, { leaseId });
const availableOf = async ({ entityId }: BucketId) =>
  (await app.admin.ask(op.AvailabilityDocument, { orgId, entityId, resource })).availability.statuses[0]
    ?.available as number;
const usageOf = async ({ entityId }: BucketId) =>
  (
    (await app.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'HOURLY', resource })).org?.entity?.usage
      .nodes ?? []
  ).map(({ windowStart, totalEvents, counters }) => [windowStart, totalEvents, counters[0]?.consumed]);
const hourNow = () => new Date(Math.floor(clock.nowMs() / hourMs) * hourMs).toISOString();

/** Every item of the limiter whose key begins so. */
async function items(prefix: string): Promise<Item[]> {
  const found: Item[] = [];
  let after: Key | undefined;
  do {
    const page = await app.gateway.services.store.scan('limiter', after);
    found.push(...page.items.filter(({ PK }) => (PK as string).startsWith(prefix)));
    after = page.next;
  } while (after);
  return found.sort((a, b) => (`${a.PK}${a.SK}` < `${b.PK}${b.SK}` ? -1 : 1));
}
const shardsOf = ({ entityId }: BucketId) => items(`${namespace}/BUCKET#${entityId}#`);
const booked = async ({ entityId }: BucketId) =>
  (await items(`${namespace}/ENTITY#${entityId}`))
    .filter(({ SK }) => (SK as string).startsWith('#USAGE#'))
    .map((item) => [item.events, item.u_tokens]);
const ttlMs = async (id: BucketId): Promise<number | undefined> => {
  const item = await app.gateway.services.store.get('limiter', shardKey({ ...id, shard: 0 }), { consistent: true });
  return typeof item?.ttl === 'number' ? item.ttl * 1000 : undefined;
};

/** Known by more than its bucket. */
async function newCreated(): Promise<BucketId> {
  const id = newId();
  await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: id.entityId } });
  return id;
}

async function double(id: BucketId, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect(await app.gateway.services.buckets.double(id)).toBe(true);
}

describe('tidying', () => {
  it('books the hours of buckets that went idle, once, though two workers begin at once and again the next day', async () => {
    await setLimits(limit(100));
    const [one, other] = [newId(), newId()];
    const hour = hourNow();
    await take(one, 10);
    await take(one, 5);
    await take(other, 7);
    clock.advance(dayMs);
    expect([await booked(one), await booked(other)]).toEqual([[], []]);
    const rounds = await Promise.all([newWorker().limits.tidyBuckets(), newWorker().limits.tidyBuckets()]);
    expect(rounds.sort()).toEqual([2, undefined]);
    const expected = [[[2, 15_000]], [[1, 7000]]];
    expect([await booked(one), await booked(other)]).toEqual(expected);
    expect([await usageOf(one), await usageOf(other)]).toEqual([[[hour, 2, 15]], [[hour, 1, 7]]]);

    clock.advance(dayMs);
    expect(await newWorker().limits.tidyBuckets()).toBe(0);
    expect([await booked(one), await booked(other)]).toEqual(expected);
    // What comes after counts in its own hour.
    await take(one, 1);
    expect(await usageOf(one)).toEqual([
      [hour, 2, 15],
      [hourNow(), 1, 1],
    ]);
  });

  it('leaves the current hour alone', async () => {
    await setLimits(limit(100));
    clock.advance(dayMs);
    const id = newId();
    await take(id, 10);
    expect(await newWorker().limits.tidyBuckets()).toBe(0);
    expect(await booked(id)).toEqual([]);
    expect(await usageOf(id)).toEqual([[hourNow(), 1, 10]]);
  });

  it('is done once a day and by one worker', async () => {
    const [one, other] = [newWorker(), newWorker()];
    clock.advance(dayMs);
    expect(await one.limits.tidyBuckets()).toBe(0);
    for (const worker of [one, other]) expect(await worker.limits.tidyBuckets()).toBeUndefined();
    clock.advance(dayMs - 60_000);
    for (const worker of [one, other]) expect(await worker.limits.tidyBuckets()).toBeUndefined();
    clock.advance(60_000);
    expect(await other.limits.tidyBuckets()).toBe(0);
    expect(await one.limits.tidyBuckets()).toBeUndefined();
  });

  it('that was cut off is taken up where it was, by another worker, within an hour', async () => {
    const { store, limits, namespaces } = app.gateway.services;
    const taken = await Promise.all(
      [1, 2, 3].map(async () => {
        const { orgId: of } = await newTenant(app, {}, []);
        await limits.acquire(of, {
          entityId: 'e',
          resource,
          limits: [{ ...limit(100), refillPeriodSecs: 60 }],
          consume: [{ limit: 'tokens', amount: 3 }],
        });
        return namespaces.of(of);
      }),
    );
    const [first, ...rest] = taken.sort() as [string, string, string];
    clock.advance(dayMs);
    // A worker that has tidied up to the first of these and died.
    const diedMs = clock.nowMs();
    const mark = { worker: 'dead', began_ms: diedMs, heard_ms: diedMs, after: first };
    await store.write({ table: 'limiter', put: { ...taskKey('tidy-buckets'), ...mark } });
    clock.advance(29 * 60_000);
    expect(await newWorker().limits.tidyBuckets()).toBeUndefined();
    clock.advance(60_000);
    const rounds = await Promise.all([newWorker().limits.tidyBuckets(), newWorker().limits.tidyBuckets()]);
    expect(rounds.filter((touched) => touched !== undefined)).toHaveLength(1);
    const bookedIn = async (of: string) => (await items(`${of}/ENTITY#`)).map(({ u_tokens }) => u_tokens);
    expect(await Promise.all(rest.map(bookedIn))).toEqual([[3000], [3000]]);
    expect(await bookedIn(first)).toEqual([]);
    expect(await newWorker().limits.tidyBuckets()).toBeUndefined();
    // The next is due a day after the one that died began, and leaves out nothing.
    clock.advance(dayMs - 30 * 60_000);
    expect(await newWorker().limits.tidyBuckets()).toBe(1);
    expect(await bookedIn(first)).toEqual([3000]);
    expect((await store.get('limiter', taskKey('tidy-buckets'), { consistent: true }))?.after).toBeUndefined();
  });

  it('notes how far it has come, and stops where another worker has taken it up', async () => {
    const { store } = app.gateway.services;
    for (let i = 0; i < 3; i++) await app.gateway.services.namespaces.of((await newTenant(app, {}, [])).orgId);
    clock.advance(dayMs);
    const real = new BucketStore(store, clock, 90);
    const visited: string[] = [];
    // Each namespace takes a minute, and during the third another worker takes the task.
    const buckets = Object.assign(Object.create(real) as BucketStore, {
      async listOfNamespace(of: string) {
        visited.push(of);
        clock.advance(60_000);
        if (visited.length === 3)
          await store.write({ table: 'limiter', update: taskKey('tidy-buckets'), set: { worker: 'another' } });
        return real.listOfNamespace(of);
      },
    });
    const mark = () => store.get('limiter', taskKey('tidy-buckets'), { consistent: true });
    const registry = new BucketRegistry(real, clock, { maxWaiting: 0, log: silentLog });
    await new LimitRollup({
      buckets,
      registry,
      namespaces: new NamespaceStore(store),
      tasks: new TaskStore(store, 'one'),
      clock,
      log: silentLog,
    }).tidyBuckets();
    expect(visited).toEqual([...visited].sort());
    expect(visited).toHaveLength(3);
    expect(await mark()).toMatchObject({ worker: 'another', after: visited[1] });
    expect((await mark())?.finished_ms).toBeUndefined();
    clock.advance(30 * 60_000);
    expect(await newWorker().limits.tidyBuckets()).toBe(0);
    expect((await mark())?.finished_ms).toBeDefined();
  });

  it('that is due is done when a worker starts, and not again by one that starts an hour later', async () => {
    await setLimits(limit(100));
    const [id, later] = [newId(), newId()];
    await take(id, 10);
    clock.advance(dayMs);
    const first = startWorker(
      { ...app.config, store: { ...app.config.store, endpoint: proxy.endpoint } },
      { clock, log: silentLog, sweeps: false },
    );
    await until('the hour is booked', async () => (await booked(id)).length > 0);
    await first.stop();
    expect(await booked(id)).toEqual([[1, 10_000]]);
    await take(later, 1);
    clock.advance(hourMs);
    proxy.clear();
    const second = startWorker(
      { ...app.config, store: { ...app.config.store, endpoint: proxy.endpoint } },
      { clock, log: silentLog, sweeps: false },
    );
    await until('the mark is looked at', () =>
      proxy.calls.some(({ body }) => JSON.stringify(body).includes('#TASK#tidy-buckets')),
    );
    await second.stop();
    expect(await booked(later)).toEqual([]);
  });

  it('by a worker that is a day late, beside another and beside acquires, books nothing twice', async () => {
    await setLimits(limit(100));
    const ids = Array.from({ length: 6 }, newId);
    const hour = hourNow();
    for (const id of ids) await take(id, 3);
    clock.advance(dayMs);
    // Every write of the first takes a while; meanwhile its day has passed.
    const held = proxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'slow', ms: 150 });
    const late = newWorker().limits.tidyBuckets();
    while (held.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advance(dayMs);
    const [touched, others] = await Promise.all([
      late,
      newWorker().limits.tidyBuckets(),
      ...ids.slice(0, 3).map((id) => take(id, 2)),
    ]);
    expect([typeof touched, typeof others]).toEqual(['number', 'number']);
    for (const [i, id] of ids.entries()) {
      const open = i < 3 ? [[hourNow(), 1, 2]] : [];
      expect(await usageOf(id)).toEqual([[hour, 1, 3], ...open]);
    }
  });

  it('of one org that has a bucket which cannot be read does not keep the others from theirs', async () => {
    const { namespaces, limits, store } = app.gateway.services;
    const orgs = await Promise.all(
      [1, 2, 3].map(async () => {
        const { orgId: of } = await newTenant(app, {}, []);
        await limits.acquire(of, {
          entityId: 'e',
          resource,
          limits: [{ ...limit(100), refillPeriodSecs: 60 }],
          consume: [{ limit: 'tokens', amount: 3 }],
        });
        return namespaces.of(of);
      }),
    );
    // They are gone through in the order of their ids: what comes after the first would be left out.
    const [broken, ...others] = orgs.sort() as [string, string, string];
    const key = shardKey({ namespace: broken, entityId: 'broken', resource, shard: 0 });
    await store.write({
      table: 'limiter',
      put: { ...key, ...namespaceIndexKeys(broken, key.PK), b_tokens_fa: 'no number' },
    });
    clock.advance(dayMs);
    await newWorker().limits.tidyBuckets();
    const bookedIn = async (of: string) => (await items(`${of}/ENTITY#`)).map(({ u_tokens }) => u_tokens);
    expect(await Promise.all(others.map(bookedIn))).toEqual([[3000], [3000]]);
    expect(await bookedIn(broken)).toEqual([]);
    await store.write({ table: 'limiter', delete: key });
  });
});

describe('an idle bucket of several shards', () => {
  it('is removed in one go once its time has passed, and not before; what it has used stays on record', async () => {
    await setLimits(limit(80));
    const id = await newCreated();
    await take(id, 5);
    await double(id, 2);
    clock.advance(60_000);
    await take(id, 60);
    const hour = hourNow();
    clock.advance(3 * dayMs);
    await newWorker().limits.tidyBuckets();
    expect(await shardsOf(id)).toHaveLength(4);
    expect(await usageOf(id)).toEqual([[hour, 2, 65]]);

    clock.advance(dayMs);
    proxy.clear();
    expect(await newWorker().limits.tidyBuckets()).toBe(1);
    expect(await shardsOf(id)).toEqual([]);
    const deletions = proxy.calls
      .map(({ body }) => ((body.TransactItems ?? []) as object[]).filter((item) => 'Delete' in item).length)
      .filter((count) => count > 0);
    expect(deletions).toEqual([4]);
    expect(await usageOf(id)).toEqual([[hour, 2, 65]]);
    await take(id, 80);
    expect(await shardsOf(id)).toHaveLength(1);
  });

  it('is removed whole with use that was never booked, and that is booked with it', async () => {
    await setLimits(limit(80));
    const id = await newCreated();
    await take(id, 5);
    await double(id, 2);
    clock.advance(60_000);
    await take(id, 60);
    const hour = hourNow();
    clock.advance(5 * dayMs);
    expect(await newWorker().limits.tidyBuckets()).toBe(1);
    expect(await shardsOf(id)).toEqual([]);
    expect(await usageOf(id)).toEqual([[hour, 2, 65]]);
  });

  it('is not removed while it is in debt', async () => {
    await setLimits(limit(80));
    const id = newId();
    const leaseId = await take(id, 5);
    await double(id, 2);
    // Ten days' worth.
    await adjust(leaseId, 80 * 10 * 24 * 60);
    for (let day = 0; day < 9; day++) {
      clock.advance(dayMs);
      await newWorker().limits.tidyBuckets();
    }
    expect(await shardsOf(id)).toHaveLength(4);
    expect(await availableOf(id)).toBeLessThan(0);
    clock.advance(2 * dayMs);
    await newWorker().limits.tidyBuckets();
    expect(await shardsOf(id)).toEqual([]);
  });

  it('is not removed while it is used', async () => {
    await setLimits(limit(80));
    const id = newId();
    await take(id, 5);
    await double(id, 2);
    for (let day = 0; day < 6; day++) {
      clock.advance(dayMs);
      await take(id, 5);
      await newWorker().limits.tidyBuckets();
    }
    expect(await shardsOf(id)).toHaveLength(4);
  });
});

describe('a purge', () => {
  const withoutRegistry = (found: Item[]) => found.filter(({ SK }) => !(SK as string).startsWith('#NS'));

  it('deletes all of the old namespace and nothing of another org, and forgets the namespace after an hour', async () => {
    const fill = async (of: string) => {
      const input = { orgId: of, resource };
      await app.admin.ask(op.SetLimitsDocument, { input: { orgId: of, level: 'SYSTEM', limits: [limit(1000)] } });
      await app.admin.ask(op.SetLimitsDocument, { input: { ...input, level: 'RESOURCE', limits: [limit(100)] } });
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId: of, entityId: 'team' } });
      await app.admin.ask(op.CreateEntityDocument, {
        input: { orgId: of, entityId: 'user', parentId: 'team', cascade: true },
      });
      await app.admin.ask(op.SetLimitsDocument, {
        input: { ...input, level: 'ENTITY', entityId: 'user', limits: [limit(200)] },
      });
      const consume = [{ limit: 'tokens', amount: 1 }];
      for (let i = 0; i < 60; i++)
        await app.gateway.services.limits.acquire(of, { entityId: `e${i}`, resource, consume });
      await app.gateway.services.limits.acquire(of, { entityId: 'user', resource, consume });
      clock.advance(hourMs);
      await app.gateway.services.limits.acquire(of, { entityId: 'user', resource, consume });
    };
    const { orgId: neighbour } = await newTenant(app, {}, []);
    const there = await app.gateway.services.namespaces.of(neighbour);
    await fill(orgId);
    await fill(neighbour);
    const kept = await items(`${there}/`);
    const { length } = await items(`${namespace}/`);
    expect(length).toBeGreaterThan(65);
    expect((await app.admin.ask(op.PurgeLimiterDocument, { orgId })).purgeLimiter).toBe(true);

    expect(await newWorker().limits.purge()).toBe(length);
    expect(await items(`${namespace}/`)).toEqual([]);
    expect(await items(`${there}/`)).toEqual(kept);
    expect(await newWorker().limits.purge()).toBe(0);
    // The audit trail is under the org.
    expect((await items(`${orgId}/AUDIT#`)).map(({ SK }) => SK)).not.toEqual([]);

    // A gateway that had not heard of it yet.
    const PK = `${namespace}/BUCKET#late#api#0`;
    await app.gateway.services.store.write({
      table: 'limiter',
      put: { PK, SK: '#STATE', ...namespaceIndexKeys(namespace, PK) },
    });
    expect(await newWorker().limits.purge()).toBe(1);
    expect(await items(`${namespace}/`)).toEqual([]);

    const { store } = app.gateway.services;
    expect(await store.get('limiter', namespaceIdKey(namespace), { consistent: true })).toBeDefined();
    clock.advance(hourMs + 60_000);
    await newWorker().limits.purge();
    expect(await store.get('limiter', namespaceIdKey(namespace), { consistent: true })).toBeUndefined();
    expect(withoutRegistry(await items(`${there}/`))).toEqual(withoutRegistry(kept));
    expect(await app.gateway.services.namespaces.of(orgId)).not.toBe(namespace);
    expect(await app.gateway.services.namespaces.of(neighbour)).toBe(there);
  });

  it('deletes the leases too: nothing whose key begins with the namespace is left', async () => {
    await setLimits(limit(1000));
    const leaseIds: string[] = [];
    for (let i = 0; i < 20; i++) leaseIds.push(await take(newId()));
    for (const leaseId of leaseIds.slice(0, 10)) await adjust(leaseId, 1);
    for (const leaseId of leaseIds.slice(10)) await release(leaseId);
    const consume = [{ limit: 'tokens', amount: 1 }];
    for (let i = 0; i < 60; i++)
      await app.gateway.services.limits.acquire(orgId, { entityId: 'e', resource, consume, requestId: randomUUID() });
    const leases = await items(`${namespace}/LEASE#`);
    expect(leases).toHaveLength(80);
    expect(new Set(leases.map(({ PK }) => PK)).size).toBeGreaterThan(20);
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    await newWorker().limits.purge();
    expect(await items(namespace)).toEqual([]);
  });

  it('looks for leases every ten minutes and once at the end, and finds those that came late', async () => {
    await setLimits(limit(1000));
    await take(newId());
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    const { store } = app.gateway.services;
    const write = (name: string) => store.write({ table: 'limiter', put: { ...leaseKey(namespace, name), v: 0 } });
    /** How many queries for leases a round of each of two workers makes. */
    const looks = async () => {
      proxy.clear();
      await Promise.all([newWorker().limits.purge(), newWorker().limits.purge()]);
      return proxy.calls.filter(
        ({ operation, body }) => operation === 'Query' && JSON.stringify(body).includes(`${namespace}/LEASE#`),
      ).length;
    };
    expect(await looks()).toBe(64);
    for (let minute = 1; minute < 10; minute += 4) {
      await write(`late-${minute}`);
      clock.advance(4 * 60_000 - 90_000);
      expect(await looks()).toBe(0);
    }
    clock.advance(3 * 60_000);
    expect(await looks()).toBe(64);
    expect(await items(`${namespace}/`)).toEqual([]);
    clock.advance(47 * 60_000);
    expect(await looks()).toBe(64);
    // Less than ten minutes after that the hour is over.
    await write('last');
    clock.advance(5 * 60_000);
    await newWorker().limits.purge();
    expect(await items(`${namespace}/`)).toEqual([]);
    expect(await store.get('limiter', namespaceIdKey(namespace), { consistent: true })).toBeUndefined();
  });

  it('by two workers at once, with lost replies, ends the same', async () => {
    await setLimits(limit(100));
    for (let i = 0; i < 30; i++) await adjust(await take(newId()), 1);
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    proxy.inject({ operation: 'BatchWriteItem', table: 'limiter', fault: 'partial-batch', nth: 1 });
    proxy.inject({ operation: 'BatchWriteItem', table: 'limiter', fault: 'drop-reply', nth: 2 });
    await Promise.all([newWorker().limits.purge(), newWorker().limits.purge()]);
    expect(await items(`${namespace}/`)).toEqual([]);
  });
});

describe("a bucket's expiry", () => {
  it('is three days after its last write at least, and moves with each', async () => {
    await setLimits(limit(100));
    const id = newId();
    const leaseId = await take(id);
    let before = (await ttlMs(id)) as number;
    expect(before).toBeGreaterThanOrEqual(clock.nowMs() + 3 * dayMs - 1000);
    for (const write of [() => take(id), () => adjust(leaseId, 3), () => adjust(leaseId, -2), () => release(leaseId)]) {
      clock.advance(10 * 60_000);
      await write();
      const after = (await ttlMs(id)) as number;
      expect(after - before).toBeGreaterThanOrEqual(10 * 60_000 - 1000);
      expect(after).toBeGreaterThanOrEqual(clock.nowMs() + 3 * dayMs - 1000);
      before = after;
    }
  });

  it('is seven times as long as the slowest of its limits takes to fill', async () => {
    await setLimits(limit(100), { name: 'slow', capacity: 10, refillPeriodSecs: 10 * 86_400 });
    const id = newId();
    await take(id);
    expect(await ttlMs(id)).toBeGreaterThanOrEqual(clock.nowMs() + 70 * dayMs - 1000);
  });

  it('is after the end of a debt, however long', async () => {
    await setLimits(limit(100));
    const id = newId();
    const leaseId = await take(id);
    const days = 40;
    await adjust(leaseId, 100 * 60 * 24 * days);
    expect(await ttlMs(id)).toBeGreaterThan(clock.nowMs() + days * dayMs);
    const second = await app.another();
    // Another who knows nothing of the debt gives back a little.
    await second.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'tokens', amount: -1 }], idempotencyKey: randomUUID() },
    });
    expect(await ttlMs(id)).toBeGreaterThan(clock.nowMs() + (days - 1) * dayMs);
    await second.stop();
  });

  it('is after the moment at which it is full, also where its limits have become slower', async () => {
    await setLimits(limit(100));
    const id = newId();
    await take(id, 100);
    await setLimits(limit(100, 30 * 86_400));
    expect((await acquire(id, 50)).__typename).toBe('RateLimited');
    expect(await ttlMs(id)).toBeGreaterThan(clock.nowMs() + 29 * dayMs);
  });

  it('is none where the entity has limits of its own for the resource, from its next acquire on', async () => {
    await setLimits(limit(100));
    const id = newId();
    const { entityId } = id;
    await take(id);
    expect(await ttlMs(id)).toBeDefined();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY', entityId, resource, limits: [limit(100)] },
    });
    const leaseId = await take(id);
    expect(await ttlMs(id)).toBeUndefined();
    await adjust(leaseId, 5);
    await release(leaseId);
    expect(await ttlMs(id)).toBeUndefined();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY', entityId, resource, limits: [limit(50)] },
    });
    await take(id);
    expect(await ttlMs(id)).toBeUndefined();
    await app.admin.ask(op.DeleteLimitsDocument, { input: { orgId, level: 'ENTITY', entityId, resource } });
    await take(id);
    expect(await ttlMs(id)).toBeGreaterThanOrEqual(clock.nowMs() + 3 * dayMs - 1000);
  });

  it('is there where the limits are those of all resources of the entity', async () => {
    const id = newId();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY_DEFAULT', entityId: id.entityId, limits: [limit(100)] },
    });
    await take(id);
    expect(await ttlMs(id)).toBeDefined();
  });

  it('is none while it has several shards', async () => {
    await setLimits(limit(80));
    const id = newId();
    const leaseId = await take(id);
    await double(id, 2);
    clock.advance(60_000);
    for (let i = 0; i < 4; i++) await take(id, 15);
    await adjust(leaseId, 3);
    await release(leaseId);
    clock.advance(hourMs);
    await take(id, 60);
    expect((await shardsOf(id)).map(({ ttl }) => ttl)).toEqual(Array(4).fill(undefined));
  });
});

// Past the proxy: only the embedded engine is swept, and no policy stands before it.
describe('a sweep', () => {
  it('takes a bucket whose time has passed, after its hours were booked, and nothing is lost with it', async () => {
    await setLimits(limit(100));
    const id = await newCreated();
    const hour = hourNow();
    await take(id, 60);
    for (let day = 0; day < 4; day++) {
      clock.advance(dayMs);
      const worker = newWorker(testEndpoint());
      await worker.limits.tidyBuckets();
      await worker.sweep();
    }
    expect(await shardsOf(id)).toEqual([]);
    expect(await usageOf(id)).toEqual([[hour, 1, 60]]);
    expect(await availableOf(id)).toBe(100);
  });

  it('takes the bucket, and not the record, of an entity that was never created', async () => {
    await setLimits(limit(100));
    const id = newId();
    const hour = hourNow();
    await take(id, 60);
    clock.advance(4 * dayMs);
    const worker = newWorker(testEndpoint());
    await worker.limits.tidyBuckets();
    await worker.sweep();
    expect(await shardsOf(id)).toEqual([]);
    expect(await booked(id)).toEqual([[1, 60_000]]);
    expect(await usageOf(id)).toEqual([[hour, 1, 60]]);
  });

  it('takes no bucket that is not full, in debt, sharded, or of limits of its own', async () => {
    await setLimits(limit(100));
    const debtor = newId();
    await adjust(await take(debtor), 100 * 60 * 24 * 20);
    const sharded = newId();
    await take(sharded);
    await double(sharded, 1);
    const own = newId();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY', entityId: own.entityId, resource, limits: [limit(100)] },
    });
    await take(own);
    const slow = newId();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY_DEFAULT', entityId: slow.entityId, limits: [limit(100, 30 * 86_400)] },
    });
    await take(slow, 100);
    clock.advance(15 * dayMs);
    await newWorker(testEndpoint()).sweep();
    expect(await availableOf(debtor)).toBeLessThan(0);
    expect(await shardsOf(sharded)).toHaveLength(2);
    expect(await shardsOf(own)).toHaveLength(1);
    expect(await availableOf(slow)).toBe(50);
    clock.advance(6 * dayMs);
    await newWorker(testEndpoint()).sweep();
    expect(await availableOf(debtor)).toBe(100);
  });

  it('forgives no use of a limit that has become slower', async () => {
    await setLimits(limit(100));
    const id = newId();
    await take(id, 100);
    await setLimits(limit(100, 30 * 86_400));
    expect((await acquire(id, 50)).__typename).toBe('RateLimited');
    clock.advance(6 * dayMs);
    await newWorker(testEndpoint()).sweep();
    expect(await availableOf(id)).toBeLessThanOrEqual(21);
  });

  it('beside acquires takes none that was just written', async () => {
    await setLimits(limit(100));
    const id = newId();
    await take(id, 10);
    clock.advance(4 * dayMs);
    const [leaseId] = await Promise.all([take(id, 100), newWorker(testEndpoint()).sweep()]);
    expect(leaseId).toBeTruthy();
    await newWorker(testEndpoint()).sweep();
    expect(await shardsOf(id)).toHaveLength(1);
    expect((await acquire(id, 50)).__typename).toBe('RateLimited');
  });
});
