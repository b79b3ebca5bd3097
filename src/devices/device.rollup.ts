import type { Clock } from '../lib/clock.js';
import type { Deletion, DeletionStore } from './deletion.store.js';
import { maxClockSkewMs, type ReadingsRef } from './device.js';
import type { ReadingStore } from './reading.store.js';

const maxDeletionsPerRound = 1000;
const maxReadingsPerRound = 20_000;
/** An ingest that began before the deletion may store a reading up to this long after it. */
const settleMs = 60_000;

/** The worker's part: deletes the segments of deleted devices and the markers of their readings. */
export class DeviceRollup {
  constructor(
    private readonly deletions: DeletionStore,
    private readonly readings: ReadingStore,
    private readonly clock: Clock,
  ) {}

  /**
   * One bounded round. Returns how many readings it deleted. Idempotent: several workers may run it, and any may crash.
   */
  async purge(): Promise<number> {
    let purged = 0;
    for (const deletion of await this.deletions.list(maxDeletionsPerRound)) {
      purged += await this.purgeDevice(deletion, maxReadingsPerRound - purged);
      if (purged >= maxReadingsPerRound) break;
    }
    return purged;
  }

  private async purgeDevice(deletion: Deletion, maxReadings: number): Promise<number> {
    let purged = 0;
    for (const generation of deletion.generations) {
      purged += await this.purgeGeneration(generation, maxReadings - purged);
      if (purged >= maxReadings) return purged;
      if (this.isSettled(generation.deletedAt)) await this.deletions.removeGeneration(generation);
    }
    if (this.isSettled(deletion.deletedAt)) await this.deletions.remove(deletion);
    return purged;
  }

  private async purgeGeneration(device: ReadingsRef, maxReadings: number): Promise<number> {
    let purged = 0;
    for (let isDone = false; !isDone && purged < maxReadings; ) {
      const page = await this.readings.purge(device);
      purged += page.readings;
      ({ isDone } = page);
    }
    return purged;
  }

  private isSettled(deletedAt: Date): boolean {
    const ageMs = this.clock.nowMs() - deletedAt.getTime();
    // A time further ahead than the maximum clock skew is wrong. Without this check the deletion would never end.
    return ageMs >= settleMs || ageMs < -maxClockSkewMs;
  }
}
