import type { Clock } from '../lib/clock.js';
import { type Scope, type SpendId, sliceOf } from '../orgs/scope.js';
import type { SliceStore } from './slice.store.js';
import type { Total, TotalStore } from './total.store.js';

const cachedMs = 1000;

export interface TotalDeps {
  readonly totals: TotalStore;
  readonly slices: SliceStore;
  readonly clock: Clock;
}

/**
 * Daily totals as callers see them. A total is written only when it changes, so its stored time is that of the last
 * change. It is known to be right up to the last complete round of its slice, so `asOf` is the later of the two.
 */
export class TotalService {
  private rounds:
    | { readonly untilMs: number; readonly markOf: Promise<(slice: number) => number | undefined> }
    | undefined;

  constructor(private readonly deps: TotalDeps) {}

  async loadMany(
    ids: readonly SpendId[],
    options: { readonly consistent?: boolean } = {},
  ): Promise<(Total | undefined)[]> {
    const [markOf, totals] = await Promise.all([this.loadRounds(), this.deps.totals.loadTotals(ids, options)]);
    return totals.map((total, i) => total && this.withRound(total, markOf(sliceOf((ids[i] as SpendId).orgId))));
  }

  /** The totals of a label from one day to another, inclusive. Days without a total are left out. */
  async list(scope: Scope, label: string, from: string, to: string): Promise<ReadonlyMap<string, Total>> {
    const [markOf, found] = await Promise.all([
      this.loadRounds(),
      this.deps.totals.listTotals(scope, label, { from, to }),
    ]);
    const markMs = markOf(sliceOf(scope.orgId));
    return new Map(found.map(({ day, total }) => [day, this.withRound(total, markMs)]));
  }

  private withRound(total: Total, markMs = 0): Total {
    // A worker whose clock is ahead must not make a figure look newer than now.
    return { ...total, asOf: new Date(Math.min(this.deps.clock.nowMs(), Math.max(total.asOf.getTime(), markMs))) };
  }

  /** At most one small read per second for all scopes together. */
  private loadRounds(): Promise<(slice: number) => number | undefined> {
    const nowMs = this.deps.clock.monotonicMs();
    if (this.rounds && this.rounds.untilMs > nowMs) return this.rounds.markOf;
    const markOf = this.deps.slices.loadRounds();
    this.rounds = { untilMs: nowMs + cachedMs, markOf };
    markOf.catch(() => {
      this.rounds = undefined;
    });
    return markOf;
  }
}
