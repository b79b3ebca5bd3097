import { jest } from '@jest/globals';
import { AuditService } from '../../src/audit/audit.service.js';
import { ChangeService } from '../../src/changes/change.service.js';
import { ChangeStore, changeKey, changeSlotOf, countersPerSlot } from '../../src/changes/change.store.js';
import { type ChangedBuckets, LimitConfigService } from '../../src/limits/levels/limit-config.service.js';
import { LimitConfigStore } from '../../src/limits/levels/limit-config.store.js';
import { maxCachedMs } from '../../src/limits/levels/resolution.service.js';
import { configKey } from '../../src/limits/limiter-keys.js';
import { orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

/** A gateway serves nobody until it has heard of the changes of the last five seconds. Callers wait for that. */
const hearOfChanges = () => app.clock.age(5001);

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

/** Whom an acquire takes from, and under which capacity. */
async function taken(orgId: string, entityId: string, on: TestApp): Promise<Record<string, number>> {
  const input = { orgId, entityId, resource: 'api', consume: [{ limit: 'rpm', amount: 0 }] };
  const { acquire } = await on.admin.ask(op.AcquireDocument, { input });
  return Object.fromEntries(acquire.statuses.map((status) => [status.entityId, status.limit.capacity]));
}

const resolved = async (orgId: string, entityId: string) => {
  const { resolution, namespaces } = app.gateway.services;
  return resolution.resolve(orgId, await namespaces.of(orgId), entityId, 'api');
};
const levelsOf = async (orgId: string, entityId: string) => (await resolved(orgId, entityId)).levels;

const places = [
  { level: 'SYSTEM' },
  { level: 'RESOURCE', resource: 'api' },
  { level: 'ENTITY_DEFAULT', entityId: 'user-1' },
  { level: 'ENTITY', entityId: 'user-1', resource: 'api' },
] as const;

describe('a change through one gateway holds on another as soon as that has heard of it', () => {
  it.each(places)('of limits at level $level: first set, changed, deleted and set again', async (place) => {
    const orgId = await newOrgId();
    for (const capacity of [50, 5, undefined, 70]) {
      await taken(orgId, 'user-1', other);
      if (capacity) await setLimits({ orgId, ...place, limits: rpm(capacity) });
      else await deleteLimits({ orgId, ...place });
      if (!capacity && place.level === 'SYSTEM') continue;
      // The bucket is used through the other gateway alone: it cannot learn of the change from the bucket.
      expect((await resolved(orgId, 'user-1')).set?.limits[0]?.capacity).toBe(capacity ?? 100);
      hearOfChanges();
      expect(await taken(orgId, 'user-1', other)).toEqual({ 'user-1': capacity ?? 100 });
      await taken(orgId, 'user-2', app);
    }
  });

  it('of a parent and of cascade, and of entities that are created and deleted', async () => {
    const orgId = await newOrgId();
    for (const [i, parent] of ['red', 'blue'].entries()) {
      await create(orgId, parent);
      await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: parent, limits: rpm(1000 + i) });
    }
    expect(await taken(orgId, 'user-1', other)).toEqual({ 'user-1': 100 });
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
      expect(await taken(orgId, 'user-1', app)).toEqual(expected);
      hearOfChanges();
      expect(await taken(orgId, 'user-1', other)).toEqual(expected);
    }
  });

  it('and makes nobody check a session again', async () => {
    const orgId = await newOrgId();
    hearOfChanges();
    await taken(orgId, 'user-1', other);
    const before = other.gateway.services.changeFeed.current();
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(5) });
    hearOfChanges();
    expect(await taken(orgId, 'user-1', other)).toEqual({ 'user-1': 5 });
    expect(other.gateway.services.changeFeed.current()).toBe(before);
  });
});

