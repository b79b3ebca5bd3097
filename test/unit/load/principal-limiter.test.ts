import fc from 'fast-check';
import { GatewayError } from '../../../src/lib/errors.js';
import { PrincipalLimiter } from '../../../src/load/principal-limiter.js';
import { HandClock } from '../hand-clock.js';

const issueOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error instanceof GatewayError ? error.extensions : error;
  }
  return undefined;
};

describe('PrincipalLimiter', () => {
  const codeOf = (act: () => unknown) => (issueOf(act) as { code?: string } | undefined)?.code;

  it('admits the maximum of concurrent requests per principal, and another one when one is done', () => {
    const principals = new PrincipalLimiter(new HandClock(), 0, 2);
    const [first] = [principals.admit('a'), principals.admit('a')];
    expect(issueOf(() => principals.admit('a'))).toEqual({
      code: 'RATE_LIMITED',
      retryAfterSecs: 1,
      policy: { name: 'concurrency', quota: 2, windowSecs: 1 },
    });
    expect(codeOf(() => principals.admit('b'))).toBeUndefined();
    first?.();
    expect(codeOf(() => principals.admit('a'))).toBeUndefined();
    expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
  });

  it('never admits more concurrent requests than allowed, and all of them again when all are done', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 60 }),
        (maxConcurrent, steps) => {
          const principals = new PrincipalLimiter(new HandClock(), 0, maxConcurrent);
          const running: (() => void)[] = [];
          for (const [begins, pick] of steps) {
            if (!begins) running.splice(pick % Math.max(1, running.length), 1)[0]?.();
            else if (codeOf(() => running.push(principals.admit('a'))) === 'RATE_LIMITED')
              expect(running).toHaveLength(maxConcurrent);
            expect(running.length).toBeLessThanOrEqual(maxConcurrent);
          }
          for (const done of running) done();
          for (let i = 0; i < maxConcurrent; i++) principals.admit('a');
          expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
        },
      ),
    );
  });

  it('admits the maximum of requests per second, and as many again a second later', () => {
    const clock = new HandClock();
    const principals = new PrincipalLimiter(clock, 10, 0);
    const admitted = () =>
      Array.from({ length: 30 }, () => codeOf(() => principals.admit('a')())).filter((code) => code === undefined)
        .length;
    expect(admitted()).toBe(10);
    expect(issueOf(() => principals.admit('a'))).toMatchObject({
      policy: { name: 'requests', quota: 10, windowSecs: 1 },
    });
    clock.advance(500);
    expect(admitted()).toBe(5);
    clock.advance(1000);
    expect(admitted()).toBe(10);
    expect(codeOf(() => principals.admit('b'))).toBeUndefined();
  });

  it('counts a refused request neither as concurrent nor against the rate', () => {
    const clock = new HandClock();
    const principals = new PrincipalLimiter(clock, 2, 2);
    const both = [principals.admit('a'), principals.admit('a')];
    clock.advance(1000);
    for (let i = 0; i < 10; i++) expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
    for (const done of both) done();
    const again = [principals.admit('a'), principals.admit('a')];
    for (const done of again) done();
    for (let i = 0; i < 10; i++) expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
    clock.advance(1000);
    expect(codeOf(() => [principals.admit('a'), principals.admit('a')])).toBeUndefined();
  });

  it('limits nothing if both limits are 0', () => {
    const principals = new PrincipalLimiter(new HandClock(), 0, 0);
    for (let i = 0; i < 1000; i++) expect(codeOf(() => principals.admit('a'))).toBeUndefined();
  });
});
