import { limitStatusHeaders, maxLimitHeaderChars } from '../../../src/http/limit-headers.js';
import type { LimitStatus } from '../../../src/limits/status.js';
import { vectorsOf } from '../../support/vectors.js';
import { rpm, tpm } from '../limits/limits.js';

describe('the rate limit headers', () => {
  const status = (overrides: Partial<LimitStatus>): LimitStatus => ({
    entityId: 'u',
    resource: 'api',
    limit: rpm,
    requested: 1,
    available: 0,
    exceeded: true,
    retryAfterSecs: 1,
    wouldRefuse: false,
    ...overrides,
  });
  it.each(vectorsOf<{ retry_after_seconds: number }, string>('retryAfterHeader'))(
    'have the retry-after of the vector %s',
    (_, { retry_after_seconds: retryAfterSecs }, expected) => {
      expect(
        limitStatusHeaders({ entityId: 'u', retryAfterSecs, statuses: [status({ retryAfterSecs })] })['retry-after'],
      ).toBe(expected);
    },
  );

  it('name the limit with the longest wait first, and never a negative remainder', () => {
    const statuses = [
      status({ available: 10, exceeded: false, retryAfterSecs: 0 }),
      status({ limit: tpm, available: -7, retryAfterSecs: 30.5 }),
      status({ entityId: 'p', retryAfterSecs: 3 }),
    ];
    expect(limitStatusHeaders({ entityId: 'u', retryAfterSecs: 30.5, statuses })).toEqual({
      'retry-after': '31',
      ratelimit: '"tpm";r=0;t=31, "parent:rpm";r=0;t=4, "rpm";r=10;t=54',
      'ratelimit-policy': '"tpm";q=500;w=60, "parent:rpm";q=100;w=60, "rpm";q=100;w=60',
    });
    expect(limitStatusHeaders({ entityId: 'u', retryAfterSecs: 1, statuses: [] })).toEqual({ 'retry-after': '2' });
  });

  it('of a grant have the remaining tokens and the time until full, emptiest limit first', () => {
    const free = { exceeded: false, retryAfterSecs: 0 };
    const statuses = [status({ ...free, available: 91 }), status({ ...free, limit: tpm, available: 100 })];
    expect(limitStatusHeaders({ entityId: 'u', statuses })).toEqual({
      ratelimit: '"tpm";r=100;t=228, "rpm";r=91;t=6',
      'ratelimit-policy': '"tpm";q=500;w=60, "rpm";q=100;w=60',
    });
    expect(limitStatusHeaders({ entityId: 'u', statuses: [] })).toEqual({});
  });

  it('stay within the integers of structured fields and a maximum length', () => {
    const largest = { ...rpm, capacity: 1e15, burst: 1e15, refillAmount: 1e15, refillPeriodSecs: 1e9 };
    const long = (at: number) =>
      status({
        entityId: at < 10 ? 'u' : 'p',
        limit: { ...largest, name: `${'x'.repeat(62)}${at}` },
        available: 1e15,
        exceeded: false,
      });
    const headers = limitStatusHeaders({
      entityId: 'u',
      statuses: Array.from({ length: 20 }, (_, at) => long(10 + at)),
    });
    const [limits = [], policies = []] = [headers.ratelimit, headers['ratelimit-policy']].map((header) =>
      header?.split(', '),
    );
    expect([limits.length, policies.length]).toEqual([9, 9]);
    for (const header of [headers.ratelimit, headers['ratelimit-policy']])
      expect(header?.length).toBeLessThanOrEqual(maxLimitHeaderChars);
    expect(limits[0]).toBe(`"parent:${'x'.repeat(62)}10";r=999999999999999;t=0`);
    expect(policies[0]).toBe(`"parent:${'x'.repeat(62)}10";q=999999999999999;w=1000000000`);
  });
});
