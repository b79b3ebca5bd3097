import type { Background, Services } from '../app.js';
import { newUuid } from '../lib/id.js';
import type { SpendId } from '../orgs/scope.js';
import type { App, Org } from '../orgs/settings.js';
import type { BudgetPeriodId } from '../spend/budgets/budget-state.js';
import type { CostReceipt } from '../spend/spend.service.js';
import type { StickyId } from '../spend/sticky.store.js';
import { appSubject } from '../spend/subject.js';
import type { DemoHour } from './history.js';
import { patiently } from './patience.js';
import { SeededRandom } from './random.js';
import { chainOf, type DemoTenant } from './tenant.js';
import {
  type AppProfile,
  appProfiles,
  budgetFor,
  callsOf,
  callWithin,
  incident,
  incidentDaysAgo,
  isIncident,
  type PlannedCall,
} from './traffic.js';

/** Usual hours are submitted and summed together, because that takes fewer writes. */
const hoursPerRound = 6;
/** Calls of each app that are made at the end, so that today has figures at any hour. */
const lastCalls = 4;
const lastCallsMs = 10 * 60_000;
const raisedBy = 1.5;
const raiseHour = 9;
const weekdaysPerMonth = 22;

export interface DemoSpendDeps {
  readonly services: Services;
  readonly background: Background;
  readonly tenant: DemoTenant;
  readonly days: number;
}

interface AppState {
  readonly profile: AppProfile;
  app: App;
  /** The label of the last selection. Undefined: all quotas are used up, so the app makes no main calls. */
  label: string | undefined;
}

interface PendingCall {
  readonly state: AppState;
  readonly call: PlannedCall;
}

/** The model calls of the demo org. They go through the services that the API uses, in the order of their time. */
export class DemoSpend {
  costs = 0;
  costUsdMicros = 0;
  private readonly random = new SeededRandom(0x5be4d);
  private readonly org: Org;
  private readonly labels: readonly string[];
  private readonly states: readonly AppState[];
  private pending: PendingCall[] = [];
  private roundHours = 0;
  private day = '';
  /** The dimension values of the day. */
  private readonly values = new Set<string>();

  constructor(private readonly deps: DemoSpendDeps) {
    this.org = deps.tenant.org;
    this.labels = chainOf(deps.services).map(({ label }) => label);
    this.states = deps.tenant.apps.map((app) => ({
      app,
      profile: appProfiles.find(({ appId }) => appId === app.appId) as AppProfile,
      label: this.labels[0],
    }));
  }

  /** The calls of one hour, up to the time that the clock shows. */
  async step(hour: DemoHour): Promise<void> {
    const { days, services } = this.deps;
    const span = { ...hour, toMs: services.clock.nowMs() };
    for (const state of this.states)
      for (const call of callsOf(state.profile, span, days, this.random)) this.pending.push({ state, call });
    this.roundHours++;
    if (this.roundHours >= hoursPerRound || hour.isEndOfDay || isIncident(hour, days)) await this.round(hour.day);
    if (hour.daysAgo === incidentDaysAgo(days) - 1 && hour.hourOfDay === raiseHour) await this.raiseQuota();
  }

  /** A few calls of the last minutes, at the real time. */
  async finish(day: string, dayStartMs: number): Promise<void> {
    const nowMs = this.deps.services.clock.nowMs();
    const span = { fromMs: Math.max(dayStartMs, nowMs - lastCallsMs), toMs: nowMs };
    for (const state of this.states)
      for (let i = 0; i < lastCalls; i++)
        this.pending.push({ state, call: { ...callWithin(state.profile, span, this.random), isMain: i > 0 } });
    await this.round(day);
    await this.setBudgets();
  }

  /** A budget of a day that usual traffic keeps, and one of a month. Set last, because a forecast needs a history. */
  private async setBudgets(): Promise<void> {
    const { services, tenant } = this.deps;
    const quotas = this.states.map(
      ({ app }) => app.quotas.find(({ label }) => label === this.labels[0])?.dailyUsdMicros ?? 0,
    );
    const usdMicros = budgetFor(quotas.reduce((sum, quota) => sum + quota, 0));
    const settings = { thresholdsPct: [50, 80, 95], enforcement: 'ALERT' as const };
    const budgets = [
      { name: 'team-day', period: 'DAY' as const, usdMicros },
      { name: 'team-month', period: 'MONTH' as const, usdMicros: usdMicros * weekdaysPerMonth },
    ];
    for (const budget of budgets)
      await patiently(() => services.budgets.set(this.org.orgId, { ...budget, ...settings }, tenant.owner()));
  }

