import type { Issue } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import { isWholeWithin, smaller } from '../lib/int.js';
import type { Amounts, LimitSpec } from './buckets/bucket.js';
import type { CalendarWindow } from './buckets/calendar-window.js';

export const limitKinds = ['RATE', 'CONCURRENCY'] as const;
export type LimitKind = (typeof limitKinds)[number];

/** A limit as its users set it, in whole tokens. */
export interface Limit {
  readonly name: string;
  readonly capacity: number;
  readonly burst: number;
  readonly refillAmount: number;
  readonly refillPeriodSecs: number;
  readonly kind: LimitKind;
  /** The calendar window at whose end it resets. */
  readonly window?: CalendarWindow;
  /** Whose calendar that is; known once the limit is resolved for an org. */
  readonly zone?: string;
  /** If not, it refuses nothing and only counts what it would have refused. */
  readonly enforce: boolean;
}

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

export interface Consumption {
  readonly limit: string;
  readonly amount: number;
}

/** The limits in force for a bucket, and the short hash by which a bucket knows that it was written under the same. */
export interface LimitSet {
  readonly limits: readonly Limit[];
  readonly specs: readonly LimitSpec[];
  readonly version: string;
  /** The versions of the levels it was resolved from; absent where a caller brought it. */
  readonly levels?: readonly number[];
}

const mostLimits = 10;
const mostConcurrent = 100;
const mostSlotSecs = 86_400;
export const mostTokens = 1e15;
const mostSecs = 1e9;

export const entityIdPattern = /^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,255}$/;
export const resourcePattern = /^[A-Za-z][A-Za-z0-9_./:-]{0,63}$/;
const limitName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Amounts are kept in plain objects, which have these already. */
const isReserved = (value: string): boolean => value === 'wcu' || value in Object.prototype;

export const isEntityId = (value: string): boolean => entityIdPattern.test(value);
export const isResource = (value: string): boolean => resourcePattern.test(value);
export const isLimitName = (value: string): boolean => limitName.test(value) && !isReserved(value);

export const entityIssues = (value: string, path: string): Issue[] =>
  isEntityId(value)
    ? []
    : [{ path, message: 'must have 1 to 256 of A-Z a-z 0-9 _ . - : @ and begin with a letter or digit' }];

export const resourceIssues = (value: string, path: string): Issue[] =>
  isResource(value) ? [] : [{ path, message: 'must have 1 to 64 of A-Z a-z 0-9 _ . - / : and begin with a letter' }];

function limitNameIssues(value: string, path: string): Issue[] {
  if (isReserved(value)) return [{ path, message: `"${value}" is reserved: choose another name` }];
  return isLimitName(value)
    ? []
    : [{ path, message: 'must have 1 to 64 of A-Z a-z 0-9 _ . - and begin with a letter' }];
}

const tokensIssues = (value: number, path: string): Issue[] =>
  isWholeWithin(value, 1, mostTokens) ? [] : [{ path, message: `must be a whole number from 1 to ${mostTokens}` }];

function repeated(names: readonly string[], path: (i: number) => string): Issue[] {
  return names.flatMap((name, i) =>
    names.indexOf(name) < i ? [{ path: path(i), message: `"${name}" is named twice` }] : [],
  );
}

