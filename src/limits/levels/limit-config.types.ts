import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../../graphql/enum.js';
import { SafeInt, Uuid } from '../../graphql/scalars.js';
import { expectedVersionOrNoneText } from '../../orgs/settings.types.js';
import { LimitInput, LimitType, orgIdText } from '../limit.types.js';
import { type LimitLevel, limitLevels, type OnUnavailable, unavailablePolicies } from './resolution.js';

export const LimitLevelType = enumOf<LimitLevel>(limitLevels);
registerEnumType(LimitLevelType, {
  name: 'LimitLevel',
  description:
    'The place where limits are set, from the weakest to the strongest. The strongest level that has any limits ' +
    'applies; levels are not merged.',
  valuesConfig: {
    SYSTEM: { description: 'All entities and resources of the org.' },
    RESOURCE: { description: 'All entities, for one resource.' },
    ENTITY_DEFAULT: { description: 'One entity, for all resources.' },
    ENTITY: { description: 'One entity, for one resource.' },
  },
});

export const OnUnavailableType = enumOf<OnUnavailable>(unavailablePolicies);
registerEnumType(OnUnavailableType, {
  name: 'OnUnavailable',
  description: 'The behavior of an acquire while the database is unavailable.',
  valuesConfig: {
    ALLOW: { description: 'Grants a lease with `degraded: true`, which takes nothing.' },
    BLOCK: { description: 'Fails with SERVICE_UNAVAILABLE.' },
  },
});

const versionText =
  'Increases by one with each change of this level. Send it as `expectedVersion` to change only what you have read.';

@ObjectType('LimitConfig', { description: 'The limits that are set at one level.' })
export class LimitConfigType {
  @Field(() => LimitLevelType, { description: 'The level at which the limits are set.' })
  readonly level!: LimitLevel;

  @Field(() => String, {
    nullable: true,
    description: 'The resource that the limits are for. Set at levels RESOURCE and ENTITY.',
  })
  readonly resource?: string;

  @Field(() => String, {
    nullable: true,
    description: 'The entity that the limits are for. Set at levels ENTITY_DEFAULT and ENTITY.',
  })
  readonly entityId?: string;

  @Field(() => [LimitType], { simple: true, description: 'The limits of this level.' })
  readonly limits!: LimitType[];

  @Field(() => OnUnavailableType, {
    nullable: true,
    simple: true,
    description:
      'The behavior of an acquire while the database is unavailable. Set at level SYSTEM only; null means BLOCK.',
  })
  readonly onUnavailable?: OnUnavailable;

  @Field(() => Int, { simple: true, description: versionText })
  readonly version!: number;
}

@ObjectType('EffectiveLimits', { description: 'The limits that apply to an acquire.' })
export class EffectiveLimitsType {
  @Field(() => [LimitType], {
    simple: true,
    description: 'The limits of the strongest level that has any. Empty if none are set.',
  })
  readonly limits!: readonly LimitType[];

  @Field(() => LimitLevelType, {
    nullable: true,
    simple: true,
    description: 'The level that the limits come from. Null if none are set.',
  })
  readonly source?: LimitLevel;

  @Field(() => OnUnavailableType, {
    simple: true,
    description: 'The behavior of an acquire while the database is unavailable.',
  })
  readonly onUnavailable!: OnUnavailable;
}

@InputType({ description: 'The limits of one level, which replace all limits of that level.' })
export class SetLimitsInput {
  @Field(() => Uuid, {
    nullable: true,
    description: orgIdText,
  })
  readonly orgId?: string | null;

  @Field(() => LimitLevelType, { description: 'The level to set.' })
  readonly level!: LimitLevel;

  @Field(() => String, {
    nullable: true,
    description: 'The resource. Required at levels RESOURCE and ENTITY; leave it out at the others.',
  })
  readonly resource?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The entity. Required at levels ENTITY_DEFAULT and ENTITY; leave it out at the others.',
  })
  readonly entityId?: string | null;

  @Field(() => [LimitInput], { description: '1–10 limits. They replace all limits of the level.' })
  readonly limits!: LimitInput[];

  @Field(() => OnUnavailableType, {
    nullable: true,
    description:
      'The behavior of an acquire while the database is unavailable. Allowed at level SYSTEM only. Default: BLOCK.',
  })
  readonly onUnavailable?: OnUnavailable | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionOrNoneText })
  readonly expectedVersion?: number | null;
}

@InputType({ description: 'The level whose limits are deleted.' })
export class DeleteLimitsInput {
  @Field(() => Uuid, {
    nullable: true,
    description: orgIdText,
  })
  readonly orgId?: string | null;

  @Field(() => LimitLevelType, { description: 'The level to delete.' })
  readonly level!: LimitLevel;

  @Field(() => String, {
    nullable: true,
    description: 'The resource. Required at levels RESOURCE and ENTITY; leave it out at the others.',
  })
  readonly resource?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The entity. Required at levels ENTITY_DEFAULT and ENTITY; leave it out at the others.',
  })
  readonly entityId?: string | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionOrNoneText })
  readonly expectedVersion?: number | null;
}
