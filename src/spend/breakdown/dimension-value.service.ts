import { type Clock, epochSeconds } from '../../lib/clock.js';
import { Lru } from '../../lib/lru.js';
import { type Dimension, otherValue } from './dimension.js';
import type { DimensionDay, DimensionValueStore } from './dimension-value.store.js';

/** About this many values are counted per dimension and day. Further ones count as `other`. */
export const maxValuesPerDay = 10_000;
const maxCachedValues = 100_000;
const maxCachedCounts = 10_000;
const countCachedMs = 5000;

interface CachedCount {
  readonly untilMs: number;
  readonly count: Promise<number>;
}

/** Bounds how many different values of a dimension are counted per day. */
export class DimensionValueService {
  // Values that are stored, and so always count as themselves.
  private readonly stored = new Lru<string, true>(maxCachedValues);
  private readonly counts = new Lru<string, CachedCount>(maxCachedCounts);

  constructor(
    private readonly store: DimensionValueStore,
    private readonly clock: Clock,
    private readonly retentionDays: number,
    private readonly maxValues = maxValuesPerDay,
  ) {}

  /** The dimensions with the values to count: each as it is, or `other`. */
  countedAs(orgId: string, day: string, dimensions: readonly Dimension[]): Promise<Dimension[]> {
    return Promise.all(
      dimensions.map(async ({ name, value }) => ({ name, value: await this.valueOf({ orgId, name, day }, value) })),
    );
  }

  private async valueOf(id: DimensionDay, value: string): Promise<string> {
    const name = `${id.orgId} ${id.name} ${id.day} ${value}`;
    if (value === otherValue || this.stored.has(name)) return value;
    if ((await this.count(id)) >= this.maxValues) {
      if (!(await this.store.has(id, value))) return otherValue;
    } else await this.add(id, value);
    this.stored.set(name, true);
    return value;
  }

  private add(id: DimensionDay, value: string): Promise<void> {
    return this.store.add(id, value, epochSeconds(this.clock.nowMs()) + this.retentionDays * 86_400);
  }

  private count(id: DimensionDay): Promise<number> {
    const name = `${id.orgId} ${id.name} ${id.day}`;
    const nowMs = this.clock.monotonicMs();
    const cached = this.counts.get(name);
    if (cached && cached.untilMs > nowMs) return cached.count;
    const count = this.store.count(id);
    this.counts.set(name, { untilMs: nowMs + countCachedMs, count });
    count.catch(() => this.counts.delete(name));
    return count;
  }
}
