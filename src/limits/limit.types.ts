import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { SafeInt, Uuid } from '../graphql/scalars.js';
import { type CalendarWindow, calendarWindows } from './buckets/calendar-window.js';
import { type LimitLevel, limitLevels, type OnUnavailable, unavailablePolicies } from './levels/resolution.js';
import { type LimitKind, limitKinds } from './limit.js';

export const LimitLevelType = enumOf<LimitLevel>(limitLevels);
registerEnumType(LimitLevelType, {
  name: 'LimitLevel',
  description:
    'Where limits are set, from the weakest to the strongest. The strongest level that has any limits applies; levels are not merged.',
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
  description: 'What an acquire does while the database is unavailable.',
  valuesConfig: {
    ALLOW: { description: 'Grants a lease with `degraded: true`, which takes nothing.' },
    BLOCK: { description: 'Fails with SERVICE_UNAVAILABLE.' },
  },
});

export const CalendarWindowType = enumOf<CalendarWindow>(calendarWindows);
registerEnumType(CalendarWindowType, {
  name: 'CalendarWindow',
  description:
    'A window of the calendar of the org, in its time zone. All tokens of the limit come back when the window ends.',
  valuesConfig: {
    DAY: { description: 'Until the end of the local day.' },
    WEEK: { description: 'Until the end of the local ISO week, which begins on Monday.' },
    MONTH: { description: 'Until the end of the local month.' },
  },
});

export const LimitKindType = enumOf<LimitKind>(limitKinds);
registerEnumType(LimitKindType, {
  name: 'LimitKind',
  description: 'What a limit counts.',
  valuesConfig: {
    RATE: { description: 'Tokens taken over time.' },
    CONCURRENCY: {
      description:
        'Leases that are out at the same time. An acquire takes 0 or 1; a release or the end of `ttlSecs` frees it.',
    },
  },
});

@ObjectType('Limit', {
  description: 'One limit of a bucket: it refills by `refillAmount` tokens per `refillPeriodSecs`, up to `burst`.',
})
export class LimitType {
  @Field(() => String, { simple: true, description: 'The name by which `consume` and `adjust` refer to this limit.' })
  readonly name!: string;

  @Field(() => SafeInt, { simple: true, description: 'Tokens that the limit sustains per refill period.' })
  readonly capacity!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Maximum number of tokens that the bucket holds. At least `capacity`.',
  })
  readonly burst!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Tokens that come back per refill period, continuously. 0 for a concurrency limit.',
  })
  readonly refillAmount!: number;

  @Field(() => Int, {
    simple: true,
    description:
      'Length of the refill period in seconds. With a `window`, its usual length. 0 for a concurrency limit.',
  })
  readonly refillPeriodSecs!: number;

  @Field(() => LimitKindType, { simple: true, description: 'What the limit counts.' })
  readonly kind!: LimitKind;

  @Field(() => CalendarWindowType, {
    nullable: true,
    simple: true,
    description: 'The window at whose end all tokens come back. Null if they come back continuously.',
  })
  readonly window?: CalendarWindow;

  @Field(() => Boolean, {
    simple: true,
    description: 'If false, the limit refuses nothing: it only counts what it would have refused.',
  })
  readonly enforce!: boolean;
}

@InputType({ description: 'A limit to set, or to bring along with an acquire.' })
export class LimitInput {
  @Field(() => String, {
    description: '1–64 of A-Z a-z 0-9 _ . -, first a letter. Unique among the limits of a level.',
  })
  readonly name!: string;

  @Field(() => SafeInt, { description: 'Tokens that the limit sustains per refill period, 1–10^15.' })
  readonly capacity!: number;

  @Field(() => SafeInt, {
    nullable: true,
    description: 'Maximum number of tokens that the bucket holds. At least `capacity`. Default: `capacity`.',
  })
  readonly burst?: number | null;

