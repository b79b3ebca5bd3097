import { newOrg, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

async function newOrgId(): Promise<string> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  const limits = [{ name: 'rpm', capacity: 10, refillAmount: 1, refillPeriodSecs: 10_000_000 }];
  await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
  return orgId;
}

const create = async (orgId: string, entityId: string, more: Partial<op.CreateEntityInput> = {}) =>
  (await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, ...more } })).createEntity;
const update = async (input: op.UpdateEntityInput, on = app) =>
  (await on.admin.ask(op.UpdateEntityDocument, { input })).updateEntity;
const find = async (orgId: string, entityId: string) =>
  (await app.admin.ask(op.EntityOfDocument, { orgId, entityId })).org?.entity ?? null;
const roots = async (orgId: string) =>
  (await app.admin.ask(op.EntitiesDocument, { orgId })).org?.entities.nodes.map(({ entityId }) => entityId);
const take = async (orgId: string, entityId: string, amount: number) => {
  const { acquire } = await app.admin.ask(op.AcquireDocument, {
    input: { orgId, entityId, resource: 'api', consume: [{ limit: 'rpm', amount }] },
  });
  expect(acquire.__typename).toBe('Lease');
};
const remove = async (orgId: string, entityId: string) =>
  (await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId })).deleteEntity;

