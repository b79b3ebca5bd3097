import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, budgetEntity, changesBetween } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { Clock } from '../../lib/clock.js';
import { badInput, notFound, refuseAny, unavailable, versionConflict } from '../../lib/errors.js';
import {
  type ExpectedVersion,
  expectedVersionIssues,
  isStale,
  type VersionedChange,
} from '../../lib/expected-version.js';
import type { Log } from '../../lib/log.js';
import { VersionedCache } from '../../lib/versioned-cache.js';
import { dayAt } from '../../orgs/calendar.js';
import { lastEnforcement, timingAt, withEnforcement } from '../../orgs/enforcement.js';
import { sliceOf } from '../../orgs/scope.js';
import { type AppRecord, type AppRef, appIdIssues, type KnownLabels, type Org } from '../../orgs/settings.js';
import type { SliceStore } from '../slice.store.js';
import type { SelectionReader } from '../spend-reader.js';
import type { Budget, BudgetSettings, Raise, UsedUpBudget } from './budget.js';
import { isObeyed, scopeText, usedUp } from './budget.js';
import type { BudgetStore } from './budget.store.js';
import type { BudgetCheckService } from './budget-check.service.js';
import { budgetIssues, budgetNameIssues, hardOverlapIssues } from './budget-input.js';
import { type BudgetPeriodId, type BudgetState, stateFor } from './budget-state.js';
import type { BudgetStateStore } from './budget-state.store.js';
import type { Forecast } from './forecast.js';
import { periodOf } from './period.js';

const maxAttempts = 10;
const maxCachedOrgs = 10_000;
/** Bounded because a round of the aggregator and a selection read all budgets of an org. */
export const maxBudgetsPerOrg = 50;

interface BudgetRequestSettings extends Pick<BudgetSettings, RequiredSetting> {
  readonly appId?: string | null | undefined;
  readonly label?: string | null | undefined;
  readonly dimension?: BudgetSettings['dimension'] | null | undefined;
  readonly raise?: Raise | null | undefined;
}
type RequiredSetting = 'period' | 'usdMicros' | 'thresholdsPct' | 'enforcement';

/** A budget as a caller sends it. It replaces all settings: absent ones are not kept. */
export interface BudgetRequest extends BudgetRequestSettings, VersionedChange {
  readonly name: string;
}

/** A budget with its org. */
export interface OrgBudget extends Budget {
  readonly org: Org;
  /** The state of the current period, if it was read together with the budget. */
  readonly loaded?: { readonly state: BudgetState | undefined };
}

export interface BudgetDeps {
  readonly store: BudgetStore;
  readonly states: BudgetStateStore;
  readonly checks: BudgetCheckService;
  readonly slices: Pick<SliceStore, 'loadRounds'>;
  readonly orgs: { readOrg(orgId: string): Promise<Org | undefined> };
  readonly apps: { readApp(ref: AppRef): Promise<AppRecord | undefined> };
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly labels: KnownLabels;
  /** Throws if an older process may be running that does not know HARD budgets. */
  readonly versions: { requireHard(): Promise<void> };
  readonly clock: Clock;
  readonly log: Log;
}

/** The budget to change, and its org. */
interface Found {
  readonly org: Org;
  /** Absent if there is no budget with this name. */
  readonly before: Budget | undefined;
  readonly others: readonly Budget[];
}

/** Sets, deletes and lists budgets, and tells selections which of them are used up. */
export class BudgetService {
  private readonly cache: VersionedCache<readonly Budget[]>;

  constructor(private readonly deps: BudgetDeps) {
    this.cache = new VersionedCache(() => deps.changes.version(), maxCachedOrgs);
  }

