/**
 * Token buckets on DynamoDB. Start here.
 *
 * The idea: a bucket does not store how many tokens it has, because that number changes every millisecond. It stores
 * the time at which it will be full, `fullAt`. A take moves `fullAt` into the future; time alone refills. An acquire is
 * one conditional write: add the cost to `fullAt`, if the result is at most one burst ahead of now. DynamoDB checks the
 * condition, so two gateways can never take the same tokens. All arithmetic is exact: integers, no rounding in between.
 *
 * One noun per concept:
 * - limit: one named limit of a bucket. All limits of a bucket are its limit set; the set's `version` is a hash of it.
 * - bucket: the state of one limit set for one entity and one resource.
 * - shard: one DynamoDB item of a bucket. A bucket starts with 1 shard; a hot one has up to 32, with equal shares.
 * - unit: the unit of `fullAt`, ms × refillMilli. An amount taken from one of n shards counts n-fold in units.
 * - room: the units that can still be taken from a limit of a shard. Negative while the limit is in debt.
 * - operation: what one caller wants written, all or nothing. It has one part per bucket, and each part has an action:
 *   a take (must fit) or a settle (charges or gives back what a lease holds; never refused for lack of tokens).
 * - rider: a write of the caller that goes into the transaction of its operation, for example the lease item.
 * - holding: what a lease holds of one shard. A slot is a lease's place in a concurrency limit.
 * - group: operations that wait for the same buckets and share one write (group commit).
 * - group bucket: one bucket of a group: the cached bucket, and how much of it the group has read.
 * - obstacle: what has to be dealt with before a group can write: a fence, an hour that has ended, or another limit
 *   set.
 * - conversion: a change of the whole bucket: another limit set (a stamp), another number of shards, or its end.
 * - fence: a mark on the shards that stops all writers during a conversion. It names the target of the conversion, so
 *   that any gateway can finish what another has begun.
 * - retired limit: a limit that has left the set and is not full yet. Its state is kept in case the limit comes back.
 * - directory entry: the item by which lists find a bucket. A gateway stamps it before it creates shards.
 * - booking: adds the usage of a shard to the usage item of its hour.
 * - incarnation: the random id of a bucket from its creation to its end. A bucket that is created again has another.
 *
 * Reading order. Rules, pure: `bucket`, `calendar-window`, `shard`, `split`, `booking`, `expiry`, `holding`,
 * `operation`, `shard-change`, `plan`; then conversions: `reshard`, `stamp`, `convert`. Storage: `bucket.item`,
 * `limit-spec.item`, `bucket-write.item`, `bucket-create.item`, `bucket-change.item`, `bucket.store`,
 * `directory.store`, `purge.store`. One operation from start to end:
 * `bucket.registry`, `cached-bucket.service`, `group.service`, `group.buckets.service`, `group.obstacles.service`,
 * `group.selection.service`, `group.checks.service`, `group.write.service`, `bucket.change.service`.
 */

import { smaller } from '../../lib/int.js';
import { type Calendar, maxWindowMs, windowEndMs } from './calendar-window.js';

/** The parameters of a limit. Amounts in millitokens. */
export interface LimitSpec {
  readonly name: string;
  readonly capacityMilli: bigint;
  /** The max that the bucket can hold. */
  readonly burstMilli: bigint;
  /** Refill per `refillPeriodMs`. 0 for a calendar or concurrency limit; the `refillPeriodMs` of those is 1. */
  readonly refillMilli: bigint;
  readonly refillPeriodMs: bigint;
  /** Set for a calendar limit: all of its capacity is available again when the window ends. */
  readonly calendar?: Calendar;
  /** Set for a concurrency limit: it counts the leases that are out at the same time. */
  readonly isConcurrency?: true;
  /** Not enforced: a take that does not fit is counted, not refused. */
  readonly isShadow?: true;
}

/** The leases that hold a slot of a concurrency limit, each with the time (ms) until which it holds the slot. */
export type Slots = Readonly<Record<string, number>>;

/**
 * One limit on one shard of a bucket. Each of n shards has the parameters of the whole bucket, and a cost taken from
 * one shard counts n-fold there. So each shard has 1/n of the bucket, and no parameter is ever divided.
 */
export interface LimitState extends LimitSpec {
  /**
   * The time at which the limit will be full, in ms × refillMilli, so that nothing is ever rounded. If it is in the
   * past, the limit is full. For a limit without refill: the amount in use, n-fold.
   */
  readonly fullAt: bigint;
  /** Total of all takes, charges and returns. */
  readonly consumedMilli: bigint;
  /** `consumedMilli` at the start of the hour. */
  readonly consumedBeforeMilli: bigint;
  /** The number of the conversion that added the limit. Absent: the bucket was created with it. */
  readonly sinceConversion?: number;
  /** Only of a calendar limit. Never moves back. */
  readonly windowEndMs?: number;
  /** Only of a concurrency limit. */
  readonly slots?: Slots;
}

/** Millitokens by the limit's name. */
export type Amounts = Readonly<Record<string, bigint>>;

