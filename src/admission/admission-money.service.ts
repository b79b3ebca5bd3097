import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, isOutage } from '../lib/errors.js';
import { Lru } from '../lib/lru.js';
import { dayAt, endOfDayMs } from '../orgs/calendar.js';
import { isHardOn } from '../orgs/quotas.js';
import type { App } from '../orgs/settings.js';
import { enforcementOfBudget, tightest } from '../spend/budgets/budget.js';
import type { BudgetService } from '../spend/budgets/budget.service.js';
import { periodOf } from '../spend/budgets/period.js';
import { type CatalogModel, invalidLabel } from '../spend/catalog/catalog.js';
import type { Price } from '../spend/catalog/price.js';
import type { PriceService } from '../spend/catalog/price.service.js';
import type { HeldMemory } from '../spend/held/held-memory.js';
import type { HoldService } from '../spend/held/hold.service.js';
import type { HeldLimit } from '../spend/held/reservation.service.js';
import type { Sticky } from '../spend/selection.js';
import type { SelectionService } from '../spend/selection.service.js';
import type { SelectionReader } from '../spend/spend-reader.js';
import { appSubject, type Subject } from '../spend/subject.js';
import { type Estimate, type EstimateRequest, estimateOf } from './estimate.js';
import { isTooLarge, type LabelRefusal, type MoneyBound, refusalOf } from './money-decision.js';

type Images = Parameters<typeof refusalOf>[2];

const stickyCachedMs = 1000;
const maxCachedStickies = 10_000;

/** A label that a call may use. */
export interface Candidate {
  readonly label: string;
  readonly model: CatalogModel;
  readonly price: Price;
  readonly estimate: Estimate;
  /** The HARD quota and budgets of the label. */
  readonly limits: readonly HeldLimit[];
}

/** A call with the labels that it may use, in their order. */
export interface PricedCall {
  readonly app: App;
  readonly subject: Subject;
  readonly day: string;
  readonly candidates: readonly Candidate[];
  /** True if the caller has named the labels. */
  readonly hasOwnLabels: boolean;
}

/** The verdict of advisory figures. */
export interface AdvisoryVerdict {
  readonly refusal?: LabelRefusal;
  readonly degraded: boolean;
}

export interface AdmissionMoneyDeps {
  readonly holds: HoldService;
  readonly prices: PriceService;
  readonly budgets: BudgetService;
  readonly selection: SelectionService;
  readonly memory: HeldMemory;
  readonly clock: Clock;
}

/** The labels of a call, their estimates, and the bounds that decide. */
export class AdmissionMoney {
  private readonly stickies = new Lru<
    string,
    { readonly untilMs: number; readonly sticky: Promise<Sticky | undefined> }
  >(maxCachedStickies);

  constructor(private readonly deps: AdmissionMoneyDeps) {}

  /** The labels that have a model, with their estimates and bounds. */
  async price(app: App, estimate: EstimateRequest, labels: readonly string[] | null | undefined): Promise<PricedCall> {
    const { catalog } = this.deps.prices;
    const nowMs = this.deps.clock.nowMs();
    const day = dayAt(app.org.zones, nowMs);
    const wanted = labels?.length ? labels : app.modelOrdering;
    const metered = new Set(app.quotas.map(({ label }) => label));
    const unknown = labels?.findIndex((label) => !metered.has(label)) ?? -1;
    if (unknown >= 0)
      throw badInput({ path: `input.labels.${unknown}`, message: 'must be a label for which the app has a quota' });
    const models = wanted.flatMap((label) => catalog.get(label) ?? []);
    if (models.length === 0) throw invalidLabel(catalog.keys());
    const priced = await Promise.all(models.map((model) => this.candidate(app, model, estimate, { day, nowMs })));
    const candidates = priced.flatMap((each) => (each instanceof GatewayError ? [] : [each]));
    const [error] = priced.filter((each) => each instanceof GatewayError);
    if (candidates.length === 0 && error) throw error;
    return { app, subject: appSubject(app), day, candidates, hasOwnLabels: Boolean(labels?.length) };
  }

  /** The candidates to try. An override leaves only its label. */
  async inOrder(call: PricedCall, reader: SelectionReader): Promise<readonly Candidate[]> {
    const sticky = await this.sticky(call, reader);
    const overridden = sticky?.reason === 'MANUAL_OVERRIDE' ? sticky.activeLabel : undefined;
    const only = call.candidates.filter(({ label }) => label === overridden);
    return only.length > 0 ? only : call.candidates;
  }

  /** The refusal that is known without a call to the database: too large, or refused a moment ago. */
  knownRefusal({ app }: PricedCall, { label, limits, estimate }: Candidate): LabelRefusal | undefined {
    const pct = app.org.maxReservationPct;
    const amount = estimate.amountUsdMicros;
    const images = new Map(
      limits.flatMap(({ name }) => {
        const image = this.deps.memory.recent(name);
        return image ? [[name, image] as const] : [];
      }),
    );
    const isFull = limits.some(({ name, limitUsdMicros }) => {
      const image = images.get(name);
      return image !== undefined && image.held + amount > limitUsdMicros;
    });
    const isLarge = isTooLarge(amount, limits.map(boundOf), pct);
    return images.size === limits.length && (isFull || isLarge)
      ? refusalOf({ label, amount, pct }, limits.map(boundOf), images)
      : undefined;
  }

