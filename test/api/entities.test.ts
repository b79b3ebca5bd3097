import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { equals } from '../../src/dynamo/expression.js';
import { BucketStore } from '../../src/limits/buckets/bucket.store.js';
import { newOrg, type TestApp } from '../support/app.js';
import {
  acquire,
  app,
  balances,
  create,
  deleteLimits,
  find,
  inputOf,
  issuesOf,
  limit,
  newOrgId,
  other,
  purge,
  remove,
  rpm,
  setLimits,
  startGateways,
  stopGateways,
  take,
  worker,
} from '../support/entities.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('createEntity', () => {
  it('creates an entity once', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'team');
    const metadata = [
      { name: 'plan', value: 'gold' },
      { name: 'note', value: '' },
    ];
    const created = await create(orgId, 'user-1', { name: 'Ann', parentId: 'team', cascade: true, metadata });
    expect(created).toMatchObject({
      entityId: 'user-1',
      name: 'Ann',
      parent: { entityId: 'team' },
      cascade: true,
      metadata,
    });
    expect(Math.abs(Date.parse(created.createdAt ?? '') - app.clock.nowMs())).toBeLessThan(60_000);
    expect(await find(orgId, 'user-1')).toEqual({ ...created, buckets: [] });
    expect(await find(orgId, 'team')).toMatchObject({ name: null, parent: null, cascade: false, metadata: [] });
    for (const parentId of [null, 'team']) {
      const input = { orgId, entityId: 'user-1', name: 'Bob', parentId };
      const { errors } = await app.admin.send(op.CreateEntityDocument, { input });
      expect(errors?.[0]).toMatchObject({
        message: 'an entity with this id already exists',
        extensions: { code: 'ALREADY_EXISTS' },
      });
    }
    expect(await find(orgId, 'user-1')).toMatchObject({ name: 'Ann' });
  });

  it('creates one of several concurrent creations', async () => {
    const orgId = await newOrgId();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => app.admin.send(op.CreateEntityDocument, { input: { orgId, entityId: 'e' } })),
    );
    expect(responses.filter(({ errors }) => !errors)).toHaveLength(1);
    expect(new Set(responses.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions.code) ?? []))).toEqual(
      new Set(['ALREADY_EXISTS']),
    );
  });

  it('keeps the bucket of an entity that was acquired for before', async () => {
    const orgId = await newOrgId(rpm(10));
    await take(orgId, 'user-1', { rpm: 3 });
    await create(orgId, 'user-1', { name: 'Ann' });
    expect(await find(orgId, 'user-1')).toMatchObject({
      name: 'Ann',
      buckets: [{ resource: 'api', limits: [{ available: 7 }] }],
    });
  });

  it('requires a parent that exists in the same org', async () => {
    const [orgId, foreign] = [await newOrgId(rpm(10)), await newOrgId()];
    await create(foreign, 'team');
    await take(orgId, 'acquired-for', { rpm: 1 });
    for (const parentId of ['team', 'acquired-for', 'nobody']) {
      const { errors } = await app.admin.send(op.CreateEntityDocument, {
        input: { orgId, entityId: 'user-1', parentId },
      });
      expect(errors?.[0]).toMatchObject({ message: 'parent not found', extensions: { code: 'NOT_FOUND' } });
    }
    expect(await find(orgId, 'user-1')).toBeNull();
  });

  it.each<[string, Partial<op.CreateEntityInput>, string[]]>([
    ['itself as parent', { parentId: 'user-1' }, ['input.parentId']],
    ['a parent with an invalid id', { parentId: 'a#b' }, ['input.parentId']],
    ['an id with a newline', { entityId: 'user-1\n' }, ['input.entityId']],
    ['an id with a hash', { entityId: 'a#b' }, ['input.entityId']],
    ['an id with a slash', { entityId: 'a/b' }, ['input.entityId']],
    ['an id of 257 characters', { entityId: 'x'.repeat(257) }, ['input.entityId']],
    ['an empty id', { entityId: '' }, ['input.entityId']],
    ['an empty name', { name: '' }, ['input.name']],
    ['a name of 257 characters', { name: 'x'.repeat(257) }, ['input.name']],
    [
      '33 pairs of metadata',
      { metadata: Array.from({ length: 33 }, (_, i) => ({ name: `n${i}`, value: '' })) },
      ['input.metadata'],
    ],
    [
      'metadata without a name, with a long value or with the same name twice',
      {
        metadata: [
          { name: '', value: '' },
          { name: 'a', value: 'x'.repeat(1025) },
          { name: 'a', value: '' },
        ],
      },
      ['input.metadata.0.name', 'input.metadata.1.value', 'input.metadata.2.name'],
    ],
  ])('rejects %s', async (_what, more, paths) => {
    const orgId = await newOrgId();
    expect(
      (await issuesOf(op.CreateEntityDocument, { input: { orgId, entityId: 'user-1', ...more } })).map(
        ([path]) => path,
      ),
    ).toEqual(paths);
    expect(await find(orgId, 'user-1')).toBeNull();
  });

  it('accepts the maximum lengths', async () => {
    const orgId = await newOrgId();
    const metadata = Array.from({ length: 32 }, (_, i) => ({
      name: `${i}`.padStart(256, 'n'),
      value: 'x'.repeat(1024),
    }));
    const entityId = `A${'@'.repeat(255)}`;
    await create(orgId, entityId, { name: 'é'.repeat(256), metadata });
    expect(await find(orgId, entityId)).toMatchObject({ name: 'é'.repeat(256), metadata });
  });

  it('rejects or keeps an unpaired surrogate, and never replaces it', async () => {
    const orgId = await newOrgId();
    const input = { orgId, entityId: 'user-1', metadata: [{ name: 'half', value: '\ud800' }] };
    const { data, errors } = await app.admin.send(op.CreateEntityDocument, { input });
    if (errors) expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    else expect((await find(orgId, 'user-1'))?.metadata).toEqual(data?.createEntity.metadata);
  });
});

