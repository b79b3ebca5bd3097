import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import { type Caller, type Succeeded, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { newTenant, noonClock } from '../worker/costs.js';
import { untilWell } from './harness.js';

const clock = noonClock();
const resource = 'api';
let proxy: FaultProxy;
let app: TestApp;
/** Bypasses the proxy, so it sees the stored state. */
let direct: TestApp;
let orgId: string;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, clock, config: { principalRps: 0, principalConcurrency: 0 } });
  direct = await app.another({ store: { ...app.config.store, endpoint: testEndpoint() } });
  ({ orgId } = await newTenant(app, {}, []));
});
beforeEach(() => proxy.clear());
afterEach(() => proxy.clear());
afterAll(async () => {
  await direct.stop();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

/** A limit with almost no refill during a test. */
const slowRefill = (capacity: number): op.LimitInput => ({
  name: 'tokens',
  capacity,
  refillAmount: 1,
  refillPeriodSecs: 86_400,
});
const setLimits = (entityId: string, capacity: number) =>
  app.admin.ask(op.SetLimitsDocument, {
    input: { orgId, level: 'ENTITY', entityId, resource, limits: [slowRefill(capacity)] },
  });

const inputOf = (entityId: string, amount: number, overrides: Partial<op.AcquireInput> = {}): op.AcquireInput => ({
  orgId,
  entityId,
  resource,
  consume: [{ limit: 'tokens', amount }],
  ...overrides,
});

async function take(entityId: string, amount: number, caller = app.admin): Promise<string> {
  const { acquire } = await caller.ask(op.AcquireDocument, { input: inputOf(entityId, amount) });
  if (acquire.__typename !== 'Lease') throw new Error(`refused: ${acquire.message}`);
  return acquire.leaseId;
}

/** An entity with a bucket that the gateway has cached; one token is taken. */
async function newEntity(capacity = 1000): Promise<string> {
  const entityId = `e-${randomUUID()}`;
  await setLimits(entityId, capacity);
  await take(entityId, 1);
  return entityId;
}

async function storedBucket(
  entityId: string,
): Promise<{ readonly shardCount: number; readonly totalConsumed: number; readonly available: number }> {
  const { org } = await direct.admin.ask(op.BucketOfDocument, { orgId, entityId, resource });
  const { shardCount = 0, limits = [] } = org?.entity?.bucket ?? {};
  return { shardCount, totalConsumed: limits[0]?.totalConsumed ?? 0, available: limits[0]?.available ?? 0 };
}
const taken = async (entityId: string) => (await storedBucket(entityId)).totalConsumed;
const eventsOf = async (entityId: string) =>
  (await direct.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'HOURLY' })).org?.entity?.usage.nodes.reduce(
    (sum, node) => sum + node.totalEvents,
    0,
  );

const unavailable = { code: 'SERVICE_UNAVAILABLE', retryable: true };

/** Retries the same request until its outcome is known, as a careful client does. */
async function retryUntilKnown<T, V>(
  caller: Caller,
  document: Parameters<typeof caller.send<T, V>>[0],
  variables: V,
): Promise<Succeeded<T>> {
  for (const untilMs = performance.now() + patience * 20_000; ; await sleep(20)) {
    const { data, errors } = await caller.send<T, V>(document, variables);
    if (data) return data;
    expect(errors?.[0]?.extensions).toMatchObject(unavailable);
    if (performance.now() > untilMs) throw new Error(`no definite outcome: ${JSON.stringify(errors)}`);
  }
}

const lost: [Fault, number][] = [
  ['drop-reply', 1],
  ['drop-reply', 2],
  ['drop-reply', 3],
  ['error-after', 1],
  ['error-after', 2],
  ['error-after', 3],
  ['no-reply-after', 1],
];
const loseTransactions = (fault: Fault, first: number) =>
  proxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault, nth: { first } });

