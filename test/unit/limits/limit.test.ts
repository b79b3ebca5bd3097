import fc from 'fast-check';
import {
  amountsOf,
  completeLimit,
  inZone,
  type Limit,
  type LimitRequest,
  limitOf,
  limitSet,
  tokensOf,
} from '../../../src/limits/limit.js';
import { rpm, tpm } from './limits.js';

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

  it('returns the same set for any order, and its specs convert back to the limits', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(limits, { selector: ({ name }) => name, minLength: 1, maxLength: 10 }),
        fc.infiniteStream(fc.nat()),
        (unsorted, ranks) => {
          const shuffled = unsorted
            .map((limit) => ({ limit, rank: ranks.next().value as number }))
            .sort((a, b) => a.rank - b.rank);
          const [set, other] = [limitSet(unsorted), limitSet(shuffled.map(({ limit }) => limit))];
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
  ])('has another version with another %s, or with one limit more or less', (_, change) => {
    const versions = [[rpm, tpm], [{ ...rpm, ...change }, tpm], [rpm], [rpm, tpm, { ...rpm, name: 'rph' }]].map(
      (variant) => limitSet(variant).version,
    );
    expect(new Set(versions).size).toBe(4);
  });

  it('has another version in another time zone only if a limit has a window', () => {
    const inZones = (limit: Limit) => ['UTC', 'Asia/Kolkata'].map((zone) => limitSet(inZone([limit], zone)).version);
    expect(new Set(inZones(completeLimit({ name: 'd', capacity: 1, refillPeriodSecs: 1, window: 'DAY' }))).size).toBe(
      2,
    );
    expect(new Set(inZones(rpm)).size).toBe(1);
  });

  it('uses the capacity as the default of burst and refill', () => {
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
  ])('returns %d millitokens as %d tokens', (amount, tokens) => {
    expect(tokensOf(amount)).toBe(tokens);
  });

  it('is the reverse of amountsOf', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e15, max: 1e15 }), (amount) =>
        expect(tokensOf(amountsOf([{ limit: 'rpm', amount }]).rpm as bigint)).toBe(amount),
      ),
    );
  });
});
