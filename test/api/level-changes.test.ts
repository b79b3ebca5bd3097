import { jest } from '@jest/globals';
import { AuditService } from '../../src/audit/audit.service.js';
import { ChangeService } from '../../src/changes/change.service.js';
import { ChangeStore, changeKey, changeSlotOf, countersPerSlot } from '../../src/changes/change.store.js';
import { LimitConfigService } from '../../src/limits/levels/limit-config.service.js';
import { LimitConfigStore } from '../../src/limits/levels/limit-config.store.js';
import { maxCachedMs } from '../../src/limits/levels/resolution.service.js';
import { configKey } from '../../src/limits/limiter-keys.js';
import type { TakeService } from '../../src/limits/take.service.js';
import { orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

/** After five seconds without a poll, a gateway reads the change counter before it serves the next request. */
const expireChangeCounter = () => app.clock.age(5001);

const rpm = (capacity: number) => [{ name: 'rpm', capacity, refillAmount: 1, refillPeriodSecs: 10_000_000 }];

async function newOrgId(limits: op.LimitInput[] = rpm(100)): Promise<string> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  await setLimits({ orgId, level: 'SYSTEM', limits });
  return orgId;
}

const setLimits = async (input: op.SetLimitsInput, on = app) =>
  (await on.admin.ask(op.SetLimitsDocument, { input })).setLimits;
const deleteLimits = async (input: op.DeleteLimitsInput, on = app) =>
  (await on.admin.ask(op.DeleteLimitsDocument, { input })).deleteLimits;
const create = (orgId: string, entityId: string, more: Partial<op.CreateEntityInput> = {}) =>
  app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, ...more } });

/** The entities that an acquire takes from, with the capacity of their limit. */
async function capacities(orgId: string, entityId: string, on: TestApp): Promise<Record<string, number>> {
  const input = { orgId, entityId, resource: 'api', consume: [{ limit: 'rpm', amount: 0 }] };
  const { acquire } = await on.admin.ask(op.AcquireDocument, { input });
  return Object.fromEntries(acquire.statuses.map((status) => [status.entityId, status.limit.capacity]));
}

const resolved = async (orgId: string, entityId: string) => {
  const { resolution, namespaces } = app.gateway.services;
  return resolution.resolve({ orgId, namespace: await namespaces.of(orgId), entityId, resource: 'api' });
};
const levelsOf = async (orgId: string, entityId: string) => (await resolved(orgId, entityId)).levels;

const places = [
  { level: 'SYSTEM' },
  { level: 'RESOURCE', resource: 'api' },
  { level: 'ENTITY_DEFAULT', entityId: 'user-1' },
  { level: 'ENTITY', entityId: 'user-1', resource: 'api' },
] as const;

