import { randomUUID } from 'node:crypto';
import type { BucketId } from '../../src/limits/limiter-keys.js';
import type { TestApp } from '../support/app.js';
import { testSeed } from '../support/chance.js';
import * as op from '../support/operations.js';
import {
  acquire,
  adjust,
  app,
  availableOf,
  bucketOf,
  clock,
  double,
  granted,
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

/** Pseudo-random numbers in [0, 1), the same for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('in any time window', () => {
  /** What was taken and given back at one moment, in unknown order. */
  interface Flow {
    readonly atMs: number;
    readonly taken: number;
    readonly returned: number;
  }

  const netOf = (flows: readonly Flow[]): number =>
    flows.reduce((sum, { taken, returned }) => sum + taken - returned, 0);

  /** The max by which the net takes of any window exceed its bound, burst + rate × time. */
  function excess(flows: readonly Flow[], maxBurst: number, perMs: number): number {
    let worst = 0;
    flows.forEach((first, i) => {
      let sum = 0;
      for (const { atMs, taken, returned } of flows.slice(i)) {
        sum += taken - returned;
        worst = Math.max(worst, sum - maxBurst - perMs * (atMs - first.atMs));
      }
    });
    return Math.round(worst * 1e6) / 1e6;
  }

  const burst = 640;
  const apps = () => [app, other] as const;

  async function run(id: BucketId, seed: number, rounds: number, doubles: boolean): Promise<Flow[]> {
    const next = random(seed);
    const flows: Flow[] = [];
    const leases: { leaseId: string; amount: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      clock.advance(Math.floor(next() * 12_000));
      const atMs = clock.nowMs();
      if (doubles && next() < 0.3) await double(id, apps()[round % 2]);
      const requests = Array.from({ length: 6 }, () => ({
        via: apps()[Math.floor(next() * 2)] as TestApp,
        amount: 1 + Math.floor(next() ** 3 * burst),
      }));
      const back = leases.length > 0 && next() < 0.3 ? leases.splice(Math.floor(next() * leases.length), 1) : [];
      const [responses] = await Promise.all([
        Promise.all(requests.map(({ via, amount }) => acquire(id, amount, { via }))),
        Promise.all(back.map(({ leaseId }) => release(leaseId, apps()[round % 2]))),
      ]);
      const got = responses.flatMap((response, i) =>
        response.__typename === 'Lease' ? [{ leaseId: response.leaseId, amount: requests[i]?.amount ?? 0 }] : [],
      );
      const sum = (list: readonly { readonly amount: number }[]) =>
        list.reduce((total, { amount }) => total + amount, 0);
      flows.push({ atMs, taken: sum(got), returned: sum(back) });
      leases.push(...got);
    }
    return flows;
  }

  it.each([1, 2, 4, 8, 16, 32])('grants at most burst + rate × time: two gateways on %i shards', async (shardCount) => {
    const seed = testSeed;
    const id = await newBucket(burst, shardCount);
    const before = await stateOf(id);
    const flows = await run(id, seed, 20, false);
    const net = netOf(flows);
    expect([seed, excess(flows, burst, burst / minuteMs)]).toEqual([seed, 0]);
    // The bound does not hold merely because everything was refused.
    expect(net).toBeGreaterThan(burst);
    expect(await stateOf(id)).toMatchObject({ shardCount, totalConsumed: before.totalConsumed + net });
    clock.advance(minuteMs);
    expect(await availableOf(id)).toBe(burst);
  });

  it('grants at most burst + rate × time while the shards are doubled', async () => {
    const seed = testSeed;
    const id = await newBucket(burst * 4, 1);
    const flows = await run(id, seed, 25, true);
    expect([seed, excess(flows, burst * 4, (burst * 4) / minuteMs)]).toEqual([seed, 0]);
    expect((await stateOf(id)).shardCount).toBeGreaterThan(1);
    expect((await stateOf(id)).totalConsumed).toBe(netOf(flows));
  });
});

