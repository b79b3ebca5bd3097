import type { Item, StoreClient } from '../../dynamo/client.js';
import { absent, equals } from '../../dynamo/expression.js';
import { type Fields, fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { epochSeconds } from '../../lib/clock.js';
import { newUuid } from '../../lib/id.js';
import { compactDate } from '../../orgs/calendar.js';
import { midnightOf } from '../../orgs/zone-dates.js';
import type { BudgetPeriodId, BudgetState } from './budget-state.js';

const table = 'daily_total';
/** A month, and the time in which one of its days may still be corrected. */
const minStateDays = 90;

/** A state as it is stored. `writes` counts its writes: a save is a conditional write on the count that was read. */
export interface StoredState extends BudgetState {
  readonly writes: number;
}

export const budgetStateKey = ({ orgId, name, firstDay }: BudgetPeriodId) => ({
  PK: key`ORG#${orgId}#BUDGET#${name}`,
  SK: key`PERIOD#${compactDate(firstDay)}`,
});

/** The spend of budgets per period. Selections read it, so that none has to sum totals. */
export class BudgetStateStore {
  constructor(
    private readonly client: StoreClient,
    private readonly totalDays: number,
  ) {}

  async loadMany(
    ids: readonly BudgetPeriodId[],
    options: { readonly consistent?: boolean } = {},
  ): Promise<(StoredState | undefined)[]> {
    const items = await this.client.getMany(table, ids.map(budgetStateKey), options);
    return items.map((item) => item && toState(item));
  }

  /**
   * Saves the state that was computed after `before` was read. False if another process saved one since: it may have
   * read newer totals.
   */
  async save(id: BudgetPeriodId, state: BudgetState, before: StoredState | undefined): Promise<boolean> {
    const nonce = newUuid();
    const put = {
      ...budgetStateKey(id),
      scope: state.scope,
      spent_usd_micros: state.spentUsdMicros,
      day_usd_micros: state.dayUsdMicros,
      as_of_ms: state.asOf.getTime(),
      revision: state.revision,
      amount_usd_micros: state.amountUsdMicros,
      reached_pct: state.reachedPct,
      is_over: state.isOver,
      recovered_revision: state.recoveredRevision,
      writes: (before?.writes ?? 0) + 1,
      nonce,
      expires_at_epoch: epochSeconds(midnightOf(id.firstDay)) + Math.max(this.totalDays, minStateDays) * 86_400,
    };
    const condition = before ? equals('writes', before.writes) : absent('PK');
    const { done } = await this.client.write({ table, put, condition }, { repeat: (old) => old.nonce === nonce });
    return done;
  }
}

function toState(item: Item): StoredState {
  const read = fields(table, item);
  const recoveredRevision = read.optionalNumber('recovered_revision');
  return {
    scope: read.string('scope'),
    spentUsdMicros: read.number('spent_usd_micros'),
    ...(read.has('day_usd_micros') ? { dayUsdMicros: numbersIn(read, 'day_usd_micros') } : {}),
    asOf: read.date('as_of_ms'),
    revision: read.number('revision'),
    amountUsdMicros: read.number('amount_usd_micros'),
    reachedPct: read.number('reached_pct'),
    isOver: read.boolean('is_over'),
    ...(recoveredRevision === undefined ? {} : { recoveredRevision }),
    writes: read.number('writes'),
  };
}

const numbersIn = (read: Fields, name: string): number[] =>
  read.list(name).map((value) => (typeof value === 'number' ? value : read.corrupt(name, 'a list of numbers')));
