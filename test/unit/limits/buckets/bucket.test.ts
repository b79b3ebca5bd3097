import fc from 'fast-check';
import {
  afterStep,
  fillMs,
  fullAtMs,
  fullLimit,
  type LimitState,
  restampLimit,
  retryAfterMs,
  room,
  shardBurstMilli,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import {
  amountOf,
  move,
  perMinute,
  portions,
  quickSpecs,
  Reference,
  shardCounts,
  smaller,
  specs,
  take,
  untouched,
  waitMs,
  waits,
} from './bucket-reference.js';
import {
  availableMilli,
  debtFreeUpTo,
  emptyLimit,
  Fraction,
  fits,
  rateSpec,
  restamped,
  shardOf,
  startMs,
  stepOf,
  written,
} from './limit-fixtures.js';

const hourMs = 3_600_000;

describe('a limit', () => {
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

  it('grants, refuses and has exactly the same as the textbook token bucket in exact arithmetic', () => {
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

          // A caller never requests more than a full shard: that is split over several shards, or is invalid.
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

  it('grants at the promised millisecond and not one earlier', () => {
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

  it('never grants what the textbook bucket refuses, even if clocks step back', () => {
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
          // A take of nothing does not move the time of the bucket.
          if (milliTaken > 0n) reference.change(-milliTaken, nowMs);
          state = { ...state, fullAt };
        }
      }),
      { numRuns: 400 },
    );
  });

  it('never grants more than the burst, the refill between the earliest and latest clock, and the returns', () => {
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
          const cached = state ?? untouched(limit, nowMs);
          const requested = smaller(amountOf(limit.burstMilli, amount), limit.burstMilli);
          const part = gives ? move({ returnMilli: smaller(requested, taken - returned) }) : take(requested);
          const fullAt = written(cached.fullAt, stepOf(cached, part, nowMs, 1));
          if (fullAt === undefined) continue;
          if (!gives && requested > 0n)
            [earliestMs, latestMs] = state ? [Math.min(earliestMs, nowMs), Math.max(latestMs, nowMs)] : [nowMs, nowMs];
          taken += part.takeMilli;
          returned += part.returnMilli;
          state = { ...cached, fullAt };
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

describe('an idle bucket', () => {
  function drain(state: LimitState, nowMs: number, unit: bigint): number {
    let [current, admitted] = [state, 0];
    for (; admitted < 1000; admitted++) {
      const fullAt = written(current.fullAt, stepOf(current, take(unit), nowMs, 1));
      if (fullAt === undefined) return admitted;
      current = { ...current, fullAt };
    }
    return admitted;
  }

  it('grants its burst once, whatever was taken before', () => {
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

  it('grants its burst once after a debt, and after more was given back than was taken', () => {
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

  it('shows as a negative balance and is paid back at the refill rate', () => {
    expect([0, 1000, 29_999, 30_000, 31_000].map((ms) => availableMilli(owing, startMs + ms, 1))).toEqual([
      -30_000n,
      -29_000n,
      -1n,
      0n,
      1000n,
    ]);
  });

  it('refuses every take, even one of 0, until the millisecond in which it is paid', () => {
    expect(retryAfterMs(owing, 0n, startMs, 1)).toBe(30_000);
    expect(retryAfterMs(owing, 1000n, startMs, 1)).toBe(31_000);
    const isGranted = (ms: number, amount: bigint) =>
      written(owing.fullAt, stepOf(owing, take(amount), startMs + ms, 1)) !== undefined;
    expect([isGranted(29_999, 0n), isGranted(30_000, 0n), isGranted(30_999, 1000n), isGranted(31_000, 1000n)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('can grow and can be given back at any time', () => {
    const deeper = afterStep(owing, stepOf(owing, move({ chargeMilli: 1000n }), startMs, 1));
    expect(availableMilli(deeper, startMs, 1)).toBe(-31_000n);
    const back = afterStep(deeper, stepOf(deeper, move({ returnMilli: 91_000n }), startMs, 1));
    expect(availableMilli(back, startMs, 1)).toBe(60_000n);
  });
});

describe('a take of 0', () => {
  it('changes nothing and is granted if the limit is not in debt', () => {
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

describe('a limit under other parameters', () => {
  it('keeps the available amount and any debt, up to the new ceiling, and mints nothing', () => {
    fc.assert(
      fc.property(specs, specs, shardCounts, portions, fc.nat(100_000), (older, newer, shards, charged, afterMs) => {
        const full = { ...untouched(older, startMs), consumedMilli: 77n, consumedBeforeMilli: 33n };
        const before = afterStep(
          full,
          stepOf(full, move({ chargeMilli: amountOf(shardBurstMilli(older, shards), charged) }), startMs, shards),
        );
        const nowMs = startMs + afterMs;
        const carried = smaller(availableMilli(before, nowMs, shards), shardBurstMilli(newer, shards));
        const after = restampLimit(before, newer, nowMs);
        expect(after).toEqual({ ...newer, fullAt: after.fullAt, consumedMilli: 77n, consumedBeforeMilli: 33n });
        expect(availableMilli(after, nowMs, shards)).toBe(carried);
        expect(fits(after, carried, nowMs, shards)).toBe(true);
        expect(fits(after, carried + 1n, nowMs, shards)).toBe(false);

        // From then on it follows the new limit alone and starts with the old amount, less at most one unit.
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

  it('starts full if it is new, and is retired only if it leaves before it is full', () => {
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

  it('does not change if the parameters are the same, not even by a fraction of a millitoken', () => {
    const spent = { ...fullLimit(rateSpec(10_000n, 7n, 3n), startMs), fullAt: BigInt(startMs) * 7n + 3n * 40n + 1n };
    expect(restampLimit(spent, rateSpec(10_000n, 7n, 3n), startMs)).toEqual(spent);
  });
});

describe('the fill time', () => {
  it('ends at the first millisecond at which the whole burst is available', () => {
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
