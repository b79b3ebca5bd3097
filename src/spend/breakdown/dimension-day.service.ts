import type { Clock } from '../../lib/clock.js';
import type { Org } from '../../orgs/settings.js';
import { sum } from '../money.js';
import { topShares } from './breakdown.js';
import type { DimensionStore } from './dimension.store.js';

/** The values of a closed day that are stored. */
export const maxStoredValues = 100;

/** Stores the largest values of each dimension when a day is closed. */
export class DimensionDayService {
  constructor(
    private readonly store: DimensionStore,
    private readonly clock: Clock,
  ) {}

  /** Idempotent: a later sum of the same day replaces an earlier one. */
  async closeDay({ orgId, dimensions, shardCount }: Org, day: string): Promise<void> {
    for (const name of dimensions) {
      const asOfMs = this.clock.nowMs();
      const shares = await this.store.sumDay({ orgId, name, day }, shardCount);
      if (shares.length === 0) continue;
      await this.store.saveTotal(
        { orgId, name, day },
        { top: topShares(shares, maxStoredValues), all: sum(shares) },
        asOfMs,
      );
    }
  }
}
