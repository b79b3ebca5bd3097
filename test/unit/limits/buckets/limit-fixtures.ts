import {
  divFloor,
  identityOf,
  type LimitSpec,
  type LimitState,
  room,
  type Step,
  slotGraceMs,
  stepFor,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { type BucketChange, type Conversion, converted } from '../../../../src/limits/buckets/convert.js';
import { allLimits, type Shard, type ShardAt } from '../../../../src/limits/buckets/shard.js';
import type { LimitSet } from '../../../../src/limits/limit.js';
import { hourOf } from '../../../../src/limits/usage/usage.js';

export const startMs = 1_760_000_000_000;

/** An exact rational number in lowest terms. */
export class Fraction {
  readonly over: bigint;
  readonly under: bigint;

  constructor(over: bigint, under = 1n) {
    let [a, b] = [over < 0n ? -over : over, under];
    while (b !== 0n) [a, b] = [b, a % b];
    this.over = over / a;
    this.under = under / a;
  }

  plus(other: Fraction): Fraction {
    return new Fraction(this.over * other.under + other.over * this.under, this.under * other.under);
  }
  minus(other: Fraction): Fraction {
    return this.plus(other.times(-1n));
  }
  times(factor: bigint): Fraction {
    return new Fraction(this.over * factor, this.under);
  }
  isBelow(other: Fraction): boolean {
    return this.over * other.under < other.over * this.under;
  }
  least(other: Fraction): Fraction {
    return other.isBelow(this) ? other : this;
  }
  floor(): bigint {
    return this.over / this.under - (this.over % this.under < 0n ? 1n : 0n);
  }
}
export const whole = (value: bigint): Fraction => new Fraction(value);

export const rateSpec = (burst: bigint, refill = burst, periodMs = 60_000n, name = 'rpm'): LimitSpec => ({
  name,
  capacityMilli: burst,
  burstMilli: burst,
  refillMilli: refill,
  refillPeriodMs: periodMs,
});
const unrefilled = (name: string, capacityMilli: bigint): LimitSpec => ({
  name,
  capacityMilli,
  burstMilli: capacityMilli,
  refillMilli: 0n,
  refillPeriodMs: 1n,
});
export const calendarSpec = (
  capacityMilli: bigint,
  window: 'DAY' | 'WEEK' | 'MONTH' = 'DAY',
  name = 'day',
  zone = 'UTC',
): LimitSpec => ({
  ...unrefilled(name, capacityMilli),
  calendar: { window, zone },
});
export const slotSpec = (slots: bigint, name = 'jobs'): LimitSpec => ({
  ...unrefilled(name, slots * 1000n),
  isConcurrency: true,
});

/** The largest `fullAt` of a limit that is not in debt. */
export const debtFreeUpTo = ({ burstMilli, refillMilli, refillPeriodMs }: LimitSpec, nowMs: number): bigint =>
  BigInt(nowMs) * refillMilli + burstMilli * refillPeriodMs;

/** A limit with nothing left. */
export const emptyLimit = (spec: LimitSpec, nowMs: number): LimitState => ({
  ...spec,
  fullAt: debtFreeUpTo(spec, nowMs),
  consumedMilli: 0n,
  consumedBeforeMilli: 0n,
});

export const shardOf = (limits: readonly LimitState[], shardCount = 1, overrides: Partial<Shard> = {}): Shard => ({
  limits,
  retired: [],
  version: 'v',
  levels: [],
  incarnation: 'b',
  conversions: 0,
  shardCount,
  hour: hourOf(startMs),
  booked: [],
  events: 0,
  eventsBefore: 0,
  writes: 1,
  ...overrides,
});

/** The millitokens that the shards have of a limit together, retired or in force. Debts count as negative. */
export const balanceOf = (shards: readonly Shard[], identity: string, nowMs = startMs): Fraction =>
  shards.reduce((sum, shard) => {
    const limit = allLimits(shard).find((each) => identityOf(each) === identity);
    return limit ? sum.plus(new Fraction(room(limit, nowMs), unitsOf(limit, 1n, shard.shardCount))) : sum;
  }, whole(0n));

export const shardsAt = (shards: readonly Shard[]): ShardAt[] => shards.map((shard, index) => ({ index, shard }));

/** A limit set of these specs, with the fields that the rules use. */
export const setOf = (specs: readonly LimitSpec[], version = 'w'): LimitSet => ({ limits: [], specs, version });

export const reshard = (shards: readonly Shard[], count: number, nowMs = startMs): Conversion =>
  converted(shards, { kind: 'shards', count }, nowMs);
export const restamped = (shards: readonly Shard[], specs: readonly LimitSpec[], nowMs = startMs): Conversion =>
  converted(shards, { kind: 'stamp', set: setOf(specs), mayExpire: true } satisfies BucketChange, nowMs);

/** Applies a step as DynamoDB does. Undefined if its condition does not hold. */
export function written(fullAt: bigint, { from, upTo, below, set, add = 0n }: Step): bigint | undefined {
  if (from !== undefined && fullAt < from) return undefined;
  if (upTo !== undefined && fullAt > upTo) return undefined;
  if (below !== undefined && fullAt >= below) return undefined;
  return set ?? fullAt + add;
}

/** The same for a whole limit: the window must be the expected one, and dropped slots must be overdue. */
export function writtenLimit(there: LimitState, step: Step, nowMs: number): LimitState | undefined {
  const { window, drops = [] } = step;
  if (window && window.is !== there.windowEndMs) return undefined;
  if (drops.some((lease) => (there.slots?.[lease] ?? Number.POSITIVE_INFINITY) > nowMs - slotGraceMs)) return undefined;
  const fullAt = written(there.fullAt, step);
  if (fullAt === undefined) return undefined;
  const slots =
    there.slots && Object.fromEntries(Object.entries(there.slots).filter(([lease]) => !drops.includes(lease)));
  return { ...there, fullAt, ...(window ? { windowEndMs: window.becomes } : {}), ...(slots ? { slots } : {}) };
}

/**
 * The millitokens that can be taken from this shard. Negative while in debt. Rounded down: a fraction is never lent.
 */
export const availableMilli = (limit: LimitState, nowMs: number, shards: number): bigint =>
  divFloor(room(limit, nowMs), unitsOf(limit, 1n, shards));

/** True if the amount can be taken now. A limit in debt grants nothing, not even 0. */
export const fits = (limit: LimitState, milli: bigint, nowMs: number, shards: number): boolean =>
  unitsOf(limit, milli, shards) <= room(limit, nowMs);

/** What one write does to a limit, in millitokens. Takes must stay under the ceiling; charges and returns need not. */
export interface Move {
  readonly takeMilli: bigint;
  readonly chargeMilli: bigint;
  readonly returnMilli: bigint;
  /** True if the write has a take, even one of 0: the limit must not be in debt then. */
  readonly checksCeiling: boolean;
}

/** The step for a move on one of n shards. */
export const stepOf = (
  limit: LimitState,
  { takeMilli, chargeMilli, returnMilli, checksCeiling }: Move,
  nowMs: number,
  shards: number,
): Step =>
  stepFor(
    limit,
    {
      take: unitsOf(limit, takeMilli, shards),
      charge: unitsOf(limit, chargeMilli, shards),
      giveBack: unitsOf(limit, returnMilli, shards),
      checksCeiling,
    },
    nowMs,
  );
