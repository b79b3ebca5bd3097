import { randomUUID } from 'node:crypto';
import { orgInput, startTestApp, type TestApp } from '../support/app.js';
import { TestClock } from '../support/clock.js';
import * as op from '../support/operations.js';

/** Stands still until it is moved, so that nothing refills beside a test and a promised moment can be met exactly. */
class StillClock extends TestClock {
  private atMs = Date.parse('2030-03-04T15:20:00.123Z');

  override nowMs(): number {
    return this.atMs;
  }

  override age(ms: number): void {
    super.age(ms);
    this.atMs += ms;
  }

  override advance(ms: number): void {
    this.atMs += ms;
  }
}

const dayMs = 86_400_000;

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 }, clock: new StillClock() });
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

interface Place {
  readonly orgId: string;
  readonly entityId: string;
  readonly resource: string;
}
type Acquired = NonNullable<op.AcquireMutation['acquire']>;
type Lease = Extract<Acquired, { __typename: 'Lease' }>;
type RateLimited = Extract<Acquired, { __typename: 'RateLimited' }>;

const rpm = (capacity = 10, overrides: Partial<op.LimitInput> = {}): op.LimitInput => ({
  name: 'rpm',
  capacity,
  refillPeriodSecs: 60,
  ...overrides,
});

/** A user of an org of its own with these limits for everything. */
async function newPlace(limits: op.LimitInput[] = [rpm()]): Promise<Place> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  if (limits.length > 0) await setLimits(orgId, limits);
  return { orgId, entityId: 'user-1', resource: 'api' };
}

const setLimits = async (orgId: string, limits: op.LimitInput[], on = app) =>
  (await on.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } })).setLimits;

const consumption = (consume: Readonly<Record<string, number>>): op.ConsumeInput[] =>
  Object.entries(consume).map(([limit, amount]) => ({ limit, amount }));

const inputOf = (
  place: Place,
  consume: Readonly<Record<string, number>>,
  more: Partial<op.AcquireInput> = {},
): op.AcquireInput => ({
  ...place,
  consume: consumption(consume),
  ...more,
});

async function acquire(
  place: Place,
  consume: Readonly<Record<string, number>>,
  more: Partial<op.AcquireInput> = {},
  on = app,
): Promise<Acquired> {
  return (await on.admin.ask(op.AcquireDocument, { input: inputOf(place, consume, more) })).acquire;
}

async function granted(...args: Parameters<typeof acquire>): Promise<Lease> {
  const result = await acquire(...args);
  if (result.__typename !== 'Lease') throw new Error(result.message);
  return result;
}

async function refused(...args: Parameters<typeof acquire>): Promise<RateLimited> {
  const result = await acquire(...args);
  if (result.__typename !== 'RateLimited') throw new Error('it was granted');
  return result;
}

async function issuesOf(input: op.AcquireInput, on = app): Promise<readonly { path: string; message: string }[]> {
  const { errors } = await on.admin.send(op.AcquireDocument, { input });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return errors?.[0]?.extensions.issues ?? [];
}

