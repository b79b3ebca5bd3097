import type { AlertDraft } from '../alerts/alert.js';
import type { AlertService } from '../alerts/alert.service.js';
import type { Clock } from '../lib/clock.js';
import type { Metrics } from '../lib/metrics.js';
import { dayAt } from '../orgs/calendar.js';
import { type SpendId, scopeKey } from '../orgs/scope.js';
import { type AppRecord, inForce, type Org } from '../orgs/settings.js';
import { noUsage, sum, type Usage, worstMode } from './money.js';
import type { Catalog } from './price.js';
import { alertFor } from './quota-alert.js';
import {
  appSubject,
  type DayRules,
  type DayView,
  type Figures,
  type LabelSpend,
  labelSpend,
  orgSubject,
  rulesNow,
  type Subject,
} from './report.js';
import type { ActiveScope, SpendStore } from './spend.store.js';
import type { Judgement, TotalStore } from './total.store.js';

/** A scope this near to its threshold, in percentage points, is summed more often. */
const nearPoints = 10;

export interface OrgDayDeps {
  readonly shards: SpendStore;
  readonly totals: TotalStore;
  readonly apps: { listAllApps(orgId: string): Promise<AppRecord[]> };
  readonly alerts: AlertService;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** One org's day, while it is being summed. */
interface OrgDay {
  readonly org: Org;
  readonly day: string;
  /** Everything acknowledged before this is included. */
  readonly asOfMs: number;
  readonly isOver: boolean;
  readonly subjects: ReadonlyMap<string | undefined, Subject>;
}

export const nameOf = (id: SpendId): string => `${id.day} ${scopeKey(id)} ${id.label}`;
const dayIn = (name: string): string => name.slice(0, 10);

/** Sums the shards of one org's day into its totals, and judges them. */
export class OrgDayService {
  // A total that has not changed since it was saved is not saved again: an idle scope costs reads only.
  private readonly saved = new Map<string, { readonly state: string; readonly rules?: DayRules }>();
  // The index is eventually consistent and may leave out an entry that it had before.
  private readonly seenShards = new Map<string, Set<number>>();

  constructor(private readonly deps: OrgDayDeps) {}

  /** Sums scopes of one day, then the org's roll-up, then raises alerts. Returns those that are to be summed more often. */
  async sum(org: Org, scopes: readonly ActiveScope[], asOfMs: number): Promise<SpendId[]> {
    const day = scopes[0]?.id.day as string;
    const apps = org.quotaScope === 'APP' ? await this.deps.apps.listAllApps(org.orgId) : [];
    const subjects = new Map<string | undefined, Subject>([
      [undefined, orgSubject(org)],
      ...apps.map((app) => [app.appId, appSubject(inForce(org, app))] as const),
    ]);
    const orgDay: OrgDay = { org, day, asOfMs, isOver: day < dayAt(org.zones, this.deps.clock.nowMs()), subjects };
    const usages = await this.deps.shards.sumActive(scopes.map((scope) => this.withSeen(scope)));
    const figures = new Map<string, Figures>();
    const judged: { readonly id: SpendId; readonly spend: LabelSpend; readonly alert: AlertDraft | undefined }[] = [];
    for (const [i, { id }] of scopes.entries()) {
      const summed = await this.saveScope(orgDay, id, usages[i] as Usage);
      figures.set(nameOf(id), summed);
      const subject = subjects.get(id.appId);
      if (subject) judged.push(this.judge(orgDay, id, subject, summed));
    }
    if (org.quotaScope === 'APP') await this.rollUp(orgDay, scopes, figures);
    // After the totals, which do not wait for them.
    const failed = new Set(await this.deps.alerts.raiseAll(judged.map(({ alert }) => alert)));
    return judged
      .filter(({ spend, alert }) => !orgDay.isOver && isNear(spend, alert !== undefined && !failed.has(alert)))
      .map(({ id }) => id);
  }

  forgetClosed(firstOpenDay: string): void {
    for (const state of [this.saved, this.seenShards])
      for (const name of state.keys()) if (dayIn(name) < firstOpenDay) state.delete(name);
  }

  private withSeen({ id, shards }: ActiveScope): ActiveScope {
    const seen = this.seenShards.get(nameOf(id)) ?? new Set();
    for (const shard of shards) seen.add(shard);
    this.seenShards.set(nameOf(id), seen);
    return { id, shards: [...seen] };
  }

  private async saveScope(orgDay: OrgDay, id: SpendId, usage: Usage): Promise<Figures> {
    const subject = orgDay.subjects.get(id.appId);
    // An app that is no longer registered has no quota, but what it spent stays.
    const rules = subject ? rulesNow(subject, id.label) : { thresholdPct: orgDay.org.tightModeThresholdPct };
    const stored = await this.save(orgDay, id, usage, { rules });
    return { ...usage, ...(stored ? { rules: stored } : {}) };
  }

  private judge({ day, isOver }: OrgDay, id: SpendId, subject: Subject, figures: Figures) {
    const spend = labelSpend({ subject, catalog: this.deps.catalog, day, isOver }, id.label, figures);
    if (spend.quotaPct !== undefined) this.deps.metrics.quotaProximity.observe(spend.quotaPct);
    return { id, spend, alert: alertFor(subject, spend, day) };
  }

  /** The org's own totals: over all its apps. Those that were not summed now count with their stored totals. */
  private async rollUp(
    orgDay: OrgDay,
    scopes: readonly ActiveScope[],
    fresh: ReadonlyMap<string, Figures>,
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
      const figures = ids.map((id): Figures => fresh.get(nameOf(id)) ?? storedByName.get(nameOf(id)) ?? noUsage);
      const view = (subject: Subject): DayView => ({ subject, catalog: this.deps.catalog, day, isOver });
      const modes = ids.flatMap(({ appId }, i) => {
        const subject = subjects.get(appId);
        return subject ? [labelSpend(view(subject), label, figures[i]).mode] : [];
      });
      await this.save(orgDay, { orgId: org.orgId, label, day }, sum(figures), { mode: worstMode(modes) });
    }
  }

  /** Returns the rules that the stored total has. */
  private async save(
    { asOfMs, isOver }: OrgDay,
    id: SpendId,
    usage: Usage,
    judgement: Judgement,
  ): Promise<DayRules | undefined> {
    const state = JSON.stringify([usage.requests, isOver ? 'over' : judgement]);
    const known = this.saved.get(nameOf(id));
    if (known?.state === state) return known.rules;
    if (usage.requests === 0) return undefined;
    const { rules } = await this.deps.totals.saveTotal(id, { usage, asOfMs, judgement, isOver });
    this.saved.set(nameOf(id), { state, ...(rules ? { rules } : {}) });
    return rules;
  }
}

/** Once a quota is used up and its alert raised, more cost changes nothing until the next day. */
function isNear({ mode, quotaPct, thresholdPct }: LabelSpend, isAlertRaised: boolean): boolean {
  if (mode === 'EXCEEDED' && isAlertRaised) return false;
  return quotaPct !== undefined && quotaPct >= thresholdPct - nearPoints;
}
