import { createUnionType, Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime, Uuid } from '../graphql/scalars.js';
import type { Lease } from './grant.service.js';
import { ConsumeInput, LimitInput, LimitStatusType, orgIdText } from './limit.types.js';
import type { RateLimited } from './status.js';

@InputType({ description: 'The tokens to take and the entity to take them for.' })
export class AcquireInput {
  @Field(() => Uuid, {
    nullable: true,
    description: orgIdText,
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
      'Limits to use instead of the stored ones. All callers that share a bucket must send the same. FORBIDDEN for ' +
      'an app client unless `Org.appsMayBringLimits`.',
  })
  readonly limits?: LimitInput[] | null;

  @Field(() => Uuid, {
    nullable: true,
    description:
      'Makes a retry safe: within 24 hours the same id returns the first lease and takes nothing more. The same id ' +
      'with another request is an IDEMPOTENCY_CONFLICT.',
  })
  readonly requestId?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Seconds for which the lease holds its slots of concurrency limits unless it is renewed, 1–86,400. Default: 60.',
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
      'Seconds for which the lease holds its slots of concurrency limits unless it is renewed, 1–86,400. Default: 60.',
  })
  readonly ttlSecs?: number | null;
}

@InputType({ description: 'Several requests that are granted together or not at all.' })
export class AcquireAllInput {
  @Field(() => Uuid, {
    nullable: true,
    description: orgIdText,
  })
  readonly orgId?: string | null;

  @Field(() => [AcquireAllRequestInput], { description: '1–8 requests.' })
  readonly requests!: AcquireAllRequestInput[];
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
    description: 'The status of each limit after this lease. Empty if `degraded`.',
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
  @Field(() => String, { simple: true, description: 'Names the limits that refused and the time to retry.' })
  readonly message!: string;

  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'The status of each limit that was checked, including those of the parent.',
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

@ObjectType('Leases', { description: 'The leases of several requests.' })
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
