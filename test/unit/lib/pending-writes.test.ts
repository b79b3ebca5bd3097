import { silentLog } from '../../../src/lib/log.js';
import { PendingWrites } from '../../../src/lib/pending-writes.js';
import { sleep } from '../../../src/lib/timers.js';

describe('PendingWrites', () => {
  it('runs a bounded number at once, drops what comes on top, and waits for all of them', async () => {
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

  it('logs a write that fails, and goes on', async () => {
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
