import { Field, InputType, ObjectType } from 'type-graphql';
import { SafeInt, Uuid } from '../graphql/scalars.js';
import { LimitStatusType, orgIdText } from './limit.types.js';

@InputType({ description: 'Tokens to give to a bucket.' })
export class TopUpInput {
  @Field(() => Uuid, {
    nullable: true,
    description: orgIdText,
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The id of the entity.' })
  readonly entityId!: string;

  @Field(() => String, { description: 'The name of the resource.' })
  readonly resource!: string;

  @Field(() => String, { description: 'The name of the limit. A concurrency limit is not allowed.' })
  readonly limit!: string;

  @Field(() => SafeInt, { description: 'Whole tokens, 1–10^15. Tokens above the burst are lost.' })
  readonly amount!: number;

  @Field(() => Uuid, {
    description:
      'Makes a retry safe: the same id is applied once within 24 hours. With another input it is an ' +
      'IDEMPOTENCY_CONFLICT.',
  })
  readonly operationId!: string;
}

@ObjectType('TopUp', { description: 'The result of a top-up.' })
export class TopUpType {
  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'The status of each limit of the bucket now. Empty if there is no bucket, because it is full then.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => Boolean, {
    simple: true,
    description: 'True if an earlier call with the same `operationId` gave the tokens. This call gave none.',
  })
  readonly replayed!: boolean;
}
