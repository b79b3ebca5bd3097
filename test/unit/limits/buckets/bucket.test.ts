import fc from 'fast-check';
import {
  type Amounts,
  afterStep,
  fillMs,
  fullAtMs,
  fullLimit,
  identityOf,
  type LimitSpec,
  type LimitState,
  restampLimit,
  retryAfterMs,
  room,
  type Step,
  shardBurstMilli,
  stepFor,
  type UnitMove,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { Plan } from '../../../../src/limits/buckets/plan.js';
import {
  availableMilli,
  debtFreeUpTo,
  emptyLimit,
  Fraction,
  fits,
  type Move,
  rateSpec,
  reshard,
  restamped,
  setOf,
  shardOf,
  startMs,
  stepOf,
  whole,
  written,
} from './limit-fixtures.js';

/** The textbook's bucket, one of n shards: a balance that refills up to the burst. Its time is that of its last change and never goes back. */
class Reference {
  private readonly burst: Fraction;
  private readonly perMs: Fraction;
  private balance: Fraction;

  constructor(
    { burstMilli, refillMilli, refillPeriodMs }: LimitSpec,
    shards: number,
    private atMs: number,
  ) {
    this.burst = new Fraction(burstMilli, BigInt(shards));
    this.perMs = new Fraction(refillMilli, refillPeriodMs * BigInt(shards));
    this.balance = this.burst;
  }

  balanceAt(nowMs: number): Fraction {
    const elapsedMs = BigInt(Math.max(0, nowMs - this.atMs));
    return this.burst.least(this.balance.plus(this.perMs.times(elapsedMs)));
  }

  has = (milli: bigint, nowMs: number): boolean => !this.balanceAt(nowMs).isBelow(whole(milli));

  change(milli: bigint, nowMs: number): void {
    this.balance = this.burst.least(this.balanceAt(nowMs).plus(whole(milli)));
    this.atMs = Math.max(this.atMs, nowMs);
  }
}

const hourMs = 3_600_000;
const move = (part: Partial<Move>): Move => ({
  takeMilli: 0n,
  chargeMilli: 0n,
  returnMilli: 0n,
  checksCeiling: false,
  ...part,
});
const take = (takeMilli: bigint): Move => move({ takeMilli, checksCeiling: true });
const perMinute = (tokens: bigint): LimitSpec => rateSpec(tokens * 1000n);
/** As the full arm expects what it has not seen. */
const untouched = (limit: LimitSpec, nowMs: number): LimitState => ({
  ...fullLimit(limit, nowMs),
  fullAt: BigInt(nowMs) * limit.refillMilli - 1n,
});

const milli = fc.oneof(
  fc.bigInt({ min: 1n, max: 50n }),
  fc.bigInt({ min: 1n, max: 1_000_000n }),
  fc.bigInt({ min: 1n, max: 10n ** 18n }),
);
const specs: fc.Arbitrary<LimitSpec> = fc
  .record({
    burst: milli,
    refill: milli,
    periodMs: fc.oneof(fc.bigInt({ min: 1n, max: 90n }), fc.bigInt({ min: 1n, max: 10n ** 12n })),
  })
  .map(({ burst, refill, periodMs }) => rateSpec(burst, refill, periodMs));
/** Limits that fill within an hour, so that clocks of seconds matter to them. */
const quickSpecs: fc.Arbitrary<LimitSpec> = fc
  .record({
    burst: fc.bigInt({ min: 1n, max: 300_000n }),
    refill: fc.bigInt({ min: 1n, max: 300_000n }),
    periodMs: fc.bigInt({ min: 1n, max: 3_600_000n }),
  })
  .filter(({ burst, refill, periodMs }) => burst * periodMs <= refill * 3_600_000n)
  .map(({ burst, refill, periodMs }) => rateSpec(burst, refill, periodMs));
const shardCounts = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 32 }));
/** An amount as a part of what a shard has, a millitoken more or less. */
const portions = fc.record({
  thousandths: fc.oneof(fc.constant(0n), fc.constant(1000n), fc.bigInt({ min: 0n, max: 1500n })),
  more: fc.bigInt({ min: -1n, max: 1n }),
});
type Portion = { readonly thousandths: bigint; readonly more: bigint };
const amountOf = (share: bigint, { thousandths, more }: Portion): bigint => {
  const amount = (share * thousandths) / 1000n + more;
  return amount > 0n ? amount : 0n;
};
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
/** Lengths of time as parts of what the limit takes to fill, so that each matters. */
const waits = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 20 }).map((ms) => ({ ms })),
  fc.integer({ min: 0, max: 1300 }).map((thousandths) => ({ thousandths })),
);
type Wait = 0 | { readonly ms: number } | { readonly thousandths: number };
function waitMs(limit: LimitSpec, wait: Wait): number {
  if (wait === 0) return 0;
  if ('ms' in wait) return wait.ms;
  return Math.min(Math.floor((Math.min(fillMs(limit), 1e11) * wait.thousandths) / 1000), 1e11);
}

