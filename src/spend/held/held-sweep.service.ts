import type { Log } from '../../lib/log.js';
import type { Metrics } from '../../lib/metrics.js';
import { reservedIn } from './held.js';
import type { HeldItem, HeldStore } from './held.store.js';

export interface HeldSweepDeps {
  readonly held: HeldStore;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Returns the reservations of calls that were never settled. The items of quotas come from the sums of their days, so
 * that they cost no read; those of budgets are listed. Any number of workers may sweep at the same time.
 */
export class HeldSweepService {
  private noted: HeldItem[] = [];
  private reserved = 0;

  constructor(private readonly deps: HeldSweepDeps) {}

  /** Begins to add up what is reserved. */
  beginRound(): void {
    this.reserved = 0;
  }

  /** An item that a sum has read. */
  note(item: HeldItem): void {
    this.reserved += reservedIn(item.image);
    if (item.image.slots.size > 0) this.noted.push(item);
  }

  /** Sweeps the items that were noted, and those of the budgets of a slice. The next round repeats what fails. */
  async sweepSlice(slice: number, fromDay: string): Promise<void> {
    const { held, log } = this.deps;
    try {
      for (const item of await held.listBudgets(slice, fromDay)) this.note(item);
    } catch (error) {
      log.warn({ err: error, slice }, 'failed to list what budgets hold');
    }
    await this.sweepNoted();
  }

  async sweepNoted(): Promise<void> {
    const { held, log } = this.deps;
    for (const item of this.noted.splice(0)) {
      try {
        await held.sweepItem(item);
      } catch (error) {
        log.warn({ err: error }, 'failed to return reservations; the next round retries');
      }
    }
  }

  /** Shows what the items of this round have reserved. */
  endRound(): void {
    this.deps.metrics.reserved.set(this.reserved);
  }
}
