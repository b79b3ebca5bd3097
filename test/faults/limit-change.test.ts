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
/** Each through the proxy, with a memory of its own. */
let gateways: TestApp[];
/** Past the proxy. */
let direct: TestApp;
let app: TestApp;
let orgId: string;
let namespace: string;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint(), 0, { remembersCalls: false });
  app = await startTestApp({ endpoint: proxy.endpoint, clock, config: { principalRps: 0, principalConcurrency: 0 } });
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

interface Answered {
  readonly gateway: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly isGranted: boolean;
  readonly limits: readonly string[];
}

/** Acquires of one token, a hundred a second through each gateway as far as the machine can, until it is stopped. */
class Load {
  readonly answers: Answered[] = [];
  readonly errors: string[] = [];
  /** Acquires that the store did not answer in time: on a starved machine that is nobody's doing, and whether they took is unknown. */
  starved = 0;
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
      // A machine that cannot keep up is asked for less.
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
    const told = JSON.stringify(errors);
    if (!data && /the database did not respond|revocations cannot be checked/.test(told)) this.starved++;
    else if (!data) this.errors.push(told);
    else {
      const { __typename, statuses } = data.acquire;
      const limits = statuses.map(({ limit }) => limit.name);
      this.answers.push({ gateway, sentMs, answeredMs: clock.nowMs(), isGranted: __typename === 'Lease', limits });
    }
  }

  /** Waits until an acquire that was sent through each gateway from now on has been answered so. */
  async untilEach(what: string, isSo: (answer: Answered) => boolean): Promise<number> {
    const fromMs = clock.nowMs();
    const first = (gateway: number) =>
      this.answers.find((answer) => answer.gateway === gateway && answer.sentMs >= fromMs && isSo(answer));
    await until(what, () => gateways.every((_, gateway) => first(gateway)), 5000);
    return Math.max(...gateways.map((_, gateway) => first(gateway)?.answeredMs ?? 0)) - fromMs;
  }

  /** Exactly what was granted; of what nobody knows, some. */
  expectAllCounted(count: number | undefined): void {
    const granted = this.answers.filter(({ isGranted }) => isGranted).length;
    expect(count).toBeGreaterThanOrEqual(granted);
    expect(count).toBeLessThanOrEqual(granted + this.starved);
  }

  async stop(): Promise<void> {
    this.isOn = false;
    await Promise.all(this.loops);
    expect(this.errors).toEqual([]);
  }
}

/** The most grants above burst + rate × time in any stretch from the moment on. */
function excess(answers: readonly Answered[], fromMs: number, burst: number, perMs: number): number {
  const granted = answers.filter(({ isGranted, sentMs }) => isGranted && sentMs >= fromMs);
  const endsAfter = (begin: number) => granted.flatMap(({ answeredMs }) => (answeredMs >= begin ? [answeredMs] : []));
  return Math.max(
    0,
    ...granted.flatMap(({ sentMs: begin }) =>
      // One millisecond more, because the clock is read in whole ones.
      endsAfter(begin).map(
        (end) =>
          granted.filter(({ sentMs, answeredMs }) => sentMs >= begin && answeredMs <= end).length -
          burst -
          perMs * (end - begin + 1),
      ),
    ),
  );
}

