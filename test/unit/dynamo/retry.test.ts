import fc from 'fast-check';
import { pauseMs, RetryBudget } from '../../../src/dynamo/retry.js';
import { HandClock } from '../hand-clock.js';

describe('pauseMs', () => {
  it('is full jitter: from nothing up to 25 ms doubled each time, and never more than 400 ms', () => {
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
  const granted = (budget: RetryBudget, tries: number): number =>
    Array.from({ length: tries }, () => budget.mayRepeat()).filter(Boolean).length;

  it('grants at most a tenth of the calls and ten a second, beyond the twenty it starts with', () => {
    const step = fc.record({ waitMs: fc.nat({ max: 3000 }), calls: fc.nat({ max: 200 }), tries: fc.nat({ max: 100 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const clock = new HandClock();
        const startMs = clock.nowMs();
        const budget = new RetryBudget(clock);
        let calls = 0;
        let repeats = 0;
        for (const step of steps) {
          clock.advance(step.waitMs);
          for (let i = 0; i < step.calls; i++) budget.called();
          calls += step.calls;
          repeats += granted(budget, step.tries);
          const most = 20 + 0.1 * calls + (10 * (clock.nowMs() - startMs)) / 1000;
          if (repeats > most + 1e-6) return false;
        }
        return true;
      }),
    );
  });

  it('grants ten a second whatever the load, even to those who have used up all else', () => {
    const clock = new HandClock();
    const budget = new RetryBudget(clock);
    granted(budget, 1000);
    expect(budget.mayRepeat()).toBe(false);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      expect(granted(budget, 100)).toBe(10);
    }
  });

  it('grants one repeat for ten calls', () => {
    const budget = new RetryBudget(new HandClock());
    granted(budget, 1000);
    for (let i = 0; i < 500; i++) budget.called();
    expect(granted(budget, 1000)).toBeGreaterThanOrEqual(49);
  });

  it('saves up no more than a hundred and ten, however long nothing failed', () => {
    const clock = new HandClock();
    const budget = new RetryBudget(clock);
    for (let i = 0; i < 100_000; i++) budget.called();
    clock.advance(86_400_000);
    expect(granted(budget, 1000)).toBe(110);
  });
});
