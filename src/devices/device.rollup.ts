import type { Clock } from '../lib/clock.js';
import type { Deletion, DeletionStore } from './deletion.store.js';
import { maxClockSkewMs, type ReadingsRef } from './device.js';
import type { ReadingStore } from './reading.store.js';

const maxDeletionsPerRound = 1000;
const maxReadingsPerRound = 20_000;
const pageSize = 500;
/** A reading may be on its way for as long as this after its device was deleted. */
const settleMs = 60_000;

/** Deletes the readings of deleted devices. */
export class DeviceRollup {
  constructor(
    private readonly deletions: DeletionStore,
    private readonly readings: ReadingStore,
    private readonly clock: Clock,
  ) {}

  /** One bounded round; returns how many readings it deleted. Idempotent, so several workers may run it and any may die. */
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
    for (const life of deletion.lives) {
      purged += await this.purgeLife(life, maxReadings - purged);
      if (purged >= maxReadings) return purged;
      if (this.isSettled(life.deletedAt)) await this.deletions.strike(life);
    }
    if (this.isSettled(deletion.deletedAt)) await this.deletions.forget(deletion);
    return purged;
  }

  private async purgeLife(life: ReadingsRef, maxReadings: number): Promise<number> {
    let purged = 0;
    for (let deleted = pageSize; deleted > 0 && purged < maxReadings; purged += deleted)
      deleted = await this.readings.purge(life, Math.min(pageSize, maxReadings - purged));
    return purged;
  }

  private isSettled(deletedAt: Date): boolean {
    const ageMs = this.clock.nowMs() - deletedAt.getTime();
    // A time further ahead than clocks differ is wrong. Without this its turn would never come.
    return ageMs >= settleMs || ageMs < -maxClockSkewMs;
  }
}
