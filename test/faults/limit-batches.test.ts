import { randomUUID } from 'node:crypto';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { frozenNoon } from '../support/clock.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { newTenant } from '../worker/costs.js';

// Takes from many buckets at once, which share calls, while parts of these calls fail.

const clock = frozenNoon();
const resource = 'api';
const capacity = 20;
let proxy: FaultProxy;
let app: TestApp;
/** Bypasses the proxy. Its writes make what `app` has cached stale, so that conditions fail. */
let direct: TestApp;
let orgId: string;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({
    endpoint: proxy.endpoint,
    clock,
    isPatient: true,
    config: { principalRps: 0, principalConcurrency: 0 },
  });
  direct = await app.another({ store: { ...app.config.store, endpoint: testEndpoint() } });
  ({ orgId } = await newTenant(app, {}, []));
  // Names with other characters than letters must share calls too.
  const limits = ['tokens-per.minute', 'requests'].map((name) => ({
    name,
    capacity,
    refillAmount: 1,
    refillPeriodSecs: 10_000_000,
  }));
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'RESOURCE', resource, limits } });
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await direct.stop();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const consume = [
  { limit: 'tokens-per.minute', amount: 1 },
  { limit: 'requests', amount: 1 },
];
type Outcome = 'granted' | 'refused' | 'unknown' | 'not taken';

async function take(entityId: string, via = app): Promise<Outcome> {
  const { data, errors } = await via.admin.send(op.AcquireDocument, { input: { orgId, entityId, resource, consume } });
  if (!errors) return data?.acquire.__typename === 'Lease' ? 'granted' : 'refused';
  expect(errors[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
  return errors[0]?.message.includes('may or may not') ? 'unknown' : 'not taken';
}

/** Entities whose buckets `app` has cached; one token is taken from each. */
async function newEntities(count: number): Promise<string[]> {
  const entities = Array.from({ length: count }, () => `e-${randomUUID()}`);
  expect(await Promise.all(entities.map((entityId) => take(entityId)))).toEqual(entities.map(() => 'granted'));
  return entities;
}

const batches = () => proxy.calls.filter(({ operation }) => operation === 'BatchExecuteStatement');
const sizes = () => batches().map(({ body }) => (body.Statements as unknown[]).length);

async function stored(entityId: string) {
  const { org } = await direct.admin.ask(op.BucketOfDocument, { orgId, entityId, resource });
  return (org?.entity?.bucket?.limits ?? []).map(({ available, totalConsumed }) => [available, totalConsumed]);
}
const eventsOf = async (entityId: string) =>
  (await direct.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'HOURLY', resource })).org?.entity?.usage
    .nodes[0]?.totalEvents;

describe('acquires on many buckets at once', () => {
  it('share calls, each with its own outcome', async () => {
    const entities = await newEntities(30);
    // Two of them are empty, and the gateway does not know.
    const [empty, full] = [entities.slice(0, 2), entities.slice(2)];
    for (const entityId of empty)
      for (let i = 1; i < capacity; i++) expect(await take(entityId, direct)).toBe('granted');
    proxy.clear();
    const outcomes = await Promise.all(entities.map((entityId) => take(entityId)));
    expect(outcomes).toEqual([...empty.map(() => 'refused'), ...full.map(() => 'granted')]);
    expect(batches().length).toBeGreaterThan(0);
    expect(Math.max(...sizes())).toBeLessThanOrEqual(25);
    for (const entityId of full)
      expect(await stored(entityId)).toEqual([
        [18, 2],
        [18, 2],
      ]);
    for (const entityId of empty)
      expect(await stored(entityId)).toEqual([
        [0, capacity],
        [0, capacity],
      ]);
  });

  it('do not share a call if there are only two', async () => {
    const entities = await newEntities(2);
    proxy.clear();
    await Promise.all(entities.map((entityId) => take(entityId)));
    expect(batches()).toEqual([]);
  });

  it.each<Fault>(['partial-statements', 'drop-reply', 'error-before', 'throttle', 'conflict'])(
    'grant no token twice and lose none that was granted after %s',
    async (fault) => {
      const entities = await newEntities(18);
      const [empty, ...rest] = entities as [string, ...string[]];
      for (let i = 1; i < capacity; i++) await take(empty, direct);
      const rule = proxy.inject({ operation: 'BatchExecuteStatement', table: 'limiter', fault, nth: { first: 2 } });
      const granted = new Map(entities.map((entityId) => [entityId, entityId === empty ? capacity : 1]));
      const unknown = new Map<string, number>();
      for (let round = 0; round < 2; round++)
        await Promise.all(
          entities.map(async (entityId) => {
            const outcome = await take(entityId);
            if (outcome === 'granted') granted.set(entityId, (granted.get(entityId) ?? 0) + 1);
            if (outcome === 'unknown') unknown.set(entityId, (unknown.get(entityId) ?? 0) + 1);
            if (entityId === empty) expect(['refused', 'unknown', 'not taken']).toContain(outcome);
          }),
        );
      expect(rule.hits).toBeGreaterThan(0);
      for (const entityId of rest) {
        const [least, doubtful] = [granted.get(entityId) as number, unknown.get(entityId) ?? 0];
        const [[available, consumed] = [], second] = (await stored(entityId)) as [number[], number[]];
        expect(consumed).toBeGreaterThanOrEqual(least);
        expect(consumed).toBeLessThanOrEqual(least + doubtful);
        // What is consumed is exactly what is gone, of both limits, and each take is counted once.
        expect([available, second]).toEqual([capacity - (consumed as number), [available, consumed]]);
        expect(await eventsOf(entityId)).toBe(consumed);
      }
      expect(await stored(empty)).toEqual([
        [0, capacity],
        [0, capacity],
      ]);
    },
  );

  it('send smaller batches while a batch takes long', async () => {
    const entities = await newEntities(60);
    const round = () => Promise.all(entities.map((entityId) => take(entityId)));
    // Until the batches are large.
    for (let i = 0; i < 6; i++) {
      proxy.clear();
      await round();
    }
    const before = Math.max(...sizes());
    proxy.inject({ operation: 'BatchExecuteStatement', fault: 'slow', ms: 600 });
    await round();
    await round();
    proxy.clear();
    await round();
    expect(Math.max(0, ...sizes().slice(0, 3))).toBeLessThan(before);
  });
});