  @Field(() => SafeInt, {
    nullable: true,
    description: 'Tokens that come back per refill period, 1–10^15. Default: `capacity`.',
  })
  readonly refillAmount?: number | null;

  @Field(() => Int, { defaultValue: 60, description: 'Length of the refill period in seconds, 1–10^9.' })
  readonly refillPeriodSecs!: number;

  @Field(() => LimitKindType, {
    defaultValue: 'RATE',
    description:
      'What the limit counts. With CONCURRENCY the capacity is 1–100, and there is no burst, refill or window.',
  })
  readonly kind!: LimitKind;

  @Field(() => CalendarWindowType, {
    nullable: true,
    description:
      'Makes it a calendar limit: `capacity` tokens per window, all of which come back when the window ends. There is no burst or refill then.',
  })
  readonly window?: CalendarWindow | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'If false, the limit refuses nothing: what fits is charged, the rest is counted as `wouldRefuse`.',
  })
  readonly enforce!: boolean;
}

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
    description: 'What an acquire does while the database is unavailable. Set at level SYSTEM only; null means BLOCK.',
  })
  readonly onUnavailable?: OnUnavailable;

  @Field(() => Int, { simple: true, description: 'Increases by one with each change of this level.' })
  readonly version!: number;
}

@ObjectType('EffectiveLimits', { description: 'The limits that an acquire is judged by.' })
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
    description: 'What an acquire does while the database is unavailable.',
  })
  readonly onUnavailable!: OnUnavailable;
}

@InputType({ description: 'The limits of one level, which replace all limits of that level.' })
export class SetLimitsInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
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
      'What an acquire does while the database is unavailable. Allowed at level SYSTEM only. Default: BLOCK.',
  })
  readonly onUnavailable?: OnUnavailable | null;
}

@InputType({ description: 'The level whose limits are deleted.' })
export class DeleteLimitsInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for an admin; a client of an org may leave it out or name its own org.',
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
}

@InputType({ description: 'An amount of one limit.' })
export class ConsumeInput {
  @Field(() => String, { description: 'The name of the limit.' })
  readonly limit!: string;

  @Field(() => SafeInt, {
    description: 'Whole tokens, up to 10^15. Negative only in `adjust`, where it gives tokens back.',
  })
  readonly amount!: number;
}

@ObjectType('LimitStatus', { description: 'How one limit of a bucket stands.' })
export class LimitStatusType {
  @Field(() => String, {
    simple: true,
    description: 'The entity whose bucket this is: the one named in the request or its parent.',
  })
  readonly entityId!: string;

  @Field(() => String, { simple: true, description: 'The resource of the bucket.' })
  readonly resource!: string;

  @Field(() => LimitType, { simple: true, description: 'The limit that was checked.' })
  readonly limit!: LimitType;

  @Field(() => SafeInt, { simple: true, description: 'Tokens that were asked for.' })
  readonly requested!: number;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'In a Lease: tokens left after it. Elsewhere: tokens available now. Negative while the limit is in debt.',
  })
  readonly available!: number;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if the limit does not have the tokens that were asked for.',
  })
  readonly exceeded!: boolean;

  @Field(() => Float, {
    simple: true,
    description: 'Seconds until the requested tokens are available if nobody else takes any. 0 if they are available.',
  })
  readonly retryAfterSecs!: number;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if a limit with `enforce: false` would have refused. It was not charged then.',
  })
  readonly wouldRefuse!: boolean;
}

@ObjectType('Availability', { description: 'The answer that an acquire would get now. Nothing is taken.' })
export class AvailabilityType {
  @Field(() => [LimitStatusType], {
    simple: true,
    description: 'One per limit of the entity, and of its parent if the acquire cascades.',
  })
  readonly statuses!: LimitStatusType[];

  @Field(() => Float, {
    simple: true,
    description:
      'Seconds until an acquire would be granted if nobody else takes any tokens. 0 if it would be granted now.',
  })
  readonly retryAfterSecs!: number;
}
