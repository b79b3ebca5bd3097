import { Field, InputType, ObjectType } from 'type-graphql';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { ConsumeInput, LimitStatusType } from './limit.types.js';

@InputType({ description: 'A correction of the amounts of a lease.' })
export class AdjustLeaseInput {
  @Field(() => String, { description: 'The `leaseId` of a Lease that has not expired and was not released.' })
  readonly leaseId!: string;

  @Field(() => [ConsumeInput], {
    description:
      'Positive amounts take more and may leave the bucket in debt. Negative amounts give back, up to what the lease ' +
      'holds.',
  })
  readonly adjust!: ConsumeInput[];

  @Field(() => Uuid, {
    nullable: true,
    description:
      'Makes a retry safe: the same key on the same lease is applied once. Up to 16 adjustments per lease. Without a ' +
      'key each call is applied. A call without a key that only charges is cheaper, and a release does not give it ' +
      'back.',
  })
  readonly idempotencyKey?: string | null;
}

@ObjectType('LeaseAdjustment', { description: 'The result of an adjustment or a release.' })
export class LeaseAdjustmentType {
  @Field(() => String, { simple: true, description: 'The lease that was adjusted or released.' })
  readonly leaseId!: string;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if an earlier call made this change. This call changed nothing.',
  })
  readonly replayed!: boolean;

  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'The status of each limit now. Empty if the lease is `degraded`.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => [String], {
    simple: true,
    description:
      'Entities for which it is unknown if they were charged. Only without an `idempotencyKey`: child and parent are ' +
      'then charged separately.',
  })
  readonly unknown!: string[];
}

@ObjectType('LeaseRenewal', { description: 'The result of a renewal.' })
export class LeaseRenewalType {
  @Field(() => String, { simple: true, description: 'The lease that was renewed.' })
  readonly leaseId!: string;

  @Field(() => DateTime, {
    simple: true,
    description: 'The slots are freed after this unless the lease is renewed again.',
  })
  readonly renewBy!: Date;
}
