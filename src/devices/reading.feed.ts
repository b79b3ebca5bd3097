import { rereadAfterCommit } from '../dynamo/reread.js';
import type { Log } from '../lib/log.js';
import { PushStream } from '../lib/push-stream.js';
import { type Repeating, repeat } from '../lib/timers.js';
import type { ReadingsRef } from './device.js';
import type { Reading } from './reading.js';
import type { ReadingPosition, ReadingStore } from './reading.store.js';

const pollMs = 1000;
const pageSize = 500;
/** Of one device in one round: a busy one must not keep the others waiting. */
const mostPages = 4;
const mostWaiting = 1024;

interface Lane {
  readonly device: ReadingsRef;
  last: ReadingPosition | undefined;
  readonly streams: Set<PushStream<Reading>>;
}

/** Follows the readings of the devices that somebody subscribes to: one reader a device, however many subscribers there are. */
export class ReadingFeed {
  private readonly lanes = new Map<string, Lane>();
  private loop: Repeating | undefined;
  private stopped = false;

  constructor(
    private readonly store: ReadingStore,
    private readonly log: Log,
  ) {}

  private readonly complain = (error: unknown): void => this.log.warn({ err: error }, 'readings could not be followed');

  start(): void {
    this.loop = repeat(
      pollMs,
      async () => {
        await Promise.all([...this.lanes.values()].map((lane) => this.tail(lane).catch(this.complain)));
      },
      this.complain,
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.loop?.stop();
    for (const { streams } of this.lanes.values()) for (const stream of streams) await stream.return();
  }

  /** Every reading stored from now on that was measured later than the last one before it. */
  async subscribe(device: ReadingsRef): Promise<AsyncIterableIterator<Reading>> {
    const name = `${device.orgId} ${device.hardwareId} ${device.generation}`;
    if (!this.lanes.has(name)) {
      const last = await this.store.latest(device);
      if (!this.lanes.has(name)) this.lanes.set(name, { device, last, streams: new Set() });
    }
    const { streams } = this.lanes.get(name) as Lane;
    // A reader that falls too far behind is ended: what it missed is in `readings`.
    const stream = new PushStream<Reading>(mostWaiting, () => {
      streams.delete(stream);
      if (streams.size === 0) this.lanes.delete(name);
    });
    streams.add(stream);
    if (this.stopped) await stream.return();
    return stream;
  }

  private async tail(lane: Lane): Promise<void> {
    for (let page = 0; page < mostPages && lane.streams.size > 0 && !this.stopped; page++) {
      const read = () => this.store.listAfter(lane.device, lane.last, pageSize);
      const readings = await rereadAfterCommit(await read(), read, nameOf);
      for (const reading of readings) {
        lane.last = reading;
        for (const stream of lane.streams) stream.push(reading);
      }
      if (readings.length < pageSize) return;
    }
  }
}

const nameOf = ({ timestampMs, batchId }: Reading): string => `${timestampMs} ${batchId}`;