  /** Creates a budget or replaces its settings, and sums it. Takes effect on all gateways within 2 s. */
  async set(orgId: string, request: BudgetRequest, actor: Actor): Promise<OrgBudget> {
    const { name, expectedVersion } = request;
    refuseAny([...budgetNameIssues(name), ...expectedVersionIssues(expectedVersion)]);
    const settings = settingsOf(request);
    const saved = await this.attempted({ orgId, name, expectedVersion }, async (found) => {
      await this.refuseInvalid(found, settings);
      return this.save(found, name, settings, actor);
    });
    return this.summed(saved);
  }

  /** Deletes a budget. False if there was none. */
  async delete(orgId: string, name: string, expectedVersion: ExpectedVersion, actor: Actor): Promise<boolean> {
    refuseAny(expectedVersionIssues(expectedVersion, 'expectedVersion'));
    const { store, audit, changes } = this.deps;
    return this.attempted({ orgId, name, expectedVersion }, async ({ org, before }) => {
      if (!before) return false;
      const event = audit.draft({
        orgId,
        actor,
        action: 'budget_deleted',
        entityId: budgetEntity(name),
        changes: changesBetween(settingsOf(before), {}),
      });
      const isDeleted = await store.delete(before, org.budgetsVersion + 1, [event, changes.draftChange(orgId)]);
      if (!isDeleted) return undefined;
      await changes.refresh();
      return true;
    });
  }

  /** The budgets of an org by name. Reads nothing if the org never had one, or if they are cached. */
  async list(org: Org): Promise<OrgBudget[]> {
    if (org.budgetsVersion === 0) return [];
    const budgets = await this.cache.load(org.orgId, () => this.deps.store.list(org.orgId));
    return (budgets ?? []).map((budget) => ({ ...budget, org }));
  }

  /** The used-up budgets that selections for an app, or for the whole org, obey. `isWanted`: only these. */
  async usedUp(
    org: Org,
    appId: string | undefined,
    reader: Pick<SelectionReader, 'budgetState'>,
    isWanted: (budget: Budget) => boolean = () => true,
  ): Promise<UsedUpBudget[]> {
    const obeyed = (await this.list(org)).filter((budget) => isObeyed(budget, appId) && isWanted(budget));
    const nowMs = this.deps.clock.nowMs();
    const states = await Promise.all(obeyed.map((budget) => reader.budgetState(this.currentPeriod(budget))));
    return obeyed.flatMap((budget, i) => {
      const state = stateFor(budget, states[i]);
      return usedUp(budget, state?.spentUsdMicros ?? 0, nowMs) ?? [];
    });
  }

  /** The forecast for the current period, from the hours of the last four weeks. Null if there is too little data. */
  forecast(budget: OrgBudget, spentUsdMicros: number): Promise<Forecast | null> {
    return this.deps.checks.forecast(budget, budget.org, spentUsdMicros);
  }

  /** Identifies the state of a budget in the current period. */
  currentPeriod({ org, name, period }: OrgBudget): BudgetPeriodId {
    const today = dayAt(org.zones, this.deps.clock.nowMs());
    return { orgId: org.orgId, name, firstDay: periodOf(period, today).firstDay };
  }