  /** Submits the pending costs, sums the day, and lets each app select its model for the next round. */
  private async round(day: string): Promise<void> {
    const { services, background } = this.deps;
    const pending = this.pending;
    this.pending = [];
    this.roundHours = 0;
    // A new day has new quotas.
    if (day !== this.day) {
      await this.closeDay();
      for (const state of this.states) state.label = this.labels[0];
      this.values.clear();
    }
    this.day = day;
    await this.loadPrices(pending);
    // The first cost of each dimension value comes before the others, which would all try to store the value.
    const firsts = pending.filter(({ call }) => this.hasNewValue(call));
    await this.submitAll(firsts);
    await this.submitAll(pending.filter((each) => !firsts.includes(each)));
    // All shards of all labels, because an index of the active ones may not show a new shard yet.
    const shards = Array.from({ length: this.org.shardCount }, (_, shard) => shard);
    const ids = this.states.flatMap(({ app: { orgId, appId } }) =>
      this.labels.map((label): SpendId => ({ orgId, appId, label, day })),
    );
    const scopes = ids.map((id) => ({ id, shards }));
    await patiently(() => background.orgDays.sum(this.org, scopes, services.clock.nowMs()));
    await this.select(ids);
  }

  /** Stores the largest dimension values of the day that is over. */
  private async closeDay(): Promise<void> {
    const { day } = this;
    if (day !== '') await patiently(() => this.deps.background.dimensionDays.closeDay(this.org, day));
  }

  /** Reads the prices once, because concurrent costs would each read them. */
  private async loadPrices(pending: readonly PendingCall[]): Promise<void> {
    const { prices, catalog } = this.deps.services;
    const times = pending.map(({ call }) => call.occurredAtMs);
    for (const atMs of new Set([Math.min(...times), Math.max(...times)]))
      if (Number.isFinite(atMs)) await patiently(() => prices.allAt([...catalog.values()], atMs));
  }

  private hasNewValue({ dimensions }: PlannedCall): boolean {
    const names = dimensions.map(({ name, value }) => `${name} ${value}`);
    const isNew = names.some((name) => !this.values.has(name));
    for (const name of names) this.values.add(name);
    return isNew;
  }

  private async submitAll(calls: readonly PendingCall[]): Promise<void> {
    const receipts = await Promise.all(calls.map((each) => this.submit(each)));
    for (const receipt of receipts) {
      if (!receipt) continue;
      this.costs++;
      this.costUsdMicros += receipt.costUsdMicros;
    }
  }

  private submit({ state, call }: PendingCall): Promise<CostReceipt | undefined> {
    const modelLabel = call.isMain ? state.label : this.labels[this.labels.length - 1];
    if (modelLabel === undefined) return Promise.resolve(undefined);
    const submission = {
      requestId: newUuid(),
      modelLabel,
      inputTokens: call.inputTokens,
      outputTokens: call.outputTokens,
      callStatus: call.isError ? ('ERROR' as const) : ('OK' as const),
      occurredAt: new Date(call.occurredAtMs),
      dimensions: call.dimensions,
    };
    return patiently(() => this.deps.services.spend.submitCost(state.app, submission));
  }

  /** Lets each app select its model, from the totals that were just saved. */
  private async select(ids: readonly SpendId[]): Promise<void> {
    const { selection, totals, stickyStore, budgetStates } = this.deps.services;
    const found = await patiently(() => totals.loadMany(ids, { consistent: true }));
    const byName = new Map(ids.map(({ appId, label }, i) => [`${appId} ${label}`, found[i]]));
    const reader = {
      total: async ({ appId, label }: SpendId) => byName.get(`${appId} ${label}`),
      sticky: (id: StickyId) => stickyStore.read(id),
      budgetState: async (id: BudgetPeriodId) => (await budgetStates.loadMany([id]))[0],
    };
    await Promise.all(
      this.states.map(async (state) => {
        state.label = (await patiently(() => selection.select(appSubject(state.app), reader))).label;
      }),
    );
  }

  /** The org raises the quota that the incident has used up. */
  private async raiseQuota(): Promise<void> {
    const { services, tenant } = this.deps;
    const state = this.states.find(({ app }) => app.appId === incident.appId) as AppState;
    const quotas = state.app.quotas.map(({ label, dailyUsdMicros }) => ({
      label,
      dailyUsdMicros: label === this.labels[0] ? Math.round(dailyUsdMicros * raisedBy) : dailyUsdMicros,
    }));
    state.app = await patiently(() => services.apps.updateApp(state.app, { quotas }, tenant.owner()));
  }
}
