import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { ItemErrorType } from '../graphql/item-error.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import type { PriceSource } from './catalog/price.js';
import { PriceSourceType } from './catalog/price.types.js';

export const CallStatusType = enumOf(['OK', 'ERROR'] as const);
registerEnumType(CallStatusType, {
  name: 'CallStatus',
  description: 'The outcome of the model call. It is stored with the cost and does not change how the cost counts.',
  valuesConfig: {
    OK: { description: 'The call succeeded.' },
    ERROR: { description: 'The call failed. Its cost counts too.' },
  },
});

@InputType({ description: 'A value that a cost counts under, beside its app and label.' })
export class DimensionInput {
  @Field(() => String, { description: 'A name of `Org.dimensions`.' })
  readonly name!: string;

  @Field(() => String, {
    description:
      '1–128 characters without # and control characters, for example the id of a user. Beyond about 10,000 ' +
      'different values per day, new ones count as `other`.',
  })
  readonly value!: string;
}

const componentNameText =
  'A name that the price of the model has, such as `cacheRead`, `cacheWrite5m`, `cacheWrite1h`, `reasoning`, ' +
  '`image`, `audioSecond` or `request`. 1–32 letters, digits or `_`, beginning with a lower-case letter.';

@InputType({ description: 'Usage of a call beside its input and output tokens, such as tokens read from a cache.' })
export class CostComponentInput {
  @Field(() => String, { description: componentNameText })
  readonly name!: string;

  @Field(() => SafeInt, { description: 'Tokens, images, seconds or other units, 0 to 10^12.' })
  readonly quantity!: number;
}

@InputType({ description: 'The usage of one model call. Every token is in exactly one addend.' })
export class SubmitCostInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for the platform admin. Default: the org of the caller.',
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The app that made the call. Required unless the caller is the app itself.',
  })
  readonly appId?: string | null;

  @Field(() => Uuid, {
    description:
      'Idempotency key, chosen by the app and unique within it. Within 35 days the same id counts once: a retry with ' +
      'the same payload returns the first receipt, a retry with another payload fails with IDEMPOTENCY_CONFLICT. ' +
      'A retry must repeat every field unchanged: one that adds `occurredAt` conflicts.',
  })
  readonly requestId!: string;

  @Field(() => String, { description: 'The label of the model that was called.' })
  readonly modelLabel!: string;

  @Field(() => SafeInt, {
    description: 'Input tokens, 0 to 10^12, without those that are in `components`, such as tokens read from a cache.',
  })
  readonly inputTokens!: number;

  @Field(() => SafeInt, {
    description: 'Output tokens, 0 to 10^12, without those that are in `components`, such as priced reasoning tokens.',
  })
  readonly outputTokens!: number;

  @Field(() => [CostComponentInput], {
    nullable: true,
    description:
      'Other usage of the call, each name once, at most 16. Every token is in exactly one addend: `inputTokens`, ' +
      '`outputTokens` or one component. A component without a price is refused, unless `costUsdMicros` is sent.',
  })
  readonly components?: CostComponentInput[] | null;

  @Field(() => SafeInt, {
    nullable: true,
    description:
      'The cost in micro-dollars, 0 to 10^12. ' +
      'Default: computed from the tokens, the components and the price in force when the call occurred.',
  })
  readonly costUsdMicros?: number | null;

  @Field(() => CallStatusType, { defaultValue: 'OK', description: 'The outcome of the call.' })
  readonly callStatus!: 'OK' | 'ERROR';

  @Field(() => DateTime, {
    nullable: true,
    description:
      'When the call was made, at most 24 hours in the past and 5 minutes in the future. ' +
      'It decides the day, in the time zone of the org. Default: now.',
  })
  readonly occurredAt?: Date | null;

  @Field(() => [DimensionInput], {
    nullable: true,
    description: 'Values that the cost counts under in `spendBreakdown`. At most one per name of `Org.dimensions`.',
  })
  readonly dimensions?: DimensionInput[] | null;
}

@ObjectType('CostLine', {
  description: 'One addend of a computed cost: ⌊quantity × usdMicrosPer1M / 10^6⌋ micro-dollars.',
})
export class CostLineType {
  @Field(() => String, { simple: true, description: '`input`, `output` or the name of a component.' })
  readonly name!: string;

  @Field(() => SafeInt, { simple: true, description: 'The submitted quantity.' })
  readonly quantity!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'The price in micro-dollars per million, of the tier that the call was in.',
  })
  readonly usdMicrosPer1M!: number;

  @Field(() => SafeInt, { simple: true, description: 'The cost of this line in micro-dollars, rounded down.' })
  readonly costUsdMicros!: number;
}

@ObjectType('CostReceipt', { description: 'The recorded cost of a call. A retry returns the same receipt.' })
export class CostReceiptType {
  @Field(() => Uuid, { simple: true, description: 'The submitted `requestId`.' })
  readonly requestId!: string;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if this id was recorded before. The figures are then those of the first submission.',
  })
  readonly replayed!: boolean;

  @Field(() => String, { simple: true, description: 'The label that the cost counts under.' })
  readonly label!: string;

  @Field(() => LocalDate, {
    simple: true,
    description: 'The day that the cost counts on, in the time zone of the org.',
  })
  readonly day!: string;

  @Field(() => SafeInt, { simple: true, description: 'The recorded cost, in micro-dollars.' })
  readonly costUsdMicros!: number;

  @Field(() => PriceSourceType, { simple: true, description: 'Where the cost comes from.' })
  readonly priceSource!: PriceSource;

  @Field(() => Boolean, {
    simple: true,
    description:
      'True if the usage was not known exactly, for example of a stream that was aborted, or of a call that was ' +
      'cancelled after it was sent. The actual cost may differ.',
  })
  readonly estimated!: boolean;
}

@ObjectType('CostOutcome', { description: 'The outcome of one item of a batch: a receipt or an error.' })
export class CostOutcomeType {
  @Field(() => Uuid, { simple: true, description: 'The submitted `requestId`.' })
  readonly requestId!: string;

  @Field(() => CostReceiptType, {
    nullable: true,
    simple: true,
    description: 'The receipt. Null if the item was rejected.',
  })
  readonly receipt?: CostReceiptType;

  @Field(() => ItemErrorType, {
    nullable: true,
    simple: true,
    description: 'The error. Null if the item was recorded.',
  })
  readonly error?: ItemErrorType;
}
