import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { connectionType } from '../../graphql/connection.js';
import { Node } from '../../graphql/node.js';
import { DateTime, SafeInt, Uuid } from '../../graphql/scalars.js';
import { LimitType, orgIdText } from '../limit.types.js';

@InputType({ description: 'A name and a value to store with an entity.' })
export class MetadataInput {
  @Field(() => String, { description: 'The name. Unique within an entity.' })
  readonly name!: string;

  @Field(() => String, { description: 'The value.' })
  readonly value!: string;
}

@ObjectType('Metadata', { description: 'A name and a value that are stored with an entity.' })
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
    description: orgIdText,
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    description: 'The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit. Unique within the org.',
  })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, description: 'Display name.' })
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

@InputType({ description: 'Changes of an entity. An absent field stays unchanged.' })
export class UpdateEntityInput {
  @Field(() => Uuid, {
    nullable: true,
    description: orgIdText,
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The entity, which must have been created.' })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, description: 'Display name. Null removes it.' })
  readonly name?: string | null;

  @Field(() => String, { nullable: true, description: 'The parent, which must exist. Null removes it.' })
  readonly parentId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'If true, each acquire for this entity also takes from its parent. Null leaves it unchanged.',
  })
  readonly cascade?: boolean | null;

  @Field(() => [MetadataInput], {
    nullable: true,
    description: 'Up to 32 pairs. Replaces all of them. Null leaves them unchanged.',
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

  @Field(() => String, { nullable: true, simple: true, description: 'Display name.' })
  readonly name?: string;

  @Field(() => Boolean, {
    simple: true,
    description: 'If true, each acquire for this entity also takes from its parent.',
  })
  readonly cascade!: boolean;

  @Field(() => [MetadataType], { simple: true, description: 'The pairs that are stored with the entity.' })
  readonly metadata!: MetadataType[];

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'Time of creation. Null for an entity that was never created and has only limits or usage.',
  })
  readonly createdAt?: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'Time of deletion. Set only while nothing but its past usage is left. Null otherwise.',
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
    description: 'Tokens taken since the bucket was created, minus tokens given back.',
  })
  readonly totalConsumed!: number;
}

@ObjectType('Bucket', {
  implements: Node,
  description: 'The tokens of an entity for a resource, with the limits of its last write.',
})
export class BucketType extends Node {
  @Field(() => String, { simple: true, description: 'The entity whose tokens these are.' })
  readonly entityId!: string;

  @Field(() => String, { simple: true, description: 'The resource that the tokens are for.' })
  readonly resource!: string;

  @Field(() => Int, {
    simple: true,
    description: 'Number of shards of the bucket. A hot bucket gets more.',
  })
  readonly shardCount!: number;

  @Field(() => [BucketLimitType], { simple: true, description: 'One per limit of the bucket.' })
  readonly limits!: BucketLimitType[];
}

@ObjectType('EntityCapacity', { description: 'Capacity and available tokens of a limit for one entity.' })
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

@ObjectType('ResourceCapacity', { description: 'Capacity and available tokens of a limit for all entities together.' })
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