describe('a limit, against the exact token bucket', () => {
  const events = fc.array(
    fc.record({
      wait: waits,
      kind: fc.constantFrom('take', 'take', 'take', 'charge', 'return', 'group'),
      first: portions,
      second: portions,
      third: portions,
      probe: portions,
    }),
    { minLength: 1, maxLength: 14 },
  );

  it('grants all that it grants and nothing else, has what it has, and takes, charges and gives back alike', () => {
    fc.assert(
      fc.property(specs, shardCounts, events, (limit, shards, schedule) => {
        let nowMs = startMs;
        let state = untouched(limit, nowMs);
        const reference = new Reference(limit, shards, nowMs);
        const share = shardBurstMilli(limit, shards);
        for (const { wait, kind, first, second, third, probe } of schedule) {
          nowMs += waitMs(limit, wait);
          expect(availableMilli(state, nowMs, shards)).toBe(reference.balanceAt(nowMs).floor());
          const probed = amountOf(share, probe);
          expect(fits(state, probed, nowMs, shards)).toBe(reference.has(probed, nowMs));

          // Nobody asks for more than the whole of a shard: that is split over several, or is bad input.
          const takeMilli = kind === 'take' || kind === 'group' ? smaller(amountOf(share, first), share) : 0n;
          const chargeMilli = kind === 'charge' || kind === 'group' ? amountOf(share, second) : 0n;
          const returnMilli = kind === 'return' || kind === 'group' ? amountOf(share, third) : 0n;
          const checksCeiling = kind === 'take' || kind === 'group';
          const step = stepOf(state, { takeMilli, chargeMilli, returnMilli, checksCeiling }, nowMs, shards);
          const fullAt = written(state.fullAt, step);
          expect(fullAt !== undefined).toBe(!checksCeiling || reference.has(takeMilli, nowMs));
          if (fullAt === undefined) continue;
          const after = afterStep(state, step);
          expect(after).toEqual({ ...state, fullAt });
          state = after;
          reference.change(returnMilli - takeMilli - chargeMilli, nowMs);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('grants at the moment it promised, and not a millisecond before', () => {
    fc.assert(
      fc.property(
        specs,
        shardCounts,
        fc.array(fc.record({ wait: waits, charge: portions }), { maxLength: 5 }),
        portions,
        (limit, shards, charges, wanted) => {
          let nowMs = startMs;
          let state = untouched(limit, nowMs);
          const reference = new Reference(limit, shards, nowMs);
          const share = shardBurstMilli(limit, shards);
          for (const { wait, charge } of charges) {
            nowMs += waitMs(limit, wait);
            const chargeMilli = amountOf(share, charge);
            state = afterStep(state, stepOf(state, move({ chargeMilli }), nowMs, shards));
            reference.change(-chargeMilli, nowMs);
          }
          const amount = smaller(amountOf(share, wanted), share);
          const waitsMs = retryAfterMs(state, amount, nowMs, shards);
          fc.pre(Number.isSafeInteger(nowMs + waitsMs));
          expect(waitsMs === 0).toBe(reference.has(amount, nowMs));
          for (const [atMs, granted] of [
            [nowMs + waitsMs, true],
            ...(waitsMs === 0 ? [] : [[nowMs + waitsMs - 1, false] as const]),
          ] as const) {
            expect(reference.has(amount, atMs)).toBe(granted);
            expect(fits(state, amount, atMs, shards)).toBe(granted);
            expect(written(state.fullAt, stepOf(state, take(amount), atMs, shards)) !== undefined).toBe(granted);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  const stepping = fc.array(fc.record({ byMs: fc.integer({ min: -20_000, max: 60_000 }), amount: portions }), {
    minLength: 2,
    maxLength: 25,
  });

  it('never grants what it refuses, though clocks step back', () => {
    fc.assert(
      fc.property(quickSpecs, shardCounts, stepping, (limit, shards, schedule) => {
        let nowMs = startMs;
        let state = untouched(limit, nowMs);
        const reference = new Reference(limit, shards, nowMs);
        const share = shardBurstMilli(limit, shards);
        for (const { byMs, amount } of schedule) {
          nowMs += byMs;
          const milliTaken = smaller(amountOf(share, amount), share);
          const fullAt = written(state.fullAt, stepOf(state, take(milliTaken), nowMs, shards));
          if (fullAt === undefined) continue;
          expect(reference.has(milliTaken, nowMs)).toBe(true);
          // Whoever takes nothing does not move its time.
          if (milliTaken > 0n) reference.change(-milliTaken, nowMs);
          state = { ...state, fullAt };
        }
      }),
      { numRuns: 400 },
    );
  });

  it('grants within the burst, what refills from the earliest clock to the latest, and what was given back: never a millitoken more', () => {
    const schedules = fc.array(
      fc.record({ byMs: fc.integer({ min: -20_000, max: 60_000 }), amount: portions, gives: fc.boolean() }),
      {
        minLength: 2,
        maxLength: 25,
      },
    );
    fc.assert(
      fc.property(quickSpecs, schedules, (limit, schedule) => {
        let nowMs = startMs;
        let state: LimitState | undefined;
        let [earliestMs, latestMs, taken, returned] = [nowMs, nowMs, 0n, 0n];
        for (const { byMs, amount, gives } of schedule) {
          nowMs += byMs;
          const known = state ?? untouched(limit, nowMs);
          const asked = smaller(amountOf(limit.burstMilli, amount), limit.burstMilli);
          const part = gives ? move({ returnMilli: smaller(asked, taken - returned) }) : take(asked);
          const fullAt = written(known.fullAt, stepOf(known, part, nowMs, 1));
          if (fullAt === undefined) continue;
          if (!gives && asked > 0n)
            [earliestMs, latestMs] = state ? [Math.min(earliestMs, nowMs), Math.max(latestMs, nowMs)] : [nowMs, nowMs];
          taken += part.takeMilli;
          returned += part.returnMilli;
          state = { ...known, fullAt };
          expect(availableMilli(state, nowMs, 1) <= limit.burstMilli).toBe(true);
          expect(
            (taken - returned - limit.burstMilli) * limit.refillPeriodMs <=
              BigInt(latestMs - earliestMs) * limit.refillMilli,
          ).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('a bucket that was idle', () => {
  function drain(state: LimitState, nowMs: number, unit: bigint): number {
    let [known, admitted] = [state, 0];
    for (; admitted < 1000; admitted++) {
      const fullAt = written(known.fullAt, stepOf(known, take(unit), nowMs, 1));
      if (fullAt === undefined) return admitted;
      known = { ...known, fullAt };
    }
    return admitted;
  }

  it('gives its burst once, whatever was taken before', () => {
    const tokens = fc.integer({ min: 1, max: 150 });
    fc.assert(
      fc.property(
        tokens,
        fc.array(fc.record({ afterMs: fc.nat(5000), part: portions }), { maxLength: 6 }),
        (burst, before) => {
          const limit = perMinute(BigInt(burst));
          let nowMs = startMs;
          let state = untouched(limit, nowMs);
          for (const { afterMs, part } of before) {
            nowMs += afterMs;
            const fullAt = written(
              state.fullAt,
              stepOf(state, take(smaller(amountOf(limit.burstMilli, part), limit.burstMilli)), nowMs, 1),
            );
            state = fullAt === undefined ? state : { ...state, fullAt };
          }
          expect(drain(state, nowMs + hourMs, 1000n)).toBe(burst);
        },
      ),
    );
  });

  it('gives it once after a debt too, and after what was given back twice over', () => {
    const limit = perMinute(100n);
    const indebted = afterStep(
      untouched(limit, startMs),
      stepOf(untouched(limit, startMs), move({ chargeMilli: 5_000_000n }), startMs, 1),
    );
    expect(drain(indebted, startMs + 1000, 1000n)).toBe(0);
    expect(drain(indebted, startMs + hourMs, 1000n)).toBe(100);
    const given = afterStep(indebted, stepOf(indebted, move({ returnMilli: 10_000_000n }), startMs, 1));
    expect(availableMilli(given, startMs, 1)).toBe(100_000n);
    expect(drain(given, startMs, 1000n)).toBe(100);
  });
});

describe('a debt', () => {
  const limit = perMinute(60n);
  const owing = afterStep(
    untouched(limit, startMs),
    stepOf(untouched(limit, startMs), move({ chargeMilli: 90_000n }), startMs, 1),
  );

  it('shows below zero, and is paid back at the rate of the limit', () => {
    expect([0, 1000, 29_999, 30_000, 31_000].map((ms) => availableMilli(owing, startMs + ms, 1))).toEqual([
      -30_000n,
      -29_000n,
      -1n,
      0n,
      1000n,
    ]);
  });

  it('lets nothing through, not even nothing, until it is paid to the millisecond', () => {
    expect(retryAfterMs(owing, 0n, startMs, 1)).toBe(30_000);
    expect(retryAfterMs(owing, 1000n, startMs, 1)).toBe(31_000);
    const goes = (ms: number, amount: bigint) =>
      written(owing.fullAt, stepOf(owing, take(amount), startMs + ms, 1)) !== undefined;
    expect([goes(29_999, 0n), goes(30_000, 0n), goes(30_999, 1000n), goes(31_000, 1000n)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('can grow, and can be given back, at any time', () => {
    const deeper = afterStep(owing, stepOf(owing, move({ chargeMilli: 1000n }), startMs, 1));
    expect(availableMilli(deeper, startMs, 1)).toBe(-31_000n);
    const back = afterStep(deeper, stepOf(deeper, move({ returnMilli: 91_000n }), startMs, 1));
    expect(availableMilli(back, startMs, 1)).toBe(60_000n);
  });
});

describe('nothing, asked of a limit', () => {
  it('changes nothing, and goes wherever there is no debt', () => {
    fc.assert(
      fc.property(specs, shardCounts, fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }), (limit, shards, beyond) => {
        const state = { ...fullLimit(limit, startMs), fullAt: debtFreeUpTo(limit, startMs) + beyond };
        const step = stepOf(state, take(0n), startMs, shards);
        expect(written(state.fullAt, step)).toBe(beyond <= 0n ? state.fullAt : undefined);
        expect(afterStep(state, step)).toEqual(state);
      }),
    );
  });
});

describe('a plan of one shard', () => {
  const names = ['rpm', 'tpm', 'rph'];
  const buckets = fc.array(fc.record({ limit: specs, charged: portions }), { minLength: 1, maxLength: 3 });
  const requests = fc.array(fc.array(portions, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 });

  /** Who of these fits, in order of arrival, and what the plan would write. */
  function planned(limits: readonly LimitState[], asked: readonly Amounts[], nowMs: number, shards: number) {
    const plan = new Plan([{ index: 0, shard: shardOf(limits, shards) }], nowMs);
    const admitted = asked.map((amounts) => {
      const placed = plan.place({ amounts });
      if (placed)
        plan.take(
          { kind: 'take', set: setOf(limits), amounts, mayExpire: true, slot: { lease: 'l', untilMs: nowMs } },
          placed,
        );
      return placed !== undefined;
    });
    return { admitted, changes: plan.result()[0]?.change.limits };
  }
  const admit = (limits: readonly LimitState[], asked: readonly Amounts[]) =>
    planned(limits, asked, startMs, 1).admitted;

  it('lets through, in order of arrival, exactly those that the exact bucket would let through one by one; and together they can be written', () => {
    fc.assert(
      fc.property(buckets, requests, shardCounts, (bucket, asked, shards) => {
        const limits = bucket.map(({ limit, charged }, i) => {
          const full = { ...untouched(limit, startMs), name: names[i] as string };
          return afterStep(
            full,
            stepOf(full, move({ chargeMilli: amountOf(shardBurstMilli(limit, shards), charged) }), startMs, shards),
          );
        });
        const references = bucket.map(({ limit, charged }) => {
          const reference = new Reference(limit, shards, startMs);
          reference.change(-amountOf(shardBurstMilli(limit, shards), charged), startMs);
          return reference;
        });
        const amounts = asked.map(
          (parts): Amounts =>
            Object.fromEntries(
              limits.map((limit, i) => [
                limit.name,
                amountOf(shardBurstMilli(limit, shards) / 3n, parts[i] as Portion),
              ]),
            ),
        );
        const expected = amounts.map((request) => {
          const goes = references.every((reference, i) =>
            reference.has(request[names[i] as string] as bigint, startMs),
          );
          if (goes)
            for (const [i, reference] of references.entries())
              reference.change(-(request[names[i] as string] as bigint), startMs);
          return goes;
        });
        const { admitted, changes } = planned(limits, amounts, startMs, shards);
        expect(admitted).toEqual(expected);
        if (!admitted.includes(true)) return;
        for (const limit of limits) {
          const sum = amounts.reduce(
            (total, request, i) => (admitted[i] ? total + (request[limit.name] as bigint) : total),
            0n,
          );
          const step = stepFor(limit, changes?.get(identityOf(limit)) as UnitMove, startMs);
          expect(step).toEqual(stepOf(limit, take(sum), startMs, shards));
          const fullAt = written(limit.fullAt, step);
          expect(fullAt).toBeDefined();
          expect(availableMilli({ ...limit, fullAt: fullAt as bigint }, startMs, shards)).toBe(
            (references[names.indexOf(limit.name)] as Reference).balanceAt(startMs).floor(),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('asks every limit that a request leaves out for nothing: one in debt refuses all', () => {
    const [sound, owing] = [
      fullLimit(perMinute(10n), startMs),
      { ...fullLimit({ ...perMinute(10n), name: 'tpm' }, startMs) },
    ];
    const inDebt = { ...owing, fullAt: debtFreeUpTo(owing, startMs) + 1n };
    expect(admit([sound, owing], [{ rpm: 1000n }])).toEqual([true]);
    expect(admit([sound, inDebt], [{ rpm: 1000n }, {}])).toEqual([false, false]);
  });
});

describe('a limit under other parameters', () => {
  it('keeps what is available, debts too, as far as the new ceiling lets it; it mints nothing', () => {
    fc.assert(
      fc.property(specs, specs, shardCounts, portions, fc.nat(100_000), (older, newer, shards, charged, afterMs) => {
        const full = { ...untouched(older, startMs), consumedMilli: 77n, consumedBeforeMilli: 33n };
        const before = afterStep(
          full,
          stepOf(full, move({ chargeMilli: amountOf(shardBurstMilli(older, shards), charged) }), startMs, shards),
        );
        const nowMs = startMs + afterMs;
        const kept = smaller(availableMilli(before, nowMs, shards), shardBurstMilli(newer, shards));
        const after = restampLimit(before, newer, nowMs);
        expect(after).toEqual({ ...newer, fullAt: after.fullAt, consumedMilli: 77n, consumedBeforeMilli: 33n });
        expect(availableMilli(after, nowMs, shards)).toBe(kept);
        expect(fits(after, kept, nowMs, shards)).toBe(true);
        expect(fits(after, kept + 1n, nowMs, shards)).toBe(false);

        // From then on it goes by the new limit alone, with what there was but for less than a unit.
        const share = new Fraction(newer.burstMilli, BigInt(shards));
        const unit = new Fraction(1n, unitsOf(newer, 1n, shards));
        const laterMs = nowMs + 1 + (afterMs % 97);
        const had = share.least(new Fraction(room(before, nowMs), unitsOf(older, 1n, shards)));
        const refilled = had.plus(
          new Fraction(newer.refillMilli * BigInt(laterMs - nowMs), newer.refillPeriodMs * BigInt(shards)),
        );
        expect(availableMilli(after, laterMs, shards) <= share.least(refilled).floor()).toBe(true);
        expect(availableMilli(after, laterMs, shards) >= share.least(refilled.minus(unit)).floor()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('starts full where it is new, and is not kept where it goes and is full', () => {
    const [rpm, tpm] = [perMinute(10n), { ...perMinute(1000n), name: 'tpm' }];
    const spent = afterStep(fullLimit(rpm, startMs), stepOf(fullLimit(rpm, startMs), take(4000n), startMs, 1));
    const [both] = restamped([shardOf([spent])], [rpm, tpm]).shards;
    expect(both?.limits.map((limit) => [limit.name, availableMilli(limit, startMs, 1)])).toEqual([
      ['rpm', 6000n],
      ['tpm', 1_000_000n],
    ]);
    const [other] = restamped([shardOf([spent])], [tpm], startMs + 24_000).shards;
    expect([other?.limits, other?.retired]).toEqual([
      [{ ...fullLimit(tpm, startMs + 24_000), sinceConversion: 1 }],
      [],
    ]);
    const [early] = restamped([shardOf([spent])], [tpm], startMs + 23_999).shards;
    expect(early?.retired).toEqual([spent]);
  });

  it('changes nothing where they are the same, fractions of a millitoken included', () => {
    const spent = { ...fullLimit(rateSpec(10_000n, 7n, 3n), startMs), fullAt: BigInt(startMs) * 7n + 3n * 40n + 1n };
    expect(restampLimit(spent, rateSpec(10_000n, 7n, 3n), startMs)).toEqual(spent);
  });
});

describe('how long things take', () => {
  it('is the first millisecond at which all of it is back', () => {
    fc.assert(
      fc.property(quickSpecs, (limit) => {
        const empty = emptyLimit(limit, startMs);
        expect(availableMilli(empty, startMs, 1)).toBe(0n);
        const fullMs = startMs + fillMs(limit);
        expect(fullAtMs(empty)).toBe(fullMs);
        expect(fits(empty, limit.burstMilli, fullMs, 1)).toBe(true);
        expect(fits(empty, limit.burstMilli, fullMs - 1, 1)).toBe(false);
      }),
    );
  });
});

describe('the shards of a bucket', () => {
  const events = fc.array(fc.record({ wait: waits, on: fc.nat(1000), amount: portions }), {
    minLength: 1,
    maxLength: 60,
  });

  it('together grant within the burst and what has refilled, doublings among it', () => {
    fc.assert(
      fc.property(specs, fc.integer({ min: 2, max: 32 }), events, fc.nat(60), (limit, n, schedule, doubledAfter) => {
        let nowMs = startMs;
        let shards = Array.from({ length: n }, () => untouched(limit, nowMs));
        const roomOf = (limits: readonly LimitState[]) =>
          limits.reduce(
            (sum, each) => sum.plus(new Fraction(room(each, nowMs), unitsOf(limit, 1n, limits.length))),
            whole(0n),
          );
        let granted = 0n;
        for (const [i, { wait, on, amount }] of schedule.entries()) {
          nowMs += waitMs(limit, wait);
          if (i === doubledAfter && shards.length <= 16) {
            const before = roomOf(shards);
            const bucket = shards.map((each) => shardOf([each], shards.length));
            shards = reshard(bucket, shards.length * 2, nowMs).shards.map((shard) => shard.limits[0] as LimitState);
            expect(roomOf(shards)).toEqual(before);
          }
          const at = on % shards.length;
          const known = shards[at] as LimitState;
          const share = shardBurstMilli(limit, shards.length);
          const milliTaken = smaller(amountOf(share, amount), share);
          const fullAt = written(known.fullAt, stepOf(known, take(milliTaken), nowMs, shards.length));
          if (fullAt === undefined) continue;
          granted += milliTaken;
          shards[at] = { ...known, fullAt };
          expect(
            (granted - limit.burstMilli) * limit.refillPeriodMs <= BigInt(nowMs - startMs) * limit.refillMilli,
          ).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([2, 3, 4, 7, 8, 16, 32])('of which there are %d give the burst, and again what a minute refills', (n) => {
    const limit = perMinute(BigInt(n) * 5n);
    let shards = Array.from({ length: n }, () => untouched(limit, startMs));
    const drainAll = (nowMs: number) => {
      let admitted = 0;
      shards = shards.map((shard) => {
        let known = shard;
        for (let fullAt: bigint | undefined; ; admitted++) {
          fullAt = written(known.fullAt, stepOf(known, take(1000n), nowMs, n));
          if (fullAt === undefined) return known;
          known = { ...known, fullAt };
        }
      });
      return admitted;
    };
    expect([
      drainAll(startMs),
      drainAll(startMs),
      drainAll(startMs + 11_999),
      drainAll(startMs + 12_000),
      drainAll(startMs + 72_000),
    ]).toEqual([n * 5, 0, 0, n, n * 5]);
  });

  it('never give more from one of them than its share, full as it may be', () => {
    fc.assert(
      fc.property(
        specs,
        fc.integer({ min: 2, max: 32 }),
        fc.bigInt({ min: 1n, max: 10n ** 18n }),
        (limit, n, beyond) => {
          // The store asks with one that cannot fit where what it remembers may be old: then the condition has to refuse it.
          const state = untouched(limit, startMs);
          const milliTaken = shardBurstMilli(limit, n) + beyond;
          expect(fits(state, milliTaken, startMs, n)).toBe(false);
          expect(written(state.fullAt, stepOf(state, take(milliTaken), startMs, n))).toBeUndefined();
        },
      ),
    );
  });
});

interface Caller {
  readonly does: Move;
  /** What the caller believes to have seen: nothing, a bucket full or empty at the start, or what is there. */
  readonly memory: 'none' | 'full' | 'empty' | 'fresh';
  readonly clockMs?: number;
}

interface Config {
  readonly limit: LimitSpec;
  readonly shards?: number;
  /** What the item has at the start, in millitokens; absent: there is no item. */
  readonly stock?: bigint;
  readonly callers: readonly Caller[];
  /** How often a millisecond passes, anywhere among what the callers do. */
  readonly ticks?: number;
}

interface Actor {
  readonly image: LimitState | undefined;
  readonly planned?: { readonly step: Step; readonly nowMs: number };
  readonly verdict?: 'granted' | 'refused';
  readonly tries: number;
}

interface World {
  readonly fullAt: bigint | undefined;
  readonly passedMs: number;
  readonly actors: readonly Actor[];
  /** What was written, in the order of the store. */
  readonly history: readonly { readonly does: Move; readonly nowMs: number }[];
}

const shown = (world: World): string =>
  JSON.stringify(world, (_, value) => (typeof value === 'bigint' ? String(value) : value));

/** Runs every order in which the atomic actions can happen; `check` sees each refusal as it is made, and each end. */
function everyOrder(
  { limit, shards = 1, stock, callers, ticks = 0 }: Config,
  check: (world: World, refused?: number) => void,
): number {
  const now = (world: World, i: number) => startMs + world.passedMs + (callers[i]?.clockMs ?? 0);
  const stateOf = (fullAt: bigint): LimitState => ({ ...fullLimit(limit, startMs), fullAt });
  const stocked = (milliThere: bigint) =>
    debtFreeUpTo(limit, startMs) - milliThere * BigInt(shards) * limit.refillPeriodMs;
  const initial = stock === undefined ? undefined : stocked(stock);
  const images = {
    none: undefined,
    full: stateOf(BigInt(startMs) * limit.refillMilli - 1n),
    empty: stateOf(stocked(0n)),
    fresh: initial === undefined ? undefined : stateOf(initial),
  };
  let ends = 0;

  const withActor = (world: World, i: number, actor: Partial<Actor>): World => ({
    ...world,
    actors: world.actors.map((old, at) => {
      if (at !== i) return old;
      const { planned: _, ...rest } = old;
      return { ...rest, ...actor };
    }),
  });

  function act(world: World, i: number): World {
    const { does } = callers[i] as Caller;
    const { image, planned, tries } = world.actors[i] as Actor;
    const nowMs = now(world, i);
    if (!planned)
      return withActor(world, i, {
        planned: { step: stepOf(image ?? untouched(limit, nowMs), does, nowMs, shards), nowMs },
      });
    // What nobody has made yet is made by whoever has not seen it; who has, fails.
    const after =
      world.fullAt === undefined
        ? image
          ? undefined
          : (planned.step.set ?? BigInt(planned.nowMs) * limit.refillMilli)
        : written(world.fullAt, planned.step);
    if (after !== undefined) {
      const granted = withActor(world, i, { verdict: 'granted' });
      return { ...granted, fullAt: after, history: [...world.history, { does, nowMs: planned.nowMs }] };
    }
    const seen = world.fullAt === undefined ? undefined : stateOf(world.fullAt);
    const isShort = does.checksCeiling && seen !== undefined && !fits(seen, does.takeMilli, nowMs, shards);
    const next = withActor(world, i, {
      image: seen,
      tries: tries + 1,
      ...(isShort ? { verdict: 'refused' as const } : {}),
    });
    if (isShort) check(next, i);
    return next;
  }

  // Whatever leads to the same world goes on alike: it is gone through once.
  const known = new Set<string>();
  function explore(world: World): void {
    const name = shown(world);
    if (known.has(name)) return;
    known.add(name);
    let isOver = true;
    world.actors.forEach(({ verdict, tries }, i) => {
      if (verdict) return;
      isOver = false;
      // Each failure is another's success, a millisecond, or a memory put right: nobody tries for ever.
      if (tries > callers.length + ticks + 1) throw new Error(`tries for ever: ${name}`);
      explore(act(world, i));
    });
    if (isOver) {
      ends++;
      check(world);
    } else if (world.passedMs < ticks) explore({ ...world, passedMs: world.passedMs + 1 });
  }

  explore({
    fullAt: initial,
    passedMs: 0,
    actors: callers.map(({ memory }) => ({ image: images[memory], tries: 0 })),
    history: [],
  });
  return ends;
}

/** The exact bucket with the same history, in the order of the store; undefined where it would not have granted all of it. */
function replayed({ limit, shards = 1, stock }: Config, history: World['history']): Reference | undefined {
  const reference = new Reference(limit, shards, startMs - 10);
  const burst = new Fraction(limit.burstMilli, BigInt(shards));
  if (stock !== undefined && whole(stock).isBelow(burst)) {
    // A stock that is not the whole is what is left of it at the start.
    reference.change(-(burst.floor() - stock), startMs);
  }
  for (const { does, nowMs } of history) {
    if (does.checksCeiling && !reference.has(does.takeMilli, nowMs)) return undefined;
    const change = does.returnMilli - does.takeMilli - does.chargeMilli;
    if (change !== 0n) reference.change(change, nowMs);
  }
  return reference;
}

describe('callers of one bucket, in every order of what they do', () => {
  const limit = perMinute(10n); // 1 token in 6 s
  const fast = rateSpec(3000n, 1000n, 1n); // a token each millisecond
  const one = (memory: Caller['memory'], tokens = 1n, clockMs = 0): Caller => ({
    does: take(tokens * 1000n),
    memory,
    clockMs,
  });
  const memories: Caller['memory'][] = ['none', 'full', 'empty', 'fresh'];
  const triples = memories.flatMap((a, i) =>
    memories.slice(i).flatMap((b, j) => memories.slice(i + j).map((c) => [a, b, c] as const)),
  );

  /** All that was granted the exact bucket would have granted, and it too would have refused who was refused. */
  function checkAll(config: Config): { ends: number; outcomes: Set<string> } {
    const outcomes = new Set<string>();
    const ends = everyOrder(config, (world, refused) => {
      const reference = replayed(config, world.history);
      if (!reference) throw new Error(`granted too much: ${shown(world)}`);
      if (refused === undefined) {
        outcomes.add(world.actors.map(({ verdict }) => (verdict === 'granted' ? '+' : '-')).join(''));
        return;
      }
      const { does, clockMs = 0 } = config.callers[refused] as Caller;
      const isBehind = config.callers.some((other) => (other.clockMs ?? 0) > clockMs);
      // One whose clock lags may be told no for as long as it lags.
      if (!isBehind && reference.has(does.takeMilli, startMs + world.passedMs + clockMs))
        throw new Error(`refused wrongly: ${shown(world)}`);
    });
    return { ends, outcomes };
  }

  it.each(triples)(
    'with memories %s, %s and %s: two of three get the last two tokens, whoever they are',
    (...remembered) => {
      const { outcomes } = checkAll({ limit, stock: 2000n, callers: remembered.map((memory) => one(memory)) });
      expect([...outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    },
  );

  it.each(triples)(
    'with memories %s, %s and %s of a bucket that is full: all three get theirs in the same millisecond, and no fourth token',
    (...remembered) => {
      const burst = perMinute(3n);
      const { outcomes } = checkAll({ limit: burst, stock: 3000n, callers: remembered.map((memory) => one(memory)) });
      expect([...outcomes]).toEqual(['+++']);
      const more = checkAll({
        limit: burst,
        stock: 3000n,
        callers: remembered.map((memory, i) => one(memory, i === 0 ? 2n : 1n)),
      });
      expect([...more.outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    },
  );

  it('make one bucket where there is none, and share it', () => {
    for (const remembered of triples) {
      if (remembered.includes('fresh')) continue;
      const { outcomes } = checkAll({ limit: perMinute(2n), callers: remembered.map((memory) => one(memory)) });
      expect([...outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    }
  });

  it('get what refills while they try, and nothing besides', () => {
    for (const remembered of triples) {
      const { outcomes } = checkAll({
        limit: fast,
        stock: 1000n,
        ticks: 1,
        callers: remembered.map((memory) => one(memory)),
      });
      expect([...outcomes].every((outcome) => outcome.includes('+'))).toBe(true);
      expect([...outcomes].some((outcome) => outcome === '++-')).toBe(true);
      expect(outcomes.has('+++')).toBe(false);
    }
  });

  it.each([
    [-1, 0, 1],
    [-2, -1, 0],
    [0, 0, 5],
    [-5, 5, 5],
  ])(
    'with clocks off by %d, %d and %d ms never get more than the exact bucket at the latest clock gives',
    (...clocks) => {
      for (const remembered of triples.filter((_, i) => i % 5 === 0)) {
        for (const stock of [0n, 1000n, 3000n]) {
          const callers = remembered.map((memory, i) => one(memory, 1n, clocks[i]));
          const config = { limit: fast, stock, callers, ticks: 1 };
          const { ends } = checkAll(config);
          expect(ends).toBeGreaterThan(0);
        }
      }
    },
  );

  it('with clocks that lag behind are refused only for as long as they lag', () => {
    everyOrder({ limit: fast, stock: 1000n, callers: [one('fresh', 1n, 4), one('fresh', 1n, 0)] }, (world, refused) => {
      if (refused === undefined) return;
      const state = { ...fullLimit(fast, startMs), fullAt: world.fullAt as bigint };
      expect(refused).toBe(1);
      expect(retryAfterMs(state, 1000n, startMs, 1)).toBeLessThanOrEqual(4);
    });
  });

  it('who charge and give back always get through, and the sum is exact', () => {
    const charge: Caller = { does: move({ chargeMilli: 4000n }), memory: 'fresh' };
    const giveBack: Caller = { does: move({ returnMilli: 3000n }), memory: 'fresh' };
    for (const stock of [0n, 1000n, 5000n, 10_000n]) {
      for (const memory of memories) {
        const config = {
          limit,
          stock,
          callers: [charge, { ...giveBack, memory: memory === 'none' ? 'fresh' : memory } as Caller, one(memory)],
        };
        const { outcomes } = checkAll(config);
        expect([...outcomes].every((outcome) => outcome.startsWith('++'))).toBe(true);
        everyOrder(config, (world, refused) => {
          if (refused !== undefined) return;
          const reference = replayed(config, world.history) as Reference;
          const state = { ...fullLimit(limit, startMs), fullAt: world.fullAt as bigint };
          expect(availableMilli(state, startMs, 1)).toBe(reference.balanceAt(startMs).floor());
        });
      }
    }
  });

  it('of one shard of several share that shard', () => {
    for (const remembered of triples) {
      if (remembered.includes('none')) continue;
      const { outcomes } = checkAll({
        limit: perMinute(8n),
        shards: 4,
        stock: 2000n,
        callers: remembered.map((memory) => one(memory)),
      });
      expect([...outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    }
  });
});
