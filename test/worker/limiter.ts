import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import type { Item, Key } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { type BucketId, shardKey } from '../../src/limits/limiter-keys.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { deniedBy } from '../support/policy.js';
import { dayMs, hourMs, newTenant, noonClock } from './costs.js';

export const clock = noonClock();
export const resource = 'api';
/** A gateway, a fault proxy for the workers, and the org of the current test. `useLimiter` sets them. */
export let proxy: FaultProxy;
export let app: TestApp;
export let orgId: string;
export let namespace: string;
const workers: Background[] = [];

/** A worker with its own caches, through the proxy. */
export function newWorker(endpoint = proxy.endpoint): Background {
  const worker = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint } },
    { clock, log: silentLog },
  );
  workers.push(worker);
  return worker;
}

/** Registers the hooks of a test file. Each test has a new org; the buckets that earlier tests left are tidied. */
export function useLimiter(): void {
  beforeAll(async () => {
    proxy = await startFaultProxy(testEndpoint());
    app = await startTestApp({ clock });
  });
  beforeEach(async () => {
    clock.advance(dayMs);
    await newWorker().limits.tidyBuckets();
    ({ orgId } = await newTenant(app, {}, []));
    namespace = await app.gateway.services.namespaces.of(orgId);
    proxy.clear();
  });
  afterEach(() => {
    const { calls } = proxy;
    proxy.clear();
    for (const worker of workers.splice(0)) worker.close();
    expect(deniedBy('WorkerPolicy', calls)).toEqual([]);
  });
  afterAll(async () => {
    await app.stop();
    app.tableAdmin.client.destroy();
    await proxy.stop();
  });
}

export const newId = (): BucketId => ({ namespace, entityId: `e-${randomUUID()}`, resource });
export const limit = (capacity: number, refillPeriodSecs = 60): op.LimitInput => ({
  name: 'tokens',
  capacity,
  refillPeriodSecs,
});
export const setLimits = (...limits: op.LimitInput[]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'RESOURCE', resource, limits } });
export const acquire = async ({ entityId }: BucketId, amount = 1) =>
  (
    await app.admin.ask(op.AcquireDocument, {
      input: { orgId, entityId, resource, consume: [{ limit: 'tokens', amount }] },
    })
  ).acquire;

export async function take(id: BucketId, amount = 1): Promise<string> {
  const acquired = await acquire(id, amount);
  if (acquired.__typename !== 'Lease') throw new Error(`refused: ${acquired.message}`);
  return acquired.leaseId;
}

export const adjust = (leaseId: string, amount: number) =>
  app.admin.ask(op.AdjustLeaseDocument, {
    input: { leaseId, adjust: [{ limit: 'tokens', amount }], idempotencyKey: randomUUID() },
  });
export const release = (leaseId: string) => app.admin.ask(op.ReleaseLeaseDocument, { leaseId });
export const availableOf = async ({ entityId }: BucketId) =>
  (await app.admin.ask(op.AvailabilityDocument, { orgId, entityId, resource })).availability.statuses[0]
    ?.available as number;
export const usageOf = async ({ entityId }: BucketId) =>
  (
    (await app.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'HOURLY', resource })).org?.entity?.usage
      .nodes ?? []
  ).map(({ windowStart, totalEvents, counters }) => [windowStart, totalEvents, counters[0]?.consumed]);
export const hourNow = () => new Date(Math.floor(clock.nowMs() / hourMs) * hourMs).toISOString();

/** All limiter items whose partition key begins with the prefix. */
export async function items(prefix: string): Promise<Item[]> {
  const found: Item[] = [];
  let after: Key | undefined;
  do {
    const page = await app.gateway.services.store.scan('limiter', after);
    found.push(...page.items.filter(({ PK }) => (PK as string).startsWith(prefix)));
    after = page.next;
  } while (after);
  return found.sort((a, b) => (`${a.PK}${a.SK}` < `${b.PK}${b.SK}` ? -1 : 1));
}
export const shardsOf = ({ entityId }: BucketId) => items(`${namespace}/BUCKET#${entityId}#`);
export const booked = async ({ entityId }: BucketId) =>
  (await items(`${namespace}/ENTITY#${entityId}`))
    .filter(({ SK }) => (SK as string).startsWith('#USAGE#'))
    .map((item) => [item.events, item.u_tokens]);
export const ttlMs = async (id: BucketId): Promise<number | undefined> => {
  const item = await app.gateway.services.store.get('limiter', shardKey({ ...id, shard: 0 }), { consistent: true });
  return typeof item?.ttl === 'number' ? item.ttl * 1000 : undefined;
};

/** The bucket of an entity that was created. */
export async function newCreated(): Promise<BucketId> {
  const id = newId();
  await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: id.entityId } });
  return id;
}

export async function double(id: BucketId, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect(await app.gateway.services.buckets.double(id)).toBe(true);
}
