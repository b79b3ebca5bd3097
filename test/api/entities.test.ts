import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { equals } from '../../src/dynamo/expression.js';
import { silentLog } from '../../src/lib/log.js';
import { newOrg, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let other: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
});
afterAll(async () => {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
});

/** Time only goes on: tests that name an instant stand in the order of their instants. */
function moveTo(iso: string): void {
  const byMs = Date.parse(iso) - app.clock.nowMs();
  if (byMs < 0) throw new Error(`${iso} has passed`);
  app.clock.advance(byMs);
}

type Amounts = Readonly<Record<string, number>>;

/** Comes back so slowly that nothing does during a test. */
const limit = (name: string, capacity: number, overrides: Partial<op.LimitInput> = {}): op.LimitInput => ({
  name,
  capacity,
  refillAmount: 1,
  refillPeriodSecs: 10_000_000,
  ...overrides,
});
const rpm = (capacity: number) => [limit('rpm', capacity)];

async function newOrgId(limits: op.LimitInput[] = []): Promise<string> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  if (limits.length > 0) await setLimits({ orgId, level: 'SYSTEM', limits });
  return orgId;
}

const setLimits = async (input: op.SetLimitsInput, on = app) =>
  (await on.admin.ask(op.SetLimitsDocument, { input })).setLimits;
const deleteLimits = async (input: op.DeleteLimitsInput) =>
  (await app.admin.ask(op.DeleteLimitsDocument, { input })).deleteLimits;
const create = async (orgId: string, entityId: string, more: Partial<op.CreateEntityInput> = {}) =>
  (await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, ...more } })).createEntity;
const remove = async (orgId: string, entityId: string, on = app) =>
  (await on.admin.ask(op.DeleteEntityDocument, { orgId, entityId })).deleteEntity;
const find = async (orgId: string, entityId: string, on = app) =>
  (await on.admin.ask(op.EntityOfDocument, { orgId, entityId })).org?.entity ?? null;
const purge = async (orgId: string) => (await app.admin.ask(op.PurgeLimiterDocument, { orgId })).purgeLimiter;

const inputOf = (
  orgId: string,
  entityId: string,
  consume: Amounts,
  more: Partial<op.AcquireInput> = {},
): op.AcquireInput => ({
  orgId,
  entityId,
  resource: 'api',
  consume: Object.entries(consume).map(([name, amount]) => ({ limit: name, amount })),
  ...more,
});
const acquire = async (
  orgId: string,
  entityId: string,
  consume: Amounts,
  more: Partial<op.AcquireInput> = {},
  on = app,
) => (await on.admin.ask(op.AcquireDocument, { input: inputOf(orgId, entityId, consume, more) })).acquire;

async function take(...args: Parameters<typeof acquire>): Promise<string> {
  const result = await acquire(...args);
  if (result.__typename !== 'Lease') throw new Error(result.message);
  return result.leaseId;
}

async function refusal(...args: Parameters<typeof acquire>) {
  const result = await acquire(...args);
  if (result.__typename !== 'RateLimited') throw new Error('it was granted');
  return result;
}

