import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import type { BucketId } from '../../src/limits/limiter-keys.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { newTenant, noonClock } from '../worker/costs.js';

const clock = noonClock();
let proxy: FaultProxy;
/** All through the proxy, each with its own cache. */
let gateways: TestApp[];
/** Bypasses the proxy. */
let direct: TestApp;
let app: TestApp;
let orgId: string;
let namespace: string;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint(), 0, { recordsCalls: false });
  const config = { principalRps: 0, principalConcurrency: 0 };
  app = await startTestApp({ endpoint: proxy.endpoint, isPatient: true, clock, config });
  gateways = [app, ...(await Promise.all([app.another(), app.another(), app.another()]))];
  direct = await app.another({ store: { ...app.config.store, endpoint: testEndpoint() } });
  ({ orgId } = await newTenant(app, {}, []));
  namespace = await direct.gateway.services.namespaces.of(orgId);
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await Promise.all([direct, ...gateways].map((gateway) => gateway.stop()));
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const perSecond = (capacity: number, name = 'tokens'): op.LimitInput => ({ name, capacity, refillPeriodSecs: 1 });
const setAt = (
  via: TestApp,
  level: 'RESOURCE' | 'ENTITY',
  resource: string,
  limits: op.LimitInput[],
  entityId?: string,
) =>
  via.admin.ask(op.SetLimitsDocument, {
    input: { orgId, level, resource, limits, ...(entityId === undefined ? {} : { entityId }) },
  });
