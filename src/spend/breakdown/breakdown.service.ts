import type { Clock } from '../../lib/clock.js';
import { badInput, refuseAny } from '../../lib/errors.js';
import { Lru } from '../../lib/lru.js';
import { slug } from '../../lib/patterns.js';
import { addDays, dayAt } from '../../orgs/calendar.js';
import type { AppRecord, Org } from '../../orgs/settings.js';
import { type DayRange, rangeIssues } from '../day-range.js';
import { noUsage, sum, type Usage } from '../money.js';
import { daysBetween } from '../open-days.js';
import type { SpendReader } from '../spend-reader.js';
import { labelsOf, orgSubject, type Subject } from '../subject.js';
import type { TotalService } from '../total.service.js';
import type { Total } from '../total.store.js';
import {
  addShares,
  type BreakdownKind,
  breakdownOf,
  type SpendBreakdown,
  type SpendShare,
  topShares,
} from './breakdown.js';
import type { DimensionStore, DimensionTotal } from './dimension.store.js';
import type { DimensionValueStore } from './dimension-value.store.js';
import { type SeriesStep, type SpendPoint, seriesDays, seriesPoints } from './spend-series.js';

const maxDays: Readonly<Record<SeriesStep | BreakdownKind, number>> = {
  HOUR: 31,
  DAY: 366,
  APP: 366,
  LABEL: 366,
  DIMENSION: 92,
};
const rangeAdvice = 'request fewer days';
const appsAdvice = '`by: APP` reads the totals of every app and label; request fewer days';
const valuesAdvice = '`by: DIMENSION` reads every value of the days that are not closed; request other days';
/** An hour has a point of its own, so a day of hours counts for more than a day. */
const hourlyUnits = 5;
const valuesPerUnit = 20;
/** Days that may not be closed: today, the days that still get costs, and one for a worker that is late. */
const maxOpenDays = 4;
const openDayCachedMs = 10_000;

export interface BreakdownDeps {
  readonly totals: TotalService;
  readonly dimensions: DimensionStore;
  readonly values: DimensionValueStore;
  readonly apps: { listAllApps(orgId: string): Promise<AppRecord[]> };
  readonly clock: Clock;
}

export interface BreakdownRequest extends DayRange {
  readonly by: BreakdownKind;
  /** The dimension, if `by` is DIMENSION. */
  readonly name?: string | null | undefined;
  readonly top: number;
}

/** Spend over time, and split up by app, label or dimension value. */
export class BreakdownService {
  // Dashboards of one org request the same open day again and again, and its values are the largest read of a report.
  private readonly openDays = new Lru<string, Promise<SpendShare[]>>(200, openDayCachedMs);

  constructor(private readonly deps: BreakdownDeps) {}

  /** The spend of each hour or day of a range, as last aggregated. */
  async series(
    subject: Subject,
    { step, label, ...range }: DayRange & { readonly step: SeriesStep; readonly label?: string | null | undefined },
    reader: SpendReader,
  ): Promise<SpendPoint[]> {
    const { org } = subject;
    if (typeof label === 'string' && !slug.test(label))
      throw badInput({ path: 'label', message: 'must be a model label, as in `models`' });
    const days = this.daysOf(org, range, maxDays[step]);
    reader.charge(days.length * (step === 'HOUR' ? hourlyUnits : 1), rangeAdvice);
    const labels = typeof label === 'string' ? [label] : await this.labelsOf(subject, reader);
    const totals = await this.totalsOf(subject, labels, range);
    return seriesPoints(seriesDays(days, totals), step, org.zones, this.deps.clock.nowMs());
  }