/** What each limit of a bucket has left and has given in all. */
async function standing(
  orgId: string,
  entityId: string,
  resource = 'api',
): Promise<Record<string, [available: number, consumed: number]> | undefined> {
  const limits = (await app.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity?.bucket?.limits;
  return (
    limits &&
    Object.fromEntries(
      limits.map(({ limit: { name }, available, totalConsumed }) => [name, [available, totalConsumed]]),
    )
  );
}

async function issuesOf<T, V>(
  document: Parameters<typeof app.admin.send<T, V>>[0],
  variables: V,
): Promise<[string, string][]> {
  const { errors } = await app.admin.send(document, variables);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return (errors?.[0]?.extensions.issues ?? []).map(({ path, message }) => [path, message]);
}

describe('createEntity', () => {
  it('creates what it was told, once', async () => {
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
        message: 'an entity with this id has been created already',
        extensions: { code: 'ALREADY_EXISTS' },
      });
    }
    expect(await find(orgId, 'user-1')).toMatchObject({ name: 'Ann' });
  });

  it('creates one of many that try at once', async () => {
    const orgId = await newOrgId();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => app.admin.send(op.CreateEntityDocument, { input: { orgId, entityId: 'e' } })),
    );
    expect(answers.filter(({ errors }) => !errors)).toHaveLength(1);
    expect(new Set(answers.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions.code) ?? []))).toEqual(
      new Set(['ALREADY_EXISTS']),
    );
  });

  it('gives a name and a parent to one that was only acquired for, and keeps its bucket', async () => {
    const orgId = await newOrgId(rpm(10));
    await take(orgId, 'user-1', { rpm: 3 });
    await create(orgId, 'user-1', { name: 'Ann' });
    expect(await find(orgId, 'user-1')).toMatchObject({
      name: 'Ann',
      buckets: [{ resource: 'api', limits: [{ available: 7 }] }],
    });
  });

  it('needs a parent that exists, in the same org', async () => {
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
    ['a parent with a bad name', { parentId: 'a#b' }, ['input.parentId']],
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
      'metadata without a name, too long, or twice',
      {
        metadata: [
          { name: '', value: '' },
          { name: 'a', value: 'x'.repeat(1025) },
          { name: 'a', value: '' },
        ],
      },
      ['input.metadata.0.name', 'input.metadata.1.value', 'input.metadata.2.name'],
    ],
  ])('refuses %s', async (_what, more, paths) => {
    const orgId = await newOrgId();
    expect(
      (await issuesOf(op.CreateEntityDocument, { input: { orgId, entityId: 'user-1', ...more } })).map(
        ([path]) => path,
      ),
    ).toEqual(paths);
    expect(await find(orgId, 'user-1')).toBeNull();
  });

  it('takes as much as it may', async () => {
    const orgId = await newOrgId();
    const metadata = Array.from({ length: 32 }, (_, i) => ({
      name: `${i}`.padStart(256, 'n'),
      value: 'x'.repeat(1024),
    }));
    const entityId = `A${'@'.repeat(255)}`;
    await create(orgId, entityId, { name: 'é'.repeat(256), metadata });
    expect(await find(orgId, entityId)).toMatchObject({ name: 'é'.repeat(256), metadata });
  });

  it('shows what it was told: half a character is refused or kept, never replaced', async () => {
    const orgId = await newOrgId();
    const input = { orgId, entityId: 'user-1', metadata: [{ name: 'half', value: '\ud800' }] };
    const { data, errors } = await app.admin.send(op.CreateEntityDocument, { input });
    if (errors) expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    else expect((await find(orgId, 'user-1'))?.metadata).toEqual(data?.createEntity.metadata);
  });
});

