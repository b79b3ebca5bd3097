import type { AlertDraft } from '../alerts/alert.js';
import type { AlertService } from '../alerts/alert.service.js';
import type { Clock } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { type AppRecord, inForce, type Org } from '../orgs/settings.js';
import { localDate, nextDate } from './calendar.js';
import { sum, type Usage, worstMode } from './money.js';
import type { Catalog } from './price.js';
import { alertFor } from './quota-alert.js';
import { appSubject, type LabelSpend, labelSpend, orgSubject, type Subject } from './report.js';
import { type SpendId, scopeKey, sliceCount } from './scope.js';
import type { SpendStore } from './spend.store.js';

/** Costs may be dated back by 24 hours; two more for what was on its way. */
const openMs = 26 * 3_600_000;
const aheadMs = 5 * 60_000;
const firstZone = 'Etc/GMT-14';
const lastZone = 'Etc/GMT+12';
/** A scope this near to its threshold, in points of a per cent, is summed more often. */
const nearPoints = 10;
const atOnce = 8;
/** Then it is the store that is in trouble, and the next round will find it better. */
const mostFailuresInARow = 2;

export interface SpendRollupParts {
  readonly store: SpendStore;
  readonly settings: {
    loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]>;
    listAllApps(orgId: string): Promise<AppRecord[]>;
  };
  readonly alerts: AlertService;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Who this worker is to the others, and how long it keeps a slice from them. */
  readonly worker: string;
  readonly leaseMs: number;
  readonly shardDays: number;
}

export interface Round {
  readonly scopes: number;
  readonly failed: number;
}

/** Sums shards into daily totals and judges them. Any number of workers may do it at once: totals only grow. */
export class SpendRollup {
  private rounds = 0;
  /** When each slice this worker holds was last summed in full. */
  private readonly summedAt = new Map<number, number>();
  private readonly near = new Map<string, SpendId>();
  // What has not changed since it was saved is not saved again: an idle scope costs reads only.
  private readonly saved = new Map<string, string>();

  constructor(private readonly parts: SpendRollupParts) {}

  /** One round over every open day and every slice that no other worker holds. */
  async sumAll(): Promise<Round> {
    const { clock, metrics } = this.parts;
    const beganMs = clock.nowMs();
    const closedBefore = localDate(lastZone, beganMs - openMs);
    const round = { scopes: 0, failed: 0 };
    // Begins elsewhere each time, so that a slice in trouble does not always keep the same ones waiting.
    const first = this.rounds++ % sliceCount;
    for (let i = 0, inARow = 0; i < sliceCount && inARow < mostFailuresInARow; i++) {
      const slice = (first + i) % sliceCount;
      try {
        const summed = await this.sumSlice(slice, beganMs, closedBefore);
        round.scopes += summed.scopes;
        round.failed += summed.failed;
        inARow = 0;
      } catch (error) {
        round.failed++;
        inARow++;
        this.parts.log.warn({ err: error, slice }, 'a slice could not be summed');
      }
    }
    metrics.aggregatorLag.set((clock.nowMs() - Math.min(clock.nowMs(), ...this.summedAt.values())) / 1000);
    this.forgetClosed(closedBefore);
    return round;
  }

  /** Every open day of a slice, from the last one that was closed, unless another worker has the slice. */
  private async sumSlice(slice: number, beganMs: number, closedBefore: string): Promise<Round> {
    const { store, worker, leaseMs } = this.parts;
    const round = { scopes: 0, failed: 0 };
    const taken = await store.takeSlice(slice, worker, beganMs, beganMs + leaseMs);
    if (!taken) {
      this.summedAt.delete(slice);
      return round;
    }
    if (!this.summedAt.has(slice)) this.summedAt.set(slice, beganMs);
    const closed = taken.summedThrough ?? (await this.oldestDay(beganMs));
    const [from = closedBefore] = [closed, closedBefore].sort();
    const days = daysBetween(from, localDate(firstZone, beganMs + aheadMs));
    for (const ids of await Promise.all(days.map((day) => store.listActive(day, slice)))) {
      const summed = await this.sumScopes(ids);
      round.scopes += summed.scopes;
      round.failed += summed.failed;
    }
    if (round.failed === 0) this.summedAt.set(slice, beganMs);
    if (round.failed === 0 && taken.summedThrough !== closedBefore) await store.closeDays(slice, closedBefore);
    return round;
  }

  /** Before the first round of all nothing is closed: costs may be as old as the store, but no older than shards are kept. */
  private async oldestDay(nowMs: number): Promise<string> {
    const { store, shardDays } = this.parts;
    return localDate(lastZone, Math.max(await store.birthMs(), nowMs - shardDays * 86_400_000));
  }

  /** The scopes that were near a quota when last looked at, between two rounds. */
  async sumNear(): Promise<Round> {
    return this.sumScopes([...this.near.values()]);
  }

