import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../../graphql/connection.js';
import { enumOf } from '../../graphql/enum.js';
import { DateTime, SafeInt } from '../../graphql/scalars.js';
import { type TopOrder, topOrders, type UsageWindow, usageWindows } from './usage.js';

export const UsageWindowType = enumOf<UsageWindow>(usageWindows);
registerEnumType(UsageWindowType, {
  name: 'UsageWindow',
  description: 'The length of a window of time. Windows begin at full hours, days and months of UTC.',
  valuesConfig: {
    HOURLY: { description: 'One hour.' },
    DAILY: { description: 'One day.' },
    MONTHLY: { description: 'One month.' },
  },
});

export const TopEntitiesByType = enumOf<TopOrder>(topOrders);
registerEnumType(TopEntitiesByType, {
  name: 'TopEntitiesBy',
  description: 'The measure by which the top entities are ranked.',
  valuesConfig: {
    CONSUMED: { description: 'Tokens taken, minus tokens given back.' },
    REFUSED: { description: 'Acquires that the limit refused.' },
  },
});

@ObjectType('UsageCounter', { description: 'Usage of one limit.' })
export class UsageCounterType {
  @Field(() => String, { simple: true, description: 'The name of the limit.' })
  readonly limit!: string;

  @Field(() => SafeInt, { simple: true, description: 'Tokens taken, minus tokens given back.' })
  readonly consumed!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Number of acquires that this limit refused. A lower bound: the last 10 seconds may be missing.',
  })
  readonly refused!: number;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'Number of acquires that this limit would have refused if it were enforced. A lower bound: the last 10 seconds ' +
      'may be missing.',
  })
  readonly wouldRefuse!: number;
}

@ObjectType('UsageSnapshot', { description: 'Usage of one resource by one entity in one window of time.' })
export class UsageSnapshotType {
  @Field(() => String, { simple: true, description: 'The entity.' })
  readonly entityId!: string;

  @Field(() => String, { simple: true, description: 'The resource.' })
  readonly resource!: string;

  @Field(() => UsageWindowType, { simple: true, description: 'The length of the window.' })
  readonly window!: UsageWindow;

  @Field(() => DateTime, { simple: true, description: 'The first moment of the window.' })
  readonly windowStart!: Date;

  @Field(() => DateTime, { simple: true, description: 'The first moment after the window.' })
  readonly windowEnd!: Date;

  @Field(() => [UsageCounterType], {
    simple: true,
    description: 'One per limit, sorted by name. A window with more than 32 limits may count some together as `other`.',
  })
  readonly counters!: UsageCounterType[];

  @Field(() => SafeInt, { simple: true, description: 'Number of acquires that were granted.' })
  readonly totalEvents!: number;
}

export const UsageSnapshotConnection = connectionType('UsageSnapshot', () => UsageSnapshotType);

@ObjectType('ResourceUsage', { description: 'Usage of one resource by all entities in one window of time.' })
export class ResourceUsageType {
  @Field(() => DateTime, { simple: true, description: 'The first moment of the window.' })
  readonly windowStart!: Date;

  @Field(() => DateTime, { simple: true, description: 'The first moment after the window.' })
  readonly windowEnd!: Date;

  @Field(() => [UsageCounterType], {
    simple: true,
    description: 'One per limit, sorted by name. A window with more than 32 limits may count some together as `other`.',
  })
  readonly counters!: UsageCounterType[];

  @Field(() => SafeInt, {
    simple: true,
    description: 'Number of entities that used the resource. Entities that were only refused do not count.',
  })
  readonly entities!: number;
}

@ObjectType('TopEntity', { description: 'Usage of one limit by one entity.' })
export class TopEntityType {
  @Field(() => String, { simple: true, description: 'The entity.' })
  readonly entityId!: string;

  @Field(() => SafeInt, { simple: true, description: 'Tokens taken, minus tokens given back.' })
  readonly consumed!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Number of acquires that the limit refused. A lower bound: the last 10 seconds may be missing.',
  })
  readonly refused!: number;
}

@ObjectType('TopEntities', {
  description: 'The entities with the most usage or refusals of a limit in the current window of time.',
})
export class TopEntitiesType {
  @Field(() => DateTime, { simple: true, description: 'The first moment of the window.' })
  readonly windowStart!: Date;

  @Field(() => DateTime, { simple: true, description: 'The first moment after the window.' })
  readonly windowEnd!: Date;

  @Field(() => [TopEntityType], {
    simple: true,
    description: 'Largest first, then by id. Entities with a value of 0 are left out.',
  })
  readonly entities!: TopEntityType[];

  @Field(() => Boolean, {
    simple: true,
    description:
      'True if there are more than 10,000 items of usage or of buckets. The others were not read, so some entities ' +
      'may be missing.',
  })
  readonly truncated!: boolean;
}
