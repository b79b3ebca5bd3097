import fc from 'fast-check';
import { larger } from '../../../../src/lib/int.js';
import { openUsage } from '../../../../src/limits/buckets/booking.js';
import {
  fullLimit,
  identityOf,
  type LimitSpec,
  type LimitState,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { type Conversion, converted } from '../../../../src/limits/buckets/convert.js';
import { Plan } from '../../../../src/limits/buckets/plan.js';
import { allLimits, availableAcross, type Shard } from '../../../../src/limits/buckets/shard.js';
import {
  balanceOf,
  calendarSpec,
  debtFreeUpTo,
  Fraction,
  rateSpec,
  reshard,
  restamped,
  shardOf,
  shardsAt,
  slotSpec,
  startMs,
} from './limit-fixtures.js';

const dayMs = 86_400_000;
const isBetween = (value: Fraction, min: Fraction, max: Fraction): boolean =>
  !value.isBelow(min) && !max.isBelow(value);

interface UsageTotals {
  readonly consumed: Record<string, bigint>;
  readonly open: Record<string, bigint>;
  readonly events: number;
  readonly openEvents: number;
}
/** The totals of the shards, and the open usage together with the bookings of the conversion. */
function usageOf({ shards, bookings }: Conversion): UsageTotals {
  const totals = {
    consumed: {} as Record<string, bigint>,
    open: {} as Record<string, bigint>,
    events: 0,
    openEvents: 0,
  };
  const addOpen = (consumed: Readonly<Record<string, bigint>>, events: number) => {
    for (const [name, milli] of Object.entries(consumed)) totals.open[name] = (totals.open[name] ?? 0n) + milli;
    totals.openEvents += events;
  };
  for (const shard of shards) {
    for (const { name, consumedMilli } of allLimits(shard))
      totals.consumed[name] = (totals.consumed[name] ?? 0n) + consumedMilli;
    totals.events += shard.events;
    const { consumed, events } = openUsage(shard);
    addOpen(consumed, events);
  }
  for (const { consumed, events } of bookings) addOpen(consumed, events);
  return { ...totals, open: Object.fromEntries(Object.entries(totals.open).filter(([, milli]) => milli !== 0n)) };
}

/** `fullAt` is not a round number, so that means have to be rounded. */
const stateOf = (spec: LimitSpec, thousandths: number, tc: number, th: number): LimitState => ({
  ...fullLimit(spec, startMs),
  fullAt:
    (spec.refillMilli > 0n ? debtFreeUpTo(spec, startMs) : spec.burstMilli) -
    (BigInt(thousandths) * spec.burstMilli * spec.refillPeriodMs) / 1000n +
    BigInt(tc),
  consumedMilli: BigInt(tc),
  consumedBeforeMilli: BigInt(Math.min(tc, th)),
});
/**
 * Buckets with a rate limit, a calendar limit and a retired limit: full, spent or in debt. Each shard has its own
 * usage.
 */
const buckets = (counts: readonly number[]): fc.Arbitrary<Shard[]> =>
  fc
    .record({
      count: fc.constantFrom(...counts),
      refill: fc.bigInt({ min: 1n, max: 5000n }),
      period: fc.bigInt({ min: 1n, max: 90_000n }),
      tokens: fc.bigInt({ min: 1n, max: 50n }),
      shards: fc.array(
        fc.record({
          left: fc.integer({ min: -500, max: 1100 }),
          day: fc.integer({ min: -500, max: 1000 }),
          tc: fc.nat(9),
          th: fc.nat(9),
          events: fc.nat(9),
          eb: fc.nat(9),
        }),
        { minLength: 32, maxLength: 32 },
      ),
    })
    .map(({ count, refill, period, tokens, shards }) => {
      const [rpm, day] = [rateSpec(tokens * 32_000n, refill, period), calendarSpec(tokens * 32_000n)];
      return shards.slice(0, count).map(({ left, day: used, tc, th, events, eb }) => {
        const limits = [stateOf(rpm, left, tc, th), stateOf(day, used, tc + 1, th)];
        return shardOf(limits, count, {
          retired: [stateOf({ ...rpm, name: 'tpm' }, left, tc + 2, th)],
          events,
          eventsBefore: Math.min(events, eb),
        });
      });
    });
const identities = ['RATE rpm', 'DAY day', 'RATE tpm'];

describe('adding shards', () => {
  it('conserves the available amount and any debt exactly, now and later', () => {
    fc.assert(
      fc.property(buckets([1, 2, 4, 8]), fc.constantFrom(2, 4), fc.nat(100_000), (shards, times, afterMs) => {
        const conversion = reshard(shards, shards.length * times);
        expect(conversion.shards.map(({ shardCount }) => shardCount)).toEqual(
          Array(shards.length * times).fill(shards.length * times),
        );
        for (const identity of identities) {
          for (const nowMs of [startMs, startMs + afterMs])
            expect(balanceOf(conversion.shards, identity, nowMs)).toEqual(balanceOf(shards, identity, nowMs));
        }
        expect(usageOf(conversion)).toEqual(usageOf({ shards, bookings: [] }));
        expect(conversion.bookings).toEqual([]);
        expect(new Set(conversion.shards.map(({ conversions }) => conversions))).toEqual(new Set([1]));
      }),
    );
  });

  it('conserves the amount of a nearly full bucket over five doublings', () => {
    const limit = { ...rateSpec(1_024_000_000n), name: 'rpm' };
    let shards: readonly Shard[] = [
      shardOf([
        { ...fullLimit(limit, startMs), fullAt: BigInt(startMs) * limit.refillMilli + unitsOf(limit, 1_000_000n, 1) },
      ]),
    ];
    expect(availableAcross(shards, 'rpm', startMs)).toBe(1_023_000_000n);
    for (let doubling = 0; doubling < 5; doubling++) shards = reshard(shards, shards.length * 2).shards;
    expect(shards).toHaveLength(32);
    expect(availableAcross(shards, 'rpm', startMs)).toBe(1_023_000_000n);
    expect(new Plan(shardsAt(shards), startMs).place({ amounts: { rpm: 1_022_000_000n } })).toBeDefined();
  });
});

describe('merging shards', () => {
  it('mints nothing, forgives no debt, and loses at most one unit per remaining shard by rounding', () => {
    fc.assert(
      fc.property(buckets([2, 4, 8, 16]), fc.constantFrom(2, 4, 8, 16), (shards, times) => {
        const count = Math.max(1, shards.length / times);
        const conversion = reshard(shards, count);
        for (const identity of identities) {
          const before = balanceOf(shards, identity);
          const { refillPeriodMs } = allLimits(shards[0] as Shard).find(
            (each) => identityOf(each) === identity,
          ) as LimitState;
          // One unit per remaining shard.
          expect(
            isBetween(balanceOf(conversion.shards, identity), before.minus(new Fraction(1n, refillPeriodMs)), before),
          ).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('loses no usage, and neither does the end of a bucket: it is booked or still open', () => {
    fc.assert(
      fc.property(buckets([2, 4, 8]), (shards) => {
        const before = usageOf({ shards, bookings: [] });
        const merged = reshard(shards, shards.length / 2);
        expect(usageOf(merged)).toEqual(before);
        expect(merged.bookings.every(({ index, shard }) => index >= shards.length / 2 && shard === shards[index])).toBe(
          true,
        );
        const end = converted(shards, { kind: 'end' }, startMs);
        expect(end.shards).toEqual([]);
        expect(usageOf(end)).toMatchObject({ open: before.open, openEvents: before.openEvents, consumed: {} });
      }),
    );
  });

  it('restores the shards from before a doubling, except for the number of conversions', () => {
    fc.assert(
      fc.property(buckets([1, 2, 4]), (shards) => {
        const there = reshard(reshard(shards, shards.length * 2).shards, shards.length).shards;
        for (const [i, { conversions, limits }] of there.entries()) {
          expect(conversions).toBe(2);
          const now = (shards[i] as Shard).limits.map((limit) => ({
            ...limit,
            fullAt: larger(limit.fullAt, BigInt(startMs) * limit.refillMilli),
          }));
          expect(limits).toEqual(now);
        }
      }),
    );
  });

  it('moves all shards to the latest window, with the use in that window', () => {
    const spec = calendarSpec(10_000n);
    const endMs = fullLimit(spec, startMs).windowEndMs as number;
    const used = (fullAt: bigint, windowEndMs: number) =>
      shardOf([{ ...fullLimit(spec, startMs), fullAt, windowEndMs }], 2);
    const mergedAt = (nowMs: number, ...shards: Shard[]) => reshard(shards, 1, nowMs).shards[0]?.limits[0];
    expect(mergedAt(endMs, used(9000n, endMs), used(3000n, endMs + dayMs))).toMatchObject({
      fullAt: 1500n,
      windowEndMs: endMs + dayMs,
    });
    expect(mergedAt(startMs, used(9000n, endMs), used(3000n, endMs + dayMs))).toMatchObject({
      fullAt: 1500n,
      windowEndMs: endMs + dayMs,
    });
    expect(mergedAt(startMs, used(9000n, endMs), used(3000n, endMs))).toMatchObject({
      fullAt: 6000n,
      windowEndMs: endMs,
    });
    // If more was given back to one shard than was used there, it reduces the use of the other.
    expect(mergedAt(startMs, used(9000n, endMs), used(-3000n, endMs))).toMatchObject({
      fullAt: 3000n,
      windowEndMs: endMs,
    });
  });

  it('keeps every lease that holds a slot, even of a limit that was retired while there were more shards', () => {
    const jobs = {
      ...fullLimit(slotSpec(2n), startMs),
      slots: { a: startMs + 60_000, b: startMs + 60_000 },
      fullAt: 2000n,
    };
    const left = restamped([shardOf([jobs])], [rateSpec(64_000n)]).shards;
    expect(left[0]?.retired).toEqual([jobs]);
    const again = restamped(reshard(left, 4).shards, [slotSpec(2n)]);
    expect(again.shards).toHaveLength(1);
    expect(again.shards[0]?.limits).toEqual([jobs]);
  });
});
