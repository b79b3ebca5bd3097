import type { Clock } from '../lib/clock.js';
import { type SpendId, sliceOf } from '../orgs/scope.js';
import { type AppRecord, inForce } from '../orgs/settings.js';
import { type Counters, sumCounters, usageOf } from './counters.js';
import { type DayView, type Figures, labelSpend } from './day-spend.js';
import type { LabelStore } from './label.store.js';
import type { DirtyDayStore } from './ledger/dirty-day.store.js';
import { worstMode } from './money.js';
import { firstOpenDay, firstShardDay } from './open-days.js';
import type { ShardStore } from './shard.store.js';
import type { SliceStore } from './slice.store.js';
import type { SpendReader } from './spend-reader.js';
import { appSubject, configuredLabels, labelsOf } from './subject.js';
import type { TotalService } from './total.service.js';

const advice = '`consistency: EXACT` reads every shard of every label; use AGGREGATED, or request fewer apps';

export interface ExactDeps {
  readonly shards: ShardStore;
  readonly totals: TotalService;
  readonly labels: LabelStore;
  readonly slices: SliceStore;
  readonly dirtyDays: DirtyDayStore;
  readonly apps: { listAllApps(orgId: string): Promise<AppRecord[]> };
  readonly clock: Clock;
  readonly shardDays: number;
}

/** Exact figures: summed from the shards, or read from the totals if the day is closed. */
export class ExactService {
  constructor(private readonly deps: ExactDeps) {}

  /** Charges its reads to the operation before it reads: labels × shards, on a roll-up × apps. */
  async figures(view: DayView, reader: SpendReader): Promise<ReadonlyMap<string, Figures | undefined>> {
    const { subject, day } = view;
    const { orgId, shardCount } = subject.org;
    const configured = configuredLabels(subject);
    reader.charge(configured.length * shardCount, advice);
    const stored = await this.deps.labels.load(orgId, { consistent: true });
    const labels = labelsOf(subject, stored);
    // By now all other fields of the operation have charged too. If the operation exceeds its bound, no shard is read.
    reader.charge((labels.length - configured.length) * shardCount, advice);
    if (await this.isClosed(orgId, day)) return this.closed(view, labels);
    return subject.isRollup ? this.rolledUp(view, labels, reader) : this.summed(view, labels);
  }

  /**
   * True if the totals of a day are final: it gets no more costs and was summed since, also after its last correction;
   * or its shards have expired.
   */
  private async isClosed(orgId: string, day: string): Promise<boolean> {
    const nowMs = this.deps.clock.nowMs();
    if (day >= firstOpenDay(nowMs)) return false;
    if (day < firstShardDay(nowMs, this.deps.shardDays)) return true;
    const [summedThrough, isDirty] = await Promise.all([
      this.deps.slices.summedThrough(sliceOf(orgId)),
      this.deps.dirtyDays.isDirty(orgId, day),
    ]);
    return day < (summedThrough ?? '') && !isDirty;
  }

  private async closed(
    { subject, day }: DayView,
    labels: readonly string[],
  ): Promise<ReadonlyMap<string, Figures | undefined>> {
    const totals = await this.deps.totals.loadMany(idsOf(subject.scope, labels, day), { consistent: true });
    return new Map(labels.map((label, i) => [label, totals[i]]));
  }

  private async summed(
    { subject: { scope, org }, day, isOver }: DayView,
    labels: readonly string[],
  ): Promise<ReadonlyMap<string, Figures>> {
    const asOf = new Date(this.deps.clock.nowMs());
    const ids = idsOf(scope, labels, day);
    const [counters, totals] = await Promise.all([
      this.deps.shards.sumShards(ids, org.shardCount),
      isOver ? this.deps.totals.loadMany(ids) : [],
    ]);
    return new Map(
      labels.map((label, i) => [label, { ...usageOf(counters[i] as Counters), ...rulesIn(totals[i]), asOf }]),
    );
  }

  private async rolledUp(
    view: DayView,
    labels: readonly string[],
    reader: SpendReader,
  ): Promise<ReadonlyMap<string, Figures>> {
    const { subject, day, isOver } = view;
    const { org, scope } = subject;
    const asOf = new Date(this.deps.clock.nowMs());
    const apps = (await this.deps.apps.listAllApps(org.orgId)).map((app) => appSubject(inForce(org, app)));
    reader.charge(labels.length * org.shardCount * Math.max(0, apps.length - 1), advice);
    const sums: Counters[][] = [];
    // One app after the other, because an org may have many apps and other requests need DynamoDB capacity too.
    for (const app of apps) sums.push(await this.deps.shards.sumShards(idsOf(app.scope, labels, day), org.shardCount));
    const stored = isOver ? await this.deps.totals.loadMany(idsOf(scope, labels, day)) : [];
    return new Map(
      labels.map((label, l) => {
        const counters = sums.map((ofApp) => ofApp[l] as Counters);
        const modes = apps.map(
          (app, a) => labelSpend({ ...view, subject: app }, label, usageOf(counters[a] as Counters)).mode,
        );
        // The mode of a day that is over was decided by its own rules, which are stored with the totals.
        const mode = isOver ? (stored[l]?.mode ?? 'NORMAL') : worstMode(modes);
        return [label, { ...usageOf(sumCounters(counters)), mode, asOf }];
      }),
    );
  }
}

const idsOf = (scope: Pick<SpendId, 'orgId' | 'appId'>, labels: readonly string[], day: string): SpendId[] =>
  labels.map((label) => ({ ...scope, label, day }));

const rulesIn = (total: Figures | undefined): Pick<Figures, 'rules'> => (total?.rules ? { rules: total.rules } : {});
