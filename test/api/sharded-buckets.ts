import { randomUUID } from 'node:crypto';
import type { Item } from '../../src/dynamo/client.js';
import { silentLog } from '../../src/lib/log.js';
import { BucketRegistry } from '../../src/limits/buckets/bucket.registry.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { completeLimit, limitSet } from '../../src/limits/limit.js';
import type { BucketId } from '../../src/limits/limiter-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { frozenNoon, stoppedClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { newTenant } from '../worker/costs.js';

export const clock = frozenNoon();
export let app: TestApp;
/** A second gateway with its own cache. */
export let other: TestApp;
export let orgId: string;
let namespace: string;

/** Starts two gateways for the tests of a file. Call it once at the top level of the file. */
export function useTwoGateways(): void {
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
}

export const resource = 'api';
export const minuteMs = 60_000;
export const newId = (): BucketId => ({ namespace, entityId: `e-${randomUUID()}`, resource });
/** A limit with this many tokens per minute and the same burst. */
export const perMinute = (capacity: number, name = 'tokens'): op.LimitInput => ({
  name,
  capacity,
  refillPeriodSecs: 60,
});
export const setLimits = (entityId: string, ...limits: op.LimitInput[]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'ENTITY', entityId, resource, limits } });

export type Acquired = NonNullable<op.AcquireMutation['acquire']>;
export const acquire = async (
  { entityId }: BucketId,
  amount: number,
  { via = app, limit = 'tokens', ...rest }: { via?: TestApp; limit?: string; requestId?: string } = {},
) =>
  (
    await via.admin.ask(op.AcquireDocument, {
      input: { orgId, entityId, resource, consume: [{ limit, amount }], ...rest },
    })
  ).acquire;

export function granted(acquired: Acquired): Extract<Acquired, { __typename: 'Lease' }> {
  if (acquired.__typename !== 'Lease') throw new Error(`refused: ${acquired.message}`);
  return acquired;
}

export function refused(acquired: Acquired): Extract<Acquired, { __typename: 'RateLimited' }> {
  if (acquired.__typename !== 'RateLimited') throw new Error('granted, but must be refused');
  return acquired;
}

export const take = async (...args: Parameters<typeof acquire>) => granted(await acquire(...args));
export const adjust = async (leaseId: string, amount: number, via = app) =>
  (
    await via.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'tokens', amount }], idempotencyKey: randomUUID() },
    })
  ).adjustLease;
export const release = async (leaseId: string, via = app) =>
  (await via.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;

export const bucketOf = async ({ entityId }: BucketId, via = app) =>
  (await via.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity
    ?.bucket as op.BucketFieldsFragment;
export async function stateOf(
  id: BucketId,
  via = app,
): Promise<{ readonly shardCount: number; readonly available: number; readonly totalConsumed: number }> {
  const { shardCount, limits } = await bucketOf(id, via);
  const { available = Number.NaN, totalConsumed = Number.NaN } =
    limits.find(({ limit }) => limit.name === 'tokens') ?? {};
  return { shardCount, available, totalConsumed };
}
export const availableOf = async (id: BucketId, via = app) => (await stateOf(id, via)).available;
export const double = (id: BucketId, via = app) => via.gateway.services.buckets.double(id);
export const halve = (id: BucketId, via = app) => via.gateway.services.buckets.halve(id);
export const itemsOf = async ({ entityId }: BucketId): Promise<Item[]> =>
  (await app.gateway.services.store.scan('limiter')).items.filter(({ PK }) =>
    (PK as string).startsWith(`${namespace}/BUCKET#${entityId}#`),
  );

/** A bucket of n shards, all full. */
export async function newBucket(capacity: number, shardCount: number): Promise<BucketId> {
  const id = newId();
  await setLimits(id.entityId, perMinute(capacity));
  await take(id, 0);
  for (let count = 1; count < shardCount; count *= 2) expect(await double(id)).toBe(true);
  clock.advance(minuteMs);
  expect(await stateOf(id)).toMatchObject({ shardCount, available: capacity });
  return id;
}

export const cachedShardCount = (buckets: BucketRegistry, id: BucketId): number =>
  buckets.cachedShards(id)[0]?.shardCount ?? 1;

/** A bucket with its own registry and its own clock. `poll` takes an amount from it. */
export async function newPolled(capacity: number) {
  const hand = stoppedClock(clock.nowMs());
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