/** The sum of several amounts, per limit. */
export function sumOf(all: readonly Amounts[]): Amounts {
  const [only] = all;
  if (only && all.length === 1) return only;
  const sum: Record<string, bigint> = {};
  for (const amounts of all) for (const [name, milli] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0n) + milli;
  return sum;
}

/** A slot is dropped this long after its lease should have renewed it, because the clock of a gateway may be ahead. */
export const slotGraceMs = 2000;
export const slotMilli = 1000n;
const maxSlotMs = 86_400_000;
/** A write drops up to this many overdue slots even if it needs no room. */
const minSlotDrops = 6;

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n);

export function divFloor(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}
export const divCeil = (dividend: bigint, divisor: bigint): bigint => -divFloor(-dividend, divisor);

/** The room of a full limit, in units. */
export const ceiling = ({ burstMilli, refillPeriodMs }: LimitSpec): bigint => burstMilli * refillPeriodMs;
/** An amount in units. */
export const unitsOf = ({ refillPeriodMs }: Pick<LimitSpec, 'refillPeriodMs'>, milli: bigint, shards: number): bigint =>
  milli * BigInt(shards) * refillPeriodMs;
const isFull = ({ fullAt, refillMilli }: LimitState, nowMs: number): boolean => fullAt < BigInt(nowMs) * refillMilli;

const isDropped = (untilMs: number, nowMs: number): boolean => untilMs + slotGraceMs <= nowMs;

/** The overdue slots: their leases have not renewed them in time. Oldest first. */
export const droppedSlots = ({ slots = {} }: LimitState, nowMs: number): string[] =>
  Object.keys(slots)
    .filter((lease) => isDropped(slots[lease] as number, nowMs))
    .sort((a, b) => (slots[a] as number) - (slots[b] as number));

/** The limit at `nowMs`: a window that has ended is replaced by the current one, and overdue slots are free. */
export function asOf<T extends LimitState>(limit: T, nowMs: number): T {
  if (limit.calendar && nowMs >= (limit.windowEndMs ?? 0))
    return { ...limit, fullAt: 0n, windowEndMs: windowEndMs(limit.calendar, nowMs) };
  if (!limit.isConcurrency) return limit;
  const slots = Object.fromEntries(
    Object.entries(limit.slots ?? {}).filter(([, untilMs]) => !isDropped(untilMs, nowMs)),
  );
  return { ...limit, slots, fullAt: BigInt(Object.keys(slots).length) * slotMilli };
}

/** The units that can still be taken. Negative while the limit is in debt. */
export function room(limit: LimitState, nowMs: number): bigint {
  const now = asOf(limit, nowMs);
  return ceiling(now) - atLeastZero(now.fullAt - BigInt(nowMs) * now.refillMilli);
}

/** The time until the amount fits, exact to the millisecond; 0 if it fits now. */
export function retryAfterMs(limit: LimitState, milli: bigint, nowMs: number, shards: number): number {
  const missing = unitsOf(limit, milli, shards) - room(limit, nowMs);
  if (missing <= 0n) return 0;
  if (limit.refillMilli > 0n) return Number(divCeil(missing, limit.refillMilli));
  const { slots = {}, windowEndMs: endMs = nowMs } = asOf(limit, nowMs);
  if (!limit.isConcurrency) return endMs - nowMs;
  const ends = Object.values(slots).sort((a, b) => a - b);
  return (ends[Number(divCeil(missing, slotMilli)) - 1] ?? nowMs + maxSlotMs) + slotGraceMs - nowMs;
}

/** The share of one full shard. */
export const shardBurstMilli = ({ burstMilli }: LimitSpec, shards: number): bigint => burstMilli / BigInt(shards);

/** The max time in which an empty limit fills. */
export function fillMs(limit: LimitSpec): number {
  if (limit.calendar) return maxWindowMs(limit.calendar);
  return limit.isConcurrency ? maxSlotMs : Number(divCeil(ceiling(limit), limit.refillMilli));
}

/** The time in ms at which the stored state will be full. */
export function fullAtMs({ fullAt, refillMilli, windowEndMs: endMs, slots }: LimitState): number {
  if (refillMilli > 0n) return Number(divCeil(fullAt, refillMilli));
  return Math.max(
    fullAt > 0n ? (endMs ?? 0) : 0,
    ...Object.values(slots ?? {}).map((untilMs) => untilMs + slotGraceMs),
  );
}

/** What one write does to a limit, in units. Takes must stay under the ceiling; charges and returns need not. */
export interface UnitMove {
  readonly take: bigint;
  readonly charge: bigint;
  readonly giveBack: bigint;
  /** True if the write has a take, even one of 0: the limit must not be in debt then. */
  readonly checksCeiling: boolean;
}

/** One conditional write of a limit: the change of `fullAt`, and the condition under which it may be made. */
export interface Step {
  /** Condition: `fullAt` is at least this. */
  readonly from?: bigint;
  /** Condition: `fullAt` is at most this. */
  readonly upTo?: bigint;
  /** Condition: `fullAt` is less than this. */
  readonly below?: bigint;
  readonly set?: bigint;
  readonly add?: bigint;
  /** Condition: the end of the stored window; and the end of the window after the write. */
  readonly window?: { readonly is: number; readonly becomes: number };
  /** Overdue slots to remove. Condition: they are still overdue. */
  readonly drops?: readonly string[];
}

