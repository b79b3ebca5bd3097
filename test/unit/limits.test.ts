import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { limitStatusHeaders, maxLimitHeaderChars } from '../../src/http/limit-headers.js';
import { isUsed, openUsage } from '../../src/limits/buckets/booking.js';
import {
  afterStep,
  fullAtMs,
  fullLimit,
  type LimitState,
  retryAfterMs,
  room,
  unitsOf,
} from '../../src/limits/buckets/bucket.js';
import { isIdle, retentionMs } from '../../src/limits/buckets/expiry.js';
import type { Holding, OutAmount } from '../../src/limits/buckets/holding.js';
import type { HoldingMove } from '../../src/limits/buckets/operation.js';
import { Plan } from '../../src/limits/buckets/plan.js';
import { availableAcross, isEnough, mayHaveShards, retryAcrossMs, type Shard } from '../../src/limits/buckets/shard.js';
import { splitAmount } from '../../src/limits/buckets/split.js';
import {
  changedEntity,
  type Entity,
  type EntityChanges,
  entityDetails,
  isSameEntity,
  mostAuditedLength,
  newEntityIssues,
} from '../../src/limits/entities/entity.js';
import {
  afterMoves,
  decodeHandle,
  decodeHoldings,
  encodeHandle,
  encodeHoldings,
  firstState,
  holdsSlots,
  type LeaseHandle,
  movesAll,
  movesBy,
  movesRenewed,
  sumFor,
} from '../../src/limits/lease.js';
import {
  type LimitConfig,
  limitLevels,
  type PlaceRequest,
  placeIssues,
  placeOf,
  placesFor,
  policyOf,
  winner,
} from '../../src/limits/levels/resolution.js';
import {
  amountsOf,
  type Consumption,
  completeLimit,
  consumeIssues,
  costIssues,
  entityIssues,
  inZone,
  isEntityId,
  isLimitName,
  isResource,
  type Limit,
  type LimitRequest,
  limitOf,
  limitSet,
  limitsIssues,
  resourceIssues,
  tokensOf,
} from '../../src/limits/limit.js';
import { hourOfInstant, usageKey, usageRange } from '../../src/limits/limiter-keys.js';
import { type LimitStatus, longestWaitSecs, statusesAfter, statusesOf } from '../../src/limits/status.js';
import {
  type HourUsage,
  hourOf,
  sumHours,
  type UsageWindow,
  windowEnd,
  windowStart,
} from '../../src/limits/usage/usage.js';
import {
  availableMilli,
  emptyLimit,
  Fraction,
  shardOf,
  shardsAt,
  slotSpec,
  startMs,
  stepOf,
  whole,
} from './limits/buckets/limit-fixtures.js';

interface Vector<I, E> {
  readonly name: string;
  readonly function: string;
  readonly input: I;
  readonly expected: E;
}

const { vectors } = JSON.parse(readFileSync(new URL('../support/limits.json', import.meta.url), 'utf8')) as {
  vectors: Vector<unknown, unknown>[];
};

/** The functions of the vectors that are gone through here, and those that are in `test/api/limit-vectors.test.ts`. */
const here = new Set<string>();
const inTheApi = ['runFlow', 'simulate', 'usageAggregate', 'proactiveShard'];

function of<I, E>(name: string): [string, I, E][] {
  here.add(name);
  const found = vectors.filter((vector) => vector.function === name);
  if (found.length === 0) throw new Error(`no vector is of ${name}`);
  return found.map((vector) => [vector.name, vector.input as I, vector.expected as E]);
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const rpm: Limit = {
  name: 'rpm',
  capacity: 100,
  burst: 100,
  refillAmount: 100,
  refillPeriodSecs: 60,
  kind: 'RATE',
  enforce: true,
};
const tpm: Limit = {
  name: 'tpm',
  capacity: 1000,
  burst: 2000,
  refillAmount: 500,
  refillPeriodSecs: 60,
  kind: 'RATE',
  enforce: true,
};
const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);

describe('names', () => {
  type Named = { readonly value: string };
  type Verdict = { readonly valid: boolean };
  it.each(of<Named, Verdict>('validate.limitName'))('of limits: %s', (_, { value }, { valid }) => {
    expect(isLimitName(value)).toBe(valid);
    expect(paths(consumeIssues([{ limit: value, amount: 1 }], 'c'))).toEqual(valid ? [] : ['c.0.limit']);
    expect(paths(limitsIssues([{ ...rpm, name: value }], 'l'))).toEqual(valid ? [] : ['l.0.name']);
  });
  it.each(of<Named, Verdict>('validate.resource'))('of resources: %s', (_, { value }, { valid }) => {
    expect(isResource(value)).toBe(valid);
    expect(paths(resourceIssues(value, 'r'))).toEqual(valid ? [] : ['r']);
  });
  it.each(of<Named, Verdict>('validate.identifier'))('of entities: %s', (_, { value }, { valid }) => {
    expect(isEntityId(value)).toBe(valid);
    expect(paths(entityIssues(value, 'e'))).toEqual(valid ? [] : ['e']);
  });

  it.each([
    [isLimitName, 'a'.repeat(65), false],
    [isLimitName, 'wcu', false],
    [isLimitName, 'wcu2', true],
    [isLimitName, 'rpm\n', false],
    [isLimitName, 'a.b_c-d', true],
    [isResource, 'a'.repeat(64), true],
    [isResource, 'a'.repeat(65), false],
    [isResource, 'openai/gpt-4:x.y_z', true],
    [isResource, 'api\n', false],
    [isResource, '', false],
    [isResource, 'a@b', false],
    [isEntityId, 'a'.repeat(256), true],
    [isEntityId, 'a'.repeat(257), false],
    [isEntityId, 'me@x.org:1-2_3', true],
    [isEntityId, '$SYSTEM', false],
    [isEntityId, 'a#b', false],
    [isEntityId, '', false],
    [isEntityId, 'é', false],
  ])('%p takes %j: %p', (judge, value, valid) => {
    expect(judge(value)).toBe(valid);
  });
});

