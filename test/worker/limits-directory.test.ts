import { silentLog } from '../../src/lib/log.js';
import { BucketRegistry } from '../../src/limits/buckets/bucket.registry.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { NamespaceStore } from '../../src/limits/entities/namespace.store.js';
import { directoryKey } from '../../src/limits/limiter-keys.js';
import { LimiterHousekeeping } from '../../src/limits/usage/housekeeping.rollup.js';
import { TaskStore } from '../../src/limits/usage/task.store.js';
import * as op from '../support/operations.js';
import { dayMs } from './costs.js';
import {
  acquire,
  app,
  clock,
  double,
  items,
  limit,
  namespace,
  newCreated,
  newId,
  newWorker,
  orgId,
  proxy,
  resource,
  setLimits,
  shardsOf,
  take,
  useLimiter,
} from './limiter.js';

useLimiter();

const entriesOf = ({ entityId }: { readonly entityId: string }) => items(`${namespace}/DIR#${entityId}#`);
const listed = async () =>
  (await new BucketStore(app.gateway.services.store, clock, 90).directory.listOfNamespace(namespace)).map(
    ({ entityId }) => entityId,
  );

/** A worker that runs `during` after it has read the directory entries and shards, before it deletes entries. */
function workerWith(during: () => Promise<void>): LimiterHousekeeping {
  const { store } = app.gateway.services;
  const buckets = new BucketStore(store, clock, 90);
  const remove = buckets.directory.delete.bind(buckets.directory);
  let isDone = false;
  Object.assign(buckets.directory, {
    async delete(entry: Parameters<typeof remove>[0]) {
      if (!isDone) await during();
      isDone = true;
      return remove(entry);
    },
  });
  return new LimiterHousekeeping({
    buckets,
    registry: new BucketRegistry(buckets, clock, { maxWaiting: 0, log: silentLog }),
    namespaces: new NamespaceStore(store),
    tasks: new TaskStore(store, 'w'),
    clock,
    log: silentLog,
  });
}

describe('the directory entry of a bucket', () => {
  it('is the only item of the bucket with index keys, and is not written again by later takes', async () => {
    await setLimits(limit(80));
    const id = newId();
    await take(id);
    const before = await entriesOf(id);
    expect(before).toHaveLength(1);
    expect(before[0]).toMatchObject({ GSI4PK: namespace, st: expect.any(Number) });
    expect(before[0]).not.toHaveProperty('ttl');
    clock.advance(1000);
    await take(id);
    expect(await entriesOf(id)).toEqual(before);
    await double(id, 1);
    for (const shard of await shardsOf(id))
      expect(Object.keys(shard).filter((name) => name.startsWith('GSI'))).toEqual([]);
    // Doubling announces the new shards.
    const [after] = await entriesOf(id);
    expect(after).toEqual({ ...before[0], st: after?.st, n: 2 });
    expect(after?.st).toBeGreaterThanOrEqual((before[0]?.st as number) + 1000);
  });

  it('is written before the bucket: if that fails, nothing is taken', async () => {
    await setLimits(limit(80));
    const gateway = await app.another({ store: { ...app.config.store, endpoint: proxy.endpoint } });
    try {
      const id = newId();
      // The first update speculates that the bucket is full, or there is none; the next is that of the entry.
      proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'throttle' });
      const input = { orgId, entityId: id.entityId, resource, consume: [{ limit: 'tokens', amount: 1 }] };
      const { errors } = await gateway.admin.send(op.AcquireDocument, { input });
      expect(errors?.[0]?.message).toContain('nothing was changed');
      proxy.clear();
      expect(await shardsOf(id)).toEqual([]);
      expect((await gateway.admin.ask(op.AcquireDocument, { input })).acquire.__typename).toBe('Lease');
      expect(await listed()).toContain(id.entityId);
    } finally {
      await gateway.stop();
      proxy.clear();
    }
  });

  it('is deleted a day after its stamp, not before, and not while the bucket exists', async () => {
    await setLimits(limit(80));
    const [gone, kept] = [await newCreated(), newId()];
    await take(gone);
    await take(kept);
    await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: gone.entityId });
    expect(await shardsOf(gone)).toEqual([]);
    clock.advance(dayMs - 1000);
    await newWorker().limits.tidyBuckets();
    expect(await entriesOf(gone)).toHaveLength(1);
    clock.advance(dayMs);
    await newWorker().limits.tidyBuckets();
    expect(await entriesOf(gone)).toEqual([]);
    expect(await entriesOf(kept)).toHaveLength(1);
    expect(await listed()).toEqual([kept.entityId]);
  });

  it('stays if a gateway creates the bucket again while a worker is about to delete the entry', async () => {
    await setLimits(limit(80));
    const id = await newCreated();
    await take(id);
    await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: id.entityId });
    clock.advance(2 * dayMs);
    let raced = false;
    await workerWith(async () => {
      raced = true;
      expect(await acquire(id)).toMatchObject({ __typename: 'Lease' });
    }).tidyBuckets();
    expect(raced).toBe(true);
    expect(await shardsOf(id)).toHaveLength(1);
    expect(await listed()).toContain(id.entityId);
  });

  it('stays if a gateway has announced the bucket and creates it only after the worker has run', async () => {
    await setLimits(limit(80));
    const id = newId();
    const { store } = app.gateway.services;
    const { directory } = new BucketStore(store, clock, 90);
    // An old entry of a bucket that is gone, and a gateway that is between the entry and the bucket.
    await directory.stamp(id);
    clock.advance(2 * dayMs);
    await directory.stamp(id);
    await newWorker().limits.tidyBuckets();
    expect(await store.get('limiter', directoryKey(id), { consistent: true })).toBeDefined();
    await take(id);
    expect(await listed()).toContain(id.entityId);
  });

  it('is written again if a worker has deleted it before the bucket is created again', async () => {
    await setLimits(limit(80));
    const id = await newCreated();
    await take(id);
    await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: id.entityId });
    clock.advance(2 * dayMs);
    await newWorker().limits.tidyBuckets();
    expect(await entriesOf(id)).toEqual([]);
    await take(id);
    expect(await listed()).toContain(id.entityId);
  });

  it('leads a purge to shards that a doubling has added since the purge read the bucket', async () => {
    await setLimits(limit(80));
    const id = newId();
    await take(id);
    clock.advance(61_000);
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    // The worker has read one shard; the gateway doubles; the worker deletes what it has read.
    const { store } = app.gateway.services;
    const directory = new BucketStore(store, clock, 90).directory;
    const [entry] = await directory.load([id]);
    await double(id, 1);
    await store.write({ table: 'limiter', delete: { PK: `${namespace}/BUCKET#${id.entityId}#api#0`, SK: '#STATE' } });
    expect(await directory.delete(entry!)).toBe(false);
    expect(await shardsOf(id)).toHaveLength(1);
    await newWorker().limits.purge();
    clock.advance(61_000);
    await newWorker().limits.purge();
    expect(await items(`${namespace}/`)).toEqual([]);
  });
});
