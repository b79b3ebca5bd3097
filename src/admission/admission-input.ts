import type { Issue } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import { isWholeWithin } from '../lib/int.js';
import { acquireIssues } from '../limits/limit-input.js';
import type { LimitStatus, RateLimited } from '../limits/status.js';
import { type DeniedBinding, maxLabels, maxLimits, maxTtlSecs, maxWaitMs } from './admission.js';
import type { LimitNeed } from './admission-limits.js';
import { type EstimateRequest, estimateIssues } from './estimate.js';

/** A call that asks for permission, as a caller sends it. */
export interface AdmitRequest {
  readonly requestId: string;
  readonly estimate: EstimateRequest;
  readonly labels?: readonly string[] | null | undefined;
  readonly limits?: readonly LimitNeed[] | null | undefined;
  readonly ttlSecs: number;
  readonly waitMs: number;
}

/** All issues of a call, each with its path below `input`. */
export function admitIssues({ estimate, labels, limits, ttlSecs, waitMs }: AdmitRequest): Issue[] {
  return [
    ...estimateIssues(estimate),
    ...labelIssues(labels ?? []),
    ...limitIssues(limits ?? []),
    ...ttlSecsIssues(ttlSecs, 'input.ttlSecs'),
    ...(isWholeWithin(waitMs, 0, maxWaitMs)
      ? []
      : [{ path: 'input.waitMs', message: `must be a whole number from 0 to ${maxWaitMs}` }]),
  ];
}

export const ttlSecsIssues = (ttlSecs: number, path: string): Issue[] =>
  isWholeWithin(ttlSecs, 1, maxTtlSecs)
    ? []
    : [{ path, message: `must be a whole number of seconds from 1 to ${maxTtlSecs}` }];

function labelIssues(labels: readonly string[]): Issue[] {
  if (labels.length > maxLabels) return [{ path: 'input.labels', message: `must have at most ${maxLabels} labels` }];
  return new Set(labels).size < labels.length ? [{ path: 'input.labels', message: 'must not list a label twice' }] : [];
}

function limitIssues(limits: readonly LimitNeed[]): Issue[] {
  if (limits.length > maxLimits) return [{ path: 'input.limits', message: `must have at most ${maxLimits} items` }];
  const names = limits.map(({ entityId, resource }) => `${entityId} ${resource}`);
  return [
    ...limits.flatMap((limit, i) => acquireIssues(limit, `input.limits.${i}`)),
    ...names.flatMap((name, i) =>
      names.indexOf(name) < i
        ? [{ path: `input.limits.${i}`, message: 'must not name an entity and resource twice; add the amounts' }]
        : [],
    ),
  ];
}

/** Tells a retry from another call. How long the caller waits is no part of it. */
export function admitHashOf(appId: string, { estimate, labels, limits, ttlSecs }: AdmitRequest): string {
  const { inputTokens, maxOutputTokens, components, costUsdMicros } = estimate;
  return sha256(
    JSON.stringify([
      appId,
      [inputTokens ?? null, maxOutputTokens ?? null, costUsdMicros ?? null],
      (components ?? []).map(({ name, quantity }) => [name, quantity]),
      labels ?? null,
      (limits ?? []).map(({ entityId, resource, consume }) => [
        entityId,
        resource,
        consume.map(({ limit, amount }) => [limit, amount]),
      ]),
      ttlSecs,
    ]),
  );
}

/** The limit that refuses most: the one with the longest wait, then with the largest shortage. */
export function limitBinding({ violations }: RateLimited): DeniedBinding {
  const missing = ({ requested, available }: LimitStatus) => requested - Math.max(0, available);
  const [worst] = [...violations].sort((a, b) => b.retryAfterSecs - a.retryAfterSecs || missing(b) - missing(a));
  return {
    kind: 'LIMIT',
    name: worst?.limit.name ?? '',
    ...(worst ? { entityId: worst.entityId } : {}),
    missing: worst ? missing(worst) : 0,
    wouldPass: Math.max(0, worst?.available ?? 0),
  };
}
