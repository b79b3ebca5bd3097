import type { DeviceRef } from '../../../src/devices/device.js';
import { ReadingFeed } from '../../../src/devices/reading.feed.js';
import type { Reading } from '../../../src/devices/reading.js';
import type { ReadingPosition, ReadingStore } from '../../../src/devices/reading.store.js';
import { silentLog } from '../../../src/lib/log.js';
import { sleep } from '../../../src/lib/timers.js';

const orgId = '00000000-0000-4000-8000-000000000000';

describe('ReadingFeed', () => {
  let feed: ReadingFeed;
  afterEach(() => feed.stop());
  const ref = (hardwareId: string) => ({ orgId, hardwareId, generation: 'g' });
  const reading = (hardwareId: string, timestampMs: number) =>
    ({ hardwareId, timestampMs, batchId: String(timestampMs) }) as Reading;

  it('reads the other devices while one device sends without end', async () => {
    const quiet: Reading[] = [];
    const store = {
      latest: async () => undefined,
      listAfter: async ({ hardwareId }: DeviceRef, after: ReadingPosition | undefined, limit: number) => {
        if (hardwareId === 'quiet') return quiet.filter(({ timestampMs }) => timestampMs > (after?.timestampMs ?? 0));
        return Array.from({ length: limit }, (_, i) => reading('busy', (after?.timestampMs ?? 0) + i + 1));
      },
    } as unknown as ReadingStore;
    feed = new ReadingFeed(store, silentLog);
    feed.start();
    const [busy, other] = [await feed.subscribe(ref('busy')), await feed.subscribe(ref('quiet'))];
    const seen: number[] = [];
    void (async () => {
      for await (const { timestampMs } of busy) seen.push(timestampMs);
    })();
    while (seen.length < 600) await sleep(5);
    quiet.push(reading('quiet', 1));
    expect((await other.next()).value).toMatchObject({ hardwareId: 'quiet', timestampMs: 1 });
    expect(seen).toEqual(seen.map((_, i) => i + 1));
  });
});