describe('an acquire of more than any shard has', () => {
  it('is split over several shards, counts as one event, and is given back exactly', async () => {
    const id = await newBucket(320, 4);
    const { leaseId, statuses } = await take(id, 200);
    expect(statuses).toMatchObject([{ requested: 200, available: 120, exceeded: false }]);
    expect(await stateOf(id)).toEqual({ shardCount: 4, available: 120, totalConsumed: 200 });
    await adjust(leaseId, -150);
    expect(await stateOf(id)).toMatchObject({ available: 270, totalConsumed: 50 });
    await adjust(leaseId, 70);
    expect(await stateOf(id)).toMatchObject({ available: 200, totalConsumed: 120 });
    expect(
      await app.admin.codeOf(op.AdjustLeaseDocument, {
        input: { leaseId, adjust: [{ limit: 'tokens', amount: -121 }], idempotencyKey: randomUUID() },
      }),
    ).toBe('BAD_USER_INPUT');
    await release(leaseId, other);
    expect(await stateOf(id)).toMatchObject({ available: 320, totalConsumed: 0 });
    expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect(await stateOf(id)).toMatchObject({ available: 320, totalConsumed: 0 });
  });

  it('is granted down to the last token of all shards', async () => {
    const id = await newBucket(320, 32);
    await take(id, 320, { via: other });
    expect(await stateOf(id)).toMatchObject({ available: 0, totalConsumed: 320 });
    refused(await acquire(id, 1));
  });

  it('is granted once per request id, and a retry returns the same lease', async () => {
    const id = await newBucket(320, 4);
    const requestId = randomUUID();
    const first = await take(id, 200, { requestId });
    const again = await take(id, 200, { requestId, via: other });
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(await stateOf(id)).toMatchObject({ available: 120, totalConsumed: 200 });
    await release(again.leaseId);
    expect(await release(first.leaseId)).toMatchObject({ replayed: true });
    expect(await stateOf(id)).toMatchObject({ available: 320, totalConsumed: 0 });
  });

  it('takes the whole amount of every limit or nothing', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(320), perMinute(80, 'calls'));
    await take(id, 0);
    expect([await double(id), await double(id)]).toEqual([true, true]);
    clock.advance(minuteMs);
    const both = (tokens: number, calls: number) =>
      app.admin.ask(op.AcquireDocument, {
        input: {
          orgId,
          entityId: id.entityId,
          resource,
          consume: [
            { limit: 'tokens', amount: tokens },
            { limit: 'calls', amount: calls },
          ],
        },
      });
    granted((await both(100, 70)).acquire);
    const { violations } = refused((await both(200, 11)).acquire);
    expect(violations.map(({ limit }) => limit.name)).toEqual(['calls']);
    expect((await bucketOf(id)).limits.map(({ limit, available }) => [limit.name, available])).toEqual([
      ['calls', 10],
      ['tokens', 220],
    ]);
    granted((await both(220, 10)).acquire);
    expect((await bucketOf(id)).limits.map(({ available }) => available)).toEqual([0, 0]);
  });

  it('is granted to concurrent callers of two gateways while there is enough for all', async () => {
    for (let i = 0; i < 3; i++) {
      const id = await newBucket(320, 4);
      const responses = await Promise.all(
        Array.from({ length: 6 }, (_, at) => acquire(id, 50, { via: at % 2 ? app : other })),
      );
      expect(responses.map(({ __typename }) => __typename)).toEqual(Array(6).fill('Lease'));
      expect(await stateOf(id)).toMatchObject({ available: 20, totalConsumed: 300 });
    }
  });
});

describe('a refusal', () => {
  it('happens only if all shards together do not have enough, and names the exact millisecond to retry', async () => {
    const id = await newBucket(240, 4);
    await take(id, 150);
    const { retryAfterSecs, statuses } = refused(await acquire(id, 150));
    expect(statuses).toMatchObject([{ available: 90, requested: 150, exceeded: true, retryAfterSecs }]);
    // 60 more tokens from the three shards that are not full, at one per second each.
    expect(retryAfterSecs).toBe(20);
    clock.advance(retryAfterSecs * 1000 - 1);
    expect(refused(await acquire(id, 150)).retryAfterSecs).toBe(0.001);
    expect(refused(await acquire(id, 150, { via: other })).retryAfterSecs).toBe(0.001);
    clock.advance(1);
    await take(id, 150);
    expect(await availableOf(id)).toBe(0);
  });

  it.each([2, 8, 32])('(%i shards) names a retry time that is exact to the millisecond', async (shardCount) => {
    const id = await newBucket(640, shardCount);
    const next = random(shardCount);
    for (let i = 0; i < 12; i++) {
      await acquire(id, 1 + Math.floor(next() * 90), { via: i % 2 ? app : other });
      clock.advance(Math.floor(next() * 500));
    }
    const amount = Math.min(640, (await availableOf(id)) + 37);
    const { retryAfterSecs } = refused(await acquire(id, amount));
    const waitMs = Math.round(retryAfterSecs * 1000);
    expect(waitMs).toBeGreaterThan(1);
    clock.advance(waitMs - 1);
    refused(await acquire(id, amount));
    clock.advance(1);
    await take(id, amount);
  });

  it('takes nothing from any shard, full or not', async () => {
    const id = await newBucket(320, 4);
    await take(id, 300);
    refused(await acquire(id, 100));
    refused(await acquire(id, 100, { via: other }));
    expect(await stateOf(id)).toMatchObject({ available: 20, totalConsumed: 300 });
  });

  it('does not affect a smaller amount that fits', async () => {
    const id = await newBucket(320, 4);
    await take(id, 300);
    refused(await acquire(id, 100));
    await take(id, 15);
    refused(await acquire(id, 6));
    await take(id, 5);
    expect(await availableOf(id)).toBe(0);
  });

  it('is not repeated from the cache after something was given back', async () => {
    const id = await newBucket(320, 4);
    const { leaseId } = await take(id, 320);
    refused(await acquire(id, 100));
    await release(leaseId);
    await take(id, 100);
  });
});

