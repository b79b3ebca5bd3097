import { randomUUID } from 'node:crypto';
import { testEndpoint } from '../support/app.js';
import * as op from '../support/operations.js';
import { dayMs, hourMs } from './costs.js';
import {
  acquire,
  adjust,
  app,
  availableOf,
  booked,
  clock,
  double,
  hourNow,
  limit,
  newCreated,
  newId,
  newWorker,
  orgId,
  release,
  resource,
  setLimits,
  shardsOf,
  take,
  ttlMs,
  usageOf,
  useLimiter,
} from './limiter.js';

useLimiter();

describe("a bucket's expiry", () => {
  it('is at least three days after the last write, and moves with each write', async () => {
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

  it('is at least seven times the fill time of its slowest limit', async () => {
    await setLimits(limit(100), { name: 'slow', capacity: 10, refillPeriodSecs: 10 * 86_400 });
    const id = newId();
    await take(id);
    expect(await ttlMs(id)).toBeGreaterThanOrEqual(clock.nowMs() + 70 * dayMs - 1000);
  });

  it('is after the end of a debt', async () => {
    await setLimits(limit(100));
    const id = newId();
    const leaseId = await take(id);
    const days = 40;
    await adjust(leaseId, 100 * 60 * 24 * days);
    expect(await ttlMs(id)).toBeGreaterThan(clock.nowMs() + days * dayMs);
    const second = await app.another();
    // A gateway without the debt in its cache gives back a little.
    await second.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'tokens', amount: -1 }], idempotencyKey: randomUUID() },
    });
    expect(await ttlMs(id)).toBeGreaterThan(clock.nowMs() + (days - 1) * dayMs);
    await second.stop();
  });

  it('is after the time at which the bucket is full, also if its limits have become slower', async () => {
    await setLimits(limit(100));
    const id = newId();
    await take(id, 100);
    await setLimits(limit(100, 30 * 86_400));
    expect((await acquire(id, 50)).__typename).toBe('RateLimited');
    expect(await ttlMs(id)).toBeGreaterThan(clock.nowMs() + 29 * dayMs);
  });

  it('is removed by the next acquire if limits of level ENTITY are set', async () => {
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

  it('is set with limits of level ENTITY_DEFAULT', async () => {
    const id = newId();
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId, level: 'ENTITY_DEFAULT', entityId: id.entityId, limits: [limit(100)] },
    });
    await take(id);
    expect(await ttlMs(id)).toBeDefined();
  });

  it('is not set while the bucket has several shards', async () => {
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

describe('the sweep of expired items', () => {
  // Without the proxy: only the embedded engine is swept, and it has no IAM policy to check.
  it('deletes an expired bucket after its hours were booked, so that no usage is lost', async () => {
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

  it('deletes the bucket and keeps the usage of an entity that was never created', async () => {
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

  it('keeps buckets that are not full, in debt, sharded or under limits of level ENTITY', async () => {
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

  it('keeps the used tokens of a limit that has become slower', async () => {
    await setLimits(limit(100));
    const id = newId();
    await take(id, 100);
    await setLimits(limit(100, 30 * 86_400));
    expect((await acquire(id, 50)).__typename).toBe('RateLimited');
    clock.advance(6 * dayMs);
    await newWorker(testEndpoint()).sweep();
    expect(await availableOf(id)).toBeLessThanOrEqual(21);
  });

  it('keeps a bucket that a concurrent acquire has just written', async () => {
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
