import type { LimitStatus } from '../types.js';

/** A decision on one request. */
export interface LimitDecision {
  /** The entity of the request. Statuses of other entities belong to its parent. */
  readonly entityId: string;
  readonly statuses: readonly LimitStatus[];
  /** Set if the request was refused. */
  readonly retryAfterSecs?: number;
}

/** Per header, because a proxy may accept no more than 4 KB for all headers of a response. */
const maxHeaderChars = 1024;
/** The largest Integer of a structured field (RFC 9651). */
const maxInteger = 999_999_999_999_999;
const maxSecs = 2 ** 31;

/**
 * `RateLimit`, `RateLimit-Policy` and `Retry-After` of a decision, as the gateway sends them from `/v1/acquire`
 * (draft-ietf-httpapi-ratelimit-headers). The tightest limit comes first. Limits that do not fit are left out.
 */
export function rateLimitHeaders({ entityId, statuses, retryAfterSecs }: LimitDecision): Record<string, string> {
  const retryAfter = retryAfterSecs === undefined ? {} : { 'retry-after': String(nextSecond(retryAfterSecs)) };
  const limits: string[] = [];
  const policies: string[] = [];
  let [limitChars, policyChars] = [0, 0];
  for (const status of [...statuses].sort(byTightness)) {
    const name = status.entityId === entityId ? `"${status.limit.name}"` : `"parent:${status.limit.name}"`;
    const limit = `${name};r=${integer(status.available)}${waitOf(status)}`;
    const policy = `${name}${quotaOf(status)}`;
    limitChars += limit.length + 2;
    policyChars += policy.length + 2;
    if (limitChars > maxHeaderChars || policyChars > maxHeaderChars) break;
    limits.push(limit);
    policies.push(policy);
  }
  if (limits.length === 0) return retryAfter;
  return { ...retryAfter, ratelimit: limits.join(', '), 'ratelimit-policy': policies.join(', ') };
}

const byTightness = (a: LimitStatus, b: LimitStatus): number =>
  b.retryAfterSecs - a.retryAfterSecs || a.available / a.limit.burst - b.available / b.limit.burst;

const integer = (value: number): number => Math.max(0, Math.min(value, maxInteger));

/** The next whole second, so that no caller retries too early. */
const nextSecond = (secs: number): number => Math.min(Math.floor(secs) + 1, maxSecs);

/** A limit on concurrent leases has no window. */
const quotaOf = ({ limit }: LimitStatus): string =>
  limit.kind === 'CONCURRENCY'
    ? `;q=${limit.capacity};qu="concurrent-requests"`
    : `;q=${integer(limit.refillAmount)};w=${integer(limit.refillPeriodSecs)}`;

/** Omitted where the time depends on other callers or on the calendar. */
function waitOf({ exceeded, retryAfterSecs, available, limit }: LimitStatus): string {
  if (exceeded) return `;t=${nextSecond(retryAfterSecs)}`;
  if (limit.kind === 'CONCURRENCY' || limit.window) return '';
  const missing = Math.max(0, limit.burst - available);
  return `;t=${Math.min(Math.ceil((missing * limit.refillPeriodSecs) / limit.refillAmount), maxSecs)}`;
}
