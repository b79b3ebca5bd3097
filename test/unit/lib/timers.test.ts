import { repeat, within } from '../../../src/lib/timers.js';

describe('within', () => {
  const never = new Promise<string>(() => {});

  it("gives the promise's own outcome when that comes first", async () => {
    expect(await within(10_000, Promise.resolve('own'), () => 'late')).toBe('own');
    await expect(within(10_000, Promise.reject(new Error('own fault')), () => 'late')).rejects.toThrow('own fault');
  });

  it('asks what to do once the time is over, and passes on what that throws', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
    const give = async (): Promise<string> => {
      throw new Error('too late');
    };
    await expect(within(1, never, give)).rejects.toThrow('too late');
  });

  it('does not mistake a value for lateness, nor let a rejection after the end go astray', async () => {
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
  it('runs again and again, never twice at once, and tells of every error', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    let atOnce = 0;
    let most = 0;
    await new Promise<void>((resolve) => {
      const loop = repeat(
        1,
        async () => {
          most = Math.max(most, ++atOnce);
          await new Promise((done) => setTimeout(done, 3));
          atOnce--;
          if (++runs === 5) void loop.stop().then(resolve);
          throw new Error(`run ${runs}`);
        },
        (error) => errors.push(error),
      );
    });
    expect(most).toBe(1);
    expect(errors.map(String)).toEqual([1, 2, 3, 4, 5].map((n) => `Error: run ${n}`));
  });

  it('waits in stop for the run under way, and begins none after it', async () => {
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

  it('never runs when it is stopped before its first time', async () => {
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
