import { EventLoopScheduler } from '../../../src/lib/event-loop-scheduler.js';
import { ConcurrencyLimiter, type ConcurrencySlot } from '../../../src/load/concurrency-limiter.js';

describe('ConcurrencyLimiter', () => {
  let nowMs = 0;
  let busyShare = 0;
  const gauge = { monotonicMs: () => nowMs, utilization: () => busyShare };
  const newLimiter = (max: number) => new ConcurrencyLimiter(max, gauge, new EventLoopScheduler(gauge));
  beforeEach(() => {
    nowMs = 0;
    busyShare = 0;
  });

  it('admits its maximum again and again, and rejects one more', async () => {
    const limiter = newLimiter(3);
    for (let round = 0; round < 3; round++) {
      const slots = await Promise.all([1, 2, 3].map(() => limiter.enter()));
      expect(limiter.isFull).toBe(true);
      await expect(limiter.enter()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(() => limiter.refuseList()).toThrow('busy');
      for (const { release } of slots) release();
      expect(limiter.isFull).toBe(false);
      limiter.refuseList();
    }
  });

  /** The number of operations that are admitted at the same time. */
  async function limitOf(limiter: ConcurrencyLimiter): Promise<number> {
    const slots: ConcurrencySlot[] = [];
    while (!limiter.isFull) slots.push(await limiter.enter());
    for (const { release } of slots) release();
    return slots.length;
  }
  async function respondAfter(limiter: ConcurrencyLimiter, ms: number, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      const { responded, release } = await limiter.enter();
      nowMs += ms;
      responded();
      release();
    }
  }

  it('lowers its limit to a minimum while the process is busy and late, and raises it again afterwards', async () => {
    const limiter = newLimiter(1000);
    busyShare = 1;
    await respondAfter(limiter, 600, 3);
    expect(await limitOf(limiter)).toBe(729);
    await respondAfter(limiter, 600, 50);
    expect(await limitOf(limiter)).toBe(256);
    busyShare = 0;
    await respondAfter(limiter, 150, 100);
    expect(await limitOf(limiter)).toBe(1000);
  });

  it('keeps its limit if only DynamoDB is slow, or if the process is busy but in time', async () => {
    const limiter = newLimiter(200);
    await respondAfter(limiter, 3000, 20);
    expect(await limitOf(limiter)).toBe(200);
    busyShare = 1;
    await respondAfter(limiter, 150, 20);
    expect(await limitOf(limiter)).toBe(200);
  });

  it('rejects nothing without a limit', async () => {
    const limiter = newLimiter(0);
    await Promise.all(Array.from({ length: 2000 }, () => limiter.enter()));
    expect(limiter.isFull).toBe(false);
    limiter.refuseList();
  });
});
