import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, between, type Condition, differs, equals, lessThan, or } from '../dynamo/expression.js';
import { epochSeconds } from '../lib/clock.js';
import type { Scope, SpendId } from '../orgs/scope.js';
import type { SpendMode, Usage } from './money.js';
import type { DayRules } from './report.js';
import { dashed, dayKey, totalKey, toUsage, usageAttributes } from './spend-item.js';

const table = 'daily_total';

/** A total as last summed. */
export interface Total extends Usage {
  readonly asOf: Date;
  /** On an org's roll-up only: the worst mode of its apps. */
  readonly mode?: SpendMode;
  /** On every other total: the quota and threshold in force when the day was last summed, or when it ended. */
  readonly rules?: DayRules;
}

/** How a total is judged: by its own rules, or as a roll-up by the worst mode of its apps. */
export type Judgement = { readonly rules: DayRules } | { readonly mode: SpendMode };

export interface TotalDraft {
  readonly usage: Usage;
  readonly asOfMs: number;
  readonly judgement: Judgement;
  /** A day that is over keeps the rules that it ended with. */
  readonly isOver: boolean;
}

/** The daily totals: what selections and reports go by. */
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

  /** A label's totals from day to day, both included; days without any are left out. */
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
    return items.map((item) => ({ day: dashed((item.SK as string).slice('DAY#'.length)), total: toTotal(item) }));
  }

  /**
   * Saves a total only if it has grown in every figure: of two workers, the one that read earlier must not undo the other.
   * The same figures are saved again only if the day is not over and its rules have changed. Returns whether it was saved,
   * and the rules that the stored total has now.
   */
  async saveTotal(
    id: SpendId,
    { usage, asOfMs, judgement, isOver }: TotalDraft,
  ): Promise<{ readonly saved: boolean; readonly rules?: DayRules }> {
    const judged = judgementAttributes(judgement);
    const outcome = await this.client.write(
      {
        table,
        update: totalKey(id),
        set: {
          ...usageAttributes(usage),
          as_of_ms: asOfMs,
          updated_at_epoch: epochSeconds(asOfMs),
          expires_at_epoch: epochSeconds(asOfMs) + this.totalDays * 86_400,
          ...(isOver && 'rules' in judgement ? {} : judged),
        },
        ...(isOver && 'rules' in judgement ? { setIfAbsent: judged } : {}),
        condition: or(
          absent('requests'),
          hasGrownTo(usage),
          ...(isOver ? [] : [and(isStill(usage), isJudgedOtherwise(judged))]),
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

const isStill = (usage: Usage): Condition =>
  and(...Object.entries(usageAttributes(usage)).map(([name, value]) => equals(name, value)));

const isJudgedOtherwise = (judged: Item): Condition =>
  or(
    ...Object.entries(judged).flatMap(([name, value]) => [
      absent(name),
      differs(name, value as string | number | null),
    ]),
  );

/** No quota is stored as null: a late cost must not take it for a quota that was never stamped. */
const judgementAttributes = (judgement: Judgement): Item =>
  'mode' in judgement
    ? { worst_mode: judgement.mode }
    : { quota_usd_micros: judgement.rules.quotaUsdMicros ?? null, threshold_pct: judgement.rules.thresholdPct };

function toTotal(item: Item): Total {
  const quota = item.quota_usd_micros as number | null | undefined;
  const thresholdPct = item.threshold_pct as number | undefined;
  return {
    ...toUsage(item),
    asOf: new Date(item.as_of_ms as number),
    ...(item.worst_mode ? { mode: item.worst_mode as SpendMode } : {}),
    ...(thresholdPct === undefined
      ? {}
      : { rules: { ...(typeof quota === 'number' ? { quotaUsdMicros: quota } : {}), thresholdPct } }),
  };
}