describe('limitsIssues', () => {
  it.each<[string, Partial<LimitRequest>, string[]]>([
    ['a sound one', {}, []],
    ['no burst and no refill', { burst: null, refillAmount: undefined }, []],
    ['the largest', { capacity: 1e15, burst: 1e15, refillAmount: 1e15, refillPeriodSecs: 1e9 }, []],
    ['a capacity of nothing', { capacity: 0 }, ['l.0.capacity']],
    ['a fraction', { capacity: 1.5 }, ['l.0.capacity']],
    ['too much', { capacity: 1e15 + 1, burst: null }, ['l.0.capacity']],
    ['no number', { capacity: Number.NaN }, ['l.0.capacity']],
    ['a burst below the capacity', { burst: 99 }, ['l.0.burst']],
    ['a burst of nothing', { burst: 0 }, ['l.0.burst', 'l.0.burst']],
    ['no refill at all', { refillAmount: 0 }, ['l.0.refillAmount']],
    ['a negative refill', { refillAmount: -1 }, ['l.0.refillAmount']],
    ['no period', { refillPeriodSecs: 0 }, ['l.0.refillPeriodSecs']],
    ['half a second', { refillPeriodSecs: 0.5 }, ['l.0.refillPeriodSecs']],
    ['an age', { refillPeriodSecs: 1e9 + 1 }, ['l.0.refillPeriodSecs']],
    ['a window', { window: 'DAY', burst: null, refillAmount: null, refillPeriodSecs: 1 }, []],
    ['a window with its capacity for a burst', { window: 'WEEK', refillAmount: null }, []],
    ['a window with a burst and a refill', { window: 'MONTH', burst: 101 }, ['l.0.burst', 'l.0.refillAmount']],
    ['100 at the same time', { kind: 'CONCURRENCY', refillAmount: null }, []],
    ['101 at the same time', { kind: 'CONCURRENCY', capacity: 101, burst: null, refillAmount: null }, ['l.0.capacity']],
    [
      'concurrency with a refill and a window',
      { kind: 'CONCURRENCY', window: 'DAY', burst: 101 },
      ['l.0.burst', 'l.0.refillAmount', 'l.0.window'],
    ],
    [
      'everything wrong',
      { name: 'wcu', capacity: -1, burst: 0.5, refillAmount: 0, refillPeriodSecs: 0 },
      ['name', 'capacity', 'burst', 'refillAmount', 'refillPeriodSecs'].map((field) => `l.0.${field}`),
    ],
  ])('finds of %s what is wrong with it', (_, change, expected) => {
    expect(paths(limitsIssues([{ ...rpm, ...change }], 'l'))).toEqual(expected);
  });

  it('takes one to ten, each named once', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...rpm, name: `l${i}` }));
    expect([0, 1, 10, 11].map((count) => limitsIssues(many(count), 'l').length)).toEqual([1, 0, 0, 1]);
    expect(limitsIssues([], 'l', 0)).toEqual([]);
    expect(paths(limitsIssues([rpm, tpm, rpm, rpm], 'l'))).toEqual(['l.2.name', 'l.3.name']);
  });
});

describe('consumeIssues and costIssues', () => {
  it.each<[number, number, boolean]>([
    [0, 0, true],
    [1, 0, true],
    [-1, 0, false],
    [0.5, 0, false],
    [1e15, 0, true],
    [1e15 + 1, 0, false],
    [Number.MAX_SAFE_INTEGER + 1, 0, false],
    [Number.POSITIVE_INFINITY, 0, false],
    [Number.NaN, 0, false],
    [-5, -10, true],
    [-11, -10, false],
  ])('an amount of %d where the least is %d is sound: %p', (amount, least, sound) => {
    expect(paths(consumeIssues([{ limit: 'rpm', amount }], 'c', least))).toEqual(sound ? [] : ['c.0.amount']);
  });

  it('names what is named twice', () => {
    const twice = ['rpm', 'tpm', 'rpm'].map((limit) => ({ limit, amount: 1 }));
    expect(paths(consumeIssues(twice, 'c'))).toEqual(['c.2.limit']);
  });

  it.each<[string, Consumption[], string[]]>([
    ['all of the burst', [{ limit: 'tpm', amount: 2000 }], []],
    ['more than the burst', [{ limit: 'tpm', amount: 2001 }], ['c.0.amount']],
    [
      'what the bucket does not have',
      [
        { limit: 'rpm', amount: 1 },
        { limit: 'rph', amount: 0 },
      ],
      ['c.1.limit'],
    ],
    ['nothing', [{ limit: 'rpm', amount: 0 }], []],
  ])('%s can never be taken, or can', (_, consume, expected) => {
    expect(paths(costIssues(consume, limitSet([rpm, tpm]), 'entity "u"', 'c'))).toEqual(expected);
  });
});

describe('limitSet', () => {
  const requests: fc.Arbitrary<LimitRequest> = fc.record({
    name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,6}$/),
    capacity: fc.integer({ min: 1, max: 1e15 }),
    burst: fc.integer({ min: 1, max: 1e15 }),
    refillAmount: fc.integer({ min: 1, max: 1e15 }),
    refillPeriodSecs: fc.integer({ min: 1, max: 1e9 }),
    kind: fc.constantFrom('RATE', 'CONCURRENCY'),
    window: fc.constantFrom(undefined, 'DAY', 'WEEK', 'MONTH'),
    enforce: fc.boolean(),
  });
  const limits: fc.Arbitrary<Limit> = fc
    .tuple(requests, fc.constantFrom('UTC', 'Asia/Kolkata'))
    .map(([request, zone]) => inZone([completeLimit(request)], zone)[0] as Limit);

  it('is the same set in any order, and its specs give the limits back', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(limits, { selector: ({ name }) => name, minLength: 1, maxLength: 10 }),
        fc.infiniteStream(fc.nat()),
        (given, ranks) => {
          const shuffled = given
            .map((limit) => ({ limit, rank: ranks.next().value as number }))
            .sort((a, b) => a.rank - b.rank);
          const [set, other] = [limitSet(given), limitSet(shuffled.map(({ limit }) => limit))];
          expect(other).toEqual(set);
          expect(set.version).toHaveLength(11);
          expect(set.specs.map(limitOf)).toEqual(set.limits);
        },
      ),
    );
  });

  it.each<[string, Partial<Limit>]>([
    ['name', { name: 'rpn' }],
    ['capacity', { capacity: 101 }],
    ['burst', { burst: 101 }],
    ['refillAmount', { refillAmount: 99 }],
    ['refillPeriodSecs', { refillPeriodSecs: 61 }],
    ['kind', { kind: 'CONCURRENCY' }],
    ['window', { window: 'DAY' }],
    ['mode', { enforce: false }],
  ])('is another with another %s, or with a limit more or less', (_, change) => {
    const versions = [[rpm, tpm], [{ ...rpm, ...change }, tpm], [rpm], [rpm, tpm, { ...rpm, name: 'rph' }]].map(
      (given) => limitSet(given).version,
    );
    expect(new Set(versions).size).toBe(4);
  });

  it('is another in another time zone where a limit has a window, and the same where none has', () => {
    const inZones = (limit: Limit) => ['UTC', 'Asia/Kolkata'].map((zone) => limitSet(inZone([limit], zone)).version);
    expect(new Set(inZones(completeLimit({ name: 'd', capacity: 1, refillPeriodSecs: 1, window: 'DAY' }))).size).toBe(
      2,
    );
    expect(new Set(inZones(rpm)).size).toBe(1);
  });

  it('has for a burst and a refill that were left out the capacity', () => {
    const short = { name: 'rpm', capacity: 7, refillPeriodSecs: 60 };
    const complete = { ...short, burst: 7, refillAmount: 7, kind: 'RATE', enforce: true };
    expect(completeLimit(short)).toEqual(complete);
    expect(completeLimit({ ...short, burst: null, refillAmount: null })).toEqual(complete);
    expect(completeLimit({ ...short, burst: 9, refillAmount: 3 })).toEqual({ ...complete, burst: 9, refillAmount: 3 });
  });
});

