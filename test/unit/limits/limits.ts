import type { LimitState } from '../../../src/limits/buckets/bucket.js';
import { type Limit, limitSet } from '../../../src/limits/limit.js';
import { emptyLimit, startMs } from './buckets/limit-fixtures.js';

export const rpm: Limit = {
  name: 'rpm',
  capacity: 100,
  burst: 100,
  refillAmount: 100,
  refillPeriodSecs: 60,
  kind: 'RATE',
  enforce: true,
};
export const tpm: Limit = {
  name: 'tpm',
  capacity: 1000,
  burst: 2000,
  refillAmount: 500,
  refillPeriodSecs: 60,
  kind: 'RATE',
  enforce: true,
};

export const [rpmSpec, tpmSpec] = limitSet([rpm, tpm]).specs as [LimitState, LimitState];
/** A limit of a shard with this many available tokens. */
export const holding = (spec: LimitState, availableTokens: number, shards = 1): LimitState => {
  const empty = emptyLimit(spec, startMs);
  return { ...empty, fullAt: empty.fullAt - BigInt(availableTokens) * 1000n * BigInt(shards) * spec.refillPeriodMs };
};