  private async sumScopes(ids: readonly SpendId[]): Promise<Round> {
    if (ids.length === 0) return { scopes: 0, failed: 0 };
    const byOrg = groupBy(ids, ({ orgId, day }) => `${orgId} ${day}`);
    const orgIds = [...new Set(ids.map(({ orgId }) => orgId))];
    const orgs = new Map((await this.parts.settings.loadOrgs(orgIds)).map((org) => [org?.orgId, org]));
    let failed = 0;
    await inTurns([...byOrg.values()], atOnce, async (group) => {
      const org = orgs.get(group[0]?.orgId);
      if (!org) return;
      try {
        await this.sumOrg(org, group);
      } catch (error) {
        // What could not be read waits for the next round: a missing shard must never pass for an empty one.
        failed += group.length;
        this.parts.log.warn({ err: error, scopes: group.length }, 'some scopes could not be summed');
      }
    });
    return { scopes: ids.length, failed };
  }

  /** One org's scopes of one day, then its roll-up. */
  private async sumOrg(org: Org, ids: readonly SpendId[]): Promise<void> {
    const { store, clock, metrics } = this.parts;
    const asOfMs = clock.nowMs();
    const apps = org.quotaScope === 'APP' ? await this.parts.settings.listAllApps(org.orgId) : [];
    const subjects = new Map<string | undefined, Subject>([
      [undefined, orgSubject(org)],
      ...apps.map((app) => [app.appId, appSubject(inForce(org, app))] as const),
    ]);
    const usages = await store.sumShards(ids, org.shardCount);
    const drafts: (AlertDraft | undefined)[] = [];
    for (const [i, id] of ids.entries()) {
      const usage = usages[i] as Usage;
      const subject = subjects.get(id.appId);
      await this.save(id, usage, asOfMs);
      if (!subject) continue;
      const spend = labelSpend(subject, this.parts.catalog, id.label, usage);
      if (spend.quotaPct !== undefined) metrics.quotaProximity.observe(spend.quotaPct);
      this.noteNear(id, subject, spend);
      drafts.push(alertFor(subject, spend, id.day));
    }
    if (org.quotaScope === 'APP') await this.rollUp(org, apps, subjects, ids, usages, asOfMs);
    // After the totals, which do not wait for them.
    await this.parts.alerts.raiseAll(drafts);
  }

  /** The org's own totals: over all its apps, those that were not summed now with what is stored of them. */
  private async rollUp(
    org: Org,
    apps: readonly AppRecord[],
    subjects: ReadonlyMap<string | undefined, Subject>,
    ids: readonly SpendId[],
    usages: readonly Usage[],
    asOfMs: number,
  ): Promise<void> {
    const { store, catalog } = this.parts;
    const day = ids[0]?.day as string;
    const fresh = new Map(ids.map((id, i) => [nameOf(id), usages[i] as Usage]));
    for (const label of new Set(ids.map((id) => id.label))) {
      const all = apps.map(({ appId }): SpendId => ({ orgId: org.orgId, appId, label, day }));
      const stored = await store.loadTotals(all.filter((id) => !fresh.has(nameOf(id))));
      let next = 0;
      const figures = all.map((id) => fresh.get(nameOf(id)) ?? stored[next++]);
      const modes = figures.map((usage, i) => labelSpend(subjects.get(all[i]?.appId) as Subject, catalog, label, usage).mode);
      await this.save({ orgId: org.orgId, label, day }, sum(figures.filter((usage) => usage !== undefined)), asOfMs, worstMode(modes));
    }
  }

  private async save(id: SpendId, usage: Usage, asOfMs: number, mode?: LabelSpend['mode']): Promise<void> {
    const state = `${usage.requests} ${mode ?? ''}`;
    if (usage.requests === 0 || this.saved.get(nameOf(id)) === state) return;
    await this.parts.store.saveTotal(id, usage, asOfMs, mode);
    this.saved.set(nameOf(id), state);
  }

  private noteNear(id: SpendId, { settings }: Subject, { quotaPct }: LabelSpend): void {
    const isNear = quotaPct !== undefined && quotaPct >= settings.tightModeThresholdPct - nearPoints;
    if (isNear) this.near.set(nameOf(id), id);
    else this.near.delete(nameOf(id));
  }

  private forgetClosed(firstOpenDay: string): void {
    for (const name of this.saved.keys()) if (dayIn(name) < firstOpenDay) this.saved.delete(name);
    for (const [name, { day }] of this.near) if (day < firstOpenDay) this.near.delete(name);
  }
}

const nameOf = (id: SpendId): string => `${id.day} ${scopeKey(id)} ${id.label}`;
const dayIn = (name: string): string => name.slice(0, 10);

function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = nextDate(day)) days.push(day);
  return days;
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