describe('updateEntity', () => {
  const metadata = [{ name: 'plan', value: 'gold' }];

  it('changes only the given fields; null clears a name and a parent', async () => {
    const orgId = await newOrgId();
    for (const parent of ['red', 'blue']) await create(orgId, parent);
    const { createdAt, id } = await create(orgId, 'user-1', { name: 'Ann', parentId: 'red', cascade: true, metadata });
    const before = {
      id,
      entityId: 'user-1',
      name: 'Ann',
      parent: { entityId: 'red' },
      cascade: true,
      metadata,
      createdAt,
      deletedAt: null,
    };
    const steps: [Partial<op.UpdateEntityInput>, Partial<typeof before> | object][] = [
      [{ name: 'Anna' }, { name: 'Anna' }],
      [{ parentId: 'blue' }, { parent: { entityId: 'blue' } }],
      [
        { cascade: false, metadata: [] },
        { cascade: false, metadata: [] },
      ],
      [{ cascade: null, metadata: null }, {}],
      [
        { metadata: [...metadata, { name: 'note', value: '' }] },
        { metadata: [...metadata, { name: 'note', value: '' }] },
      ],
      [
        { name: null, parentId: null },
        { name: null, parent: null },
      ],
      [{}, {}],
    ];
    let expected: object = before;
    for (const [change, changed] of steps) {
      expected = { ...expected, ...changed };
      expect(await update({ orgId, entityId: 'user-1', ...change })).toEqual(expected);
      expect(await find(orgId, 'user-1')).toEqual({ ...expected, buckets: [] });
    }
  });

  it('lists the entity only under its new parent', async () => {
    const orgId = await newOrgId();
    for (const entityId of ['red', 'blue', 'user-1']) await create(orgId, entityId);
    const childrenOf = async (parent: string) => {
      const query = `query ($orgId: UUID, $id: String!) {
        org(orgId: $orgId) { entity(entityId: $id) { children { nodes { entityId } } } }
      }`;
      type Found = { org: { entity: { children: { nodes: { entityId: string }[] } } } };
      return (await app.admin.ask<Found, object>(query, { orgId, id: parent })).org.entity.children.nodes.map(
        ({ entityId }) => entityId,
      );
    };
    const lists = async () => [await roots(orgId), await childrenOf('red'), await childrenOf('blue')];
    await update({ orgId, entityId: 'user-1', parentId: 'red' });
    expect(await lists()).toEqual([['blue', 'red'], ['user-1'], []]);
    await update({ orgId, entityId: 'user-1', parentId: 'blue' });
    expect(await lists()).toEqual([['blue', 'red'], [], ['user-1']]);
    await update({ orgId, entityId: 'user-1', parentId: null });
    expect(await lists()).toEqual([['blue', 'red', 'user-1'], [], []]);
  });

  it('requires an entity that was created and a parent that exists', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1', { name: 'Ann' });
    await create(orgId, 'gone');
    await remove(orgId, 'gone');
    await take(orgId, 'acquired-for', 1);
    const messageOf = async (input: op.UpdateEntityInput) => {
      const { errors } = await app.admin.send(op.UpdateEntityDocument, { input });
      return [errors?.[0]?.extensions.code, errors?.[0]?.message];
    };
    for (const entityId of ['nobody', 'acquired-for', 'gone'])
      expect(await messageOf({ orgId, entityId, name: 'Bob' })).toEqual(['NOT_FOUND', 'entity not found']);
    for (const parentId of ['nobody', 'acquired-for', 'gone'])
      expect(await messageOf({ orgId, entityId: 'user-1', parentId, name: 'Bob' })).toEqual([
        'NOT_FOUND',
        'parent not found',
      ]);
    expect(await find(orgId, 'user-1')).toMatchObject({ name: 'Ann', parent: null });
  });

  it.each<[string, Partial<op.UpdateEntityInput>, string]>([
    ['itself as parent', { parentId: 'user-1' }, 'input.parentId'],
    ['a parent with an invalid id', { parentId: 'a#b' }, 'input.parentId'],
    ['an invalid id', { entityId: 'a#b' }, 'input.entityId'],
    ['a name of spaces', { name: ' ' }, 'input.name'],
    ['33 pairs', { metadata: Array.from({ length: 33 }, (_, i) => ({ name: `n${i}`, value: '' })) }, 'input.metadata'],
    ['a value that is too long', { metadata: [{ name: 'n', value: 'x'.repeat(1025) }] }, 'input.metadata.0.value'],
  ])('rejects %s', async (_, change, path) => {
    const orgId = await newOrgId();
    const { errors } = await app.admin.send(op.UpdateEntityDocument, {
      input: { orgId, entityId: 'user-1', ...change },
    });
    expect(errors?.[0]?.extensions.issues?.map((issue) => issue.path)).toEqual([path]);
  });

  it('loses no change for concurrent updates through both gateways', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'red');
    await create(orgId, 'user-1');
    const changes: Partial<op.UpdateEntityInput>[] = [
      { name: 'Ann' },
      { parentId: 'red' },
      { cascade: true },
      { metadata },
    ];
    await Promise.all(
      changes.map((change, i) => update({ orgId, entityId: 'user-1', ...change }, i % 2 ? app : other)),
    );
    expect(await find(orgId, 'user-1')).toMatchObject({
      name: 'Ann',
      parent: { entityId: 'red' },
      cascade: true,
      metadata,
    });
  });

  it('records old and new values in the audit trail unless nothing was changed', async () => {
    const { orgId, caller } = await newOrg(app);
    for (const entityId of ['red', 'user-1']) await caller.ask(op.CreateEntityDocument, { input: { entityId } });
    const many = Array.from({ length: 32 }, (_, i) => ({
      name: `${i}`.padEnd(256, '\u4e2d'),
      value: '\u0001'.repeat(1024),
    }));
    for (const change of [
      { name: 'Ann', parentId: 'red', cascade: true, metadata },
      { name: 'Ann' },
      { name: 'none' },
      { name: null },
      { metadata: many },
      { metadata: [] },
    ])
      await caller.ask(op.UpdateEntityDocument, { input: { entityId: 'user-1', ...change } });
    const { org } = await app.admin.ask(op.AuditDocument, { orgId, entityId: 'user-1' });
    const events = (org?.auditEvents.nodes ?? []).filter(({ action }) => action === 'entity_updated').reverse();
    expect(events.map(({ details }) => details.length)).toEqual([4, 1, 0, 33, 32]);
    expect(events[0]?.details.map(({ name, previousValue, value }) => [name, previousValue, value])).toEqual([
      ['cascade', 'false', 'true'],
      ['metadata.plan', 'none', 'gold'],
      ['name', 'none', 'Ann'],
      ['parent', 'none', 'red'],
    ]);
    expect(events[1]?.details).toMatchObject([{ name: 'name', previousValue: 'Ann', value: 'none' }]);
  });
});

