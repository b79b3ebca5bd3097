import { randomUUID } from 'node:crypto';
import type { Item } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { BucketRegistry } from '../../src/limits/buckets/bucket.registry.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { completeLimit, limitSet } from '../../src/limits/limit.js';
import type { BucketId } from '../../src/limits/limiter-keys.js';
import { untilWell } from '../faults/harness.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSeed } from '../support/chance.js';
import { StandingClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { HandClock } from '../unit/hand-clock.js';
import { hourMs, newTenant } from '../worker/costs.js';

const clock = new StandingClock();
let app: TestApp;
/** With a memory of its own. */
let other: TestApp;
let orgId: string;
let namespace: string;

beforeAll(async () => {
  app = await startTestApp({ clock, config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  ({ orgId } = await newTenant(app, {}, []));
  namespace = await app.gateway.services.namespaces.of(orgId);
});
afterAll(async () => {
  await other.stop();
  await app.stop();
  app.tableAdmin.client.destroy();
});

const resource = 'api';
const minuteMs = 60_000;
const newId = (): BucketId => ({ namespace, entityId: `e-${randomUUID()}`, resource });
/** So many tokens a minute, and no more at once. */
const perMinute = (capacity: number, name = 'tokens'): op.LimitInput => ({ name, capacity, refillPeriodSecs: 60 });
const setLimits = (entityId: string, ...limits: op.LimitInput[]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'ENTITY', entityId, resource, limits } });

type Acquired = NonNullable<op.AcquireMutation['acquire']>;
const acquire = async (
  { entityId }: BucketId,
  amount: number,
  { via = app, limit = 'tokens', ...rest }: { via?: TestApp; limit?: string; requestId?: string } = {},
) =>
  (
    await via.admin.ask(op.AcquireDocument, {
      input: { orgId, entityId, resource, consume: [{ limit, amount }], ...rest },
    })
  ).acquire;

function granted(acquired: Acquired): Extract<Acquired, { __typename: 'Lease' }> {
  if (acquired.__typename !== 'Lease') throw new Error(`refused: ${acquired.message}`);
  return acquired;
}

function refused(acquired: Acquired): Extract<Acquired, { __typename: 'RateLimited' }> {
  if (acquired.__typename !== 'RateLimited') throw new Error('granted what must be refused');
  return acquired;
}

const take = async (...args: Parameters<typeof acquire>) => granted(await acquire(...args));
const adjust = async (leaseId: string, amount: number, via = app) =>
  (
    await via.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'tokens', amount }], idempotencyKey: randomUUID() },
    })
  ).adjustLease;
