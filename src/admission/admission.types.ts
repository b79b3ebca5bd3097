import { createUnionType, Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import { ConsumeInput, LimitStatusType } from '../limits/limit.types.js';
import { ModelPriceType } from '../spend/catalog/price.types.js';
import { CallStatusType, CostComponentInput, DimensionInput } from '../spend/cost.types.js';
import type { Admission, BindingKind } from './admission.js';
import { bindingKinds, maxLabels, maxLimits, maxTtlSecs, maxWaitMs } from './admission.js';

@InputType({ description: 'The expected cost of a call. The largest of the given figures is reserved, at least 1.' })
export class EstimateInput {
  @Field(() => SafeInt, { nullable: true, description: 'Input tokens of the call, 0 to 10^12.' })
  readonly inputTokens?: number | null;

  @Field(() => SafeInt, {
    nullable: true,
    description:
      'The largest number of output tokens that the call may return, 0 to 10^12. Send the bound that the model gets.',
  })
  readonly maxOutputTokens?: number | null;

  @Field(() => [CostComponentInput], {
    nullable: true,
    description: 'Other usage of the call, such as tokens read from a cache. Each name once, at most 16.',
  })
  readonly components?: CostComponentInput[] | null;

  @Field(() => SafeInt, {
    nullable: true,
    description: 'The expected cost in micro-dollars, 0 to 10^12. It counts if it is larger than the computed one.',
  })
  readonly costUsdMicros?: number | null;
}

@InputType({ description: 'Tokens of a rate limit that the call needs.' })
export class AdmitLimitInput {
  @Field(() => String, { description: 'The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit.' })
  readonly entityId!: string;

  @Field(() => String, { description: 'The resource: 1–64 of A-Z a-z 0-9 _ . - / :, first a letter.' })
  readonly resource!: string;

  @Field(() => [ConsumeInput], { description: 'The amounts to take. A limit that is left out counts as 0.' })
  readonly consume!: ConsumeInput[];
}

@InputType({ description: 'A model call that asks for permission.' })
export class AdmitInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for the platform admin. Default: the org of the caller.',
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The app that makes the call. Required unless the caller is the app itself.',
  })
  readonly appId?: string | null;

  @Field(() => Uuid, {
    description:
      'Idempotency key of the call, unique within its app. Until the call is settled, the same id returns the first ' +
      'admission. The same id with another input is an IDEMPOTENCY_CONFLICT. Also the `requestId` of the cost.',
  })
  readonly requestId!: string;

  @Field(() => EstimateInput, { description: 'The expected cost of the call.' })
  readonly estimate!: EstimateInput;

  @Field(() => [String], {
    nullable: true,
    description: `The labels to try, in this order, at most ${maxLabels}. Default: the model ordering of the app.`,
  })
  readonly labels?: string[] | null;

  @Field(() => [AdmitLimitInput], {
    nullable: true,
    description: `Rate limits that must have enough tokens too, at most ${maxLimits}. All are taken or none.`,
  })
  readonly limits?: AdmitLimitInput[] | null;

  @Field(() => Int, {
    defaultValue: 120,
    description:
      `Seconds for which the reservation is meant to last, 1–${maxTtlSecs}. It is returned 5 to 10 minutes after ` +
      'that if the call was not settled.',
  })
  readonly ttlSecs!: number;

  @Field(() => Int, {
    defaultValue: 0,
    description:
      `Milliseconds to wait for money or tokens, 0–${maxWaitMs}. Calls of one scope wait in order of arrival. ` +
      'Default: 0.',
  })
  readonly waitMs!: number;
}

@ObjectType('Admitted', { description: 'The call may be made. Settle or cancel it afterwards.' })
export class AdmittedType {
  @Field(() => String, { simple: true, description: 'Opaque. Pass it to `settle` or `cancelAdmission`.' })
  readonly admissionId!: string;

  @Field(() => Uuid, { simple: true, description: 'The `requestId` of the call.' })
  readonly requestId!: string;

  @Field(() => String, { simple: true, description: 'The label to call.' })
  readonly label!: string;

  @Field(() => String, { simple: true, description: 'The ID of the model to call.' })
  readonly modelId!: string;

  @Field(() => ModelPriceType, {
    nullable: true,
    simple: true,
    description: 'Today’s price of the model. Null if the label has left the catalog since it was admitted.',
  })
  readonly price?: ModelPriceType;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Micro-dollars that are reserved for the call. 0 if no HARD quota or budget applies.',
  })
  readonly reservedUsdMicros!: number;

  @Field(() => DateTime, {
    simple: true,
    description: 'Settle, cancel or renew before this. A later settle is recorded too, and listed as an overrun.',
  })
  readonly expiresAt!: Date;

  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'The status of each rate limit after this call. Empty if `replayed`.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => Boolean, {
    simple: true,
    description: 'True if an earlier call with the same `requestId` was admitted. This call reserved nothing more.',
  })
  readonly replayed!: boolean;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if an advisory figure could not be read and was left out of the decision.',
  })
  readonly degraded!: boolean;
}

