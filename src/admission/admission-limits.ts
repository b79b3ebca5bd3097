import type { Issue } from '../lib/errors.js';
import type { Consumption } from '../limits/limit.js';

/** Tokens of a rate limit that a call needs. */
export interface LimitNeed {
  readonly entityId: string;
  readonly resource: string;
  readonly consume: readonly Consumption[];
}

/** The amounts of a rate limit that a call has used in all. */
export interface LimitUse {
  readonly entityId: string;
  readonly resource: string;
  readonly consumed: readonly Consumption[];
}

/** An issue of an acquire, with its path in the input of `admit`. */
export const issueOfAdmit = ({ path, message }: Issue): Issue => ({
  path: path.replace(/^input\.requests\./, 'input.limits.').replace(/^input\.consume/, 'input.limits.0.consume'),
  message,
});
