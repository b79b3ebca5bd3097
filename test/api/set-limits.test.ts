import { newOrg } from '../support/app.js';
import {
  app,
  create,
  deleteLimits,
  issuesOf,
  limit,
  newOrgId,
  other,
  rpm,
  setLimits,
  startGateways,
  stopGateways,
} from '../support/entities.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('setLimits', () => {
  it.each<[string, Omit<op.SetLimitsInput, 'limits'> & { limits?: op.LimitInput[] }, [string, string][]]>([
    [
      'SYSTEM with a resource',
      { level: 'SYSTEM', resource: 'api' },
      [['input.resource', 'does not apply at level SYSTEM; leave it out']],
    ],
    [
      'SYSTEM with an entity',
      { level: 'SYSTEM', entityId: 'a' },
      [['input.entityId', 'does not apply at level SYSTEM; leave it out']],
    ],
    ['RESOURCE without one', { level: 'RESOURCE' }, [['input.resource', 'is required at level RESOURCE']]],
    [
      'RESOURCE with an entity',
      { level: 'RESOURCE', resource: 'api', entityId: 'a' },
      [['input.entityId', 'does not apply at level RESOURCE; leave it out']],
    ],
    [
      'ENTITY_DEFAULT without one',
      { level: 'ENTITY_DEFAULT' },
      [['input.entityId', 'is required at level ENTITY_DEFAULT']],
    ],
    [
      'ENTITY_DEFAULT with a resource',
      { level: 'ENTITY_DEFAULT', entityId: 'a', resource: 'api' },
      [['input.resource', 'does not apply at level ENTITY_DEFAULT; leave it out']],
    ],
    [
      'ENTITY without anything',
      { level: 'ENTITY' },
      [
        ['input.resource', 'is required at level ENTITY'],
        ['input.entityId', 'is required at level ENTITY'],
      ],
    ],
    [
      'a policy below SYSTEM',
      { level: 'RESOURCE', resource: 'api', onUnavailable: 'ALLOW' },
      [['input.onUnavailable', 'can be set at level SYSTEM only']],
    ],
    ['no limits', { level: 'SYSTEM', limits: [] }, [['input.limits', 'must have 1 to 10 limits']]],
    [
      'eleven limits',
      { level: 'SYSTEM', limits: Array.from({ length: 11 }, (_, i) => limit(`l${i}`, 1)) },
      [['input.limits', 'must have 1 to 10 limits']],
    ],
    [
      'a limit twice',
      { level: 'SYSTEM', limits: [limit('a', 1), limit('a', 2)] },
      [['input.limits.1.name', '"a" appears more than once']],
    ],
    [
      'a burst below the capacity',
      { level: 'SYSTEM', limits: [limit('a', 5, { burst: 4 })] },
      [['input.limits.0.burst', 'must be at least the capacity, 5']],
    ],
    [
      'a period of 0',
      { level: 'SYSTEM', limits: [limit('a', 5, { refillPeriodSecs: 0 })] },
      [['input.limits.0.refillPeriodSecs', 'must be a whole number of seconds from 1 to 1000000000']],
    ],
  ])('rejects %s', async (_what, input, issues) => {
    const orgId = await newOrgId();
    expect(await issuesOf(op.SetLimitsDocument, { input: { orgId, limits: rpm(1), ...input } })).toEqual(issues);
    expect((await app.admin.ask(op.LimitConfigsDocument, { orgId })).org?.limitConfigs).toEqual([]);
  });

  it('rejects invalid places, as deleteLimits and limitConfig do', async () => {
    const orgId = await newOrgId();
    expect(await issuesOf(op.DeleteLimitsDocument, { input: { orgId, level: 'RESOURCE', resource: 'a#b' } })).toEqual([
      ['input.resource', expect.any(String)],
    ]);
    expect(await issuesOf(op.DeleteLimitsDocument, { input: { orgId, level: 'ENTITY', entityId: 'a' } })).toEqual([
      ['input.resource', 'is required at level ENTITY'],
    ]);
    expect(await issuesOf(op.LimitConfigOfDocument, { orgId, level: 'SYSTEM', entityId: 'a' })).toEqual([
      ['entityId', expect.any(String)],
    ]);
  });

  it('replaces all limits of a level, fills in the defaults and increases the version', async () => {
    const orgId = await newOrgId();
    const at = { orgId, level: 'RESOURCE', resource: 'v1/chat' } as const;
    const first = await setLimits({
      ...at,
      limits: [{ name: 'tpm', capacity: 7, refillPeriodSecs: 60 }, limit('rpm', 5, { burst: 9 })],
    });
    expect(first).toEqual({
      level: 'RESOURCE',
      resource: 'v1/chat',
      entityId: null,
      onUnavailable: null,
      version: 1,
      limits: [
        { name: 'rpm', capacity: 5, burst: 9, refillAmount: 1, refillPeriodSecs: 10_000_000 },
        { name: 'tpm', capacity: 7, burst: 7, refillAmount: 7, refillPeriodSecs: 60 },
      ],
    });
    const second = await setLimits({ ...at, limits: [limit('a.b-c_cp', 3)] }, other);
    expect(second).toMatchObject({ version: 2, limits: [{ name: 'a.b-c_cp', capacity: 3 }] });
    expect(second.limits).toHaveLength(1);
    expect((await app.admin.ask(op.LimitConfigOfDocument, at)).org?.limitConfig).toEqual(second);
  });

  it('gives each of several concurrent changes its own version, and the last version applies', async () => {
    const orgId = await newOrgId();
    const all = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        setLimits({ orgId, level: 'SYSTEM', limits: rpm(i + 1) }, i % 2 ? app : other),
      ),
    );
    expect(all.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4]);
    expect((await app.admin.ask(op.LimitConfigOfDocument, { orgId, level: 'SYSTEM' })).org?.limitConfig).toEqual(
      all.find(({ version }) => version === 4),
    );
  });

  it('can set only the policy at level SYSTEM', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1');
    const effective = async () =>
      (await app.admin.ask(op.EffectiveLimitsOfDocument, { orgId, entityId: 'user-1', resource: 'api' })).org?.entity
        ?.effectiveLimits;
    expect(await effective()).toEqual({ limits: [], source: null, onUnavailable: 'BLOCK' });
    expect(await setLimits({ orgId, level: 'SYSTEM', limits: [], onUnavailable: 'ALLOW' })).toMatchObject({
      limits: [],
      onUnavailable: 'ALLOW',
      version: 1,
    });
    expect(await effective()).toEqual({ limits: [], source: null, onUnavailable: 'ALLOW' });
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(3) });
    expect(await effective()).toMatchObject({ source: 'ENTITY_DEFAULT', onUnavailable: 'ALLOW' });
    // setLimits replaces the whole level: without a policy it is BLOCK again.
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(1) });
    expect(await effective()).toMatchObject({ source: 'ENTITY_DEFAULT', onUnavailable: 'BLOCK' });
  });

  it('at a stronger level replaces the weaker levels until it is deleted', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1');
    const places = [
      { orgId, level: 'SYSTEM' },
      { orgId, level: 'RESOURCE', resource: 'v1/chat' },
      { orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1' },
      { orgId, level: 'ENTITY', entityId: 'user-1', resource: 'v1/chat' },
    ] as const;
    const effective = async (resource = 'v1/chat') => {
      const { org } = await app.admin.ask(op.EffectiveLimitsOfDocument, { orgId, entityId: 'user-1', resource });
      const { source, limits } = org?.entity?.effectiveLimits ?? {};
      return [source, limits?.map(({ name }) => name)];
    };
    for (const place of places) {
      await setLimits({ ...place, limits: [limit(`at-${place.level}`, 1)] });
      expect(await effective()).toEqual([place.level, [`at-${place.level}`]]);
    }
    expect(await effective('v1')).toEqual(['ENTITY_DEFAULT', ['at-ENTITY_DEFAULT']]);
    expect((await app.admin.ask(op.LimitConfigsDocument, { orgId })).org?.limitConfigs).toMatchObject([
      { level: 'SYSTEM', resource: null, entityId: null },
      { level: 'RESOURCE', resource: 'v1/chat', entityId: null },
    ]);
    for (const [i, place] of [...places].reverse().entries()) {
      expect((await app.admin.ask(op.LimitConfigOfDocument, place)).org?.limitConfig).toMatchObject({
        level: place.level,
        limits: [{ name: `at-${place.level}` }],
        version: 1,
      });
      expect(await deleteLimits(place)).toBe(true);
      expect(await deleteLimits(place)).toBe(false);
      expect((await app.admin.ask(op.LimitConfigOfDocument, place)).org?.limitConfig).toBeNull();
      const next = places[2 - i];
      expect(await effective()).toEqual(next ? [next.level, [`at-${next.level}`]] : [null, []]);
    }
  });
});

