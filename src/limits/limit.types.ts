import { createUnionType, Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import type { Lease, RateLimited } from './limit.service.js';
import { type LimitLevel, limitLevels, type OnUnavailable, unavailablePolicies } from './resolution.js';

export const LimitLevelType = enumOf<LimitLevel>(limitLevels);
registerEnumType(LimitLevelType, { name: 'LimitLevel', description: 'From the weakest to the strongest: the strongest that has any limits counts, whole.' });

export const OnUnavailableType = enumOf<OnUnavailable>(unavailablePolicies);
registerEnumType(OnUnavailableType, { name: 'OnUnavailable', description: 'What an acquire does when the store does not answer.' });

@ObjectType('Limit')
export class LimitType {
  @Field(() => String, { simple: true })
  readonly name!: string;

  @Field(() => SafeInt, { simple: true, description: 'Tokens sustained over a refill period.' })
  readonly capacity!: number;

  @Field(() => SafeInt, { simple: true, description: 'Ceiling of the bucket; at least the capacity.' })
  readonly burst!: number;

  @Field(() => SafeInt, { simple: true })
  readonly refillAmount!: number;

  @Field(() => Int, { simple: true })
  readonly refillPeriodSecs!: number;
}

@InputType()
export class LimitInput {
  @Field(() => String)
  readonly name!: string;

  @Field(() => SafeInt)
  readonly capacity!: number;

  @Field(() => SafeInt, { nullable: true, description: 'Absent: the capacity.' })
  readonly burst?: number | null;

  @Field(() => SafeInt, { nullable: true, description: 'Absent: the capacity.' })
  readonly refillAmount?: number | null;

  @Field(() => Int, { defaultValue: 60 })
  readonly refillPeriodSecs!: number;
}

@ObjectType('LimitConfig', { description: 'What is set at one level.' })
export class LimitConfigType {
  @Field(() => LimitLevelType)
  readonly level!: LimitLevel;

  @Field(() => String, { nullable: true })
  readonly resource?: string;

  @Field(() => String, { nullable: true })
  readonly entityId?: string;

  @Field(() => [LimitType], { simple: true })
  readonly limits!: LimitType[];

  @Field(() => OnUnavailableType, { nullable: true, simple: true })
  readonly onUnavailable?: OnUnavailable;

  @Field(() => Int, { simple: true, description: 'Goes up by one with every change.' })
  readonly version!: number;
}

@ObjectType('EffectiveLimits')
export class EffectiveLimitsType {
  @Field(() => [LimitType], { simple: true })
  readonly limits!: readonly LimitType[];

  @Field(() => LimitLevelType, { nullable: true, simple: true, description: 'The level that the limits come from; null where none are set.' })
  readonly source?: LimitLevel;

  @Field(() => OnUnavailableType, { simple: true })
  readonly onUnavailable!: OnUnavailable;
}

@InputType()
export class SetLimitsInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => LimitLevelType)
  readonly level!: LimitLevel;

  @Field(() => String, { nullable: true, description: 'At levels RESOURCE and ENTITY.' })
  readonly resource?: string | null;

  @Field(() => String, { nullable: true, description: 'At levels ENTITY_DEFAULT and ENTITY.' })
  readonly entityId?: string | null;

  @Field(() => [LimitInput], { description: '1 to 10, in place of all that the level had.' })
  readonly limits!: LimitInput[];

  @Field(() => OnUnavailableType, { nullable: true, description: 'At level SYSTEM only; absent: BLOCK.' })
  readonly onUnavailable?: OnUnavailable | null;
}

@InputType()
export class DeleteLimitsInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => LimitLevelType)
  readonly level!: LimitLevel;

  @Field(() => String, { nullable: true })
  readonly resource?: string | null;

  @Field(() => String, { nullable: true })
  readonly entityId?: string | null;
}

@InputType()
export class ConsumeInput {
  @Field(() => String)
  readonly limit!: string;

  @Field(() => SafeInt)
  readonly amount!: number;
}