const bucketOf = async ({ orgId, entityId, resource }: Place, on = app) =>
  (await on.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity?.bucket ?? null;
const availabilityOf = async (place: Place, consume?: Readonly<Record<string, number>>, on = app) =>
  (await on.admin.ask(op.AvailabilityDocument, { ...place, ...(consume ? { consume: consumption(consume) } : {}) }))
    .availability;
const left = async (place: Place, limit = 'rpm', on = app): Promise<number | undefined> =>
  (await bucketOf(place, on))?.limits.find((entry) => entry.limit.name === limit)?.available;
const release = async (leaseId: string, on = app) =>
  (await on.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;
const countLeases = (results: readonly Acquired[]): number =>
  results.filter(({ __typename }) => __typename === 'Lease').length;

/** The fewest calls to the store over a few tries: the process looks for revocations once a second, which may fall into one. */
async function fewestCalls(act: () => Promise<unknown>, on = app): Promise<number> {
  const { consumed } = on.gateway.services.store;
  let fewest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5; attempt++) {
    const before = consumed.calls;
    await act();
    fewest = Math.min(fewest, consumed.calls - before);
  }
  return fewest;
}

describe('what is granted', () => {
  it('comes with how every limit stands after it, and when the lease ends', async () => {
    const place = await newPlace([
      rpm(10, { burst: 15 }),
      { name: 'tpm', capacity: 1000, refillAmount: 500, refillPeriodSecs: 30 },
    ]);
    const lease = await granted(place, { rpm: 2 });
    expect(lease).toMatchObject({ entityId: 'user-1', resource: 'api', degraded: false, replayed: false });
    expect(lease.statuses).toEqual([
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'rpm', capacity: 10, burst: 15, refillAmount: 10, refillPeriodSecs: 60 },
        requested: 2,
        available: 13,
        exceeded: false,
        retryAfterSecs: 0,
        wouldRefuse: false,
      },
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'tpm', capacity: 1000, burst: 1000, refillAmount: 500, refillPeriodSecs: 30 },
        requested: 0,
        available: 1000,
        exceeded: false,
        retryAfterSecs: 0,
        wouldRefuse: false,
      },
    ]);
    expect(Date.parse(lease.expiresAt)).toBe(app.clock.nowMs() + dayMs);
    expect(lease.leaseId).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it('makes the bucket in the write that takes from it, once the limits are known', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 1 });
    let next = 2;
    const fresh = () => granted({ ...place, entityId: `user-${next++}` }, { rpm: 1 });
    const { consumed } = app.gateway.services.store;
    const before = consumed.write;
    await fresh();
    expect(consumed.write - before).toBeGreaterThan(0);
    // Its entity and its own levels are read, in one batch each; then one write.
    expect(await fewestCalls(fresh)).toBeLessThanOrEqual(3);
    expect(await bucketOf({ ...place, entityId: 'user-2' })).toMatchObject({
      shardCount: 1,
      limits: [{ available: 9, totalConsumed: 1 }],
    });
  });

  it('costs one call to the store on a bucket that is known', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 });
    expect(await fewestCalls(() => granted(place, { rpm: 1 }))).toBe(1);
  });

  it('keeps entities, resources and orgs apart', async () => {
    const place = await newPlace([rpm(1)]);
    await granted(place, { rpm: 1 });
    await granted({ ...place, entityId: 'user-2' }, { rpm: 1 });
    await granted({ ...place, resource: 'api/v2' }, { rpm: 1 });
    await granted(await newPlace([rpm(1)]), { rpm: 1 });
    await refused(place, { rpm: 1 });
  });

  it('takes names with every character they may have', async () => {
    const limits = ['a', 'a-b', 'a.b', 'a_b', 'a_fa', 'b_a_cp', 'A'].map((name) => rpm(5, { name }));
    const place = {
      ...(await newPlace(limits)),
      entityId: `0${'a_.-:@'.repeat(42)}zzz`,
      resource: 'v1/chat:complete_x.y-z/',
    };
    expect(place.entityId).toHaveLength(256);
    const lease = await granted(place, { 'a-b': 1, 'a.b': 2, a_fa: 3 });
    expect(Object.fromEntries(lease.statuses.map(({ limit, available }) => [limit.name, available]))).toEqual({
      A: 5,
      a: 5,
      'a-b': 4,
      'a.b': 3,
      a_b: 5,
      a_fa: 2,
      b_a_cp: 5,
    });
    expect(await left(place, 'a.b')).toBe(3);
    await refused(place, { 'a.b': 4 });
    const long = { ...place, resource: `r${'/'.repeat(63)}` };
    await granted(long, { a: 1 });
    expect(await left(long, 'a')).toBe(4);
  });

  it('is a thousand million million at the most, counted exactly', async () => {
    const place = await newPlace([rpm(1e15)]);
    expect((await granted(place, { rpm: 1e15 - 1 })).statuses[0]?.available).toBe(1);
    await refused(place, { rpm: 2 });
    expect((await granted(place, { rpm: 1 })).statuses[0]?.available).toBe(0);
    await refused(place, { rpm: 1 });
  });

  it('is served under the slowest limits that may be set', async () => {
    const place = await newPlace([rpm(1e15, { refillAmount: 1, refillPeriodSecs: 1_000_000_000 })]);
    expect((await granted(place, { rpm: 1 })).statuses[0]?.available).toBe(1e15 - 1);
    expect((await granted(place, { rpm: 1e15 - 1 })).statuses[0]?.available).toBe(0);
    await refused(place, { rpm: 1 });
  });

  it('is no more than the burst after any time of rest', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 100 });
    app.clock.advance(3_600_000);
    const results = await Promise.all(Array.from({ length: 21 }, () => acquire(place, { rpm: 10 })));
    expect(countLeases(results)).toBe(10);
  });
});

