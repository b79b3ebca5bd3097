import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, refuseAny } from '../lib/errors.js';
import { dayAt, hourOfDay } from '../orgs/calendar.js';
import { type SpendId, scopeKey, scopeOf } from '../orgs/scope.js';
import type { App, Org } from '../orgs/settings.js';
import { type Dimension, dimensionValueIssues } from './breakdown/dimension.js';
import type { DimensionValueService } from './breakdown/dimension-value.service.js';
import { type CatalogModel, invalidLabel } from './catalog/catalog.js';
import { type CostLine, linesOf } from './catalog/cost-lines.js';
import type { PriceSource } from './catalog/price.js';
import type { PriceService } from './catalog/price.service.js';
import type { CostRecord, RequestRef } from './cost.item.js';
import type { CostStore } from './cost.store.js';
import { outcomeOf, type RecordOutcome } from './cost-group.store.js';
import { maxHours } from './counters.js';
import { rangeIssues } from './day-range.js';
import { type DaySpend, type DayView, daySpend, type Figures } from './day-spend.js';
import type { ExactService } from './exact.service.js';
import { admissionGone } from './held/gone.js';
import type { HoldService } from './held/hold.service.js';
import type { Reservation } from './held/reservation.item.js';
import type { LabelStore } from './label.store.js';
import { ledgerPartitions } from './ledger/ledger-key.js';
import { amountIssues, costOf } from './money.js';
import { daysBetween } from './open-days.js';
import { type CostPayload, payloadHashOf } from './payload-hash.js';
import type { SpendReader } from './spend-reader.js';
import { configuredLabels, labelsOf, type Subject } from './subject.js';
import type { TotalService } from './total.service.js';

// Reading order of this folder. Rules: money, price, subject (whose spend), day-spend (reports), selection,
// quota-alert. Costs: this file, cost.store and cost.item. Aggregation: spend.rollup, org-day.service, shard.store,
// total.store. Reports: this file, total.service, exact.service. Model selection: selection.service, sticky.store.
// Models and prices: catalog/. Recorded calls, corrections and exports: ledger/.

const maxAgeMs = 24 * 3_600_000;
const maxAheadMs = 5 * 60_000;
const maxDays = 366;
const historyAdvice = 'request fewer days, or fewer apps in one operation';

export interface CostSubmission extends CostPayload {
  readonly requestId: string;
  readonly callStatus: CostRecord['callStatus'];
}

export interface CostReceipt {
  readonly requestId: string;
  readonly replayed: boolean;
  readonly label: string;
  readonly day: string;
  readonly costUsdMicros: number;
  readonly priceSource: PriceSource;
  /** True if the usage was not known exactly. */
  readonly estimated: boolean;
  /** The addends of a computed cost. */
  lines(): CostLine[];
  readonly app: App;
}

export type Consistency = 'AGGREGATED' | 'EXACT';

export interface SpendDeps {
  readonly costs: CostStore;
  readonly labels: LabelStore;
  readonly totals: TotalService;
  readonly exact: ExactService;
  readonly prices: PriceService;
  readonly dimensionValues: DimensionValueService;
  readonly holds: HoldService;
  readonly clock: Clock;
}

export class SpendService {
  constructor(private readonly deps: SpendDeps) {}

  /**
   * Records a cost once. A retry returns the first receipt. A retry with another payload is an IDEMPOTENCY_CONFLICT.
   * The cost of an admitted call settles its reservation.
   */
  async submitCost(app: App, input: CostSubmission): Promise<CostReceipt> {
    const outcome = await this.record(app, input);
    if (outcome.kind !== 'reserved') return receiptFor(outcome, app);
    return receiptFor(await this.record(app, input, outcome.reservation), app);
  }

  /**
   * Records the cost of an admitted call. It counts on the day of its reservation, or on the day of its arrival if that
   * was more than 24 hours ago.
   */
  async settle(app: App, reservation: Reservation, input: CostSubmission): Promise<CostReceipt> {
    return receiptFor(await this.record(app, input, reservation), app);
  }

  private async record(app: App, input: CostSubmission, reservation?: Reservation): Promise<RecordOutcome> {
    refuseAny([...amountIssues(input), ...dimensionValueIssues(input.dimensions ?? [], app.org.dimensions)]);
    const receivedAtMs = this.deps.clock.nowMs();
    const admitted = reservation && reservation.reservedAtMs >= receivedAtMs - maxAgeMs ? reservation : undefined;
    const occurredAtMs = input.occurredAt?.getTime() ?? admitted?.reservedAtMs ?? receivedAtMs;
    const payloadHash = payloadHashOf(app.appId, input);
    const { orgId, appId, org } = app;
    const ref = { orgId, appId, requestId: input.requestId };
    const model = this.deps.prices.catalog.get(input.modelLabel);
    const hasCost = reservation !== undefined && typeof input.costUsdMicros === 'number';
    if (!model && !hasCost)
      return this.earlierOutcome(ref, payloadHash, () => invalidLabel(this.deps.prices.catalog.keys()));
    const isOutside = occurredAtMs < receivedAtMs - maxAgeMs || occurredAtMs > receivedAtMs + maxAheadMs;
    // The time of a reservation is that of another gateway, whose clock may be ahead. The caller cannot change it.
    if (input.occurredAt && isOutside) return this.earlierOutcome(ref, payloadHash, outsideWindow);
    const cost = await costOf(input, () => this.deps.prices.at(model as CatalogModel, occurredAtMs, orgId));
    if (cost instanceof GatewayError) return this.earlierOutcome(ref, payloadHash, () => cost);
    const { costUsdMicros, ...price } = cost;
    const { inputTokens, outputTokens, callStatus, modelLabel: label } = input;
    const isOfReservation = admitted && !input.occurredAt && admitted.label === label;
    const day = isOfReservation ? admitted.day : dayAt(org.zones, occurredAtMs);
    const id: SpendId = { ...scopeOf(app), label, day };
    const usage = { costUsdMicros, inputTokens, outputTokens, requests: 1 };
    const components = input.components?.length ? { components: input.components } : {};
    const estimated = input.estimated ? { isEstimated: true as const } : {};
    const call = { callStatus, occurredAtMs, receivedAtMs, ...components, ...estimated };
    // Before the cost, because a report must know the label of every shard that has costs.
    await this.deps.labels.add(orgId, label);
    const counted = await this.countedUnder(app, day, occurredAtMs, input.dimensions ?? []);
    const record: CostRecord = { ...ref, label, day, payloadHash, ...counted, usage, ...price, ...call };
    const charges = await this.deps.holds.limitsOf(app, label, day);
    const settled = reservation ? { reservation } : {};
    return this.deps.costs.record({ id, shardCount: org.shardCount, record, charges, ...settled });
  }

