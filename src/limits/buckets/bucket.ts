import { smaller } from '../../lib/int.js';
import { type Calendar, longestWindowMs, windowEndMs } from './calendar-window.js';

/** What a limit grants. Amounts in millitokens. */
export interface LimitSpec {
  readonly name: string;
  readonly capacityMilli: bigint;
  /** The ceiling of the bucket. */
  readonly burstMilli: bigint;
  /** Comes back over every `refillPeriodMs`. 0 for a calendar or concurrency limit, whose `refillPeriodMs` is 1. */
  readonly refillMilli: bigint;
  readonly refillPeriodMs: bigint;
  /** A calendar limit: all of it comes back when the window ends. */
  readonly calendar?: Calendar;
  /** Counts the leases that are out at the same time. */
  readonly isConcurrency?: true;
  /** Not enforced: what does not fit is counted and not refused. */
  readonly isShadow?: true;
}

/** The leases that hold a slot of a concurrency limit, and until when. */
export type Slots = Readonly<Record<string, number>>;

/**
 * One limit of one shard of a bucket. A bucket of n shards keeps the parameters of the whole on each of them, and a cost
 * taken from one shard counts n-fold there: so each has 1/n of the bucket and nothing is ever divided.
 */
export interface LimitState extends LimitSpec {
  /** When it will be full, in ms × refillMilli, so that nothing is ever rounded. In the past: it is full. Without refill: what is used, n-fold. */
  readonly fullAt: bigint;
  readonly consumedMilli: bigint;
  /** What `consumedMilli` was when the hour began. */
  readonly consumedBeforeMilli: bigint;
  /** Which conversion of the bucket added the limit; absent: it was there from the start. */
  readonly born?: number;
  /** Of a calendar limit. The window never goes back. */
  readonly windowEndMs?: number;
  /** Of a concurrency limit. */
  readonly slots?: Slots;
}

/** Millitokens by the limit's name. */
export type Amounts = Readonly<Record<string, bigint>>;

/** Several amounts together. */
export function sumOf(all: readonly Amounts[]): Amounts {
  const [only] = all;
  if (only && all.length === 1) return only;
  const sum: Record<string, bigint> = {};
  for (const amounts of all) for (const [name, milli] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0n) + milli;
  return sum;
}

/** A slot is dropped this long after its lease should have renewed it: a gateway's clock may be ahead. */
export const slotGraceMs = 2000;
export const slotMilli = 1000n;
const longestSlotMs = 86_400_000;
const tidyDrops = 6;

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n);

export function divFloor(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}
export const divCeil = (dividend: bigint, divisor: bigint): bigint => -divFloor(-dividend, divisor);

export const ceiling = ({ burstMilli, refillPeriodMs }: LimitSpec): bigint => burstMilli * refillPeriodMs;
/** An amount in the units of `fullAt`. */
export const unitsOf = ({ refillPeriodMs }: Pick<LimitSpec, 'refillPeriodMs'>, milli: bigint, shards: number): bigint =>
  milli * BigInt(shards) * refillPeriodMs;
const isFull = ({ fullAt, refillMilli }: LimitState, nowMs: number): boolean => fullAt < BigInt(nowMs) * refillMilli;

const isDropped = (untilMs: number, nowMs: number): boolean => untilMs + slotGraceMs <= nowMs;

/** The slots whose leases have not renewed them in time, the oldest first. */
export const droppedSlots = ({ slots = {} }: LimitState, nowMs: number): string[] =>
  Object.keys(slots)
    .filter((lease) => isDropped(slots[lease] as number, nowMs))
    .sort((a, b) => (slots[a] as number) - (slots[b] as number));

