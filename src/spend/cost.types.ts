import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { ItemErrorType } from '../graphql/item-error.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import type { PriceSource } from './price.js';
import { PriceSourceType } from './price.types.js';

export const CallStatusType = enumOf(['OK', 'ERROR'] as const);
registerEnumType(CallStatusType, {
  name: 'CallStatus',
  description: 'How the model call ended. It is stored with the cost and does not change what is counted.',
  valuesConfig: {
    OK: { description: 'The call succeeded.' },
    ERROR: { description: 'The call failed; its cost counts all the same.' },
  },
});

@InputType({ description: 'What one model call has used.' })
export class SubmitCostInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for the platform admin; absent: the caller’s own.',
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The app that made the call. Required unless the caller is the app itself.',
  })
  readonly appId?: string | null;

  @Field(() => Uuid, {
    description:
      'Idempotency key, chosen by the app; it belongs to that app. Within 35 days the same id counts once: a retry with the same payload gets the first receipt, one with another payload is IDEMPOTENCY_CONFLICT. A retry must repeat every field as it was: one that adds `occurredAt` conflicts.',
  })
  readonly requestId!: string;

  @Field(() => String, { description: 'The label of the model that was called.' })
  readonly modelLabel!: string;

  @Field(() => SafeInt, { description: 'Input tokens, 0 to 10^12.' })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { description: 'Output tokens, 0 to 10^12.' })
  readonly outputTokens!: number;

  @Field(() => SafeInt, {
    nullable: true,
    description:
      'The cost in micro-dollars, 0 to 10^12. Absent: computed from the tokens and the price in force when the call occurred.',
  })
  readonly costUsdMicros?: number | null;

  @Field(() => CallStatusType, { defaultValue: 'OK', description: 'How the call ended.' })
  readonly callStatus!: 'OK' | 'ERROR';

  @Field(() => DateTime, {
    nullable: true,
    description:
      'When the call was made: at most 24 hours ago and 5 minutes ahead. It decides the org-local day. Absent: now.',
  })
  readonly occurredAt?: Date | null;
}

@ObjectType('CostReceipt', { description: 'What was recorded for a call. A retry gets the same receipt.' })
export class CostReceiptType {
  @Field(() => Uuid, { simple: true, description: 'The id that was submitted.' })
  readonly requestId!: string;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if this id had been recorded before. The figures are then those of the first submission.',
  })
  readonly replayed!: boolean;

  @Field(() => String, { simple: true, description: 'The label it was counted under.' })
  readonly label!: string;

  @Field(() => LocalDate, { simple: true, description: 'The org-local day it was counted on.' })
  readonly day!: string;

  @Field(() => SafeInt, { simple: true, description: 'The cost that was counted, in micro-dollars.' })
  readonly costUsdMicros!: number;

  @Field(() => PriceSourceType, { simple: true, description: 'Where the cost comes from.' })
  readonly priceSource!: PriceSource;
}

@ObjectType('CostOutcome', { description: 'The outcome of one item of a batch: a receipt or an error.' })
export class CostOutcomeType {
  @Field(() => Uuid, { simple: true, description: 'The id that was submitted.' })
  readonly requestId!: string;

  @Field(() => CostReceiptType, { nullable: true, simple: true, description: 'Null if the item was refused.' })
  readonly receipt?: CostReceiptType;

  @Field(() => ItemErrorType, { nullable: true, simple: true, description: 'Null if the item was recorded.' })
  readonly error?: ItemErrorType;
}
