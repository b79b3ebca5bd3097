import { repeat, within } from '../../../src/lib/timers.js';

describe('within', () => {
  const never = new Promise<string>(() => {});

  it('returns the outcome of the promise if it settles in time', async () => {
    expect(await within(10_000, Promise.resolve('own'), () => 'late')).toBe('own');
    await expect(within(10_000, Promise.reject(new Error('own fault')), () => 'late')).rejects.toThrow('own fault');
  });

  it('returns or throws the outcome of onTimeout after the time', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
    const give = async (): Promise<string> => {
      throw new Error('too late');
    };
    await expect(within(1, never, give)).rejects.toThrow('too late');
  });

  it('returns the value "late" as a value, and handles a rejection after the timeout', async () => {
    expect(await within(10_000, Promise.resolve('late'), () => 'timed out')).toBe('late');
    let reject: (error: Error) => void = () => {};
    const slow = new Promise<string>((_, no) => {
      reject = no;
    });
    expect(await within(1, slow, () => 'late')).toBe('late');
    reject(new Error('nobody listens'));
    await new Promise(setImmediate);
  });
});

describe('repeat', () => {
  it('runs repeatedly, never twice at once, and reports every error', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    let running = 0;
    let maxRunning = 0;
    await new Promise<void>((resolve) => {
      const loop = repeat(
        1,
        async () => {
          maxRunning = Math.max(maxRunning, ++running);
          await new Promise((done) => setTimeout(done, 3));
          running--;
          if (++runs === 5) void loop.stop().then(resolve);
          throw new Error(`run ${runs}`);
        },
        (error) => errors.push(error),
      );
    });
    expect(maxRunning).toBe(1);
    expect(errors.map(String)).toEqual([1, 2, 3, 4, 5].map((n) => `Error: run ${n}`));
  });

  it('waits in stop for the current run, and starts no further run', async () => {
    let runs = 0;
    let finished = 0;
    let begun = () => {};
    const firstBegins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const loop = repeat(
      1,
      async () => {
        runs++;
        begun();
        await new Promise((done) => setTimeout(done, 5));
        finished++;
      },
      () => {},
    );
    await firstBegins;
    await loop.stop();
    expect(finished).toBe(1);
    await new Promise((done) => setTimeout(done, 10));
    expect(runs).toBe(1);
  });

  it('never runs if it is stopped before the first run', async () => {
    let runs = 0;
    await repeat(
      1,
      async () => {
        runs++;
      },
      () => {},
    ).stop();
    await new Promise((done) => setTimeout(done, 5));
    expect(runs).toBe(0);
  });
});