describe('searchEntities', () => {
  const search = async (orgId: string, prefix: string, more: { first?: number; after?: string } = {}) => {
    const { org } = await app.admin.ask(op.SearchEntitiesDocument, { orgId, prefix, ...more });
    return { ids: org?.searchEntities.nodes.map(({ entityId }) => entityId), page: org?.searchEntities.pageInfo };
  };

  it('finds created entities by the prefix of their id, with or without a parent, sorted by id', async () => {
    const [orgId, foreign] = [await newOrgId(), await newOrgId()];
    await create(foreign, 'team-z');
    for (const entityId of ['team-b', 'team-a', 'tea', 'user']) await create(orgId, entityId);
    await create(orgId, 'team-a:child', { parentId: 'team-a' });
    await take(orgId, 'team-acquired', 1);
    await app.admin.ask(op.SetLimitsDocument, {
      input: {
        orgId,
        level: 'ENTITY_DEFAULT',
        entityId: 'team-limited',
        limits: [{ name: 'rpm', capacity: 1, refillPeriodSecs: 1 }],
      },
    });
    expect((await search(orgId, 'team')).ids).toEqual(['team-a', 'team-a:child', 'team-b']);
    expect((await search(orgId, 'tea')).ids).toEqual(['tea', 'team-a', 'team-a:child', 'team-b']);
    expect((await search(orgId, 'x'.repeat(256))).ids).toEqual([]);
    await update({ orgId, entityId: 'team-a:child', parentId: 'team-b', name: 'Child' });
    await remove(orgId, 'team-a');
    expect((await search(orgId, 'team-')).ids).toEqual(['team-a:child', 'team-b']);
  });

  it('returns pages with cursors that are valid for one prefix', async () => {
    const orgId = await newOrgId();
    for (let i = 0; i < 5; i++) await create(orgId, `e${i}`);
    const first = await search(orgId, 'e', { first: 3 });
    expect([first.ids, first.page?.hasNextPage]).toEqual([['e0', 'e1', 'e2'], true]);
    const after = first.page?.endCursor ?? '';
    const second = await search(orgId, 'e', { first: 3, after });
    expect([second.ids, second.page?.hasNextPage]).toEqual([['e3', 'e4'], false]);
    expect(await app.admin.codeOf(op.SearchEntitiesDocument, { orgId, prefix: 'e0', after })).toBe('BAD_USER_INPUT');
  });

  it.each(['', '-a', 'a#', 'a/b', 'ü', 'x'.repeat(257)])('rejects the prefix %j', async (prefix) => {
    const orgId = await newOrgId();
    expect(await app.admin.codeOf(op.SearchEntitiesDocument, { orgId, prefix })).toBe('BAD_USER_INPUT');
  });
});

describe('a deleted entity', () => {
  it('with past usage is found by its id, and its usage can be read', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1', { name: 'Ann' });
    await take(orgId, 'user-1', 4);
    expect(await remove(orgId, 'user-1')).toBe(true);
    const deleted = await find(orgId, 'user-1');
    expect(deleted).toMatchObject({ entityId: 'user-1', name: null, createdAt: null, buckets: [] });
    expect(Math.abs(Date.parse(deleted?.deletedAt ?? '') - app.clock.nowMs())).toBeLessThan(60_000);
    const { org } = await app.admin.ask(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'DAILY' });
    expect(org?.entity?.usage.nodes).toMatchObject([{ resource: 'api', counters: [{ limit: 'rpm', consumed: 4 }] }]);
    expect((await app.admin.ask(op.NodeDocument, { id: deleted?.id ?? '' })).node).toMatchObject({
      __typename: 'Entity',
    });
    expect(await remove(orgId, 'user-1')).toBe(false);
    expect(await roots(orgId)).toEqual([]);
    await create(orgId, 'user-1');
    expect((await find(orgId, 'user-1'))?.deletedAt).toBeNull();
  });

  it('is no longer deleted after the next acquire', async () => {
    const orgId = await newOrgId();
    await take(orgId, 'user-1', 1);
    await remove(orgId, 'user-1');
    await take(orgId, 'user-1', 1);
    expect(await find(orgId, 'user-1')).toMatchObject({ deletedAt: null, buckets: [{ resource: 'api' }] });
  });

  it('that was never used is not found', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1');
    expect(await remove(orgId, 'user-1')).toBe(true);
    expect(await find(orgId, 'user-1')).toBeNull();
  });

  it('loses its limits for any number of resources on every gateway', async () => {
    const orgId = await newOrgId();
    const limits = [{ name: 'rpm', capacity: 5, refillPeriodSecs: 10_000_000 }];
    const resources = Array.from({ length: 105 }, (_, i) => `r${i}`);
    for (let i = 0; i < resources.length; i += 15)
      await Promise.all(
        resources
          .slice(i, i + 15)
          .map((resource) =>
            app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'ENTITY', entityId: 'e', resource, limits } }),
          ),
      );
    const capacityOf = async (resource: string) => {
      const { acquire } = await other.admin.ask(op.AcquireDocument, {
        input: { orgId, entityId: 'e', resource, consume: [{ limit: 'rpm', amount: 0 }] },
      });
      return acquire.statuses[0]?.limit.capacity;
    };
    const some = ['r0', 'r1', 'r99', 'r104'];
    for (const resource of some) expect(await capacityOf(resource)).toBe(5);
    expect(await remove(orgId, 'e')).toBe(true);
    // After five seconds without a poll, a gateway reads the change counter before it serves the next request.
    app.clock.age(5001);
    for (const resource of some) expect(await capacityOf(resource)).toBe(10);
    for (const resource of resources)
      expect(
        (await app.admin.ask(op.LimitConfigOfDocument, { orgId, level: 'ENTITY', entityId: 'e', resource })).org
          ?.limitConfig,
      ).toBeNull();
  });
});