const bucketOf = async (entityId: string, resource: string) =>
  (await direct.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity?.bucket ?? undefined;

interface LoadResponse {
  readonly gateway: number;
  readonly sentMs: number;
  readonly receivedMs: number;
  readonly isGranted: boolean;
  readonly limits: readonly string[];
}

/** Acquires one token up to a hundred times per second through each gateway, until it is stopped. */
class Load {
  readonly responses: LoadResponse[] = [];
  readonly errors: string[] = [];
  /** Acquires with an unknown outcome: on a starved machine the database may not respond in time. */
  unknown = 0;
  private isOn = true;
  private readonly loops: Promise<unknown>[];

  constructor(
    private readonly entityId: string,
    private readonly resource: string,
  ) {
    this.loops = gateways.map((_, gateway) => this.loop(gateway));
  }

  private async loop(gateway: number): Promise<void> {
    const open = new Set<Promise<void>>();
    while (this.isOn) {
      // Sends less if the machine cannot keep up.
      if (open.size < 25) {
        const sent: Promise<void> = this.acquire(gateway).finally(() => open.delete(sent));
        open.add(sent);
      }
      await sleep(10);
    }
    await Promise.all(open);
  }

  private async acquire(gateway: number): Promise<void> {
    const sentMs = clock.nowMs();
    const { entityId, resource } = this;
    const input = { orgId, entityId, resource, consume: [{ limit: 'tokens', amount: 1 }] };
    const { data, errors } = await (gateways[gateway] as TestApp).admin
      .send(op.AcquireDocument, { input })
      .catch((error: unknown) => ({ data: undefined, errors: String(error) }));
    const message = JSON.stringify(errors);
    if (!data && /the database did not respond|revocations cannot be checked/.test(message)) this.unknown++;
    else if (!data) this.errors.push(message);
    else {
      const { __typename, statuses } = data.acquire;
      const limits = statuses.map(({ limit }) => limit.name);
      this.responses.push({ gateway, sentMs, receivedMs: clock.nowMs(), isGranted: __typename === 'Lease', limits });
    }
  }

  /**
   * Waits until each gateway has sent a matching response to an acquire that was sent from now on. Returns the time.
   */
  async untilEach(what: string, matches: (response: LoadResponse) => boolean): Promise<number> {
    const fromMs = clock.nowMs();
    const first = (gateway: number) =>
      this.responses.find((response) => response.gateway === gateway && response.sentMs >= fromMs && matches(response));
    await until(what, () => gateways.every((_, gateway) => first(gateway)), 5000);
    return Math.max(...gateways.map((_, gateway) => first(gateway)?.receivedMs ?? 0)) - fromMs;
  }

  /** The count must include every grant, and at most the acquires with an unknown outcome besides. */
  expectAllCounted(count: number | undefined): void {
    const granted = this.responses.filter(({ isGranted }) => isGranted).length;
    expect(count).toBeGreaterThanOrEqual(granted);
    expect(count).toBeLessThanOrEqual(granted + this.unknown);
  }

  async stop(): Promise<void> {
    this.isOn = false;
    await Promise.all(this.loops);
    expect(this.errors).toEqual([]);
  }
}

/** The max number of grants above burst + rate × time in any window after `fromMs`. */
function excess(responses: readonly LoadResponse[], fromMs: number, burst: number, perMs: number): number {
  const granted = responses.filter(({ isGranted, sentMs }) => isGranted && sentMs >= fromMs);
  const endsAfter = (begin: number) => granted.flatMap(({ receivedMs }) => (receivedMs >= begin ? [receivedMs] : []));
  return Math.max(
    0,
    ...granted.flatMap(({ sentMs: begin }) =>
      // One millisecond more, because the clock has whole milliseconds.
      endsAfter(begin).map(
        (end) =>
          granted.filter(({ sentMs, receivedMs }) => sentMs >= begin && receivedMs <= end).length -
          burst -
          perMs * (end - begin + 1),
      ),
    ),
  );
}

describe('limits of a hot bucket, under load through four gateways with 5 ms of database latency,', () => {
  it('hold on all gateways after they were lowered, raised, extended and reduced, without any error', async () => {
    const [entityId, resource] = ['hot', `r-${randomUUID()}`];
    await setAt(app, 'RESOURCE', resource, [perSecond(1_000_000)]);
    proxy.inject({ fault: 'slow', ms: 5 });
    const load = new Load(entityId, resource);
    const heldAfterMs: Record<string, number> = {};
    await load.untilEach('a grant before the change', ({ isGranted }) => isGranted);
    await sleep(1500);
    expect(load.responses.filter(({ isGranted }) => !isGranted)).toEqual([]);
    const before = load.responses.length;

    await setAt(gateways[0] as TestApp, 'RESOURCE', resource, [perSecond(10)]);
    heldAfterMs.lowered = await load.untilEach('a refusal under the lowered limit', ({ isGranted }) => !isGranted);
    const firstRefusedMs = Math.min(
      ...load.responses.filter(({ isGranted }) => !isGranted).map(({ receivedMs }) => receivedMs),
    );
    await sleep(3000);
    const lowered = [...load.responses];
    expect(excess(lowered, firstRefusedMs, 10, 10 / 1000)).toBe(0);
    // The bound does not hold merely because everything was refused.
    const grantedAfter = lowered.filter(({ isGranted, sentMs }) => isGranted && sentMs >= firstRefusedMs).length;
    expect(grantedAfter).toBeGreaterThan(10);

    await setAt(gateways[1] as TestApp, 'RESOURCE', resource, [perSecond(1_000_000), perSecond(1000, 'calls')]);
    heldAfterMs.raised = await load.untilEach(
      'a grant with the added limit',
      ({ isGranted, limits }) => isGranted && limits.includes('calls'),
    );
    await setAt(gateways[2] as TestApp, 'RESOURCE', resource, [perSecond(1_000_000)]);
    heldAfterMs.removed = await load.untilEach(
      'a grant without the removed limit',
      ({ isGranted, limits }) => isGranted && !limits.includes('calls'),
    );
    await load.stop();

    const consumed = (await bucketOf(entityId, resource))?.limits.find(
      ({ limit }) => limit.name === 'tokens',
    )?.totalConsumed;
    load.expectAllCounted(consumed);
    if (process.env.SHOW_TIMES) console.log({ heldAfterMs, before, responses: load.responses.length, grantedAfter });
  });

  it('are not refused because a write took long: what refilled meanwhile counts', async () => {
    const [entityId, resource] = [`e-${randomUUID()}`, `r-${randomUUID()}`];
    // Full again after 0.3 s.
    await setAt(app, 'RESOURCE', resource, [
      { name: 'tokens', capacity: 300, refillAmount: 1000, refillPeriodSecs: 1 },
    ]);
    const input = { orgId, entityId, resource, consume: [{ limit: 'tokens', amount: 1 }] };
    const acquire = async (via: TestApp) => (await via.admin.ask(op.AcquireDocument, { input })).acquire.__typename;
    const [slow, fast] = gateways as [TestApp, TestApp];
    for (const via of [slow, fast]) expect(await acquire(via)).toBe('Lease');
    const rule = proxy.inject({ fault: 'slow', ms: 900, operation: 'UpdateItem', table: 'limiter', nth: 1 });
    const delayed = acquire(slow);
    await until('the delayed write', () => rule.hits > 0);
    await sleep(700);
    for (let i = 0; i < 3; i++) expect(await acquire(fast)).toBe('Lease');
    expect(await delayed).toBe('Lease');
  });

  it('can be deleted with their entity, and later acquires use the remaining limits', async () => {
    const [entityId, resource] = [`e-${randomUUID()}`, `r-${randomUUID()}`];
    await setAt(app, 'RESOURCE', resource, [perSecond(500_000)]);
    await setAt(app, 'ENTITY', resource, [perSecond(1_000_000), perSecond(1_000_000, 'own')], entityId);
    proxy.inject({ fault: 'slow', ms: 5 });
    const load = new Load(entityId, resource);
    await load.untilEach('a grant before', ({ isGranted, limits }) => isGranted && limits.includes('own'));
    await sleep(500);
    for (const via of [0, 1]) {
      const { data, errors } = await (gateways[via] as TestApp).admin.send(op.DeleteEntityDocument, {
        orgId,
        entityId,
      });
      expect([data?.deleteEntity, errors]).toEqual([true, undefined]);
      await load.untilEach('a grant after', ({ isGranted, limits }) => isGranted && !limits.includes('own'));
      await sleep(2500);
    }
    await load.stop();
    const { nodes = [] } =
      (await direct.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'MONTHLY', resource })).org?.entity
        ?.usage ?? {};
    expect(nodes).toHaveLength(1);
    load.expectAllCounted(nodes[0]?.totalEvents);
    load.expectAllCounted(nodes[0]?.counters.find(({ limit }) => limit === 'tokens')?.consumed);
  });
});

