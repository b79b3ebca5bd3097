import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime, LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import { QuotaScopeType } from '../orgs/org.types.js';
import { type SpendMode, spendModes } from './money.js';
import type { PriceSource } from './price.js';
import { ModelPriceType, PriceSourceType } from './price.types.js';
import { type SelectionReason, type StickyReason, selectionReasons, stickyReasons } from './selection.js';
import type { Consistency } from './spend.service.js';

export const SpendModeType = enumOf<SpendMode>(spendModes);
registerEnumType(SpendModeType, { name: 'SpendMode' });
export const ConsistencyType = enumOf<Consistency>(['AGGREGATED', 'EXACT']);
registerEnumType(ConsistencyType, {
  name: 'Consistency',
  valuesConfig: { AGGREGATED: { description: "The aggregator's last totals: one item a label." }, EXACT: { description: 'Sums the shards now.' } },
});
export const StickyReasonType = enumOf<StickyReason>(stickyReasons);
registerEnumType(StickyReasonType, { name: 'StickyReason' });
export const SelectionReasonType = enumOf<SelectionReason>(selectionReasons);
registerEnumType(SelectionReasonType, { name: 'SelectionReason' });
export const CallStatusType = enumOf(['OK', 'ERROR'] as const);
registerEnumType(CallStatusType, { name: 'CallStatus' });

@ObjectType('LabelSpend')
export class LabelSpendType {
  @Field(() => String, { simple: true })
  readonly label!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly bedrockModelId?: string;

  @Field(() => SafeInt, { simple: true })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { simple: true })
  readonly outputTokens!: number;

  @Field(() => SafeInt, { simple: true })
  readonly requests!: number;

  @Field(() => SafeInt, { nullable: true, simple: true })
  readonly quotaUsdMicros?: number;

  @Field(() => Float, { nullable: true, simple: true })
  readonly quotaPct?: number;

  @Field(() => SpendModeType, { simple: true })
  readonly mode!: SpendMode;

  @Field(() => DateTime, { nullable: true, simple: true, description: 'When these figures were true; null before the first aggregation.' })
  readonly asOf?: Date;
}

@ObjectType('StickyFallback')
export class StickyFallbackType {
  @Field(() => String, { simple: true })
  readonly activeLabel!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly previousLabel?: string;

  @Field(() => StickyReasonType, { simple: true })
  readonly reason!: StickyReason;

  @Field(() => DateTime, { simple: true })
  readonly activatedAt!: Date;
}

@ObjectType('DaySpend')
export class DaySpendType {
  @Field(() => LocalDate, { simple: true })
  readonly day!: string;

  @Field(() => QuotaScopeType, { simple: true })
  readonly scope!: 'ORG' | 'APP';

  @Field(() => [LabelSpendType], { simple: true })
  readonly labels!: LabelSpendType[];

  @Field(() => SafeInt, { simple: true })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { simple: true })
  readonly outputTokens!: number;

  @Field(() => SafeInt, { simple: true })
  readonly requests!: number;

  @Field(() => SpendModeType, { simple: true, description: "The worst of its labels'." })
  readonly mode!: SpendMode;
}

@ObjectType('ModelSelection')
export class ModelSelectionType {
  @Field(() => Boolean, { simple: true, description: 'False only when every quota in the chain is used up.' })
  readonly allowed!: boolean;

  @Field(() => String, { nullable: true, simple: true, description: 'The model to call; when nothing is allowed, null.' })
  readonly label?: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly bedrockModelId?: string;

  @Field(() => SelectionReasonType, { simple: true })
  readonly reason!: SelectionReason;

  @Field(() => SpendModeType, { simple: true })
  readonly mode!: SpendMode;

  @Field(() => [LabelSpendType], { simple: true })
  readonly chain!: LabelSpendType[];

  @Field(() => ModelPriceType, { nullable: true, simple: true })
  readonly price?: ModelPriceType;

  @Field(() => Int, { simple: true })
  readonly recheckAfterSecs!: number;

  @Field(() => LocalDate, { simple: true })
  readonly day!: string;

  @Field(() => DateTime, { simple: true })
  readonly resetsAt!: Date;
}

@InputType()
export class SubmitCostInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true, description: 'Needed unless the caller is the app itself.' })
  readonly appId?: string | null;

  @Field(() => Uuid, { description: 'The same id never counts twice, however often it is sent within 35 days.' })
  readonly requestId!: string;

  @Field(() => String)
  readonly modelLabel!: string;

  @Field(() => SafeInt)
  readonly inputTokens!: number;

  @Field(() => SafeInt)
  readonly outputTokens!: number;

  @Field(() => SafeInt, { nullable: true, description: "Absent: computed from the tokens and the day's price." })
  readonly costUsdMicros?: number | null;

  @Field(() => CallStatusType, { defaultValue: 'OK' })
  readonly callStatus!: 'OK' | 'ERROR';

  @Field(() => DateTime, { nullable: true, description: 'Absent: now. At most 24 hours back, 5 minutes ahead; decides the org-local day.' })
  readonly occurredAt?: Date | null;
}

@ObjectType('CostReceipt')
export class CostReceiptType {
  @Field(() => Uuid, { simple: true })
  readonly requestId!: string;

  @Field(() => Boolean, { simple: true, description: "True when this id had been recorded before; the figures are then the first submission's." })
  readonly replayed!: boolean;

  @Field(() => String, { simple: true })
  readonly label!: string;

  @Field(() => LocalDate, { simple: true })
  readonly day!: string;

  @Field(() => SafeInt, { simple: true })
  readonly costUsdMicros!: number;

  @Field(() => PriceSourceType, { simple: true })
  readonly priceSource!: PriceSource;
}

@ObjectType('ItemError')
export class ItemErrorType {
  @Field(() => String, { simple: true })
  readonly code!: string;

  @Field(() => String, { simple: true })
  readonly message!: string;
}

@ObjectType('CostOutcome')
export class CostOutcomeType {
  @Field(() => Uuid, { simple: true })
  readonly requestId!: string;

  @Field(() => CostReceiptType, { nullable: true, simple: true })
  readonly receipt?: CostReceiptType;

  @Field(() => ItemErrorType, { nullable: true, simple: true })
  readonly error?: ItemErrorType;
}

@InputType()
export class OverrideModelInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true })
  readonly appId?: string | null;

  @Field(() => String, { nullable: true, description: "A label of the ordering; null clears the day's sticky state." })
  readonly label?: string | null;
}