describe('a refusal', () => {
  it('has the status of every limit, the violations apart, and takes nothing of any', async () => {
    const place = await newPlace([rpm(10), { name: 'tpm', capacity: 600, refillPeriodSecs: 60 }]);
    await granted(place, { rpm: 2, tpm: 600 });
    const result = await refused(place, { rpm: 3, tpm: 60 });
    expect(result.statuses).toMatchObject([
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'rpm' },
        requested: 3,
        available: 8,
        exceeded: false,
        retryAfterSecs: 0,
      },
      {
        entityId: 'user-1',
        resource: 'api',
        limit: { name: 'tpm' },
        requested: 60,
        available: 0,
        exceeded: true,
        retryAfterSecs: 6,
      },
    ]);
    expect(result.violations).toEqual([result.statuses[1]]);
    expect(result.retryAfterSecs).toBe(6);
    expect(result.message).toBe('refused on "api": "tpm" of "user-1" has 0 of 60 wanted; try again in 6 s');
    expect((await bucketOf(place))?.limits).toMatchObject([
      { available: 8, totalConsumed: 2 },
      { available: 0, totalConsumed: 600 },
    ]);
  });

  it.each([
    ['seven a minute', rpm(7)],
    ['one every seven seconds', rpm(3, { refillAmount: 1, refillPeriodSecs: 7 })],
    ['a thousand and one a second', rpm(1001, { refillPeriodSecs: 1 })],
    ['one a day with a burst of two', rpm(1, { burst: 2, refillPeriodSecs: 86_400 })],
  ])('of %s ends at the moment it promised, and not a millisecond before', async (_what, limit) => {
    const place = await newPlace([limit]);
    await granted(place, { rpm: limit.burst ?? limit.capacity });
    if (limit.capacity < 1000) app.clock.advance(17);
    const { retryAfterSecs } = await refused(place, { rpm: 1 });
    const waitMs = Math.round(retryAfterSecs * 1000);
    expect(waitMs / 1000).toBe(retryAfterSecs);
    for (let leftMs = waitMs; leftMs > 1; ) {
      expect((await refused(place, { rpm: 1 })).retryAfterSecs).toBe(leftMs / 1000);
      const halfMs = Math.floor(leftMs / 2);
      app.clock.advance(halfMs);
      leftMs -= halfMs;
    }
    expect((await refused(place, { rpm: 1 })).retryAfterSecs).toBe(0.001);
    expect((await refused(place, { rpm: 1 }, {}, other)).retryAfterSecs).toBe(0.001);
    app.clock.advance(1);
    await granted(place, { rpm: 1 }, {}, other);
    await refused(place, { rpm: 1 });
  });

  it('waits for the slowest of the limits that are short', async () => {
    const place = await newPlace([rpm(10), { name: 'rpd', capacity: 10, refillPeriodSecs: 86_400 }]);
    await granted(place, { rpm: 10, rpd: 10 });
    expect(await refused(place, { rpm: 1, rpd: 1 })).toMatchObject({
      retryAfterSecs: 8640,
      violations: [{ limit: { name: 'rpd' } }, { limit: { name: 'rpm' } }],
    });
  });

  it('says in headers when to come back and how every limit stands, on a grant too', async () => {
    const place = await newPlace([
      rpm(10, { burst: 20, refillAmount: 5 }),
      { name: 'tpm', capacity: 60, refillPeriodSecs: 60 },
    ]);
    const names = ['retry-after', 'ratelimit', 'ratelimit-policy'];
    const first = await app.admin.send(op.AcquireDocument, { input: inputOf(place, { rpm: 20, tpm: 1 }) });
    const policy = '"rpm";q=5;w=60, "tpm";q=60;w=60';
    expect(names.map((name) => first.headers.get(name))).toEqual([null, '"rpm";r=0;t=240, "tpm";r=59;t=1', policy]);
    app.clock.advance(1);
    const { status, headers, errors, data } = await app.admin.send(op.AcquireDocument, {
      input: inputOf(place, { rpm: 1, tpm: 1 }),
    });
    expect([status, errors, data?.acquire.__typename]).toEqual([200, undefined, 'RateLimited']);
    expect(names.map((name) => headers.get(name))).toEqual(['12', '"rpm";r=0;t=12, "tpm";r=59;t=1', policy]);
  });

  it('keeps the headers of a refusal when the same operation is granted something later', async () => {
    const place = await newPlace([rpm(10)]);
    const both =
      'mutation ($a: AcquireInput!, $b: AcquireInput!) { a: acquire(input: $a) { __typename } b: acquire(input: $b) { __typename } }';
    await granted(place, { rpm: 10 });
    const { headers } = await app.admin.send(both, {
      a: inputOf(place, { rpm: 1 }),
      b: inputOf({ ...place, entityId: 'user-2' }, { rpm: 1 }),
    });
    expect([headers.get('retry-after'), headers.get('ratelimit')]).toEqual(['7', '"rpm";r=0;t=7']);
  });
});

describe('a refusal remembered', () => {
  it('is repeated without asking the store, with every status', async () => {
    const place = await newPlace([rpm(10), { name: 'tpm', capacity: 100, refillPeriodSecs: 60 }]);
    await granted(place, { rpm: 10, tpm: 10 });
    const asked = await refused(place, { rpm: 1, tpm: 5 });
    expect(await fewestCalls(async () => expect(await refused(place, { rpm: 1, tpm: 5 })).toEqual(asked))).toBe(0);
    app.clock.advance(1000);
    const later = await refused(place, { rpm: 1, tpm: 5 });
    expect(later).toMatchObject({ retryAfterSecs: 5, statuses: [{ available: 0 }, { available: 91 }] });
  });

  it('says nothing of a smaller cost', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 5 });
    await refused(place, { rpm: 6 });
    await granted(place, { rpm: 5 });
    await refused(place, { rpm: 1 });
    await granted(place, { rpm: 0 });
  });

  it('falls when something is given back', async () => {
    const place = await newPlace();
    const { leaseId } = await granted(place, { rpm: 10 });
    await refused(place, { rpm: 1 });
    await release(leaseId);
    await granted(place, { rpm: 10 });
    await refused(place, { rpm: 1 });
    const { leaseId: next } = await granted(place, { rpm: 0 });
    await refused(place, { rpm: 1 });
    await release(next);
    await refused(place, { rpm: 1 });
  });

  it('falls when limits are raised here', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 10 });
    await refused(place, { rpm: 1 });
    await setLimits(place.orgId, [rpm(10), rpm(5, { name: 'other' })]);
    expect((await refused(place, { rpm: 1 })).statuses.map(({ limit }) => limit.name)).toEqual(['other', 'rpm']);
  });
});

describe('a cost of 0', () => {
  it('passes on an empty bucket and not on one in debt', async () => {
    const place = await newPlace();
    const { leaseId } = await granted(place, { rpm: 10 });
    expect((await granted(place, { rpm: 0 })).statuses).toMatchObject([
      { requested: 0, available: 0, exceeded: false },
    ]);
    const input = { leaseId, adjust: consumption({ rpm: 5 }), idempotencyKey: randomUUID() };
    await app.admin.ask(op.AdjustLeaseDocument, { input });
    const result = await refused(place, { rpm: 0 });
    expect(result).toMatchObject({
      retryAfterSecs: 30,
      violations: [{ requested: 0, available: -5, exceeded: true, retryAfterSecs: 30 }],
    });
    app.clock.advance(29_999);
    await refused(place, { rpm: 0 });
    app.clock.advance(1);
    await granted(place, { rpm: 0 });
  });

  it('makes the bucket too', async () => {
    const place = await newPlace();
    await granted(place, { rpm: 0 });
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 10, totalConsumed: 0 }] });
  });

  it('is asked of a limit that is left out: its debt stands in the way', async () => {
    const place = await newPlace([rpm(10), rpm(10, { name: 'tpm' })]);
    const { leaseId } = await granted(place, { tpm: 10 });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: consumption({ tpm: 1 }), idempotencyKey: randomUUID() },
    });
    expect((await refused(place, { rpm: 1 })).violations).toMatchObject([
      { limit: { name: 'tpm' }, requested: 0, available: -1 },
    ]);
  });
});