describe('an entity', () => {
  it('is found if it was only acquired for', async () => {
    const orgId = await newOrgId([limit('rpm', 10), limit('tpm', 5)]);
    await take(orgId, 'user-1', { rpm: 1 }, { resource: 'v1/b' });
    await take(orgId, 'user-1', { tpm: 2 }, { resource: 'v1/a' });
    const entity = await find(orgId, 'user-1', other);
    expect(entity).toMatchObject({
      entityId: 'user-1',
      name: null,
      parent: null,
      cascade: false,
      metadata: [],
      createdAt: null,
    });
    expect(entity?.buckets).toMatchObject([
      {
        entityId: 'user-1',
        resource: 'v1/a',
        shardCount: 1,
        limits: [{ available: 10 }, { available: 3, totalConsumed: 2 }],
      },
      {
        entityId: 'user-1',
        resource: 'v1/b',
        shardCount: 1,
        limits: [{ available: 9, totalConsumed: 1 }, { available: 5 }],
      },
    ]);
  });

  it('is found if it only has limits, at either of its levels', async () => {
    const orgId = await newOrgId();
    await setLimits({ orgId, level: 'ENTITY', entityId: 'a', resource: 'api', limits: rpm(10) });
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'b', limits: rpm(10) });
    for (const entityId of ['a', 'b'])
      expect(await find(orgId, entityId)).toMatchObject({ entityId, createdAt: null, buckets: [] });
    await deleteLimits({ orgId, level: 'ENTITY', entityId: 'a', resource: 'api' });
    expect(await find(orgId, 'a')).toBeNull();
  });

  it.each(['nobody', '', 'a#b', 'user-1\n', 'x'.repeat(300)])('is null for %j', async (entityId) => {
    expect(await find(await newOrgId(), entityId)).toBeNull();
  });

  it('is found by its node id by its own org only, and so is its bucket', async () => {
    const { orgId, caller } = await newOrg(app);
    const { caller: foreign } = await newOrg(app);
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(10) });
    await create(orgId, 'created');
    await take(orgId, 'acquired-for', { rpm: 1 }, { resource: 'v1/chat' });
    const found = [await find(orgId, 'created'), await find(orgId, 'acquired-for')];
    const bucketId = found[1]?.buckets[0]?.id ?? '';
    for (const [id, __typename] of [
      [found[0]?.id ?? '', 'Entity'],
      [found[1]?.id ?? '', 'Entity'],
      [bucketId, 'Bucket'],
    ] as const) {
      expect((await caller.ask(op.NodeDocument, { id })).node).toEqual({ __typename, id });
      expect((await app.admin.ask(op.NodeDocument, { id })).node).toEqual({ __typename, id });
      expect((await foreign.ask(op.NodeDocument, { id })).node).toBeNull();
    }
    const query = 'query ($id: ID!) { node(id: $id) { ... on Bucket { entityId resource limits { available } } } }';
    expect(await caller.ask(query, { id: bucketId })).toEqual({
      node: { entityId: 'acquired-for', resource: 'v1/chat', limits: [{ available: 9 }] },
    });
    await remove(orgId, 'acquired-for');
    expect((await caller.ask(op.NodeDocument, { id: bucketId })).node).toBeNull();
  });
});

