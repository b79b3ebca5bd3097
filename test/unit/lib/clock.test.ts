import { epochSeconds, systemClock } from '../../../src/lib/clock.js';

describe('clock', () => {
  it('rounds seconds down, so that nothing starts early', () => {
    expect([0, 999, 1000, 1999].map(epochSeconds)).toEqual([0, 0, 1, 1]);
  });

  it('returns the wall time and a monotonic time', () => {
    expect(Math.abs(systemClock.nowMs() - Date.now())).toBeLessThan(1000);
    const before = systemClock.monotonicMs();
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before);
  });
});
