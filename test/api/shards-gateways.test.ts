import type { BucketId } from '../../src/limits/limiter-keys.js';
import * as op from '../support/operations.js';
import { hourMs } from '../worker/costs.js';
import {
  acquire,
  adjust,
  app,
  availableOf,
  bucketOf,
  cachedShardCount,
  clock,
  double,
  itemsOf,
  minuteMs,
  newBucket,
  newId,
  orgId,
  other,
  perMinute,
  refused,
  release,
  resource,
  setLimits,
  stateOf,
  take,
  useTwoGateways,
} from './sharded-buckets.js';

useTwoGateways();

describe('a gateway without a cached bucket', () => {
  it('starts at shard 0 and adopts the stored shard count', async () => {
    const id = await newBucket(320, 4);
    const newcomer = await app.another();
    const { buckets } = newcomer.gateway.services;
    expect(cachedShardCount(buckets, id)).toBe(1);
    await take(id, 10, { via: newcomer });
    expect(cachedShardCount(buckets, id)).toBe(4);
    expect(await stateOf(id)).toEqual({ shardCount: 4, available: 310, totalConsumed: 10 });
    await newcomer.stop();
  });

  it('(or with a cache of fewer shards) continues with the stored shard count', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(640));
    await Promise.all([take(id, 1), take(id, 1, { via: other })]);
    for (const shardCount of [2, 4, 8]) {
      expect(await double(id, other)).toBe(true);
      clock.advance(minuteMs);
      await take(id, 40);
      expect(cachedShardCount(app.gateway.services.buckets, id)).toBe(shardCount);
      expect(await availableOf(id)).toBe(600);
    }
    expect((await stateOf(id)).totalConsumed).toBe(122);
  });

  it('adjusts and releases leases that another gateway took from any shard', async () => {
    const id = await newBucket(320, 4);
    const { leaseId } = await take(id, 200);
    const newcomer = await app.another();
    await adjust(leaseId, -10, newcomer);
    await release(leaseId, newcomer);
    expect(await stateOf(id)).toMatchObject({ available: 320, totalConsumed: 0 });
    await newcomer.stop();
  });

  it('gives back what was taken before a doubling and no more', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(320));
    const { leaseId } = await take(id, 40);
    expect([await double(id), await double(id)]).toEqual([true, true]);
    const before = await availableOf(id);
    await release(leaseId, other);
    expect(await availableOf(id)).toBeLessThanOrEqual(before + 40);
    expect((await stateOf(id)).totalConsumed).toBe(0);
    clock.advance(minuteMs);
    expect(await availableOf(id)).toBe(320);
  });
});

describe('a lease of a bucket or limit that another gateway created later', () => {
  it('is adjusted and released by a gateway with a stale cache', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100));
    await take(id, 1, { via: other });
    await setLimits(id.entityId, perMinute(100), perMinute(50, 'calls'));
    const added = await take(id, 20, { limit: 'calls' });
    const calls = async () => (await bucketOf(id)).limits.find(({ limit }) => limit.name === 'calls');
    await release(added.leaseId, other);
    expect(await calls()).toMatchObject({ available: 50, totalConsumed: 0 });

    await take(id, 1, { via: other });
    await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: id.entityId });
    await setLimits(id.entityId, perMinute(100));
    const { leaseId } = await take(id, 30);
    await adjust(leaseId, 20, other);
    expect(await stateOf(id)).toMatchObject({ available: 50, totalConsumed: 50 });
    await release(leaseId, other);
    expect(await stateOf(id)).toMatchObject({ available: 100, totalConsumed: 0 });
  });
});

describe('usage of a sharded bucket', () => {
  const usageOf = async ({ entityId }: BucketId) =>
    (
      (await app.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'HOURLY', resource })).org?.entity?.usage
        .nodes ?? []
    ).map(({ windowStart, totalEvents, counters }) => ({
      windowStart,
      totalEvents,
      consumed: counters.map(({ consumed }) => consumed),
    }));
  const hour = () => new Date(Math.floor(clock.nowMs() / hourMs) * hourMs).toISOString();

  it('is the sum over its shards in open and closed hours, and a split acquire counts as one event', async () => {
    const id = await newBucket(320, 4);
    const before = 1; // the first acquire, which created the bucket
    const firstHour = hour();
    const split = await take(id, 200);
    await take(id, 10, { via: other });
    await take(id, 20);
    refused(await acquire(id, 320));
    const first = { windowStart: firstHour, totalEvents: before + 3, consumed: [230] };
    expect(await usageOf(id)).toEqual([first]);

    clock.advance(hourMs);
    const secondHour = hour();
    await take(id, 300, { via: other });
    // A return counts in the hour in which it is made.
    await release(split.leaseId);
    expect(await usageOf(id)).toEqual([first, { windowStart: secondHour, totalEvents: 1, consumed: [100] }]);

    clock.advance(hourMs);
    await take(id, 320);
    const hours = [
      first,
      { windowStart: secondHour, totalEvents: 1, consumed: [100] },
      { windowStart: hour(), totalEvents: 1, consumed: [320] },
    ];
    expect(await usageOf(id)).toEqual(hours);
    expect((await stateOf(id)).totalConsumed).toBe(650);
    const [day] =
      (await app.admin.ask(op.UsageOfDocument, { orgId, entityId: id.entityId, window: 'MONTHLY' })).org?.entity?.usage
        .nodes ?? [];
    expect(day).toMatchObject({ totalEvents: before + 5, counters: [{ limit: 'tokens', consumed: 650 }] });
  });
});

describe('deleting an entity', () => {
  it('deletes all shards of its bucket and keeps its usage', async () => {
    const id = await newBucket(320, 8);
    const { leaseId } = await take(id, 200);
    await take(id, 30, { via: other });
    expect(await itemsOf(id)).toHaveLength(8);
    expect((await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: id.entityId })).deleteEntity).toBe(true);
    expect(await itemsOf(id)).toEqual([]);
    await setLimits(id.entityId, perMinute(320));
    const { nodes } =
      (await app.admin.ask(op.UsageOfDocument, { orgId, entityId: id.entityId, window: 'DAILY' })).org?.entity?.usage ??
      {};
    expect(nodes).toMatchObject([{ totalEvents: 3, counters: [{ limit: 'tokens', consumed: 230 }] }]);
    // There is no bucket left to give back to.
    await release(leaseId);
    expect(await itemsOf(id)).toEqual([]);
  });

  it('is noticed by gateways that have cached the shards: they start again with one shard', async () => {
    const id = await newBucket(320, 8);
    const newcomers = await Promise.all([app.another(), app.another(), app.another()]);
    for (const via of newcomers) await take(id, 1, { via });
    await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: id.entityId });
    await setLimits(id.entityId, perMinute(320));
    for (const via of newcomers) await take(id, 100, { via });
    expect(await stateOf(id)).toEqual({ shardCount: 1, available: 20, totalConsumed: 300 });
    expect(await itemsOf(id)).toHaveLength(1);
    refused(await acquire(id, 21, { via: other }));
    await Promise.all(newcomers.map((via) => via.stop()));
  });
});