describe('an input that can never pass', () => {
  let place: Place;
  beforeAll(async () => {
    place = await newPlace([rpm(10, { burst: 12 }), rpm(5, { name: 'tpm' })]);
    await granted(place, { rpm: 1 });
  });
  // A bad input must leave the bucket as it was.
  afterEach(async () =>
    expect((await bucketOf(place))?.limits.map(({ totalConsumed }) => totalConsumed)).toEqual([1, 0]),
  );

  const bad: [string, (place: Place) => op.AcquireInput, { path: string; message: unknown }[]][] = [
    [
      'a cost above the burst',
      (at) => inputOf(at, { rpm: 13, tpm: 1 }),
      [
        {
          path: 'input.consume.0.amount',
          message: '13 can never be taken: the burst of "rpm" for entity "user-1" on "api" is 12',
        },
      ],
    ],
    [
      'a limit that the bucket does not have',
      (at) => inputOf(at, { rpm: 1, nope: 1 }),
      [{ path: 'input.consume.1.limit', message: 'entity "user-1" on "api" has no limit "nope": it has "rpm", "tpm"' }],
    ],
    [
      'a negative amount',
      (at) => inputOf(at, { rpm: 1, tpm: -1 }),
      [{ path: 'input.consume.1.amount', message: 'must be a whole number from 0 to 1000000000000000' }],
    ],
    [
      'more than a thousand million million',
      (at) => inputOf(at, { rpm: 1e15 + 1 }),
      [{ path: 'input.consume.0.amount', message: expect.any(String) }],
    ],
    [
      'the same limit twice',
      (at) => ({ ...inputOf(at, {}), consume: [...consumption({ rpm: 1 }), ...consumption({ rpm: 2 })] }),
      [{ path: 'input.consume.1.limit', message: '"rpm" is named twice' }],
    ],
    [
      'nothing to consume',
      (at) => inputOf(at, {}),
      [{ path: 'input.consume', message: 'must name at least one limit' }],
    ],
    [
      'the reserved name wcu',
      (at) => inputOf(at, { wcu: 1 }),
      [{ path: 'input.consume.0.limit', message: '"wcu" is reserved: choose another name' }],
    ],
    [
      'empty limits',
      (at) => inputOf(at, { rpm: 1 }, { limits: [] }),
      [{ path: 'input.limits', message: 'must have 1 to 10 limits' }],
    ],
    [
      'a burst below the capacity',
      (at) => inputOf(at, { rpm: 1 }, { limits: [rpm(10, { burst: 9 })] }),
      [{ path: 'input.limits.0.burst', message: 'must be at least the capacity, 10' }],
    ],
  ];
  it.each(bad)('is refused for %s', async (_what, input, issues) => {
    expect(await issuesOf(input(place))).toEqual(issues);
  });

  it.each([
    ['a fraction', 1.5],
    ['a number past 2^53', 2 ** 53],
    ['a number far past 2^53', 1e300],
    ['minus a fraction', -0.5],
  ])('is refused for %s', async (_what, amount) => {
    await issuesOf(inputOf(place, { rpm: amount }));
  });

  it.each([
    ['entityId', 'user-1\n'],
    ['entityId', 'user#1'],
    ['entityId', 'user/1'],
    ['entityId', 'user\u00001'],
    ['entityId', '\u007f'],
    ['entityId', ''],
    ['entityId', ' '],
    ['entityId', '-user'],
    ['entityId', '$SYSTEM'],
    ['entityId', 'x'.repeat(257)],
    ['entityId', 'usér'],
    ['resource', 'api\n'],
    ['resource', 'a#b'],
    ['resource', 'a\tb'],
    ['resource', ''],
    ['resource', '_default_'],
    ['resource', '/api'],
    ['resource', '1api'],
    ['resource', 'x'.repeat(65)],
  ] as const)('is refused for the %s %j', async (field, value) => {
    const [issue, ...more] = await issuesOf({ ...inputOf(place, { rpm: 1 }), [field]: value });
    expect([issue?.path, more]).toEqual([`input.${field}`, []]);
    expect(issue?.message).toMatch(/^must have 1 to (256|64) of/);
  });

  it.each(['rpm\n', 'a#b', 'a/b', 'a:b', '', '_x', '1a', 'x'.repeat(65), '__proto__'])(
    'is refused for the limit %j',
    async (name) => {
      expect((await issuesOf({ ...place, consume: [{ limit: name, amount: 1 }] }))[0]?.path).toBe(
        'input.consume.0.limit',
      );
      expect((await issuesOf(inputOf(place, { rpm: 1 }, { limits: [rpm(), rpm(10, { name })] })))[0]?.path).toBe(
        'input.limits.1.name',
      );
    },
  );

  it('has every issue named at once', async () => {
    const input = {
      ...place,
      entityId: '#',
      resource: '',
      consume: [
        { limit: 'rpm', amount: -1 },
        { limit: 'rpm', amount: 1 },
      ],
      limits: [rpm(0, { refillPeriodSecs: 0, refillAmount: -1 }), rpm(10)],
    };
    expect((await issuesOf(input)).map(({ path }) => path)).toEqual([
      'input.entityId',
      'input.resource',
      'input.consume.0.amount',
      'input.consume.1.limit',
      'input.limits.0.capacity',
      'input.limits.0.refillAmount',
      'input.limits.0.refillPeriodSecs',
      'input.limits.1.name',
    ]);
  });

  it('is refused where no limits are set at any level', async () => {
    const bare = await newPlace([]);
    expect(await issuesOf(inputOf(bare, { rpm: 1 }))).toEqual([
      {
        path: 'input.resource',
        message:
          'no limits are set for entity "user-1" on "api" at any level: set some with setLimits, or send `limits`',
      },
    ]);
    expect(await bucketOf(bare)).toBeNull();
  });

  it('is refused for an org that does not exist', async () => {
    expect(
      await app.admin.codeOf(op.AcquireDocument, { input: inputOf({ ...place, orgId: randomUUID() }, { rpm: 1 }) }),
    ).toBe('NOT_FOUND');
  });
});