const release = async (leaseId: string, via = app) =>
  (await via.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;

const bucketOf = async ({ entityId }: BucketId, via = app) =>
  (await via.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity
    ?.bucket as op.BucketFieldsFragment;
async function standing(
  id: BucketId,
  via = app,
): Promise<{ readonly shardCount: number; readonly available: number; readonly totalConsumed: number }> {
  const { shardCount, limits } = await bucketOf(id, via);
  const { available = Number.NaN, totalConsumed = Number.NaN } =
    limits.find(({ limit }) => limit.name === 'tokens') ?? {};
  return { shardCount, available, totalConsumed };
}
const availableOf = async (id: BucketId, via = app) => (await standing(id, via)).available;
const double = (id: BucketId, via = app) => via.gateway.services.buckets.double(id);
const fold = (id: BucketId, via = app) => via.gateway.services.buckets.halve(id);
const itemsOf = async ({ entityId }: BucketId): Promise<Item[]> =>
  (await app.gateway.services.store.scan('limiter')).items.filter(({ PK }) =>
    (PK as string).startsWith(`${namespace}/BUCKET#${entityId}#`),
  );

/** A bucket of n shards, all full. */
async function newBucket(capacity: number, shardCount: number): Promise<BucketId> {
  const id = newId();
  await setLimits(id.entityId, perMinute(capacity));
  await take(id, 0);
  for (let count = 1; count < shardCount; count *= 2) expect(await double(id)).toBe(true);
  clock.advance(minuteMs);
  expect(await standing(id)).toMatchObject({ shardCount, available: capacity });
  return id;
}

const shardsKnown = (buckets: BucketRegistry, id: BucketId): number => buckets.cachedShards(id)[0]?.shardCount ?? 1;

/** A bucket that one process of its own polls, at the pace of a clock of its own. */
async function newPolled(capacity: number) {
  const hand = new HandClock(clock.nowMs());
  const { store } = app.gateway.services;
  const buckets = new BucketRegistry(new BucketStore(store, hand, 90), hand, { maxWaiting: 1000, log: silentLog });
  const id = newId();
  const set = limitSet([completeLimit({ name: 'tokens', capacity, refillPeriodSecs: 60 })]);
  const poll = async (amount: number) => {
    const action = {
      kind: 'take',
      set,
      amounts: { tokens: BigInt(amount) * 1000n },
      mayExpire: true,
      slot: { lease: 'l', untilMs: 0 },
    } as const;
    expect(await buckets.apply({ parts: [{ bucket: id, action }] })).toMatchObject({ kind: 'done' });
  };
  return { id, buckets, hand, poll };
}

describe('a doubling', () => {
  it('mints nothing, whatever is out, up to 32 shards; and in the time that it takes to fill all is there again', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(3200));
    await take(id, 40);
    for (let shardCount = 2; shardCount <= 32; shardCount *= 2) {
      const before = await availableOf(id);
      expect(await double(id)).toBe(true);
      const after = await standing(id);
      expect(after.shardCount).toBe(shardCount);
      expect(after.available).toBeLessThanOrEqual(before);
      await take(id, 1);
      clock.advance(7000);
      // What came back meanwhile is no more than comes back to the whole.
      expect(await availableOf(id)).toBeLessThanOrEqual(after.available + (3200 * 7) / 60);
    }
    clock.advance(minuteMs);
    expect(await standing(id)).toMatchObject({ shardCount: 32, available: 3200, totalConsumed: 45 });
  });

  it('past 32 shards is refused', async () => {
    const id = await newBucket(3200, 32);
    expect(await double(id)).toBe(false);
    expect((await standing(id)).shardCount).toBe(32);
  });

  it('is refused where a share would be smaller than the largest amount lately asked', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100));
    await take(id, 30);
    expect(await double(id)).toBe(true);
    expect(await double(id)).toBe(false);
    expect((await standing(id)).shardCount).toBe(2);
  });

  it('is no longer refused for an amount that was last asked for ten minutes ago', async () => {
    const { id, buckets, hand, poll } = await newPolled(100);
    await poll(60);
    expect(await buckets.double(id)).toBe(false);
    hand.advance(11 * minuteMs);
    await poll(50);
    expect(await buckets.double(id)).toBe(true);
    expect(shardsKnown(buckets, id)).toBe(2);
  });

  it('is refused where a refused amount would not fit a share', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100));
    await take(id, 50);
    refused(await acquire(id, 60));
    expect(await double(id)).toBe(false);
  });

  it('leaves a debt as it is, to be paid by time alone', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(100), perMinute(60, 'calls'));
    const { leaseId } = await take(id, 10);
    await adjust(leaseId, 100);
    expect(await availableOf(id)).toBe(-10);
    expect(await double(id)).toBe(true);
    expect(await standing(id)).toMatchObject({ shardCount: 2, available: -10 });
    clock.advance(5999);
    refused(await acquire(id, 0));
    clock.advance(1);
    expect(await availableOf(id)).toBe(0);
    await take(id, 0);
  });

  it('has nothing to do with a debt: all shards bear it, whichever was charged, and all of it can be given back', async () => {
    const id = await newBucket(400, 4);
    const { leaseId } = await take(id, 10);
    await adjust(leaseId, 450);
    expect(await standing(id)).toMatchObject({ available: -60, totalConsumed: 460 });
    for (const via of [app, other]) for (let i = 0; i < 5; i++) refused(await acquire(id, i % 2, { via }));
    clock.advance(9000);
    expect(await availableOf(id)).toBe(0);
    for (const via of [app, other]) refused(await acquire(id, 1, { via }));
    await adjust(leaseId, -100, other);
    expect(await standing(id)).toMatchObject({ available: 100, totalConsumed: 360 });
    await take(id, 100, { via: other });
    await release(leaseId);
    expect((await standing(id)).totalConsumed).toBe(100);
    clock.advance(minuteMs);
    expect(await availableOf(id)).toBe(400);
  });

  it('leaves the debt of one shard of several as it is', async () => {
    const id = await newBucket(400, 2);
    const { leaseId } = await take(id, 1);
    await adjust(leaseId, 250);
    expect(await availableOf(id)).toBe(149);
    expect(await double(id)).toBe(true);
    expect(await standing(id)).toMatchObject({ shardCount: 4, available: 149, totalConsumed: 251 });
  });

  it('of no bucket is none', async () => {
    const id = newId();
    expect(await double(id)).toBe(false);
    expect(await itemsOf(id)).toEqual([]);
  });

  it('asked for by two gateways at once, four times, leaves complete shards of one count', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(3200));
    await take(id, 1);
    await Promise.all([double(id), double(id, other), double(id), double(id, other)]);
    const { shardCount } = await standing(id);
    expect(shardCount).toBeGreaterThan(1);
    const items = await itemsOf(id);
    expect(items.map((item) => item.shard_count)).toEqual(Array(shardCount).fill(shardCount));
    expect(items.map((item) => item.ttl)).toEqual(Array(shardCount).fill(undefined));
    expect(await availableOf(id)).toBeLessThanOrEqual(3199);
  });

  it('comes by itself where all together write 800 times a second', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    const { store } = app.gateway.services;
    for (const [writes, shardCount] of [
      [790, 1],
      [1000, 2],
    ] as const) {
      await poll(1);
      // As if so many others had written in the second between.
      const item = (await itemsOf(id))[0] as Item;
      await store.write({ table: 'limiter', put: { ...item, wc: (item.wc as number) + writes } });
      hand.advance(1000);
      await poll(1);
      await untilWell(5000, async () => expect(shardsKnown(buckets, id)).toBe(shardCount));
    }
    expect(await itemsOf(id)).toHaveLength(2);
  });

  it('never comes of 1,100 slow polls', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    for (let i = 0; i < 1100; i++) {
      await poll(1);
      hand.advance(100);
    }
    expect(shardsKnown(buckets, id)).toBe(1);
    expect(await itemsOf(id)).toMatchObject([{ shard_count: 1, b_tokens_tc: 1_100_000 }]);
  });
});

