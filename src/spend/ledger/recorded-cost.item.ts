import type { Item } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { type CostRecord, costTable, toCostRecord } from '../cost.item.js';
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
}

/** The cost with all corrections. */
export const netUsdMicros = ({ record, deltaUsdMicros }: RecordedCost): number =>
  record.usage.costUsdMicros + deltaUsdMicros;

export function toRecordedCost(item: Item): RecordedCost {
  const read = fields(costTable, item);
  return {
    record: toCostRecord(item),
    shard: read.number('shard'),
    ...correctionsIn(item),
    expiresAtSecs: read.number('expires_at_epoch'),
  };
}