describe('a change through one gateway takes effect on another as soon as that has polled it', () => {
  it.each(places)('for limits of level $level: first set, changed, deleted and set again', async (place) => {
    const orgId = await newOrgId();
    for (const capacity of [50, 5, undefined, 70]) {
      await capacities(orgId, 'user-1', other);
      if (capacity) await setLimits({ orgId, ...place, limits: rpm(capacity) });
      else await deleteLimits({ orgId, ...place });
      if (!capacity && place.level === 'SYSTEM') continue;
      // The bucket is used only through the other gateway, so that gateway cannot see the change in the bucket.
      expect((await resolved(orgId, 'user-1')).set?.limits[0]?.capacity).toBe(capacity ?? 100);
      expireChangeCounter();
      expect(await capacities(orgId, 'user-1', other)).toEqual({ 'user-1': capacity ?? 100 });
      await capacities(orgId, 'user-2', app);
    }
  });

  it('for the parent and cascade of an entity, and for created and deleted entities', async () => {
    const orgId = await newOrgId();
    for (const [i, parent] of ['red', 'blue'].entries()) {
      await create(orgId, parent);
      await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: parent, limits: rpm(1000 + i) });
    }
    expect(await capacities(orgId, 'user-1', other)).toEqual({ 'user-1': 100 });
    const update = (input: Omit<op.UpdateEntityInput, 'orgId' | 'entityId'>) =>
      app.admin.ask(op.UpdateEntityDocument, { input: { orgId, entityId: 'user-1', ...input } });
    const steps: [() => Promise<unknown>, Record<string, number>][] = [
      [() => create(orgId, 'user-1', { parentId: 'red', cascade: true }), { 'user-1': 100, red: 1000 }],
      [() => update({ parentId: 'blue' }), { 'user-1': 100, blue: 1001 }],
      [() => update({ cascade: false }), { 'user-1': 100 }],
      [() => update({ cascade: true }), { 'user-1': 100, blue: 1001 }],
      [
        () => setLimits({ orgId, level: 'ENTITY', entityId: 'blue', resource: 'api', limits: rpm(7) }),
        { 'user-1': 100, blue: 7 },
      ],
      [() => app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: 'blue' }), { 'user-1': 100 }],
      [() => create(orgId, 'blue'), { 'user-1': 100, blue: 100 }],
      [() => update({ parentId: null }), { 'user-1': 100 }],
    ];
    for (const [change, expected] of steps) {
      await change();
      expect(await capacities(orgId, 'user-1', app)).toEqual(expected);
      expireChangeCounter();
      expect(await capacities(orgId, 'user-1', other)).toEqual(expected);
    }
  });

  it('without a new version of the session caches', async () => {
    const orgId = await newOrgId();
    expireChangeCounter();
    await capacities(orgId, 'user-1', other);
    const before = other.gateway.services.changeFeed.current();
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(5) });
    expireChangeCounter();
    expect(await capacities(orgId, 'user-1', other)).toEqual({ 'user-1': 5 });
    expect(other.gateway.services.changeFeed.current()).toBe(before);
  });
});

describe('the caches of limits', () => {
  it('use an entry for at most an hour, even as a part of a newer path', async () => {
    const orgId = await newOrgId();
    const { store, namespaces } = app.gateway.services;
    expireChangeCounter();
    expect(await capacities(orgId, 'user-1', app)).toEqual({ 'user-1': 100 });
    // A change without a change counter.
    const key = configKey(await namespaces.of(orgId), { level: 'SYSTEM' });
    await store.write({ table: 'limiter', update: key, set: { l_rpm_cp: 5, l_rpm_bx: 5 } }, { repeat: 'idempotent' });
    app.clock.age(maxCachedMs - 60_000);
    expect(await capacities(orgId, 'user-1', app)).toEqual({ 'user-1': 100 });
    expect(await capacities(orgId, 'user-2', app)).toEqual({ 'user-2': 100 });
    app.clock.age(120_000);
    expect(await capacities(orgId, 'user-2', app)).toEqual({ 'user-2': 5 });
    expect(await capacities(orgId, 'user-1', app)).toEqual({ 'user-1': 5 });
  });

  it('never keep a value that was read during a change', async () => {
    const orgId = await newOrgId();
    for (let capacity = 1; capacity <= 20; capacity++) {
      const [, ...seen] = await Promise.all([
        setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(capacity) }),
        ...Array.from({ length: 5 }, () => capacities(orgId, 'user-1', app)),
      ]);
      for (const { 'user-1': found } of seen) expect([capacity - 1 || 100, capacity]).toContain(found);
      expect(await capacities(orgId, 'user-1', app)).toEqual({ 'user-1': capacity });
    }
  });
});