describe('another number of shards', () => {
  it('conserves what is available: five doublings and five foldings of a bucket that is nearly full', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(1_024_000));
    await take(id, 1000);
    for (let shardCount = 2; shardCount <= 32; shardCount *= 2) {
      expect(await double(id, shardCount % 4 ? app : other)).toBe(true);
      expect(await standing(id)).toEqual({ shardCount, available: 1_023_000, totalConsumed: 1000 });
    }
    await take(id, 1000, { via: other });
    expect(await availableOf(id)).toBe(1_022_000);
    for (let shardCount = 16; shardCount >= 1; shardCount /= 2) {
      expect(await fold(id, shardCount % 4 ? app : other)).toBe(true);
      expect(await standing(id)).toEqual({ shardCount, available: 1_022_000, totalConsumed: 2000 });
    }
    await take(id, 1_022_000);
    expect(await standing(id)).toEqual({ shardCount: 1, available: 0, totalConsumed: 1_024_000 });
  });

  it.each([
    [4, 8],
    [4, 16],
    [4, 2],
    [4, 1],
    [1, 4],
    [16, 1],
  ])('leaves leases what they have: taken at %i shards and given back at %i', async (taken, returned) => {
    const id = newId();
    await setLimits(id.entityId, perMinute(640));
    const first = await take(id, 7);
    for (let count = 1; count < taken; count *= 2) expect(await double(id)).toBe(true);
    const small = await take(id, 13, { via: other });
    // More than any shard has left, so that it is of several.
    const large = await take(id, 600);
    expect(await standing(id)).toMatchObject({ available: 20, totalConsumed: 620 });
    // A new gateway has not been asked for so much, so that there may be more shards.
    const stranger = await app.another();
    for (let count = taken; count < returned; count *= 2) expect(await double(id, stranger)).toBe(true);
    for (let count = taken; count > returned; count /= 2) expect(await fold(id, stranger)).toBe(true);
    // Where shards are folded, less than a thousandth of a millitoken is lost.
    clock.advance(1);
    expect(await standing(id)).toEqual({ shardCount: returned, available: 20, totalConsumed: 620 });
    await adjust(large.leaseId, -100);
    expect(await standing(id)).toMatchObject({ available: 120, totalConsumed: 520 });
    await adjust(large.leaseId, 50, other);
    expect(await standing(id)).toMatchObject({ available: 70, totalConsumed: 570 });
    await release(large.leaseId);
    expect(await standing(id)).toMatchObject({ available: 620, totalConsumed: 20 });
    await release(first.leaseId, other);
    await release(small.leaseId, stranger);
    expect(await standing(id)).toEqual({ shardCount: returned, available: 640, totalConsumed: 0 });
    await take(id, 640);
    expect(await availableOf(id)).toBe(0);
    await stranger.stop();
  });

  it('leaves a debt as it is when it is folded', async () => {
    const id = await newBucket(400, 4);
    const { leaseId } = await take(id, 1);
    await adjust(leaseId, 500);
    expect(await standing(id)).toMatchObject({ available: -101, totalConsumed: 501 });
    expect([await fold(id), await fold(id)]).toEqual([true, true]);
    expect(await standing(id)).toMatchObject({ shardCount: 1, available: -101, totalConsumed: 501 });
    // 101 at 400 a minute.
    clock.advance(15_149);
    refused(await acquire(id, 0));
    clock.advance(1);
    await take(id, 0);
  });

  it('is half as many where a bucket has been quiet for ten minutes, again and again, and not before', async () => {
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
    expect(shardsKnown(buckets, id)).toBe(4);
    await during(1);
    await untilWell(5000, async () => expect(shardsKnown(buckets, id)).toBe(2));
    await during(9);
    expect(shardsKnown(buckets, id)).toBe(2);
    await during(2);
    await untilWell(5000, async () => expect(shardsKnown(buckets, id)).toBe(1));
    expect(await itemsOf(id)).toMatchObject([{ shard_count: 1 }]);
    await during(15);
    expect(shardsKnown(buckets, id)).toBe(1);
  });

  it('is as before where a bucket was busy within the ten minutes', async () => {
    const { id, buckets, hand, poll } = await newPolled(1000);
    const { store } = app.gateway.services;
    await poll(1);
    expect(await buckets.double(id)).toBe(true);
    for (let minute = 0; minute < 25; minute++) {
      await poll(1);
      hand.advance(60_000 - 1000);
      await poll(1);
      // As if so many others had written in this second, every five minutes.
      if (minute % 5 === 4) {
        for (const item of await itemsOf(id))
          await store.write({ table: 'limiter', put: { ...item, wc: (item.wc as number) + 300 } });
      }
      hand.advance(1000);
    }
    await poll(1);
    expect(shardsKnown(buckets, id)).toBe(2);
  });
});

