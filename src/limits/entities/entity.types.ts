import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { connectionType } from '../../graphql/connection.js';
import { Node } from '../../graphql/node.js';
import { DateTime, SafeInt, Uuid } from '../../graphql/scalars.js';
import { LimitType } from '../limit.types.js';

@InputType({ description: 'A name and a value to keep with an entity.' })
export class MetadataInput {
  @Field(() => String, { description: 'The name. Unique within an entity.' })
  readonly name!: string;

  @Field(() => String, { description: 'The value.' })
  readonly value!: string;
}

@ObjectType('Metadata', { description: 'A name and a value that are kept with an entity.' })
export class MetadataType {
  @Field(() => String, { simple: true, description: 'The name.' })
  readonly name!: string;

  @Field(() => String, { simple: true, description: 'The value.' })
  readonly value!: string;
}

@InputType({ description: 'An entity to create.' })
export class CreateEntityInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    description: 'The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit. Unique within the org.',
  })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, description: 'A name for people.' })
  readonly name?: string | null;

  @Field(() => String, { nullable: true, description: 'The parent, which must exist.' })
  readonly parentId?: string | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'If true, each acquire for this entity also takes from its parent.',
  })
  readonly cascade!: boolean;

  @Field(() => [MetadataInput], { defaultValue: [], description: 'Up to 32 pairs.' })
  readonly metadata!: MetadataInput[];
}

@InputType({ description: 'Changes of an entity. A field that is absent stays as it is.' })
export class UpdateEntityInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The entity, which must have been created.' })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, description: 'A name for people. Null removes it.' })
  readonly name?: string | null;

  @Field(() => String, { nullable: true, description: 'The parent, which must exist. Null: no parent.' })
  readonly parentId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'If true, each acquire for this entity also takes from its parent. Null leaves it as it is.',
  })
  readonly cascade?: boolean | null;

  @Field(() => [MetadataInput], {
    nullable: true,
    description: 'Up to 32 pairs. Replaces all of them. Null leaves them as they are.',
  })
  readonly metadata?: MetadataInput[] | null;
}

@ObjectType('Entity', {
  implements: Node,
  description: 'Something that limits apply to, such as a user, a team or a project.',
})
export class EntityType extends Node {
  @Field(() => String, {
    simple: true,
    description: 'The id by which `acquire` refers to this entity. Unique within the org.',
  })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, simple: true, description: 'A name for people.' })
  readonly name?: string;

  @Field(() => Boolean, {
    simple: true,
    description: 'If true, each acquire for this entity also takes from its parent.',
  })
  readonly cascade!: boolean;

  @Field(() => [MetadataType], { simple: true, description: 'The pairs that are kept with the entity.' })
  readonly metadata!: MetadataType[];

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description:
      'When it was created. Null for an entity that was never created and is known only by its limits or its use.',
  })
  readonly createdAt?: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When it was deleted. Set only while nothing but its past use is left. Null otherwise.',
  })
  readonly deletedAt?: Date;
}

export const EntityConnection = connectionType('Entity', () => EntityType);

@ObjectType('BucketLimit', { description: 'One limit of a bucket with its tokens.' })
export class BucketLimitType {
  @Field(() => LimitType, { simple: true, description: 'The limit as it was when the bucket was last written.' })
  readonly limit!: LimitType;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Tokens available now, including the refill. Negative while the limit is in debt.',
  })
  readonly available!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Tokens taken since the bucket was made, less what was given back.',
  })
  readonly totalConsumed!: number;
}

@ObjectType('Bucket', {
  implements: Node,
  description: 'The tokens of an entity for a resource, under the limits of its last write.',
})
export class BucketType extends Node {
  @Field(() => String, { simple: true, description: 'The entity whose tokens these are.' })
  readonly entityId!: string;

  @Field(() => String, { simple: true, description: 'The resource that the tokens are for.' })
  readonly resource!: string;

  @Field(() => Int, {
    simple: true,
    description: 'Number of items that the bucket is spread over. A hot bucket gets more.',
  })
  readonly shardCount!: number;

  @Field(() => [BucketLimitType], { simple: true, description: 'One per limit of the bucket.' })
  readonly limits!: BucketLimitType[];
}

@ObjectType('EntityCapacity', { description: 'How much of a limit one entity has left.' })
export class EntityCapacityType {
  @Field(() => String, { simple: true, description: 'The entity.' })
  readonly entityId!: string;

  @Field(() => SafeInt, { simple: true, description: 'The capacity of the limit.' })
  readonly capacity!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Tokens available now, at most the capacity. Negative while the limit is in debt.',
  })
  readonly available!: number;

  @Field(() => Float, { simple: true, description: 'Share of the capacity that is in use, in percent.' })
  readonly utilizationPct!: number;
}

@ObjectType('ResourceCapacity', { description: 'How much of a limit all entities together have left.' })
export class ResourceCapacityType {
  @Field(() => String, { simple: true, description: 'The resource.' })
  readonly resource!: string;

  @Field(() => String, { simple: true, description: 'The name of the limit.' })
  readonly limit!: string;

  @Field(() => SafeInt, { simple: true, description: 'Sum of the capacities.' })
  readonly totalCapacity!: number;

  @Field(() => SafeInt, { simple: true, description: 'Sum of the available tokens.' })
  readonly totalAvailable!: number;

  @Field(() => Float, { simple: true, description: 'Share of the total capacity that is in use, in percent.' })
  readonly utilizationPct!: number;

  @Field(() => [EntityCapacityType], {
    simple: true,
    description: 'One per entity that has a bucket with this limit, sorted by id.',
  })
  readonly entities!: EntityCapacityType[];
}