describe('tokensOf', () => {
  it.each<[bigint, number]>([
    [0n, 0],
    [999n, 0],
    [1000n, 1],
    [1999n, 1],
    [-1n, -1],
    [-1000n, -1],
    [-1001n, -2],
    [10n ** 18n, 1e15],
    [10n ** 30n, Number.MAX_SAFE_INTEGER],
    [-(10n ** 30n), -Number.MAX_SAFE_INTEGER],
  ])('of %d millitokens is %d', (amount, tokens) => {
    expect(tokensOf(amount)).toBe(tokens);
  });

  it('undoes amountsOf', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e15, max: 1e15 }), (amount) =>
        expect(tokensOf(amountsOf([{ limit: 'rpm', amount }]).rpm as bigint)).toBe(amount),
      ),
    );
  });
});

describe('where limits are set', () => {
  it.each<[PlaceRequest, string[]]>([
    [{ level: 'SYSTEM' }, []],
    [{ level: 'SYSTEM', resource: null, entityId: null }, []],
    [{ level: 'SYSTEM', resource: 'api' }, ['i.resource']],
    [{ level: 'SYSTEM', entityId: 'u', resource: 'api' }, ['i.resource', 'i.entityId']],
    [{ level: 'RESOURCE', resource: 'api' }, []],
    [{ level: 'RESOURCE' }, ['i.resource']],
    [{ level: 'RESOURCE', resource: '_default_' }, ['i.resource']],
    [{ level: 'RESOURCE', resource: 'api', entityId: 'u' }, ['i.entityId']],
    [{ level: 'ENTITY_DEFAULT', entityId: 'u' }, []],
    [{ level: 'ENTITY_DEFAULT', entityId: 'u', resource: 'api' }, ['i.resource']],
    [{ level: 'ENTITY_DEFAULT' }, ['i.entityId']],
    [{ level: 'ENTITY', entityId: 'u', resource: 'api' }, []],
    [{ level: 'ENTITY', entityId: '-u', resource: '1' }, ['i.resource', 'i.entityId']],
    [{ level: 'ENTITY' }, ['i.resource', 'i.entityId']],
  ])('is judged by what the level names: %j', (request, expected) => {
    expect(paths(placeIssues(request, 'i.'))).toEqual(expected);
  });

  it('is four places for an entity and a resource, the strongest first', () => {
    const places = placesFor('u', 'api');
    expect(places.map(({ level }) => level)).toEqual([...limitLevels].reverse());
    expect(places.map((place) => placeOf({ entityId: 'u', resource: 'api', level: place.level }))).toEqual(places);
  });

  const config = (i: number, limits: readonly Limit[]): LimitConfig => ({
    place: placesFor('u', 'api')[i] as LimitConfig['place'],
    limits,
    version: 1,
  });

  it('is won whole by the strongest that has any limits', () => {
    fc.assert(
      fc.property(fc.tuple(...[0, 1, 2, 3].map(() => fc.constantFrom('absent', 'empty', 'set'))), (kinds) => {
        const configs = kinds.map((kind, i) =>
          kind === 'absent' ? undefined : config(i, kind === 'set' ? [{ ...rpm, capacity: i + 1 }] : []),
        );
        expect(winner(configs)).toBe(configs[kinds.indexOf('set')]);
      }),
    );
  });

  it('decides at the system level alone what happens while the store is away: nobody passes unless it says so', () => {
    const system = { ...config(3, []), onUnavailable: 'ALLOW' as const };
    expect(policyOf([undefined, undefined, undefined, undefined])).toBe('BLOCK');
    expect(policyOf([undefined, undefined, undefined, config(3, [rpm])])).toBe('BLOCK');
    expect(policyOf([{ ...config(0, [rpm]), onUnavailable: 'ALLOW' }, undefined, undefined, undefined])).toBe('BLOCK');
    expect(policyOf([config(0, [rpm]), undefined, undefined, system])).toBe('ALLOW');
  });
});

describe('windows of usage', () => {
  const windowNamed = (name: string) => name.toUpperCase() as UsageWindow;
  it.each(of<{ timestamp_ms: number; window: string }, string>('windowKey'))(
    '%s',
    (_, { timestamp_ms, window }, expected) => {
      expect(windowStart(windowNamed(window), timestamp_ms)).toBe(Date.parse(expected));
    },
  );
  it.each(of<{ window_key: string; window: string }, string>('windowEnd'))(
    '%s: ours ends with the second after its last',
    (_, { window_key, window }, expected) => {
      expect(windowEnd(windowNamed(window), Date.parse(window_key))).toBe(Date.parse(expected) + 1000);
    },
  );

  it('hold what they begin with and end before the next, without a gap', () => {
    const moments = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) });
    fc.assert(
      fc.property(moments, fc.constantFrom<UsageWindow>('HOURLY', 'DAILY', 'MONTHLY'), (ms, window) => {
        const begins = windowStart(window, ms);
        const ends = windowEnd(window, begins);
        expect(begins <= ms && ms < ends).toBe(true);
        expect([windowStart(window, begins), windowStart(window, ends - 1), windowStart(window, ends)]).toEqual([
          begins,
          begins,
          ends,
        ]);
        expect(new Date(begins).toISOString()).toMatch(
          window === 'MONTHLY' ? /-01T00:00:00.000Z$/ : window === 'DAILY' ? /T00:00:00.000Z$/ : /:00:00.000Z$/,
        );
      }),
    );
  });

  const hours: fc.Arbitrary<HourUsage> = fc.record({
    entityId: fc.constantFrom('a', 'b'),
    resource: fc.constantFrom('api', 'web'),
    hour: fc.integer({ min: 490_000, max: 492_000 }),
    consumed: fc.record({ rpm: fc.bigInt({ min: -9n, max: 99n }) }),
    events: fc.nat(9),
    refused: fc.record({ rpm: fc.nat(9) }),
    wouldRefuse: fc.record({ tpm: fc.nat(9) }),
  });

  it('sum all hours, each once, oldest first and by resource within', () => {
    fc.assert(
      fc.property(
        fc.array(hours, { maxLength: 40 }),
        fc.constantFrom<UsageWindow>('HOURLY', 'DAILY', 'MONTHLY'),
        (used, window) => {
          const sums = sumHours(used, window);
          for (const { startMs: begins, endMs, resource, consumed, events, entities } of sums) {
            const within = used.filter(
              (usage) => usage.resource === resource && usage.hour * hourMs >= begins && usage.hour * hourMs < endMs,
            );
            expect(within.length).toBeGreaterThan(0);
            expect(consumed.rpm).toBe(within.reduce((sum, usage) => sum + (usage.consumed.rpm ?? 0n), 0n));
            expect(events).toBe(within.reduce((sum, usage) => sum + usage.events, 0));
            expect(entities).toEqual(new Set(within.map(({ entityId }) => entityId)));
          }
          const total = (counts: readonly { readonly events: number }[]) =>
            counts.reduce((sum, { events }) => sum + events, 0);
          expect(total(sums)).toBe(total(used));
          const order = sums.map(({ startMs: begins, resource }) => `${String(begins).padStart(15, '0')} ${resource}`);
          expect(order).toEqual([...new Set(order)].sort());
        },
      ),
    );
  });

  it('have hours that stand in their keys and sort by time', () => {
    const id = { namespace: 'n', entityId: 'u', resource: 'a/b', shard: 3 };
    const { SK } = usageKey(id, 490_000, 'birth');
    expect(hourOfInstant(SK.split('#')[4] as string)).toBe(490_000);
    const [from, to] = usageRange('a/b', 490_000, 490_001);
    expect(from <= SK && SK < to).toBe(true);
    expect(usageKey(id, 490_001, 'birth').SK < to || usageKey(id, 489_999, 'birth').SK >= from).toBe(false);
    expect(hourOf(490_001 * hourMs - 1)).toBe(490_000);
  });
});

