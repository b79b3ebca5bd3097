import type { AlertDraft } from '../alerts/alert.js';
import type { AlertService } from '../alerts/alert.service.js';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, refuseAny } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import type { App, AppRecord, Org } from '../orgs/settings.js';
import { inForce } from '../orgs/settings.js';
import { dayAt, endOfDayMs, nextDate } from './calendar.js';
import { amountIssues, costOf, mostACall, type SpendMode, sum, type Usage, worstMode } from './money.js';
import type { CatalogModel, Price } from './price.js';
import type { PriceService } from './price.service.js';
import { alertFor, fallbackAlert } from './quota-alert.js';
import { appSubject, type DaySpend, daySpend, type Figures, type LabelSpend, labelSpend, type Subject } from './report.js';
import { type SpendId, scopeOf } from './scope.js';
import { choose, type SelectionReason, type Sticky } from './selection.js';
import type { CostRecord, SpendStore, Total } from './spend.store.js';
import type { StickyId, StickyStore } from './sticky.store.js';

const backMs = 24 * 3_600_000;
const aheadMs = 5 * 60_000;
const mostDays = 366;

export interface CostSubmission {
  readonly requestId: string;
  readonly modelLabel: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsdMicros?: number | null | undefined;
  readonly callStatus: 'OK' | 'ERROR';
  readonly occurredAt?: Date | null | undefined;
}

export interface CostReceipt {
  readonly requestId: string;
  readonly replayed: boolean;
  readonly label: string;
  readonly day: string;
  readonly costUsdMicros: number;
  readonly priceSource: Price['source'];
  readonly app: App;
}

export interface ModelSelection {
  readonly allowed: boolean;
  readonly label?: string;
  readonly bedrockModelId?: string;
  readonly reason: SelectionReason;
  readonly mode: SpendMode;
  readonly chain: readonly LabelSpend[];
  readonly price?: Price;
  readonly recheckAfterSecs: number;
  readonly day: string;
  readonly resetsAt: Date;
}

export type Consistency = 'AGGREGATED' | 'EXACT';

/** How a request reads what is stored: batched with the request's other reads. */
export interface SpendReader {
  total(id: SpendId): Promise<Total | undefined>;
  sticky(id: StickyId): Promise<Sticky | undefined>;
}

