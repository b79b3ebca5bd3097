import fc from 'fast-check';
import { pauseMs, RetryBudget } from '../../../src/dynamo/retry.js';
import { stoppedClock } from '../../support/clock.js';

describe('pauseMs', () => {
  it('is random from 0 to 25 ms, doubled per attempt, up to 400 ms', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5000 }), (attempt) => {
        const pause = pauseMs(attempt);
        return pause >= 0 && pause < Math.min(400, 25 * 2 ** attempt);
      }),
    );
    const many = Array.from({ length: 2000 }, () => pauseMs(10));
    expect(Math.min(...many)).toBeLessThan(40);
    expect(Math.max(...many)).toBeGreaterThan(360);
  });
});

describe('RetryBudget', () => {
  const allowed = (budget: RetryBudget, tries: number): number =>
    Array.from({ length: tries }, () => budget.mayRepeat()).filter(Boolean).length;

  it('allows 20 retries at the start, then one per ten calls and ten per second', () => {
    const step = fc.record({ waitMs: fc.nat({ max: 3000 }), calls: fc.nat({ max: 200 }), tries: fc.nat({ max: 100 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const clock = stoppedClock();
        const startMs = clock.nowMs();
        const budget = new RetryBudget(clock);
        let calls = 0;
        let retries = 0;
        for (const step of steps) {
          clock.advance(step.waitMs);
          for (let i = 0; i < step.calls; i++) budget.called();
          calls += step.calls;
          retries += allowed(budget, step.tries);
          const max = 20 + 0.1 * calls + (10 * (clock.nowMs() - startMs)) / 1000;
          if (retries > max + 1e-6) return false;
        }
        return true;
      }),
    );
  });

  it('allows ten retries per second even if all saved retries are used up', () => {
    const clock = stoppedClock();
    const budget = new RetryBudget(clock);
    allowed(budget, 1000);
    expect(budget.mayRepeat()).toBe(false);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      expect(allowed(budget, 100)).toBe(10);
    }
  });

  it('allows one retry per ten calls', () => {
    const budget = new RetryBudget(stoppedClock());
    allowed(budget, 1000);
    for (let i = 0; i < 500; i++) budget.called();
    expect(allowed(budget, 1000)).toBeGreaterThanOrEqual(49);
  });

  it('saves at most 110 retries, however long nothing failed', () => {
    const clock = stoppedClock();
    const budget = new RetryBudget(clock);
    for (let i = 0; i < 100_000; i++) budget.called();
    clock.advance(86_400_000);
    expect(allowed(budget, 1000)).toBe(110);
  });
});