describe('limits in the input', () => {
  it('serve where none are set, and outrank those that are', async () => {
    const bare = await newPlace([]);
    await granted(bare, { rps: 2 }, { limits: [rpm(2, { name: 'rps' })] });
    await refused(bare, { rps: 1 }, { limits: [rpm(2, { name: 'rps' })] });
    const place = await newPlace([rpm(1)]);
    expect((await granted(place, { own: 5 }, { limits: [rpm(7, { name: 'own' })] })).statuses).toMatchObject([
      { limit: { name: 'own', capacity: 7 }, available: 2 },
    ]);
  });

  it('are the same in any order, and with what is absent written out', async () => {
    const place = await newPlace([]);
    const a = rpm(10, { name: 'a' });
    const b = rpm(10, { name: 'b' });
    await granted(place, { a: 4 }, { limits: [a, b] });
    const full = { burst: 10, refillAmount: 10 };
    expect(
      (
        await granted(
          place,
          { a: 4 },
          {
            limits: [
              { ...b, ...full },
              { ...a, ...full },
            ],
          },
          other,
        )
      ).statuses,
    ).toMatchObject([{ available: 2 }, { available: 10 }]);
  });
});

describe('a request id', () => {
  it('brings back the first lease, and takes nothing more', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const first = await granted(place, { rpm: 4 }, { requestId });
    expect(first).toMatchObject({ replayed: false, statuses: [{ requested: 4, available: 6 }] });
    app.clock.advance(10);
    for (const on of [app, other]) {
      const again = await granted(place, { rpm: 4 }, { requestId }, on);
      expect(again).toMatchObject({
        leaseId: first.leaseId,
        replayed: true,
        expiresAt: first.expiresAt,
        statuses: [{ requested: 4, available: 6 }],
      });
    }
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 6, totalConsumed: 4 }] });
  });

  it('counts the same amounts in another order, and the id in another case, as the same', async () => {
    const place = await newPlace([rpm(10), rpm(10, { name: 'tpm' })]);
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 1, tpm: 2 }, { requestId });
    expect(await granted(place, { tpm: 2, rpm: 1 }, { requestId: requestId.toUpperCase() })).toMatchObject({
      leaseId,
      replayed: true,
    });
  });

  it('charges once when it is sent many times at once, through two gateways', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const leases = await Promise.all(
      Array.from({ length: 20 }, (_, i) => granted(place, { rpm: 3 }, { requestId }, i % 2 ? app : other)),
    );
    expect(new Set(leases.map(({ leaseId }) => leaseId)).size).toBe(1);
    expect(leases.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await left(place)).toBe(7);
  });

  it('is a conflict with anything else, and nothing is taken', async () => {
    const place = await newPlace([rpm(10), rpm(10, { name: 'tpm' })]);
    const requestId = randomUUID();
    await granted(place, { rpm: 4 }, { requestId });
    const others = [
      inputOf(place, { rpm: 5 }, { requestId }),
      inputOf(place, { rpm: 4, tpm: 1 }, { requestId }),
      inputOf(place, { tpm: 4 }, { requestId }),
      inputOf({ ...place, entityId: 'user-2' }, { rpm: 4 }, { requestId }),
      inputOf({ ...place, resource: 'web' }, { rpm: 4 }, { requestId }),
      inputOf(place, { rpm: 4 }, { requestId, limits: [rpm(11)] }),
    ];
    for (const input of others) {
      const { errors } = await app.admin.send(op.AcquireDocument, { input });
      expect(errors?.[0]).toMatchObject({
        message: `request ${requestId} has acquired something else`,
        extensions: { code: 'IDEMPOTENCY_CONFLICT' },
      });
    }
    expect(await left(place)).toBe(6);
    expect(await bucketOf({ ...place, entityId: 'user-2' })).toBeNull();
    expect(await bucketOf({ ...place, resource: 'web' })).toBeNull();
  });

  it('of one org says nothing to another', async () => {
    const requestId = randomUUID();
    const first = await granted(await newPlace(), { rpm: 4 }, { requestId });
    const second = await granted(await newPlace(), { rpm: 1 }, { requestId });
    expect(second.replayed).toBe(false);
    expect(second.leaseId).not.toBe(first.leaseId);
  });

  it('brings the lease back though the bucket is empty, or in debt, by now', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 4 }, { requestId });
    const { leaseId: rest } = await granted(place, { rpm: 6 });
    await refused(place, { rpm: 4 });
    for (const on of [app, other])
      expect(await granted(place, { rpm: 4 }, { requestId }, on)).toMatchObject({ leaseId, replayed: true });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId: rest, adjust: consumption({ rpm: 3 }), idempotencyKey: randomUUID() },
    });
    for (const on of [app, other])
      expect(await granted(place, { rpm: 4 }, { requestId }, on)).toMatchObject({ leaseId, replayed: true });
  });

  it('that was refused may be granted later', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 10 });
    expect(await refused(place, { rpm: 1 }, { requestId })).toMatchObject({
      retryAfterSecs: 6,
      statuses: [{ requested: 1, available: 0 }],
    });
    await release(leaseId);
    expect((await granted(place, { rpm: 1 }, { requestId })).replayed).toBe(false);
    expect((await granted(place, { rpm: 1 }, { requestId })).replayed).toBe(true);
  });

  it('whose lease was released grants nothing any more', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 4 }, { requestId });
    await release(leaseId);
    for (const on of [app, other])
      expect(await on.admin.codeOf(op.AcquireDocument, { input: inputOf(place, { rpm: 4 }, { requestId }) })).toBe(
        'LEASE_EXPIRED',
      );
    expect(await left(place)).toBe(10);
  });

  it('is a new one after 24 hours, and not a millisecond before', async () => {
    const place = await newPlace([rpm(10, { refillAmount: 1, refillPeriodSecs: 1_000_000 })]);
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 4 }, { requestId });
    app.clock.advance(dayMs - 1);
    expect(await granted(place, { rpm: 4 }, { requestId })).toMatchObject({ leaseId, replayed: true });
    app.clock.advance(1);
    const next = await granted(place, { rpm: 4 }, { requestId });
    expect(next.replayed).toBe(false);
    expect(next.leaseId).not.toBe(leaseId);
    expect(await left(place)).toBe(2);
  });

  it('goes with others of its kind: forty at once take what fits', async () => {
    const place = await newPlace([rpm(25)]);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        acquire(place, { rpm: 1 }, { requestId: randomUUID() }, i % 2 ? app : other),
      ),
    );
    expect(countLeases(results)).toBe(25);
    expect(await left(place)).toBe(0);
  });
});

