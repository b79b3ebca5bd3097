import type { Clock } from '../lib/clock.js';
import { forEachLimited } from '../lib/concurrent.js';
import { groupBy } from '../lib/group-by.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { type SpendId, sliceCount } from '../orgs/scope.js';
import type { Org } from '../orgs/settings.js';
import type { DimensionDayService } from './breakdown/dimension-day.service.js';
import type { SummedOrg } from './budgets/budget-check.service.js';
import type { HeldSweepService } from './held/held-sweep.service.js';
import type { DirtyDay, DirtyDayStore } from './ledger/dirty-day.store.js';
import { daysBetween, firstCostDay, firstOpenDay, lastOpenDay } from './open-days.js';
import { nameOf, type OrgDayService } from './org-day.service.js';
import type { ActiveScope, ShardStore } from './shard.store.js';
import type { SliceStore } from './slice.store.js';

const maxConcurrentOrgDays = 8;
/** After this many consecutive failures DynamoDB is probably unavailable. The next round retries. */
const maxConsecutiveFailures = 2;
/** The index of active shards is eventually consistent. A shard created less than this ago may be missing from it. */
const indexLagMs = 1000;

export interface SpendRollupDeps {
  readonly shards: ShardStore;
  readonly slices: SliceStore;
  readonly dirtyDays: DirtyDayStore;
  readonly orgDays: OrgDayService;
  readonly sweeps: HeldSweepService;
  readonly dimensions: DimensionDayService;
  readonly orgs: { loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> };
  readonly budgets: { checkAll(summed: readonly SummedOrg[], asOfMs: number): Promise<void> };
  /** Loads changes of the catalog. Does not throw. */
  readonly catalog: { refresh(): Promise<void> };
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The name of this worker, and how long its claim on a slice lasts. */
  readonly worker: string;
  readonly claimMs: number;
  readonly shardDays: number;
}

/** The outcome of one round. */
export interface Round {
  readonly scopes: number;
  readonly failed: number;
}

/** The orgs of a round. One of which a day could not be summed is in both. */
interface RoundOrgs {
  readonly summed: Map<string, Org>;
  readonly failed: Set<string>;
}

/**
 * Sums shards into daily totals and raises alerts. Any number of workers may do so at the same time, because totals
 * only grow.
 */
export class SpendRollup {
  private rounds = 0;
  /** The scopes that were near their quota when they were last summed. */
  private readonly near = new Map<string, SpendId>();
  private readonly startedMs: number;
  private markOf: (slice: number) => number | undefined = () => undefined;

  constructor(private readonly deps: SpendRollupDeps) {
    this.startedMs = deps.clock.nowMs();
  }

  /** One round over every open day and every slice that no other worker has claimed. */
  async sumAll(): Promise<Round> {
    const { clock, log, slices, catalog } = this.deps;
    await catalog.refresh();
    this.deps.sweeps.beginRound();
    const beganMs = clock.nowMs();
    const total = { scopes: 0, failed: 0 };
    const complete: number[] = [];
    const orgs: Org[] = [];
    // Each round starts at another slice, so that a failing slice does not always delay the same ones.
    const first = this.rounds++ % sliceCount;
    for (let i = 0, failures = 0; i < sliceCount && failures < maxConsecutiveFailures; i++) {
      const slice = (first + i) % sliceCount;
      try {
        const found = newRoundOrgs();
        const round = await this.sumSlice(slice, beganMs, found);
        orgs.push(...completeOrgs(found));
        total.scopes += round?.scopes ?? 0;
        total.failed += round?.failed ?? 0;
        if (round?.failed === 0) complete.push(slice);
        failures = 0;
      } catch (error) {
        total.failed++;
        failures++;
        log.warn({ err: error, slice }, 'failed to sum a slice');
      }
    }
    await slices
      .markRounds(complete, beganMs - indexLagMs)
      .catch((error: unknown) => log.warn({ err: error }, 'failed to mark a round'));
    this.deps.sweeps.endRound();
    await this.measureLag();
    this.forgetClosed(firstOpenDay(beganMs));
    // After the totals of all slices, so that budgets do not delay them.
    await this.checkBudgets(orgs, beganMs - indexLagMs);
    return total;
  }

  /** Sums the scopes near their quota, between two rounds. */
  async sumNear(): Promise<Round> {
    const asOfMs = this.deps.clock.nowMs() - indexLagMs;
    const ids = [...this.near.values()];
    const shards = await Promise.all(ids.map((id) => this.deps.shards.listShards(id)));
    const orgs = newRoundOrgs();
    const round = await this.sumScopes(
      ids.map((id, i) => ({ id, shards: shards[i] ?? [] })),
      asOfMs,
      orgs,
    );
    await this.deps.sweeps.sweepNoted();
    // Only some scopes of each org were summed, so the sum of all is not known to be newer.
    await this.checkBudgets(completeOrgs(orgs), 0);
    return round;
  }