describe('an entity', () => {
  it('is found when it was only acquired for', async () => {
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

  it('is found when it only has limits, at either of its levels', async () => {
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

  it('and its bucket are found by id, by their own org alone', async () => {
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

describe('lists of entities', () => {
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

  it.each(lists)('%s come whole, and in pages that miss nothing and repeat nothing', async (_name, page, expected) => {
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

  it('take no cursor of another list, another org or with a byte changed', async () => {
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

  it('are empty where there is nothing, and go on after an entity that was deleted', async () => {
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

  it('cost a handful of calls to the store, however many entities they show', async () => {
    const many = await newOrgId(rpm(10));
    const names = Array.from({ length: 50 }, (_, i) => `user-${String(i).padStart(2, '0')}`);
    await Promise.all(names.map((entityId) => create(many, entityId)));
    await Promise.all(names.map((entityId) => take(many, entityId, { rpm: 1 })));
    const query =
      'query ($orgId: UUID) { org(orgId: $orgId) { entities(first: 50) { nodes { entityId bucket(resource: "api") { limits { available } } effectiveLimits(resource: "api") { source } } } } }';
    interface Data {
      readonly org: {
        readonly entities: {
          readonly nodes: readonly { entityId: string; bucket: unknown; effectiveLimits: unknown }[];
        };
      };
    }
    const { consumed } = other.gateway.services.store;
    // The other gateway has none of it in memory.
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
  it('takes its buckets and limits with it, and leaves what it has used on record', async () => {
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
    // Acquired for again, it starts full, under the limits of everyone.
    await take(orgId, 'user-1', { rpm: 10 }, {}, other);
    expect(await usage('api')).toMatchObject([{ entities: 2, counters: [{ limit: 'rpm', consumed: 17 }] }]);
  });

  it('answers false where there was nothing, and true for limits alone or a bucket alone', async () => {
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

  it('leaves other entities whose names begin alike', async () => {
    const orgId = await newOrgId(rpm(10));
    for (const entityId of ['a', 'a.b', 'ab']) await take(orgId, entityId, { rpm: 1 });
    await remove(orgId, 'a');
    for (const entityId of ['a.b', 'ab']) expect(await standing(orgId, entityId)).toEqual({ rpm: [9, 1] });
  });

  it('of a bucket in use through another gateway neither fails nor grants more than a bucket each', async () => {
    const orgId = await newOrgId(rpm(10));
    await take(orgId, 'user-1', { rpm: 1 }, {}, other);
    const results = await Promise.all([
      remove(orgId, 'user-1').then(() => undefined),
      ...Array.from({ length: 30 }, (_, i) => acquire(orgId, 'user-1', { rpm: 1 }, {}, i % 2 ? app : other)),
    ]);
    expect(results.filter((result) => result?.__typename === 'Lease').length).toBeLessThanOrEqual(20);
    const { rpm: [available, consumed] = [0, 0] } = (await standing(orgId, 'user-1')) ?? { rpm: [10, 0] };
    expect(available + consumed).toBe(10);
  });

  it('of a parent ends the cascade: its children no longer charge it', async () => {
    const orgId = await newOrgId(rpm(10));
    await create(orgId, 'team');
    await create(orgId, 'user-1', { parentId: 'team', cascade: true });
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await standing(orgId, 'team')).toEqual({ rpm: [9, 1] });
    await remove(orgId, 'team');
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await standing(orgId, 'team')).toBeUndefined();
    expect(await find(orgId, 'user-1')).toMatchObject({ parent: null, cascade: true });
    // Acquired for on its own it is no parent yet; created again, it is.
    await take(orgId, 'team', { rpm: 1 });
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await standing(orgId, 'team')).toEqual({ rpm: [9, 1] });
    await create(orgId, 'team');
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await standing(orgId, 'team')).toEqual({ rpm: [8, 2] });
  });
});

describe('cascade', () => {
  async function newFamily(parentLimits: op.LimitInput[], childLimits: op.LimitInput[] = rpm(10)): Promise<string> {
    const orgId = await newOrgId(childLimits);
    await create(orgId, 'team');
    if (parentLimits.length > 0)
      await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'team', limits: parentLimits });
    await create(orgId, 'user-1', { parentId: 'team', cascade: true });
    return orgId;
  }
  const events = async (orgId: string, entityId: string) =>
    (await app.admin.ask(op.UsageOfDocument, { orgId, entityId, window: 'MONTHLY' })).org?.entity?.usage.nodes.map(
      ({ totalEvents }) => totalEvents,
    );

  it('takes from both, and names both', async () => {
    const orgId = await newFamily(rpm(20));
    const result = await acquire(orgId, 'user-1', { rpm: 4 });
    expect(result.statuses).toMatchObject([
      { entityId: 'user-1', requested: 4, available: 6 },
      { entityId: 'team', requested: 4, available: 16 },
    ]);
    expect([await events(orgId, 'user-1'), await events(orgId, 'team')]).toEqual([[1], [1]]);
  });

  it.each([undefined, randomUUID()])(
    'gives the child back what it took when the parent is short (request id %s)',
    async (requestId) => {
      const orgId = await newFamily(rpm(5));
      await take(orgId, 'user-1', { rpm: 3 });
      const more = requestId ? { requestId } : {};
      // The second refusal may come from memory: it must say the same.
      for (let i = 0; i < 2; i++) {
        const result = await refusal(orgId, 'user-1', { rpm: 3 }, more);
        expect(result.statuses).toMatchObject([
          { entityId: 'user-1', resource: 'api', requested: 3, available: 7, exceeded: false },
          { entityId: 'team', resource: 'api', requested: 3, available: 2, exceeded: true },
        ]);
        expect(result.violations).toMatchObject([{ entityId: 'team' }]);
        expect(result.message).toContain('"rpm" of "team" has 2 of 3 wanted');
      }
      expect([await standing(orgId, 'user-1'), await standing(orgId, 'team')]).toEqual([
        { rpm: [7, 3] },
        { rpm: [2, 3] },
      ]);
      expect([await events(orgId, 'user-1'), await events(orgId, 'team')]).toEqual([[1], [1]]);
    },
  );

  it('gives the parent back what it took when the child is short', async () => {
    const orgId = await newFamily(rpm(50));
    await take(orgId, 'user-1', { rpm: 8 });
    const result = await refusal(orgId, 'user-1', { rpm: 3 });
    expect(result.statuses).toMatchObject([
      { entityId: 'user-1', available: 2, exceeded: true },
      { entityId: 'team', available: 42, exceeded: false },
    ]);
    expect([await standing(orgId, 'user-1'), await standing(orgId, 'team')]).toEqual([
      { rpm: [2, 8] },
      { rpm: [42, 8] },
    ]);
    expect([await events(orgId, 'user-1'), await events(orgId, 'team')]).toEqual([[1], [1]]);
  });

  it('is foreseen by availability: both are named, and nothing is changed', async () => {
    const orgId = await newFamily(rpm(5));
    await take(orgId, 'user-1', { rpm: 3 });
    const variables = { orgId, entityId: 'user-1', resource: 'api', consume: [{ limit: 'rpm', amount: 3 }] };
    const { availability } = await app.admin.ask(op.AvailabilityDocument, variables);
    expect(availability.statuses).toMatchObject([
      { entityId: 'user-1', requested: 3, available: 7, exceeded: false },
      { entityId: 'team', requested: 3, available: 2, exceeded: true },
    ]);
    expect(availability.retryAfterSecs).toBeGreaterThan(0);
    expect([await standing(orgId, 'user-1'), await standing(orgId, 'team')]).toEqual([
      { rpm: [7, 3] },
      { rpm: [2, 3] },
    ]);
  });

  it('follows limits that change on the parent, through either gateway', async () => {
    const orgId = await newFamily(rpm(20));
    for (const on of [app, other]) await take(orgId, 'user-1', { rpm: 1 }, {}, on);
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'team', limits: rpm(3) });
    await take(orgId, 'user-1', { rpm: 1 });
    expect((await refusal(orgId, 'user-1', { rpm: 3 }, {}, other)).violations).toMatchObject([
      { entityId: 'team', available: 2, limit: { capacity: 3 } },
    ]);
    expect((await refusal(orgId, 'user-1', { rpm: 3 }, { requestId: randomUUID() }, other)).violations).toMatchObject([
      { entityId: 'team', available: 2 },
    ]);
    expect([await standing(orgId, 'user-1'), await standing(orgId, 'team')]).toEqual([
      { rpm: [7, 3] },
      { rpm: [2, 3] },
    ]);
  });

  it('names both as violated where both are short', async () => {
    const orgId = await newFamily(rpm(10));
    await take(orgId, 'user-1', { rpm: 10 });
    expect((await refusal(orgId, 'user-1', { rpm: 1 })).violations).toMatchObject([
      { entityId: 'user-1' },
      { entityId: 'team' },
    ]);
  });

  it('of many children at once never takes more of the parent than it has, and children keep what was refused', async () => {
    const orgId = await newFamily(rpm(12));
    const children = ['user-1', 'user-2', 'user-3'];
    for (const entityId of children.slice(1)) await create(orgId, entityId, { parentId: 'team', cascade: true });
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        acquire(orgId, children[i % 3] as string, { rpm: 1 }, {}, i % 2 ? app : other),
      ),
    );
    const taken = results.filter(({ __typename }) => __typename === 'Lease').length;
    expect(taken).toBeLessThanOrEqual(12);
    const left = await Promise.all(children.map(async (entityId) => (await standing(orgId, entityId))?.rpm?.[1] ?? 0));
    expect(left.reduce((sum, consumed) => sum + consumed, 0)).toBe(taken);
    expect(await standing(orgId, 'team')).toEqual({ rpm: [12 - taken, taken] });
  });

  it('leaves out of the parent what it has no limit for', async () => {
    const orgId = await newFamily(rpm(20), [limit('rpm', 10), limit('tpm', 10)]);
    expect((await acquire(orgId, 'user-1', { rpm: 1, tpm: 2 })).statuses).toMatchObject([
      { entityId: 'user-1', limit: { name: 'rpm' }, available: 9 },
      { entityId: 'user-1', limit: { name: 'tpm' }, available: 8 },
      { entityId: 'team', limit: { name: 'rpm' }, available: 19 },
    ]);
    await take(orgId, 'user-1', { tpm: 1 });
    expect(await standing(orgId, 'team')).toEqual({ rpm: [19, 1] });
  });

  it('refuses what the parent can never give, or a parent without any limits, and takes nothing', async () => {
    const orgId = await newFamily(rpm(2));
    expect(await issuesOf(op.AcquireDocument, { input: inputOf(orgId, 'user-1', { rpm: 3 }) })).toEqual([
      ['input.consume.0.amount', '3 can never be taken: the burst of "rpm" for parent "team" on "api" is 2'],
    ]);
    expect(await standing(orgId, 'user-1')).toBeUndefined();
    const without = await newFamily([], []);
    await setLimits({ orgId: without, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(10) });
    const [[, message] = []] = await issuesOf(op.AcquireDocument, { input: inputOf(without, 'user-1', { rpm: 3 }) });
    expect(message).toContain('no limits are set for the parent "team" on "api"');
    expect(await standing(without, 'user-1')).toBeUndefined();
  });

  it('goes one level up, and only where it is asked for', async () => {
    const orgId = await newFamily(rpm(20));
    await create(orgId, 'baby', { parentId: 'user-1', cascade: true });
    await create(orgId, 'loner', { parentId: 'team' });
    await take(orgId, 'baby', { rpm: 1 });
    await take(orgId, 'loner', { rpm: 1 });
    expect(await standing(orgId, 'user-1')).toEqual({ rpm: [9, 1] });
    expect(await standing(orgId, 'team')).toBeUndefined();
  });
});

describe('setLimits', () => {
  it.each<[string, Omit<op.SetLimitsInput, 'limits'> & { limits?: op.LimitInput[] }, [string, string][]]>([
    [
      'SYSTEM with a resource',
      { level: 'SYSTEM', resource: 'api' },
      [['input.resource', 'has no meaning at level SYSTEM: leave it out']],
    ],
    [
      'SYSTEM with an entity',
      { level: 'SYSTEM', entityId: 'a' },
      [['input.entityId', 'has no meaning at level SYSTEM: leave it out']],
    ],
    ['RESOURCE without one', { level: 'RESOURCE' }, [['input.resource', 'is needed at level RESOURCE']]],
    [
      'RESOURCE with an entity',
      { level: 'RESOURCE', resource: 'api', entityId: 'a' },
      [['input.entityId', 'has no meaning at level RESOURCE: leave it out']],
    ],
    [
      'ENTITY_DEFAULT without one',
      { level: 'ENTITY_DEFAULT' },
      [['input.entityId', 'is needed at level ENTITY_DEFAULT']],
    ],
    [
      'ENTITY_DEFAULT with a resource',
      { level: 'ENTITY_DEFAULT', entityId: 'a', resource: 'api' },
      [['input.resource', 'has no meaning at level ENTITY_DEFAULT: leave it out']],
    ],
    [
      'ENTITY without anything',
      { level: 'ENTITY' },
      [
        ['input.resource', 'is needed at level ENTITY'],
        ['input.entityId', 'is needed at level ENTITY'],
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
      [['input.limits.1.name', '"a" is named twice']],
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
  ])('refuses %s', async (_what, input, issues) => {
    const orgId = await newOrgId();
    expect(await issuesOf(op.SetLimitsDocument, { input: { orgId, limits: rpm(1), ...input } })).toEqual(issues);
    expect((await app.admin.ask(op.LimitConfigsDocument, { orgId })).org?.limitConfigs).toEqual([]);
  });

  it('refuses bad places to deleteLimits and limitConfig too', async () => {
    const orgId = await newOrgId();
    expect(await issuesOf(op.DeleteLimitsDocument, { input: { orgId, level: 'RESOURCE', resource: 'a#b' } })).toEqual([
      ['input.resource', expect.any(String)],
    ]);
    expect(await issuesOf(op.DeleteLimitsDocument, { input: { orgId, level: 'ENTITY', entityId: 'a' } })).toEqual([
      ['input.resource', 'is needed at level ENTITY'],
    ]);
    expect(await issuesOf(op.LimitConfigOfDocument, { orgId, level: 'SYSTEM', entityId: 'a' })).toEqual([
      ['entityId', expect.any(String)],
    ]);
  });

  it('replaces a level whole, fills in what is absent, and counts the versions', async () => {
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

  it('by many at once gives each a version of its own, and the last one stands', async () => {
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

  it('may set the policy alone at the system level, where it then rules', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1');
    const inForce = async () =>
      (await app.admin.ask(op.EffectiveLimitsOfDocument, { orgId, entityId: 'user-1', resource: 'api' })).org?.entity
        ?.effectiveLimits;
    expect(await inForce()).toEqual({ limits: [], source: null, onUnavailable: 'BLOCK' });
    expect(await setLimits({ orgId, level: 'SYSTEM', limits: [], onUnavailable: 'ALLOW' })).toMatchObject({
      limits: [],
      onUnavailable: 'ALLOW',
      version: 1,
    });
    expect(await inForce()).toEqual({ limits: [], source: null, onUnavailable: 'ALLOW' });
    await setLimits({ orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: rpm(3) });
    expect(await inForce()).toMatchObject({ source: 'ENTITY_DEFAULT', onUnavailable: 'ALLOW' });
    // A level is set whole: without the policy it is BLOCK again.
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(1) });
    expect(await inForce()).toMatchObject({ source: 'ENTITY_DEFAULT', onUnavailable: 'BLOCK' });
  });

  it('at a stronger level wins whole over the weaker ones, and gives way when it is deleted', async () => {
    const orgId = await newOrgId();
    await create(orgId, 'user-1');
    const places = [
      { orgId, level: 'SYSTEM' },
      { orgId, level: 'RESOURCE', resource: 'v1/chat' },
      { orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1' },
      { orgId, level: 'ENTITY', entityId: 'user-1', resource: 'v1/chat' },
    ] as const;
    const inForce = async (resource = 'v1/chat') => {
      const { org } = await app.admin.ask(op.EffectiveLimitsOfDocument, { orgId, entityId: 'user-1', resource });
      const { source, limits } = org?.entity?.effectiveLimits ?? {};
      return [source, limits?.map(({ name }) => name)];
    };
    for (const place of places) {
      await setLimits({ ...place, limits: [limit(`at-${place.level}`, 1)] });
      expect(await inForce()).toEqual([place.level, [`at-${place.level}`]]);
    }
    expect(await inForce('v1')).toEqual(['ENTITY_DEFAULT', ['at-ENTITY_DEFAULT']]);
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
      expect(await inForce()).toEqual(next ? [next.level, [`at-${next.level}`]] : [null, []]);
    }
  });
});

describe('resourceCapacity', () => {
  const capacityOf = async (orgId: string, more: Partial<op.CapacityOfQueryVariables> = {}) =>
    (await app.admin.ask(op.CapacityOfDocument, { orgId, resource: 'api', limit: 'rpm', ...more })).org
      ?.resourceCapacity;

  it('sums what everyone has: at most the capacity each, debts against it', async () => {
    const orgId = await newOrgId([limit('rpm', 10, { burst: 30 }), limit('tpm', 10)]);
    await create(orgId, 'team');
    await create(orgId, 'child', { parentId: 'team' });
    await take(orgId, 'team', { rpm: 5 });
    await take(orgId, 'child', { rpm: 28 });
    const leaseId = await take(orgId, 'acquired-for', { rpm: 30 });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: [{ limit: 'rpm', amount: 5 }], idempotencyKey: randomUUID() },
    });
    await take(orgId, 'elsewhere', { rpm: 1 }, { resource: 'api/v2' });
    expect(await capacityOf(orgId)).toEqual({
      resource: 'api',
      limit: 'rpm',
      totalCapacity: 30,
      totalAvailable: 7,
      utilizationPct: 76.667,
      entities: [
        { entityId: 'acquired-for', capacity: 10, available: -5, utilizationPct: 150 },
        { entityId: 'child', capacity: 10, available: 2, utilizationPct: 80 },
        { entityId: 'team', capacity: 10, available: 10, utilizationPct: 0 },
      ],
    });
    expect((await capacityOf(orgId, { parentsOnly: true }))?.entities.map(({ entityId }) => entityId)).toEqual([
      'team',
    ]);
    expect(await capacityOf(orgId, { limit: 'tpm' })).toMatchObject({
      totalCapacity: 30,
      totalAvailable: 30,
      utilizationPct: 0,
    });
  });

  it('is empty where nobody has the resource or the limit', async () => {
    const orgId = await newOrgId(rpm(10));
    const nothing = { totalCapacity: 0, totalAvailable: 0, utilizationPct: 0, entities: [] };
    expect(await capacityOf(orgId)).toMatchObject(nothing);
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await capacityOf(orgId, { limit: 'nope' })).toMatchObject(nothing);
    expect((await issuesOf(op.CapacityOfDocument, { orgId, resource: '#', limit: '#' })).map(([path]) => path)).toEqual(
      ['resource', 'limit'],
    );
  });
});

describe('the audit trail', () => {
  it('has every act on the limiter: who, what, for which entity', async () => {
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
    const acts = ['limits_set', 'limits_deleted'].flatMap((action) => [
      [action, '$SYSTEM', null],
      [action, '$RESOURCE:v1/chat', 'v1/chat'],
      [action, 'user-1', null],
      [action, 'user-1', 'v1/chat'],
    ]);
    expect(found.slice(-12).map(({ action, entityId, resource }) => [action, entityId, resource])).toEqual([
      ['entity_created', 'team', null],
      ['entity_created', 'user-1', null],
      ...acts,
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

describe('purgeLimiter', () => {
  it('starts clean at once, on every gateway within two seconds, and the worker deletes what was', async () => {
    const [orgId, spared] = [await newOrgId(rpm(10)), await newOrgId(rpm(10))];
    const fill = async (at: string) => {
      await create(at, 'team');
      await create(at, 'user-1', { parentId: 'team', cascade: true });
      await setLimits({ orgId: at, level: 'ENTITY', entityId: 'user-1', resource: 'api', limits: rpm(5) });
      for (const on of [app, other]) await take(at, 'user-1', { rpm: 2 }, {}, on);
    };
    await fill(orgId);
    await fill(spared);
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
    // Gateways look for such changes once a second.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await isClean(other);
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(10) });
    await take(orgId, 'user-1', { rpm: 10 });

    expect(await worker.limits.purge()).toBeGreaterThanOrEqual(6);
    expect(await itemsOf(old)).toBe(0);
    expect(await worker.limits.purge()).toBe(0);
    expect(await standing(orgId, 'user-1')).toEqual({ rpm: [0, 10] });
    expect(await standing(spared, 'user-1')).toEqual({ rpm: [1, 4] });
    expect(await standing(spared, 'team')).toEqual({ rpm: [6, 4] });
    const trail = (await app.admin.ask(op.AuditDocument, { orgId })).org?.auditEvents.nodes.map(({ action }) => action);
    expect(trail).toEqual(expect.arrayContaining(['entity_created', 'limits_set', 'limiter_purged']));
  });

  it('answers false for an org that never had anything, and NOT_FOUND for none', async () => {
    expect(await purge(await newOrgId())).toBe(false);
    expect(await app.admin.codeOf(op.PurgeLimiterDocument, { orgId: randomUUID() })).toBe('NOT_FOUND');
  });
});

describe('usage', () => {
  let orgId: string;
  const usageOf = async (window: op.UsageWindow, more: Partial<op.UsageOfQueryVariables> = {}) =>
    (await app.admin.ask(op.UsageOfDocument, { orgId, entityId: 'user-1', window, ...more })).org?.entity?.usage;
  /** Start, resource, amounts and events of each window. */
  const told = async (...args: Parameters<typeof usageOf>) =>
    (await usageOf(...args))?.nodes.map(({ windowStart, resource, counters, totalEvents }) => [
      windowStart,
      resource,
      Object.fromEntries(counters.map(({ limit: name, consumed }) => [name, consumed])),
      totalEvents,
    ]);
  const resourceUsage = async (window: op.UsageWindow, from: string, to: string, resource = 'api') =>
    (await app.admin.ask(op.ResourceUsageOfDocument, { orgId, resource, window, from, to })).org?.resourceUsage;

  const jan22 = '2030-01-31T22:00:00.000Z';
  const jan23 = '2030-01-31T23:00:00.000Z';
  const feb00 = '2030-02-01T00:00:00.000Z';
  const hours = [
    [jan22, 'api', { rpm: 3, tpm: 0 }, 1],
    [jan22, 'v1/chat', { rpm: 0, tpm: 7 }, 1],
    [jan23, 'api', { rpm: 3, tpm: 4 }, 2],
    [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
  ];

  beforeAll(async () => {
    moveTo('2030-01-31T22:30:00Z');
    orgId = await newOrgId([limit('rpm', 100), limit('tpm', 100)]);
    const leaseId = await take(orgId, 'user-1', { rpm: 3 });
    await take(orgId, 'user-1', { tpm: 7 }, { resource: 'v1/chat' });
    await take(orgId, 'user-2', { rpm: 50 });
    moveTo('2030-01-31T23:30:00Z');
    await take(orgId, 'user-1', { rpm: 2 });
    await take(orgId, 'user-1', { rpm: 1, tpm: 4 }, {}, other);
    moveTo('2030-02-01T00:10:00Z');
    await take(orgId, 'user-1', { rpm: 1 }, {}, other);
    await app.admin.ask(op.ReleaseLeaseDocument, { leaseId });
  });

  it('is told by the hour, the current one included; what is given back counts in the hour in which it is', async () => {
    expect(await told('HOURLY')).toEqual(hours);
    expect((await usageOf('HOURLY'))?.nodes[0]).toMatchObject({
      entityId: 'user-1',
      window: 'HOURLY',
      windowEnd: jan23,
    });
  });

  it('is summed by the day and by the month, over the end of both', async () => {
    expect(await told('DAILY')).toEqual([
      ['2030-01-31T00:00:00.000Z', 'api', { rpm: 6, tpm: 4 }, 3],
      ['2030-01-31T00:00:00.000Z', 'v1/chat', { rpm: 0, tpm: 7 }, 1],
      [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
    ]);
    expect(await told('MONTHLY')).toEqual([
      ['2030-01-01T00:00:00.000Z', 'api', { rpm: 6, tpm: 4 }, 3],
      ['2030-01-01T00:00:00.000Z', 'v1/chat', { rpm: 0, tpm: 7 }, 1],
      [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
    ]);
    expect((await usageOf('MONTHLY'))?.nodes.map(({ windowEnd }) => windowEnd)).toEqual([
      feb00,
      feb00,
      '2030-03-01T00:00:00.000Z',
    ]);
  });

  it('is bounded by a range of windows that begin in it, and by the resource', async () => {
    expect(await told('HOURLY', { resource: 'v1/chat' })).toEqual([hours[1]]);
    expect(await told('HOURLY', { resource: 'v1' })).toEqual([]);
    expect(await told('HOURLY', { from: jan23, to: feb00 })).toEqual([hours[2]]);
    expect(await told('HOURLY', { from: '2030-01-31T22:00:00.001Z' })).toEqual(hours.slice(2));
    expect(await told('HOURLY', { resource: 'api', from: jan23, to: '2030-02-01T00:00:00.001Z' })).toEqual(
      hours.slice(2),
    );
    expect(await told('MONTHLY', { resource: 'api', from: '2030-01-15T00:00:00Z' })).toEqual([
      [feb00, 'api', { rpm: -2, tpm: 0 }, 1],
    ]);
    expect(await told('DAILY', { to: feb00 })).toHaveLength(2);
    for (const to of [jan23, jan22])
      expect(
        await issuesOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'HOURLY', from: jan23, to }),
      ).toEqual([['from', 'must be before `to`']]);
    expect(
      (await issuesOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'HOURLY', resource: '#' })).map(
        ([path]) => path,
      ),
    ).toEqual(['resource']);
  });

  it('comes in pages, and takes no cursor of another listing', async () => {
    const seen: unknown[] = [];
    let after: string | undefined;
    for (let more = true; more; ) {
      seen.push(...((await told('HOURLY', { first: 1, after })) ?? []));
      const page = await usageOf('HOURLY', { first: 1, after });
      more = page?.pageInfo.hasNextPage ?? false;
      after = page?.pageInfo.endCursor ?? undefined;
    }
    expect(seen).toEqual(hours);
    expect(await app.admin.codeOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'DAILY', after })).toBe(
      'BAD_USER_INPUT',
    );
    expect(await app.admin.codeOf(op.UsageOfDocument, { orgId, entityId: 'user-2', window: 'HOURLY', after })).toBe(
      'BAD_USER_INPUT',
    );
    expect(
      await app.admin.codeOf(op.UsageOfDocument, { orgId, entityId: 'user-1', window: 'HOURLY', after: `${after}A` }),
    ).toBe('BAD_USER_INPUT');
  });

  it('of a resource is everyone of whom there is any', async () => {
    expect(await resourceUsage('HOURLY', jan22, '2030-02-01T01:00:00Z')).toEqual([
      {
        windowStart: jan22,
        windowEnd: jan23,
        entities: 2,
        counters: [
          { limit: 'rpm', consumed: 53 },
          { limit: 'tpm', consumed: 0 },
        ],
      },
      {
        windowStart: jan23,
        windowEnd: feb00,
        entities: 1,
        counters: [
          { limit: 'rpm', consumed: 3 },
          { limit: 'tpm', consumed: 4 },
        ],
      },
      {
        windowStart: feb00,
        windowEnd: '2030-02-01T01:00:00.000Z',
        entities: 1,
        counters: [
          { limit: 'rpm', consumed: -2 },
          { limit: 'tpm', consumed: 0 },
        ],
      },
    ]);
    expect(await resourceUsage('MONTHLY', '2030-01-01T00:00:00Z', feb00)).toMatchObject([
      { entities: 2, counters: [{ consumed: 56 }, { consumed: 4 }] },
    ]);
    expect(await resourceUsage('HOURLY', jan22, '2030-02-01T01:00:00Z', 'nothing')).toEqual([]);
    expect(
      await issuesOf(op.ResourceUsageOfDocument, { orgId, resource: 'api', window: 'HOURLY', from: jan23, to: jan22 }),
    ).toEqual([['from', 'must be before `to`']]);
  });

  it('of a time so long gone that it is kept no more is empty', async () => {
    const range = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    for (const window of ['HOURLY', 'DAILY', 'MONTHLY'] as const) {
      for (const resource of [undefined, 'api']) expect(await told(window, { resource, ...range })).toEqual([]);
      expect(await resourceUsage(window, range.from, range.to)).toEqual([]);
      expect(await resourceUsage(window, '0001-01-01T00:00:00Z', '0001-01-02T00:00:00Z')).toEqual([]);
    }
  });

  it('of a time yet to come is empty', async () => {
    expect(await resourceUsage('DAILY', '2040-01-01T00:00:00Z', '2040-01-02T00:00:00Z')).toEqual([]);
    for (const window of ['HOURLY', 'DAILY', 'MONTHLY'] as const) {
      expect(await resourceUsage(window, '2040-01-01T00:00:00Z', '9999-12-31T23:59:59Z')).toEqual([]);
    }
    for (const resource of ['api', undefined]) {
      expect(await told('DAILY', { resource, from: '2040-01-01T00:00:00Z', to: '2040-01-02T00:00:00Z' })).toEqual([]);
      expect(await told('DAILY', { resource, from: '2040-01-01T00:00:00Z' })).toEqual([]);
    }
  });

  it('stays the same when the worker books the hours of buckets that went idle', async () => {
    moveTo('2030-02-02T00:10:00Z');
    expect(await told('HOURLY')).toEqual(hours);
    expect(await worker.limits.tidyBuckets()).toBeGreaterThan(0);
    expect(await told('HOURLY')).toEqual(hours);
    expect(await worker.limits.tidyBuckets()).toBeUndefined();
    await take(orgId, 'user-1', { rpm: 1 });
    expect(await told('HOURLY')).toEqual([...hours, ['2030-02-02T00:00:00.000Z', 'api', { rpm: 1, tpm: 0 }, 1]]);
  });

  it('of a limit that went away is kept', async () => {
    await setLimits({ orgId, level: 'SYSTEM', limits: rpm(100) });
    await take(orgId, 'user-1', { rpm: 1 });
    expect((await told('HOURLY'))?.slice(0, 4)).toEqual(hours);
    expect(await told('DAILY', { from: '2030-02-02T00:00:00Z' })).toMatchObject([
      ['2030-02-02T00:00:00.000Z', 'api', { rpm: 2 }, 2],
    ]);
  });
});