describe('with lost responses of the database', () => {
  it.each(lost)(
    '(%s, %i in a row) charges an acquire with a request id once and finds its lease',
    async (fault, first) => {
      const entityId = await newEntity();
      const rule = loseTransactions(fault, first);
      const input = inputOf(entityId, 10, { requestId: randomUUID() });
      const { acquire } = await retryUntilKnown(app.admin, op.AcquireDocument, { input });
      expect(acquire).toMatchObject({ __typename: 'Lease', degraded: false });
      expect(rule.hits).toBe(first);
      expect(await taken(entityId)).toBe(11);
      const { acquire: again } = await direct.admin.ask(op.AcquireDocument, { input });
      expect(again).toMatchObject({ __typename: 'Lease', replayed: true });
      expect(await taken(entityId)).toBe(11);
      expect(await eventsOf(entityId)).toBe(2);
    },
  );

  it('reports an unknown outcome if all are lost, and a retry with the request id returns the lease', async () => {
    const entityId = await newEntity();
    const inputs = Array.from({ length: 20 }, () => inputOf(entityId, 10, { requestId: randomUUID() }));
    proxy.inject({ operation: 'TransactWriteItems', table: 'limiter', fault: 'error-after' });
    const responses = await Promise.all(inputs.map((input) => app.admin.send(op.AcquireDocument, { input })));
    for (const { errors } of responses) expect(errors?.[0]?.extensions).toMatchObject(unavailable);
    proxy.clear();
    const { length } = await Promise.all(
      inputs.map((input) => retryUntilKnown(app.admin, op.AcquireDocument, { input })),
    );
    expect(length).toBe(20);
    expect(await taken(entityId)).toBe(201);
    expect(await eventsOf(entityId)).toBe(21);
  });

  it.each<Fault>(['drop-reply', 'error-after', 'no-reply-after'])(
    '(%s) fails an acquire without a request id after one attempt, and loses at most that one take',
    async (fault) => {
      const entityId = await newEntity();
      proxy.clear();
      const rule = proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault });
      const { errors } = await app.admin.send(op.AcquireDocument, { input: inputOf(entityId, 10) });
      expect(errors?.[0]?.extensions).toMatchObject(unavailable);
      expect(rule.hits).toBe(1);
      proxy.clear();
      expect(await taken(entityId)).toBe(11);
      await take(entityId, 989);
      expect(await storedBucket(entityId)).toMatchObject({ totalConsumed: 1000, available: 0 });
    },
  );

  it('grants no more than there is if 1, 2 and 3 groups are lost, and loses each take once', async () => {
    const entityId = await newEntity(300);
    let acknowledged = 1;
    let unknown = 0;
    for (const nth of [1, 2, 3]) {
      proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'drop-reply', nth: { first: nth } });
      const responses = await Promise.all(
        Array.from({ length: 60 }, () => app.admin.send(op.AcquireDocument, { input: inputOf(entityId, 1) })),
      );
      for (const { data, errors } of responses) {
        if (data) acknowledged += data.acquire.__typename === 'Lease' ? 1 : 0;
        else {
          expect(errors?.[0]?.extensions).toMatchObject(unavailable);
          unknown++;
        }
      }
      proxy.clear();
    }
    expect(unknown).toBeGreaterThan(0);
    // Some unknown acquires took nothing: the lost response was a failed condition.
    expect(await taken(entityId)).toBeGreaterThanOrEqual(acknowledged);
    expect(await taken(entityId)).toBeLessThanOrEqual(acknowledged + unknown);
  });

  it.each(lost)('(%s, %i in a row) applies an adjust and a release once each', async (fault, first) => {
    const entityId = await newEntity();
    const leaseId = await take(entityId, 10);
    const adjusting = loseTransactions(fault, first);
    const input = { leaseId, adjust: [{ limit: 'tokens', amount: 25 }], idempotencyKey: randomUUID() };
    await retryUntilKnown(app.admin, op.AdjustLeaseDocument, { input });
    expect(adjusting.hits).toBe(first);
    expect(await taken(entityId)).toBe(36);
    proxy.clear();
    const releasing = loseTransactions(fault, first);
    await retryUntilKnown(app.admin, op.ReleaseLeaseDocument, { leaseId });
    expect(releasing.hits).toBe(first);
    expect(await taken(entityId)).toBe(1);
    proxy.clear();
    expect((await direct.admin.ask(op.AdjustLeaseDocument, { input })).adjustLease.replayed).toBe(true);
    expect((await direct.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease.replayed).toBe(true);
    expect(await taken(entityId)).toBe(1);
  });

  it('books the usage of an hour once while the hour is closed', async () => {
    const entityId = await newEntity();
    await take(entityId, 10);
    clock.advance(3_600_000);
    const closing = loseTransactions('drop-reply', 2);
    await retryUntilKnown(app.admin, op.AcquireDocument, { input: inputOf(entityId, 5, { requestId: randomUUID() }) });
    expect(closing.hits).toBe(2);
    const { nodes = [] } =
      (await direct.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'HOURLY' })).org?.entity?.usage ?? {};
    expect(nodes.map(({ totalEvents, counters }) => [totalEvents, counters[0]?.consumed])).toEqual([
      [2, 11],
      [1, 5],
    ]);
  });
});

