import type { Clock } from '../../lib/clock.js';
import { badInput } from '../../lib/errors.js';
import { dayAt } from '../../orgs/calendar.js';
import type { Scope } from '../../orgs/scope.js';
import type { AppRecord, Org } from '../../orgs/settings.js';
import { type Counters, noCounters, sumCounters, unattributed, usageOf } from '../counters.js';
import type { LabelStore } from '../label.store.js';
import { daysBetween } from '../open-days.js';
import { labelsOf, orgSubject } from '../subject.js';
import type { TotalStore } from '../total.store.js';
import type { ExportRequest, ExportRow } from './export.js';
import { ledgerOff } from './ledger.js';
import type { LedgerStore } from './ledger.store.js';
import { ledgerPartitions } from './ledger-key.js';
import { netUsdMicros, type RecordedCost } from './recorded-cost.item.js';

const hourMs = 3_600_000;

export interface ExportDeps {
  readonly totals: TotalStore;
  readonly ledger: LedgerStore;
  readonly labels: LabelStore;
  readonly apps: { listAllApps(orgId: string): Promise<AppRecord[]> };
  readonly clock: Clock;
}

/** The range of an export and the labels in it. */
interface ExportRange extends Pick<ExportRequest, 'from' | 'to'> {
  readonly org: Org;
  readonly labels: readonly string[];
}

/** The spend of an org as rows, read as they are needed. The rows of a day sum to what `spendHistory` shows. */
export class ExportService {
  constructor(private readonly deps: ExportDeps) {}

  /** Throws if the export is not possible. Reads nothing but the labels before the first row is requested. */
  async open(org: Org, { by, from, to }: ExportRequest): Promise<AsyncGenerator<ExportRow>> {
    const today = dayAt(org.zones, this.deps.clock.nowMs());
    if (to > today)
      throw badInput({ path: 'to', message: `is in the future: today is ${today} in the org's time zone` });
    if (by === 'cost' && !org.ledger) throw badInput({ path: 'by', message: ledgerOff });
    if (by === 'app' && org.quotaScope === 'ORG' && !org.attributeApps)
      throw badInput({
        path: 'by',
        message: 'costs are not counted per app; switch it on with `updateOrg(input: { attributeApps: true })`',
      });
    const stored = await this.deps.labels.load(org.orgId);
    const labels = labelsOf(orgSubject(org), stored).sort();
    const range = { org, labels, from, to };
    switch (by) {
      case 'label':
        return this.byLabel(range);
      case 'app':
        return this.byApp(range);
      case 'hour':
        return this.byHour(range);
      case 'cost':
        return this.byCost(range);
    }
  }

  private async *byLabel({ org: { orgId }, labels, from, to }: ExportRange): AsyncGenerator<ExportRow> {
    for (const label of labels)
      for await (const { day, counters } of this.days({ orgId }, label, { from, to }))
        yield { day, label, ...figuresOf(counters) };
  }

  /** Also one row without an app per label and day, if the apps do not sum to the total of the org. */
  private async *byApp({ org: { orgId }, labels, from, to }: ExportRange): AsyncGenerator<ExportRow> {
    const apps = await this.deps.apps.listAllApps(orgId);
    for (const label of labels) {
      const counted = new Map<string, Counters>();
      for (const { appId } of apps)
        for await (const { day, counters } of this.days({ orgId, appId }, label, { from, to })) {
          counted.set(day, sumCounters([counted.get(day) ?? noCounters, counters]));
          yield { day, appId, label, ...figuresOf(counters) };
        }
      for await (const { day, counters } of this.days({ orgId }, label, { from, to })) {
        const rest = difference(figuresOf(counters), figuresOf(counted.get(day) ?? noCounters));
        if (Object.values(rest).some((figure) => figure !== 0)) yield { day, appId: null, label, ...rest };
      }
    }
  }

  /** Also one row without a start per label and day, if some costs are from before hours were counted. */
  private async *byHour({ org: { orgId }, labels, from, to }: ExportRange): AsyncGenerator<ExportRow> {
    for (const label of labels)
      for await (const { day, counters, startsAtMs = 0 } of this.days({ orgId }, label, { from, to })) {
        const hours = [...counters.hours].sort(([a], [b]) => a - b);
        for (const [hour, { costUsdMicros, requests }] of hours) {
          const startsAt = new Date(startsAtMs + hour * hourMs).toISOString();
          yield { startsAt, day, label, costUsdMicros, requests };
        }
        const { costUsdMicros, requests } = unattributed(counters);
        if (costUsdMicros !== 0 || requests !== 0) yield { startsAt: null, day, label, costUsdMicros, requests };
      }
  }

  private async *byCost({ org: { orgId, shardCount }, from, to }: ExportRange): AsyncGenerator<ExportRow> {
    const ledger = { orgId, partitions: ledgerPartitions(shardCount), days: daysBetween(from, to) };
    for await (const cost of this.deps.ledger.scan(ledger)) yield costRow(cost);
  }

  /** The totals of a label, oldest first. */
  private async *days(scope: Scope, label: string, { from, to }: Pick<ExportRange, 'from' | 'to'>) {
    for (const { day, total } of await this.deps.totals.listTotals(scope, label, { from, to }))
      yield { day, counters: total.counters, ...(total.startsAt ? { startsAtMs: total.startsAt.getTime() } : {}) };
  }
}

type RowFigures = ReturnType<typeof figuresOf>;

const figuresOf = (counters: Counters) => ({
  ...usageOf(counters),
  corrections: counters.corrections,
  debitUsdMicros: counters.debitUsdMicros,
  creditUsdMicros: counters.creditUsdMicros,
});

const difference = (a: RowFigures, b: RowFigures): RowFigures => ({
  costUsdMicros: a.costUsdMicros - b.costUsdMicros,
  inputTokens: a.inputTokens - b.inputTokens,
  outputTokens: a.outputTokens - b.outputTokens,
  requests: a.requests - b.requests,
  corrections: a.corrections - b.corrections,
  debitUsdMicros: a.debitUsdMicros - b.debitUsdMicros,
  creditUsdMicros: a.creditUsdMicros - b.creditUsdMicros,
});

function costRow(cost: RecordedCost): ExportRow {
  const { requestId, appId, label, day, usage, occurredAtMs, receivedAtMs, callStatus, priceSource, dimensions } =
    cost.record;
  return {
    requestId,
    appId,
    label,
    day,
    occurredAt: new Date(occurredAtMs).toISOString(),
    receivedAt: new Date(receivedAtMs).toISOString(),
    costUsdMicros: netUsdMicros(cost),
    recordedUsdMicros: usage.costUsdMicros,
    corrections: cost.correctionIds.length,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    status: callStatus,
    estimated: cost.record.isEstimated === true,
    priceSource,
    dimensions: dimensions ? Object.fromEntries(dimensions.map(({ name, value }) => [name, value])) : null,
  };
}
