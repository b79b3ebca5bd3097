import { ulidMs } from '../lib/id.js';
import { PushStream } from '../lib/push-stream.js';
import type { ReadingsRef } from './device.js';
import { advanced, type FeedPosition, hasSeen, passedOver } from './feed-position.js';
import type { Reading } from './reading.js';
import type { Arrival, FeedRow } from './segment.js';

/** Segments that wait for the reader of a stream. */
const maxWaiting = 1024;

/** A reading as a subscriber gets it, with the place in the feed to resume after. */
export interface LiveReading extends Reading {
  readonly position: FeedPosition;
}

export interface ReadingFilter {
  readonly orgId: string;
  /** Absent: all devices of the org. */
  readonly device?: ReadingsRef;
}

/** Reads the next missed arrivals; undefined: there are no more. */
export type FeedReplay = (wants: (row: FeedRow) => boolean) => Promise<readonly Arrival[] | undefined>;

export interface ReadingStreamOptions {
  readonly filter: ReadingFilter;
  readonly from: FeedPosition;
  /** Absent for a subscriber that only wants live readings. */
  readonly replay?: FeedReplay;
  /** An event before all readings. */
  readonly first?: LiveReading;
  readonly onEnd: () => void;
}

/**
 * The readings of one subscriber in the order of arrival: first the missed ones, then live ones, each row of the feed
 * once. A stream whose reader falls too far behind is ended; the reader subscribes again with its last cursor.
 */
export class ReadingStream implements AsyncIterableIterator<LiveReading> {
  private readonly live: PushStream<Arrival>;
  private readonly missed: Arrival[] = [];
  private readonly resumed: FeedPosition;
  /** The rows that were taken, until the feed no longer reads them again. */
  private readonly taken = new Set<string>();
  private readonly ready: LiveReading[] = [];
  private current: { readonly arrival: Arrival; next: number } | undefined;
  private position: FeedPosition;
  private replay: FeedReplay | undefined;

  constructor(private readonly options: ReadingStreamOptions) {
    this.live = new PushStream(maxWaiting, options.onEnd);
    this.resumed = options.from;
    this.position = options.from;
    this.replay = options.replay;
    if (options.first) this.ready.push(options.first);
  }

  /** True for a row that the subscriber asked for and that was not taken before. */
  wants({ rowId, device }: FeedRow): boolean {
    if (this.taken.has(rowId) || hasSeen(this.resumed, rowId)) return false;
    const { device: wanted } = this.options.filter;
    return !wanted || (device.hardwareId === wanted.hardwareId && device.generation === wanted.generation);
  }

  /** Leaves out a row that arrived before the subscription, also after the stream was resumed. */
  skip({ rowId }: FeedRow): void {
    this.taken.add(rowId);
    this.position = passedOver(this.position, rowId);
  }

  push(arrival: Arrival): void {
    if (this.take(arrival)) this.live.push(arrival);
  }

  /** Forgets rows from before this time, which the feed does not read again. */
  forget(beforeMs: number): void {
    for (const rowId of this.taken) if (ulidMs(rowId) < beforeMs) this.taken.delete(rowId);
  }

  async next(): Promise<IteratorResult<LiveReading>> {
    while (!this.live.isEnded) {
      const reading = this.ready.shift() ?? this.nextOfCurrent();
      if (reading) return { value: reading, done: false };
      const missed = this.missed.shift();
      if (missed) this.begin(missed);
      else if (this.replay) await this.readMissed(this.replay);
      else {
        const arrival = await this.live.next();
        if (arrival.done) return arrival;
        this.begin(arrival.value);
      }
    }
    return { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<LiveReading>> {
    await this.live.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private take(arrival: Arrival): boolean {
    if (!this.wants(arrival.row)) return false;
    this.taken.add(arrival.row.rowId);
    return arrival.readings.length > 0;
  }

  private begin(arrival: Arrival): void {
    const isResumed = arrival.row.rowId === this.resumed.rowId;
    this.current = { arrival, next: isResumed ? this.resumed.index + 1 : 0 };
  }

  private nextOfCurrent(): LiveReading | undefined {
    const { current } = this;
    const reading = current?.arrival.readings[current.next];
    if (!current || !reading) return undefined;
    this.position = advanced(this.position, current.arrival.row.rowId, current.next);
    current.next++;
    return { ...reading, position: this.position };
  }

  /** Ends the stream if the read fails. */
  private async readMissed(replay: FeedReplay): Promise<void> {
    try {
      const missed = await replay((row) => this.wants(row));
      if (missed) this.missed.push(...missed.filter((arrival) => this.take(arrival)));
      else this.replay = undefined;
    } catch (error) {
      await this.return();
      throw error;
    }
  }
}