  /** The spend of an org in a range of days, split up. */
  async breakdown(org: Org, request: BreakdownRequest, reader: SpendReader): Promise<SpendBreakdown> {
    const { by, top } = request;
    const days = this.daysOf(org, request, maxDays[by]);
    const subject = orgSubject(org);
    reader.charge(days.length, rangeAdvice);
    const labels = await this.labelsOf(subject, reader);
    const totals = await this.totalsOf(subject, labels, request);
    const whole = sum(totals.map(usageIn));
    const shares = {
      LABEL: () => labels.map((name, i) => ({ name, ...usageIn(totals[i] ?? new Map()) })),
      APP: () => this.byApp(org, labels, request, reader),
      DIMENSION: () => this.byValue(org, days, request, reader),
    };
    return breakdownOf(by, whole, await shares[by](), top);
  }

  private async byApp(
    org: Org,
    labels: readonly string[],
    range: DayRange,
    reader: SpendReader,
  ): Promise<SpendShare[]> {
    if (org.quotaScope === 'ORG' && !org.attributeApps)
      throw badInput({
        path: 'by',
        message: 'APP needs figures per app: switch them on with updateOrg(attributeApps: true)',
      });
    const apps = await this.deps.apps.listAllApps(org.orgId);
    reader.charge(apps.length * labels.length, appsAdvice);
    const shares: SpendShare[] = [];
    // One app after the other, because an org may have many apps and other requests need DynamoDB capacity too.
    for (const { appId } of apps) {
      const scope = { orgId: org.orgId, appId };
      const totals = await Promise.all(
        labels.map((label) => this.deps.totals.list(scope, label, range.from, range.to)),
      );
      const usages = totals.map(usageIn);
      const byLabel = labels.map((name, i) => ({ name, ...(usages[i] ?? noUsage) }));
      shares.push({ name: appId, ...sum(usages), labels: topShares(byLabel, byLabel.length) });
    }
    return shares;
  }

  private async byValue(
    org: Org,
    days: readonly string[],
    { name, from, to }: BreakdownRequest,
    reader: SpendReader,
  ): Promise<SpendShare[]> {
    const { orgId, dimensions } = org;
    if (typeof name !== 'string' || !dimensions.includes(name))
      throw badInput({
        path: 'name',
        message: `must be a dimension of the org: ${dimensions.join(', ') || 'it has none'}`,
      });
    const closed: ReadonlyMap<string, DimensionTotal> = await this.deps.dimensions.listTotals(
      { orgId, name },
      from,
      to,
    );
    const shares: SpendShare[] = [...closed.values()].flatMap(({ top }) => top);
    const firstDay = addDays(dayAt(org.zones, this.deps.clock.nowMs()), -maxOpenDays);
    for (const day of days.filter((each) => each >= firstDay && !closed.has(each))) {
      const count = await this.deps.values.count({ orgId, name, day });
      reader.charge(1 + Math.ceil(count / valuesPerUnit), valuesAdvice);
      if (count > 0) shares.push(...(await this.openDay(org, name, day)));
    }
    return addShares(shares);
  }

  private openDay({ orgId, shardCount }: Org, name: string, day: string): Promise<SpendShare[]> {
    const cacheKey = `${orgId} ${name} ${day}`;
    const cached = this.openDays.get(cacheKey);
    if (cached) return cached;
    const summing = this.deps.dimensions.sumDay({ orgId, name, day }, shardCount);
    this.openDays.set(cacheKey, summing);
    summing.catch(() => this.openDays.delete(cacheKey));
    return summing;
  }

  private daysOf({ zones }: Org, range: DayRange, max: number): string[] {
    const today = dayAt(zones, this.deps.clock.nowMs());
    refuseAny(rangeIssues(range, max, today));
    return daysBetween(range.from, range.to);
  }

  private async labelsOf(subject: Subject, reader: SpendReader): Promise<string[]> {
    return labelsOf(subject, await reader.labels(subject.org.orgId));
  }

  private totalsOf(
    { scope }: Subject,
    labels: readonly string[],
    { from, to }: DayRange,
  ): Promise<ReadonlyMap<string, Total>[]> {
    return Promise.all(labels.map((label) => this.deps.totals.list(scope, label, from, to)));
  }
}

const usageIn = (totals: ReadonlyMap<string, Usage>): Usage => sum([...totals.values()]);
