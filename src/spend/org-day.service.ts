import type { AlertDraft } from '../alerts/alert.js';
import type { AlertService } from '../alerts/alert.service.js';
import type { Clock } from '../lib/clock.js';
import type { Metrics } from '../lib/metrics.js';
import { dayAt, startOfDayMs } from '../orgs/calendar.js';
import { type SpendId, scopeKey } from '../orgs/scope.js';
import { type AppRecord, inForce, type Org } from '../orgs/settings.js';
import type { Catalog } from './catalog/catalog.js';
import { type Counters, noCounters, sumCounters, usageOf } from './counters.js';
import { type DayView, type Figures, type LabelSpend, labelSpend } from './day-spend.js';
import type { HeldSweepService } from './held/held-sweep.service.js';
import { worstMode } from './money.js';
import { alertFor } from './quota-alert.js';
import type { ActiveScope, ShardStore } from './shard.store.js';
import { appSubject, type DayRules, orgSubject, rulesNow, type Subject } from './subject.js';
import type { ModeBasis, TotalStore } from './total.store.js';

/** A scope within this many percentage points of its threshold is summed more often. */
const nearPoints = 10;

export interface OrgDayDeps {
  readonly shards: ShardStore;
  readonly totals: TotalStore;
  readonly apps: { listAllApps(orgId: string): Promise<AppRecord[]> };
  readonly alerts: AlertService;
  readonly sweeps: Pick<HeldSweepService, 'note'>;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** A day of an org that is being summed. */
interface OrgDay {
  readonly org: Org;
  readonly day: string;
  /** Every cost acknowledged before this time is included. */
  readonly asOfMs: number;
  readonly isOver: boolean;
  readonly subjects: ReadonlyMap<string | undefined, Subject>;
}

/** The counters of a scope, and the rules that its stored total has. */
interface SummedScope {
  readonly counters: Counters;
  readonly figures: Figures;
}

interface CheckedScope {
  readonly id: SpendId;
  readonly spend: LabelSpend;
  readonly alert: AlertDraft | undefined;
}

export const nameOf = (id: SpendId): string => `${id.day} ${scopeKey(id)} ${id.label}`;
const dayOf = (name: string): string => name.slice(0, 10);

/** Sums the shards of one day of an org into totals, and raises alerts for them. */
export class OrgDayService {
  // The totals that this process saved. A total that has not changed is not saved again, so an idle scope costs only
  // reads.
  private readonly savedTotals = new Map<string, { readonly state: string; readonly rules?: DayRules }>();
  // The shards found so far. The index is eventually consistent and may omit an entry that it returned before.
  private readonly foundShards = new Map<string, Set<number>>();

  // The days of each org whose totals have changed since `takeChanged`.
  private readonly changedDays = new Map<string, Set<string>>();

  constructor(private readonly deps: OrgDayDeps) {}

  /**
   * Sums scopes of one day, then the roll-up of the org, then raises alerts. Returns the scopes near their quota, which
   * are to be summed more often.
   */
  async sum(org: Org, scopes: readonly ActiveScope[], asOfMs: number): Promise<SpendId[]> {
    const day = scopes[0]?.id.day as string;
    const apps = org.quotaScope === 'APP' ? await this.deps.apps.listAllApps(org.orgId) : [];
    const subjects = new Map<string | undefined, Subject>([
      [undefined, orgSubject(org)],
      ...apps.map((app) => [app.appId, appSubject(inForce(org, app))] as const),
    ]);
    const orgDay: OrgDay = { org, day, asOfMs, isOver: day < dayAt(org.zones, this.deps.clock.nowMs()), subjects };
    const found = scopes.map((scope) => this.withFound(scope));
    const counters = await this.deps.shards.sumActive(found, (item) => this.deps.sweeps.note(item));
    const summed = new Map<string, SummedScope>();
    const checked: CheckedScope[] = [];
    for (const [i, { id }] of scopes.entries()) {
      const scope = await this.saveScope(orgDay, id, counters[i] as Counters);
      summed.set(nameOf(id), scope);
      const subject = subjects.get(id.appId);
      if (subject) checked.push(this.check(orgDay, id, subject, scope.figures));
    }
    if (org.quotaScope === 'APP') await this.rollUp(orgDay, scopes, summed);
    // After the totals, so that a slow alert does not delay them.
    const failed = new Set(await this.deps.alerts.raiseAll(checked.map(({ alert }) => alert)));
    return checked
      .filter(({ spend, alert }) => !orgDay.isOver && isNear(spend, alert !== undefined && !failed.has(alert)))
      .map(({ id }) => id);
  }