describe('the version of a level', () => {
  it.each(places)('never decreases at level $level, and a deleted level is not visible', async (place) => {
    const orgId = await newOrgId();
    const at = 3 - places.indexOf(place);
    const first = place.level === 'SYSTEM' ? 2 : 1;
    expect((await setLimits({ orgId, ...place, limits: rpm(7) })).version).toBe(first);
    expect((await levelsOf(orgId, 'user-1'))[at]).toBe(first);
    expect([await deleteLimits({ orgId, ...place }), await deleteLimits({ orgId, ...place })]).toEqual([true, false]);
    expect((await levelsOf(orgId, 'user-1'))[at]).toBe(first + 1);
    expect((await app.admin.ask(op.LimitConfigOfDocument, { orgId, ...place })).org?.limitConfig).toBeNull();
    const listed = (await app.admin.ask(op.LimitConfigsDocument, { orgId })).org?.limitConfigs;
    expect(listed?.map(({ level }) => level)).toEqual(place.level === 'SYSTEM' ? [] : ['SYSTEM']);
    expect(
      (await app.admin.ask(op.EntitiesWithLimitsDocument, { orgId, resource: 'api' })).org?.entitiesWithLimits.nodes,
    ).toEqual([]);
    expect((await app.admin.ask(op.EntityOfDocument, { orgId, entityId: 'user-1' })).org?.entity).toBeNull();
    expect((await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId: 'user-1' })).deleteEntity).toBe(false);
    expect((await setLimits({ orgId, ...place, limits: rpm(8) }, other)).version).toBe(first + 2);
    expireChangeCounter();
    expect(await capacities(orgId, 'user-1', app)).toEqual({ 'user-1': 8 });
    expect((await levelsOf(orgId, 'user-1'))[at]).toBe(first + 2);
  });

  it('is 0 if nothing was ever set', async () => {
    expect(await levelsOf(await newOrgId(), 'user-1')).toEqual([0, 0, 0, 1]);
  });
});

it('restamps the bucket of an entity after its limits are set or deleted, and tolerates a failure', async () => {
  const orgId = await newOrgId();
  const { store, namespaces, changeFeed, auditStore, clock, pendingWrites, log } = app.gateway.services;
  const audit = new AuditService({ store: auditStore, clock, retentionDays: 1, pending: pendingWrites });
  const restamp = jest.fn<TakeService['restamp']>();
  const warn = jest.fn();
  const configs = new LimitConfigService({
    store: new LimitConfigStore(store),
    namespaces,
    changes: new ChangeService(new ChangeStore(store), changeFeed),
    audit,
    log: { ...log, warn } as typeof log,
    buckets: { restamp },
  });
  const actor = { name: 'test', address: '::1', requestId: 'r' };
  restamp.mockImplementation(async () => {
    // Called only after the limits are stored.
    expect((await app.admin.ask(op.LimitConfigOfDocument, { orgId, ...places[3] })).org?.limitConfig).toMatchObject({
      version: 1,
    });
  });
  for (const place of places) await configs.set(orgId, { ...place, limits: rpm(3) }, actor);
  expect(restamp.mock.calls).toEqual([
    [{ orgId, namespace: await namespaces.of(orgId), entityId: 'user-1', resource: 'api' }],
  ]);
  restamp.mockRejectedValue(new Error('unavailable'));
  for (const place of places) expect(await configs.delete(orgId, place, actor)).toBe(true);
  expect(await configs.delete(orgId, places[3], actor)).toBe(false);
  expect(restamp).toHaveBeenCalledTimes(2);
  expect(warn).toHaveBeenCalledTimes(1);
});

it('keeps an item with all change counters below 1 KB', async () => {
  const orgId = await newOrgId();
  const { store } = app.gateway.services;
  const key = changeKey(changeSlotOf(orgId));
  const stored = (await store.get('config', key, { consistent: true })) ?? {};
  expect(Object.keys(stored).some((name) => /^c\d+$/.test(name))).toBe(true);
  const counters = Object.fromEntries(Array.from({ length: countersPerSlot }, (_, i) => [`c${i}`, 9_999_999_999]));
  const full = {
    ...counters,
    version: 9_999_999_999,
    purges: 9_999_999_999,
    changed_by: orgId,
    last_purged: orgId,
    ...key,
  };
  // DynamoDB counts the bytes of names and texts, and for a number two digits per byte plus one.
  const sizeOf = (value: unknown) =>
    typeof value === 'number' ? Math.ceil(String(value).length / 2) + 1 : String(value).length;
  expect(Object.entries(full).reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0)).toBeLessThan(1024);
  expect(Object.keys(full)).toEqual(expect.arrayContaining(Object.keys(stored)));
});