/**
 * The step for a move, based on a cached state. If another writer has changed the limit since, either the condition
 * fails or the step is still correct. The ceiling is part of the condition, so two writers can never take more than
 * there is.
 */
export function stepFor(limit: LimitState, move: UnitMove, nowMs: number): Step {
  if (limit.calendar) return windowStep(limit, move, nowMs);
  return limit.isConcurrency ? slotStep(limit, move, nowMs) : fullAtStep(limit, move, nowMs);
}

function fullAtStep(limit: LimitState, { take, charge, giveBack, checksCeiling }: UnitMove, nowMs: number): Step {
  const now = BigInt(nowMs) * limit.refillMilli;
  const change = take + charge - giveBack;
  const underCeiling = checksCeiling ? { upTo: now + ceiling(limit) - take } : {};
  if (take === 0n && charge === 0n) return change === 0n ? underCeiling : { ...underCeiling, add: change };
  // A take that exceeds the ceiling is refused by a full shard too: it gets the condition below, which cannot hold.
  if (isFull(limit, nowMs) && take <= ceiling(limit)) return { below: now, set: now + change };
  return { from: now, ...underCeiling, add: change };
}

/** In a new window nothing is used yet, so nothing can be given back. */
function windowStep(limit: LimitState, move: UnitMove, nowMs: number): Step {
  const { take, charge } = move;
  const { windowEndMs: becomes = 0, fullAt } = asOf(limit, nowMs);
  const window = { is: limit.windowEndMs ?? 0, becomes };
  // If more was given back than was used, `fullAt` is negative and the limit is full.
  if (becomes === window.is) return { window, ...fullAtStep(limit, move, nowMs) };
  // The take exceeds the ceiling: a condition that cannot hold.
  if (take > ceiling(limit)) return { window, from: 1n, upTo: 0n };
  return take + charge === 0n
    ? { window: { is: window.is, becomes: window.is } }
    : { window, set: fullAt + take + charge };
}

function slotStep(limit: LimitState, { take, giveBack, checksCeiling }: UnitMove, nowMs: number): Step {
  // Drops the slots that must make room and a few more, not all: DynamoDB allows 4 KB of conditions per write, and a
  // thousand slots may be overdue.
  const needed = divCeil(limit.fullAt + take - ceiling(limit), slotMilli);
  const drops = checksCeiling ? droppedSlots(limit, nowMs).slice(0, Math.max(Number(needed), minSlotDrops)) : [];
  const dropped = BigInt(drops.length) * slotMilli;
  const change = take - giveBack - dropped;
  return {
    ...(checksCeiling ? { upTo: ceiling(limit) - take + dropped } : {}),
    ...(change === 0n ? {} : { add: change }),
    ...(drops.length > 0 ? { drops } : {}),
  };
}

/** The limit after a step whose condition held. */
export function afterStep<T extends LimitState>(limit: T, { set, add = 0n, window, drops }: Step): T {
  const remaining = drops && {
    slots: Object.fromEntries(Object.entries(limit.slots ?? {}).filter(([lease]) => !drops.includes(lease))),
  };
  return {
    ...limit,
    fullAt: set ?? limit.fullAt + add,
    ...(window ? { windowEndMs: window.becomes } : {}),
    ...remaining,
  };
}

/** A new limit: full. */
export const fullLimit = (spec: LimitSpec, nowMs: number): LimitState => ({
  ...spec,
  fullAt: BigInt(nowMs) * spec.refillMilli,
  consumedMilli: 0n,
  consumedBeforeMilli: 0n,
  ...(spec.calendar ? { windowEndMs: windowEndMs(spec.calendar, nowMs) } : {}),
  ...(spec.isConcurrency ? { slots: {} } : {}),
});

/** Limits with the same identity are the same limit under other parameters: a stamp carries the state over. */
export const identityOf = ({ name, calendar, isConcurrency }: LimitSpec): string =>
  `${calendar?.window ?? (isConcurrency ? 'SLOTS' : 'RATE')} ${name}`;

/**
 * The same limit under other parameters. The available amount stays, up to the new ceiling. For a calendar or
 * concurrency limit the used amount stays.
 */
export function restampLimit(old: LimitState, spec: LimitSpec, nowMs: number): LimitState {
  const { name, fullAt, consumedMilli, consumedBeforeMilli, sinceConversion, windowEndMs: endMs, slots } = old;
  const state = {
    ...spec,
    name,
    fullAt,
    consumedMilli,
    consumedBeforeMilli,
    ...(sinceConversion === undefined ? {} : { sinceConversion }),
    ...(endMs === undefined ? {} : { windowEndMs: endMs }),
    ...(slots === undefined ? {} : { slots }),
  };
  if (spec.refillMilli === 0n) return state;
  const carried = divFloor(room(old, nowMs) * spec.refillPeriodMs, old.refillPeriodMs);
  return { ...state, fullAt: BigInt(nowMs) * spec.refillMilli + ceiling(spec) - smaller(carried, ceiling(spec)) };
}
