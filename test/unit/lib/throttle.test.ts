import fc from 'fast-check';
import { Throttle } from '../../../src/lib/throttle.js';
import { stoppedClock } from '../../support/clock.js';

describe('Throttle', () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.integer({ min: 0, max: 2000 }), takes: fc.integer({ min: 1, max: 20 }) }),
    { maxLength: 40 },
  );

  it('never admits more than the burst plus the refill', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        steps,
        (burst, perSecond, plan) => {
          const clock = stoppedClock();
          const startMs = clock.nowMs();
          const throttle = new Throttle(clock, burst, perSecond);
          let admitted = 0;
          for (const { waitMs, takes } of plan) {
            clock.advance(waitMs);
            for (let i = 0; i < takes; i++) if (throttle.take('k') === 0) admitted++;
            if (admitted > burst + ((clock.nowMs() - startMs) * perSecond) / 1000 + 1e-6) return false;
          }
          return true;
        },
      ),
    );
  });

  it('admits the whole burst at once, again after a pause, and never more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100 }), (burst, perSecond) => {
        const clock = stoppedClock();
        const throttle = new Throttle(clock, burst, perSecond);
        const takeAll = () => Array.from({ length: burst + 1 }, () => throttle.take('k') === 0);
        const wholeBurst = [...Array<boolean>(burst).fill(true), false];
        expect(takeAll()).toEqual(wholeBurst);
        clock.advance(3_600_000);
        expect(takeAll()).toEqual(wholeBurst);
      }),
    );
  });

  it('admits after the returned wait, and not after half of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 5000 }),
        (burst, perSecond, spentMs) => {
          const clock = stoppedClock();
          const throttle = new Throttle(clock, burst, perSecond);
          const drain = (): number => {
            for (;;) {
              const waitMs = throttle.take('k');
              if (waitMs > 0) return waitMs;
            }
          };
          drain();
          clock.advance(spentMs);
          const waitMs = drain();
          expect(waitMs).toBeLessThanOrEqual(1000 / perSecond + 1e-6);
          clock.advance(waitMs / 2);
          expect(throttle.take('k')).toBeGreaterThan(0);
          // Plus a microsecond for the rounding of binary fractions.
          clock.advance(waitMs / 2 + 0.001);
          expect(throttle.take('k')).toBe(0);
        },
      ),
    );
  });

  it('counts each key separately and evicts the least recently used key beyond its bound', () => {
    const throttle = new Throttle(stoppedClock(), 1, 1, 2);
    expect(throttle.take('a')).toBe(0);
    expect(throttle.take('b')).toBe(0);
    expect(throttle.take('a')).toBeGreaterThan(0);
    expect(throttle.take('c')).toBe(0);
    expect(throttle.take('a')).toBeGreaterThan(0);
    expect(throttle.take('b')).toBe(0);
  });
});