/** Numbers in [0, 1) that are the same for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('over any stretch of time', () => {
  /** What was taken and given back at one moment, in an order that nobody knows. */
  interface Flow {
    readonly atMs: number;
    readonly taken: number;
    readonly returned: number;
  }

  const netOf = (flows: readonly Flow[]): number =>
    flows.reduce((sum, { taken, returned }) => sum + taken - returned, 0);

  /** The most by which what was taken in a stretch exceeds what the bucket may give in it; what came back may be given again. */
  function excess(flows: readonly Flow[], most: number, perMs: number): number {
    let worst = 0;
    flows.forEach((first, i) => {
      let sum = 0;
      for (const { atMs, taken, returned } of flows.slice(i)) {
        sum += taken - returned;
        worst = Math.max(worst, sum - most - perMs * (atMs - first.atMs));
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
      const asks = Array.from({ length: 6 }, () => ({
        via: apps()[Math.floor(next() * 2)] as TestApp,
        amount: 1 + Math.floor(next() ** 3 * burst),
      }));
      const back = leases.length > 0 && next() < 0.3 ? leases.splice(Math.floor(next() * leases.length), 1) : [];
      const [answers] = await Promise.all([
        Promise.all(asks.map(({ via, amount }) => acquire(id, amount, { via }))),
        Promise.all(back.map(({ leaseId }) => release(leaseId, apps()[round % 2]))),
      ]);
      const got = answers.flatMap((answer, i) =>
        answer.__typename === 'Lease' ? [{ leaseId: answer.leaseId, amount: asks[i]?.amount ?? 0 }] : [],
      );
      const sum = (of: readonly { readonly amount: number }[]) => of.reduce((total, { amount }) => total + amount, 0);
      flows.push({ atMs, taken: sum(got), returned: sum(back) });
      leases.push(...got);
    }
    return flows;
  }

  it.each([1, 2, 4, 8, 16, 32])(
    'two gateways on %i shards grant at most the burst and what comes back',
    async (shardCount) => {
      const seed = testSeed;
      const id = await newBucket(burst, shardCount);
      const before = await standing(id);
      const flows = await run(id, seed, 20, false);
      const net = netOf(flows);
      expect([seed, excess(flows, burst, burst / minuteMs)]).toEqual([seed, 0]);
      // It is not kept by refusing all.
      expect(net).toBeGreaterThan(burst);
      expect(await standing(id)).toMatchObject({ shardCount, totalConsumed: before.totalConsumed + net });
      clock.advance(minuteMs);
      expect(await availableOf(id)).toBe(burst);
    },
  );

  it('that holds also while the shards are doubled', async () => {
    const seed = testSeed;
    const id = await newBucket(burst * 4, 1);
    const flows = await run(id, seed, 25, true);
    expect([seed, excess(flows, burst * 4, (burst * 4) / minuteMs)]).toEqual([seed, 0]);
    expect((await standing(id)).shardCount).toBeGreaterThan(1);
    expect((await standing(id)).totalConsumed).toBe(netOf(flows));
  });
});

