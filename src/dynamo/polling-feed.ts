import type { Log } from '../lib/log.js';
import { type Repeating, repeat } from '../lib/timers.js';
import { rereadAfterCommit } from './reread.js';

/** A log that is followed: rows in a fixed order, new ones at the end. */
export interface FeedSource<Topic, Row, Position> {
  /** Two topics with the same name are the same log. */
  topicName(topic: Topic): string;
  rowName(row: Row): string | number;
  positionOf(row: Row): Position;
  /** The position of the newest row. */
  head(topic: Topic): Promise<Position>;
  /** The rows after a position, in order, at most `limit`. */
  listAfter(topic: Topic, after: Position, limit: number): Promise<readonly Row[]>;
}

export interface FeedOptions {
  readonly pageSize: number;
  /**
   * Pages of one topic in one round. A busy topic must not delay the others, because a round ends with its slowest
   * topic.
   */
  readonly maxPagesPerRound: number;
  readonly log: Log;
  /** The log message for a failed read. The next round reads again from the same position. */
  readonly failure: string;
}

/** The rows of one subscriber. */
export interface FeedStream<Row> extends AsyncIterableIterator<Row> {
  push(row: Row): void;
  return(): Promise<IteratorResult<Row>>;
}

interface Followed<Topic, Row, Position> {
  readonly topic: Topic;
  /** The position of the last row that was pushed to the subscribers. */
  position: Position;
  readonly streams: Set<FeedStream<Row>>;
}

const pollMs = 1000;

/**
 * Polls the topics that somebody in this process subscribes to, once per second, and pushes new rows to all their
 * subscribers. One reader per topic serves any number of subscribers.
 */
export class PollingFeed<Topic, Row, Position> {
  private readonly followed = new Map<string, Followed<Topic, Row, Position>>();
  private loop: Repeating | undefined;
  private stopped = false;

  constructor(
    private readonly source: FeedSource<Topic, Row, Position>,
    private readonly options: FeedOptions,
  ) {}

  private readonly logFailure = (error: unknown): void => this.options.log.warn({ err: error }, this.options.failure);

  start(): void {
    this.loop = repeat(
      pollMs,
      async () => {
        await Promise.all([...this.followed.values()].map((each) => this.tail(each).catch(this.logFailure)));
      },
      this.logFailure,
    );
  }

  /** Ends all streams, and every stream that is opened afterwards. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.loop?.stop();
    for (const { streams } of this.followed.values()) for (const stream of streams) await stream.return();
  }

  /**
   * Opens a stream that gets every row after the position passed to `open`. A caller that has just read the head of the
   * topic passes it, which saves the second read.
   */
  protected async follow<Stream extends FeedStream<Row>>(
    topic: Topic,
    open: (position: Position, onEnd: () => void) => Stream,
    head?: Position,
  ): Promise<Stream> {
    const { followed } = this;
    const name = this.source.topicName(topic);
    let entry = followed.get(name);
    if (!entry) {
      const position = head ?? (await this.source.head(topic));
      // Another subscriber of the topic may have been faster.
      entry = followed.get(name) ?? { topic, position, streams: new Set() };
      followed.set(name, entry);
    }
    const { streams } = entry;
    const stream = open(entry.position, () => {
      streams.delete(stream);
      if (streams.size === 0) followed.delete(name);
    });
    streams.add(stream);
    if (this.stopped) await stream.return();
    return stream;
  }

  /** The next page, without rows whose transactions may be only partly visible. */
  protected async nextPage(topic: Topic, after: Position): Promise<readonly Row[]> {
    const read = () => this.source.listAfter(topic, after, this.options.pageSize);
    return rereadAfterCommit(await read(), read, (row) => this.source.rowName(row));
  }

  private async tail(entry: Followed<Topic, Row, Position>): Promise<void> {
    const { pageSize, maxPagesPerRound } = this.options;
    for (let page = 0; page < maxPagesPerRound && entry.streams.size > 0 && !this.stopped; page++) {
      const rows = await this.nextPage(entry.topic, entry.position);
      for (const row of rows) {
        entry.position = this.source.positionOf(row);
        for (const stream of entry.streams) stream.push(row);
      }
      if (rows.length < pageSize) return;
    }
  }
}
