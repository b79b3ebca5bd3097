import { Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { Node } from '../graphql/node.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import { type AlertKind, alertKinds } from './alert.js';

export const QuotaAlertKindType = enumOf<AlertKind>(alertKinds);
registerEnumType(QuotaAlertKindType, {
  name: 'QuotaAlertKind',
  description: 'What an alert says.',
  valuesConfig: {
    TIGHT_MODE: { description: 'The spend of a label has reached the tight-mode threshold of its quota.' },
    QUOTA_EXCEEDED: { description: 'The daily quota of a label is used up.' },
    FALLBACK_ACTIVATED: { description: 'Selections have moved on from a used-up label to `activeLabel`.' },
    GAP: {
      description:
        'Only in the subscription, whatever `kinds` it asked for: alerts after the given cursor have expired, so some may have been missed. Read `Org.spend` for the state of today. `label` is empty and all figures are 0; `cursor` goes on after the gap.',
    },
  },
});

@ObjectType('QuotaAlert', {
  implements: Node,
  description:
    'An alert about a daily quota. Raised once per scope, label, day and kind. Kept for 30 days unless the platform has configured otherwise.',
})
export class QuotaAlertType extends Node {
  @Field(() => QuotaAlertKindType, { simple: true, description: 'What has happened.' })
  readonly kind!: AlertKind;

  @Field(() => Uuid, { simple: true, description: 'The org it concerns.' })
  readonly orgId!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The app whose quota it is. Null if the quota is the org’s.',
  })
  readonly appId?: string;

  @Field(() => String, { simple: true, description: 'The label that is near or past its quota.' })
  readonly label!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'For FALLBACK_ACTIVATED: the label that selections recommend now.',
  })
  readonly activeLabel?: string;

  @Field(() => LocalDate, { simple: true, description: 'The day of the spend, in the org’s time zone.' })
  readonly day!: string;

  @Field(() => SafeInt, {
    simple: true,
    description: 'What the label had cost when the alert was raised, in micro-dollars.',
  })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true, description: 'The daily quota it was judged by, in micro-dollars.' })
  readonly quotaUsdMicros!: number;

  @Field(() => Float, {
    simple: true,
    description: 'The cost in per cent of the quota, to four decimal places, rounded down.',
  })
  readonly quotaPct!: number;

  @Field(() => Int, {
    simple: true,
    description: 'The tight-mode threshold it was judged by, in per cent of the quota.',
  })
  readonly thresholdPct!: number;

  @Field(() => DateTime, { simple: true, description: 'When the alert was raised.' })
  readonly raisedAt!: Date;
}

export const QuotaAlertConnection = connectionType('QuotaAlert', () => QuotaAlertType);
