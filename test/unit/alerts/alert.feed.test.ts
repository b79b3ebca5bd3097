import { AlertFeed } from '../../../src/alerts/alert.feed.js';
import { type AlertFilter, partitionOf, type QuotaAlert } from '../../../src/alerts/alert.js';
import type { AlertStore } from '../../../src/alerts/alert.store.js';
import { systemClock } from '../../../src/lib/clock.js';
import { type Log, silentLog } from '../../../src/lib/log.js';
import { sleep } from '../../../src/lib/timers.js';
import { alertOf, elsewhere, neighbour, orgA, type Raised } from './fixtures.js';

/**
 * An alert log in memory. Numbers are contiguous in a partition. A read takes `readMs` and returns the state at its
 * start.
 */
class MemoryLog {
  readonly reads = new Map<number, number>();
  private readonly partitions = new Map<number, QuotaAlert[]>();

  constructor(
    private readonly readMs: number = 0,
    private readonly isFailing: (partition: number) => boolean = () => false,
  ) {}

  raise(...raised: readonly Raised[]): void {
    for (const alert of raised) {
      const entries = this.entries(partitionOf(alert.orgId ?? orgA));
      entries.push(alertOf(entries.length + 1, alert));
    }
  }

  async head(partition: number): Promise<number> {
    const { length } = this.entries(partition);
    await sleep(this.readMs);
    return length;
  }

  async listPartition(partition: number, after: number, limit: number): Promise<QuotaAlert[]> {
    this.reads.set(partition, (this.reads.get(partition) ?? 0) + 1);
    const page = this.entries(partition).slice(after, after + limit);
    await sleep(this.readMs);
    if (this.isFailing(partition)) throw new Error(`partition ${partition} cannot be read`);
    return page;
  }

  private entries(partition: number): QuotaAlert[] {
    const entries = this.partitions.get(partition) ?? [];
    this.partitions.set(partition, entries);
    return entries;
  }
}

type Stream = AsyncIterableIterator<QuotaAlert>;
const times = (count: number, raised: Raised = {}): Raised[] => Array.from({ length: count }, () => raised);
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Reads until the alert with this number, or until the stream ends. */
async function numbersUntil(stream: Stream, last: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    numbers.push(next.value.number);
    if (next.value.number >= last) break;
  }
  return numbers;
}

async function withFeed(log: MemoryLog, use: (feed: AlertFeed) => Promise<void>, to: Log = silentLog): Promise<void> {
  const feed = new AlertFeed(log as unknown as AlertStore, systemClock, to);
  feed.start();
  try {
    await use(feed);
  } finally {
    await feed.stop();
  }
}