describe('many at once', () => {
  it('are granted exactly what fits, on a bucket that nobody has seen', async () => {
    const place = await newPlace([rpm(60)]);
    const results = await Promise.all(Array.from({ length: 100 }, () => acquire(place, { rpm: 1 })));
    expect(countLeases(results)).toBe(60);
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 0, totalConsumed: 60 }] });
  });

  it('of different costs never take more than there is, and none is refused that would still fit', async () => {
    const place = await newPlace([rpm(100), rpm(50, { name: 'tpm' })]);
    const costs = Array.from({ length: 60 }, (_, i) => ({ rpm: (i % 7) + 1, tpm: i % 3 }));
    const results = await Promise.all(costs.map((cost) => acquire(place, cost)));
    const taken = costs.filter((_, i) => results[i]?.__typename === 'Lease');
    const spent = (name: 'rpm' | 'tpm') => taken.reduce((sum, cost) => sum + cost[name], 0);
    expect(await left(place)).toBe(100 - spent('rpm'));
    expect(await left(place, 'tpm')).toBe(50 - spent('tpm'));
    const smallest = Math.min(
      ...costs.filter((_, i) => results[i]?.__typename === 'RateLimited').map((cost) => cost.rpm),
    );
    expect(100 - spent('rpm') < smallest || 50 - spent('tpm') < 2).toBe(true);
  });

  it('through two gateways are never granted more than there is', async () => {
    const place = await newPlace([rpm(50)]);
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => acquire(place, { rpm: 1 }, {}, i % 2 ? app : other)),
    );
    expect(countLeases(results)).toBe(50);
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 0, totalConsumed: 50 }] });
    for (const on of [app, other]) await refused(place, { rpm: 1 }, {}, on);
  });

  it('that take and give back leave the bucket as it was', async () => {
    const place = await newPlace([rpm(40)]);
    const results = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const result = await acquire(place, { rpm: 1 }, {}, i % 2 ? app : other);
        if (result.__typename === 'Lease') await release(result.leaseId, i % 3 ? app : other);
        return result;
      }),
    );
    expect(countLeases(results)).toBeGreaterThanOrEqual(40);
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 40, totalConsumed: 0 }] });
  });
});