describe('a throttled bucket', () => {
  it.each([
    ['UpdateItem', undefined],
    ['TransactWriteItems', randomUUID()],
  ])(
    '(%s) is not resharded, because it is not hot itself, and grants no more than there is',
    async (operation, requestId) => {
      const entityId = await newEntity(640);
      proxy.inject({ operation, table: 'limiter', fault: 'throttle', nth: { first: 2 } });
      const { acquire } = await retryUntilKnown(app.admin, op.AcquireDocument, {
        input: inputOf(entityId, 10, requestId ? { requestId } : {}),
      });
      expect(acquire.__typename).toBe('Lease');
      expect(await storedBucket(entityId)).toMatchObject({ shardCount: 1, totalConsumed: 11 });

      let granted = 11;
      for (let i = 0; i < 5; i++) {
        const responses = await Promise.all(
          Array.from({ length: 30 }, (_, at) =>
            (at % 2 ? app : direct).admin.send(op.AcquireDocument, { input: inputOf(entityId, 5) }),
          ),
        );
        for (const { data } of responses) if (data?.acquire.__typename === 'Lease') granted += 5;
      }
      expect(granted).toBeLessThanOrEqual(640);
      expect(await taken(entityId)).toBe(granted);
    },
  );

  it('responds to every acquire of two gateways under load and grants no more than there is', async () => {
    const entityId = await newEntity(400);
    const rules = [2, 3, 5, 7, 11].map((nth) =>
      proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'throttle', nth }),
    );
    let granted = 1;
    // Enough that each round writes, however many of its acquires share a write, and not enough for all.
    for (let i = 0; i < 10; i++) {
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          (at % 2 ? app : direct).admin.send(op.AcquireDocument, { input: inputOf(entityId, 1) }),
        ),
      );
      for (const { data } of responses) if (data?.acquire.__typename === 'Lease') granted += 1;
    }
    expect(rules.map(({ hits }) => hits)).toEqual([1, 1, 1, 1, 1]);
    expect(granted).toBeLessThanOrEqual(400);
    const { shardCount, totalConsumed, available } = await storedBucket(entityId);
    expect(shardCount).toBe(1);
    expect(totalConsumed).toBe(granted);
    expect(totalConsumed + available).toBeLessThanOrEqual(400);
  });
});