export function limitsIssues(limits: readonly LimitRequest[], path: string, fewest = 1): Issue[] {
  if (limits.length < fewest || limits.length > mostLimits)
    return [{ path, message: `must have ${fewest} to ${mostLimits} limits` }];
  return [
    ...limits.flatMap((limit, i) => limitIssues(limit, `${path}.${i}`)),
    ...repeated(
      limits.map(({ name }) => name),
      (i) => `${path}.${i}.name`,
    ),
  ];
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

function limitIssues(limit: LimitRequest, path: string): Issue[] {
  const { name, capacity, burst, refillAmount, refillPeriodSecs } = limit;
  return [
    ...limitNameIssues(name, `${path}.name`),
    ...tokensIssues(capacity, `${path}.capacity`),
    ...(isGiven(burst) ? tokensIssues(burst, `${path}.burst`) : []),
    ...(typeof burst === 'number' && burst < capacity
      ? [{ path: `${path}.burst`, message: `must be at least the capacity, ${capacity}` }]
      : []),
    ...(isGiven(refillAmount) ? tokensIssues(refillAmount, `${path}.refillAmount`) : []),
    ...(isWholeWithin(refillPeriodSecs, 1, mostSecs)
      ? []
      : [{ path: `${path}.refillPeriodSecs`, message: `must be a whole number of seconds from 1 to ${mostSecs}` }]),
    ...kindIssues(limit, path),
  ];
}

/** A calendar or concurrency limit does not refill, so it has neither burst nor refill. */
function kindIssues({ capacity, burst, refillAmount, kind, window }: LimitRequest, path: string): Issue[] {
  const isConcurrency = kind === 'CONCURRENCY';
  if (!isConcurrency && !isGiven(window)) return [];
  const what = isConcurrency ? 'a concurrency limit' : 'a limit with a window';
  const useless = (field: string) => ({
    path: `${path}.${field}`,
    message: `has no meaning for ${what}: leave it out`,
  });
  return [
    ...(isGiven(burst) && burst !== capacity ? [useless('burst')] : []),
    ...(isGiven(refillAmount) ? [useless('refillAmount')] : []),
    ...(isConcurrency && isGiven(window) ? [useless('window')] : []),
    ...(isConcurrency && capacity > mostConcurrent
      ? [{ path: `${path}.capacity`, message: `must be at most ${mostConcurrent} for a concurrency limit` }]
      : []),
  ];
}

/** What is wrong with amounts before it is known which limits there are. */
export function consumeIssues(consume: readonly Consumption[], path: string, least = 0): Issue[] {
  return [
    ...consume.flatMap(({ limit, amount }, i) => [
      ...limitNameIssues(limit, `${path}.${i}.limit`),
      ...(isWholeWithin(amount, least, mostTokens)
        ? []
        : [{ path: `${path}.${i}.amount`, message: `must be a whole number from ${least} to ${mostTokens}` }]),
    ]),
    ...repeated(
      consume.map(({ limit }) => limit),
      (i) => `${path}.${i}.limit`,
    ),
  ];
}

/** What is wrong with an acquire before it is known which limits there are. */
export function acquireIssues(
  {
    entityId,
    resource,
    consume,
    limits,
    ttlSecs,
  }: {
    readonly entityId: string;
    readonly resource: string;
    readonly consume: readonly Consumption[];
    readonly limits?: readonly LimitRequest[] | null | undefined;
    readonly ttlSecs?: number | null | undefined;
  },
  path: string,
): Issue[] {
  return [
    ...entityIssues(entityId, `${path}.entityId`),
    ...resourceIssues(resource, `${path}.resource`),
    ...(consume.length === 0 ? [{ path: `${path}.consume`, message: 'must name at least one limit' }] : []),
    ...consumeIssues(consume, `${path}.consume`),
    ...(limits ? limitsIssues(limits, `${path}.limits`) : []),
    ...(isGiven(ttlSecs) ? ttlIssues(ttlSecs, `${path}.ttlSecs`) : []),
  ];
}

/** How long a slot of a concurrency limit is held unless it is renewed. */
export const ttlIssues = (ttlSecs: number, path: string): Issue[] =>
  isWholeWithin(ttlSecs, 1, mostSlotSecs)
    ? []
    : [{ path, message: `must be a whole number of seconds from 1 to ${mostSlotSecs}` }];

/** What can never be taken under these limits. */
export function costIssues(
  consume: readonly Consumption[],
  { limits }: LimitSet,
  where: string,
  path: string,
): Issue[] {
  const known = new Map(limits.map((limit) => [limit.name, limit]));
  return consume.flatMap(({ limit, amount }, i): Issue[] => {
    const found = known.get(limit);
    if (!found)
      return [
        {
          path: `${path}.${i}.limit`,
          message: `${where} has no limit "${limit}": it has ${limits.map(({ name }) => `"${name}"`).join(', ')}`,
        },
      ];
    if (found.kind === 'CONCURRENCY' && amount > 1)
      return [
        {
          path: `${path}.${i}.amount`,
          message: `must be 0 or 1: "${limit}" counts the leases that are out at the same time`,
        },
      ];
    return amount > found.burst && found.enforce
      ? [
          {
            path: `${path}.${i}.amount`,
            message: `${amount} can never be taken: the burst of "${limit}" for ${where} is ${found.burst}`,
          },
        ]
      : [];
  });
}

const windowSecs: Readonly<Record<CalendarWindow, number>> = { DAY: 86_400, WEEK: 604_800, MONTH: 2_592_000 };

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
  const isRefilled = kind === 'RATE' && window === undefined;
  return {
    name,
    capacityMilli: milli(capacity),
    burstMilli: milli(burst),
    refillMilli: isRefilled ? milli(refillAmount) : 0n,
    refillPeriodMs: isRefilled ? BigInt(refillPeriodSecs) * 1000n : 1n,
    ...(window ? { calendar: { window, zone } } : {}),
    ...(kind === 'CONCURRENCY' ? { isConcurrency: true } : {}),
    ...(enforce ? {} : { isShadow: true }),
  };
}

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
  const [burst, refillAmount, refillPeriodSecs] = [burstMilli, refillMilli, refillPeriodMs].map((of) =>
    Number(of / 1000n),
  ) as [number, number, number];
  return { ...limit, burst, refillAmount, refillPeriodSecs };
}

/** The set under which a bucket is stamped: the same limits in any order are the same set. */
export function limitSet(given: readonly Limit[]): LimitSet {
  const limits = [...given].sort((a, b) => (a.name < b.name ? -1 : 1));
  const text = JSON.stringify(
    limits.map(({ name, capacity, burst, refillAmount, refillPeriodSecs, kind, window, zone, enforce }) => [
      ...[name, capacity, burst, refillAmount, refillPeriodSecs],
      ...(kind !== 'RATE' || window || !enforce ? [kind, window ?? '', zone ?? '', enforce] : []),
    ]),
  );
  return { limits, specs: limits.map(specOf), version: sha256(text).slice(0, 11) };
}

/** The same limits by an org's calendar. */
export const inZone = (limits: readonly Limit[], zone: string): readonly Limit[] =>
  limits.map((limit) => (limit.window ? { ...limit, zone } : limit));

export const amountsOf = (consume: readonly Consumption[]): Amounts =>
  Object.fromEntries(consume.map(({ limit, amount }) => [limit, milli(amount)]));

/** Whole tokens, rounded down; past what JSON can carry exactly it stands still there. */
export function tokensOf(amountMilli: bigint): number {
  const tokens = amountMilli / 1000n - (amountMilli % 1000n < 0n ? 1n : 0n);
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(-smaller(-smaller(tokens, most), most));
}
