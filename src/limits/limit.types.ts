import { Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { SafeInt } from '../graphql/scalars.js';
import { type CalendarWindow, calendarWindows } from './buckets/calendar-window.js';
import { type LimitKind, limitKinds } from './limit.js';

/** The description of every `orgId` input of the limiter. */
export const orgIdText = 'The org. Required for an admin; a client of an org may leave it out or name its own org.';

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
  description: 'The quantity that a limit counts.',
  valuesConfig: {
    RATE: { description: 'Tokens taken over time.' },
    CONCURRENCY: {
      description: 'Leases held at the same time. An acquire takes 0 or 1; a release or the end of `ttlSecs` frees it.',
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

  @Field(() => LimitKindType, { simple: true, description: 'The quantity that the limit counts.' })
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

@InputType({ description: 'A limit to set, or to send with an acquire.' })
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
      'The quantity that the limit counts. With CONCURRENCY the capacity is 1–100, and there is no burst, refill or ' +
      'window.',
  })
  readonly kind!: LimitKind;

  @Field(() => CalendarWindowType, {
    nullable: true,
    description:
      'Makes it a calendar limit: `capacity` tokens per window, all of which come back when the window ends. It has ' +
      'no burst or refill then.',
  })
  readonly window?: CalendarWindow | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'If false, the limit refuses nothing: an acquire that fits is charged, others count as `wouldRefuse`.',
  })
  readonly enforce!: boolean;
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

@ObjectType('LimitStatus', { description: 'The status of one limit of a bucket.' })
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

  @Field(() => SafeInt, { simple: true, description: 'Tokens that were requested.' })
  readonly requested!: number;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'In a Lease: tokens left after it. Elsewhere: tokens available now. Negative while the limit is in debt.',
  })
  readonly available!: number;

  @Field(() => Boolean, {
    simple: true,
    description: 'True if the limit does not have the tokens that were requested.',
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

@ObjectType('Availability', { description: 'The result that an acquire would have now. Nothing is taken.' })
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