describe('a cost larger than any shard has', () => {
  it('is taken from several of them, once and as one event, and given back to them exactly', async () => {
    const id = await newBucket(320, 4);
    const { leaseId, statuses } = await take(id, 200);
    expect(statuses).toMatchObject([{ requested: 200, available: 120, exceeded: false }]);
    expect(await standing(id)).toEqual({ shardCount: 4, available: 120, totalConsumed: 200 });
    await adjust(leaseId, -150);
    expect(await standing(id)).toMatchObject({ available: 270, totalConsumed: 50 });
    await adjust(leaseId, 70);
    expect(await standing(id)).toMatchObject({ available: 200, totalConsumed: 120 });
    expect(
      await app.admin.codeOf(op.AdjustLeaseDocument, {
        input: { leaseId, adjust: [{ limit: 'tokens', amount: -121 }], idempotencyKey: randomUUID() },
      }),
    ).toBe('BAD_USER_INPUT');
    await release(leaseId, other);
    expect(await standing(id)).toMatchObject({ available: 320, totalConsumed: 0 });
    expect(await release(leaseId)).toMatchObject({ replayed: true });
    expect(await standing(id)).toMatchObject({ available: 320, totalConsumed: 0 });
  });

  it('all of them together have is granted down to the last token', async () => {
    const id = await newBucket(320, 32);
    await take(id, 320, { via: other });
    expect(await standing(id)).toMatchObject({ available: 0, totalConsumed: 320 });
    refused(await acquire(id, 1));
  });

  it('is granted once with a request id, and a repeat has the same lease, of the same shards', async () => {
    const id = await newBucket(320, 4);
    const requestId = randomUUID();
    const first = await take(id, 200, { requestId });
    const again = await take(id, 200, { requestId, via: other });
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(await standing(id)).toMatchObject({ available: 120, totalConsumed: 200 });
    await release(again.leaseId);
    expect(await release(first.leaseId)).toMatchObject({ replayed: true });
    expect(await standing(id)).toMatchObject({ available: 320, totalConsumed: 0 });
  });

  it('of several limits is taken whole of each, or not at all', async () => {
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

  it('is granted to all of several at once, of two gateways, while there is enough for all', async () => {
    for (let i = 0; i < 3; i++) {
      const id = await newBucket(320, 4);
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, at) => acquire(id, 50, { via: at % 2 ? app : other })),
      );
      expect(answers.map(({ __typename }) => __typename)).toEqual(Array(6).fill('Lease'));
      expect(await standing(id)).toMatchObject({ available: 20, totalConsumed: 300 });
    }
  });
});