  /** Sums every day of a slice that is not closed. Returns undefined if another worker has the slice. */
  private async sumSlice(slice: number, beganMs: number, orgs: RoundOrgs): Promise<Round | undefined> {
    const { shards, slices, dirtyDays, worker, claimMs, shardDays } = this.deps;
    const claimed = await slices.claim({ slice, worker, nowMs: beganMs, claimMs });
    if (!claimed) return undefined;
    const openDay = firstOpenDay(beganMs);
    // Before the very first round no day is closed.
    const from = claimed.summedThrough ?? firstCostDay(await slices.tablesCreatedAtMs(), beganMs, shardDays);
    const [first = openDay] = [from, openDay].sort();
    const days = daysBetween(first, lastOpenDay(beganMs));
    // Before the shards, so that the sums below contain every change that these marks stand for.
    const marks = await dirtyDays.list(slice);
    const dirty = await this.listDirty(
      slice,
      marks.filter(({ day }) => day < first),
    );
    const round = { scopes: 0, failed: 0 };
    const closing: ActiveScope[] = dirty.flat();
    for (const scopes of [...(await Promise.all(days.map((day) => shards.listActive(day, slice)))), ...dirty]) {
      const summed = await this.sumScopes(scopes, beganMs - indexLagMs, orgs);
      round.scopes += summed.scopes;
      round.failed += summed.failed;
      if (claimed.summedThrough !== openDay) closing.push(...scopes.filter(({ id }) => id.day < openDay));
    }
    await this.deps.sweeps.sweepSlice(slice, openDay);
    if (round.failed > 0) return round;
    await this.closeDimensions(closing);
    for (const mark of marks) await dirtyDays.clear(mark);
    if (claimed.summedThrough !== openDay) await slices.closeDays(slice, openDay);
    return round;
  }

  /** The scopes of closed days that were corrected since, by day. */
  private listDirty(slice: number, marks: readonly DirtyDay[]): Promise<ActiveScope[][]> {
    return Promise.all(
      [...groupBy(marks, ({ day }) => day)].map(async ([day, ofDay]) => {
        const orgIds = new Set(ofDay.map(({ orgId }) => orgId));
        return (await this.deps.shards.listActive(day, slice)).filter(({ id }) => orgIds.has(id.orgId));
      }),
    );
  }

  /** Stores the largest dimension values of days that are closed or about to be. */
  private async closeDimensions(scopes: readonly ActiveScope[]): Promise<void> {
    const days = groupBy(scopes, ({ id }) => `${id.orgId} ${id.day}`);
    const orgs = await this.deps.orgs.loadOrgs([...new Set(scopes.map(({ id }) => id.orgId))]);
    for (const org of orgs)
      for (const [first] of days.values())
        if (org && first?.id.orgId === org.orgId) await this.deps.dimensions.closeDay(org, first.id.day);
  }

  private async sumScopes(scopes: readonly ActiveScope[], asOfMs: number, round: RoundOrgs): Promise<Round> {
    if (scopes.length === 0) return { scopes: 0, failed: 0 };
    const byOrgDay = groupBy(scopes, ({ id }) => `${id.orgId} ${id.day}`);
    const orgIds = [...new Set(scopes.map(({ id }) => id.orgId))];
    const orgs = new Map((await this.deps.orgs.loadOrgs(orgIds)).map((org) => [org?.orgId, org]));
    let failed = 0;
    await forEachLimited([...byOrgDay.values()], maxConcurrentOrgDays, async (group) => {
      const org = orgs.get(group[0]?.id.orgId);
      try {
        const near = org ? await this.deps.orgDays.sum(org, group, asOfMs) : [];
        for (const { id } of group) this.near.delete(nameOf(id));
        for (const id of near) this.near.set(nameOf(id), id);
        if (org) round.summed.set(org.orgId, org);
      } catch (error) {
        // The next round retries. A shard that could not be read must not count as empty.
        failed += group.length;
        if (org) round.failed.add(org.orgId);
        this.deps.log.warn({ err: error, scopes: group.length }, 'failed to sum some scopes');
      }
    });
    return { scopes: scopes.length, failed };
  }

  private checkBudgets(orgs: readonly Org[], asOfMs: number): Promise<void> {
    const summed = orgs.map((org) => ({ org, changedDays: this.deps.orgDays.takeChanged(org.orgId) }));
    return this.deps.budgets.checkAll(summed, asOfMs);
  }

  /**
   * Measures the lag from the stored marks of all slices, so that every worker, also a standby, reports a slice that
   * nobody sums. A mark in the future comes from a wrong clock and counts as much as one in the past.
   */
  private async measureLag(): Promise<void> {
    const { slices, clock, metrics, log } = this.deps;
    try {
      this.markOf = await slices.loadRounds({ consistent: true });
    } catch (error) {
      log.warn({ err: error }, 'failed to read the marks of the slices');
    }
    const nowMs = clock.nowMs();
    const lagsMs = Array.from({ length: sliceCount }, (_, slice) =>
      Math.abs(nowMs - (this.markOf(slice) ?? this.startedMs)),
    );
    metrics.aggregatorLag.set(Math.max(...lagsMs) / 1000);
  }

  private forgetClosed(openDay: string): void {
    this.deps.orgDays.forgetClosed(openDay);
    for (const [name, { day }] of this.near) if (day < openDay) this.near.delete(name);
  }
}

const newRoundOrgs = (): RoundOrgs => ({ summed: new Map(), failed: new Set() });

const completeOrgs = ({ summed, failed }: RoundOrgs): Org[] =>
  [...summed.values()].filter(({ orgId }) => !failed.has(orgId));