  /** True if the estimate exceeds the share of a bound that one reservation may take. */
  isTooLarge({ app }: PricedCall, { limits, estimate }: Candidate): boolean {
    return isTooLarge(estimate.amountUsdMicros, limits.map(boundOf), app.org.maxReservationPct);
  }

  /** The refusal of a label by figures as last aggregated, for bounds that are not HARD. */
  async advisory(call: PricedCall, { label, estimate }: Candidate, reader: SelectionReader): Promise<AdvisoryVerdict> {
    const { app, subject, day } = call;
    const { org } = app;
    const missing = estimate.amountUsdMicros;
    const endsAtMs = endOfDayMs(org.zones, day);
    try {
      const quota = app.quotas.find((each) => each.label === label)?.dailyUsdMicros ?? 0;
      const total = isHardOn(app.quotas, label, day) ? undefined : await reader.total({ ...subject.scope, label, day });
      if (total && total.costUsdMicros >= quota)
        return {
          refusal: refused({ kind: 'QUOTA', name: label, label, missing, wouldPass: 0 }, endsAtMs),
          degraded: false,
        };
      if (!isHardOn(app.quotas, label, day) && quota === 0)
        return { refusal: { binding: { kind: 'QUOTA', name: label, label, missing, wouldPass: 0 } }, degraded: false };
      const used = await this.deps.budgets.usedUp(org, app.appId, reader, (budget) => {
        return enforcementOfBudget(budget, day) !== 'HARD' && (budget.label ?? label) === label;
      });
      const budget = tightest(used);
      if (!budget) return { degraded: false };
      const binding = { kind: 'BUDGET' as const, name: budget.name, label, missing, wouldPass: 0 };
      const { period = 'DAY' } = (await this.deps.budgets.list(org)).find(({ name }) => name === budget.name) ?? {};
      const retryAtMs = endOfDayMs(org.zones, periodOf(period, day).lastDay);
      return { refusal: refused(binding, retryAtMs), degraded: false };
    } catch (error) {
      if (!isOutage(error)) throw error;
      return { degraded: true };
    }
  }

  /** The refusal of a label whose items hold too much, or for which the amount is too large. */
  refusal({ app }: PricedCall, { label, limits, estimate }: Candidate, images: Images): LabelRefusal {
    const pct = app.org.maxReservationPct;
    const refusal = refusalOf({ label, amount: estimate.amountUsdMicros, pct }, limits.map(boundOf), images);
    if (!refusal) throw new Error('a label without bounds cannot refuse');
    return refusal;
  }

  /**
   * Without HARD bounds: the label that a selection recommends, by the same rules and figures. Undefined if the caller
   * has named labels, or if a label has a HARD bound.
   */
  async selected(call: PricedCall, reader: SelectionReader): Promise<Candidate | LabelRefusal | undefined> {
    const { subject, candidates, hasOwnLabels } = call;
    if (hasOwnLabels || candidates.some(({ limits }) => limits.length > 0)) return undefined;
    const { label, budget, resetsAt } = await this.deps.selection.select(subject, reader);
    const found = candidates.find((candidate) => candidate.label === label);
    if (found) return found;
    const [first] = candidates;
    const own = first?.label ?? '';
    const bound =
      budget === undefined ? { kind: 'QUOTA' as const, name: own } : { kind: 'BUDGET' as const, name: budget };
    const missing = first?.estimate.amountUsdMicros ?? 0;
    return refused({ ...bound, label: own, missing, wouldPass: 0 }, resetsAt.getTime());
  }

  private async candidate(
    app: App,
    model: CatalogModel,
    request: EstimateRequest,
    { day, nowMs }: { readonly day: string; readonly nowMs: number },
  ): Promise<Candidate | GatewayError> {
    const { label } = model;
    const [price, limits] = await Promise.all([
      this.deps.prices.at(model, nowMs, app.orgId),
      this.deps.holds.limitsOf(app, label, day),
    ]);
    const estimate = estimateOf(request, price.entries);
    return estimate instanceof GatewayError ? estimate : { label, model, price, estimate, limits };
  }

  /** At most one read per second and scope, because HARD labels need no other read. */
  private sticky({ subject, day }: PricedCall, reader: SelectionReader): Promise<Sticky | undefined> {
    const { orgId, appId = '' } = subject.scope;
    const name = `${orgId} ${appId} ${day}`;
    const nowMs = this.deps.clock.monotonicMs();
    const cached = this.stickies.get(name);
    if (cached && cached.untilMs > nowMs) return cached.sticky;
    const sticky = reader.sticky({ ...subject.scope, day });
    this.stickies.set(name, { untilMs: nowMs + stickyCachedMs, sticky });
    sticky.catch(() => this.stickies.delete(name));
    return sticky;
  }
}

const refused = (binding: LabelRefusal['binding'], retryAtMs: number): LabelRefusal => ({ binding, retryAtMs });

const boundOf = ({ name, ref, title, limitUsdMicros, endsAtMs }: HeldLimit): MoneyBound => ({
  name,
  kind: ref.kind === 'quota' ? 'QUOTA' : 'BUDGET',
  title,
  limitUsdMicros,
  endsAtMs,
});
