import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, refuseAny } from '../lib/errors.js';
import { sha256 } from '../lib/id.js';
import { dayAt } from '../orgs/calendar.js';
import { type SpendId, scopeKey, scopeOf } from '../orgs/scope.js';
import type { App, Org } from '../orgs/settings.js';
import type { ExactService } from './exact.service.js';
import type { LabelStore } from './label.store.js';
import { amountIssues, costOf, mostACall } from './money.js';
import { daysBetween } from './open-days.js';
import { type CatalogModel, invalidLabel, type Price } from './price.js';
import type { PriceService } from './price.service.js';
import {
  type DaySpend,
  type DayView,
  daySpend,
  type Figures,
  knownLabels,
  type SpendReader,
  type Subject,
} from './report.js';
import type { CostRecord, SpendStore } from './spend.store.js';
import type { TotalService } from './total.service.js';

const backMs = 24 * 3_600_000;
const aheadMs = 5 * 60_000;
const maxDays = 366;
const historyAdvice = 'ask for fewer days, or for fewer apps at once';

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

export interface SpendDeps {
  readonly store: SpendStore;
  readonly labels: LabelStore;
  readonly totals: TotalService;
  readonly exact: ExactService;
  readonly prices: PriceService;
  readonly clock: Clock;
}

export class SpendService {
  constructor(private readonly deps: SpendDeps) {}

  /** Records a cost once. A retry returns the first receipt; a retry with a different payload is an IDEMPOTENCY_CONFLICT. */
  async submitCost(app: App, input: CostSubmission): Promise<CostReceipt> {
    refuseAny(amountIssues(input));
    const receivedAtMs = this.deps.clock.nowMs();
    const occurredAtMs = input.occurredAt?.getTime() ?? receivedAtMs;
    const payloadHash = hashOf(app.appId, input);
    const model = this.deps.prices.catalog.get(input.modelLabel);
    if (!model)
      return this.earlierReceipt(app, input.requestId, payloadHash, () =>
        invalidLabel([...this.deps.prices.catalog.keys()]),
      );
    const isOutside = occurredAtMs < receivedAtMs - backMs || occurredAtMs > receivedAtMs + aheadMs;
    if (isOutside) return this.earlierReceipt(app, input.requestId, payloadHash, outsideWindow);
    const { costUsdMicros, ...priced } = await this.priced(input, model, occurredAtMs);
    const { inputTokens, outputTokens, requestId, callStatus } = input;
    const { orgId, appId, org } = app;
    const id: SpendId = { ...scopeOf(app), label: model.label, day: dayAt(org.zones, occurredAtMs) };
    const usage = { costUsdMicros, inputTokens, outputTokens, requests: 1 };
    const call = { callStatus, occurredAtMs, receivedAtMs };
    // Before the cost: a report that finds the cost's shard must also know its label.
    await this.deps.labels.note(orgId, id.label);
    const record = { requestId, orgId, appId, label: id.label, day: id.day, payloadHash, usage, ...priced, ...call };
    const recorded = await this.deps.store.record(id, org.shardCount, record);
    if (recorded.kind === 'conflict') throw conflict();
    return receiptOf(recorded.record, recorded.kind === 'replayed', app);
  }

  /** Resolves when all that was submitted has its answer. */
  flush(): Promise<void> {
    return this.deps.store.flush();
  }

  /** A day's spend, as last summed or as it is this moment. */
  async day(
    subject: Subject,
    named: string | null | undefined,
    consistency: Consistency,
    reader: SpendReader,
  ): Promise<DaySpend> {
    const today = this.today(subject.org);
    const day = named ?? today;
    if (day > today)
      throw badInput({ path: 'day', message: `is in the future: today is ${today} in the org's time zone` });
    const view: DayView = { subject, catalog: this.deps.prices.catalog, day, isOver: day < today };
    const exact = () =>
      reader.once(`exact ${scopeKey(subject.scope)} ${day}`, () => this.deps.exact.figures(view, reader));
    return daySpend(view, await (consistency === 'EXACT' ? exact() : this.aggregated(view, reader)));
  }