describe('a gateway that dies during a conversion of a bucket', () => {
  const resource = 'api';
  let dyingProxy: FaultProxy;
  /** Alone behind its own proxy, so that every call there belongs to the conversion. */
  let dying: TestApp;
  beforeAll(async () => {
    dyingProxy = await startFaultProxy(testEndpoint(), 0, { recordsCalls: false });
    dying = await app.another({ store: { ...app.config.store, endpoint: dyingProxy.endpoint } });
  });
  afterEach(() => dyingProxy.clear());
  afterAll(async () => {
    await dying.stop();
    await dyingProxy.stop();
  });

  const slowRefill = (capacity: number, name = 'tokens'): op.LimitInput => ({
    name,
    capacity,
    refillAmount: 1,
    refillPeriodSecs: 86_400,
  });
  const take = async (entityId: string, amount: number, via = direct) => {
    const { acquire } = await via.admin.ask(op.AcquireDocument, {
      input: { orgId, entityId, resource, consume: [{ limit: 'tokens', amount }] },
    });
    if (acquire.__typename !== 'Lease') throw new Error(`refused: ${acquire.message}`);
    return acquire.leaseId;
  };
  const idOf = (entityId: string): BucketId => ({ namespace, entityId, resource });
  const items = async (entityId: string) =>
    (await direct.gateway.services.store.scan('limiter')).items.filter(({ PK }) =>
      (PK as string).startsWith(`${namespace}/BUCKET#${entityId}#`),
    );
  const fences = async (entityId: string) =>
    (await items(entityId)).filter(({ cv }) => (cv as string).startsWith('p:')).length;
  const usage = async (entityId: string) => {
    const { nodes = [] } =
      (await direct.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'MONTHLY', resource })).org?.entity
        ?.usage ?? {};
    return nodes.map(({ totalEvents, counters }) => [
      totalEvents,
      counters.find(({ limit }) => limit === 'tokens')?.consumed,
    ]);
  };

  /** A bucket with 640 tokens, of which 100 are taken. */
  async function newBucket(shardCount: number): Promise<{ readonly entityId: string; readonly leaseId: string }> {
    const entityId = `e-${randomUUID()}`;
    await setAt(direct, 'ENTITY', resource, [slowRefill(640)], entityId);
    const leaseId = await take(entityId, 20, dying);
    await take(entityId, 20);
    for (let count = 1; count < shardCount; count *= 2)
      expect(await direct.gateway.services.buckets.double(idOf(entityId))).toBe(true);
    for (let i = 0; i < 3; i++) await take(entityId, 20, i === 0 ? dying : direct);
    expect(await bucketOf(entityId, resource)).toMatchObject({
      shardCount,
      limits: [{ available: 540, totalConsumed: 100 }],
    });
    return { entityId, leaseId };
  }

  /** Lets only the first writes of a fence through. */
  const fenceOnly = (shards: number) => {
    for (let nth = shards + 1; nth <= shards + 60; nth++)
      dyingProxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'error-before', nth });
  };

  /** Sets other limits everywhere, but blocks the stamp of the bucket. */
  async function setLimitsWithoutStamp(entityId: string): Promise<void> {
    const blocked = dyingProxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'error-before' });
    await setAt(dying, 'ENTITY', resource, [slowRefill(1280), slowRefill(64, 'calls')], entityId);
    expect(blocked.hits).toBeGreaterThan(0);
    blocked.remove();
    expect(await fences(entityId)).toBe(0);
  }

  type Kind = 'stamp' | 'doubling' | 'halving' | 'end';
  /** Begins a conversion on the gateway behind the proxy. */
  const begin = async (kind: Kind, entityId: string): Promise<unknown> => {
    const { buckets, resolution } = dying.gateway.services;
    const id = idOf(entityId);
    if (kind === 'doubling') return buckets.double(id);
    if (kind === 'halving') return buckets.halve(id);
    if (kind === 'end') return buckets.end(id);
    const { set } = await resolution.resolveFresh({ orgId, namespace, entityId, resource });
    return set && buckets.stamp(id, set, false);
  };

  /**
   * A bucket of which this many shards are fenced. A gateway also resizes buckets in the background, on a slow machine
   * at any moment: such a write uses up one of those that are let through, so the next bucket is tried.
   */
  async function fencedBucket(kind: Kind, shardCount: number, fenced: number) {
    for (let attempt = 1; ; attempt++) {
      const bucket = await newBucket(shardCount);
      if (kind === 'stamp') await setLimitsWithoutStamp(bucket.entityId);
      fenceOnly(fenced);
      dyingProxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'error-before' });
      await begin(kind, bucket.entityId).catch(() => undefined);
      await dyingProxy.quiet();
      if (attempt === 5 || (await fences(bucket.entityId)) === fenced) return bucket;
      dyingProxy.clear();
    }
  }

  const cases: [Kind, number, number][] = [
    ['stamp', 1, 1],
    ['stamp', 4, 1],
    ['stamp', 4, 2],
    ['stamp', 4, 4],
    ['doubling', 1, 1],
    ['doubling', 4, 1],
    ['doubling', 4, 3],
    ['doubling', 4, 4],
    ['halving', 4, 1],
    ['halving', 4, 2],
    ['halving', 4, 4],
    ['end', 1, 1],
    ['end', 4, 1],
    ['end', 4, 3],
    ['end', 4, 4],
  ];

  it.each(cases)(
    '(%s of %i shards, %i of them fenced) leaves it to be finished by the next caller',
    async (kind, shardCount, fenced) => {
      const { entityId, leaseId } = await fencedBucket(kind, shardCount, fenced);
      expect(await fences(entityId)).toBe(fenced);

      // Concurrently, so that several callers find the fence.
      await Promise.all([take(entityId, 1), take(entityId, 2), direct.admin.ask(op.ReleaseLeaseDocument, { leaseId })]);
      expect(await fences(entityId)).toBe(0);
      const bucket = await bucketOf(entityId, resource);
      const tokens = bucket?.limits.find(({ limit }) => limit.name === 'tokens');
      if (kind === 'end') {
        // They took before the end or after it. What is given back to an ended bucket is lost.
        expect([undefined, 637, 638, 639]).toContain(tokens?.available);
        const [[events, consumed] = []] = await usage(entityId);
        expect(events).toBe(7);
        expect([103, 83]).toContain(consumed);
      } else {
        const count = { stamp: shardCount, doubling: shardCount * 2, halving: shardCount / 2 }[kind];
        expect([bucket?.shardCount, (await items(entityId)).length]).toEqual([count, count]);
        expect(tokens).toMatchObject({ available: 557, totalConsumed: 83 });
        expect(await usage(entityId)).toEqual([[7, 83]]);
      }

      // The gateway that seemed dead comes back and continues.
      dyingProxy.clear();
      await take(entityId, 7, dying);
      await begin(kind, entityId);
      expect(await fences(entityId)).toBe(0);
    },
  );

  const firsts: [string, (entityId: string, leaseId: string) => Promise<unknown>][] = [
    ['a release', (_, leaseId) => direct.admin.ask(op.ReleaseLeaseDocument, { leaseId })],
    [
      'a charge without an idempotency key',
      (_, leaseId) =>
        direct.admin.ask(op.AdjustLeaseDocument, { input: { leaseId, adjust: [{ limit: 'tokens', amount: 5 }] } }),
    ],
    [
      'an availability query',
      (entityId) =>
        direct.admin.ask(op.AvailabilityDocument, {
          orgId,
          entityId,
          resource,
          consume: [{ limit: 'tokens', amount: 1 }],
        }),
    ],
    ['a change of limits', (entityId) => setAt(direct, 'ENTITY', resource, [slowRefill(320)], entityId)],
    ['a doubling', (entityId) => direct.gateway.services.buckets.double(idOf(entityId))],
    ['a deletion', (entityId) => direct.admin.ask(op.DeleteEntityDocument, { orgId, entityId })],
    ['a large acquire', (entityId) => take(entityId, 500)],
  ];

  it.each(firsts)('leaves a conversion that is finished by %s', async (what, first) => {
    const { entityId, leaseId } = await fencedBucket('doubling', 4, 2);
    expect(await fences(entityId)).toBe(2);
    await first(entityId, leaseId);
    if (what !== 'an availability query') expect(await fences(entityId)).toBe(0);
    if (what === 'a deletion') expect(await items(entityId)).toEqual([]);
    else await take(entityId, 1);
    expect(await fences(entityId)).toBe(0);
  });

  it.each(['stamp', 'doubling', 'halving', 'end'] as const)(
    '(%s) or is slow does not book an hour that a worker has booked meanwhile',
    async (kind) => {
      const { entityId } = await newBucket(4);
      if (kind === 'stamp') await setLimitsWithoutStamp(entityId);
      const held = dyingProxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'hold' });
      const begun = begin(kind, entityId).catch(() => undefined);
      await until('the conversion is held', () => held.hits > 0);
      const { store, buckets } = direct.gateway.services;
      const [shards = []] = await new BucketStore(store, clock, 90).loadMany([idOf(entityId)]);
      for (const [index, shard] of shards.entries()) await buckets.bookHour(idOf(entityId), index, shard);
      held.remove();
      await begun;
      await take(entityId, 3);
      expect(await fences(entityId)).toBe(0);
      expect(await usage(entityId)).toEqual([[6, 103]]);
    },
  );

  it.each(['drop-reply', 'error-after'] as const)(
    '(%s) or loses the response converts the bucket once',
    async (fault) => {
      for (const kind of ['stamp', 'doubling', 'halving', 'end'] as const) {
        const { entityId } = await newBucket(4);
        if (kind === 'stamp') await setLimitsWithoutStamp(entityId);
        const rule = dyingProxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault, nth: { first: 2 } });
        await begin(kind, entityId).catch(() => undefined);
        await dyingProxy.quiet();
        expect(rule.hits).toBeGreaterThan(0);
        dyingProxy.clear();
        await take(entityId, 3);
        const bucket = await bucketOf(entityId, resource);
        const expected = { stamp: [4, 537], doubling: [8, 537], halving: [2, 537], end: [1, 637] }[kind];
        const tokens = bucket?.limits.find(({ limit }) => limit.name === 'tokens');
        expect([kind, bucket?.shardCount, tokens?.available]).toEqual([kind, ...expected]);
        expect(await usage(entityId)).toEqual([[6, 103]]);
      }
    },
  );
});