describe('a throttled table', () => {
  it('does not double any bucket, however many are throttled and however often', async () => {
    const entityIds = await Promise.all(Array.from({ length: 10 }, () => newEntity(640)));
    const rule = proxy.inject({ table: 'limiter', fault: 'throttle' });
    for (let i = 0; i < 3; i++)
      await Promise.all(
        entityIds.map((entityId) => app.admin.send(op.AcquireDocument, { input: inputOf(entityId, 1) })),
      );
    expect(rule.hits).toBeGreaterThan(10);
    proxy.clear();
    for (const entityId of entityIds) {
      await retryUntilKnown(app.admin, op.AcquireDocument, { input: inputOf(entityId, 1) });
      expect(await storedBucket(entityId)).toMatchObject({ shardCount: 1, totalConsumed: 2, available: 638 });
    }
  });
});

describe('a conflict with another transaction', () => {
  it.each([
    ['UpdateItem', undefined],
    ['TransactWriteItems', randomUUID()],
  ])('(%s) is retried and never reported as unavailable', async (operation, requestId) => {
    const entityId = await newEntity();
    const rule = proxy.inject({ operation, table: 'limiter', fault: 'conflict', nth: { first: 4 } });
    const { data, errors } = await app.admin.send(op.AcquireDocument, {
      input: inputOf(entityId, 10, requestId ? { requestId } : {}),
    });
    expect([data?.acquire.__typename, errors]).toEqual(['Lease', undefined]);
    expect(rule.hits).toBe(4);
    expect(await taken(entityId)).toBe(11);
  });
});

describe('a cascading acquire with a failed write', () => {
  async function newPair(): Promise<[child: string, parent: string]> {
    const [child, parent] = [`c-${randomUUID()}`, `p-${randomUUID()}`];
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: parent } });
    await app.admin.ask(op.CreateEntityDocument, {
      input: { orgId, entityId: child, parentId: parent, cascade: true },
    });
    await setLimits(child, 100);
    await setLimits(parent, 100);
    await take(child, 1);
    return [child, parent];
  }

  it.each([1, 2])('(number %i of two) gives the other take back before it responds', async (nth) => {
    const [child, parent] = await newPair();
    const rule = proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'error-before', nth });
    const { errors } = await app.admin.send(op.AcquireDocument, { input: inputOf(child, 10) });
    expect(errors?.[0]?.extensions).toMatchObject(unavailable);
    expect(rule.hits).toBe(1);
    expect([await taken(child), await taken(parent)]).toEqual([1, 1]);
    expect([await eventsOf(child), await eventsOf(parent)]).toEqual([1, 1]);
    await take(child, 99);
    expect([await taken(child), await taken(parent)]).toEqual([100, 100]);
  });

  it.each([1, 2])('(number %i of two, its response lost) loses at most that one take', async (nth) => {
    const [child, parent] = await newPair();
    proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'drop-reply', nth });
    const { errors } = await app.admin.send(op.AcquireDocument, { input: inputOf(child, 10) });
    expect(errors?.[0]?.extensions).toMatchObject(unavailable);
    expect([await taken(child), await taken(parent)].sort()).toEqual([1, 11]);
  });

  it('gives the child back if the parent refuses; if that fails, the tokens are lost, not granted twice', async () => {
    const [child, parent] = await newPair();
    await take(parent, 95);
    const refused = async () => {
      const { acquire } = await app.admin.ask(op.AcquireDocument, { input: inputOf(child, 10) });
      expect(acquire).toMatchObject({ __typename: 'RateLimited', violations: [{ entityId: parent }] });
    };
    await refused();
    expect([await taken(child), await taken(parent)]).toEqual([1, 96]);
    await sleep(1100); // longer than a refusal is cached
    const writes = proxy.inject({ operation: 'UpdateItem', table: 'limiter', fault: 'error-before', nth: 3 });
    await refused();
    expect(writes.hits).toBe(1);
    expect([await taken(child), await taken(parent)]).toEqual([11, 96]);
  });
});