export const BindingKindType = enumOf<BindingKind>(bindingKinds);
registerEnumType(BindingKindType, {
  name: 'BindingKind',
  description: 'What refused a call.',
  valuesConfig: {
    BUDGET: { description: 'A budget.' },
    QUOTA: { description: 'The daily quota of a label.' },
    LIMIT: { description: 'A rate limit.' },
  },
});

@ObjectType('DeniedBinding', { description: 'The bound that refused a call, and the amount that it would allow.' })
export class DeniedBindingType {
  @Field(() => BindingKindType, { simple: true, description: 'What refused the call.' })
  readonly kind!: BindingKind;

  @Field(() => String, {
    simple: true,
    description: 'The name of the budget, the label of the quota, or the name of the limit.',
  })
  readonly name!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The label for which `wouldPass` applies. Null for a rate limit.',
  })
  readonly label?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The entity of the rate limit. Null for money.' })
  readonly entityId?: string;

  @Field(() => SafeInt, {
    simple: true,
    description: 'How much the requested amount is too large: micro-dollars, or tokens of the limit.',
  })
  readonly missing!: number;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'The largest amount that would have been allowed: micro-dollars, or tokens of the limit. 0 if none would.',
  })
  readonly wouldPass!: number;
}

@ObjectType('Denied', { description: 'The call must not be made. Nothing was reserved or taken.' })
export class DeniedType {
  @Field(() => DeniedBindingType, {
    simple: true,
    description: 'The bound that refused. Of several labels, the one that would allow the largest amount.',
  })
  readonly binding!: DeniedBindingType;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description:
      'When the bound allows the amount again at the latest, if nobody else uses it: the end of the day or period, ' +
      'or the refill of the limit. Null if it never allows that much.',
  })
  readonly retryAt?: Date;

  @Field(() => [LimitStatusType], { simple: true, description: 'The status of each rate limit that was checked.' })
  readonly statuses!: LimitStatusType[];
}

export const AdmissionType = createUnionType({
  name: 'Admission',
  description: 'Admitted if the call may be made, Denied if not.',
  types: () => [AdmittedType, DeniedType] as const,
  resolveType: (result) => (result as unknown as Admission).kind,
});

@InputType({ description: 'The actual amounts of a rate limit.' })
export class AdmitAdjustInput {
  @Field(() => String, { description: 'The `entityId` that was sent to `admit`.' })
  readonly entityId!: string;

  @Field(() => String, { description: 'The `resource` that was sent to `admit`.' })
  readonly resource!: string;

  @Field(() => [ConsumeInput], {
    description: 'The amounts that the call used in all. A limit that is left out keeps what `admit` took.',
  })
  readonly consumed!: ConsumeInput[];
}

@InputType({ description: 'The usage of an admitted call.' })
export class SettleInput {
  @Field(() => String, { description: 'The `admissionId` of the call.' })
  readonly admissionId!: string;

  @Field(() => SafeInt, { defaultValue: 0, description: 'Input tokens, 0 to 10^12, without those in `components`.' })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { defaultValue: 0, description: 'Output tokens, 0 to 10^12, without those in `components`.' })
  readonly outputTokens!: number;

  @Field(() => [CostComponentInput], {
    nullable: true,
    description: 'Other usage of the call, each name once, at most 16.',
  })
  readonly components?: CostComponentInput[] | null;

  @Field(() => SafeInt, {
    nullable: true,
    description: 'The cost in micro-dollars, 0 to 10^12. Default: computed from the usage and the price.',
  })
  readonly costUsdMicros?: number | null;

  @Field(() => CallStatusType, { defaultValue: 'OK', description: 'The outcome of the call.' })
  readonly callStatus!: 'OK' | 'ERROR';

  @Field(() => [DimensionInput], {
    nullable: true,
    description: 'Values that the cost counts under in `spendBreakdown`. At most one per name of `Org.dimensions`.',
  })
  readonly dimensions?: DimensionInput[] | null;

  @Field(() => [AdmitAdjustInput], {
    nullable: true,
    description: 'The actual amounts of the rate limits, for those that differ from what `admit` took.',
  })
  readonly adjust?: AdmitAdjustInput[] | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'True if the usage is not known exactly, for example of a stream that was aborted.',
  })
  readonly estimated!: boolean;
}
