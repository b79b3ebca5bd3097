import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, between, type Condition, differs, equals, lessThan, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { epochSeconds } from '../lib/clock.js';
import type { Scope, SpendId } from '../orgs/scope.js';
import { type Counters, usageOf } from './counters.js';
import { type SpendMode, spendModes, type Usage } from './money.js';
import { counterAttributes, dayIn, dayKey, toCounters, totalKey } from './spend.item.js';
import type { DayRules } from './subject.js';

const table = 'daily_total';

/** A total as it was last summed. */
export interface Total extends Usage {
  readonly counters: Counters;
  /** When the day began. Absent on totals from before hours were counted. */
  readonly startsAt?: Date;
  readonly asOf: Date;
  /** Only on the roll-up of an org: the worst mode of its apps. */
  readonly mode?: SpendMode;
  /** On every other total: the quota and threshold in force when the day was last summed, or when it ended. */
  readonly rules?: DayRules;
}

/** What decides the mode of a total: its own rules or, on a roll-up, the worst mode of its apps. */
export type ModeBasis = { readonly rules: DayRules } | { readonly mode: SpendMode };

export interface TotalDraft {
  readonly counters: Counters;
  /** Stored, because the time zones of the org are not known forever. */
  readonly startsAtMs: number;
  readonly asOfMs: number;
  readonly basis: ModeBasis;
  /** A day that is over keeps the rules it ended with. */
  readonly isOver: boolean;
}

/** The daily totals, which selections and reports are based on. */
export class TotalStore {
  constructor(
    private readonly client: StoreClient,
    private readonly totalDays: number,
  ) {}

  async loadTotals(
    ids: readonly SpendId[],
    options: { readonly consistent?: boolean } = {},
  ): Promise<(Total | undefined)[]> {
    const items = await this.client.getMany(table, ids.map(totalKey), options);
    return items.map((item) => item && toTotal(item));
  }

  /** The totals of a label from one day to another, inclusive. Days without a total are left out. */
  async listTotals(
    scope: Scope,
    label: string,
    { from, to }: { readonly from: string; readonly to: string },
    { consistent = false }: { readonly consistent?: boolean } = {},
  ): Promise<{ readonly day: string; readonly total: Total }[]> {
    const { PK } = totalKey({ ...scope, label, day: from });
    const items = await this.client.queryAll({
      table,
      where: and(equals('PK', PK), between('SK', dayKey(from), dayKey(to))),
      consistent,
    });
    return items.map((item) => ({ day: dayIn(fields(table, item).string('SK')), total: toTotal(item) }));
  }

  /**
   * Saves a total only if no figure shrinks and there are more requests or corrections, because a worker with an older
   * read must not overwrite a newer total. The same figures are saved again only if the day is not over and its rules
   * have changed. Returns if the total was saved, and the rules that the stored total has now.
   */
  async saveTotal(
    id: SpendId,
    { counters, startsAtMs, asOfMs, basis, isOver }: TotalDraft,
  ): Promise<{ readonly saved: boolean; readonly rules?: DayRules }> {
    const basisSet = basisAttributes(basis);
    const keepsRules = isOver && 'rules' in basis;
    const outcome = await this.client.write(
      {
        table,
        update: totalKey(id),
        set: {
          ...counterAttributes(counters),
          starts_at_ms: startsAtMs,
          as_of_ms: asOfMs,
          updated_at_epoch: epochSeconds(asOfMs),
          expires_at_epoch: epochSeconds(asOfMs) + this.totalDays * 86_400,
          ...(keepsRules ? {} : basisSet),
        },
        ...(keepsRules ? { setIfAbsent: basisSet } : {}),
        condition: or(
          absent('requests'),
          hasGrownTo(counters),
          ...(isOver ? [] : [and(hasFigures(counters), hasOtherBasis(basisSet))]),
        ),
      },
      { repeat: (old) => old.requests === counters.requests && old.as_of_ms === asOfMs, returnNew: 'all' },
    );
    const item = outcome.done ? outcome.item : outcome.old;
    const rules = item && toTotal(item).rules;
    return { saved: outcome.done, ...(rules ? { rules } : {}) };
  }
}

/** The attributes that only grow. Those of corrections are absent until the first one. */
const growing = (counters: Counters): readonly [name: string, value: number][] => [
  ['requests', counters.requests],
  ['cost_usd_micros', counters.grossUsdMicros],
  ['input_tokens', counters.inputTokens],
  ['output_tokens', counters.outputTokens],
];
const growingCorrections = (counters: Counters): readonly [name: string, value: number][] => [
  ['corrections', counters.corrections],
  ['debit_usd_micros', counters.debitUsdMicros],
  ['credit_usd_micros', counters.creditUsdMicros],
];

const hasGrownTo = (counters: Counters): Condition =>
  and(
    or(lessThan('requests', counters.requests), ...(counters.corrections === 0 ? [] : [hasFewerCorrections(counters)])),
    ...growing(counters).map(([name, value]) => atMost(name, value)),
    ...growingCorrections(counters).map(([name, value]) => or(absent(name), atMost(name, value))),
  );

const hasFewerCorrections = ({ corrections }: Counters): Condition =>
  or(absent('corrections'), lessThan('corrections', corrections));

const hasFigures = (counters: Counters): Condition =>
  and(
    ...growing(counters).map(([name, value]) => equals(name, value)),
    counters.corrections === 0 ? absent('corrections') : equals('corrections', counters.corrections),
  );

const hasOtherBasis = (basis: BasisAttributes): Condition =>
  or(...Object.entries(basis).flatMap(([name, value]) => [absent(name), differs(name, value)]));

type BasisAttributes = Readonly<Record<string, string | number | null>>;

/**
 * "No quota" is stored as null. An absent attribute would mean that no rules were stored yet, and a late cost would set
 * them.
 */
const basisAttributes = (basis: ModeBasis): BasisAttributes =>
  'mode' in basis
    ? { worst_mode: basis.mode }
    : { quota_usd_micros: basis.rules.quotaUsdMicros ?? null, threshold_pct: basis.rules.thresholdPct };

function toTotal(item: Item): Total {
  const read = fields(table, item);
  const mode = read.optionalOneOf('worst_mode', spendModes);
  const thresholdPct = read.optionalNumber('threshold_pct');
  const quota = item.quota_usd_micros === null ? undefined : read.optionalNumber('quota_usd_micros');
  const counters = toCounters(table, item);
  const startsAt = read.optionalDate('starts_at_ms');
  return {
    ...usageOf(counters),
    counters,
    ...(startsAt ? { startsAt } : {}),
    asOf: read.date('as_of_ms'),
    ...(mode ? { mode } : {}),
    ...(thresholdPct === undefined
      ? {}
      : { rules: { ...(quota === undefined ? {} : { quotaUsdMicros: quota }), thresholdPct } }),
  };
}
