import { smaller } from '../../lib/int.js';

/** What a limit grants. Amounts in millitokens. */
export interface LimitSpec {
  readonly name: string;
  readonly capacityMilli: bigint;
  /** The ceiling of the bucket. */
  readonly burstMilli: bigint;
  /** Comes back over every `refillPeriodMs`. */
  readonly refillMilli: bigint;
  readonly refillPeriodMs: bigint;
}

/**
 * One limit of one shard of a bucket. A bucket of n shards keeps the parameters of the whole on each of them, and a cost
 * taken from one shard counts n-fold there: so each has 1/n of the bucket and nothing is ever divided.
 */
export interface LimitState extends LimitSpec {
  /** When it will be full, in ms × refillMilli, so that nothing is ever rounded. In the past: it is full. */
  readonly fullAt: bigint;
  readonly consumedMilli: bigint;
  /** What `consumedMilli` was when the hour began. */
  readonly consumedBeforeMilli: bigint;
}

/** Millitokens by the limit's name. */
export type Amounts = Readonly<Record<string, bigint>>;

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n);

function divFloor(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}
const divCeil = (dividend: bigint, divisor: bigint): bigint => -divFloor(-dividend, divisor);

const ceiling = ({ burstMilli, refillPeriodMs }: LimitSpec): bigint => burstMilli * refillPeriodMs;
const cost = ({ refillPeriodMs }: LimitSpec, milli: bigint, shards: number): bigint => milli * BigInt(shards) * refillPeriodMs;
const isFull = ({ fullAt, refillMilli }: LimitState, nowMs: number): boolean => fullAt < BigInt(nowMs) * refillMilli;

/** What may still be taken, in the units of `fullAt`; negative while in debt. */
const room = (limit: LimitState, nowMs: number): bigint => ceiling(limit) - atLeastZero(limit.fullAt - BigInt(nowMs) * limit.refillMilli);

/** What a caller could take from this shard; negative while an overrun is being paid back. Rounded down: a fraction is never lent. */
export const availableMilli = (limit: LimitState, nowMs: number, shards: number): bigint => divFloor(room(limit, nowMs), cost(limit, 1n, shards));

/** Whether an amount could be taken now. Nothing at all can be taken from what is in debt, not even 0. */
export const fits = (limit: LimitState, milli: bigint, nowMs: number, shards: number): boolean => cost(limit, milli, shards) <= room(limit, nowMs);

/** How long until the amount fits; 0 where it does. To the millisecond: not one earlier, not one later. */
export const retryAfterMs = (limit: LimitState, milli: bigint, nowMs: number, shards: number): number =>
  Number(atLeastZero(divCeil(cost(limit, milli, shards) - room(limit, nowMs), limit.refillMilli)));

/** What a shard at its fullest can give. */
export const shardBurstMilli = ({ burstMilli }: LimitSpec, shards: number): bigint => burstMilli / BigInt(shards);

/** How long an empty bucket takes to fill. */
export const fillMs = (limit: LimitSpec): number => Number(divCeil(ceiling(limit), limit.refillMilli));

/** The ms at which what is stored will be full. */
export const fullAtMs = ({ fullAt, refillMilli }: LimitState): number => Number(divCeil(fullAt, refillMilli));

/** What one write does to a limit: takes that stay under the ceiling, then charges that need not, then what is given back. */
export interface Move {
  readonly takeMilli: bigint;
  readonly chargeMilli: bigint;
  readonly returnMilli: bigint;
  /** Whether anyone takes, be it 0: then the limit must not be in debt. */
  readonly judged: boolean;
}

/** The change of `fullAt` and the state it may be made in: both parts of one conditional write. */
export interface Step {
  readonly from?: bigint;
  readonly upTo?: bigint;
  readonly below?: bigint;
  readonly set?: bigint;
  readonly add?: bigint;
}

/**
 * The step for a move, for the state last seen. If another has written since, its condition fails, or it is as right as
 * it was: the ceiling is inside the condition, so that no two writers can together take more than there is.
 */
export function stepOf(limit: LimitState, { takeMilli, chargeMilli, returnMilli, judged }: Move, nowMs: number, shards: number): Step {
  const now = BigInt(nowMs) * limit.refillMilli;
  const taken = cost(limit, takeMilli, shards);
  const change = taken + cost(limit, chargeMilli, shards) - cost(limit, returnMilli, shards);
  const underCeiling = judged ? { upTo: now + ceiling(limit) - taken } : {};
  if (takeMilli === 0n && chargeMilli === 0n) return change === 0n ? underCeiling : { ...underCeiling, add: change };
  // More than a shard can ever hold is not taken from a full one either: then the condition below cannot hold.
  if (isFull(limit, nowMs) && taken <= ceiling(limit)) return { below: now, set: now + change };
  return { from: now, ...underCeiling, add: change };
}

export const afterStep = <T extends LimitState>(limit: T, { set, add = 0n }: Step): T => ({ ...limit, fullAt: set ?? limit.fullAt + add });

/** Which of the requests, in order of arrival, can all be taken together. */
export function admit(limits: readonly LimitState[], requests: readonly Amounts[], nowMs: number, shards: number): boolean[] {
  let left = limits.map((limit) => room(limit, nowMs));
  return requests.map((request) => {
    const costs = limits.map((limit) => cost(limit, request[limit.name] ?? 0n, shards));
    const admitted = costs.every((amount, i) => amount <= (left[i] as bigint));
    if (admitted) left = left.map((amount, i) => amount - (costs[i] as bigint));
    return admitted;
  });
}

/** A limit that is untouched at this moment: full. */
export const fullLimit = (spec: LimitSpec, nowMs: number): LimitState => ({
  ...spec,
  fullAt: BigInt(nowMs) * spec.refillMilli,
  consumedMilli: 0n,
  consumedBeforeMilli: 0n,
});

/** The same bucket under other limits: what is available stays, as far as the new ceiling lets it; a limit that is new starts full. */
export function restamp(limits: readonly LimitState[], specs: readonly LimitSpec[], nowMs: number, shards: number): LimitState[] {
  const before = new Map(limits.map((limit) => [limit.name, limit]));
  return specs.map((spec) => {
    const old = before.get(spec.name);
    if (!old) return fullLimit(spec, nowMs);
    const kept = availableMilli(old, nowMs, shards);
    const most = shardBurstMilli(spec, shards);
    const fullAt = BigInt(nowMs) * spec.refillMilli + ceiling(spec) - cost(spec, smaller(kept, most), shards);
    return { ...old, ...spec, fullAt };
  });
}

/** An empty shard, as a doubling adds them: it mints nothing. */
export const emptyLimit = (spec: LimitSpec, nowMs: number): LimitState => ({
  ...fullLimit(spec, nowMs),
  fullAt: BigInt(nowMs) * spec.refillMilli + ceiling(spec),
});

/** The latest `fullAt` that is not in debt. */
export const debtFreeUpTo = (limit: LimitSpec, nowMs: number): bigint => BigInt(nowMs) * limit.refillMilli + ceiling(limit);