const [rpmSpec, tpmSpec] = limitSet([rpm, tpm]).specs as [LimitState, LimitState];
const holding = (spec: LimitState, availableTokens: number, shards = 1): LimitState => {
  const empty = emptyLimit(spec, startMs);
  return { ...empty, fullAt: empty.fullAt - BigInt(availableTokens) * 1000n * BigInt(shards) * spec.refillPeriodMs };
};

describe('a bucket of several shards', () => {
  /** Shares are whole, as a doubling sees to it; they fill within seconds, so that every millisecond can be tried. */
  const buckets = fc
    .record({
      count: fc.constantFrom(2, 3, 4, 8),
      share: fc.bigInt({ min: 1n, max: 40n }),
      refill: fc.bigInt({ min: 1n, max: 40n }),
      periodMs: fc.bigInt({ min: 1n, max: 20n }),
      rooms: fc.array(fc.integer({ min: -300, max: 1100 }), { minLength: 8, maxLength: 8 }),
    })
    .map(({ count, share, refill, periodMs, rooms }) => {
      const burst = share * BigInt(count);
      const spec = {
        name: 'rpm',
        capacityMilli: burst,
        burstMilli: burst,
        refillMilli: refill,
        refillPeriodMs: periodMs,
      };
      const shards = rooms.slice(0, count).map((thousandths) => {
        const empty = emptyLimit(spec, startMs);
        return shardOf([{ ...empty, fullAt: empty.fullAt - (BigInt(thousandths) * burst * periodMs) / 1000n }], count);
      });
      return { shards, burst };
    });
  const parts = fc.integer({ min: 0, max: 1000 });

  it('has what its shards have together, a debt of one against the others', () => {
    fc.assert(
      fc.property(buckets, ({ shards }) => {
        const each = shards.map(
          ({ limits: [limit], shardCount }) =>
            new Fraction(room(limit as LimitState, startMs), unitsOf(limit as LimitState, 1n, shardCount)),
        );
        expect(availableAcross(shards, 'rpm', startMs)).toBe(
          each.reduce((sum, there) => sum.plus(there), whole(0n)).floor(),
        );
        expect(availableAcross(shards, 'tpm', startMs)).toBe(0n);
      }),
    );
  });

  it('promises the first millisecond at which they have it together, as trying each one shows', () => {
    fc.assert(
      fc.property(buckets, parts, ({ shards, burst }, thousandths) => {
        const wanted = (burst * BigInt(thousandths)) / 1000n;
        let firstMs = 0;
        while (availableAcross(shards, 'rpm', startMs + firstMs) < wanted) firstMs++;
        expect(retryAcrossMs(shards, 'rpm', wanted, startMs)).toBe(firstMs);
      }),
      { numRuns: 200 },
    );
  });

  it('splits what it has enough of, and only that: all of it, and from no shard more than is there', () => {
    fc.assert(
      fc.property(buckets, parts, ({ shards, burst }, thousandths) => {
        const rpmWanted = (burst * BigInt(thousandths)) / 1000n;
        const rooms = shards.map(({ limits }) => room(limits[0] as LimitState, startMs));
        const perMilli = unitsOf((shards[0] as Shard).limits[0] as LimitState, 1n, shards.length);
        const split = splitAmount(rooms, rpmWanted, perMilli);
        const enough = availableAcross(shards, 'rpm', startMs) >= rpmWanted;
        expect(isEnough(shards, { rpm: rpmWanted }, startMs)).toBe(enough);
        expect(split !== undefined).toBe(enough);
        expect(new Plan(shardsAt(shards), startMs).place({ amounts: { rpm: rpmWanted } }) !== undefined).toBe(enough);
        if (!split) return;
        expect(split).toHaveLength(shards.length);
        expect(split.reduce((sum, part) => sum + part.milli, 0n)).toBe(rpmWanted);
        expect(split.reduce((sum, part) => sum + part.units, 0n)).toBe(rpmWanted * perMilli);
        split.forEach((part, i) => {
          if (part.units === 0n) expect(part.milli).toBe(0n);
          else expect(part.units > 0n && part.units <= (rooms[i] as bigint)).toBe(true);
        });
      }),
    );
  });

  it('gives nothing of one limit where it is short of another', () => {
    const shards = [0, 1].map(() => shardOf([holding(rpmSpec, 50, 2), holding(tpmSpec, 10, 2)], 2));
    const place = (amounts: Record<string, bigint>) => new Plan(shardsAt(shards), startMs).place({ amounts });
    const milliOf = place({ rpm: 60_000n, tpm: 20_000n })?.placements.map(({ charges }) => [
      charges.rpm?.milli,
      charges.tpm?.milli,
    ]);
    expect(milliOf).toEqual([
      [50_000n, 10_000n],
      [10_000n, 10_000n],
    ]);
    expect(place({ rpm: 60_000n, tpm: 20_001n })).toBeUndefined();
  });

  it.each<[string, number, number, Record<string, bigint>, boolean]>([
    ['once', 100, 1, {}, true],
    ['where half is still what was asked for', 100, 1, { rpm: 50_000n }, true],
    ['where half is less than was asked for', 100, 1, { rpm: 50_001n }, false],
    ['up to 32', 100, 16, {}, true],
    ['past 32', 100, 32, {}, false],
    ['where a share would be no whole millitoken', 101, 8, {}, false],
    ['whatever was asked of another limit', 100, 1, { rph: 10n ** 9n }, true],
    ['where a share would be a token', 32, 16, {}, true],
    ['where a share would be less than a token', 16, 16, {}, false],
  ])('may double %s, or may not', (_, burst, shardCount, asked, may) => {
    const [spec] = limitSet([{ ...rpm, burst }]).specs as [LimitState];
    expect(mayHaveShards(shardCount * 2, shardOf([fullLimit(spec, startMs)], shardCount), asked)).toBe(may);
  });

  it('never has several with a concurrency limit, and may always have one', () => {
    const shard = shardOf([fullLimit(slotSpec(100n), startMs)]);
    expect([1, 2, 4].map((count) => mayHaveShards(count, shard, {}))).toEqual([true, false, false]);
    const [odd] = limitSet([{ ...rpm, burst: 101 }]).specs as [LimitState];
    expect(mayHaveShards(1, shardOf([fullLimit(odd, startMs)]), { rpm: 10n ** 9n })).toBe(true);
  });
});

