import fc from 'fast-check';
import { fillMs, fullLimit, type LimitSpec, type LimitState } from '../../../../src/limits/buckets/bucket.js';
import { Fraction, type Move, rateSpec, whole } from './limit-fixtures.js';

/**
 * The token bucket of the textbook, one of n shards, in exact arithmetic: a balance that refills up to the burst. Its
 * time is the time of its last change and never moves back.
 */
export class Reference {
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

export const move = (part: Partial<Move>): Move => ({
  takeMilli: 0n,
  chargeMilli: 0n,
  returnMilli: 0n,
  checksCeiling: false,
  ...part,
});
export const take = (takeMilli: bigint): Move => move({ takeMilli, checksCeiling: true });
export const perMinute = (tokens: bigint): LimitSpec => rateSpec(tokens * 1000n);
/** A limit that is full and was never written. */
export const untouched = (limit: LimitSpec, nowMs: number): LimitState => ({
  ...fullLimit(limit, nowMs),
  fullAt: BigInt(nowMs) * limit.refillMilli - 1n,
});

export const milli = fc.oneof(
  fc.bigInt({ min: 1n, max: 50n }),
  fc.bigInt({ min: 1n, max: 1_000_000n }),
  fc.bigInt({ min: 1n, max: 10n ** 18n }),
);
export const specs: fc.Arbitrary<LimitSpec> = fc
  .record({
    burst: milli,
    refill: milli,
    periodMs: fc.oneof(fc.bigInt({ min: 1n, max: 90n }), fc.bigInt({ min: 1n, max: 10n ** 12n })),
  })
  .map(({ burst, refill, periodMs }) => rateSpec(burst, refill, periodMs));
/** Limits that fill within an hour, so that clock differences of seconds matter. */
export const quickSpecs: fc.Arbitrary<LimitSpec> = fc
  .record({
    burst: fc.bigInt({ min: 1n, max: 300_000n }),
    refill: fc.bigInt({ min: 1n, max: 300_000n }),
    periodMs: fc.bigInt({ min: 1n, max: 3_600_000n }),
  })
  .filter(({ burst, refill, periodMs }) => burst * periodMs <= refill * 3_600_000n)
  .map(({ burst, refill, periodMs }) => rateSpec(burst, refill, periodMs));
export const shardCounts = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 32 }));
/** An amount as a part of a shard's share, plus or minus a millitoken. */
export const portions = fc.record({
  thousandths: fc.oneof(fc.constant(0n), fc.constant(1000n), fc.bigInt({ min: 0n, max: 1500n })),
  more: fc.bigInt({ min: -1n, max: 1n }),
});
export type Portion = { readonly thousandths: bigint; readonly more: bigint };
export const amountOf = (share: bigint, { thousandths, more }: Portion): bigint => {
  const amount = (share * thousandths) / 1000n + more;
  return amount > 0n ? amount : 0n;
};
export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
/** Durations relative to the fill time of the limit, so that each one matters. */
export const waits = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 20 }).map((ms) => ({ ms })),
  fc.integer({ min: 0, max: 1300 }).map((thousandths) => ({ thousandths })),
);
export type Wait = 0 | { readonly ms: number } | { readonly thousandths: number };
export function waitMs(limit: LimitSpec, wait: Wait): number {
  if (wait === 0) return 0;
  if ('ms' in wait) return wait.ms;
  return Math.min(Math.floor((Math.min(fillMs(limit), 1e11) * wait.thousandths) / 1000), 1e11);
}
