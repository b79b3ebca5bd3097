import type { Item } from '../../src/dynamo/client.js';
import { untilWell } from '../faults/harness.js';
import {
  acquire,
  adjust,
  app,
  availableOf,
  cachedShardCount,
  clock,
  double,
  halve,
  itemsOf,
  minuteMs,
  newBucket,
  newId,
  newPolled,
  other,
  perMinute,
  refused,
  release,
  setLimits,
  stateOf,
  take,
  useTwoGateways,
} from './sharded-buckets.js';

useTwoGateways();

describe('doubling the shards', () => {
  it('mints nothing up to 32 shards, and the bucket is full again after its fill time', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(3200));
    await take(id, 40);
    for (let shardCount = 2; shardCount <= 32; shardCount *= 2) {
      const before = await availableOf(id);
      expect(await double(id)).toBe(true);
      const after = await stateOf(id);
      expect(after.shardCount).toBe(shardCount);
      expect(after.available).toBeLessThanOrEqual(before);
      await take(id, 1);
      clock.advance(7000);
      // The shards together refill no faster than one shard.
      expect(await availableOf(id)).toBeLessThanOrEqual(after.available + (3200 * 7) / 60);
    }
    clock.advance(minuteMs);
    expect(await stateOf(id)).toMatchObject({ shardCount: 32, available: 3200, totalConsumed: 45 });
  });

  it('is refused beyond 32 shards', async () => {
    const id = await newBucket(3200, 32);
    expect(await double(id)).toBe(false);
    expect((await stateOf(id)).shardCount).toBe(32);
  });

  it('is refused if a share would be smaller than the largest recently requested amount', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100));
    await take(id, 30);
    expect(await double(id)).toBe(true);
    expect(await double(id)).toBe(false);
    expect((await stateOf(id)).shardCount).toBe(2);
  });

  it('is not refused for an amount that was last requested ten minutes ago', async () => {
    const { id, buckets, hand, poll } = await newPolled(100);
    await poll(60);
    expect(await buckets.double(id)).toBe(false);
    hand.advance(11 * minuteMs);
    await poll(50);
    expect(await buckets.double(id)).toBe(true);
    expect(cachedShardCount(buckets, id)).toBe(2);
  });

  it('is refused if a recently refused amount would not fit into a share', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100));
    await take(id, 50);
    refused(await acquire(id, 60));
    expect(await double(id)).toBe(false);
  });

  it('does not change a debt, which only time pays', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100), perMinute(60, 'calls'));
    const { leaseId } = await take(id, 10);
    await adjust(leaseId, 100);
    expect(await availableOf(id)).toBe(-10);
    expect(await double(id)).toBe(true);
    expect(await stateOf(id)).toMatchObject({ shardCount: 2, available: -10 });
    clock.advance(5999);
    refused(await acquire(id, 0));
    clock.advance(1);
    expect(await availableOf(id)).toBe(0);
    await take(id, 0);
  });

  it('does not change the debt of one shard of several', async () => {
    const id = await newBucket(400, 2);
    const { leaseId } = await take(id, 1);
    await adjust(leaseId, 250);
    expect(await availableOf(id)).toBe(149);
    expect(await double(id)).toBe(true);
    expect(await stateOf(id)).toMatchObject({ shardCount: 4, available: 149, totalConsumed: 251 });
  });

  it('does nothing if there is no bucket', async () => {
    const id = newId();
    expect(await double(id)).toBe(false);
    expect(await itemsOf(id)).toEqual([]);
  });

  it('leaves complete shards of one count if two gateways double four times concurrently', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(3200));
    await take(id, 1);
    await Promise.all([double(id), double(id, other), double(id), double(id, other)]);
    const { shardCount } = await stateOf(id);
    expect(shardCount).toBeGreaterThan(1);
    const items = await itemsOf(id);
    expect(items.map((item) => item.sc)).toEqual(Array(shardCount).fill(shardCount));
    expect(items.map((item) => item.ttl)).toEqual(Array(shardCount).fill(undefined));
    expect(await availableOf(id)).toBeLessThanOrEqual(3199);
  });

  it('happens automatically at 800 writes per second from all gateways together', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    const { store } = app.gateway.services;
    for (const [writes, shardCount] of [
      [790, 1],
      [1000, 2],
    ] as const) {
      await poll(1);
      // Simulates this many writes of other gateways in one second.
      const item = (await itemsOf(id))[0] as Item;
      await store.write({ table: 'limiter', put: { ...item, wc: (item.wc as number) + writes } });
      hand.advance(1000);
      await poll(1);
      await untilWell(5000, async () => expect(cachedShardCount(buckets, id)).toBe(shardCount));
    }
    expect(await itemsOf(id)).toHaveLength(2);
  });

  it('never happens because of 1,100 slow polls', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    for (let i = 0; i < 1100; i++) {
      await poll(1);
      hand.advance(100);
    }
    expect(cachedShardCount(buckets, id)).toBe(1);
    expect(await itemsOf(id)).toMatchObject([{ sc: 1, c_0: 1_100_000 }]);
  });
});

