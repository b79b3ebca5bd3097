import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import { LimitType } from './limit.types.js';
import { type UsageWindow, usageWindows } from './usage.js';

export const UsageWindowType = enumOf<UsageWindow>(usageWindows);
registerEnumType(UsageWindowType, { name: 'UsageWindow', description: 'Hours, days and months of UTC.' });

@InputType()
export class MetadataInput {
  @Field(() => String)
  readonly name!: string;

  @Field(() => String)
  readonly value!: string;
}

@ObjectType('Metadata')
export class MetadataType {
  @Field(() => String, { simple: true })
  readonly name!: string;

  @Field(() => String, { simple: true })
  readonly value!: string;
}

@InputType()
export class CreateEntityInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => String)
  readonly entityId!: string;

  @Field(() => String, { nullable: true })
  readonly name?: string | null;

  @Field(() => String, { nullable: true })
  readonly parentId?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Every acquire on this entity also takes from its parent.' })
  readonly cascade!: boolean;

  @Field(() => [MetadataInput], { defaultValue: [], description: 'At most 32 pairs.' })
  readonly metadata!: MetadataInput[];
}

@ObjectType('Entity', { implements: Node, description: 'Whom limits are for: a user, a team, a project.' })
export class EntityType extends Node {
  @Field(() => String, { simple: true })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly name?: string;

  @Field(() => Boolean, { simple: true })
  readonly cascade!: boolean;

  @Field(() => [MetadataType], { simple: true })
  readonly metadata!: MetadataType[];

  @Field(() => DateTime, { nullable: true, simple: true, description: 'Null where it was only ever acquired for.' })
  readonly createdAt?: Date;
}

export const EntityConnection = connectionType('Entity', () => EntityType);

@ObjectType('BucketLimit')
export class BucketLimitType {
  @Field(() => LimitType, { simple: true })
  readonly limit!: LimitType;

  @Field(() => SafeInt, { simple: true, description: 'Now, refill included; negative while in debt.' })
  readonly available!: number;

  @Field(() => SafeInt, { simple: true })
  readonly totalConsumed!: number;
}

@ObjectType('Bucket', { implements: Node, description: 'The tokens of an entity for a resource, under the limits it was last written with.' })
export class BucketType extends Node {
  @Field(() => String, { simple: true })
  readonly entityId!: string;

  @Field(() => String, { simple: true })
  readonly resource!: string;

  @Field(() => Int, { simple: true })
  readonly shardCount!: number;

  @Field(() => [BucketLimitType], { simple: true })
  readonly limits!: BucketLimitType[];
}

@ObjectType('UsageCounter')
export class UsageCounterType {
  @Field(() => String, { simple: true })
  readonly limit!: string;

  @Field(() => SafeInt, { simple: true })
  readonly consumed!: number;
}

@ObjectType('UsageSnapshot')
export class UsageSnapshotType {
  @Field(() => String, { simple: true })
  readonly entityId!: string;

  @Field(() => String, { simple: true })
  readonly resource!: string;

  @Field(() => UsageWindowType, { simple: true })
  readonly window!: UsageWindow;

  @Field(() => DateTime, { simple: true })
  readonly windowStart!: Date;

  @Field(() => DateTime, { simple: true, description: 'The first moment after it.' })
  readonly windowEnd!: Date;

  @Field(() => [UsageCounterType], { simple: true })
  readonly counters!: UsageCounterType[];

  @Field(() => SafeInt, { simple: true, description: 'Acquires that were granted.' })
  readonly totalEvents!: number;
}

export const UsageSnapshotConnection = connectionType('UsageSnapshot', () => UsageSnapshotType);

@ObjectType('ResourceUsage')
export class ResourceUsageType {
  @Field(() => DateTime, { simple: true })
  readonly windowStart!: Date;

  @Field(() => DateTime, { simple: true, description: 'The first moment after it.' })
  readonly windowEnd!: Date;

  @Field(() => [UsageCounterType], { simple: true })
  readonly counters!: UsageCounterType[];

  @Field(() => SafeInt, { simple: true, description: 'How many entities have used it.' })
  readonly entities!: number;
}

@ObjectType('EntityCapacity')
export class EntityCapacityType {
  @Field(() => String, { simple: true })
  readonly entityId!: string;

  @Field(() => SafeInt, { simple: true })
  readonly capacity!: number;

  @Field(() => SafeInt, { simple: true })
  readonly available!: number;

  @Field(() => Float, { simple: true })
  readonly utilizationPct!: number;
}

@ObjectType('ResourceCapacity')
export class ResourceCapacityType {
  @Field(() => String, { simple: true })
  readonly resource!: string;

  @Field(() => String, { simple: true })
  readonly limit!: string;

  @Field(() => SafeInt, { simple: true })
  readonly totalCapacity!: number;

  @Field(() => SafeInt, { simple: true })
  readonly totalAvailable!: number;

  @Field(() => Float, { simple: true })
  readonly utilizationPct!: number;

  @Field(() => [EntityCapacityType], { simple: true })
  readonly entities!: EntityCapacityType[];
}