describe('limits of a hot bucket, under load through four gateways with the store 5 ms away', () => {
  it('hold on all of them after they were lowered, raised, and given a limit more and less; nobody gets an error', async () => {
    const [entityId, resource] = ['hot', `r-${randomUUID()}`];
    await setAt(app, 'RESOURCE', resource, [perSecond(1_000_000)]);
    proxy.inject({ fault: 'slow', ms: 5 });
    const load = new Load(entityId, resource);
    const heldAfterMs: Record<string, number> = {};
    await load.untilEach('a grant before the change', ({ isGranted }) => isGranted);
    await sleep(1500);
    expect(load.answers.filter(({ isGranted }) => !isGranted)).toEqual([]);
    const before = load.answers.length;

    await setAt(gateways[0] as TestApp, 'RESOURCE', resource, [perSecond(10)]);
    heldAfterMs.lowered = await load.untilEach('a refusal under the lowered limit', ({ isGranted }) => !isGranted);
    const firstRefusedMs = Math.min(
      ...load.answers.filter(({ isGranted }) => !isGranted).map(({ answeredMs }) => answeredMs),
    );
    await sleep(3000);
    const lowered = [...load.answers];
    expect(excess(lowered, firstRefusedMs, 10, 10 / 1000)).toBe(0);
    // It still grants what it may, or the bound would be kept by refusing all.
    const grantedAfter = lowered.filter(({ isGranted, sentMs }) => isGranted && sentMs >= firstRefusedMs).length;
    expect(grantedAfter).toBeGreaterThan(10);

    await setAt(gateways[1] as TestApp, 'RESOURCE', resource, [perSecond(1_000_000), perSecond(1000, 'calls')]);
    heldAfterMs.raised = await load.untilEach(
      'a grant with the added limit',
      ({ isGranted, limits }) => isGranted && limits.includes('calls'),
    );
    await setAt(gateways[2] as TestApp, 'RESOURCE', resource, [perSecond(1_000_000)]);
    heldAfterMs.removed = await load.untilEach(
      'a grant without it',
      ({ isGranted, limits }) => isGranted && !limits.includes('calls'),
    );
    await load.stop();

    const consumed = (await bucketOf(entityId, resource))?.limits.find(
      ({ limit }) => limit.name === 'tokens',
    )?.totalConsumed;
    load.expectAllCounted(consumed);
    if (process.env.SHOW_TIMES) console.log({ heldAfterMs, before, answers: load.answers.length, grantedAfter });
  });

  it('can be deleted with their entity, and whoever goes on acquiring does so under those that are left', async () => {
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

describe('a gateway that dies in the middle of a change of a bucket', () => {
  const resource = 'api';
  let way: FaultProxy;
  /** Alone behind a proxy of its own, so that every call there is one of the change. */
  let dying: TestApp;
  beforeAll(async () => {
    way = await startFaultProxy(testEndpoint(), 0, { remembersCalls: false });
    dying = await app.another({ store: { ...app.config.store, endpoint: way.endpoint } });
  });
  afterEach(() => way.clear());
  afterAll(async () => {
    await dying.stop();
    await way.stop();
  });

  const slowly = (capacity: number, name = 'tokens'): op.LimitInput => ({
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

  /** A bucket of so many shards with 640 tokens, of which 100 are taken. */
  async function newBucket(shardCount: number): Promise<{ readonly entityId: string; readonly leaseId: string }> {
    const entityId = `e-${randomUUID()}`;
    await setAt(direct, 'ENTITY', resource, [slowly(640)], entityId);
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

  /** Only the first so many writes of a fence get through. */
  const fenceOnly = (shards: number) => {
    for (let nth = shards + 1; nth <= shards + 60; nth++)
      way.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'error-before', nth });
  };

  /** Sets other limits, which hold everywhere, but whoever set them could not bring the bucket under them. */
  async function change(entityId: string): Promise<void> {
    const blocked = way.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'error-before' });
    await setAt(dying, 'ENTITY', resource, [slowly(1280), slowly(64, 'calls')], entityId);
    expect(blocked.hits).toBeGreaterThan(0);
    blocked.remove();
    expect(await fences(entityId)).toBe(0);
  }

  type Kind = 'stamp' | 'doubling' | 'folding' | 'end';
  /** What the gateway behind the proxy begins; how it ends there does not matter. */
  const begin = async (kind: Kind, entityId: string): Promise<unknown> => {
    const { buckets, resolution } = dying.gateway.services;
    const id = idOf(entityId);
    if (kind === 'doubling') return buckets.double(id);
    if (kind === 'folding') return buckets.fold(id);
    if (kind === 'end') return buckets.end(id);
    const { set } = await resolution.resolveFresh({ orgId, namespace, entityId, resource });
    return set && buckets.stamp(id, set, false);
  };

  const cases: [Kind, number, number][] = [
    ['stamp', 1, 1],
    ['stamp', 4, 1],
    ['stamp', 4, 2],
    ['stamp', 4, 4],
    ['doubling', 1, 1],
    ['doubling', 4, 1],
    ['doubling', 4, 3],
    ['doubling', 4, 4],
    ['folding', 4, 1],
    ['folding', 4, 2],
    ['folding', 4, 4],
    ['end', 1, 1],
    ['end', 4, 1],
    ['end', 4, 3],
    ['end', 4, 4],
  ];

  it.each(cases)(
    '(%s of %i shards, %i of them fenced) leaves it to whoever comes next, who serves on',
    async (kind, shardCount, fenced) => {
      const { entityId, leaseId } = await newBucket(shardCount);
      if (kind === 'stamp') await change(entityId);
      fenceOnly(fenced);
      way.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'error-before' });
      await begin(kind, entityId).catch(() => undefined);
      await way.quiet();
      expect(await fences(entityId)).toBe(fenced);

      // All at once, so that several find it.
      await Promise.all([take(entityId, 1), take(entityId, 2), direct.admin.ask(op.ReleaseLeaseDocument, { leaseId })]);
      expect(await fences(entityId)).toBe(0);
      const bucket = await bucketOf(entityId, resource);
      const tokens = bucket?.limits.find(({ limit }) => limit.name === 'tokens');
      if (kind === 'end') {
        // They took before the end or after it, and what is given back to a bucket that has ended is nobody's.
        expect([undefined, 637, 638, 639]).toContain(tokens?.available);
        const [[events, consumed] = []] = await usage(entityId);
        expect(events).toBe(7);
        expect([103, 83]).toContain(consumed);
      } else {
        const count = { stamp: shardCount, doubling: shardCount * 2, folding: shardCount / 2 }[kind];
        expect([bucket?.shardCount, (await items(entityId)).length]).toEqual([count, count]);
        expect(tokens).toMatchObject({ available: 557, totalConsumed: 83 });
        expect(await usage(entityId)).toEqual([[7, 83]]);
      }

      // The one that seemed dead comes back, and goes on where the others are.
      way.clear();
      await take(entityId, 7, dying);
      await begin(kind, entityId);
      expect(await fences(entityId)).toBe(0);
    },
  );

  const firsts: [string, (entityId: string, leaseId: string) => Promise<unknown>][] = [
    ['a release', (_, leaseId) => direct.admin.ask(op.ReleaseLeaseDocument, { leaseId })],
    [
      'a charge without a key',
      (_, leaseId) =>
        direct.admin.ask(op.AdjustLeaseDocument, { input: { leaseId, adjust: [{ limit: 'tokens', amount: 5 }] } }),
    ],
    [
      'availability',
      (entityId) =>
        direct.admin.ask(op.AvailabilityDocument, {
          orgId,
          entityId,
          resource,
          consume: [{ limit: 'tokens', amount: 1 }],
        }),
    ],
    ['changed limits', (entityId) => setAt(direct, 'ENTITY', resource, [slowly(320)], entityId)],
    ['a doubling', (entityId) => direct.gateway.services.buckets.double(idOf(entityId))],
    ['a deletion', (entityId) => direct.admin.ask(op.DeleteEntityDocument, { orgId, entityId })],
    ['a large acquire', (entityId) => take(entityId, 500)],
  ];

  it.each(firsts)('finds %s first: the change is finished', async (what, first) => {
    const { entityId, leaseId } = await newBucket(4);
    fenceOnly(2);
    await begin('doubling', entityId).catch(() => undefined);
    await way.quiet();
    expect(await fences(entityId)).toBe(2);
    await first(entityId, leaseId);
    if (what !== 'availability') expect(await fences(entityId)).toBe(0);
    if (what === 'a deletion') expect(await items(entityId)).toEqual([]);
    else await take(entityId, 1);
    expect(await fences(entityId)).toBe(0);
  });

  it.each(['stamp', 'doubling', 'folding', 'end'] as const)(
    '(%s) or is slow at it, books no hour twice that a worker has booked meanwhile',
    async (kind) => {
      const { entityId } = await newBucket(4);
      if (kind === 'stamp') await change(entityId);
      const held = way.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'hold' });
      const begun = begin(kind, entityId).catch(() => undefined);
      await until('the change is held', () => held.hits > 0);
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
    '(%s) or never hears that its change was made, makes it once',
    async (fault) => {
      for (const kind of ['stamp', 'doubling', 'folding', 'end'] as const) {
        const { entityId } = await newBucket(4);
        if (kind === 'stamp') await change(entityId);
        const rule = way.inject({ operation: 'TransactWriteItems', table: 'limiter', fault, nth: { first: 2 } });
        await begin(kind, entityId).catch(() => undefined);
        await way.quiet();
        expect(rule.hits).toBeGreaterThan(0);
        way.clear();
        await take(entityId, 3);
        const bucket = await bucketOf(entityId, resource);
        const expected = { stamp: [4, 537], doubling: [8, 537], folding: [2, 537], end: [1, 637] }[kind];
        const tokens = bucket?.limits.find(({ limit }) => limit.name === 'tokens');
        expect([kind, bucket?.shardCount, tokens?.available]).toEqual([kind, ...expected]);
        expect(await usage(entityId)).toEqual([[6, 103]]);
      }
    },
  );
});