@ObjectType('LimitStatus')
export class LimitStatusType {
  @Field(() => String, { simple: true })
  readonly entityId!: string;

  @Field(() => String, { simple: true })
  readonly resource!: string;

  @Field(() => LimitType, { simple: true })
  readonly limit!: LimitType;

  @Field(() => SafeInt, { simple: true })
  readonly requested!: number;

  @Field(() => SafeInt, { simple: true, description: 'In a Lease: what is left after it. Elsewhere: what there is now.' })
  readonly available!: number;

  @Field(() => Boolean, { simple: true })
  readonly exceeded!: boolean;

  @Field(() => Float, { simple: true })
  readonly retryAfterSecs!: number;
}

@ObjectType('Availability')
export class AvailabilityType {
  @Field(() => [LimitStatusType], { simple: true })
  readonly statuses!: LimitStatusType[];

  @Field(() => Float, { simple: true, description: '0 where it would be let through.' })
  readonly retryAfterSecs!: number;
}

@InputType()
export class AcquireInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => String)
  readonly entityId!: string;

  @Field(() => String)
  readonly resource!: string;

  @Field(() => [ConsumeInput], { description: 'All of it is taken, or none. Limits left out are asked for 0.' })
  readonly consume!: ConsumeInput[];

  @Field(() => [LimitInput], { nullable: true, description: 'Outranks the stored limits; callers that share a bucket send the same.' })
  readonly limits?: LimitInput[] | null;

  @Field(() => Uuid, {
    nullable: true,
    description: 'Sent again with the same id within 24 hours, the first lease comes back and nothing more is taken.',
  })
  readonly requestId?: string | null;
}

@ObjectType('Lease')
export class LeaseType {
  @Field(() => String, { simple: true, description: 'Opaque; hand it to adjustLease or releaseLease.' })
  readonly leaseId!: string;

  @Field(() => String, { simple: true })
  readonly entityId!: string;

  @Field(() => String, { simple: true })
  readonly resource!: string;

  @Field(() => [LimitStatusType], { simple: true })
  readonly statuses!: LimitStatusType[];

  @Field(() => Boolean, { simple: true, description: 'True when it was let through because the store did not answer and the policy is ALLOW.' })
  readonly degraded!: boolean;

  @Field(() => DateTime, { simple: true })
  readonly expiresAt!: Date;

  @Field(() => Boolean, { simple: true })
  readonly replayed!: boolean;
}

@ObjectType('RateLimited')
export class RateLimitedType {
  @Field(() => String, { simple: true })
  readonly message!: string;

  @Field(() => [LimitStatusType], { simple: true, description: "The statuses of every limit checked, the parent's included." })
  readonly statuses!: LimitStatusType[];

  @Field(() => [LimitStatusType], { simple: true })
  readonly violations!: LimitStatusType[];

  @Field(() => Float, { simple: true })
  readonly retryAfterSecs!: number;
}

export const AcquireResultType = createUnionType({
  name: 'AcquireResult',
  types: () => [LeaseType, RateLimitedType] as const,
  resolveType: (result) => (result as unknown as Lease | RateLimited).kind,
});

@InputType()
export class AdjustLeaseInput {
  @Field(() => String)
  readonly leaseId!: string;

  @Field(() => [ConsumeInput], { description: 'Positive takes more, and may leave the bucket in debt; negative gives back.' })
  readonly adjust!: ConsumeInput[];

  @Field(() => Uuid, { nullable: true, description: 'Makes a retry safe: the same key on the same lease applies once. Without it each call applies.' })
  readonly idempotencyKey?: string | null;
}

@ObjectType('LeaseAdjustment')
export class LeaseAdjustmentType {
  @Field(() => String, { simple: true })
  readonly leaseId!: string;

  @Field(() => Boolean, { simple: true })
  readonly replayed!: boolean;

  @Field(() => [LimitStatusType], { simple: true })
  readonly statuses!: LimitStatusType[];
}
