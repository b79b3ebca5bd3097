import { randomUUID } from 'node:crypto';
import {
  app,
  bucketOf,
  consumption,
  granted,
  inputOf,
  issuesOf,
  newPlace,
  other,
  type Place,
  refused,
  rpm,
  startGateways,
  stopGateways,
} from '../support/acquire.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('an invalid acquire', () => {
  let place: Place;
  beforeAll(async () => {
    place = await newPlace([rpm(10, { burst: 12 }), rpm(5, { name: 'tpm' })]);
    await granted(place, { rpm: 1 });
  });
  // An invalid input must leave the bucket unchanged.
  afterEach(async () =>
    expect((await bucketOf(place))?.limits.map(({ totalConsumed }) => totalConsumed)).toEqual([1, 0]),
  );

  const invalid: [string, (place: Place) => op.AcquireInput, { path: string; message: unknown }[]][] = [
    [
      'an amount above the burst',
      (at) => inputOf(at, { rpm: 13, tpm: 1 }),
      [
        {
          path: 'input.consume.0.amount',
          message: '13 exceeds the burst of "rpm" for entity "user-1" on "api", 12',
        },
      ],
    ],
    [
      'a limit that the bucket does not have',
      (at) => inputOf(at, { rpm: 1, nope: 1 }),
      [
        {
          path: 'input.consume.1.limit',
          message: 'entity "user-1" on "api" has no limit "nope"; its limits are "rpm", "tpm"',
        },
      ],
    ],
    [
      'a negative amount',
      (at) => inputOf(at, { rpm: 1, tpm: -1 }),
      [{ path: 'input.consume.1.amount', message: 'must be a whole number from 0 to 1000000000000000' }],
    ],
    [
      'more than 10^15',
      (at) => inputOf(at, { rpm: 1e15 + 1 }),
      [{ path: 'input.consume.0.amount', message: expect.any(String) }],
    ],
    [
      'the same limit twice',
      (at) => ({ ...inputOf(at, {}), consume: [...consumption({ rpm: 1 }), ...consumption({ rpm: 2 })] }),
      [{ path: 'input.consume.1.limit', message: '"rpm" appears more than once' }],
    ],
    [
      'nothing to consume',
      (at) => inputOf(at, {}),
      [{ path: 'input.consume', message: 'must name at least one limit' }],
    ],
    [
      'the reserved name wcu',
      (at) => inputOf(at, { wcu: 1 }),
      [{ path: 'input.consume.0.limit', message: '"wcu" is reserved; choose another name' }],
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
  it.each(invalid)('is rejected for %s', async (_what, input, issues) => {
    expect(await issuesOf(input(place))).toEqual(issues);
  });

  it.each([
    ['a fraction', 1.5],
    ['a number past 2^53', 2 ** 53],
    ['a number far past 2^53', 1e300],
    ['minus a fraction', -0.5],
  ])('is rejected for %s', async (_what, amount) => {
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
  ] as const)('is rejected for the %s %j', async (field, value) => {
    const [issue, ...more] = await issuesOf({ ...inputOf(place, { rpm: 1 }), [field]: value });
    expect([issue?.path, more]).toEqual([`input.${field}`, []]);
    expect(issue?.message).toMatch(/^must have 1–(256|64) characters of/);
  });

  it.each(['rpm\n', 'a#b', 'a/b', 'a:b', '', '_x', '1a', 'x'.repeat(65), '__proto__'])(
    'is rejected for the limit name %j',
    async (name) => {
      expect((await issuesOf({ ...place, consume: [{ limit: name, amount: 1 }] }))[0]?.path).toBe(
        'input.consume.0.limit',
      );
      expect((await issuesOf(inputOf(place, { rpm: 1 }, { limits: [rpm(), rpm(10, { name })] })))[0]?.path).toBe(
        'input.limits.1.name',
      );
    },
  );

  it('gets all its issues in one error', async () => {
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

  it('is rejected if no limits are set at any level', async () => {
    const bare = await newPlace([]);
    expect(await issuesOf(inputOf(bare, { rpm: 1 }))).toEqual([
      {
        path: 'input.resource',
        message:
          'no limits are set for entity "user-1" on "api" at any level; set them with setLimits or send `limits`',
      },
    ]);
    expect(await bucketOf(bare)).toBeNull();
  });

  it('is rejected for an org that does not exist', async () => {
    expect(
      await app.admin.codeOf(op.AcquireDocument, { input: inputOf({ ...place, orgId: randomUUID() }, { rpm: 1 }) }),
    ).toBe('NOT_FOUND');
  });
});

describe('limits sent with an acquire', () => {
  it('apply if no limits are stored, and replace stored limits', async () => {
    const bare = await newPlace([]);
    await granted(bare, { rps: 2 }, { limits: [rpm(2, { name: 'rps' })] });
    await refused(bare, { rps: 1 }, { limits: [rpm(2, { name: 'rps' })] });
    const place = await newPlace([rpm(1)]);
    expect((await granted(place, { own: 5 }, { limits: [rpm(7, { name: 'own' })] })).statuses).toMatchObject([
      { limit: { name: 'own', capacity: 7 }, available: 2 },
    ]);
  });

  it('are the same in any order and with defaults written out', async () => {
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
