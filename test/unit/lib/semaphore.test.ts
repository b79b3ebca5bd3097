import fc from 'fast-check';
import { Semaphore } from '../../../src/lib/semaphore.js';

describe('Semaphore', () => {
  const refusal = () => new Error('full');

  it('never runs more tasks than it has slots, in order of arrival, and runs every accepted task', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 20 }),
        async (slots, tasks) => {
          const semaphore = new Semaphore(slots, tasks.length, refusal);
          const started: number[] = [];
          const running: (() => void)[] = [];
          let maxRunning = 0;
          const all = tasks.map(([fails], i) =>
            semaphore.run(async () => {
              started.push(i);
              await new Promise<void>((resolve) => {
                running.push(resolve);
                maxRunning = Math.max(maxRunning, running.length);
              });
              if (fails) throw new Error(`task ${i}`);
              return i;
            }),
          );
          const outcomes = Promise.allSettled(all);
          for (const [, pick] of tasks) {
            running.splice(pick % running.length, 1)[0]?.();
            await new Promise(setImmediate);
          }
          expect((await outcomes).map(({ status }) => status)).toEqual(
            tasks.map(([fails]) => (fails ? 'rejected' : 'fulfilled')),
          );
          expect(started).toEqual(tasks.map((_, i) => i));
          expect(maxRunning).toBe(Math.min(slots, tasks.length));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('rejects at once a task beyond its queue, and accepts one again when a task has ended', async () => {
    const semaphore = new Semaphore(1, 1, refusal);
    let finish = () => {};
    const first = semaphore.run(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const second = semaphore.run(async () => 'second');
    await expect(semaphore.run(async () => 'third')).rejects.toThrow('full');
    finish();
    await first;
    expect(await second).toBe('second');
    expect(await semaphore.run(async () => 'fourth')).toBe('fourth');
  });

  it('frees the slot if a task throws before its first await', async () => {
    const semaphore = new Semaphore(1, 0, refusal);
    const throwing = () => {
      throw new Error('at once');
    };
    await expect(semaphore.run(throwing)).rejects.toThrow('at once');
    expect(await semaphore.run(async () => 1)).toBe(1);
  });
});