describe('during an outage of the database', () => {
  it('fails with BLOCK, grants valid acquires without taking with ALLOW, and recovers within 10 s', async () => {
    const { orgId: allowing } = await newTenant(app, {}, []);
    await app.admin.ask(op.SetLimitsDocument, {
      input: { orgId: allowing, level: 'SYSTEM', limits: [slowRefill(1000)], onUnavailable: 'ALLOW' },
    });
    // Until the gateway has polled this change, the limits that it caches are stale, and nothing is validated by them.
    await app.gateway.services.changes.refresh();
    const blocked = await newEntity();
    const open = { ...inputOf('open', 1), orgId: allowing };
    await app.admin.ask(op.AcquireDocument, { input: open });
    const { acquire: held } = await app.admin.ask(op.AcquireDocument, { input: open });
    if (held.__typename !== 'Lease') throw new Error('refused');

    proxy.inject({ fault: 'refuse' });
    const degraded: string[] = [];
    const invalid: op.AcquireInput[] = [
      { ...open, consume: [{ limit: 'tokens', amount: -1 }] },
      { ...open, entityId: 'no good' },
      { ...open, resource: '' },
      { ...open, consume: [] },
      // Validated against the cached limits, however old they are.
      { ...open, consume: [{ limit: 'none', amount: 1 }] },
      { ...open, consume: [{ limit: 'tokens', amount: 1001 }] },
    ];
    for (const startedMs = performance.now(); performance.now() - startedMs < 8000; await sleep(200)) {
      const [block, allow, once, anonymous, ...errors] = await Promise.all([
        app.admin.send(op.AcquireDocument, { input: inputOf(blocked, 1) }),
        app.admin.ask(op.AcquireDocument, { input: open }),
        app.admin.ask(op.AcquireDocument, { input: { ...open, requestId: randomUUID() } }),
        app.anonymous.codeOf(op.AcquireDocument, { input: open }),
        ...invalid.map((input) => app.admin.codeOf(op.AcquireDocument, { input })),
      ]);
      expect(block.errors?.[0]?.extensions).toMatchObject(unavailable);
      expect(anonymous).toBe('UNAUTHENTICATED');
      expect(errors).toEqual(invalid.map(() => 'BAD_USER_INPUT'));
      for (const { acquire } of [allow, once]) {
        if (acquire.__typename !== 'Lease') throw new Error('refused');
        expect(acquire).toMatchObject({ degraded: true, replayed: false, statuses: [] });
        degraded.push(acquire.leaseId);
      }
    }
    const adjustOf = (leaseId: string) => ({
      input: { leaseId, adjust: [{ limit: 'tokens', amount: 50 }], idempotencyKey: randomUUID() },
    });
    const settle = async (leaseId: string) => {
      expect((await app.admin.ask(op.AdjustLeaseDocument, adjustOf(leaseId))).adjustLease).toEqual({
        leaseId,
        replayed: false,
        statuses: [],
        unknown: [],
      });
      expect((await app.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease).toEqual({
        leaseId,
        replayed: false,
        statuses: [],
        unknown: [],
      });
    };
    await settle(degraded[0] as string);
    // A lease that holds tokens is not exempt.
    expect(
      (await app.admin.send(op.AdjustLeaseDocument, adjustOf(held.leaseId))).errors?.[0]?.extensions,
    ).toMatchObject(unavailable);

    proxy.clear();
    await untilWell(10_000, async () => {
      await take(blocked, 1);
      const { acquire } = await app.admin.ask(op.AcquireDocument, { input: open });
      expect(acquire).toMatchObject({ __typename: 'Lease', degraded: false });
    });
    for (const leaseId of degraded) await settle(leaseId);
    const { acquire } = await app.admin.ask(op.AcquireDocument, { input: open });
    const left = acquire.statuses[0]?.available as number;
    // Three to five tokens were really taken, and none by the dozens of degraded leases.
    expect(left).toBeGreaterThanOrEqual(990);
  });
});