  /** Reads the budget and makes an attempt to change it. Undefined means that another change came first: repeat. */
  private async attempted<T>(
    { orgId, name, expectedVersion }: { orgId: string; name: string; expectedVersion: ExpectedVersion },
    attempt: (found: Found) => Promise<T | undefined>,
  ): Promise<T> {
    const { orgs, store } = this.deps;
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      const org = await orgs.readOrg(orgId);
      if (!org) throw notFound('org');
      const budgets = await store.list(orgId);
      const before = budgets.find((budget) => budget.name === name);
      const currentVersion = before?.version ?? 0;
      if (isStale(expectedVersion, currentVersion)) throw versionConflict('this budget', currentVersion);
      const done = await attempt({ org, before, others: budgets.filter((budget) => budget !== before) });
      if (done !== undefined) return done;
    }
    throw unavailable('the budgets of this org are being changed by several callers at the same time; retry');
  }

  private async refuseInvalid({ org, before, others }: Found, settings: BudgetSettings): Promise<void> {
    const { labels, clock, apps, versions } = this.deps;
    const { appId } = settings;
    refuseAny([
      ...budgetIssues(settings, { org, labels, nowMs: clock.nowMs() }),
      ...hardOverlapIssues(settings, others),
    ]);
    if (settings.enforcement === 'HARD' && before?.enforcement !== 'HARD') await versions.requireHard();
    if (!before && others.length >= maxBudgetsPerOrg)
      throw badInput({
        path: 'input.name',
        message: `the org has ${maxBudgetsPerOrg} budgets, the maximum: delete one first`,
      });
    if (appId === undefined) return;
    const app = appIdIssues(appId).length > 0 ? undefined : await apps.readApp({ orgId: org.orgId, appId });
    if (!app) throw notFound('app');
  }

  /** Undefined if another change came between. */
  private async save(
    { org, before }: Found,
    name: string,
    settings: BudgetSettings,
    actor: Actor,
  ): Promise<OrgBudget | undefined> {
    const { store, audit, changes, clock } = this.deps;
    const { orgId } = org;
    const differences = changesBetween(before ? settingsOf(before) : {}, settingsOf(settings));
    // Without a difference nothing is written, because a new version raises its alerts again.
    const hardChanges = this.hardChanges(org, before, settings);
    const isEnforced = lastEnforcement(hardChanges) === lastEnforcement(before?.hardChanges ?? []);
    if (before && differences.length === 0 && isEnforced) return { ...before, org };
    const now = new Date(clock.nowMs());
    const budget: Budget = {
      ...settings,
      hardChanges,
      orgId,
      name,
      version: (before?.version ?? 0) + 1,
      revision: org.budgetsVersion + 1,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    const entityId = budgetEntity(name);
    const event = audit.draft({ orgId, actor, action: 'budget_set', entityId, changes: differences });
    if (!(await store.save(budget, [event, changes.draftChange(orgId)]))) return undefined;
    await changes.refresh();
    return { ...budget, org: { ...org, budgetsVersion: budget.revision } };
  }

  /** The days on which the budget is HARD. With another scope it begins again, because other costs count for it. */
  private hardChanges(org: Org, before: Budget | undefined, settings: BudgetSettings): Budget['hardChanges'] {
    const history = before && scopeText(before) === scopeText(settings) ? before.hardChanges : [];
    const wanted = settings.enforcement === 'HARD' ? 'HARD' : 'ADVISORY';
    return withEnforcement(history, wanted, timingAt(org.zones, this.deps.clock.nowMs()));
  }

  /**
   * Sums a budget that was just set, so that its spend is known before the next round of the aggregator, and for an org
   * without costs at all. If this fails, the next round with a cost does it.
   */
  private async summed(budget: OrgBudget): Promise<OrgBudget> {
    const { checks, slices, states, log } = this.deps;
    const { org, name } = budget;
    try {
      const markOf = await slices.loadRounds({ consistent: true });
      await checks.check(org, [], { asOfMs: markOf(sliceOf(org.orgId)) ?? 0, only: name });
      const [state] = await states.loadMany([this.currentPeriod(budget)], { consistent: true });
      return { ...budget, loaded: { state } };
    } catch (error) {
      log.warn({ err: error, orgId: org.orgId }, 'failed to sum a budget that was set');
      return budget;
    }
  }
}

/** The settings alone, as they are stored, compared and audited. */
const settingsOf = (given: BudgetRequestSettings): BudgetSettings => ({
  ...(typeof given.appId === 'string' ? { appId: given.appId } : {}),
  ...(typeof given.label === 'string' ? { label: given.label } : {}),
  ...(given.dimension ? { dimension: { name: given.dimension.name, value: given.dimension.value } } : {}),
  period: given.period,
  usdMicros: given.usdMicros,
  thresholdsPct: [...given.thresholdsPct],
  enforcement: given.enforcement,
  ...(given.raise ? { raise: { until: given.raise.until, usdMicros: given.raise.usdMicros } } : {}),
});
