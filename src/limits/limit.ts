import { sha256 } from '../lib/id.js';
import { smaller } from '../lib/int.js';
import type { Amounts, LimitSpec } from './buckets/bucket.js';
import type { CalendarWindow } from './buckets/calendar-window.js';

export const limitKinds = ['RATE', 'CONCURRENCY'] as const;
export type LimitKind = (typeof limitKinds)[number];

/** A limit as users set it, in whole tokens. */
export interface Limit {
  readonly name: string;
  readonly capacity: number;
  readonly burst: number;
  readonly refillAmount: number;
  readonly refillPeriodSecs: number;
  readonly kind: LimitKind;
  /** Set for a calendar limit: all tokens come back when the window ends. */
  readonly window?: CalendarWindow;
  /** The time zone of the window. Set once the limit is resolved for an org. */
  readonly zone?: string;
  /** If false (a shadow limit), it refuses nothing and counts what it would have refused. */
  readonly enforce: boolean;
}

/** A limit as a caller sends it. `completeLimit` fills in the defaults. */
export interface LimitRequest {
  readonly name: string;
  readonly capacity: number;
  readonly burst?: number | null | undefined;
  readonly refillAmount?: number | null | undefined;
  readonly refillPeriodSecs: number;
  readonly kind?: LimitKind | null | undefined;
  readonly window?: CalendarWindow | null | undefined;
  readonly enforce?: boolean | null | undefined;
}

/** An amount of one limit, in whole tokens. */
export interface Consumption {
  readonly limit: string;
  readonly amount: number;
}

/**
 * The limits in force for a bucket. `version` is a short hash: a bucket stores it and so detects that limits have
 * changed.
 */
export interface LimitSet {
  readonly limits: readonly Limit[];
  readonly specs: readonly LimitSpec[];
  readonly version: string;
  /** The versions of the levels that the set was resolved from. Absent if the caller sent the limits. */
  readonly levels?: readonly number[];
}

const windowSecs: Readonly<Record<CalendarWindow, number>> = { DAY: 86_400, WEEK: 604_800, MONTH: 2_592_000 };

/** Fills in the defaults of a limit. Calendar and concurrency limits have neither burst nor refill of their own. */
export function completeLimit({
  name,
  capacity,
  burst,
  refillAmount,
  refillPeriodSecs,
  kind,
  window,
  enforce,
}: LimitRequest): Limit {
  const limit = { name, capacity, kind: kind ?? 'RATE', enforce: enforce ?? true };
  if (kind === 'CONCURRENCY') return { ...limit, burst: capacity, refillAmount: 0, refillPeriodSecs: 0 };
  if (window)
    return { ...limit, burst: capacity, refillAmount: capacity, refillPeriodSecs: windowSecs[window], window };
  return { ...limit, burst: burst ?? capacity, refillAmount: refillAmount ?? capacity, refillPeriodSecs };
}

const milli = (tokens: number): bigint => BigInt(tokens) * 1000n;

/** The limit in the units of bucket arithmetic: millitokens and milliseconds. */
function specOf({
  name,
  capacity,
  burst,
  refillAmount,
  refillPeriodSecs,
  kind,
  window,
  zone = 'UTC',
  enforce,
}: Limit): LimitSpec {
  const refills = kind === 'RATE' && window === undefined;
  return {
    name,
    capacityMilli: milli(capacity),
    burstMilli: milli(burst),
    refillMilli: refills ? milli(refillAmount) : 0n,
    refillPeriodMs: refills ? BigInt(refillPeriodSecs) * 1000n : 1n,
    ...(window ? { calendar: { window, zone } } : {}),
    ...(kind === 'CONCURRENCY' ? { isConcurrency: true } : {}),
    ...(enforce ? {} : { isShadow: true }),
  };
}

/** The reverse of `specOf`. */
export function limitOf({
  name,
  capacityMilli,
  burstMilli,
  refillMilli,
  refillPeriodMs,
  calendar,
  isConcurrency,
  isShadow,
}: LimitSpec): Limit {
  const capacity = Number(capacityMilli / 1000n);
  const limit = {
    name,
    capacity,
    kind: isConcurrency ? ('CONCURRENCY' as const) : ('RATE' as const),
    enforce: !isShadow,
  };
  if (isConcurrency) return { ...limit, burst: capacity, refillAmount: 0, refillPeriodSecs: 0 };
  if (calendar)
    return {
      ...limit,
      burst: capacity,
      refillAmount: capacity,
      refillPeriodSecs: windowSecs[calendar.window],
      ...calendar,
    };
  const [burst, refillAmount, refillPeriodSecs] = [burstMilli, refillMilli, refillPeriodMs].map((value) =>
    Number(value / 1000n),
  ) as [number, number, number];
  return { ...limit, burst, refillAmount, refillPeriodSecs };
}

/** The set that a bucket is stamped with. The order of the limits does not matter: the version is the same. */
export function limitSet(unsorted: readonly Limit[]): LimitSet {
  const limits = [...unsorted].sort((a, b) => (a.name < b.name ? -1 : 1));
  const text = JSON.stringify(
    limits.map(({ name, capacity, burst, refillAmount, refillPeriodSecs, kind, window, zone, enforce }) => [
      ...[name, capacity, burst, refillAmount, refillPeriodSecs],
      ...(kind !== 'RATE' || window || !enforce ? [kind, window ?? '', zone ?? '', enforce] : []),
    ]),
  );
  return { limits, specs: limits.map(specOf), version: sha256(text).slice(0, 11) };
}

/** The same limits with the time zone of the org, for those with a calendar window. */
export const inZone = (limits: readonly Limit[], zone: string): readonly Limit[] =>
  limits.map((limit) => (limit.window ? { ...limit, zone } : limit));

/** Amounts in millitokens by the name of the limit. */
export const amountsOf = (consume: readonly Consumption[]): Amounts =>
  Object.fromEntries(consume.map(({ limit, amount }) => [limit, milli(amount)]));

/** Whole tokens, rounded down and clamped to the integers that JSON carries exactly. */
export function tokensOf(amountMilli: bigint): number {
  const tokens = amountMilli / 1000n - (amountMilli % 1000n < 0n ? 1n : 0n);
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(-smaller(-smaller(tokens, max), max));
}