describe('changed limits', () => {
  it('hold on the next acquire through the gateway that took the change', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 });
    await setLimits(place.orgId, [rpm(5)]);
    expect((await issuesOf(inputOf(place, { rpm: 6 })))[0]?.path).toBe('input.consume.0.amount');
    expect((await granted(place, { rpm: 4 })).statuses).toMatchObject([
      { limit: { capacity: 5, burst: 5 }, available: 1 },
    ]);
    expect((await refused(place, { rpm: 2 })).retryAfterSecs).toBe(12);
  });

  it('hold through another gateway as soon as the bucket was touched under them', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    await granted(place, { rpm: 1 });
    expect((await granted(place, { rpm: 4 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 5 }, available: 0 },
    ]);
    await refused(place, { rpm: 1 }, {}, other);
    await issuesOf(inputOf(place, { rpm: 6 }), other);
    // What it has learnt there holds for its other buckets too.
    await issuesOf(inputOf({ ...place, entityId: 'user-2' }, { rpm: 6 }), other);
  });

  it('hold for acquires with a request id alike', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    await granted(place, { rpm: 1 }, { requestId: randomUUID() });
    const requestId = randomUUID();
    expect((await granted(place, { rpm: 4 }, { requestId }, other)).statuses).toMatchObject([
      { limit: { capacity: 5 }, available: 0 },
    ]);
    expect(await granted(place, { rpm: 4 }, { requestId })).toMatchObject({
      replayed: true,
      statuses: [{ limit: { capacity: 5 }, available: 0 }],
    });
    await refused(place, { rpm: 1 }, { requestId: randomUUID() }, other);
  });

  it('do not stand in the way of a repeat: lowered below what was granted, the first lease comes back', async () => {
    const place = await newPlace([rpm(100)]);
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 50 }, { requestId });
    await setLimits(place.orgId, [rpm(5)]);
    expect(await granted(place, { rpm: 50 }, { requestId })).toMatchObject({ leaseId, replayed: true });
  });

  it('are not undone by a gateway that remembers the old ones', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => acquire(place, { rpm: 1 }, {}, i % 2 ? app : other)),
    );
    await acquire(place, { rpm: 0 });
    expect(await bucketOf(place)).toMatchObject({ limits: [{ limit: { capacity: 5 } }] });
    // Those of the other gateway that came before the first touch may still have been judged by the old limits.
    expect(countLeases(results)).toBeGreaterThanOrEqual(5);
    for (const on of [app, other]) await refused(place, { rpm: 5 }, {}, on);
  });

  it('hold through a gateway that has the bucket to itself once it has heard of the change', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 }, {}, other);
    await setLimits(place.orgId, [rpm(5)]);
    // A gateway serves nobody until it has heard of the changes of the last five seconds.
    app.clock.age(5001);
    expect((await granted(place, { rpm: 0 }, {}, other)).statuses).toMatchObject([{ limit: { capacity: 5 } }]);
    await issuesOf(inputOf(place, { rpm: 6 }), other);
    expect((await granted(place, { rpm: 5 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 5 }, available: 0 },
    ]);
  });

  it('keep what was there: raised, there is no more at once, but more room to fill', async () => {
    const place = await newPlace([rpm(10)]);
    await granted(place, { rpm: 8 });
    await setLimits(place.orgId, [rpm(60)]);
    expect((await granted(place, { rpm: 1 })).statuses).toMatchObject([{ limit: { capacity: 60 }, available: 1 }]);
    expect((await refused(place, { rpm: 31 })).retryAfterSecs).toBe(30);
    app.clock.advance(30_000);
    await granted(place, { rpm: 31 });
  });

  it('keep a debt as it was', async () => {
    const place = await newPlace([rpm(10)]);
    const { leaseId } = await granted(place, { rpm: 10 });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId, adjust: consumption({ rpm: 20 }), idempotencyKey: randomUUID() },
    });
    await setLimits(place.orgId, [rpm(60)]);
    expect(await refused(place, { rpm: 0 })).toMatchObject({
      retryAfterSecs: 20,
      statuses: [{ available: -20, limit: { capacity: 60 } }],
    });
  });

  it('may add a limit to a live bucket, which starts full', async () => {
    const place = await newPlace([rpm(10)]);
    await granted(place, { rpm: 8 });
    await setLimits(place.orgId, [rpm(10), rpm(3, { name: 'tpm' })]);
    expect((await granted(place, { rpm: 1, tpm: 1 })).statuses).toMatchObject([
      { limit: { name: 'rpm' }, available: 1 },
      { limit: { name: 'tpm' }, available: 2 },
    ]);
    await refused(place, { tpm: 3 });
  });

  it('may remove a limit from a live bucket, and set again it goes on where it was', async () => {
    const place = await newPlace([rpm(10), rpm(3, { name: 'tpm' })]);
    await granted(place, { rpm: 1, tpm: 3 });
    await refused(place, { tpm: 1 });
    await setLimits(place.orgId, [rpm(10)]);
    expect((await granted(place, { rpm: 1 })).statuses.map(({ limit }) => limit.name)).toEqual(['rpm']);
    expect((await issuesOf(inputOf(place, { tpm: 1 })))[0]?.path).toBe('input.consume.0.limit');
    expect((await bucketOf(place))?.limits.map(({ limit }) => limit.name)).toEqual(['rpm']);
    await setLimits(place.orgId, [rpm(10), rpm(3, { name: 'tpm' })]);
    await refused(place, { tpm: 1 });
    await setLimits(place.orgId, [rpm(10)]);
    await granted(place, { rpm: 1 });
    app.clock.advance(60_000);
    await setLimits(place.orgId, [rpm(10), rpm(3, { name: 'tpm' })]);
    expect((await granted(place, { tpm: 3 })).statuses).toMatchObject([{ available: 10 }, { available: 0 }]);
  });

  it('are seen by both gateways when a level is deleted', async () => {
    const place = await newPlace([rpm(100)]);
    const own = { orgId: place.orgId, level: 'ENTITY', entityId: place.entityId, resource: place.resource } as const;
    await app.admin.ask(op.SetLimitsDocument, { input: { ...own, limits: [rpm(5)] } });
    await granted(place, { rpm: 5 }, {}, other);
    await app.admin.ask(op.DeleteLimitsDocument, { input: own });
    await granted(place, { rpm: 0 });
    expect((await refused(place, { rpm: 5 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 100 }, available: 0 },
    ]);
    expect((await refused(place, { rpm: 100 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 100 }, available: 0 },
    ]);
  });

  it.each(['set again', 'deleted and set again'])(
    '%s, are learnt once by another gateway: then an acquire is one call again',
    async (how) => {
      const place = await newPlace([rpm(100)]);
      await granted(place, { rpm: 1 }, {}, other);
      if (how === 'deleted and set again')
        await app.admin.ask(op.DeleteLimitsDocument, { input: { orgId: place.orgId, level: 'SYSTEM' } });
      await setLimits(place.orgId, [rpm(50)]);
      await granted(place, { rpm: 1 });
      await granted(place, { rpm: 1 }, {}, other);
      expect(await fewestCalls(() => granted(place, { rpm: 1 }, {}, other), other)).toBe(1);
    },
  );

  it('raised, are not called impossible by a gateway that remembers the old ones', async () => {
    const place = await newPlace([rpm(5)]);
    await granted(place, { rpm: 5 }, {}, other);
    await setLimits(place.orgId, [rpm(100)]);
    await granted(place, { rpm: 0 });
    expect((await refused(place, { rpm: 100 }, {}, other)).statuses).toMatchObject([
      { limit: { capacity: 100 }, available: 0 },
    ]);
  });

  it('with a limit added, are not called unknown by a gateway that remembers the old ones', async () => {
    const place = await newPlace([rpm(5)]);
    await granted(place, { rpm: 5 }, {}, other);
    await setLimits(place.orgId, [rpm(5), rpm(3, { name: 'tpm' })]);
    await granted(place, { rpm: 0 });
    expect((await granted(place, { tpm: 1 }, {}, other)).statuses).toMatchObject([
      { available: 0 },
      { limit: { name: 'tpm' }, available: 2 },
    ]);
  });

  it('set for the first time are found at once by a gateway that remembers that there were none', async () => {
    const place = await newPlace([]);
    await issuesOf(inputOf(place, { rpm: 1 }), other);
    await setLimits(place.orgId, [rpm(5)]);
    await granted(place, { rpm: 1 });
    await granted(place, { rpm: 1 }, {}, other);
  });
});

