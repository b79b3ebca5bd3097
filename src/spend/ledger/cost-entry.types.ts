import { Field, ObjectType } from 'type-graphql';
import { DateTime, LocalDate, SafeInt, Uuid } from '../../graphql/scalars.js';
import { dayAt, hourOfDay, startOfDayMs } from '../../orgs/calendar.js';
import type { Org } from '../../orgs/settings.js';
import { linesOf } from '../catalog/cost-lines.js';
import type { PriceSource } from '../catalog/price.js';
import { PriceSourceType } from '../catalog/price.types.js';
import type { RequestRef } from '../cost.item.js';
import { CallStatusType, CostLineType } from '../cost.types.js';
import { netUsdMicros, type RecordedCost } from './recorded-cost.item.js';

@ObjectType('CostDimension', { description: 'A value that a cost counts under, beside its app and label.' })
export class CostDimensionType {
  @Field(() => String, { simple: true, description: 'The name of the dimension.' })
  readonly name!: string;

  @Field(() => String, {
    simple: true,
    description: 'The value as counted. `other` if its day had too many different values.',
  })
  readonly value!: string;
}

@ObjectType('CostComponent', { description: 'Usage of a call beside its input and output tokens.' })
export class CostComponentType {
  @Field(() => String, { simple: true, description: 'The name of the component, such as `cacheRead`.' })
  readonly name!: string;

  @Field(() => SafeInt, { simple: true, description: 'Tokens, images, seconds or other units.' })
  readonly quantity!: number;
}

@ObjectType('CostCorrection', {
  description: 'A correction of a recorded cost. The audit trail of the org says who made it.',
})
export class CostCorrectionType {
  @Field(() => Uuid, { simple: true, description: 'The submitted `correctionId`.' })
  readonly correctionId!: string;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Micro-dollars that were added to the cost. Negative for a credit.',
  })
  readonly deltaUsdMicros!: number;

  @Field(() => String, { simple: true, description: 'Why the cost was corrected.' })
  readonly reason!: string;

  @Field(() => DateTime, { simple: true, description: 'When it was corrected.' })
  readonly correctedAt!: Date;
}

@ObjectType('CostEntry', { description: 'One recorded model call.' })
export class CostEntryType {
  @Field(() => Uuid, { simple: true, description: 'The `requestId` that the app submitted.' })
  readonly requestId!: string;

  @Field(() => String, { simple: true, description: 'The app that made the call.' })
  readonly appId!: string;

  @Field(() => String, { simple: true, description: 'The label that the cost counts under.' })
  readonly label!: string;

  @Field(() => LocalDate, {
    simple: true,
    description: 'The day that the cost counts on, in the time zone of the org.',
  })
  readonly day!: string;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description:
      'The start of the hour that the cost counts in. Null for a cost from before hours were counted, ' +
      'and if the time zone of the org has changed since.',
  })
  readonly hourStartsAt?: Date | null;

  @Field(() => DateTime, { simple: true, description: 'When the call was made.' })
  readonly occurredAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'When the gateway received the cost.' })
  readonly receivedAt!: Date;

  @Field(() => SafeInt, { simple: true, description: 'Input tokens.' })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Output tokens.' })
  readonly outputTokens!: number;

  @Field(() => [CostComponentType], { simple: true, description: 'The other usage of the call.' })
  readonly components!: readonly CostComponentType[];

  @Field(() => [CostLineType], {
    simple: true,
    description: 'How the cost was computed, as in the receipt. Empty if the cost was submitted.',
  })
  readonly lines!: readonly CostLineType[];

  @Field(() => SafeInt, {
    simple: true,
    description: 'The cost as recorded, in micro-dollars, without corrections. The receipt shows the same.',
  })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'The cost with all corrections, in micro-dollars. The totals contain this.',
  })
  readonly correctedUsdMicros!: number;

  @Field(() => CallStatusType, { simple: true, description: 'The outcome of the call.' })
  readonly status!: 'OK' | 'ERROR';

  @Field(() => PriceSourceType, { simple: true, description: 'Where the cost comes from.' })
  readonly priceSource!: PriceSource;

  @Field(() => Boolean, {
    simple: true,
    description:
      'True if the usage was not known exactly, for example of a stream that was aborted, or of a call that was ' +
      'cancelled after it was sent. The actual cost may differ: `correctCost` corrects it.',
  })
  readonly estimated!: boolean;

  @Field(() => [CostDimensionType], { simple: true, description: 'The values that the cost counts under.' })
  readonly dimensions!: readonly CostDimensionType[];
}

/** A recorded call as callers see it, with what its resolver needs. */
export interface CostEntryView extends CostEntryType {
  readonly ref: RequestRef;
  readonly correctionIds: readonly string[];
}

export function costEntry(cost: RecordedCost, { zones }: Org): CostEntryView {
  const { record, correctionIds } = cost;
  const { orgId, appId, requestId, label, day, hour, occurredAtMs, usage } = record;
  const { dimensions = [], components = [], unitPrices } = record;
  // The zones of the org are not known forever. A start that does not fit the call is not shown.
  const isKnown = hour !== undefined && hour === hourOfDay(zones, dayAt(zones, occurredAtMs), occurredAtMs);
  return {
    ref: { orgId, appId, requestId },
    requestId,
    appId,
    label,
    day,
    hourStartsAt: isKnown ? new Date(startOfDayMs(zones, day) + hour * 3_600_000) : null,
    occurredAt: new Date(occurredAtMs),
    receivedAt: new Date(record.receivedAtMs),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    components,
    lines: linesOf({ ...usage, components }, unitPrices),
    costUsdMicros: usage.costUsdMicros,
    correctedUsdMicros: netUsdMicros(cost),
    status: record.callStatus,
    priceSource: record.priceSource,
    estimated: record.isEstimated === true,
    dimensions,
    correctionIds,
  };
}
