import type { Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';
import { entityIssues } from './entities/entity-id.js';
import type { Consumption, LimitRequest, LimitSet } from './limit.js';

// Validation of what callers send: names, limits, amounts. Each function returns the issues it finds, with their paths.

const maxLimits = 10;
const maxConcurrent = 100;
const maxSlotSecs = 86_400;
export const maxTokens = 1e15;
const maxPeriodSecs = 1e9;

export const resourcePattern = /^[A-Za-z][A-Za-z0-9_./:-]{0,63}$/;
const limitNamePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * `wcu` is reserved in the reference limiter whose vectors the tests run. The others are properties of every object.
 */
const isReserved = (value: string): boolean => value === 'wcu' || value in Object.prototype;

export const isResource = (value: string): boolean => resourcePattern.test(value);
export const isLimitName = (value: string): boolean => limitNamePattern.test(value) && !isReserved(value);

export const resourceIssues = (value: string, path: string): Issue[] =>
  isResource(value)
    ? []
    : [{ path, message: 'must have 1–64 characters of A-Z a-z 0-9 _ . - / : and begin with a letter' }];

export function limitNameIssues(value: string, path: string): Issue[] {
  if (isReserved(value)) return [{ path, message: `"${value}" is reserved; choose another name` }];
  return isLimitName(value)
    ? []
    : [{ path, message: 'must have 1–64 characters of A-Z a-z 0-9 _ . - and begin with a letter' }];
}

const tokenIssues = (value: number, path: string): Issue[] =>
  isWholeWithin(value, 1, maxTokens) ? [] : [{ path, message: `must be a whole number from 1 to ${maxTokens}` }];

function duplicateIssues(names: readonly string[], path: (i: number) => string): Issue[] {
  return names.flatMap((name, i) =>
    names.indexOf(name) < i ? [{ path: path(i), message: `"${name}" appears more than once` }] : [],
  );
}

export function limitsIssues(limits: readonly LimitRequest[], path: string, minLimits = 1): Issue[] {
  if (limits.length < minLimits || limits.length > maxLimits)
    return [{ path, message: `must have ${minLimits} to ${maxLimits} limits` }];
  return [
    ...limits.flatMap((limit, i) => limitIssues(limit, `${path}.${i}`)),
    ...duplicateIssues(
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
    ...tokenIssues(capacity, `${path}.capacity`),
    ...(isGiven(burst) ? tokenIssues(burst, `${path}.burst`) : []),
    ...(typeof burst === 'number' && burst < capacity
      ? [{ path: `${path}.burst`, message: `must be at least the capacity, ${capacity}` }]
      : []),
    ...(isGiven(refillAmount) ? tokenIssues(refillAmount, `${path}.refillAmount`) : []),
    ...(isWholeWithin(refillPeriodSecs, 1, maxPeriodSecs)
      ? []
      : [
          { path: `${path}.refillPeriodSecs`, message: `must be a whole number of seconds from 1 to ${maxPeriodSecs}` },
        ]),
    ...kindIssues(limit, path),
  ];
}

/** A calendar or concurrency limit does not refill, so it has neither burst nor refill. */
function kindIssues({ capacity, burst, refillAmount, kind, window }: LimitRequest, path: string): Issue[] {
  const isConcurrency = kind === 'CONCURRENCY';
  if (!isConcurrency && !isGiven(window)) return [];
  const limitKind = isConcurrency ? 'a concurrency limit' : 'a limit with a window';
  const notApplicable = (field: string) => ({
    path: `${path}.${field}`,
    message: `does not apply to ${limitKind}; leave it out`,
  });
  return [
    ...(isGiven(burst) && burst !== capacity ? [notApplicable('burst')] : []),
    ...(isGiven(refillAmount) ? [notApplicable('refillAmount')] : []),
    ...(isConcurrency && isGiven(window) ? [notApplicable('window')] : []),
    ...(isConcurrency && capacity > maxConcurrent
      ? [{ path: `${path}.capacity`, message: `must be at most ${maxConcurrent} for a concurrency limit` }]
      : []),
  ];
}

/** Checks amounts without the limits of the bucket. */
export function consumeIssues(consume: readonly Consumption[], path: string, minAmount = 0): Issue[] {
  return [
    ...consume.flatMap(({ limit, amount }, i) => [
      ...limitNameIssues(limit, `${path}.${i}.limit`),
      ...(isWholeWithin(amount, minAmount, maxTokens)
        ? []
        : [{ path: `${path}.${i}.amount`, message: `must be a whole number from ${minAmount} to ${maxTokens}` }]),
    ]),
    ...duplicateIssues(
      consume.map(({ limit }) => limit),
      (i) => `${path}.${i}.limit`,
    ),
  ];
}

/** An acquire as a caller sends it. */
export interface AcquireRequest {
  readonly entityId: string;
  readonly resource: string;
  readonly consume: readonly Consumption[];
  /** Limits that the caller sends, to be used instead of the stored ones. */
  readonly limits?: readonly LimitRequest[] | null | undefined;
  readonly requestId?: string | null | undefined;
  /** How long the lease holds slots of concurrency limits unless it is renewed. */
  readonly ttlSecs?: number | null | undefined;
}

/** Checks an acquire without the limits of the bucket. */
export function acquireIssues({ entityId, resource, consume, limits, ttlSecs }: AcquireRequest, path: string): Issue[] {
  return [
    ...entityIssues(entityId, `${path}.entityId`),
    ...resourceIssues(resource, `${path}.resource`),
    ...(consume.length === 0 ? [{ path: `${path}.consume`, message: 'must name at least one limit' }] : []),
    ...consumeIssues(consume, `${path}.consume`),
    ...(limits ? limitsIssues(limits, `${path}.limits`) : []),
    ...(isGiven(ttlSecs) ? ttlIssues(ttlSecs, `${path}.ttlSecs`) : []),
  ];
}

/** Checks how long a slot of a concurrency limit is to be held. */
export const ttlIssues = (ttlSecs: number, path: string): Issue[] =>
  isWholeWithin(ttlSecs, 1, maxSlotSecs)
    ? []
    : [{ path, message: `must be a whole number of seconds from 1 to ${maxSlotSecs}` }];

/** Amounts that can never be granted under these limits. `bucket` names the entity and resource in the messages. */
export function costIssues(
  consume: readonly Consumption[],
  { limits }: LimitSet,
  bucket: string,
  path: string,
): Issue[] {
  const byName = new Map(limits.map((limit) => [limit.name, limit]));
  const issueOf = (name: string, amount: number): { field: 'limit' | 'amount'; message: string } | undefined => {
    const limit = byName.get(name);
    if (!limit) {
      const names = limits.map((each) => `"${each.name}"`).join(', ');
      return { field: 'limit', message: `${bucket} has no limit "${name}"; its limits are ${names}` };
    }
    if (limit.kind === 'CONCURRENCY' && amount > 1)
      return { field: 'amount', message: `must be 0 or 1 because "${name}" is a concurrency limit` };
    if (amount > limit.burst && limit.enforce)
      return { field: 'amount', message: `${amount} exceeds the burst of "${name}" for ${bucket}, ${limit.burst}` };
    return undefined;
  };
  return consume.flatMap(({ limit, amount }, i): Issue[] => {
    const issue = issueOf(limit, amount);
    return issue ? [{ path: `${path}.${i}.${issue.field}`, message: issue.message }] : [];
  });
}
