import { rateLimitHeaders } from '@tollgate/client/http';
import fc from 'fast-check';
import { limitStatusHeaders } from '../../../src/http/limit-headers.js';

const amount = fc.integer({ min: 1, max: 10 ** 15 });
const status = fc.record({
  entityId: fc.constantFrom('ana', 'team'),
  resource: fc.constant('gpt-4'),
  limit: fc.record({
    name: fc.stringMatching(/^[a-z]{1,32}$/),
    capacity: amount,
    burst: amount,
    refillAmount: amount,
    refillPeriodSecs: fc.integer({ min: 1, max: 10 ** 6 }),
    kind: fc.constantFrom('RATE' as const, 'CONCURRENCY' as const),
    window: fc.constantFrom(null, 'DAY' as const),
    enforce: fc.constant(true),
  }),
  requested: amount,
  available: fc.integer({ min: -(10 ** 15), max: 10 ** 15 }),
  exceeded: fc.boolean(),
  retryAfterSecs: fc.double({ min: 0, max: 10 ** 7, noNaN: true }),
  wouldRefuse: fc.constant(false),
});

it('sends the same headers from a route as the gateway from /v1/acquire', () => {
  fc.assert(
    fc.property(fc.array(status, { maxLength: 40 }), fc.option(fc.nat(1000)), (statuses, retryAfterSecs) => {
      const decision = { entityId: 'ana', statuses, ...(retryAfterSecs === null ? {} : { retryAfterSecs }) };
      type Decision = Parameters<typeof limitStatusHeaders>[0];
      expect(rateLimitHeaders(decision)).toEqual(limitStatusHeaders(decision as unknown as Decision));
    }),
    { seed: 18, numRuns: 300 },
  );
});