/** The limit as it is at this moment: a window that is over has been replaced, slots that were not renewed are free. */
export function asOf<T extends LimitState>(limit: T, nowMs: number): T {
  if (limit.calendar && nowMs >= (limit.windowEndMs ?? 0))
    return { ...limit, fullAt: 0n, windowEndMs: windowEndMs(limit.calendar, nowMs) };
  if (!limit.isConcurrency) return limit;
  const slots = Object.fromEntries(
    Object.entries(limit.slots ?? {}).filter(([, untilMs]) => !isDropped(untilMs, nowMs)),
  );
  return { ...limit, slots, fullAt: BigInt(Object.keys(slots).length) * slotMilli };
}

/** What may still be taken, in the units of `fullAt`; negative while in debt. */
export function room(limit: LimitState, nowMs: number): bigint {
  const now = asOf(limit, nowMs);
  return ceiling(now) - atLeastZero(now.fullAt - BigInt(nowMs) * now.refillMilli);
}

/** How long until the amount fits; 0 where it does. To the millisecond: not one earlier, not one later. */
export function retryAfterMs(limit: LimitState, milli: bigint, nowMs: number, shards: number): number {
  const missing = unitsOf(limit, milli, shards) - room(limit, nowMs);
  if (missing <= 0n) return 0;
  if (limit.refillMilli > 0n) return Number(divCeil(missing, limit.refillMilli));
  const { slots = {}, windowEndMs: endMs = nowMs } = asOf(limit, nowMs);
  if (!limit.isConcurrency) return endMs - nowMs;
  const ends = Object.values(slots).sort((a, b) => a - b);
  return (ends[Number(divCeil(missing, slotMilli)) - 1] ?? nowMs + longestSlotMs) + slotGraceMs - nowMs;
}

/** What a shard at its fullest can give. */
export const shardBurstMilli = ({ burstMilli }: LimitSpec, shards: number): bigint => burstMilli / BigInt(shards);

/** How long an empty bucket takes to fill. */
export function fillMs(limit: LimitSpec): number {
  if (limit.calendar) return longestWindowMs(limit.calendar);
  return limit.isConcurrency ? longestSlotMs : Number(divCeil(ceiling(limit), limit.refillMilli));
}

/** The ms at which what is stored will be full. */
export function fullAtMs({ fullAt, refillMilli, windowEndMs: endMs, slots }: LimitState): number {
  if (refillMilli > 0n) return Number(divCeil(fullAt, refillMilli));
  return Math.max(
    fullAt > 0n ? (endMs ?? 0) : 0,
    ...Object.values(slots ?? {}).map((untilMs) => untilMs + slotGraceMs),
  );
}

/** What one write does to a limit, in the units of `fullAt`: takes that stay under the ceiling, then charges that need not, then what is given back. */
export interface UnitMove {
  readonly take: bigint;
  readonly charge: bigint;
  readonly giveBack: bigint;
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
  /** The window that the limit must still be in, and the one it is in afterwards. */
  readonly window?: { readonly is: number; readonly becomes: number };
  /** Slots that nobody has renewed, to be removed. */
  readonly drops?: readonly string[];
}

/**
 * The step for a move, for the state last seen. If another has written since, its condition fails, or it is as right as
 * it was: the ceiling is inside the condition, so that no two writers can together take more than there is.
 */
export function stepIn(limit: LimitState, move: UnitMove, nowMs: number): Step {
  if (limit.calendar) return windowStep(limit, move, nowMs);
  return limit.isConcurrency ? slotStep(limit, move, nowMs) : fullAtStep(limit, move, nowMs);
}

function fullAtStep(limit: LimitState, { take, charge, giveBack, judged }: UnitMove, nowMs: number): Step {
  const now = BigInt(nowMs) * limit.refillMilli;
  const change = take + charge - giveBack;
  const underCeiling = judged ? { upTo: now + ceiling(limit) - take } : {};
  if (take === 0n && charge === 0n) return change === 0n ? underCeiling : { ...underCeiling, add: change };
  // More than a shard can ever hold is not taken from a full one either: then the condition below cannot hold.
  if (isFull(limit, nowMs) && take <= ceiling(limit)) return { below: now, set: now + change };
  return { from: now, ...underCeiling, add: change };
}