describe('expectedVersion of limits', () => {
  const level = { level: 'RESOURCE', resource: 'api' } as const;
  const conflict = (currentVersion: number) => [{ extensions: { code: 'VERSION_CONFLICT', currentVersion } }];
  const trySet = (orgId: string, capacity: number, expectedVersion: number, on = app) =>
    on.admin.send(op.SetLimitsDocument, { input: { orgId, ...level, limits: rpm(capacity), expectedVersion } });
  const tryDelete = (orgId: string, expectedVersion: number) =>
    app.admin.send(op.DeleteLimitsDocument, { input: { orgId, ...level, expectedVersion } });
  const stored = async (orgId: string) =>
    (await app.admin.ask(op.LimitConfigOfDocument, { orgId, ...level })).org?.limitConfig;

  it('changes nothing and says the current version if it is stale', async () => {
    const orgId = await newOrgId();
    for (const expectedVersion of [1, 2, Number.MAX_SAFE_INTEGER])
      for (const call of [trySet(orgId, 5, expectedVersion), tryDelete(orgId, expectedVersion)])
        expect((await call).errors).toMatchObject(conflict(0));
    expect(await stored(orgId)).toBeNull();
    expect((await trySet(orgId, 5, 0)).data?.setLimits.version).toBe(1);
    expect((await trySet(orgId, 6, 1)).data?.setLimits.version).toBe(2);
    for (const expectedVersion of [0, 1, 3])
      for (const call of [trySet(orgId, 7, expectedVersion), tryDelete(orgId, expectedVersion)])
        expect((await call).errors).toMatchObject(conflict(2));
    expect(await stored(orgId)).toMatchObject({ version: 2, limits: [{ capacity: 6 }] });
    const { org } = await app.admin.ask(op.AuditDocument, { orgId, first: 100 });
    expect(org?.auditEvents.nodes.filter(({ action }) => action.startsWith('limits_'))).toHaveLength(2);
  });

  it('of deleted limits is 0, and their versions are not used again', async () => {
    const orgId = await newOrgId();
    await trySet(orgId, 5, 0);
    expect((await tryDelete(orgId, 1)).data?.deleteLimits).toBe(true);
    expect((await tryDelete(orgId, 0)).data?.deleteLimits).toBe(false);
    for (const expectedVersion of [1, 2]) {
      expect((await trySet(orgId, 6, expectedVersion)).errors).toMatchObject(conflict(0));
      expect((await tryDelete(orgId, expectedVersion)).errors).toMatchObject(conflict(0));
    }
    expect((await trySet(orgId, 6, 0)).data?.setLimits.version).toBe(3);
  });

  it('must not be negative', async () => {
    const orgId = await newOrgId();
    const issues = [['input.expectedVersion', 'must be 0 or larger']];
    const input = { orgId, ...level, expectedVersion: -1 };
    expect(await issuesOf(op.SetLimitsDocument, { input: { ...input, limits: rpm(1) } })).toEqual(issues);
    expect(await issuesOf(op.DeleteLimitsDocument, { input })).toEqual(issues);
  });

  it('lets one of several concurrent changes win on two gateways', async () => {
    const orgId = await newOrgId();
    for (const expectedVersion of [0, 1]) {
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, i) =>
          trySet(orgId, 10 * expectedVersion + i + 1, expectedVersion, [app, other][i % 2]),
        ),
      );
      const [won, ...more] = answers.flatMap(({ data }) => (data ? [data.setLimits] : []));
      expect(more).toEqual([]);
      expect(answers.flatMap(({ errors = [] }) => errors)).toMatchObject(
        Array(3).fill(conflict(expectedVersion + 1)[0]),
      );
      expect(await stored(orgId)).toEqual(won);
    }
  });

  it('is compared with the limits after a purge, even on a gateway that has not noticed the purge', async () => {
    const orgId = await newOrgId();
    await trySet(orgId, 5, 0, other);
    await app.admin.ask(op.PurgeLimiterDocument, { orgId });
    expect((await trySet(orgId, 6, 0, other)).data?.setLimits).toMatchObject({ version: 1, limits: [{ capacity: 6 }] });
    expect((await trySet(orgId, 7, 2)).errors).toMatchObject(conflict(1));
  });
});

