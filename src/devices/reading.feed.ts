import { PollingFeed } from '../dynamo/polling-feed.js';
import type { Log } from '../lib/log.js';
import { PushStream } from '../lib/push-stream.js';
import type { ReadingsRef } from './device.js';
import type { Reading } from './reading.js';
import type { ReadingPosition, ReadingStore } from './reading.store.js';

const pageSize = 500;
const maxPagesPerRound = 4;
const maxWaiting = 1024;

/** Follows the readings of the devices that somebody subscribes to. */
export class ReadingFeed extends PollingFeed<ReadingsRef, Reading, ReadingPosition | undefined> {
  constructor(store: ReadingStore, log: Log) {
    super(
      {
        topicName: ({ orgId, hardwareId, generation }) => `${orgId} ${hardwareId} ${generation}`,
        rowName: ({ timestampMs, batchId }) => `${timestampMs} ${batchId}`,
        positionOf: (reading) => reading,
        head: (device) => store.latest(device),
        listAfter: (device, after, limit) => store.listAfter(device, after, limit),
      },
      { pageSize, maxPagesPerRound, log, failure: 'failed to read new readings of a device' },
    );
  }

  /** Every reading stored from now on that was measured later than the last one before it. */
  subscribe(device: ReadingsRef): Promise<AsyncIterableIterator<Reading>> {
    // A stream whose reader falls too far behind is ended. The reader finds what it missed in `Device.readings`.
    return this.follow(device, (_position, onEnd) => new PushStream<Reading>(maxWaiting, onEnd));
  }
}