describe('changed limits', () => {
  it.each([4, 16, 32])(
    'conserve the available amount when they are raised on %i shards, and all of it can be taken at once',
    async (shardCount) => {
      const id = await newBucket(3200, shardCount);
      await setLimits(id.entityId, perMinute(6400));
      await take(id, 3000);
      expect(await stateOf(id)).toMatchObject({ shardCount, available: 200, totalConsumed: 3000 });
      clock.advance(minuteMs);
      await take(id, 6400);
      expect(await stateOf(id)).toMatchObject({ shardCount, available: 0, totalConsumed: 9400 });
    },
  );

  it.each([4, 16])('grant no more than the new burst when they are lowered on %i shards', async (shardCount) => {
    const id = await newBucket(3200, shardCount);
    await setLimits(id.entityId, perMinute(1600));
    let sum = 0;
    for (let i = 0; i < 100; i++)
      if ((await acquire(id, 50, { via: i % 2 ? app : other })).__typename === 'Lease') sum += 50;
    expect(sum).toBe(1600);
    expect(await stateOf(id)).toMatchObject({ shardCount, available: 0, totalConsumed: 1600 });
    clock.advance(minuteMs);
    expect(await availableOf(id)).toBe(1600);
  });

  it('can add and remove a limit, and refusals name the current ones', async () => {
    const id = await newBucket(320, 4);
    await take(id, 100);
    await setLimits(id.entityId, perMinute(320), perMinute(8, 'calls'));
    for (let i = 0; i < 8; i++) await take(id, 1, { limit: 'calls' });
    expect(refused(await acquire(id, 1, { limit: 'calls' })).violations).toMatchObject([{ limit: { name: 'calls' } }]);
    expect(await availableOf(id)).toBe(220);
    await setLimits(id.entityId, perMinute(320));
    await take(id, 220);
    expect(await stateOf(id)).toMatchObject({ shardCount: 4, available: 0 });
  });
});

describe('a limit lowered to 1', () => {
  it('grants 1 token on 32 shards, refuses, and grants again at the promised millisecond', async () => {
    const id = await newBucket(3200, 32);
    await setLimits(id.entityId, perMinute(1));
    await take(id, 1, { via: other });
    expect(await stateOf(id)).toMatchObject({ shardCount: 1, available: 0, totalConsumed: 1 });
    for (const via of [app, other]) expect(refused(await acquire(id, 1, { via })).retryAfterSecs).toBe(60);
    clock.advance(minuteMs - 1);
    for (const via of [app, other]) expect(refused(await acquire(id, 1, { via })).retryAfterSecs).toBe(0.001);
    clock.advance(1);
    await take(id, 1);
    refused(await acquire(id, 1, { via: other }));
  });
});

describe('a cached refusal', () => {
  it('includes what was taken since, so that its retry time is not too early', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(60));
    await take(id, 20);
    expect(refused(await acquire(id, 50)).retryAfterSecs).toBe(10);
    await take(id, 30);
    const { retryAfterSecs } = refused(await acquire(id, 50));
    expect(retryAfterSecs).toBe(40);
    clock.advance(retryAfterSecs * 1000 - 1);
    refused(await acquire(id, 50));
    clock.advance(1);
    await take(id, 50);
  });
});
