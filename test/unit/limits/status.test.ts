import { maxRetryAfterSecs, statusesAfter, statusesOf } from '../../../src/limits/status.js';
import { shardOf, startMs } from './buckets/limit-fixtures.js';
import { holding, rpm, rpmSpec, tpm, tpmSpec } from './limits.js';

describe('the statuses of a bucket', () => {
  const bucket = { entityId: 'u', resource: 'api' };
  const view = { shards: [shardOf([holding(rpmSpec, 10), holding(tpmSpec, -5)])], atMs: startMs };

  it('have the requested and available tokens and the wait', () => {
    expect(statusesOf(bucket, view, { rpm: 11_000n })).toEqual([
      { ...bucket, limit: rpm, requested: 11, available: 10, exceeded: true, retryAfterSecs: 0.6, wouldRefuse: false },
      { ...bucket, limit: tpm, requested: 0, available: -5, exceeded: true, retryAfterSecs: 0.6, wouldRefuse: false },
    ]);
    expect(statusesOf(bucket, view, { rpm: 10_000n })[0]).toMatchObject({
      requested: 10,
      available: 10,
      exceeded: false,
      retryAfterSecs: 0,
    });
    expect(maxRetryAfterSecs(statusesOf(bucket, view, { rpm: 100_000n }))).toBe(54);
    expect(maxRetryAfterSecs([])).toBe(0);
  });

  it('after a take have the taken amounts, and only a limit in debt is exceeded', () => {
    expect(
      statusesAfter(bucket, view, { rpm: 90_000n }).map(({ requested, exceeded }) => [requested, exceeded]),
    ).toEqual([
      [90, false],
      [0, true],
    ]);
  });

  it('show that a shadow limit would refuse, and exclude it from the wait', () => {
    const shards = [shardOf([{ ...holding(rpmSpec, 10), isShadow: true }, holding(tpmSpec, 5)])];
    const statuses = statusesOf(bucket, { ...view, shards }, { rpm: 11_000n, tpm: 6000n });
    expect(statuses.map(({ wouldRefuse, exceeded }) => [wouldRefuse, exceeded])).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(maxRetryAfterSecs(statuses)).toBe(statuses[1]?.retryAfterSecs);
    expect(statusesAfter(bucket, { ...view, shards }, {}, ['rpm']).map(({ wouldRefuse }) => wouldRefuse)).toEqual([
      true,
      false,
    ]);
  });

  it('sum the shards', () => {
    const shards = [20, 30].map((tokens) => shardOf([holding(rpmSpec, tokens, 2)], 2));
    expect(statusesOf(bucket, { ...view, shards }, { rpm: 51_000n })[0]).toMatchObject({
      available: 50,
      exceeded: true,
      retryAfterSecs: 0.6,
    });
    expect(statusesOf(bucket, { ...view, shards: [] }, { rpm: 1n })).toEqual([]);
  });
});