describe('listing entities', () => {
  let orgId: string;
  const ids = ['e-1', 'e-2', 'e-3', 'e-4', 'e-5'];
  beforeAll(async () => {
    orgId = await newOrgId(rpm(10));
    for (const entityId of ids) await create(orgId, entityId);
    for (const entityId of ['c-1', 'c-2', 'c-3']) await create(orgId, entityId, { parentId: 'e-1', cascade: true });
    await take(orgId, 'acquired-for', { rpm: 1 });
    for (const entityId of ['x', 'e-2', 'c-1'])
      await setLimits({ orgId, level: 'ENTITY', entityId, resource: 'v1/chat', limits: rpm(1) });
    await setLimits({ orgId, level: 'ENTITY', entityId: 'y', resource: 'v1', limits: rpm(1) });
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'z', limits: rpm(1) });
  });

  interface Page {
    readonly nodes: readonly { readonly entityId: string }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  }
  const lists: [string, (first?: number, after?: string) => Promise<Page | undefined>, string[]][] = [
    [
      'entities',
      async (first, after) => (await app.admin.ask(op.EntitiesDocument, { orgId, first, after })).org?.entities,
      ids,
    ],
    [
      'children',
      async (first, after) =>
        (await app.admin.ask(op.ChildrenOfDocument, { orgId, entityId: 'e-1', first, after })).org?.entity?.children,
      ['c-1', 'c-2', 'c-3'],
    ],
    [
      'entitiesWithLimits',
      async (first, after) =>
        (await app.admin.ask(op.EntitiesWithLimitsDocument, { orgId, resource: 'v1/chat', first, after })).org
          ?.entitiesWithLimits,
      ['c-1', 'e-2', 'x'],
    ],
  ];

  it.each(lists)('returns %s completely, and in pages without gaps or repeats', async (_name, page, expected) => {
    expect((await page())?.nodes.map(({ entityId }) => entityId)).toEqual(expected);
    for (const size of [1, 2]) {
      const seen: string[] = [];
      let after: string | undefined;
      for (let more = true; more; ) {
        const next = await page(size, after);
        expect(next?.nodes.length).toBeLessThanOrEqual(size);
        seen.push(...(next?.nodes.map(({ entityId }) => entityId) ?? []));
        more = next?.pageInfo.hasNextPage ?? false;
        after = next?.pageInfo.endCursor ?? undefined;
      }
      expect(seen).toEqual(expected);
    }
  });

  it('rejects a cursor of another list or org, or with a changed byte', async () => {
    const foreign = await newOrgId();
    const cursors = await Promise.all(lists.map(async ([, page]) => (await page(1))?.pageInfo.endCursor ?? ''));
    const [ofEntities = '', ofChildren = '', ofLimits = ''] = cursors;
    const code = (after: string, at = orgId) => app.admin.codeOf(op.EntitiesDocument, { orgId: at, first: 1, after });
    for (const after of [ofChildren, ofLimits, `${ofEntities}A`, ofEntities.slice(1), '', 'x'])
      expect(await code(after)).toBe('BAD_USER_INPUT');
    expect(await code(ofEntities, foreign)).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.ChildrenOfDocument, { orgId, entityId: 'e-2', after: ofChildren })).toBe(
      'BAD_USER_INPUT',
    );
    expect(await app.admin.codeOf(op.EntitiesWithLimitsDocument, { orgId, resource: 'v1', after: ofLimits })).toBe(
      'BAD_USER_INPUT',
    );
    for (const first of [0, -1, 101])
      expect(await app.admin.codeOf(op.EntitiesDocument, { orgId, first })).toBe('BAD_USER_INPUT');
  });

  it('returns an empty list if there is nothing, and continues after an entity that was deleted', async () => {
    const bare = await newOrgId();
    expect((await app.admin.ask(op.EntitiesDocument, { orgId: bare })).org?.entities.nodes).toEqual([]);
    expect(
      (await app.admin.ask(op.EntitiesWithLimitsDocument, { orgId: bare, resource: 'api' })).org?.entitiesWithLimits
        .nodes,
    ).toEqual([]);
    for (const entityId of ['a', 'b', 'c']) await create(bare, entityId);
    const first = (await app.admin.ask(op.EntitiesDocument, { orgId: bare, first: 2 })).org?.entities;
    await remove(bare, 'b');
    const rest = await app.admin.ask(op.EntitiesDocument, { orgId: bare, after: first?.pageInfo.endCursor });
    expect(rest.org?.entities.nodes.map(({ entityId }) => entityId)).toEqual(['c']);
  });

  it('costs a few database calls, however many entities it returns', async () => {
    const many = await newOrgId(rpm(10));
    const names = Array.from({ length: 50 }, (_, i) => `user-${String(i).padStart(2, '0')}`);
    await Promise.all(names.map((entityId) => create(many, entityId)));
    await Promise.all(names.map((entityId) => take(many, entityId, { rpm: 1 })));
    const query = `query ($orgId: UUID) {
      org(orgId: $orgId) {
        entities(first: 50) {
          nodes {
            entityId
            bucket(resource: "api") { limits { available } }
            effectiveLimits(resource: "api") { source }
          }
        }
      }
    }`;
    interface Data {
      readonly org: {
        readonly entities: {
          readonly nodes: readonly { entityId: string; bucket: unknown; effectiveLimits: unknown }[];
        };
      };
    }
    const { consumed } = other.gateway.services.store;
    // The other gateway has cached nothing of it.
    const before = consumed.calls;
    const { org } = await other.admin.ask<Data, object>(query, { orgId: many });
    expect(consumed.calls - before).toBeLessThan(50);
    expect(org.entities.nodes).toEqual(
      names.map((entityId) => ({
        entityId,
        bucket: { limits: [{ available: 9 }] },
        effectiveLimits: { source: 'SYSTEM' },
      })),
    );
  });
});

