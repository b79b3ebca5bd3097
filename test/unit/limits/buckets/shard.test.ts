import fc from 'fast-check';
import { isUsed, openUsage } from '../../../../src/limits/buckets/booking.js';
import {
  fullAtMs,
  fullLimit,
  type LimitState,
  retryAfterMs,
  room,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { isIdle, retentionMs } from '../../../../src/limits/buckets/expiry.js';
import { Plan } from '../../../../src/limits/buckets/plan.js';
import {
  availableAcross,
  isEnough,
  mayHaveShards,
  retryAcrossMs,
  type Shard,
} from '../../../../src/limits/buckets/shard.js';
import { splitAmount } from '../../../../src/limits/buckets/split.js';
import { limitSet } from '../../../../src/limits/limit.js';
import { hourOf } from '../../../../src/limits/usage/usage.js';
import { vectorsOf } from '../../../support/vectors.js';
import { holding, rpm, rpmSpec, tpmSpec } from '../limits.js';
import { emptyLimit, Fraction, shardOf, shardsAt, slotSpec, startMs, whole } from './limit-fixtures.js';

const hourMs = 3_600_000;
const dayMs = 86_400_000;

describe('a bucket of several shards', () => {
  /** Shares are whole, as a doubling makes them. They fill within seconds, so that every millisecond can be tried. */
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

  it('has the sum of its shards, debts included', () => {
    fc.assert(
      fc.property(buckets, ({ shards }) => {
        const each = shards.map(
          ({ limits: [limit], shardCount }) =>
            new Fraction(room(limit as LimitState, startMs), unitsOf(limit as LimitState, 1n, shardCount)),
        );
        expect(availableAcross(shards, 'rpm', startMs)).toBe(
          each.reduce((sum, part) => sum.plus(part), whole(0n)).floor(),
        );
        expect(availableAcross(shards, 'tpm', startMs)).toBe(0n);
      }),
    );
  });

  it('returns the wait until the first millisecond at which its shards have enough together', () => {
    fc.assert(
      fc.property(buckets, parts, ({ shards, burst }, thousandths) => {
        const amount = (burst * BigInt(thousandths)) / 1000n;
        let firstMs = 0;
        while (availableAcross(shards, 'rpm', startMs + firstMs) < amount) firstMs++;
        expect(retryAcrossMs(shards, 'rpm', amount, startMs)).toBe(firstMs);
      }),
      { numRuns: 200 },
    );
  });

  it('splits an amount completely if it has enough, and takes from no shard more than it has', () => {
    fc.assert(
      fc.property(buckets, parts, ({ shards, burst }, thousandths) => {
        const amount = (burst * BigInt(thousandths)) / 1000n;
        const rooms = shards.map(({ limits }) => room(limits[0] as LimitState, startMs));
        const perMilli = unitsOf((shards[0] as Shard).limits[0] as LimitState, 1n, shards.length);
        const split = splitAmount(rooms, amount, perMilli);
        const enough = availableAcross(shards, 'rpm', startMs) >= amount;
        expect(isEnough(shards, { rpm: amount }, startMs)).toBe(enough);
        expect(split !== undefined).toBe(enough);
        expect(new Plan(shardsAt(shards), startMs).place({ amounts: { rpm: amount } }) !== undefined).toBe(enough);
        if (!split) return;
        expect(split).toHaveLength(shards.length);
        expect(split.reduce((sum, part) => sum + part.milli, 0n)).toBe(amount);
        expect(split.reduce((sum, part) => sum + part.units, 0n)).toBe(amount * perMilli);
        split.forEach((part, i) => {
          if (part.units === 0n) expect(part.milli).toBe(0n);
          else expect(part.units > 0n && part.units <= (rooms[i] as bigint)).toBe(true);
        });
      }),
    );
  });

  it('takes nothing of one limit if another is short', () => {
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
    ['if half is still the largest amount', 100, 1, { rpm: 50_000n }, true],
    ['if half is less than the largest amount', 100, 1, { rpm: 50_001n }, false],
    ['up to 32', 100, 16, {}, true],
    ['past 32', 100, 32, {}, false],
    ['if a share would not be a whole millitoken', 101, 8, {}, false],
    ['whatever the amounts of another limit', 100, 1, { rph: 10n ** 9n }, true],
    ['if a share would be a token', 32, 16, {}, true],
    ['if a share would be less than a token', 16, 16, {}, false],
  ])('is allowed to double or not: %s', (_, burst, shardCount, maxAmounts, isAllowed) => {
    const [spec] = limitSet([{ ...rpm, burst }]).specs as [LimitState];
    expect(mayHaveShards(shardCount * 2, shardOf([fullLimit(spec, startMs)], shardCount), maxAmounts)).toBe(isAllowed);
  });

  it('never has several shards with a concurrency limit, and may always have one', () => {
    const shard = shardOf([fullLimit(slotSpec(100n), startMs)]);
    expect([1, 2, 4].map((count) => mayHaveShards(count, shard, {}))).toEqual([true, false, false]);
    const [odd] = limitSet([{ ...rpm, burst: 101 }]).specs as [LimitState];
    expect(mayHaveShards(1, shardOf([fullLimit(odd, startMs)]), { rpm: 10n ** 9n })).toBe(true);
  });
});

describe('the retention of a bucket', () => {
  it.each([
    [60, 3 * dayMs],
    [86_400, 7 * dayMs],
    [37_029, 3 * dayMs + 3000],
  ])('is seven times the fill time for a period of %d s, at least three days', (refillPeriodSecs, retainedMs) => {
    const { specs } = limitSet([rpm, { ...rpm, name: 'rph', refillPeriodSecs }]);
    expect(retentionMs(specs.map((spec) => fullLimit(spec, startMs)))).toBe(retainedMs);
  });

  it('lasts until the bucket is full and its last hour is that long ago', () => {
    const hour = hourOf(startMs);
    const shard = shardOf([fullLimit(rpmSpec, startMs)], 2, { hour });
    const endMs = (hour + 1) * hourMs + 3 * dayMs;
    expect([startMs, endMs, endMs + 1].map((ms) => isIdle(shard, ms))).toEqual([false, false, true]);
    const inDebt = shardOf([{ ...fullLimit(rpmSpec, startMs), fullAt: BigInt(endMs + 500) * rpmSpec.refillMilli }], 2, {
      hour,
    });
    expect(fullAtMs(inDebt.limits[0] as LimitState)).toBe(endMs + 500);
    expect([endMs + 1, endMs + 500, endMs + 501].map((ms) => isIdle(inDebt, ms))).toEqual([false, false, true]);
  });

  it('keeps the usage of the open hour: what was used since it began', () => {
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

describe('retryAfterMs', () => {
  type Deficit = { deficit_milli: number; refill_amount_milli: number; refill_period_ms: number };
  it.each(vectorsOf<Deficit, number>('calculateRetryAfter'))(
    'returns the wait of the vector %s to the millisecond',
    (_, input, expected) => {
      const burstMilli = BigInt(Math.max(input.deficit_milli, input.refill_amount_milli));
      const spec = {
        name: 'rpm',
        capacityMilli: burstMilli,
        burstMilli,
        refillMilli: BigInt(input.refill_amount_milli),
        refillPeriodMs: BigInt(input.refill_period_ms),
      };
      const waitMs = retryAfterMs(emptyLimit(spec, startMs), BigInt(input.deficit_milli), startMs, 1);
      expect(Math.abs(waitMs - Math.round(expected * 1000))).toBeLessThanOrEqual(1);
      expect(waitMs).toBe(Math.ceil((input.deficit_milli * input.refill_period_ms) / input.refill_amount_milli));
    },
  );
});
