import type { Clock } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { type SpendId, sliceCount } from '../orgs/scope.js';
import type { Org } from '../orgs/settings.js';
import { daysBetween, firstCostDay, firstOpenDay, lastOpenDay } from './open-days.js';
import { nameOf, type OrgDayService } from './org-day.service.js';
import type { SliceStore } from './slice.store.js';
import type { ActiveScope, SpendStore } from './spend.store.js';

const atOnce = 8;
/** After that many in a row the store is in trouble, and the next round will find it better. */
const maxFailuresInARow = 2;
/** The index of active shards is eventually consistent: a shard made less than this ago may not be in it yet. */
const indexLagMs = 1000;

export interface SpendRollupDeps {
  readonly shards: SpendStore;
  readonly slices: SliceStore;
  readonly orgDays: OrgDayService;
  readonly orgs: { loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> };
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The name of this worker, and how long it keeps a slice from the others. */
  readonly worker: string;
  readonly claimMs: number;
  readonly shardDays: number;
}

export interface Round {
  readonly scopes: number;
  readonly failed: number;
}

/** Sums shards into daily totals and judges them. Any number of workers may do it at once: totals only grow. */
export class SpendRollup {
  private rounds = 0;
  private readonly near = new Map<string, SpendId>();
  private readonly startedMs: number;
  private markOf: (slice: number) => number | undefined = () => undefined;

  constructor(private readonly deps: SpendRollupDeps) {
    this.startedMs = deps.clock.nowMs();
  }

  /** One round over every open day and every slice that no other worker holds. */
  async sumAll(): Promise<Round> {
    const { clock, log, slices } = this.deps;
    const beganMs = clock.nowMs();
    const total = { scopes: 0, failed: 0 };
    const complete: number[] = [];
    // Begins elsewhere each time, so that a slice in trouble does not always keep the same ones waiting.
    const first = this.rounds++ % sliceCount;
    for (let i = 0, inARow = 0; i < sliceCount && inARow < maxFailuresInARow; i++) {
      const slice = (first + i) % sliceCount;
      try {
        const round = await this.sumSlice(slice, beganMs);
        total.scopes += round?.scopes ?? 0;
        total.failed += round?.failed ?? 0;
        if (round?.failed === 0) complete.push(slice);
        inARow = 0;
      } catch (error) {
        total.failed++;
        inARow++;
        log.warn({ err: error, slice }, 'failed to sum a slice');
      }
    }
    await slices
      .markRounds(complete, beganMs - indexLagMs)
      .catch((error: unknown) => log.warn({ err: error }, 'failed to mark a round'));
    await this.measureLag();
    this.forgetClosed(firstOpenDay(beganMs));
    return total;
  }

  /** The scopes that were near a quota when last looked at, between two rounds. */
  async sumNear(): Promise<Round> {
    const asOfMs = this.deps.clock.nowMs() - indexLagMs;
    const ids = [...this.near.values()];
    const shards = await Promise.all(ids.map((id) => this.deps.shards.listShards(id)));
    return this.sumScopes(
      ids.map((id, i) => ({ id, shards: shards[i] ?? [] })),
      asOfMs,
    );
  }

  /** Every open day of a slice, from the last one that was closed. Undefined: another worker has the slice. */
  private async sumSlice(slice: number, beganMs: number): Promise<Round | undefined> {
    const { shards, slices, worker, claimMs, shardDays } = this.deps;
    const claimed = await slices.claim({ slice, worker, nowMs: beganMs, claimMs });
    if (!claimed) return undefined;
    const openDay = firstOpenDay(beganMs);
    // Before the first round of all no day is closed.
    const closed = claimed.summedThrough ?? firstCostDay(await slices.birthMs(), beganMs, shardDays);
    const [first = openDay] = [closed, openDay].sort();
    const days = daysBetween(first, lastOpenDay(beganMs));
    const round = { scopes: 0, failed: 0 };
    for (const scopes of await Promise.all(days.map((day) => shards.listActive(day, slice)))) {
      const summed = await this.sumScopes(scopes, beganMs - indexLagMs);
      round.scopes += summed.scopes;
      round.failed += summed.failed;
    }
    if (round.failed === 0 && claimed.summedThrough !== openDay) await slices.closeDays(slice, openDay);
    return round;
  }

  private async sumScopes(scopes: readonly ActiveScope[], asOfMs: number): Promise<Round> {
    if (scopes.length === 0) return { scopes: 0, failed: 0 };
    const byOrgDay = groupBy(scopes, ({ id }) => `${id.orgId} ${id.day}`);
    const orgIds = [...new Set(scopes.map(({ id }) => id.orgId))];
    const orgs = new Map((await this.deps.orgs.loadOrgs(orgIds)).map((org) => [org?.orgId, org]));
    let failed = 0;
    await inTurns([...byOrgDay.values()], atOnce, async (group) => {
      const org = orgs.get(group[0]?.id.orgId);
      try {
        const near = org ? await this.deps.orgDays.sum(org, group, asOfMs) : [];
        for (const { id } of group) this.near.delete(nameOf(id));
        for (const id of near) this.near.set(nameOf(id), id);
      } catch (error) {
        // A scope that could not be read waits for the next round: a missing shard must never pass for an empty one.
        failed += group.length;
        this.deps.log.warn({ err: error, scopes: group.length }, 'failed to sum some scopes');
      }
    });
    return { scopes: scopes.length, failed };
  }

  /**
   * From the stored marks of all slices, so that every worker shows a slice that nobody sums, a standby too. A mark in the
   * future comes from a wrong clock and counts as far off as one in the past.
   */
  private async measureLag(): Promise<void> {
    const { slices, clock, metrics, log } = this.deps;
    try {
      this.markOf = await slices.loadRounds({ consistent: true });
    } catch (error) {
      log.warn({ err: error }, 'failed to read the marks of the slices');
    }
    const nowMs = clock.nowMs();
    const distances = Array.from({ length: sliceCount }, (_, slice) =>
      Math.abs(nowMs - (this.markOf(slice) ?? this.startedMs)),
    );
    metrics.aggregatorLag.set(Math.max(...distances) / 1000);
  }

  private forgetClosed(openDay: string): void {
    this.deps.orgDays.forgetClosed(openDay);
    for (const [name, { day }] of this.near) if (day < openDay) this.near.delete(name);
  }
}

function groupBy<T>(all: readonly T[], name: (entry: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of all) {
    const group = groups.get(name(entry));
    if (group) group.push(entry);
    else groups.set(name(entry), [entry]);
  }
  return groups;
}

/** Runs a task for each, a few at once. */
async function inTurns<T>(all: readonly T[], atOnceCount: number, task: (entry: T) => Promise<void>): Promise<void> {
  const rest = [...all];
  await Promise.all(
    Array.from({ length: atOnceCount }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await task(next);
    }),
  );
}