export interface SpendParts {
  readonly store: SpendStore;
  readonly stickies: StickyStore;
  readonly prices: PriceService;
  readonly alerts: AlertService;
  readonly apps: { listApps(orgId: string, limit: number, afterAppId?: string): Promise<AppRecord[]> };
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export class SpendService {
  constructor(private readonly parts: SpendParts) {}

  /** Records a cost once. Sent again, the first receipt comes back; sent again with other figures, it is a conflict. */
  async submitCost(app: App, input: CostSubmission): Promise<CostReceipt> {
    refuseAny(amountIssues(input));
    const model = this.requireLabel(input.modelLabel);
    const nowMs = this.parts.clock.nowMs();
    const occurredAtMs = input.occurredAt?.getTime() ?? nowMs;
    const payloadHash = hashOf(app.appId, input);
    if (occurredAtMs < nowMs - backMs || occurredAtMs > nowMs + aheadMs) return this.lateReceipt(app, input.requestId, payloadHash);
    const { costUsdMicros, priceSource } = await this.priced(input, model, occurredAtMs);
    const { inputTokens, outputTokens, requestId } = input;
    const { orgId, appId, org } = app;
    const id: SpendId = { ...scopeOf(app), label: model.label, day: dayAt(org.zones, occurredAtMs) };
    const usage: Usage = { costUsdMicros, inputTokens, outputTokens, requests: 1 };
    const recorded = await this.parts.store.record(id, org.shardCount, {
      requestId,
      orgId,
      appId,
      label: id.label,
      day: id.day,
      payloadHash,
      usage,
      priceSource,
    });
    if (recorded.kind === 'conflict') throw conflict();
    return receiptOf(recorded.record, recorded.kind === 'replayed', app);
  }

  /** Resolves when all that was submitted has its answer. */
  flush(): Promise<void> {
    return this.parts.store.flush();
  }

  /** A day's spend, as last summed or as it is this moment. */
  async day(subject: Subject, named: string | null | undefined, consistency: Consistency, reader: SpendReader): Promise<DaySpend> {
    const { catalog } = this.parts.prices;
    const today = this.today(subject.org);
    const day = named ?? today;
    if (day > today) throw badInput({ path: 'day', message: `is in the future: today is ${today} there` });
    const labels = [...catalog.keys()];
    const figures =
      consistency === 'EXACT'
        ? await this.exact(subject, labels, day)
        : await Promise.all(labels.map((label) => reader.total({ ...subject.scope, label, day })));
    return daySpend(subject, catalog, day, new Map(labels.map((label, i) => [label, figures[i]])));
  }

  /** Every day of a range, both ends included, oldest first. */
  async history(subject: Subject, from: string, to: string): Promise<DaySpend[]> {
    const { catalog } = this.parts.prices;
    const today = this.today(subject.org);
    const days = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
    refuseAny([
      ...(days < 1 ? [{ path: 'to', message: 'is before `from`' }] : []),
      ...(days > mostDays ? [{ path: 'from', message: `the range has ${days} days, more than the ${mostDays} allowed` }] : []),
      ...(to > today ? [{ path: 'to', message: `is in the future: today is ${today} there` }] : []),
    ]);
    const labels = [...catalog.keys()];
    const totals = await Promise.all(labels.map((label) => this.parts.store.listTotals(subject.scope, label, from, to)));
    const byDay = totals.map((list) => new Map(list.map(({ day, total }) => [day, total])));
    const history: DaySpend[] = [];
    for (let day = from; day <= to; day = nextDate(day))
      history.push(daySpend(subject, catalog, day, new Map(labels.map((label, i) => [label, byDay[i]?.get(day)]))));
    return history;
  }

  resetsAt({ org }: Subject, day: string): Date {
    return new Date(endOfDayMs(org.zones, day));
  }

  /** Which model to call now. A move along the chain is written down, and told, once. */
  async select(subject: Subject, reader: SpendReader): Promise<ModelSelection> {
    const { org, scope, settings } = subject;
    const day = this.today(org);
    const id = { ...scope, day };
    const labels = settings.modelOrdering;
    const [totals, found] = await Promise.all([Promise.all(labels.map((label) => reader.total({ ...id, label }))), reader.sticky(id)]);
    const chain = labels.map((label, i) => labelSpend(subject, this.parts.prices.catalog, label, totals[i]));
    const links = chain.map(({ label, costUsdMicros, quotaUsdMicros = 0 }) => ({ label, costUsdMicros, quotaUsdMicros }));
    const decide = (sticky: Sticky | undefined) => choose(links, sticky, org.stickyFallbackEnabled, settings.tightModeThresholdPct);

    let choice = decide(found);
    if (choice.move && !(await this.move(subject, chain, choice.move, day))) choice = decide(await this.parts.stickies.read(id));
    await this.tell(chain.map((link) => alertFor(subject, link, day)));
    const { label, reason, mode } = choice;
    const model = label === undefined ? undefined : this.parts.prices.catalog.get(label);
    return {
      allowed: label !== undefined,
      ...(label === undefined ? {} : { label }),
      ...(model ? { bedrockModelId: model.bedrockModelId, price: await this.parts.prices.at(model, this.parts.clock.nowMs()) } : {}),
      reason,
      mode,
      chain,
      recheckAfterSecs: mode === 'TIGHT' ? settings.refreshIntervalTightSecs : settings.refreshIntervalNormalSecs,
      day,
      resetsAt: this.resetsAt(subject, day),
    };
  }

  /** Puts a scope on a label of its chain for the rest of the day; null lets the quotas decide again. */
  async override(subject: Subject, label: string | null | undefined): Promise<void> {
    const { org, scope, settings, orderingVersion } = subject;
    const day = this.today(org);
    const id = { ...scope, day };
    if (label === null || label === undefined) return this.parts.stickies.clear(id);
    const index = settings.modelOrdering.indexOf(label);
    if (index < 0) throw invalidLabel(settings.modelOrdering);
    await this.parts.stickies.override(id, { label, index, orderingVersion }, this.parts.clock.nowMs(), endOfDayMs(org.zones, day));
  }

  private today({ zones }: Org): string {
    return dayAt(zones, this.parts.clock.nowMs());
  }

  private requireLabel(label: string): CatalogModel {
    const model = this.parts.prices.catalog.get(label);
    if (!model) throw invalidLabel([...this.parts.prices.catalog.keys()]);
    return model;
  }

  private async priced(input: CostSubmission, model: CatalogModel, atMs: number): Promise<ReturnType<typeof costOf>> {
    if (typeof input.costUsdMicros === 'number') return { costUsdMicros: input.costUsdMicros, priceSource: 'SUBMITTED' };
    const priced = costOf(input, await this.parts.prices.at(model, atMs));
    if (priced.costUsdMicros > mostACall)
      throw badInput({ path: 'input.inputTokens', message: `so many tokens cost more than ${mostACall} micro-dollars, the most one call may` });
    return priced;
  }

  /** A retry may come long after its call; it still gets the receipt of what it recorded then. */
  private async lateReceipt(app: App, requestId: string, payloadHash: string): Promise<CostReceipt> {
    const record = await this.parts.store.loadRecord(app.orgId, requestId);
    if (!record) throw badInput({ path: 'input.occurredAt', message: 'must lie within the last 24 hours, or at most 5 minutes ahead' });
    if (record.payloadHash !== payloadHash) throw conflict();
    return receiptOf(record, true, app);
  }

  private async exact(subject: Subject, labels: readonly string[], day: string): Promise<Figures[]> {
    const asOf = new Date(this.parts.clock.nowMs());
    const { scope, org, isRollup } = subject;
    if (!isRollup) {
      const usages = await this.parts.store.sumShards(
        labels.map((label) => ({ ...scope, label, day })),
        org.shardCount,
      );
      return usages.map((usage) => ({ ...usage, asOf }));
    }
    const subjects = (await this.allApps(org)).map(appSubject);
    const sums = await Promise.all(
      subjects.map((app) =>
        this.parts.store.sumShards(
          labels.map((label) => ({ ...app.scope, label, day })),
          org.shardCount,
        ),
      ),
    );
    return labels.map((label, l) => {
      const modes = subjects.map((app, a) => labelSpend(app, this.parts.prices.catalog, label, sums[a]?.[l]).mode);
      return { ...sum(sums.map((usages) => usages[l] as Usage)), mode: worstMode(modes), asOf };
    });
  }

  private async allApps(org: Org): Promise<App[]> {
    const apps: App[] = [];
    for (let page: AppRecord[] = [], after: string | undefined; ; after = page.at(-1)?.appId) {
      page = await this.parts.apps.listApps(org.orgId, 100, after);
      apps.push(...page.map((app) => inForce(org, app)));
      if (page.length < 100) return apps;
    }
  }

  private async move(
    subject: Subject,
    chain: readonly LabelSpend[],
    { from, to }: { readonly from: string; readonly to: string },
    day: string,
  ): Promise<boolean> {
    const { org, scope, settings, orderingVersion } = subject;
    const position = { label: to, index: settings.modelOrdering.indexOf(to), orderingVersion };
    const moved = await this.parts.stickies.advance({ ...scope, day }, position, from, this.parts.clock.nowMs(), endOfDayMs(org.zones, day));
    if (!moved) return false;
    this.parts.metrics.stickyFlips.inc();
    const usedUp = chain.find(({ label }) => label === from);
    if (usedUp) await this.tell([fallbackAlert(subject, usedUp, to, day)]);
    return true;
  }

  /** A selection is not worth less because its alert could not be written: the worker raises what is missing. */
  private async tell(drafts: readonly (AlertDraft | undefined)[]): Promise<void> {
    for (const draft of drafts) {
      if (draft) await this.parts.alerts.raise(draft).catch((error: unknown) => this.parts.log.warn({ err: error }, 'an alert could not be raised yet'));
    }
  }
}

const conflict = () => new GatewayError('IDEMPOTENCY_CONFLICT', 'this request id was recorded with other figures; nothing was changed');

const invalidLabel = (validLabels: readonly string[]) =>
  new GatewayError('INVALID_MODEL_LABEL', `no such model label; valid are ${validLabels.join(', ')}`, { validLabels });

/** Of what the caller sent: what is computed from it may differ from one attempt to the next. */
const hashOf = (appId: string, { modelLabel, inputTokens, outputTokens, costUsdMicros, callStatus, occurredAt }: CostSubmission): string =>
  sha256(JSON.stringify([appId, modelLabel, inputTokens, outputTokens, costUsdMicros ?? null, callStatus, occurredAt?.getTime() ?? null]));

const receiptOf = ({ requestId, label, day, usage: { costUsdMicros }, priceSource }: CostRecord, replayed: boolean, app: App): CostReceipt => ({
  requestId,
  replayed,
  label,
  day,
  costUsdMicros,
  priceSource,
  app,
});
