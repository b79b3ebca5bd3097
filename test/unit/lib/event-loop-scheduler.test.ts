import { EventLoopScheduler } from '../../../src/lib/event-loop-scheduler.js';
import { endOfTurn } from '../../../src/lib/timers.js';

describe('EventLoopScheduler', () => {
  let nowMs = 0;
  const newScheduler = () => new EventLoopScheduler({ monotonicMs: () => nowMs });

  it('lets operations continue at once within the time slice', () => {
    const scheduler = newScheduler();
    expect([scheduler.turn('fresh'), scheduler.turn('begun'), scheduler.turn('fresh')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('yields to the event loop every few milliseconds and keeps the order', async () => {
    const scheduler = newScheduler();
    const order: number[] = [];
    scheduler.turn('fresh');
    nowMs += 100; // the time slice is over
    const all = Array.from({ length: 40 }, (_, i) =>
      scheduler.turn('fresh')?.then(() => {
        order.push(i);
        nowMs += 1;
      }),
    );
    const done: number[] = [];
    while (order.length < 40) {
      await endOfTurn();
      done.push(order.length);
    }
    await Promise.all(all);
    expect(order).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(done.length).toBeGreaterThanOrEqual(5);
    expect(done[1]).toBeGreaterThan(0);
  });

  it('resumes started operations first, and starts a new one in every time slice', async () => {
    const scheduler = newScheduler();
    const order: string[] = [];
    scheduler.turn('fresh');
    nowMs += 100;
    const all = (['fresh', 'begun', 'fresh', 'begun'] as const).map((which, i) =>
      scheduler.turn(which)?.then(() => order.push(`${which} ${i}`)),
    );
    await Promise.all(all);
    expect(order).toEqual(['fresh 0', 'begun 1', 'begun 3', 'fresh 2']);
    await endOfTurn();
    expect(scheduler.turn('fresh')).toBeUndefined();
  });
});
