import { silentLog } from '../../../src/lib/log.js';
import { PendingWrites } from '../../../src/lib/pending-writes.js';
import { sleep } from '../../../src/lib/timers.js';

describe('PendingWrites', () => {
  it('runs a bounded number of writes at once, drops the excess, and waits for all in flush', async () => {
    let [running, done, dropped] = [0, 0, 0];
    const pending = new PendingWrites(3, silentLog, () => dropped++);
    const write = async () => {
      running++;
      await sleep(5);
      running--;
      done++;
    };
    expect(Array.from({ length: 5 }, () => pending.start(write))).toEqual([true, true, true, false, false]);
    await pending.flush();
    expect({ running, done, dropped }).toEqual({ running: 0, done: 3, dropped: 2 });
    expect(pending.start(write)).toBe(true);
    await pending.flush();
  });

  it('logs a failed write and continues', async () => {
    const warnings: unknown[] = [];
    const pending = new PendingWrites(
      1,
      { ...silentLog, warn: (line: unknown) => void warnings.push(line) },
      () => undefined,
    );
    pending.start(() => Promise.reject(new Error('lost')));
    await pending.flush();
    expect(warnings).toEqual([{ err: new Error('lost') }]);
  });
});
