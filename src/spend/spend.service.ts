import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, refuseAny } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import type { App, AppRecord, Org } from '../orgs/settings.js';
import { inForce } from '../orgs/settings.js';
import { dayAt, nextDate } from './calendar.js';
import { amountIssues, costOf, mostACall, sum, type Usage, worstMode } from './money.js';
import { type CatalogModel, invalidLabel, type Price } from './price.js';
import type { PriceService } from './price.service.js';
import { appSubject, type DaySpend, daySpend, type Figures, labelSpend, type SpendReader, type Subject } from './report.js';
import { type SpendId, scopeOf } from './scope.js';
import type { CostRecord, SpendStore } from './spend.store.js';

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

export type Consistency = 'AGGREGATED' | 'EXACT';

export interface SpendParts {
  readonly store: SpendStore;
  readonly prices: PriceService;
  readonly apps: { listAllApps(orgId: string): Promise<AppRecord[]> };
  readonly clock: Clock;
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
    const subjects = (await this.parts.apps.listAllApps(org.orgId)).map((app) => appSubject(inForce(org, app)));
    const sums: Usage[][] = [];
    // One app after the other: an org may have many, and other callers need the store too.
    for (const app of subjects)
      sums.push(
        await this.parts.store.sumShards(
          labels.map((label) => ({ ...app.scope, label, day })),
          org.shardCount,
        ),
      );
    return labels.map((label, l) => {
      const modes = subjects.map((app, a) => labelSpend(app, this.parts.prices.catalog, label, sums[a]?.[l]).mode);
      return { ...sum(sums.map((usages) => usages[l] as Usage)), mode: worstMode(modes), asOf };
    });
  }
}

const conflict = () => new GatewayError('IDEMPOTENCY_CONFLICT', 'this request id was recorded with other figures; nothing was changed');

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
