import type { Item } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { type CostRecord, costTable, stampOf, toCostRecord } from '../cost.item.js';
import { type HeldRef, parseHeldText } from '../held/held.item.js';
import { correctionsIn } from './correction.item.js';

/** A recorded cost as it is stored now, with the sum of its corrections. */
export interface RecordedCost {
  readonly record: CostRecord;
  /** The shard of the counters that the cost was added to. */
  readonly shard: number;
  /** Added to the recorded cost. Negative if more was credited than debited. */
  readonly deltaUsdMicros: number;
  /** Oldest first. */
  readonly correctionIds: readonly string[];
  readonly expiresAtSecs: number;
  /** The items of HARD quotas and budgets that the cost was added to. */
  readonly holds: readonly HeldRef[];
}

/** The cost with all corrections. */
export const netUsdMicros = ({ record, deltaUsdMicros }: RecordedCost): number =>
  record.usage.costUsdMicros + deltaUsdMicros;

export function toRecordedCost(item: Item): RecordedCost {
  const read = fields(costTable, item);
  const record = toCostRecord(item);
  return {
    record,
    shard: stampOf(item).shard,
    ...correctionsIn(item),
    expiresAtSecs: read.number('expires_at_epoch'),
    holds: (read.optionalStrings('holds') ?? []).map((text) => parseHeldText(text, record)),
  };
}