describe('availability', () => {
  it('agrees with an acquire, and changes nothing', async () => {
    const place = await newPlace([rpm(10), rpm(7, { name: 'tpm', refillPeriodSecs: 11 })]);
    await granted(place, { rpm: 7, tpm: 5 });
    app.clock.advance(777);
    for (const on of [app, other]) {
      for (const cost of [{ rpm: 4 }, { rpm: 10, tpm: 7 }, { tpm: 3 }, { rpm: 4, tpm: 1 }]) {
        const foreseen = await availabilityOf(place, cost, on);
        const found = await refused(place, cost, {}, on);
        expect(foreseen).toEqual({ statuses: found.statuses, retryAfterSecs: found.retryAfterSecs });
      }
    }
    const before = await bucketOf(place);
    expect(await availabilityOf(place)).toMatchObject({
      retryAfterSecs: 0,
      statuses: [
        { requested: 0, available: 3 },
        { requested: 0, available: 2 },
      ],
    });
    expect(await availabilityOf(place, { rpm: 3, tpm: 2 })).toMatchObject({ retryAfterSecs: 0 });
    expect(await bucketOf(place)).toEqual(before);
    await granted(place, { rpm: 3, tpm: 2 });
  });

  it('shows a full bucket for one that does not exist, and makes none', async () => {
    const place = await newPlace([rpm(10, { burst: 30 })]);
    expect(await availabilityOf(place, { rpm: 30 })).toMatchObject({
      retryAfterSecs: 0,
      statuses: [{ requested: 30, available: 30, exceeded: false }],
    });
    expect(await bucketOf(place)).toBeNull();
  });

  it('judges by limits that are set since the bucket was last touched', async () => {
    const place = await newPlace([rpm(100)]);
    await granted(place, { rpm: 1 });
    await setLimits(place.orgId, [rpm(5), rpm(2, { name: 'tpm' })]);
    expect((await availabilityOf(place, { rpm: 5 })).statuses).toMatchObject([
      { limit: { name: 'rpm', capacity: 5 }, available: 5 },
      { limit: { name: 'tpm', capacity: 2 }, available: 2 },
    ]);
    expect(await bucketOf(place)).toMatchObject({
      limits: [
        { limit: { capacity: 5 }, available: 5, totalConsumed: 1 },
        { limit: { capacity: 2 }, available: 2 },
      ],
    });
  });

  it('refuses what an acquire refuses, naming its own arguments', async () => {
    const place = await newPlace();
    const pathsOf = async (variables: op.AvailabilityQueryVariables) => {
      const { errors } = await app.admin.send(op.AvailabilityDocument, variables);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      return errors?.[0]?.extensions.issues?.map(({ path }) => path);
    };
    expect(await pathsOf({ ...place, consume: consumption({ rpm: 11 }) })).toEqual(['consume.0.amount']);
    expect(await pathsOf({ ...place, consume: consumption({ nope: 1 }) })).toEqual(['consume.0.limit']);
    expect(await pathsOf({ ...place, entityId: 'a\n', resource: '#' })).toEqual(['entityId', 'resource']);
    expect(await pathsOf(await newPlace([]))).toEqual(['resource']);
  });
});
