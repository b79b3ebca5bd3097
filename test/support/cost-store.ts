import { systemClock } from '../../src/lib/clock.js';
import { Locks } from '../../src/lib/locks.js';
import type { CostStoreOptions } from '../../src/spend/cost.store.js';
import { HeldMemory } from '../../src/spend/held/held-memory.js';

const none = (): never => {
  throw new Error('a cost without a HARD quota has no overrun');
};

/** The options of a cost store for costs without HARD quotas. */
export const plainCosts = (
  options: Pick<CostStoreOptions, 'retention' | 'homeShard' | 'maxWaiting'>,
): CostStoreOptions => ({
  ...options,
  locks: new Locks(),
  memory: new HeldMemory(systemClock),
  overruns: { list: none, audit: none, count: none },
});
