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
 * Daily totals as callers see them. A total is written only when it changes, so its own time says when that was; the last
 * complete round of its slice says up to when it is known to be right.
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
    return totals.map((total, i) => total && this.freshened(total, markOf(sliceOf((ids[i] as SpendId).orgId))));
  }

  /** A label's totals from day to day, both included; days without any are left out. */
  async list(scope: Scope, label: string, from: string, to: string): Promise<ReadonlyMap<string, Total>> {
    const [markOf, found] = await Promise.all([this.loadRounds(), this.deps.totals.listTotals(scope, label, from, to)]);
    const markMs = markOf(sliceOf(scope.orgId));
    return new Map(found.map(({ day, total }) => [day, this.freshened(total, markMs)]));
  }

  private freshened(total: Total, markMs = 0): Total {
    // A worker whose clock is ahead must not make a figure look newer than now.
    return { ...total, asOf: new Date(Math.min(this.deps.clock.nowMs(), Math.max(total.asOf.getTime(), markMs))) };
  }

  /** One small read per second at most, for all scopes together. */
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