  /** The spend of a day, as last aggregated or exact. */
  async day(
    subject: Subject,
    requestedDay: string | null | undefined,
    consistency: Consistency,
    reader: SpendReader,
  ): Promise<DaySpend> {
    const today = this.today(subject.org);
    const day = requestedDay ?? today;
    if (day > today)
      throw badInput({ path: 'day', message: `is in the future: today is ${today} in the org's time zone` });
    const view: DayView = { subject, catalog: this.deps.prices.catalog, day, isOver: day < today };
    const exact = () =>
      reader.once(`exact ${scopeKey(subject.scope)} ${day}`, () => this.deps.exact.figures(view, reader));
    return daySpend(view, await (consistency === 'EXACT' ? exact() : this.aggregated(view, reader)));
  }

  /** The spend of every day of a range, both ends included, oldest first. */
  async history(subject: Subject, from: string, to: string, reader: SpendReader): Promise<DaySpend[]> {
    const { catalog } = this.deps.prices;
    const today = this.today(subject.org);
    refuseAny(rangeIssues({ from, to }, maxDays, today));
    reader.charge(daysBetween(from, to).length, historyAdvice);
    const labels = labelsOf(subject, await reader.labels(subject.org.orgId));
    // By now all other fields of the operation have charged too. If the operation exceeds its bound, no total is read.
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
    { subject, day }: DayView,
    reader: SpendReader,
  ): Promise<ReadonlyMap<string, Figures | undefined>> {
    const load = (labels: readonly string[]) =>
      Promise.all(labels.map(async (label) => [label, await reader.total({ ...subject.scope, label, day })] as const));
    const configured = configuredLabels(subject);
    const [stored, totals] = await Promise.all([reader.labels(subject.org.orgId), load(configured)]);
    return new Map([...totals, ...(await load(stored.filter((label) => !configured.includes(label))))]);
  }

  /** What a cost counts under, beside its scope and label. */
  private async countedUnder(
    { orgId, org }: App,
    day: string,
    occurredAtMs: number,
    dimensions: readonly Dimension[],
  ): Promise<Pick<CostRecord, 'hour' | 'dimensions' | 'isAttributed' | 'ledgerPartitions'>> {
    return {
      hour: Math.min(maxHours - 1, hourOfDay(org.zones, day, occurredAtMs)),
      ...(dimensions.length === 0
        ? {}
        : { dimensions: await this.deps.dimensionValues.countedAs(orgId, day, dimensions) }),
      ...(org.attributeApps && org.quotaScope === 'ORG' ? { isAttributed: true } : {}),
      ...(org.ledger ? { ledgerPartitions: ledgerPartitions(org.shardCount) } : {}),
    };
  }

  private today({ zones }: Org): string {
    return dayAt(zones, this.deps.clock.nowMs());
  }

  /**
   * The outcome of the first attempt, for a retry that comes long after its call, or after its label or a price
   * has left the catalog. Throws `refusal` if there was no first attempt.
   */
  private async earlierOutcome(
    ref: RequestRef,
    payloadHash: string,
    refusal: () => GatewayError,
  ): Promise<RecordOutcome> {
    const stored = await this.deps.costs.loadRequest(ref);
    if (!stored || stored.state === 'RESERVED') throw refusal();
    return outcomeOf(stored, payloadHash);
  }
}

/** The receipt of a recorded cost. Throws if there is none. */
function receiptFor(outcome: RecordOutcome, app: App): CostReceipt {
  if (outcome.kind === 'recorded' || outcome.kind === 'replayed')
    return receiptOf(outcome.record, outcome.kind === 'replayed', app);
  if (outcome.kind === 'gone') throw admissionGone();
  throw conflict();
}

const conflict = () =>
  new GatewayError(
    'IDEMPOTENCY_CONFLICT',
    'this requestId was already recorded with another payload; nothing was changed',
  );

const outsideWindow = () =>
  badInput({
    path: 'input.occurredAt',
    message: 'must be at most 24 hours in the past and at most 5 minutes in the future',
  });

const receiptOf = (record: CostRecord, replayed: boolean, app: App): CostReceipt => ({
  requestId: record.requestId,
  replayed,
  label: record.label,
  day: record.day,
  costUsdMicros: record.usage.costUsdMicros,
  priceSource: record.priceSource,
  estimated: record.isEstimated === true,
  lines: () => linesOf({ ...record.usage, components: record.components }, record.unitPrices),
  app,
});