describe('how long a bucket is kept', () => {
  it.each([
    [60, 3 * dayMs],
    [86_400, 7 * dayMs],
    [37_029, 3 * dayMs + 3000],
  ])('is seven times what it takes to fill in %d s, three days at least', (refillPeriodSecs, kept) => {
    const { specs } = limitSet([rpm, { ...rpm, name: 'rph', refillPeriodSecs }]);
    expect(retentionMs(specs.map((spec) => fullLimit(spec, startMs)))).toBe(kept);
  });

  it('is until it is full and that long after its last hour has passed', () => {
    const hour = hourOf(startMs);
    const shard = shardOf([fullLimit(rpmSpec, startMs)], 2, { hour });
    const endMs = (hour + 1) * hourMs + 3 * dayMs;
    expect([startMs, endMs, endMs + 1].map((ms) => isIdle(shard, ms))).toEqual([false, false, true]);
    const owing = shardOf([{ ...fullLimit(rpmSpec, startMs), fullAt: BigInt(endMs + 500) * rpmSpec.refillMilli }], 2, {
      hour,
    });
    expect(fullAtMs(owing.limits[0] as LimitState)).toBe(endMs + 500);
    expect([endMs + 1, endMs + 500, endMs + 501].map((ms) => isIdle(owing, ms))).toEqual([false, false, true]);
  });

  it('has open what was used since its hour began', () => {
    const used = { ...fullLimit(rpmSpec, startMs), consumedMilli: 9000n, consumedBeforeMilli: 4000n };
    expect(openUsage(shardOf([used], 1, { events: 7, eventsBefore: 5 }))).toEqual({
      consumed: { rpm: 5000n },
      events: 2,
    });
    expect(openUsage(shardOf([used], 1, { retired: [{ ...used, consumedMilli: 4001n }] })).consumed).toEqual({
      rpm: 5001n,
    });
    const even = { ...used, consumedBeforeMilli: 9000n };
    expect(
      [
        shardOf([even]),
        shardOf([used]),
        shardOf([even], 1, { events: 1 }),
        shardOf([{ ...even, consumedMilli: 0n }]),
      ].map(isUsed),
    ).toEqual([false, true, true, true]);
  });
});