/** In a window that is new nothing is used yet, and nothing can be given back. */
function windowStep(limit: LimitState, move: UnitMove, nowMs: number): Step {
  const { take, charge } = move;
  const { windowEndMs: becomes = 0, fullAt } = asOf(limit, nowMs);
  const window = { is: limit.windowEndMs ?? 0, becomes };
  // More may have been given back than was used: then it is full, as any limit in whose past `fullAt` is.
  if (becomes === window.is) return { window, ...fullAtStep(limit, move, nowMs) };
  // More than a shard can ever hold: a condition that cannot hold.
  if (take > ceiling(limit)) return { window, from: 1n, upTo: 0n };
  return take + charge === 0n
    ? { window: { is: window.is, becomes: window.is } }
    : { window, set: fullAt + take + charge };
}

function slotStep(limit: LimitState, { take, giveBack, judged }: UnitMove, nowMs: number): Step {
  // Those that have to make room, and some more: DynamoDB takes 4 KB of conditions, and there may be a thousand.
  const needed = divCeil(limit.fullAt + take - ceiling(limit), slotMilli);
  const drops = judged ? droppedSlots(limit, nowMs).slice(0, Math.max(Number(needed), tidyDrops)) : [];
  const dropped = BigInt(drops.length) * slotMilli;
  const change = take - giveBack - dropped;
  return {
    ...(judged ? { upTo: ceiling(limit) - take + dropped } : {}),
    ...(change === 0n ? {} : { add: change }),
    ...(drops.length > 0 ? { drops } : {}),
  };
}

export function afterStep<T extends LimitState>(limit: T, { set, add = 0n, window, drops }: Step): T {
  const kept = drops && {
    slots: Object.fromEntries(Object.entries(limit.slots ?? {}).filter(([lease]) => !drops.includes(lease))),
  };
  return { ...limit, fullAt: set ?? limit.fullAt + add, ...(window ? { windowEndMs: window.becomes } : {}), ...kept };
}

/** A limit that is untouched at this moment: full. */
export const fullLimit = (spec: LimitSpec, nowMs: number): LimitState => ({
  ...spec,
  fullAt: BigInt(nowMs) * spec.refillMilli,
  consumedMilli: 0n,
  consumedBeforeMilli: 0n,
  ...(spec.calendar ? { windowEndMs: windowEndMs(spec.calendar, nowMs) } : {}),
  ...(spec.isConcurrency ? { slots: {} } : {}),
});

/** Limits with the same identity are the same limit under other parameters: the state of one goes on in the other. */
export const identityOf = ({ name, calendar, isConcurrency }: LimitSpec): string =>
  `${calendar?.window ?? (isConcurrency ? 'SLOTS' : 'RATE')} ${name}`;

/**
 * The same limit under other parameters: what is available stays, as far as the new ceiling lets it. Of a calendar or
 * concurrency limit what is used stays.
 */
export function restampLimit(old: LimitState, spec: LimitSpec, nowMs: number): LimitState {
  const { name, fullAt, consumedMilli, consumedBeforeMilli, born, windowEndMs: endMs, slots } = old;
  const state = {
    ...spec,
    name,
    fullAt,
    consumedMilli,
    consumedBeforeMilli,
    ...(born === undefined ? {} : { born }),
    ...(endMs === undefined ? {} : { windowEndMs: endMs }),
    ...(slots === undefined ? {} : { slots }),
  };
  if (spec.refillMilli === 0n) return state;
  const kept = divFloor(room(old, nowMs) * spec.refillPeriodMs, old.refillPeriodMs);
  return { ...state, fullAt: BigInt(nowMs) * spec.refillMilli + ceiling(spec) - smaller(kept, ceiling(spec)) };
}