describe('a refusal', () => {
  it('comes only when all shards together are short, and promises the millisecond from which they are not', async () => {
    const id = await newBucket(240, 4);
    await take(id, 150);
    const { retryAfterSecs, statuses } = refused(await acquire(id, 150));
    expect(statuses).toMatchObject([{ available: 90, requested: 150, exceeded: true, retryAfterSecs }]);
    // 60 more, from the three shards that are not full: one a second each.
    expect(retryAfterSecs).toBe(20);
    clock.advance(retryAfterSecs * 1000 - 1);
    expect(refused(await acquire(id, 150)).retryAfterSecs).toBe(0.001);
    expect(refused(await acquire(id, 150, { via: other })).retryAfterSecs).toBe(0.001);
    clock.advance(1);
    await take(id, 150);
    expect(await availableOf(id)).toBe(0);
  });

  it.each([2, 8, 32])('of %i shards is kept to the millisecond, whatever is out of which', async (shardCount) => {
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

  it('is all that a cost above what is left meets, on shards that are full as on others', async () => {
    const id = await newBucket(320, 4);
    await take(id, 300);
    refused(await acquire(id, 100));
    refused(await acquire(id, 100, { via: other }));
    expect(await standing(id)).toMatchObject({ available: 20, totalConsumed: 300 });
  });

  it('of one amount does not refuse a smaller one that fits', async () => {
    const id = await newBucket(320, 4);
    await take(id, 300);
    refused(await acquire(id, 100));
    await take(id, 15);
    refused(await acquire(id, 6));
    await take(id, 5);
    expect(await availableOf(id)).toBe(0);
  });

  it('is forgotten at once when something is given back', async () => {
    const id = await newBucket(320, 4);
    const { leaseId } = await take(id, 320);
    refused(await acquire(id, 100));
    await release(leaseId);
    await take(id, 100);
  });
});

describe('a gateway that knows nothing of the shards', () => {
  it('begins at the first and adopts the count', async () => {
    const id = await newBucket(320, 4);
    const stranger = await app.another();
    const { buckets } = stranger.gateway.services;
    expect(shardsKnown(buckets, id)).toBe(1);
    await take(id, 10, { via: stranger });
    expect(shardsKnown(buckets, id)).toBe(4);
    expect(await standing(id)).toEqual({ shardCount: 4, available: 310, totalConsumed: 10 });
    await stranger.stop();
  });

  it('or knew it with one, or fewer, goes on with as many as there are', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(640));
    await Promise.all([take(id, 1), take(id, 1, { via: other })]);
    for (const shardCount of [2, 4, 8]) {
      expect(await double(id, other)).toBe(true);
      clock.advance(minuteMs);
      await take(id, 40);
      expect(shardsKnown(app.gateway.services.buckets, id)).toBe(shardCount);
      expect(await availableOf(id)).toBe(600);
    }
    expect((await standing(id)).totalConsumed).toBe(122);
  });

  it('adjusts and releases what another has taken from any shard', async () => {
    const id = await newBucket(320, 4);
    const { leaseId } = await take(id, 200);
    const stranger = await app.another();
    await adjust(leaseId, -10, stranger);
    await release(leaseId, stranger);
    expect(await standing(id)).toMatchObject({ available: 320, totalConsumed: 0 });
    await stranger.stop();
  });

  it('gives back what was taken before a doubling, and no more', async () => {
    const id = newId();
    await setLimits(id.entityId, perMinute(320));
    const { leaseId } = await take(id, 40);
    expect([await double(id), await double(id)]).toEqual([true, true]);
    const before = await availableOf(id);
    await release(leaseId, other);
    expect(await availableOf(id)).toBeLessThanOrEqual(before + 40);
    expect((await standing(id)).totalConsumed).toBe(0);
    clock.advance(minuteMs);
    expect(await availableOf(id)).toBe(320);
  });
});