describe('what is cached', () => {
  it('is used for an hour at most, and no longer because it was made part of something newer', async () => {
    const orgId = await newOrgId();
    const { store, namespaces } = app.gateway.services;
    hearOfChanges();
    expect(await taken(orgId, 'user-1', app)).toEqual({ 'user-1': 100 });
    // A change that no counter tells of.
    const key = configKey(await namespaces.of(orgId), { level: 'SYSTEM' });
    await store.write({ table: 'limiter', update: key, set: { l_rpm_cp: 5, l_rpm_bx: 5 } }, { repeat: 'idempotent' });
    app.clock.age(maxCachedMs - 60_000);
    expect(await taken(orgId, 'user-1', app)).toEqual({ 'user-1': 100 });
    expect(await taken(orgId, 'user-2', app)).toEqual({ 'user-2': 100 });
    app.clock.age(120_000);
    expect(await taken(orgId, 'user-2', app)).toEqual({ 'user-2': 5 });
    expect(await taken(orgId, 'user-1', app)).toEqual({ 'user-1': 5 });
  });

  it('is not what was read while it was being changed', async () => {
    const orgId = await newOrgId();
    for (let capacity = 1; capacity <= 20; capacity++) {
      const [, ...seen] = await Promise.all([
        setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(capacity) }),
        ...Array.from({ length: 5 }, () => taken(orgId, 'user-1', app)),
      ]);
      for (const { 'user-1': found } of seen) expect([capacity - 1 || 100, capacity]).toContain(found);
      expect(await taken(orgId, 'user-1', app)).toEqual({ 'user-1': capacity });
    }
  });
});

describe('the version of a level', () => {
  it.each(places)('never goes back at level $level, and a deleted level is nowhere to be seen', async (place) => {
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
    hearOfChanges();
    expect(await taken(orgId, 'user-1', app)).toEqual({ 'user-1': 8 });
    expect((await levelsOf(orgId, 'user-1'))[at]).toBe(first + 2);
  });

  it('is 0 where nothing was ever set', async () => {
    expect(await levelsOf(await newOrgId(), 'user-1')).toEqual([0, 0, 0, 1]);
  });
});

it('limits of an entity are told to its bucket after they were set or deleted, whatever becomes of that', async () => {
  const orgId = await newOrgId();
  const { store, namespaces, changeFeed, auditStore, clock, pendingWrites, log } = app.gateway.services;
  const audit = new AuditService({ store: auditStore, clock, retentionDays: 1, pending: pendingWrites });
  const changed = jest.fn<ChangedBuckets['changed']>();
  const warn = jest.fn();
  const configs = new LimitConfigService({
    store: new LimitConfigStore(store),
    namespaces,
    changes: new ChangeService(new ChangeStore(store), changeFeed),
    audit,
    log: { ...log, warn } as typeof log,
    buckets: { changed },
  });
  const actor = { name: 'test', address: '::1', requestId: 'r' };
  changed.mockImplementation(async () => {
    // It is told only once the limits are set.
    expect((await app.admin.ask(op.LimitConfigOfDocument, { orgId, ...places[3] })).org?.limitConfig).toMatchObject({
      version: 1,
    });
  });
  for (const place of places) await configs.set(orgId, { ...place, limits: rpm(3) }, actor);
  expect(changed.mock.calls).toEqual([[orgId, await namespaces.of(orgId), 'user-1', 'api']]);
  changed.mockRejectedValue(new Error('away'));
  for (const place of places) expect(await configs.delete(orgId, place, actor)).toBe(true);
  expect(await configs.delete(orgId, places[3], actor)).toBe(false);
  expect(changed).toHaveBeenCalledTimes(2);
  expect(warn).toHaveBeenCalledTimes(1);
});

it('an item with all its change counters stays below 1 KB', async () => {
  const orgId = await newOrgId();
  const { store } = app.gateway.services;
  const key = changeKey(changeSlotOf(orgId));
  const stored = (await store.get('revoked_tokens', key, { consistent: true })) ?? {};
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
  // As the database counts: a name and a text by their bytes, a number by two digits a byte and one more.
  const sizeOf = (value: unknown) =>
    typeof value === 'number' ? Math.ceil(String(value).length / 2) + 1 : String(value).length;
  expect(Object.entries(full).reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0)).toBeLessThan(1024);
  expect(Object.keys(full)).toEqual(expect.arrayContaining(Object.keys(stored)));
});