  /** The days of an org whose totals have changed since the last call. */
  takeChanged(orgId: string): string[] {
    const days = [...(this.changedDays.get(orgId) ?? [])];
    this.changedDays.delete(orgId);
    return days;
  }

  /** Removes closed days from the caches. */
  forgetClosed(firstOpenDay: string): void {
    for (const cache of [this.savedTotals, this.foundShards])
      for (const name of cache.keys()) if (dayOf(name) < firstOpenDay) cache.delete(name);
  }

  private withFound({ id, shards }: ActiveScope): ActiveScope {
    const found = this.foundShards.get(nameOf(id)) ?? new Set();
    for (const shard of shards) found.add(shard);
    this.foundShards.set(nameOf(id), found);
    return { id, shards: [...found] };
  }

  private async saveScope(orgDay: OrgDay, id: SpendId, counters: Counters): Promise<SummedScope> {
    const subject = orgDay.subjects.get(id.appId);
    // An app that is no longer registered has no quota, but its spend still counts.
    const rules = subject ? rulesNow(subject, id.label) : { thresholdPct: orgDay.org.tightModeThresholdPct };
    const stored = await this.save(orgDay, id, counters, { rules });
    return { counters, figures: { ...usageOf(counters), ...(stored ? { rules: stored } : {}) } };
  }

  private check({ day, isOver }: OrgDay, id: SpendId, subject: Subject, figures: Figures): CheckedScope {
    const spend = labelSpend({ subject, catalog: this.deps.catalog, day, isOver }, id.label, figures);
    if (spend.quotaPct !== undefined) this.deps.metrics.quotaProximity.observe(spend.quotaPct);
    return { id, spend, alert: alertFor(subject, spend, day) };
  }

  /**
   * The totals of the org over all its apps. Apps that were not summed in this round count with their stored totals.
   */
  private async rollUp(
    orgDay: OrgDay,
    scopes: readonly ActiveScope[],
    fresh: ReadonlyMap<string, SummedScope>,
  ): Promise<void> {
    const { org, day, isOver, subjects } = orgDay;
    const appIds = [...new Set([...subjects.keys(), ...scopes.map(({ id }) => id.appId)])].filter(
      (appId) => appId !== undefined,
    );
    for (const label of new Set(scopes.map(({ id }) => id.label))) {
      const ids = appIds.map((appId): SpendId => ({ orgId: org.orgId, appId, label, day }));
      const missing = ids.filter((id) => !fresh.has(nameOf(id)));
      const stored = await this.deps.totals.loadTotals(missing);
      const storedByName = new Map(missing.map((id, i) => [nameOf(id), stored[i]]));
      const parts = ids.map((id): SummedScope => {
        const total = storedByName.get(nameOf(id));
        const known = fresh.get(nameOf(id)) ?? (total && { counters: total.counters, figures: total });
        return known ?? { counters: noCounters, figures: usageOf(noCounters) };
      });
      const view = (subject: Subject): DayView => ({ subject, catalog: this.deps.catalog, day, isOver });
      const modes = ids.flatMap(({ appId }, i) => {
        const subject = subjects.get(appId);
        return subject ? [labelSpend(view(subject), label, parts[i]?.figures).mode] : [];
      });
      const counters = sumCounters(parts.map((part) => part.counters));
      await this.save(orgDay, { orgId: org.orgId, label, day }, counters, { mode: worstMode(modes) });
    }
  }

  /** Saves a total if it has changed. Returns the rules of the stored total. */
  private async save(
    { org, asOfMs, isOver }: OrgDay,
    id: SpendId,
    counters: Counters,
    basis: ModeBasis,
  ): Promise<DayRules | undefined> {
    const state = JSON.stringify([counters.requests, counters.corrections, isOver ? 'over' : basis]);
    const saved = this.savedTotals.get(nameOf(id));
    if (saved?.state === state) return saved.rules;
    if (counters.requests === 0) return undefined;
    const startsAtMs = startOfDayMs(org.zones, id.day);
    const { rules } = await this.deps.totals.saveTotal(id, { counters, startsAtMs, asOfMs, basis, isOver });
    // Also if another worker has saved it: this process has not judged it yet.
    this.changedDays.set(id.orgId, (this.changedDays.get(id.orgId) ?? new Set()).add(id.day));
    this.savedTotals.set(nameOf(id), { state, ...(rules ? { rules } : {}) });
    return rules;
  }
}

/** Once a quota is used up and its alert is raised, further costs change nothing until the next day. */
function isNear({ mode, quotaPct, thresholdPct }: LabelSpend, isAlertRaised: boolean): boolean {
  if (mode === 'EXCEEDED' && isAlertRaised) return false;
  return quotaPct !== undefined && quotaPct >= thresholdPct - nearPoints;
}