describe('changing the number of shards', () => {
  it('conserves the available amount over five doublings and five halvings of a nearly full bucket', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(1_024_000));
    await take(id, 1000);
    for (let shardCount = 2; shardCount <= 32; shardCount *= 2) {
      expect(await double(id, shardCount % 4 ? app : other)).toBe(true);
      expect(await stateOf(id)).toEqual({ shardCount, available: 1_023_000, totalConsumed: 1000 });
    }
    await take(id, 1000, { via: other });
    expect(await availableOf(id)).toBe(1_022_000);
    for (let shardCount = 16; shardCount >= 1; shardCount /= 2) {
      expect(await halve(id, shardCount % 4 ? app : other)).toBe(true);
      expect(await stateOf(id)).toEqual({ shardCount, available: 1_022_000, totalConsumed: 2000 });
    }
    await take(id, 1_022_000);
    expect(await stateOf(id)).toEqual({ shardCount: 1, available: 0, totalConsumed: 1_024_000 });
  });

  it.each([
    [4, 8],
    [4, 16],
    [4, 2],
    [4, 1],
    [1, 4],
    [16, 1],
  ])('conserves what leases hold: taken at %i shards, given back at %i', async (taken, returned) => {
    const id = newId();
    await setLimits(id.entityId, perMinute(640));
    const first = await take(id, 7);
    for (let count = 1; count < taken; count *= 2) expect(await double(id)).toBe(true);
    const small = await take(id, 13, { via: other });
    // More than any shard has left, so the take is split.
    const large = await take(id, 600);
    expect(await stateOf(id)).toMatchObject({ available: 20, totalConsumed: 620 });
    // A new gateway has no recently requested amounts, so it may add shards.
    const newcomer = await app.another();
    for (let count = taken; count < returned; count *= 2) expect(await double(id, newcomer)).toBe(true);
    for (let count = taken; count > returned; count /= 2) expect(await halve(id, newcomer)).toBe(true);
    // A halving loses less than a thousandth of a millitoken.
    clock.advance(1);
    expect(await stateOf(id)).toEqual({ shardCount: returned, available: 20, totalConsumed: 620 });
    await adjust(large.leaseId, -100);
    expect(await stateOf(id)).toMatchObject({ available: 120, totalConsumed: 520 });
    await adjust(large.leaseId, 50, other);
    expect(await stateOf(id)).toMatchObject({ available: 70, totalConsumed: 570 });
    await release(large.leaseId);
    expect(await stateOf(id)).toMatchObject({ available: 620, totalConsumed: 20 });
    await release(first.leaseId, other);
    await release(small.leaseId, newcomer);
    expect(await stateOf(id)).toEqual({ shardCount: returned, available: 640, totalConsumed: 0 });
    await take(id, 640);
    expect(await availableOf(id)).toBe(0);
    await newcomer.stop();
  });

  it('does not change a debt by halving', async () => {
    const id = await newBucket(400, 4);
    const { leaseId } = await take(id, 1);
    await adjust(leaseId, 500);
    expect(await stateOf(id)).toMatchObject({ available: -101, totalConsumed: 501 });
    expect([await halve(id), await halve(id)]).toEqual([true, true]);
    expect(await stateOf(id)).toMatchObject({ shardCount: 1, available: -101, totalConsumed: 501 });
    // 101 tokens at 400 per minute.
    clock.advance(15_149);
    refused(await acquire(id, 0));
    clock.advance(1);
    await take(id, 0);
  });

  it('halves a bucket after each ten quiet minutes, and not earlier', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    await poll(1);
    expect([await buckets.double(id), await buckets.double(id)]).toEqual([true, true]);
    const during = async (minutes: number) => {
      for (let i = 0; i < minutes * 2; i++) {
        await poll(1);
        hand.advance(30_000);
      }
    };
    await during(10);
    expect(cachedShardCount(buckets, id)).toBe(4);
    await during(1);
    await untilWell(5000, async () => expect(cachedShardCount(buckets, id)).toBe(2));
    await during(9);
    expect(cachedShardCount(buckets, id)).toBe(2);
    await during(2);
    await untilWell(5000, async () => expect(cachedShardCount(buckets, id)).toBe(1));
    expect(await itemsOf(id)).toMatchObject([{ sc: 1 }]);
    await during(15);
    expect(cachedShardCount(buckets, id)).toBe(1);
  });

  it('does not halve a bucket that was busy within the last ten minutes', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    const { store } = app.gateway.services;
    await poll(1);
    expect(await buckets.double(id)).toBe(true);
    for (let minute = 0; minute < 25; minute++) {
      await poll(1);
      hand.advance(60_000 - 1000);
      await poll(1);
      // Simulates writes of other gateways in one second of every five minutes.
      if (minute % 5 === 4) {
        for (const item of await itemsOf(id))
          await store.write({ table: 'limiter', put: { ...item, wc: (item.wc as number) + 300 } });
      }
      hand.advance(1000);
    }
    await poll(1);
    expect(cachedShardCount(buckets, id)).toBe(2);
  });
});

describe('a debt of a sharded bucket', () => {
  it('is borne by all shards, whichever was charged, and can be given back completely', async () => {
    const id = await newBucket(400, 4);
    const { leaseId } = await take(id, 10);
    await adjust(leaseId, 450);
    expect(await stateOf(id)).toMatchObject({ available: -60, totalConsumed: 460 });
    for (const via of [app, other]) for (let i = 0; i < 5; i++) refused(await acquire(id, i % 2, { via }));
    clock.advance(9000);
    expect(await availableOf(id)).toBe(0);
    for (const via of [app, other]) refused(await acquire(id, 1, { via }));
    await adjust(leaseId, -100, other);
    expect(await stateOf(id)).toMatchObject({ available: 100, totalConsumed: 360 });
    await take(id, 100, { via: other });
    await release(leaseId);
    expect((await stateOf(id)).totalConsumed).toBe(100);
    clock.advance(minuteMs);
    expect(await availableOf(id)).toBe(400);
  });
});