describe('a lease', () => {
  const names = ['rpm', 'tpm'];
  /** What is out in units may be less or more than the millitokens say, by less than one: what was split is rounded for the books. */
  const outs = (shards: number, most: bigint): fc.Arbitrary<OutAmount> =>
    fc
      .record({
        milli: fc.bigInt({ min: 0n, max: most }),
        period: fc.bigInt({ min: 1n, max: 60_000n }),
        off: fc.oneof(fc.constant(0n), fc.bigInt({ min: -999n, max: 999n })),
        sinceConversion: fc.nat(3),
        window: fc.constantFrom({}, { windowEndMs: startMs }, { isSlot: true as const }),
      })
      .map(({ milli, period, off, sinceConversion, window }) => {
        const perMilli = period * BigInt(shards);
        const units = milli === 0n ? 0n : milli * perMilli + (off * perMilli) / 1000n;
        return { milli, units, period, sinceConversion, ...window };
      });
  const holdings: fc.Arbitrary<Holding[]> = fc.boolean().chain((isOwn) =>
    fc.array(
      fc.constantFrom(1, 2, 4, 32).chain((shards) =>
        fc.record({
          entityId: fc.constantFrom('child', 'parent'),
          ...(isOwn ? { isOwn: fc.constant(true as const) } : {}),
          shard: fc.nat(shards - 1),
          shards: fc.constant(shards),
          incarnation: fc.constantFrom('one', 'other'),
          out: fc.record(
            { rpm: outs(shards, 50n), tpm: outs(shards, 10n ** 18n) },
            { requiredKeys: ['rpm'] },
          ) as fc.Arbitrary<Record<string, OutAmount>>,
        }),
      ),
      { maxLength: 6 },
    ),
  );
  const outMilli = (held: readonly Holding[], entityId: string, name: string): bigint =>
    held.reduce((sum, { entityId: of, out }) => (of === entityId ? sum + (out[name]?.milli ?? 0n) : sum), 0n);
  const holds = (held: readonly Holding[], entityId: string, name: string): boolean =>
    held.some(({ entityId: of, out }) => of === entityId && out[name] !== undefined);
  /** What the buckets say when all of it was done, in the window it was taken in. */
  const allDone = (held: readonly Holding[], moves: readonly HoldingMove[]) =>
    moves.map(({ out }, i) =>
      Object.fromEntries(
        Object.keys(out).map((name) => {
          const windowEndMs = held[i]?.out[name]?.windowEndMs;
          return [name, windowEndMs === undefined ? {} : { windowEndMs }];
        }),
      ),
    );
  const settled = (held: readonly Holding[], moves: readonly HoldingMove[]): Holding[] =>
    afterMoves(held, moves, allDone(held, moves));

  it('changes on each of its entities by what was said, or says of which limit more would come back than is out', () => {
    const deltas = fc.record(
      { rpm: fc.bigInt({ min: -120n, max: 60n }), tpm: fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(holdings, deltas, (held, given) => {
        const asked = given as Record<string, bigint>;
        const moves = movesBy(held, asked);
        const entities = [...new Set(held.map(({ entityId }) => entityId))];
        const isOver = (name: string) =>
          entities.some((id) => holds(held, id, name) && outMilli(held, id, name) + (asked[name] ?? 0n) < 0n);
        if ('excess' in moves) {
          expect(isOver(moves.excess)).toBe(true);
          return;
        }
        expect(names.some(isOver)).toBe(false);
        const after = settled(held, moves);
        for (const entityId of entities) {
          for (const name of names) {
            const delta = holds(held, entityId, name) ? (asked[name] ?? 0n) : 0n;
            expect(outMilli(after, entityId, name)).toBe(outMilli(held, entityId, name) + delta);
            expect(sumFor(entityId, moves)[name] ?? 0n).toBe(delta);
          }
        }
        expectSound(held, moves, after);
      }),
      { numRuns: 300 },
    );
  });

  it('gives back, released, all that is out and nothing else; twice, nothing more', () => {
    fc.assert(
      fc.property(holdings, (held) => {
        const moves = movesAll(held, 'lease');
        const after = settled(held, moves);
        expectSound(held, moves, after);
        expect(
          after.flatMap(({ out }) => Object.values(out)).every(({ milli, units }) => milli === 0n && units === 0n),
        ).toBe(true);
        moves.forEach(({ out, slot }, i) => {
          const before = (held[i] as Holding).out;
          for (const [name, of] of Object.entries(out))
            expect(of).toEqual({
              ...before[name],
              milli: -(before[name]?.milli ?? 0n),
              units: -(before[name]?.units ?? 0n),
            });
          expect(slot).toEqual({ lease: 'lease' });
        });
        expect(movesAll(after, 'lease').every(({ out }) => Object.keys(out).length === 0)).toBe(true);
      }),
    );
  });

  it('gives back in all, however often and little at a time, what was taken in units and not one more', () => {
    const steps = fc.array(fc.bigInt({ min: 1n, max: 20n }), { maxLength: 12 });
    fc.assert(
      fc.property(holdings, steps, (held, backs) => {
        let now: Holding[] = held;
        for (const back of backs) {
          const moves = movesBy(now, { rpm: -back });
          if ('excess' in moves) continue;
          now = settled(now, moves);
          expect(now.every(({ out }) => Object.values(out).every(({ units }) => units >= 0n))).toBe(true);
        }
        now = settled(now, movesAll(now, 'lease'));
        // What is left over is less than a millitoken on each shard, of those that were given back bit by bit.
        now.forEach(({ out, shards }) => {
          for (const { milli, units, period } of Object.values(out)) {
            expect(milli).toBe(0n);
            expect(units >= 0n && units < period * BigInt(shards)).toBe(true);
          }
        });
      }),
    );
  });

  /** No shard gets back more than was taken from it, and the holdings are what the moves make of them. */
  function expectSound(held: readonly Holding[], moves: readonly HoldingMove[], after: readonly Holding[]): void {
    expect(moves).toHaveLength(held.length);
    held.forEach((holding, i) => {
      const moved = Object.entries(holding.out).map(([name, of]) => {
        const { milli, units } = moves[i]?.out[name] ?? { milli: 0n, units: 0n };
        return [name, { ...of, milli: of.milli + milli, units: of.units + units }] as const;
      });
      expect(after[i]).toEqual({ ...holding, out: Object.fromEntries(moved) });
      expect(moved.every(([, { milli, units }]) => milli >= 0n && units >= 0n)).toBe(true);
      expect(Object.keys(moves[i]?.out ?? {}).every((name) => name in holding.out)).toBe(true);
    });
  }

  const held = (milli: bigint, shard = 0, more: Partial<OutAmount> = {}): Holding => ({
    entityId: 'u',
    shard,
    shards: 2,
    incarnation: 'b',
    out: { rpm: { milli, units: milli * 2n * 60n, period: 60n, sinceConversion: 0, ...more } },
  });
  const milliOf = (moves: ReturnType<typeof movesBy>) => (moves as HoldingMove[]).map(({ out }) => out.rpm?.milli);

  it('charges the first shard of an entity and gives back from the last on', () => {
    const two = [held(3n), held(2n, 1)];
    expect(milliOf(movesBy(two, { rpm: 4n }))).toEqual([4n, undefined]);
    expect(milliOf(movesBy(two, { rpm: -4n }))).toEqual([-2n, -2n]);
    expect(movesBy(two, { rpm: -6n })).toEqual({ excess: 'rpm', outMilli: 5n });
    expect((movesBy(two, { rpm: 4n }) as HoldingMove[])[0]?.out.rpm?.units).toBe(480n);
  });

  it('records only what was charged, and has out no more what was given back, whatever became of it', () => {
    const [charge, back] = [movesBy([held(3n)], { rpm: 2n }), movesBy([held(3n)], { rpm: -2n })] as HoldingMove[][];
    const milliAfter = (moves: readonly HoldingMove[] | undefined, applied: Record<string, object>[]) =>
      afterMoves([held(3n)], moves ?? [], applied)[0]?.out.rpm?.milli;
    expect([milliAfter(charge, [{ rpm: {} }]), milliAfter(charge, [{}])]).toEqual([5n, 3n]);
    expect([milliAfter(back, [{ rpm: {} }]), milliAfter(back, [{}])]).toEqual([1n, 1n]);
  });

  it('that is charged more in another window has out what was charged there alone', () => {
    const before = [held(3n, 0, { windowEndMs: startMs })];
    const moves = movesBy(before, { rpm: 2n }) as HoldingMove[];
    expect(afterMoves(before, moves, [{ rpm: { windowEndMs: startMs + dayMs } }])[0]?.out.rpm).toMatchObject({
      milli: 2n,
      units: 240n,
      windowEndMs: startMs + dayMs,
    });
    expect(afterMoves(before, moves, [{ rpm: { windowEndMs: startMs } }])[0]?.out.rpm).toMatchObject({
      milli: 5n,
      units: 600n,
      windowEndMs: startMs,
    });
  });

  it('renews the slots it holds, and nothing else', () => {
    const slot = held(1000n, 0, { isSlot: true });
    expect(movesRenewed([held(3n), slot, held(0n, 0, { isSlot: true })], 'lease', 77)).toEqual([
      { ...slot, out: { rpm: { ...slot.out.rpm, milli: 0n, units: 0n } }, slot: { lease: 'lease', untilMs: 77 } },
    ]);
    expect([[slot], [held(1000n)], [held(0n, 0, { isSlot: true })]].map(holdsSlots)).toEqual([true, false, false]);
  });

  it('is what it was once it has been written down and read', () => {
    const handles: fc.Arbitrary<LeaseHandle> = fc.record({
      orgId: fc.uuid(),
      namespace: fc.string(),
      name: fc.string(),
      entityId: fc.string(),
      resource: fc.string(),
      holdings,
      expiresAtMs: fc.maxSafeNat(),
      degraded: fc.boolean(),
    });
    fc.assert(
      fc.property(handles, (handle) => {
        expect(decodeHandle(encodeHandle(handle))).toEqual(handle);
        expect(decodeHoldings(JSON.parse(JSON.stringify(encodeHoldings(handle.holdings))))).toEqual(handle.holdings);
        expect(firstState(handle)).toEqual({ version: 0, holdings: handle.holdings, adjusted: {} });
      }),
    );
  });
});

describe('how limits stand', () => {
  const standing = {
    entityId: 'u',
    resource: 'api',
    shards: [shardOf([holding(rpmSpec, 10), holding(tpmSpec, -5)])],
    atMs: startMs,
  };

  it('tells of each what is asked, what is there and when it would do', () => {
    const base = { entityId: 'u', resource: 'api' };
    expect(statusesOf(standing, { rpm: 11_000n })).toEqual([
      { ...base, limit: rpm, requested: 11, available: 10, exceeded: true, retryAfterSecs: 0.6, wouldRefuse: false },
      { ...base, limit: tpm, requested: 0, available: -5, exceeded: true, retryAfterSecs: 0.6, wouldRefuse: false },
    ]);
    expect(statusesOf(standing, { rpm: 10_000n })[0]).toMatchObject({
      requested: 10,
      available: 10,
      exceeded: false,
      retryAfterSecs: 0,
    });
    expect(longestWaitSecs(statusesOf(standing, { rpm: 100_000n }))).toBe(54);
    expect(longestWaitSecs([])).toBe(0);
  });

  it('tells after a take what was taken, and of nothing that it is exceeded but of a debt', () => {
    expect(statusesAfter(standing, { rpm: 90_000n }).map(({ requested, exceeded }) => [requested, exceeded])).toEqual([
      [90, false],
      [0, true],
    ]);
  });

  it('tells of a shadow limit that it would refuse, and waits for none', () => {
    const shards = [shardOf([{ ...holding(rpmSpec, 10), isShadow: true }, holding(tpmSpec, 5)])];
    const statuses = statusesOf({ ...standing, shards }, { rpm: 11_000n, tpm: 6000n });
    expect(statuses.map(({ wouldRefuse, exceeded }) => [wouldRefuse, exceeded])).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(longestWaitSecs(statuses)).toBe(statuses[1]?.retryAfterSecs);
    expect(statusesAfter({ ...standing, shards }, {}, ['rpm']).map(({ wouldRefuse }) => wouldRefuse)).toEqual([
      true,
      false,
    ]);
  });

  it('sums the shards', () => {
    const shards = [20, 30].map((tokens) => shardOf([holding(rpmSpec, tokens, 2)], 2));
    expect(statusesOf({ ...standing, shards }, { rpm: 51_000n })[0]).toMatchObject({
      available: 50,
      exceeded: true,
      retryAfterSecs: 0.6,
    });
    expect(statusesOf({ ...standing, shards: [] }, { rpm: 1n })).toEqual([]);
  });
});

describe('a refusal', () => {
  type Deficit = { deficit_milli: number; refill_amount_milli: number; refill_period_ms: number };
  it.each(of<Deficit, number>('calculateRetryAfter'))(
    'waits as long as %s says, to the millisecond',
    (_, input, expected) => {
      const burstMilli = BigInt(Math.max(input.deficit_milli, input.refill_amount_milli));
      const spec = {
        name: 'rpm',
        capacityMilli: burstMilli,
        burstMilli,
        refillMilli: BigInt(input.refill_amount_milli),
        refillPeriodMs: BigInt(input.refill_period_ms),
      };
      const waitsMs = retryAfterMs(emptyLimit(spec, startMs), BigInt(input.deficit_milli), startMs, 1);
      expect(Math.abs(waitsMs - Math.round(expected * 1000))).toBeLessThanOrEqual(1);
      expect(waitsMs).toBe(Math.ceil((input.deficit_milli * input.refill_period_ms) / input.refill_amount_milli));
    },
  );

  const status = (overrides: Partial<LimitStatus>): LimitStatus => ({
    entityId: 'u',
    resource: 'api',
    limit: rpm,
    requested: 1,
    available: 0,
    exceeded: true,
    retryAfterSecs: 1,
    wouldRefuse: false,
    ...overrides,
  });
  it.each(of<{ retry_after_seconds: number }, string>('retryAfterHeader'))(
    'says in its header what %s says',
    (_, { retry_after_seconds: retryAfterSecs }, expected) => {
      expect(
        limitStatusHeaders({ entityId: 'u', retryAfterSecs, statuses: [status({ retryAfterSecs })] })['retry-after'],
      ).toBe(expected);
    },
  );

  it('names the limit that takes longest first, and never less than nothing', () => {
    const statuses = [
      status({ available: 10, exceeded: false, retryAfterSecs: 0 }),
      status({ limit: tpm, available: -7, retryAfterSecs: 30.5 }),
      status({ entityId: 'p', retryAfterSecs: 3 }),
    ];
    expect(limitStatusHeaders({ entityId: 'u', retryAfterSecs: 30.5, statuses })).toEqual({
      'retry-after': '31',
      ratelimit: '"tpm";r=0;t=31, "parent:rpm";r=0;t=4, "rpm";r=10;t=54',
      'ratelimit-policy': '"tpm";q=500;w=60, "parent:rpm";q=100;w=60, "rpm";q=100;w=60',
    });
    expect(limitStatusHeaders({ entityId: 'u', retryAfterSecs: 1, statuses: [] })).toEqual({ 'retry-after': '2' });
  });

  it('says of a grant how much is left and when the limit is full again, the emptiest limit first', () => {
    const free = { exceeded: false, retryAfterSecs: 0 };
    const statuses = [status({ ...free, available: 91 }), status({ ...free, limit: tpm, available: 100 })];
    expect(limitStatusHeaders({ entityId: 'u', statuses })).toEqual({
      ratelimit: '"tpm";r=100;t=228, "rpm";r=91;t=6',
      'ratelimit-policy': '"tpm";q=500;w=60, "rpm";q=100;w=60',
    });
    expect(limitStatusHeaders({ entityId: 'u', statuses: [] })).toEqual({});
  });

  it('keeps to the integers of structured fields and to a bounded header', () => {
    const most = { ...rpm, capacity: 1e15, burst: 1e15, refillAmount: 1e15, refillPeriodSecs: 1e9 };
    const long = (at: number) =>
      status({
        entityId: at < 10 ? 'u' : 'p',
        limit: { ...most, name: `${'x'.repeat(62)}${at}` },
        available: 1e15,
        exceeded: false,
      });
    const headers = limitStatusHeaders({
      entityId: 'u',
      statuses: Array.from({ length: 20 }, (_, at) => long(10 + at)),
    });
    const [limits = [], policies = []] = [headers.ratelimit, headers['ratelimit-policy']].map((header) =>
      header?.split(', '),
    );
    expect([limits.length, policies.length]).toEqual([9, 9]);
    for (const header of [headers.ratelimit, headers['ratelimit-policy']])
      expect(header?.length).toBeLessThanOrEqual(maxLimitHeaderChars);
    expect(limits[0]).toBe(`"parent:${'x'.repeat(62)}10";r=999999999999999;t=0`);
    expect(policies[0]).toBe(`"parent:${'x'.repeat(62)}10";q=999999999999999;w=1000000000`);
  });
});

describe('newEntityIssues', () => {
  const sound = { entityId: 'u', name: 'U', parentId: 'p', cascade: true, metadata: [{ name: 'a', value: '' }] };
  it.each<[string, Partial<Parameters<typeof newEntityIssues>[0]>, string[]]>([
    ['a sound one', {}, []],
    ['one with its id alone', { name: null, parentId: null, metadata: [] }, []],
    ['its own child', { parentId: 'u' }, ['parentId']],
    ['a bad id', { entityId: 'u\n' }, ['entityId']],
    ['a bad parent', { parentId: '#' }, ['parentId']],
    ['no name', { name: '' }, ['name']],
    ['half a character', { name: '\ud800' }, ['name']],
    ['pairs named alike', { metadata: [sound.metadata[0], sound.metadata[0]] as never }, ['metadata.1.name']],
    ['a long value', { metadata: [{ name: 'a', value: 'x'.repeat(1025) }] }, ['metadata.0.value']],
    ['33 pairs', { metadata: Array.from({ length: 33 }, (_, i) => ({ name: `n${i}`, value: '' })) }, ['metadata']],
  ])('finds what is wrong with %s', (_, change, expected) => {
    expect(paths(newEntityIssues({ ...sound, ...change }, ''))).toEqual(expected);
  });
});

describe('a change of an entity', () => {
  const before: Entity = {
    nodeType: 'Entity',
    orgId: 'o',
    entityId: 'e',
    name: 'Ann',
    parentId: 'p',
    cascade: true,
    metadata: [{ name: 'plan', value: 'gold' }],
    createdAt: new Date(0),
    version: 4,
  };

  it.each<[string, EntityChanges, object]>([
    ['nothing', {}, {}],
    ['null where null says nothing', { cascade: null, metadata: null }, {}],
    ['a name', { name: 'Bob' }, { name: 'Bob' }],
    ['no name and no parent', { name: null, parentId: null }, { name: undefined, parentId: undefined }],
    ['cascade and metadata', { cascade: false, metadata: [] }, { cascade: false, metadata: [] }],
  ])('of %s leaves the rest as it is, under the next version', (_, changes, expected) => {
    const after = changedEntity(before, changes);
    expect(after).toEqual({ ...before, ...expected, version: 5 });
    expect(isSameEntity(before, after)).toBe(Object.keys(expected).length === 0);
  });

  it('of the order of its metadata is a change', () => {
    const two = { ...before, metadata: [...before.metadata, { name: 'a', value: 'b' }] };
    expect(isSameEntity(two, changedEntity(two, { metadata: [...two.metadata].reverse() }))).toBe(false);
  });

  it('is told with values cut to a bound, on both sides', () => {
    const long = 'x'.repeat(mostAuditedLength + 1);
    const after = changedEntity(before, { metadata: [{ name: 'plan', value: long }] });
    const cut = `${'x'.repeat(mostAuditedLength)}…`;
    expect(entityDetails(before, after)).toEqual([{ name: 'metadata.plan', previousValue: 'gold', value: cut }]);
    expect(entityDetails(after, before)).toEqual([{ name: 'metadata.plan', previousValue: cut, value: 'gold' }]);
    // Values that differ only behind the bound differ all the same.
    expect(
      entityDetails(after, changedEntity(after, { metadata: [{ name: 'plan', value: `${long}y` }] })),
    ).toHaveLength(1);
  });
});

describe('vectors of the limiter', () => {
  it('are simulated with the rules alone: an idle bucket bursts once, a slow limit refills however often it is polled', () => {
    type Given = { limits: { name: string; capacity: number; refill_amount: number; refill_period_seconds: number }[] };
    const find = (name: string) =>
      vectors.find((vector) => vector.name === name) as Vector<Given & Record<string, never>, Record<string, number>>;
    const specFor = ({ input }: Vector<Given, unknown>) => {
      const [{ name, capacity, refill_amount, refill_period_seconds }] = input.limits as [Given['limits'][number]];
      return limitSet([
        completeLimit({ name, capacity, refillAmount: refill_amount, refillPeriodSecs: refill_period_seconds }),
      ]).specs[0] as LimitState;
    };
    const take = (limit: LimitState, milli: bigint, ms: number) =>
      stepOf(limit, { takeMilli: milli, chargeMilli: 0n, returnMilli: 0n, checksCeiling: true }, ms, 1);

    const burst = find('corrected/idle-bucket-burst');
    const fresh = fullLimit(specFor(burst), startMs);
    let state = afterStep(fresh, take(fresh, 1000n, startMs));
    let admitted = 0;
    while (availableMilli(state, startMs + hourMs, 1) >= 1000n) {
      state = afterStep(state, take(state, 1000n, startMs + hourMs));
      admitted++;
    }
    expect({ admitted }).toEqual(burst.expected);

    const polled = find('corrected/slow-limit-polled');
    let slow = emptyLimit(specFor(polled), startMs);
    for (let ms = 0; ms <= 300_000; ms += 100) slow = afterStep(slow, take(slow, 0n, startMs + ms));
    expect({ rph_milli: Number(availableMilli(slow, startMs + 300_000, 1)) }).toEqual(polled.expected);
  });

  it('are every one gone through, here or in the API tests', () => {
    expect(vectors.length).toBeGreaterThan(50);
    const known = new Set([...here, ...inTheApi]);
    expect(vectors.filter((vector) => !known.has(vector.function)).map(({ name }) => name)).toEqual([]);
    const api = readFileSync(new URL('../api/limit-vectors.test.ts', import.meta.url), 'utf8');
    expect(inTheApi.filter((name) => !api.includes(`'${name}'`))).toEqual([]);
  });
});
