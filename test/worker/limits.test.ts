import { silentLog } from '../../src/lib/log.js';
import { BucketRegistry } from '../../src/limits/buckets/bucket.registry.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { BucketDirectory } from '../../src/limits/buckets/directory.store.js';
import { NamespaceStore } from '../../src/limits/entities/namespace.store.js';
import { shardKey, taskKey } from '../../src/limits/limiter-keys.js';
import { LimiterHousekeeping } from '../../src/limits/usage/housekeeping.rollup.js';
import { TaskStore } from '../../src/limits/usage/task.store.js';
import { startWorker } from '../../src/worker.js';
import { until } from '../support/until.js';
import { dayMs, hourMs, newTenant } from './costs.js';
import {
  adjust,
  app,
  availableOf,
  booked,
  clock,
  double,
  hourNow,
  items,
  limit,
  newCreated,
  newId,
  newWorker,
  proxy,
  resource,
  setLimits,
  shardsOf,
  take,
  usageOf,
  useLimiter,
} from './limiter.js';

useLimiter();

describe('tidyBuckets', () => {
  it('books the hours of idle buckets once, with two concurrent workers and again the next day', async () => {
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
    // Later usage counts in its own hour.
    await take(one, 1);
    expect(await usageOf(one)).toEqual([
      [hour, 2, 15],
      [hourNow(), 1, 1],
    ]);
  });

  it('does not book the current hour', async () => {
    await setLimits(limit(100));
    clock.advance(dayMs);
    const id = newId();
    await take(id, 10);
    expect(await newWorker().limits.tidyBuckets()).toBe(0);
    expect(await booked(id)).toEqual([]);
    expect(await usageOf(id)).toEqual([[hourNow(), 1, 10]]);
  });

  it('runs once per day, by one worker', async () => {
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

  it('resumes the run of a dead worker where it stopped, within an hour', async () => {
    const { store, limits, namespaces } = app.gateway.services;
    const taken = await Promise.all(
      [1, 2, 3].map(async () => {
        const { orgId: tenant } = await newTenant(app, {}, []);
        await limits.acquire(tenant, {
          entityId: 'e',
          resource,
          limits: [{ ...limit(100), refillPeriodSecs: 60 }],
          consume: [{ limit: 'tokens', amount: 3 }],
        });
        return namespaces.of(tenant);
      }),
    );
    const [first, ...rest] = taken.sort() as [string, string, string];
    clock.advance(dayMs);
    // A worker that tidied the first of these and died.
    const diedMs = clock.nowMs();
    const mark = { worker: 'dead', began_ms: diedMs, heard_ms: diedMs, after: first };
    await store.write({ table: 'limiter', put: { ...taskKey('tidy-buckets'), ...mark } });
    clock.advance(29 * 60_000);
    expect(await newWorker().limits.tidyBuckets()).toBeUndefined();
    clock.advance(60_000);
    const rounds = await Promise.all([newWorker().limits.tidyBuckets(), newWorker().limits.tidyBuckets()]);
    expect(rounds.filter((changed) => changed !== undefined)).toHaveLength(1);
    const bookedIn = async (space: string) => (await items(`${space}/ENTITY#`)).map(({ u_tokens }) => u_tokens);
    expect(await Promise.all(rest.map(bookedIn))).toEqual([[3000], [3000]]);
    expect(await bookedIn(first)).toEqual([]);
    expect(await newWorker().limits.tidyBuckets()).toBeUndefined();
    // The next run is due a day after the start of the dead one, and covers all namespaces.
    clock.advance(dayMs - 30 * 60_000);
    expect(await newWorker().limits.tidyBuckets()).toBe(1);
    expect(await bookedIn(first)).toEqual([3000]);
    expect((await store.get('limiter', taskKey('tidy-buckets'), { consistent: true }))?.after).toBeUndefined();
  });

  it('stores its progress and stops if another worker has claimed the run', async () => {
    const { store } = app.gateway.services;
    for (let i = 0; i < 3; i++) await app.gateway.services.namespaces.of((await newTenant(app, {}, [])).orgId);
    clock.advance(dayMs);
    const real = new BucketStore(store, clock, 90);
    const visited: string[] = [];
    // Each namespace takes a minute, and during the third another worker claims the task.
    const directory = Object.assign(Object.create(real.directory) as BucketStore['directory'], {
      async listOfNamespace(space: string) {
        visited.push(space);
        clock.advance(60_000);
        if (visited.length === 3)
          await store.write({ table: 'limiter', update: taskKey('tidy-buckets'), set: { worker: 'another' } });
        return real.directory.listOfNamespace(space);
      },
    });
    const buckets = Object.assign(Object.create(real) as BucketStore, { directory });
    const mark = () => store.get('limiter', taskKey('tidy-buckets'), { consistent: true });
    const registry = new BucketRegistry(real, clock, { maxWaiting: 0, log: silentLog });
    await new LimiterHousekeeping({
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

  it('runs when a worker starts if it is due, and not again when one starts an hour later', async () => {
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
    await until('the task item is read', () =>
      proxy.calls.some(({ body }) => JSON.stringify(body).includes('#TASK#tidy-buckets')),
    );
    await second.stop();
    expect(await booked(later)).toEqual([]);
  });

  it('books nothing twice if a worker is a day late, with another worker and concurrent acquires', async () => {
    await setLimits(limit(100));
    const ids = Array.from({ length: 6 }, newId);
    const hour = hourNow();
    for (const id of ids) await take(id, 3);
    clock.advance(dayMs);
    // Every write of the first worker is slow; meanwhile a day passes.
    const held = proxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'slow', ms: 150 });
    const late = newWorker().limits.tidyBuckets();
    while (held.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advance(dayMs);
    const [changed, others] = await Promise.all([
      late,
      newWorker().limits.tidyBuckets(),
      ...ids.slice(0, 3).map((id) => take(id, 2)),
    ]);
    expect([typeof changed, typeof others]).toEqual(['number', 'number']);
    for (const [i, id] of ids.entries()) {
      const open = i < 3 ? [[hourNow(), 1, 2]] : [];
      expect(await usageOf(id)).toEqual([[hour, 1, 3], ...open]);
    }
  });

  it('continues with the other orgs if a bucket of one org is corrupt', async () => {
    const { namespaces, limits, store } = app.gateway.services;
    const orgs = await Promise.all(
      [1, 2, 3].map(async () => {
        const { orgId: tenant } = await newTenant(app, {}, []);
        await limits.acquire(tenant, {
          entityId: 'e',
          resource,
          limits: [{ ...limit(100), refillPeriodSecs: 60 }],
          consume: [{ limit: 'tokens', amount: 3 }],
        });
        return namespaces.of(tenant);
      }),
    );
    // Namespaces are tidied in the order of their ids, so a failure in the first could affect the others.
    const [broken, ...others] = orgs.sort() as [string, string, string];
    const id = { namespace: broken, entityId: 'broken', resource };
    const key = shardKey({ ...id, shard: 0 });
    await new BucketDirectory(store, clock).stamp(id);
    await store.write({ table: 'limiter', put: { ...key, s_0: 'no limit' } });
    clock.advance(dayMs);
    await newWorker().limits.tidyBuckets();
    const bookedIn = async (space: string) => (await items(`${space}/ENTITY#`)).map(({ u_tokens }) => u_tokens);
    expect(await Promise.all(others.map(bookedIn))).toEqual([[3000], [3000]]);
    expect(await bookedIn(broken)).toEqual([]);
    await store.write({ table: 'limiter', delete: key });
  });
});

describe('an idle bucket of several shards', () => {
  it('is deleted in one transaction after its retention and not before, and its usage stays', async () => {
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

  it('is deleted together with the booking of usage that was not booked yet', async () => {
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

  it('is not deleted while it is in debt', async () => {
    await setLimits(limit(80));
    const id = newId();
    const leaseId = await take(id, 5);
    await double(id, 2);
    // The refill of ten days.
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

  it('is not deleted while it is used', async () => {
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