describe('changed limits', () => {
  it.each([4, 16, 32])(
    'reach a bucket of %i shards, raised: what is available stays, and all of it can be had at once',
    async (shardCount) => {
      const id = await newBucket(3200, shardCount);
      await setLimits(id.entityId, perMinute(6400));
      await take(id, 3000);
      expect(await standing(id)).toMatchObject({ shardCount, available: 200, totalConsumed: 3000 });
      clock.advance(minuteMs);
      await take(id, 6400);
      expect(await standing(id)).toMatchObject({ shardCount, available: 0, totalConsumed: 9400 });
    },
  );

  it.each([4, 16])(
    'reach a bucket of %i shards, lowered: no more than the new burst is granted',
    async (shardCount) => {
      const id = await newBucket(3200, shardCount);
      await setLimits(id.entityId, perMinute(1600));
      let sum = 0;
      for (let i = 0; i < 100; i++)
        if ((await acquire(id, 50, { via: i % 2 ? app : other })).__typename === 'Lease') sum += 50;
      expect(sum).toBe(1600);
      expect(await standing(id)).toMatchObject({ shardCount, available: 0, totalConsumed: 1600 });
      clock.advance(minuteMs);
      expect(await availableOf(id)).toBe(1600);
    },
  );

  it('reach it with a limit more or less, and the refusals name the new ones', async () => {
    const id = await newBucket(320, 4);
    await take(id, 100);
    await setLimits(id.entityId, perMinute(320), perMinute(8, 'calls'));
    for (let i = 0; i < 8; i++) await take(id, 1, { limit: 'calls' });
    expect(refused(await acquire(id, 1, { limit: 'calls' })).violations).toMatchObject([{ limit: { name: 'calls' } }]);
    expect(await availableOf(id)).toBe(220);
    await setLimits(id.entityId, perMinute(320));
    await take(id, 220);
    expect(await standing(id)).toMatchObject({ shardCount: 4, available: 0 });
  });
});

describe('a limit lowered to 1', () => {
  it('still grants 1 on a bucket of 32 shards, then refuses, and grants 1 again when it said', async () => {
    const id = await newBucket(3200, 32);
    await setLimits(id.entityId, perMinute(1));
    await take(id, 1, { via: other });
    expect(await standing(id)).toMatchObject({ shardCount: 1, available: 0, totalConsumed: 1 });
    for (const via of [app, other]) expect(refused(await acquire(id, 1, { via })).retryAfterSecs).toBe(60);
    clock.advance(minuteMs - 1);
    for (const via of [app, other]) expect(refused(await acquire(id, 1, { via })).retryAfterSecs).toBe(0.001);
    clock.advance(1);
    await take(id, 1);
    refused(await acquire(id, 1, { via: other }));
  });
});

describe('a refusal that is remembered', () => {
  it('counts what was taken since: it does not promise a moment that is too early', async () => {
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

describe('a lease of a bucket or limit that another gateway has made since', () => {
  it('is adjusted and released there by one that remembers what was before', async () => {
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
    expect(await standing(id)).toMatchObject({ available: 50, totalConsumed: 50 });
    await release(leaseId, other);
    expect(await standing(id)).toMatchObject({ available: 100, totalConsumed: 0 });
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

  it('is the sum over its shards, one acquire one event also when it is split, in open hours and closed ones', async () => {
    const id = await newBucket(320, 4);
    const before = 1; // the first acquire, which made it
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
    // Given back in the hour in which it is given back.
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
    expect((await standing(id)).totalConsumed).toBe(650);
    const [day] =
      (await app.admin.ask(op.UsageOfDocument, { orgId, entityId: id.entityId, window: 'MONTHLY' })).org?.entity?.usage
        .nodes ?? [];
    expect(day).toMatchObject({ totalEvents: before + 5, counters: [{ limit: 'tokens', consumed: 650 }] });
  });
});

describe('deleting an entity', () => {
  it('removes all shards of its bucket, and keeps what it has used on record', async () => {
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
    // There is nothing left to give back to.
    await release(leaseId);
    expect(await itemsOf(id)).toEqual([]);
  });

  it('is noticed by a gateway that still knows the shards: it begins anew with one', async () => {
    const id = await newBucket(320, 8);
    const strangers = await Promise.all([app.another(), app.another(), app.another()]);
    for (const via of strangers) await take(id, 1, { via });
    await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: id.entityId });
    await setLimits(id.entityId, perMinute(320));
    for (const via of strangers) await take(id, 100, { via });
    expect(await standing(id)).toEqual({ shardCount: 1, available: 20, totalConsumed: 300 });
    expect(await itemsOf(id)).toHaveLength(1);
    refused(await acquire(id, 21, { via: other }));
    await Promise.all(strangers.map((via) => via.stop()));
  });
});