// Each test waits for polls of its feed, one second apart. They run concurrently, so that they wait at the same time.
describe('AlertFeed', () => {
  it.concurrent('delivers the alerts raised after the subscription, in order, and none from before', () => {
    const log = new MemoryLog();
    log.raise(...times(3));
    return withFeed(log, async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA });
      log.raise(...times(250));
      const numbers = await numbersUntil(stream, 253);
      log.raise({});
      expect([...numbers, ...(await numbersUntil(stream, 254))]).toEqual(upTo(4, 254));
    });
  });

  it.concurrent('delivers to each of several subscribers of a partition exactly the alerts it requested', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const filters: AlertFilter[] = [
        { orgId: orgA },
        { orgId: orgA },
        { orgId: orgA, kinds: ['QUOTA_EXCEEDED', 'FALLBACK_ACTIVATED'] },
        { orgId: orgA, scope: { appId: 'web' } },
        { orgId: orgA, scope: {} },
        { orgId: neighbour },
        { orgId: neighbour, scope: { appId: 'web' }, kinds: ['TIGHT_MODE'] },
      ];
      const streams = await Promise.all(filters.map((filter) => feed.subscribe(filter)));
      log.raise(
        { appId: 'web' }, // 1
        { kind: 'QUOTA_EXCEEDED' }, // 2
        { orgId: neighbour, appId: 'web' }, // 3
        { appId: 'batch', kind: 'FALLBACK_ACTIVATED' }, // 4
        { orgId: neighbour, appId: 'web', kind: 'QUOTA_EXCEEDED' }, // 5
        { orgId: elsewhere, appId: 'web' }, // in another partition
        { appId: 'web', kind: 'QUOTA_EXCEEDED' }, // 6
        {}, // 7
        { orgId: neighbour, appId: 'web' }, // 8
      );
      const lasts = [7, 7, 6, 6, 7, 8, 8];
      expect(await Promise.all(streams.map((stream, i) => numbersUntil(stream, lasts[i] as number)))).toEqual([
        [1, 2, 4, 6, 7],
        [1, 2, 4, 6, 7],
        [2, 4, 6],
        [1, 6],
        [2, 7],
        [3, 5, 8],
        [3, 8],
      ]);
    });
  });

  it.concurrent('replays missed alerts and continues live without gap or repeat while alerts are being raised', () => {
    const log = new MemoryLog(40);
    log.raise(...times(330));
    return withFeed(log, async (feed) => {
      const last = 330 + 120;
      const raising = (async () => {
        for (let i = 0; i < 120; i++) {
          log.raise({});
          await sleep(15);
        }
      })();
      const afters = [0, 1, 99, 100, 101, 229, 230, 231, 329, 330];
      const followed = await Promise.all(
        afters.map(async (after, i) => {
          await sleep(i * 120); // some before the first poll, some during it, some after it
          const stream = await feed.subscribe({ orgId: orgA }, after);
          return { stream, numbers: await numbersUntil(stream, last) };
        }),
      );
      await raising;
      // Only an empty read ends a replay. The alerts that the polls buffered meanwhile were all replayed.
      const reading = followed.map(({ stream }) => numbersUntil(stream, last + 1));
      await sleep(100);
      log.raise({});
      const live = await Promise.all(reading);
      expect(followed.map(({ numbers }, i) => [...numbers, ...(live[i] as number[])])).toEqual(
        afters.map((after) => upTo(after + 1, last + 1)),
      );
    });
  });

  it.concurrent('reads several pages in one poll', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const [stream, marker] = await Promise.all([
        feed.subscribe({ orgId: orgA }),
        feed.subscribe({ orgId: elsewhere }),
      ]);
      log.raise(...times(250), { orgId: elsewhere });
      let count = 0;
      void (async () => {
        for await (const _ of stream) count++;
      })();
      await numbersUntil(marker, 1);
      log.raise({ orgId: elsewhere });
      await numbersUntil(marker, 2); // delivered by the second poll, so the first one is over
      expect(count).toBe(250);
    });
  });

  it.concurrent('replays only the requested alerts, also if whole pages of the log are those of other orgs', () => {
    const log = new MemoryLog();
    log.raise({}, ...times(240, { orgId: neighbour }), { kind: 'QUOTA_EXCEEDED' }, {});
    return withFeed(log, async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA, kinds: ['TIGHT_MODE'] }, 0);
      expect(await numbersUntil(stream, 243)).toEqual([1, 243]);
      log.raise({ orgId: neighbour }, { kind: 'QUOTA_EXCEEDED' }, {});
      expect(await numbersUntil(stream, 246)).toEqual([246]);
    });
  });

  it.concurrent('removes a stream that has ended, keeps the others, and reads no partition without subscribers', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const [ended, open] = await Promise.all([feed.subscribe({ orgId: orgA }), feed.subscribe({ orgId: orgA })]);
      const other = await feed.subscribe({ orgId: elsewhere });
      await ended.return?.();
      log.raise({});
      expect(await numbersUntil(open, 1)).toEqual([1]);
      expect(await ended.next()).toEqual({ value: undefined, done: true });
      await open.return?.();
      const reads = log.reads.get(partitionOf(orgA));
      log.raise({ orgId: elsewhere });
      await numbersUntil(other, 1);
      log.raise({ orgId: elsewhere });
      await numbersUntil(other, 2); // two polls later
      expect(log.reads.get(partitionOf(orgA))).toBe(reads);

      const back = await feed.subscribe({ orgId: orgA });
      log.raise({});
      expect(await numbersUntil(back, 2)).toEqual([2]);
    });
  });

  it.concurrent('ends a stream when more than 256 alerts wait for its reader, not earlier, and no other stream', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const patient = await feed.subscribe({ orgId: elsewhere });
      const idle = await feed.subscribe({ orgId: orgA });
      const filtered = await feed.subscribe({ orgId: orgA, kinds: ['QUOTA_EXCEEDED'] });
      const reader = await feed.subscribe({ orgId: orgA });
      log.raise(...times(256, { orgId: elsewhere }), ...times(256), { kind: 'QUOTA_EXCEEDED' });
      expect(await numbersUntil(reader, 257)).toEqual(upTo(1, 257));
      expect(await idle.next()).toEqual({ value: undefined, done: true });
      // It did not read either, but only one alert matched its filter.
      expect(await numbersUntil(filtered, 257)).toEqual([257]);
      expect(await numbersUntil(patient, 256)).toEqual(upTo(1, 256));
      // A reader that subscribes again with its last cursor has missed nothing.
      expect(await numbersUntil(await feed.subscribe({ orgId: orgA }, 0), 257)).toEqual(upTo(1, 257));
    });
  });

  it.concurrent('continues after a failed read of a partition, and does not delay the others', () => {
    let isFailing = true;
    const log = new MemoryLog(0, (partition) => isFailing && partition === partitionOf(orgA));
    const warnings: string[] = [];
    const warn = (fields: { readonly err: Error }) => {
      warnings.push(fields.err.message);
      isFailing = false;
    };
    return withFeed(
      log,
      async (feed) => {
        const [failed, healthy] = await Promise.all([
          feed.subscribe({ orgId: orgA }),
          feed.subscribe({ orgId: elsewhere }),
        ]);
        log.raise({}, { orgId: elsewhere });
        expect(await numbersUntil(healthy, 1)).toEqual([1]);
        expect(await numbersUntil(failed, 1)).toEqual([1]);
        expect(warnings).toEqual([`partition ${partitionOf(orgA)} cannot be read`]);
      },
      { ...silentLog, warn: warn as Log['warn'] },
    );
  });

  it.concurrent('wakes a waiting reader when its stream is ended', () =>
    withFeed(new MemoryLog(), async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA });
      const waiting = stream.next();
      await sleep(5);
      expect(await stream.return?.()).toEqual({ value: undefined, done: true });
      expect(await waiting).toEqual({ value: undefined, done: true });
      expect(await stream.return?.()).toEqual({ value: undefined, done: true });
    }));

  it.concurrent('ends a stream during its replay', () => {
    const log = new MemoryLog(20);
    log.raise(...times(5));
    return withFeed(log, async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA }, 0);
      const waiting = stream.next();
      await stream.return?.();
      expect(await waiting).toEqual({ value: undefined, done: true });
    });
  });

  it.concurrent('ends the streams of all partitions when it stops, and can be stopped before its start', async () => {
    const feed = new AlertFeed(new MemoryLog() as unknown as AlertStore, systemClock, silentLog);
    await feed.stop();
    feed.start();
    const streams = await Promise.all([orgA, orgA, neighbour, elsewhere].map((orgId) => feed.subscribe({ orgId })));
    const waiting = streams.map((stream) => stream.next());
    await feed.stop();
    expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([true, true, true, true]);
  });
});
