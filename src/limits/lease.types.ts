import { createUnionType, Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import type { Lease } from './limit.service.js';
import { ConsumeInput, LimitInput, LimitStatusType } from './limit.types.js';
import type { RateLimited } from './status.js';

@InputType({ description: 'What to take, and for whom.' })
export class AcquireInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit.' })
  readonly entityId!: string;

  @Field(() => String, { description: 'The resource: 1–64 of A-Z a-z 0-9 _ . - / :, first a letter.' })
  readonly resource!: string;

  @Field(() => [ConsumeInput], {
    description: 'The amounts to take. All of them are taken or none. A limit that is left out counts as 0.',
  })
  readonly consume!: ConsumeInput[];

  @Field(() => [LimitInput], {
    nullable: true,
    description:
      'Limits to use instead of the stored ones. All callers that share a bucket must send the same. FORBIDDEN for an app client unless `Org.appsMayBringLimits`.',
  })
  readonly limits?: LimitInput[] | null;

  @Field(() => Uuid, {
    nullable: true,
    description:
      'Makes a retry safe: within 24 hours the same id returns the first lease and takes nothing more. The same id with another request is an IDEMPOTENCY_CONFLICT.',
  })
  readonly requestId?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'How long the lease holds its slots of concurrency limits unless it is renewed, in seconds, 1–86,400. Default: 60.',
  })
  readonly ttlSecs?: number | null;
}

@InputType({ description: 'One of several requests that are granted together or not at all.' })
export class AcquireAllRequestInput {
  @Field(() => String, { description: 'The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit.' })
  readonly entityId!: string;

  @Field(() => String, { description: 'The resource: 1–64 of A-Z a-z 0-9 _ . - / :, first a letter.' })
  readonly resource!: string;

  @Field(() => [ConsumeInput], { description: 'The amounts to take. A limit that is left out counts as 0.' })
  readonly consume!: ConsumeInput[];

  @Field(() => Int, {
    nullable: true,
    description:
      'How long the lease holds its slots of concurrency limits unless it is renewed, in seconds, 1–86,400. Default: 60.',
  })
  readonly ttlSecs?: number | null;
}

@InputType({ description: 'Several requests that are granted together or not at all.' })
export class AcquireAllInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
  })
  readonly orgId?: string | null;

  @Field(() => [AcquireAllRequestInput], { description: '1–8 requests.' })
  readonly requests!: AcquireAllRequestInput[];
}

@InputType({ description: 'Tokens to give to a bucket.' })
export class TopUpInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The id of the entity.' })
  readonly entityId!: string;

  @Field(() => String, { description: 'The name of the resource.' })
  readonly resource!: string;

  @Field(() => String, { description: 'The name of the limit. Not of a concurrency limit.' })
  readonly limit!: string;

  @Field(() => SafeInt, { description: 'Whole tokens, 1–10^15. What would pass the burst is lost.' })
  readonly amount!: number;

  @Field(() => Uuid, {
    description:
      'Makes a retry safe: the same id is applied once within 24 hours. With another amount it is an IDEMPOTENCY_CONFLICT.',
  })
  readonly operationId!: string;
}

@ObjectType('Lease', {
  description: 'Tokens that were taken. Adjust the lease when the true cost is known, or release it.',
})
export class LeaseType {
  @Field(() => String, { simple: true, description: 'Opaque. Pass it to `adjustLease` or `releaseLease`.' })
  readonly leaseId!: string;

  @Field(() => String, { simple: true, description: 'The entity that the tokens were taken for.' })
  readonly entityId!: string;

  @Field(() => String, { simple: true, description: 'The resource that the tokens were taken from.' })
  readonly resource!: string;

  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'How each limit stands after this lease. Empty if `degraded`.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => Boolean, {
    simple: true,
    description: 'True if nothing was taken because the database was unavailable and the policy is ALLOW.',
  })
  readonly degraded!: boolean;

  @Field(() => DateTime, {
    simple: true,
    description: 'The lease cannot be adjusted or released after this. The tokens stay taken.',
  })
  readonly expiresAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description:
      'The slots of concurrency limits are freed after this unless the lease is renewed. Null if it holds none.',
  })
  readonly renewBy?: Date;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if an earlier call with the same `requestId` took the tokens. This call took none.',
  })
  readonly replayed!: boolean;
}

@ObjectType('RateLimited', { description: 'The tokens are not available. Nothing was taken.' })
export class RateLimitedType {
  @Field(() => String, { simple: true, description: 'Which limits refused, and when to retry.' })
  readonly message!: string;

  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'How each limit that was checked stands, including those of the parent.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => [LimitStatusType], { simple: true, description: 'The statuses of the limits that refused.' })
  readonly violations!: LimitStatusType[];

  @Field(() => Float, {
    simple: true,
    description: 'Seconds until a retry can succeed if nobody else takes any tokens.',
  })
  readonly retryAfterSecs!: number;
}

export const AcquireResultType = createUnionType({
  name: 'AcquireResult',
  description: 'A Lease if the tokens were taken, RateLimited if not.',
  types: () => [LeaseType, RateLimitedType] as const,
  resolveType: (result) => (result as unknown as Lease | RateLimited).kind,
});

@ObjectType('Leases', { description: 'What was taken for several requests.' })
export class LeasesType {
  @Field(() => [LeaseType], {
    simple: true,
    description: 'One per request, in their order. Each can be adjusted and released on its own.',
  })
  readonly leases!: LeaseType[];
}

export const AcquireAllResultType = createUnionType({
  name: 'AcquireAllResult',
  description: 'Leases if all requests were granted, RateLimited if none was.',
  types: () => [LeasesType, RateLimitedType] as const,
  resolveType: (result) => (result as unknown as { kind: 'Leases' } | RateLimited).kind,
});

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

@ObjectType('TopUp', { description: 'The result of a top-up.' })
export class TopUpType {
  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'How each limit of the bucket stands now. Empty if there is no bucket: it is full then.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => Boolean, {
    simple: true,
    description: 'True if an earlier call with the same `operationId` gave the tokens. This call gave none.',
  })
  readonly replayed!: boolean;
}

@InputType({ description: 'A correction of what a lease has taken.' })
export class AdjustLeaseInput {
  @Field(() => String, { description: 'The `leaseId` of a Lease that has not expired and was not released.' })
  readonly leaseId!: string;

  @Field(() => [ConsumeInput], {
    description:
      'Positive amounts take more and may leave the bucket in debt; negative amounts give back, up to what the lease has out.',
  })
  readonly adjust!: ConsumeInput[];

  @Field(() => Uuid, {
    nullable: true,
    description:
      'Makes a retry safe: the same key on the same lease is applied once. Up to 16 adjustments per lease. Without a key each call is applied; one that only charges is final then, cheaper, and not given back by a release.',
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
    description: 'How each limit stands now. Empty if the lease is `degraded`.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => [String], {
    simple: true,
    description:
      'Entities of which it is unknown whether they were charged: child and parent are charged apart if there is no `idempotencyKey`.',
  })
  readonly unknown!: string[];
}
