import type { RatePolicy } from '../lib/errors.js';
import type { LimitStatus } from '../limits/status.js';

/** The limits that decided an acquire or a check, with their status. */
export interface LimitDecision {
  /** The entity of the request. Statuses of other entities belong to its parent. */
  readonly entityId: string;
  readonly statuses: readonly LimitStatus[];
  /** Set if the acquire was refused. */
  readonly retryAfterSecs?: number;
}

/** Per header, because a proxy may accept no more than 4 KB for all headers of a response. */
export const maxLimitHeaderChars = 1024;
/** The largest Integer of a structured field (RFC 9651). */
const maxInteger = 999_999_999_999_999;
const maxSecs = 2 ** 31;

/** The headers of an error: when to retry, and which limit was exceeded (draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders({
  code,
  retryAfterSecs,
  policy,
}: Readonly<Record<string, unknown>>): Record<string, string> {
  if (code === 'SERVICE_UNAVAILABLE' && retryAfterSecs !== undefined) return { 'retry-after': String(retryAfterSecs) };
  if (code !== 'RATE_LIMITED') return {};
  const { name, quota, windowSecs } = policy as RatePolicy;
  return {
    'retry-after': String(retryAfterSecs),
    ratelimit: `"${name}";r=0;t=${retryAfterSecs}`,
    'ratelimit-policy': `"${name}";q=${quota};w=${windowSecs}`,
  };
}

/**
 * The headers of a decision by the limiter, with one member per limit. `r` is what is available. `t` is the number of
 * seconds until the requested tokens are available, or if they are, until the limit is full. The tightest limit comes
 * first. Limits that do not fit into the header are omitted.
 */
export function limitStatusHeaders({ entityId, statuses, retryAfterSecs }: LimitDecision): Record<string, string> {
  const retryAfter = retryAfterSecs === undefined ? {} : { 'retry-after': String(nextSecond(retryAfterSecs)) };
  const limits: string[] = [];
  const policies: string[] = [];
  let [limitChars, policyChars] = [0, 0];
  for (const status of [...statuses].sort(byTightness)) {
    const name = nameOf(status, entityId);
    const limit = `${name};r=${integer(status.available)}${waitOf(status)}`;
    const policy = `${name}${quotaOf(status)}`;
    limitChars += limit.length + 2;
    policyChars += policy.length + 2;
    if (limitChars > maxLimitHeaderChars || policyChars > maxLimitHeaderChars) break;
    limits.push(limit);
    policies.push(policy);
  }
  return limits.length === 0
    ? retryAfter
    : { ...retryAfter, ratelimit: limits.join(', '), 'ratelimit-policy': policies.join(', ') };
}

/** The name of a limit has no colon, so a limit of the parent cannot be confused with one of the entity itself. */
const nameOf = ({ entityId, limit }: LimitStatus, requestedId: string): string =>
  entityId === requestedId ? `"${limit.name}"` : `"parent:${limit.name}"`;

const byTightness = (a: LimitStatus, b: LimitStatus): number =>
  b.retryAfterSecs - a.retryAfterSecs || shareLeft(a) - shareLeft(b);

const shareLeft = ({ available, limit }: LimitStatus): number => available / limit.burst;

const integer = (value: number): number => Math.max(0, Math.min(value, maxInteger));

/** The next whole second, so that no caller retries too early. */
const nextSecond = (secs: number): number => Math.min(Math.floor(secs) + 1, maxSecs);

/** A limit on concurrent leases has no window. */
const quotaOf = ({ limit }: LimitStatus): string =>
  limit.kind === 'CONCURRENCY'
    ? `;q=${limit.capacity};qu="concurrent-requests"`
    : `;q=${integer(limit.refillAmount)};w=${integer(limit.refillPeriodSecs)}`;

/**
 * Omitted for limits on concurrent leases and calendar windows, because the time depends on other callers or the
 * calendar.
 */
function waitOf({ exceeded, retryAfterSecs, available, limit }: LimitStatus): string {
  if (exceeded) return `;t=${nextSecond(retryAfterSecs)}`;
  if (limit.kind === 'CONCURRENCY' || limit.window) return '';
  const missing = Math.max(0, limit.burst - available);
  return `;t=${Math.min(Math.ceil((missing * limit.refillPeriodSecs) / limit.refillAmount), maxSecs)}`;
}