describe('deleteEntity', () => {
  it('deletes the buckets and limits of the entity and keeps its usage', async () => {
    const orgId = await newOrgId(rpm(10));
    await create(orgId, 'user-1', { name: 'Ann' });
    await setLimits({ orgId, level: 'ENTITY', entityId: 'user-1', resource: 'api', limits: rpm(5) });
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(7) });
    await take(orgId, 'user-1', { rpm: 5 });
    await take(orgId, 'user-1', { rpm: 1 }, { resource: 'v1/chat' });
    await take(orgId, 'user-2', { rpm: 2 });
    expect(await remove(orgId, 'user-1')).toBe(true);
    const deletedAt = (await find(orgId, 'user-1'))?.deletedAt ?? '';
    expect(Math.abs(Date.parse(deletedAt) - app.clock.nowMs())).toBeLessThan(60_000);
    expect(await find(orgId, 'user-1')).toMatchObject({
      name: null,
      createdAt: null,
      metadata: [],
      parent: null,
      buckets: [],
    });
    expect(await remove(orgId, 'user-1')).toBe(false);
    const month = {
      window: 'MONTHLY',
      from: '2025-01-01T00:00:00Z',
      to: new Date(app.clock.nowMs()).toISOString(),
    } as const;
    const usage = async (resource: string) =>
      (await app.admin.ask(op.ResourceUsageOfDocument, { orgId, resource, ...month })).org?.resourceUsage;
    expect(await usage('api')).toMatchObject([{ entities: 2, counters: [{ limit: 'rpm', consumed: 7 }] }]);
    expect(await usage('v1/chat')).toMatchObject([{ entities: 1, counters: [{ limit: 'rpm', consumed: 1 }] }]);
    expect(
      (await app.admin.ask(op.EntitiesWithLimitsDocument, { orgId, resource: 'api' })).org?.entitiesWithLimits.nodes,
    ).toEqual([]);
    // The next acquire starts with a full bucket under the limits of level SYSTEM.
    await take(orgId, 'user-1', { rpm: 10 }, {}, other);
    expect(await usage('api')).toMatchObject([{ entities: 2, counters: [{ limit: 'rpm', consumed: 17 }] }]);
  });

  it('returns false if there was nothing, and true for limits alone or a bucket alone', async () => {
    const orgId = await newOrgId(rpm(10));
    expect(await remove(orgId, 'nobody')).toBe(false);
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'a', limits: rpm(1) });
    await take(orgId, 'b', { rpm: 0 });
    for (const entityId of ['a', 'b'])
      expect([await remove(orgId, entityId), await remove(orgId, entityId)]).toEqual([true, false]);
    expect((await issuesOf(op.DeleteEntityDocument, { orgId, entityId: 'a#b' })).map(([path]) => path)).toEqual([
      'entityId',
    ]);
  });

  it('keeps other entities whose ids begin with the same characters', async () => {
    const orgId = await newOrgId(rpm(10));
    for (const entityId of ['a', 'a.b', 'ab']) await take(orgId, entityId, { rpm: 1 });
    await remove(orgId, 'a');
    for (const entityId of ['a.b', 'ab']) expect(await balances(orgId, entityId)).toEqual({ rpm: [9, 1] });
  });

  it('ends a bucket once, although callers make a new one at once', async () => {
    const orgId = await newOrgId(rpm(10));
    await take(orgId, 'user-1', { rpm: 3 });
    const { convert } = BucketStore.prototype;
    const ends = jest.spyOn(BucketStore.prototype, 'convert').mockImplementation(async function (
      this: BucketStore,
      ...conversion
    ) {
      const isDone = await convert.apply(this, conversion);
      await take(orgId, 'user-1', { rpm: 1 }, {}, other);
      return isDone;
    });
    expect(await remove(orgId, 'user-1')).toBe(true);
    expect(ends).toHaveBeenCalledTimes(1);
    ends.mockRestore();
    expect(await balances(orgId, 'user-1')).toEqual({ rpm: [9, 1] });
  });

  it('succeeds while another gateway uses the bucket, and grants at most the burst of each bucket', async () => {
    const orgId = await newOrgId(rpm(10));
    await take(orgId, 'user-1', { rpm: 1 }, {}, other);
    const results = await Promise.all([
      remove(orgId, 'user-1').then(() => undefined),
      ...Array.from({ length: 30 }, (_, i) => acquire(orgId, 'user-1', { rpm: 1 }, {}, i % 2 ? app : other)),
    ]);
    expect(results.filter((result) => result?.__typename === 'Lease').length).toBeLessThanOrEqual(20);
    const { rpm: [available, consumed] = [0, 0] } = (await balances(orgId, 'user-1')) ?? { rpm: [10, 0] };
    expect(available + consumed).toBe(10);
  });

  it('ends the cascade if the entity is a parent: its children no longer charge it', async () => {
    const orgId = await newOrgId(rpm(10));
    await create(orgId, 'team');
    await create(orgId, 'user-1', { parentId: 'team', cascade: true });
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await balances(orgId, 'team')).toEqual({ rpm: [9, 1] });
    await remove(orgId, 'team');
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await balances(orgId, 'team')).toBeUndefined();
    expect(await find(orgId, 'user-1')).toMatchObject({ parent: null, cascade: true });
    // An acquire does not make it a parent again. Creating it does.
    await take(orgId, 'team', { rpm: 1 });
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await balances(orgId, 'team')).toEqual({ rpm: [9, 1] });
    await create(orgId, 'team');
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await balances(orgId, 'team')).toEqual({ rpm: [8, 2] });
  });
});

