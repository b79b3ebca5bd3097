import { randomUUID } from 'node:crypto';
import type { Item } from '../../src/dynamo/client.js';
import { BucketDirectory } from '../../src/limits/buckets/directory.store.js';
import { leaseKey, namespaceIdKey, shardKey } from '../../src/limits/limiter-keys.js';
import * as op from '../support/operations.js';
import { hourMs, newTenant } from './costs.js';
import {
  adjust,
  app,
  clock,
  items,
  limit,
  namespace,
  newId,
  newWorker,
  orgId,
  proxy,
  release,
  resource,
  setLimits,
  take,
  useLimiter,
} from './limiter.js';

useLimiter();

describe('purge', () => {
  const withoutRegistry = (found: Item[]) => found.filter(({ SK }) => !(SK as string).startsWith('#NS'));

  it('deletes all items of the old namespace and nothing of another org, and its entry after an hour', async () => {
    const fill = async (tenant: string) => {
      const input = { orgId: tenant, resource };
      await app.admin.ask(op.SetLimitsDocument, { input: { orgId: tenant, level: 'SYSTEM', limits: [limit(1000)] } });
      await app.admin.ask(op.SetLimitsDocument, { input: { ...input, level: 'RESOURCE', limits: [limit(100)] } });
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId: tenant, entityId: 'team' } });
      await app.admin.ask(op.CreateEntityDocument, {
        input: { orgId: tenant, entityId: 'user', parentId: 'team', cascade: true },
      });
      await app.admin.ask(op.SetLimitsDocument, {
        input: { ...input, level: 'ENTITY', entityId: 'user', limits: [limit(200)] },
      });
      const consume = [{ limit: 'tokens', amount: 1 }];
      for (let i = 0; i < 60; i++)
        await app.gateway.services.limits.acquire(tenant, { entityId: `e${i}`, resource, consume });
      await app.gateway.services.limits.acquire(tenant, { entityId: 'user', resource, consume });
      clock.advance(hourMs);
      await app.gateway.services.limits.acquire(tenant, { entityId: 'user', resource, consume });
    };
    const { orgId: neighbour } = await newTenant(app, {}, []);
    const otherNamespace = await app.gateway.services.namespaces.of(neighbour);
    await fill(orgId);
    await fill(neighbour);
    const before = await items(`${otherNamespace}/`);
    const { length } = await items(`${namespace}/`);
    expect(length).toBeGreaterThan(65);
    expect((await app.admin.ask(op.PurgeLimiterDocument, { orgId })).purgeLimiter).toBe(true);

    expect(await newWorker().limits.purge()).toBe(length);
    expect(await items(`${namespace}/`)).toEqual([]);
    expect(await items(`${otherNamespace}/`)).toEqual(before);
    expect(await newWorker().limits.purge()).toBe(0);
    // The audit trail is stored under the org id and stays.
    expect((await items(`${orgId}/AUDIT#`)).map(({ SK }) => SK)).not.toEqual([]);

    // A bucket of a gateway that has not polled the purge yet. Its directory entry stays until the creation is over.
    const { store } = app.gateway.services;
    const late = { namespace, entityId: 'late', resource };
    await new BucketDirectory(store, clock).stamp(late);
    expect(await newWorker().limits.purge()).toBe(0);
    await store.write({ table: 'limiter', put: { ...shardKey({ ...late, shard: 0 }), sc: 1 } });
    expect(await newWorker().limits.purge()).toBe(1);
    clock.advance(61_000);
    expect(await newWorker().limits.purge()).toBe(1);
    expect(await items(`${namespace}/`)).toEqual([]);

    expect(await store.get('limiter', namespaceIdKey(namespace), { consistent: true })).toBeDefined();
    clock.advance(hourMs + 60_000);
    await newWorker().limits.purge();
    expect(await store.get('limiter', namespaceIdKey(namespace), { consistent: true })).toBeUndefined();
    expect(withoutRegistry(await items(`${otherNamespace}/`))).toEqual(withoutRegistry(before));
    expect(await app.gateway.services.namespaces.of(orgId)).not.toBe(namespace);
    expect(await app.gateway.services.namespaces.of(neighbour)).toBe(otherNamespace);
  });

  it('deletes the leases, so that no key with the namespace is left', async () => {
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
    clock.advance(61_000);
    await newWorker().limits.purge();
    expect(await items(namespace)).toEqual([]);
  });

  it('queries leases every ten minutes and once at the end, and deletes late ones', async () => {
    await setLimits(limit(1000));
    await take(newId());
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    const { store } = app.gateway.services;
    const write = (name: string) => store.write({ table: 'limiter', put: { ...leaseKey(namespace, name), v: 0 } });
    /** The number of queries for leases in one round of two workers. */
    const leaseQueries = async () => {
      proxy.clear();
      await Promise.all([newWorker().limits.purge(), newWorker().limits.purge()]);
      return proxy.calls.filter(
        ({ operation, body }) => operation === 'Query' && JSON.stringify(body).includes(`${namespace}/LEASE#`),
      ).length;
    };
    expect(await leaseQueries()).toBe(64);
    for (let minute = 1; minute < 10; minute += 4) {
      await write(`late-${minute}`);
      clock.advance(4 * 60_000 - 90_000);
      expect(await leaseQueries()).toBe(0);
    }
    clock.advance(3 * 60_000);
    expect(await leaseQueries()).toBe(64);
    expect(await items(`${namespace}/`)).toEqual([]);
    clock.advance(47 * 60_000);
    expect(await leaseQueries()).toBe(64);
    // The hour is over less than ten minutes later.
    await write('last');
    clock.advance(5 * 60_000);
    await newWorker().limits.purge();
    expect(await items(`${namespace}/`)).toEqual([]);
    expect(await store.get('limiter', namespaceIdKey(namespace), { consistent: true })).toBeUndefined();
  });

  it('has the same result with two concurrent workers and lost responses', async () => {
    await setLimits(limit(100));
    for (let i = 0; i < 30; i++) await adjust(await take(newId()), 1);
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    clock.advance(61_000);
    proxy.inject({ operation: 'BatchWriteItem', table: 'limiter', fault: 'partial-batch', nth: 1 });
    proxy.inject({ operation: 'BatchWriteItem', table: 'limiter', fault: 'drop-reply', nth: 2 });
    await Promise.all([newWorker().limits.purge(), newWorker().limits.purge()]);
    expect(await items(`${namespace}/`)).toEqual([]);
  });
});
