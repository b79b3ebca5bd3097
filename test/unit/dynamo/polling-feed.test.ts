import { PollingFeed } from '../../../src/dynamo/polling-feed.js';
import { type Log, silentLog } from '../../../src/lib/log.js';
import { PushStream } from '../../../src/lib/push-stream.js';
import { sleep } from '../../../src/lib/timers.js';

const pageSize = 10;
const maxPagesPerRound = 2;

/** Logs of numbers in memory, by topic. A row is its own position. */
class MemorySource {
  heads = 0;
  readonly pages: { readonly topic: string; readonly after: number }[] = [];
  private readonly logs = new Map<string, number[]>();

  append(topic: string, ...rows: readonly number[]): void {
    this.logs.set(
      topic,
      [...this.rows(topic), ...rows].sort((a, b) => a - b),
    );
  }

  topicName(topic: string): string {
    return topic;
  }

  rowName(row: number): number {
    return row;
  }

  positionOf(row: number): number {
    return row;
  }

  async head(topic: string): Promise<number> {
    this.heads++;
    await sleep(5);
    return this.rows(topic).at(-1) ?? 0;
  }

  async listAfter(topic: string, after: number, limit: number): Promise<readonly number[]> {
    this.pages.push({ topic, after });
    return this.rows(topic)
      .filter((row) => row > after)
      .slice(0, limit);
  }

  private rows(topic: string): readonly number[] {
    return this.logs.get(topic) ?? [];
  }
}

class NumberFeed extends PollingFeed<string, number, number> {
  subscribe(topic: string, head?: number): Promise<PushStream<number>> {
    return this.follow(topic, (_position, onEnd) => new PushStream<number>(1000, onEnd), head);
  }

  /** The position that a new stream of the topic starts from. */
  async positionOf(topic: string): Promise<number> {
    let position = -1;
    const stream = await this.follow(topic, (at, onEnd) => {
      position = at;
      return new PushStream<number>(1000, onEnd);
    });
    await stream.return();
    return position;
  }
}

async function withFeed(
  use: (feed: NumberFeed, source: MemorySource) => Promise<void>,
  { source = new MemorySource(), log = silentLog }: { readonly source?: MemorySource; readonly log?: Log } = {},
): Promise<void> {
  const feed = new NumberFeed(source, { pageSize, maxPagesPerRound, log, failure: 'failed to read numbers' });
  feed.start();
  try {
    await use(feed, source);
  } finally {
    await feed.stop();
  }
}

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function take(stream: AsyncIterableIterator<number>, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < count; i++) taken.push((await stream.next()).value as number);
  return taken;
}

// Each test waits for polls of its feed, one second apart. They run concurrently, so that they wait at the same time.
describe('PollingFeed', () => {
  it.concurrent('delivers the rows after the head to every subscriber of a topic, with one read for all of them', () =>
    withFeed(async (feed, source) => {
      source.append('a', 1, 2);
      const streams = [await feed.subscribe('a'), await feed.subscribe('a')];
      source.append('a', 3, 4);
      source.append('b', 9);
      expect(await Promise.all(streams.map((stream) => take(stream, 2)))).toEqual([
        [3, 4],
        [3, 4],
      ]);
      expect(source.heads).toBe(1);
      // The second read of the page is the re-read after commit.
      expect(source.pages).toEqual([
        { topic: 'a', after: 2 },
        { topic: 'a', after: 2 },
      ]);
    }));

  it.concurrent('follows a topic with one reader if two subscribe to it at the same time', () =>
    withFeed(async (feed, source) => {
      const [first, second] = await Promise.all([feed.subscribe('a'), feed.subscribe('a')]);
      source.append('a', 1);
      expect([await take(first, 1), await take(second, 1)]).toEqual([[1], [1]]);
      expect(source.pages).toHaveLength(2);
    }));

  it.concurrent('starts at the head that its caller has read, without a read of its own', () =>
    withFeed(async (feed, source) => {
      source.append('a', 1, 2, 3);
      const stream = await feed.subscribe('a', 2);
      expect(source.heads).toBe(0);
      expect(await take(stream, 1)).toEqual([3]);
      // A later stream starts after the rows that the first one got.
      expect(await feed.positionOf('a')).toBe(3);
    }));

  it.concurrent('includes rows of the same transaction that become visible between the two reads of a page', () =>
    withFeed(async (feed, source) => {
      const stream = await feed.subscribe('a');
      source.append('a', 2, 4);
      const isRead = async () => {
        while (source.pages.length === 0) await sleep(5);
      };
      await isRead();
      // 3 belongs before a row that was read. 5 comes after all of them, so its transaction may still be incomplete.
      source.append('a', 3, 5);
      expect(await take(stream, 3)).toEqual([2, 3, 4]);
      expect(await feed.positionOf('a')).toBe(4);
      expect(await take(stream, 1)).toEqual([5]);
    }));

  it.concurrent('reads at most the maximum of pages per topic and round, so that other topics are not delayed', () =>
    withFeed(async (feed, source) => {
      const [busy, quiet] = [await feed.subscribe('busy'), await feed.subscribe('quiet')];
      source.append('busy', ...upTo(1, 1000));
      source.append('quiet', 1);
      await take(quiet, 1);
      source.append('quiet', 2);
      await take(quiet, 1); // delivered by the second round, so the first one is over
      const readsPerPage = 2;
      expect(source.pages.filter(({ topic }) => topic === 'busy').length).toBeLessThanOrEqual(
        2 * maxPagesPerRound * readsPerPage,
      );
      expect(await take(busy, 30)).toEqual(upTo(1, 30));
    }));

  it.concurrent('logs a failed read, continues from the same position, and does not disturb other topics', async () => {
    let isFailing = true;
    class FailingSource extends MemorySource {
      override async listAfter(topic: string, after: number, limit: number): Promise<readonly number[]> {
        if (topic === 'a' && isFailing) throw new Error('unavailable');
        return super.listAfter(topic, after, limit);
      }
    }
    const warnings: unknown[] = [];
    const warn = (fields: { readonly err: Error }, message: string) => {
      warnings.push([fields.err.message, message]);
      isFailing = false;
    };
    await withFeed(
      async (feed, source) => {
        const [failed, healthy] = [await feed.subscribe('a'), await feed.subscribe('b')];
        source.append('a', 1);
        source.append('b', 1);
        expect(await take(healthy, 1)).toEqual([1]);
        expect(await take(failed, 1)).toEqual([1]);
        expect(warnings).toEqual([['unavailable', 'failed to read numbers']]);
      },
      { source: new FailingSource(), log: { ...silentLog, warn: warn as Log['warn'] } },
    );
  });

  it.concurrent('stops reading a topic without subscribers, and reads its head again for the next one', () =>
    withFeed(async (feed, source) => {
      const stream = await feed.subscribe('a');
      await stream.return();
      source.append('a', 1);
      const other = await feed.subscribe('b');
      source.append('b', 1);
      await take(other, 1);
      expect(source.pages.filter(({ topic }) => topic === 'a')).toEqual([]);
      expect(await feed.positionOf('a')).toBe(1);
    }));

  it.concurrent('ends all streams when it stops, and every stream that is opened afterwards', async () => {
    const feed = new NumberFeed(new MemorySource(), { pageSize, maxPagesPerRound, log: silentLog, failure: 'x' });
    feed.start();
    const waiting = (await Promise.all(['a', 'a', 'b'].map((topic) => feed.subscribe(topic)))).map((each) =>
      each.next(),
    );
    await feed.stop();
    expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([true, true, true]);
    expect(await (await feed.subscribe('c')).next()).toEqual({ value: undefined, done: true });
  });
});