describe('purgeLimiter', () => {
  it('empties the limiter at once, on all gateways within 2 s, and the worker deletes the items', async () => {
    const [orgId, unpurged] = [await newOrgId(rpm(10)), await newOrgId(rpm(10))];
    const fill = async (at: string) => {
      await create(at, 'team');
      await create(at, 'user-1', { parentId: 'team', cascade: true });
      await setLimits({ orgId: at, level: 'ENTITY', entityId: 'user-1', resource: 'api', limits: rpm(5) });
      for (const on of [app, other]) await take(at, 'user-1', { rpm: 2 }, {}, on);
    };
    await fill(orgId);
    await fill(unpurged);
    const { store, namespaces } = app.gateway.services;
    const old = await namespaces.of(orgId);
    const itemsOf = async (namespace: string) =>
      (await store.query({ table: 'limiter', index: 'GSI4', where: equals('GSI4PK', namespace) })).items.length;
    expect(await itemsOf(old)).toBeGreaterThanOrEqual(6);

    expect(await purge(orgId)).toBe(true);
    const isClean = async (on: TestApp) => {
      expect(await find(orgId, 'user-1', on)).toBeNull();
      expect((await on.admin.ask(op.EntitiesDocument, { orgId })).org?.entities.nodes).toEqual([]);
      expect((await on.admin.ask(op.LimitConfigsDocument, { orgId })).org?.limitConfigs).toEqual([]);
      expect(await on.admin.codeOf(op.AcquireDocument, { input: inputOf(orgId, 'user-1', { rpm: 1 }) })).toBe(
        'BAD_USER_INPUT',
      );
    };
    await isClean(app);
    // Gateways poll the change counter once per second.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await isClean(other);
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(10) });
    await take(orgId, 'user-1', { rpm: 10 });

    // The creation of a bucket that a gateway has announced is over by then.
    app.clock.advance(61_000);
    expect(await worker.limits.purge()).toBeGreaterThanOrEqual(6);
    expect(await itemsOf(old)).toBe(0);
    expect(await worker.limits.purge()).toBe(0);
    expect(await balances(orgId, 'user-1')).toEqual({ rpm: [0, 10] });
    expect(await balances(unpurged, 'user-1')).toEqual({ rpm: [1, 4] });
    expect(await balances(unpurged, 'team')).toEqual({ rpm: [6, 4] });
    const trail = (await app.admin.ask(op.AuditDocument, { orgId })).org?.auditEvents.nodes.map(({ action }) => action);
    expect(trail).toEqual(expect.arrayContaining(['entity_created', 'limits_set', 'limiter_purged']));
  });

  it('returns false for an org without a limiter, and NOT_FOUND if the org does not exist', async () => {
    expect(await purge(await newOrgId())).toBe(false);
    expect(await app.admin.codeOf(op.PurgeLimiterDocument, { orgId: randomUUID() })).toBe('NOT_FOUND');
  });
});