describe('the audit trail of the limiter', () => {
  it('records every change with its actor, action and entity', async () => {
    const { orgId, caller, clientId } = await newOrg(app);
    const send = <V>(document: Parameters<typeof caller.ask<unknown, V>>[0], variables: V) =>
      caller.ask(document, variables);
    await send(op.CreateEntityDocument, { input: { entityId: 'team' } });
    await send(op.CreateEntityDocument, {
      input: { entityId: 'user-1', name: 'Ann', parentId: 'team', cascade: true },
    });
    const places: Omit<op.SetLimitsInput, 'limits'>[] = [
      { level: 'SYSTEM' },
      { level: 'RESOURCE', resource: 'v1/chat' },
      { level: 'ENTITY_DEFAULT', entityId: 'user-1' },
      { level: 'ENTITY', entityId: 'user-1', resource: 'v1/chat' },
    ];
    for (const place of places)
      await send(op.SetLimitsDocument, {
        input: { ...place, limits: [{ name: 'rpm', capacity: 5, refillPeriodSecs: 60 }] },
      });
    await send(op.AcquireDocument, {
      input: { entityId: 'user-1', resource: 'v1/chat', consume: [{ limit: 'rpm', amount: 1 }] },
    });
    for (const place of places) await send(op.DeleteLimitsDocument, { input: place });
    await send(op.DeleteLimitsDocument, { input: { level: 'SYSTEM' } });
    await send(op.DeleteEntityDocument, { entityId: 'user-1' });
    await send(op.DeleteEntityDocument, { entityId: 'user-1' });
    await send(op.PurgeLimiterDocument, {});
    const { org } = await caller.ask(op.AuditDocument, { first: 13 });
    const found = [...(org?.auditEvents.nodes ?? [])].reverse();
    const actions = ['limits_set', 'limits_deleted'].flatMap((action) => [
      [action, '$SYSTEM', null],
      [action, '$RESOURCE:v1/chat', 'v1/chat'],
      [action, 'user-1', null],
      [action, 'user-1', 'v1/chat'],
    ]);
    expect(found.slice(-12).map(({ action, entityId, resource }) => [action, entityId, resource])).toEqual([
      ['entity_created', 'team', null],
      ['entity_created', 'user-1', null],
      ...actions,
      ['entity_deleted', 'user-1', null],
      ['limiter_purged', '$ORG', null],
    ]);
    expect(new Set(found.slice(-12).map(({ actor }) => actor))).toEqual(new Set([clientId]));
    const details = (at: number) =>
      Object.fromEntries(found.slice(-12)[at]?.details.map(({ name, value }) => [name, value]) ?? []);
    expect(details(1)).toEqual({ name: 'Ann', parent: 'team', cascade: 'true' });
    expect(details(2)).toEqual({ limits: 'rpm: 5, burst 5, 5 every 60 s', version: '1' });
    const about = async (entityId: string) =>
      (await caller.ask(op.AuditDocument, { entityId })).org?.auditEvents.nodes.map(({ action }) => action);
    expect(await about('$SYSTEM')).toEqual(['limits_deleted', 'limits_set']);
    expect(await about('$RESOURCE:v1/chat')).toEqual(['limits_deleted', 'limits_set']);
    expect(await about('user-1')).toEqual([
      'entity_deleted',
      'limits_deleted',
      'limits_deleted',
      'limits_set',
      'limits_set',
      'entity_created',
    ]);
    expect((await app.admin.ask(op.AuditDocument, { orgId, entityId: 'team' })).org?.auditEvents.nodes).toHaveLength(1);
  });
});