  /** Every day of a range, both ends included, oldest first. */
  async history(subject: Subject, from: string, to: string, reader: SpendReader): Promise<DaySpend[]> {
    const { catalog } = this.deps.prices;
    const today = this.today(subject.org);
    const count = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
    refuseAny([
      ...(count < 1 ? [{ path: 'to', message: 'is before `from`' }] : []),
      ...(count > maxDays
        ? [{ path: 'from', message: `the range has ${count} days, more than the maximum of ${maxDays}` }]
        : []),
      ...(to > today ? [{ path: 'to', message: `is in the future: today is ${today} in the org's time zone` }] : []),
    ]);
    reader.charge(count, historyAdvice);
    const labels = [...new Set([...knownLabels(subject, catalog), ...(await reader.labels(subject.org.orgId))])];
    // By now all other fields of the operation have charged theirs, and one past the bound reads nothing.
    reader.charge(0, historyAdvice);
    const totals = await Promise.all(labels.map((label) => this.deps.totals.list(subject.scope, label, from, to)));
    return daysBetween(from, to).map((day) =>
      daySpend(
        { subject, catalog, day, isOver: day < today },
        new Map(labels.map((label, i) => [label, totals[i]?.get(day)])),
      ),
    );
  }

  private async aggregated(
    { subject, catalog, day }: DayView,
    reader: SpendReader,
  ): Promise<ReadonlyMap<string, Figures | undefined>> {
    const load = (labels: readonly string[]) =>
      Promise.all(labels.map(async (label) => [label, await reader.total({ ...subject.scope, label, day })] as const));
    const known = knownLabels(subject, catalog);
    const [stored, totals] = await Promise.all([reader.labels(subject.org.orgId), load(known)]);
    return new Map([...totals, ...(await load(stored.filter((label) => !known.includes(label))))]);
  }

  private today({ zones }: Org): string {
    return dayAt(zones, this.deps.clock.nowMs());
  }

  private async priced(
    input: CostSubmission,
    model: CatalogModel,
    atMs: number,
  ): Promise<Pick<CostRecord, 'priceSource' | 'unitPrice'> & { costUsdMicros: number }> {
    if (typeof input.costUsdMicros === 'number')
      return { costUsdMicros: input.costUsdMicros, priceSource: 'SUBMITTED' };
    const { inputUsdMicrosPer1M, outputUsdMicrosPer1M, source } = await this.deps.prices.at(model, atMs);
    const priced = costOf(input, { inputUsdMicrosPer1M, outputUsdMicrosPer1M, source });
    if (priced.costUsdMicros > mostACall)
      throw badInput({
        path: 'input.inputTokens',
        message: `so many tokens cost more than ${mostACall} micro-dollars, the maximum of one call`,
      });
    return { ...priced, unitPrice: { inputUsdMicrosPer1M, outputUsdMicrosPer1M } };
  }

  /** A retry may come long after its call, or after its label has left the catalog. It still gets the receipt of the first attempt. */
  private async earlierReceipt(
    app: App,
    requestId: string,
    payloadHash: string,
    refusal: () => GatewayError,
  ): Promise<CostReceipt> {
    const record = await this.deps.store.loadRecord({ orgId: app.orgId, appId: app.appId, requestId });
    if (!record) throw refusal();
    if (record.payloadHash !== payloadHash) throw conflict();
    return receiptOf(record, true, app);
  }
}

const conflict = () =>
  new GatewayError('IDEMPOTENCY_CONFLICT', 'this requestId was recorded with a different payload; nothing was changed');

const outsideWindow = () =>
  badInput({ path: 'input.occurredAt', message: 'must lie within the last 24 hours, or at most 5 minutes ahead' });

/** Of what the caller sent: what is computed from it may differ from one attempt to the next. */
const hashOf = (
  appId: string,
  { modelLabel, inputTokens, outputTokens, costUsdMicros, callStatus, occurredAt }: CostSubmission,
): string =>
  sha256(
    JSON.stringify([
      appId,
      modelLabel,
      inputTokens,
      outputTokens,
      costUsdMicros ?? null,
      callStatus,
      occurredAt?.getTime() ?? null,
    ]),
  );

const receiptOf = (
  { requestId, label, day, usage: { costUsdMicros }, priceSource }: CostRecord,
  replayed: boolean,
  app: App,
): CostReceipt => ({
  requestId,
  replayed,
  label,
  day,
  costUsdMicros,
  priceSource,
  app,
});
