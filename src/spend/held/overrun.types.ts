import { ArgsType, Field, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType, PageArgs } from '../../graphql/connection.js';
import { enumOf } from '../../graphql/enum.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../../graphql/scalars.js';
import { orgIdText } from '../../identity/identity.types.js';
import { maxOverrunDays, type OverrunKind, overrunKinds } from './overrun.js';

export const OverrunKindType = enumOf<OverrunKind>(overrunKinds);
registerEnumType(OverrunKindType, {
  name: 'OverrunKind',
  description: 'Why a cost was not covered by a reservation.',
  valuesConfig: {
    ABOVE_RESERVATION: { description: 'The call cost more than was reserved for it.' },
    LATE_SETTLE: { description: 'The call was settled after its reservation had been returned.' },
    UNRESERVED: { description: 'The cost was submitted without a reservation and exceeds a HARD quota or budget.' },
  },
});

@ObjectType('Overrun', { description: 'A cost under a HARD quota or budget that no reservation covered.' })
export class OverrunType {
  @Field(() => Uuid, { simple: true, description: 'The `requestId` of the cost.' })
  readonly requestId!: string;

  @Field(() => String, { simple: true, description: 'The app of the cost.' })
  readonly appId!: string;

  @Field(() => String, { simple: true, description: 'The label of the cost.' })
  readonly label!: string;

  @Field(() => LocalDate, { simple: true, description: 'The day that the cost counts on.' })
  readonly day!: string;

  @Field(() => OverrunKindType, { simple: true, description: 'Why the cost was not covered.' })
  readonly kind!: OverrunKind;

  @Field(() => SafeInt, { simple: true, description: 'The part of the cost that was not covered, in micro-dollars.' })
  readonly overUsdMicros!: number;

  @Field(() => DateTime, { simple: true, description: 'When the cost was recorded.' })
  readonly occurredAt!: Date;
}

export const OverrunConnection = connectionType('Overrun', () => OverrunType);

@ArgsType()
export class OverrunArgs extends PageArgs {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true, description: 'Only overruns of this app. Default: all apps of the caller.' })
  readonly appId?: string | null;

  @Field(() => LocalDate, { description: 'The first day, in the time zone of the org.' })
  readonly from!: string;

  @Field(() => LocalDate, { description: `The last day. A range has at most ${maxOverrunDays} days.` })
  readonly to!: string;
}
