import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, between, type Condition, differs, equals, lessThan, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { epochSeconds } from '../lib/clock.js';
import type { Scope, SpendId } from '../orgs/scope.js';
import { type SpendMode, spendModes, type Usage } from './money.js';
import { dayIn, dayKey, totalKey, toUsage, usageAttributes } from './spend.item.js';
import type { DayRules } from './subject.js';

const table = 'daily_total';

/** A total as it was last summed. */
export interface Total extends Usage {
  readonly asOf: Date;
  /** Only on the roll-up of an org: the worst mode of its apps. */
  readonly mode?: SpendMode;
  /** On every other total: the quota and threshold in force when the day was last summed, or when it ended. */
  readonly rules?: DayRules;
}

/** What decides the mode of a total: its own rules or, on a roll-up, the worst mode of its apps. */
export type ModeBasis = { readonly rules: DayRules } | { readonly mode: SpendMode };

export interface TotalDraft {
  readonly usage: Usage;
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
    from: string,
    to: string,
  ): Promise<{ readonly day: string; readonly total: Total }[]> {
    const { PK } = totalKey({ ...scope, label, day: from });
    const items = await this.client.queryAll({
      table,
      where: and(equals('PK', PK), between('SK', dayKey(from), dayKey(to))),
    });
    return items.map((item) => ({ day: dayIn(fields(table, item).string('SK')), total: toTotal(item) }));
  }

  /**
   * Saves a total only if no figure shrinks and `requests` has grown, because a worker with an older read must not
   * overwrite a newer total. The same figures are saved again only if the day is not over and its rules have changed.
   * Returns if the total was saved, and the rules that the stored total has now.
   */
  async saveTotal(
    id: SpendId,
    { usage, asOfMs, basis, isOver }: TotalDraft,
  ): Promise<{ readonly saved: boolean; readonly rules?: DayRules }> {
    const basisSet = basisAttributes(basis);
    const keepsRules = isOver && 'rules' in basis;
    const outcome = await this.client.write(
      {
        table,
        update: totalKey(id),
        set: {
          ...usageAttributes(usage),
          as_of_ms: asOfMs,
          updated_at_epoch: epochSeconds(asOfMs),
          expires_at_epoch: epochSeconds(asOfMs) + this.totalDays * 86_400,
          ...(keepsRules ? {} : basisSet),
        },
        ...(keepsRules ? { setIfAbsent: basisSet } : {}),
        condition: or(
          absent('requests'),
          hasGrownTo(usage),
          ...(isOver ? [] : [and(hasFigures(usage), hasOtherBasis(basisSet))]),
        ),
      },
      { repeat: (old) => old.requests === usage.requests && old.as_of_ms === asOfMs, returnNew: 'all' },
    );
    const item = outcome.done ? outcome.item : outcome.old;
    const rules = item && toTotal(item).rules;
    return { saved: outcome.done, ...(rules ? { rules } : {}) };
  }
}

const hasGrownTo = (usage: Usage): Condition =>
  and(
    lessThan('requests', usage.requests),
    atMost('cost_usd_micros', usage.costUsdMicros),
    atMost('input_tokens', usage.inputTokens),
    atMost('output_tokens', usage.outputTokens),
  );

const hasFigures = (usage: Usage): Condition =>
  and(...Object.entries(usageAttributes(usage)).map(([name, value]) => equals(name, value)));

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
  return {
    ...toUsage(table, item),
    asOf: read.date('as_of_ms'),
    ...(mode ? { mode } : {}),
    ...(thresholdPct === undefined
      ? {}
      : { rules: { ...(quota === undefined ? {} : { quotaUsdMicros: quota }), thresholdPct } }),
  };
}
