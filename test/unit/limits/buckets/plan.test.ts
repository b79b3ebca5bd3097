import fc from 'fast-check';
import {
  type Amounts,
  fullLimit,
  identityOf,
  type LimitSpec,
  type LimitState,
  room,
  stepFor,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { type Holding, holdingsOf, type OutAmount } from '../../../../src/limits/buckets/holding.js';
import type { HoldingMove, Settle, Take } from '../../../../src/limits/buckets/operation.js';
import { type PlacedTake, Plan } from '../../../../src/limits/buckets/plan.js';
import type { Shard } from '../../../../src/limits/buckets/shard.js';
import type { LimitChange, ShardChange } from '../../../../src/limits/buckets/shard-change.js';
import {
  calendarSpec,
  debtFreeUpTo,
  emptyLimit,
  Fraction,
  rateSpec,
  reshard,
  restamped,
  shardOf,
  shardsAt,
  slotSpec,
  startMs,
  whole,
  writtenLimit,
} from './limit-fixtures.js';

const dayMs = 86_400_000;
const names = ['rpm', 'tpm', 'rph'];
const takeOf = (amounts: Amounts, more: Partial<Take> = {}): Take => ({
  kind: 'take',
  set: { limits: [], specs: [], version: 'v' },
  amounts,
  mayExpire: true,
  slot: { lease: 'lease', untilMs: startMs + 60_000 },
  ...more,
});
const planOf = (shards: readonly Shard[], nowMs = startMs): Plan => new Plan(shardsAt(shards), nowMs);
/** Places a take and adds it to the plan, if it fits. */
function enter(plan: Plan, amounts: Amounts, more: Partial<Take> = {}): PlacedTake | undefined {
  const placed = plan.place({ amounts });
  if (placed) plan.take(takeOf(amounts, more), placed);
  return placed;
}
const changesOf = (plan: Plan): Map<number, ShardChange> =>
  new Map(plan.result().map(({ index, change }) => [index, change]));
const changeOf = (plan: Plan, limit: LimitSpec, index = 0): LimitChange | undefined =>
  changesOf(plan).get(index)?.limits.get(identityOf(limit));
/** The millitokens that the shards have of a limit together. */
const balance = (shards: readonly Shard[], at: number): Fraction =>
  shards.reduce((sum, { limits, shardCount }) => {
    const limit = limits[at] as LimitState;
    return sum.plus(new Fraction(room(limit, startMs), unitsOf(limit, 1n, shardCount)));
  }, whole(0n));

/** The bucket after the plan was written. Undefined if a condition does not hold. */
function afterWriting(shards: readonly Shard[], plan: Plan, nowMs = startMs): Shard[] | undefined {
  const changes = changesOf(plan);
  const after = shards.map((shard, index) => {
    const limits = shard.limits.map((limit) => {
      const change = changes.get(index)?.limits.get(identityOf(limit));
      return change ? writtenLimit(limit, stepFor(limit, change, nowMs), nowMs) : limit;
    });
    return limits.includes(undefined) ? undefined : { ...shard, limits: limits as LimitState[] };
  });
  return after.includes(undefined) ? undefined : (after as Shard[]);
}

const counts = fc.constantFrom(1, 2, 4, 8);
/**
 * Buckets of one to three limits, some of them shadow limits. Each shard has another part of its share left, or is in
 * debt.
 */
const buckets: fc.Arbitrary<Shard[]> = fc
  .record({
    count: counts,
    limits: fc.array(
      fc.record({
        share: fc.bigInt({ min: 1n, max: 60n }),
        refill: fc.bigInt({ min: 1n, max: 60n }),
        period: fc.bigInt({ min: 1n, max: 90n }),
        isShadow: fc.boolean(),
        rooms: fc.array(fc.oneof(fc.integer({ min: -400, max: 1000 }), fc.constantFrom(0, 1000)), {
          minLength: 8,
          maxLength: 8,
        }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ count, limits }) =>
    Array.from({ length: count }, (_, index) =>
      shardOf(
        limits.map(({ share, refill, period, isShadow, rooms }, i) => {
          const spec = {
            ...rateSpec(share * BigInt(count), refill, period, names[i]),
            ...(isShadow ? { isShadow: true as const } : {}),
          };
          return {
            ...emptyLimit(spec, startMs),
            fullAt:
              debtFreeUpTo(spec, startMs) - (BigInt(rooms[index] as number) * share * BigInt(count) * period) / 1000n,
          };
        }),
        count,
      ),
    ),
  );
const requestedParts = fc.array(
  fc.array(fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 80n })), { minLength: 3, maxLength: 3 }),
  { minLength: 1, maxLength: 8 },
);
const amountsIn = (shards: readonly Shard[], parts: readonly bigint[]): Amounts =>
  Object.fromEntries((shards[0] as Shard).limits.map(({ name }, i) => [name, parts[i] as bigint]));

describe('takes of one group', () => {
  it('are admitted in order of arrival while the shards together have enough, and shadow limits never refuse', () => {
    fc.assert(
      fc.property(buckets, requestedParts, (shards, requests) => {
        const plan = planOf(shards);
        const { limits } = shards[0] as Shard;
        const left = limits.map((_, i) => balance(shards, i));
        let admitted = 0;
        for (const parts of requests) {
          const amounts = amountsIn(shards, parts);
          const isShort = limits.map((_, i) => (left[i] as Fraction).isBelow(whole(parts[i] as bigint)));
          const placed = enter(plan, amounts);
          expect(placed !== undefined).toBe(limits.every(({ isShadow }, i) => isShadow || !isShort[i]));
          if (!placed) continue;
          admitted++;
          expect(placed.wouldRefuse).toEqual(limits.filter((_, i) => isShort[i]).map(({ name }) => name));
          limits.forEach(({ name }, i) => {
            const charged = placed.placements.flatMap(({ charges }) => charges[name] ?? []);
            const wanted = isShort[i] ? 0n : (parts[i] as bigint);
            expect(charged.reduce((sum, { milli }) => sum + milli, 0n)).toBe(wanted);
            expect(charged.reduce((sum, { units }) => sum + units, 0n)).toBe(
              unitsOf(limits[i] as LimitState, wanted, shards.length),
            );
            left[i] = (left[i] as Fraction).plus(whole(-wanted));
          });
        }
        expect(plan.result().reduce((sum, { change }) => sum + change.events, 0)).toBe(admitted);
        const after = afterWriting(shards, plan);
        if (!after) throw new Error('the plan cannot be written');
        expect(limits.map((_, i) => balance(after, i))).toEqual(left);
      }),
      { numRuns: 500 },
    );
  });

  it('go to the first shard that has enough of every limit, and are split only if no shard has', () => {
    fc.assert(
      fc.property(buckets, requestedParts, (shards, requests) => {
        const plan = planOf(shards);
        const { limits } = shards[0] as Shard;
        const rooms = shards.map((shard) => shard.limits.map((limit) => room(limit, startMs)));
        for (const parts of requests) {
          const placed = enter(plan, amountsIn(shards, parts));
          if (!placed) continue;
          const charged = limits.flatMap(({ name }, i) => (placed.wouldRefuse.includes(name) ? [] : [i]));
          const wanted = limits.map((limit, i) => unitsOf(limit, parts[i] as bigint, shards.length));
          const first = rooms.findIndex((of) => charged.every((i) => (of[i] as bigint) >= (wanted[i] as bigint)));
          if (first >= 0) expect(placed.placements.map(({ index }) => index)).toEqual([first]);
          // A shard has to count the take, and the lease needs a holding that names the bucket.
          expect(placed.placements.length).toBeGreaterThan(0);
          expect(new Set(placed.placements.map(({ index }) => index)).size).toBe(placed.placements.length);
          for (const { index, charges } of placed.placements) {
            const of = rooms[index] as bigint[];
            limits.forEach(({ name }, i) => {
              const units = charges[name]?.units ?? 0n;
              if (units > 0n) expect(units <= (of[i] as bigint)).toBe(true);
              of[i] = (of[i] as bigint) - units;
            });
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are placed even if they take 0 and each shard is in debt by another limit', () => {
    const [rpm, tpm] = [rateSpec(8000n), rateSpec(8000n, 8000n, 60_000n, 'tpm')];
    const owing = (spec: LimitSpec) => ({ ...emptyLimit(spec, startMs), fullAt: debtFreeUpTo(spec, startMs) + 1n });
    const shards = [
      shardOf([owing(rpm), fullLimit(tpm, startMs)], 2),
      shardOf([fullLimit(rpm, startMs), owing(tpm)], 2),
    ];
    const plan = planOf(shards);
    const placed = enter(plan, { rpm: 0n, tpm: 0n }) as PlacedTake;
    expect(plan.result().map(({ index, change }) => [index, change.events])).toEqual([[0, 1]]);
    expect(afterWriting(shards, plan)).toEqual(shards);
    const [holding] = holdingsOf(
      { namespace: 'n', entityId: 'u', resource: 'r' },
      placed.placements,
      () => shards[0] as Shard,
    );
    expect(Object.keys((holding as Holding).out)).toEqual(['rpm', 'tpm']);
  });

  it('let the item expire only if every one of them allows it', () => {
    const expiry = (...mays: boolean[]) => {
      const plan = planOf([shardOf([fullLimit(rateSpec(9000n), startMs)])]);
      for (const mayExpire of mays) enter(plan, { rpm: 1000n }, { mayExpire });
      return changesOf(plan).get(0)?.mayExpire;
    };
    expect([expiry(true, true), expiry(true, false), expiry(false)]).toEqual([true, false, false]);
    const plan = planOf([shardOf([fullLimit(rateSpec(9000n), startMs)])]);
    enter(plan, { rpm: 1000n });
    plan.settle({ kind: 'settle', moves: [], events: 0 });
    plan.settle({ kind: 'settle', moves: [{ entityId: 'u', shard: 0, shards: 1, out: {} }], events: -1 });
    expect(changesOf(plan).get(0)?.mayExpire).toBeUndefined();
  });

  it('go to the first shard if they are forced, and the condition of the write refuses them if they do not fit', () => {
    const shards = [
      shardOf([emptyLimit(rateSpec(8000n), startMs)], 2),
      shardOf([fullLimit(rateSpec(8000n), startMs)], 2),
    ];
    const plan = planOf(shards);
    const forced = plan.force({ amounts: { rpm: 1000n } });
    plan.take(takeOf({ rpm: 1000n }), forced);
    expect(forced).toEqual({
      kind: 'take',
      placements: [{ index: 0, charges: { rpm: { milli: 1000n, units: 120_000_000n } } }],
      wouldRefuse: [],
    });
    expect(afterWriting(shards, plan)).toBeUndefined();
    const refilled = startMs + 15_000;
    expect(afterWriting(shards, plan, refilled - 1)).toBeUndefined();
    expect(afterWriting(shards, plan, refilled)).toBeDefined();
  });

  it('leave no trace if they are undone', () => {
    fc.assert(
      fc.property(buckets, requestedParts, requestedParts, (shards, before, undone) => {
        const [plan, alone] = [planOf(shards), planOf(shards)];
        for (const parts of before) for (const each of [plan, alone]) enter(each, amountsIn(shards, parts));
        const undo = plan.snapshot();
        for (const parts of undone) enter(plan, amountsIn(shards, parts));
        undo();
        expect(plan.result()).toEqual(alone.result());
        for (const parts of undone)
          expect(enter(plan, amountsIn(shards, parts))).toEqual(enter(alone, amountsIn(shards, parts)));
        expect(plan.result()).toEqual(alone.result());
      }),
    );
  });
});

describe('a settlement', () => {
  const settle = (moves: readonly HoldingMove[], events: Settle['events'] = 0): Settle => ({
    kind: 'settle',
    moves,
    events,
  });
  const back = (holding: Holding, parts = 1n): HoldingMove => ({
    ...holding,
    out: Object.fromEntries(
      Object.entries(holding.out).map(([name, of]) => [
        name,
        { ...of, milli: -of.milli / parts, units: -of.units / parts },
      ]),
    ),
  });
  /** The returns minus the charges of a plan, in millitokens of the current bucket. */
  const givenBack = (plan: Plan, limit: LimitSpec, count: number): Fraction =>
    plan.result().reduce((sum, { change }) => {
      const { giveBack = 0n, charge = 0n } = change.limits.get(identityOf(limit)) ?? {};
      return sum.plus(new Fraction(giveBack - charge, unitsOf(limit, 1n, count)));
    }, whole(0n));
  const takenFrom = (shards: readonly Shard[], amounts: Amounts): Holding[] => {
    const { placements } = planOf(shards).place({ amounts }) as PlacedTake;
    return holdingsOf({ namespace: 'n', entityId: 'u', resource: 'r' }, placements, (index) => shards[index] as Shard);
  };

  const history = fc.record({
    shards: buckets.filter(([first]) => (first as Shard).limits.length === 1),
    thousandths: fc.bigInt({ min: 0n, max: 1000n }),
    count: fc.constantFrom(1, 2, 4, 8, 16),
    newer: fc.record({ share: fc.bigInt({ min: 1000n, max: 2000n }), period: fc.bigInt({ min: 1n, max: 90n }) }),
    parts: fc.bigInt({ min: 1n, max: 4n }),
  });

  it('gives back what was taken and never more, after a change of shards and period', () => {
    fc.assert(
      fc.property(history, ({ shards, thousandths, count, newer, parts }) => {
        const there = balance(shards, 0).floor();
        fc.pre(there >= 0n);
        const holdings = takenFrom(shards, { rpm: (there * thousandths) / 1000n });
        const spec = rateSpec(newer.share * BigInt(count), 7n, newer.period);
        const now = restamped(reshard(shards, count).shards, [spec]).shards;
        expect(now).toHaveLength(count);
        for (const holding of holdings) {
          const move = back(holding, parts);
          const plan = planOf(now);
          const { applied } = plan.settle(settle([move]));
          expect(applied).toEqual([{ rpm: {} }]);
          const { units, period, milli } = move.out.rpm as OutAmount;
          const wanted = new Fraction(-units, period * BigInt(holding.shards));
          const given = givenBack(plan, spec, count);
          expect(wanted.isBelow(given)).toBe(false);
          const maxLost = new Fraction(BigInt(plan.result().length), unitsOf(spec, 1n, count));
          expect(given.isBelow(wanted.minus(maxLost))).toBe(false);
          expect(
            plan.result().reduce((sum, { change }) => sum + (change.limits.get('RATE rpm')?.consumedMilli ?? 0n), 0n),
          ).toBe(milli);
          expect(
            plan
              .result()
              .every(
                ({ index }) =>
                  index < count &&
                  index % Math.min(count, holding.shards) === holding.shard % Math.min(count, holding.shards),
              ),
          ).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('charges the exact amount after a change of shards and period', () => {
    fc.assert(
      fc.property(history, fc.bigInt({ min: 1n, max: 10n ** 6n }), ({ shards, count, newer }, milli) => {
        const { incarnation, limits, shardCount } = shards[0] as Shard;
        const { refillPeriodMs: period } = limits[0] as LimitState;
        const spec = rateSpec(newer.share * BigInt(count), 7n, newer.period);
        const plan = planOf(restamped(reshard(shards, count).shards, [spec]).shards);
        const out = {
          rpm: { milli, units: unitsOf({ refillPeriodMs: period }, milli, shardCount), period, sinceConversion: 0 },
        };
        plan.settle(settle([{ entityId: 'u', shard: shardCount - 1, shards: shardCount, incarnation, out }]));
        expect(givenBack(plan, spec, count)).toEqual(whole(-milli));
      }),
      { numRuns: 400 },
    );
  });

  const spec = rateSpec(10_000n);
  const spent = shardOf([emptyLimit(spec, startMs)], 1, { incarnation: 'now' });
  const taken = (more: Partial<OutAmount> = {}, of: Partial<Holding> = {}): Holding => ({
    entityId: 'u',
    shard: 0,
    shards: 1,
    incarnation: 'now',
    out: { rpm: { milli: 4000n, units: 240_000_000n, period: 60_000n, sinceConversion: 0, ...more } },
    ...of,
  });
  const [gone] = restamped([shardOf([fullLimit(spec, startMs)], 1, { incarnation: 'now' })], [{ ...spec, name: 'tpm' }])
    .shards as [Shard];
  const [again] = restamped([gone], [spec]).shards as [Shard];
  const [retired] = restamped([spent], [{ ...spec, name: 'tpm' }]).shards as [Shard];

  it.each<[string, Shard[], Holding, boolean]>([
    ['is made in the same incarnation of the bucket', [spent], taken(), true],
    ['is not made in another incarnation', [spent], taken({}, { incarnation: 'then' }), false],
    [
      'is made in any incarnation if the holding names none',
      [{ ...spent, incarnation: 'then' }],
      { entityId: 'u', shard: 0, shards: 1, out: taken().out },
      true,
    ],
    ['is not made if there is no bucket', [], taken(), false],
    ['is made for a retired limit', [retired], taken(), true],
    ['is not made for a limit that left when it was full', [gone], taken(), false],
    ['is not made for a limit that was dropped and added again since', [again], taken(), false],
    ['is made for a limit that was added again before the take', [again], taken({ sinceConversion: 2 }), true],
    [
      'is made for any limit of the name if the holding does not say since which conversion',
      [again],
      (({ sinceConversion: _, ...of }) => ({ ...taken(), out: { rpm: of } }))(taken().out.rpm as OutAmount),
      true,
    ],
    [
      'is not made for a limit that the bucket never had',
      [spent],
      { ...taken(), out: { rph: taken().out.rpm as OutAmount } },
      false,
    ],
  ])('%s', (_, shards, holding, isMade) => {
    for (const move of [back(holding), holding]) {
      const plan = planOf(shards);
      const name = Object.keys(holding.out)[0] as string;
      expect(plan.settle(settle([move])).applied).toEqual([isMade ? { [name]: {} } : {}]);
      expect(givenBack(plan, spec, 1)).toEqual(whole(isMade ? -(move.out[name]?.milli ?? 0n) : 0n));
    }
  });

  it('counts no usage for a top-up, and one acquire less if it undoes one', () => {
    const plan = planOf([spent]);
    plan.settle(settle([{ ...back(taken()), isTopUp: true }]));
    expect(changeOf(plan, spec)).toMatchObject({ giveBack: 240_000_000n, consumedMilli: 0n });
    const undone = planOf([spent]);
    undone.settle(settle([back(taken()), back(taken())], -1));
    expect(changesOf(undone).get(0)?.events).toBe(-1);
    expect(changeOf(undone, spec)).toMatchObject({ giveBack: 480_000_000n, consumedMilli: -8000n });
    const elsewhere = planOf([spent]);
    elsewhere.settle(settle([back(taken({}, { incarnation: 'then' }))], -1));
    expect(elsewhere.result()).toEqual([]);
  });

  const calendar = calendarSpec(10_000n);
  const [today, endMs] = [fullLimit(calendar, startMs), fullLimit(calendar, startMs).windowEndMs as number];
  const ofDay = (milli: bigint, windowEndMs = endMs): HoldingMove => ({
    entityId: 'u',
    shard: 0,
    shards: 1,
    incarnation: 'b',
    out: { day: { milli, units: milli, period: 1n, sinceConversion: 0, windowEndMs } },
  });

  it('gives back only in the window of the take, and charges in the current window', () => {
    const used = shardOf([{ ...today, fullAt: 6000n }]);
    const settled = (move: HoldingMove, nowMs: number) => {
      const plan = planOf([used], nowMs);
      return [plan.settle(settle([move])).applied[0], afterWriting([used], plan, nowMs)?.[0]?.limits[0]];
    };
    const dayOf = (fullAt: bigint, windowEndMs: number) => ({ ...today, fullAt, windowEndMs });
    expect(settled(ofDay(-4000n), endMs - 1)).toEqual([{ day: { windowEndMs: endMs } }, dayOf(2000n, endMs)]);
    expect(settled(ofDay(-4000n), endMs)).toEqual([{}, dayOf(6000n, endMs)]);
    expect(settled(ofDay(-4000n, endMs - dayMs), endMs - 1)).toEqual([{}, dayOf(6000n, endMs)]);
    expect(settled({ ...ofDay(-9000n), isTopUp: true }, endMs - 1)).toEqual([
      { day: { windowEndMs: endMs } },
      dayOf(-3000n, endMs),
    ]);
    expect(settled(ofDay(7000n), endMs - 1)).toEqual([{ day: { windowEndMs: endMs } }, dayOf(13_000n, endMs)]);
    expect(settled(ofDay(7000n), endMs)).toEqual([
      { day: { windowEndMs: endMs + dayMs } },
      dayOf(7000n, endMs + dayMs),
    ]);
  });
});

describe('slots of a concurrency limit', () => {
  const spec = slotSpec(3n);
  const untilMs = startMs + 60_000;
  const holding = (slots: Record<string, number>) =>
    shardOf([{ ...fullLimit(spec, startMs), slots, fullAt: BigInt(Object.keys(slots).length) * 1000n }]);
  const move = (slot?: HoldingMove['slot'], milli = -1000n): HoldingMove => ({
    entityId: 'u',
    shard: 0,
    shards: 1,
    incarnation: 'b',
    out: { jobs: { milli, units: milli, period: 1n, sinceConversion: 0, isSlot: true } },
    ...(slot ? { slot } : {}),
  });
  const settled = (shard: Shard, of: HoldingMove) => {
    const plan = planOf([shard]);
    const { applied } = plan.settle({ kind: 'settle', moves: [of], events: 0 });
    return { isDone: 'jobs' in (applied[0] as object), change: changeOf(plan, spec) };
  };

  it('are taken by at most as many leases as there are slots, each under its name', () => {
    const plan = planOf([holding({ a: untilMs })]);
    const placed = ['b', 'c', 'd'].map(
      (lease) => enter(plan, { jobs: 1000n }, { slot: { lease, untilMs } }) !== undefined,
    );
    expect(placed).toEqual([true, true, false]);
    expect(changeOf(plan, spec)).toMatchObject({
      take: 2000n,
      taken: { b: untilMs, c: untilMs },
      consumedMilli: 2000n,
    });
  });

  it('are not taken by a take of 0', () => {
    const plan = planOf([holding({})]);
    enter(plan, { jobs: 0n });
    expect(changeOf(plan, spec)).toMatchObject({ take: 0n, taken: {} });
  });

  it('are free again 2 s after their lease should have been renewed', () => {
    const full = holding({ a: untilMs, b: untilMs + 1, c: untilMs + 2 });
    const fit = (nowMs: number) => enter(planOf([full], nowMs), { jobs: 1000n }) !== undefined;
    expect([untilMs + 1999, untilMs + 2000].map(fit)).toEqual([false, true]);
  });

  it('are given back and renewed only by the lease that holds them', () => {
    const shard = holding({ a: untilMs, b: untilMs });
    expect(settled(shard, move({ lease: 'a' }))).toMatchObject({
      isDone: true,
      change: { giveBack: 1000n, consumedMilli: -1000n, freed: ['a'] },
    });
    expect(settled(shard, move({ lease: 'a', untilMs: 77 }, 0n))).toMatchObject({
      isDone: true,
      change: { giveBack: 0n, consumedMilli: 0n, renewed: { a: 77 } },
    });
    for (const slot of [{ lease: 'c' }, { lease: 'c', untilMs: 77 }, undefined]) {
      expect(settled(shard, move(slot))).toEqual({ isDone: false, change: undefined });
    }
  });
});
