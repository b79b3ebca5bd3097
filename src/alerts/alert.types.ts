import { Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { Node } from '../graphql/node.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import { type AlertKind, alertKinds } from './alert.js';

export const QuotaAlertKindType = enumOf<AlertKind>(alertKinds);
registerEnumType(QuotaAlertKindType, {
  name: 'QuotaAlertKind',
  description: 'The event that an alert reports.',
  valuesConfig: {
    TIGHT_MODE: { description: 'The spend of a label has reached the tight-mode threshold of its quota.' },
    QUOTA_EXCEEDED: { description: 'The daily quota of a label is used up.' },
    FALLBACK_ACTIVATED: { description: 'The quota of a label is used up and selections now recommend `activeLabel`.' },
    THRESHOLD: {
      description:
        'The spend of a budget has reached a threshold, or the budget itself (`thresholdPct` 100). ' +
        'A jump over several thresholds raises only the highest one.',
    },
    RECOVERED: {
      description:
        'A budget that was used up in this period no longer is: it was raised or changed, or a cost was credited.',
    },
    PROJECTED: {
      description: 'The forecast expects that the budget will be exceeded in this period. See `Budget.forecast`.',
    },
    GAP: {
      description:
        'Only in the subscription, whatever `kinds` it asked for. Alerts after the given cursor have expired, ' +
        'so some may have been missed. Read `Org.spend` for the state of today. ' +
        '`label` is empty and all figures are 0. `cursor` continues after the gap.',
    },
  },
});

@ObjectType('QuotaAlert', {
  implements: Node,
  description:
    'An alert about a daily quota or a budget. Of a quota it is raised once per scope, label, day and kind; ' +
    'of a budget once per version of the budget, period, kind and threshold. ' +
    'Stored for 30 days unless the platform has configured another retention.',
})
export class QuotaAlertType extends Node {
  @Field(() => QuotaAlertKindType, { simple: true, description: 'What happened.' })
  readonly kind!: AlertKind;

  @Field(() => Uuid, { simple: true, description: 'The org that the alert is about.' })
  readonly orgId!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The app that the quota or budget belongs to. Null if it belongs to the org.',
  })
  readonly appId?: string;

  @Field(() => String, {
    simple: true,
    description: 'The label that is near or past its quota. Empty for a budget of all labels.',
  })
  readonly label!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'For FALLBACK_ACTIVATED: the label that selections recommend now.',
  })
  readonly activeLabel?: string;

  @Field(() => LocalDate, {
    simple: true,
    description:
      'The day of the spend, in the org’s time zone. For a budget: the day on which the alert was raised, ' +
      'or the last day of a period that is over.',
  })
  readonly day!: string;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'Cost of the label on that day when the alert was raised, in micro-dollars. For a budget: of its period.',
  })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'The daily quota, or the budget in force, at that time, in micro-dollars.',
  })
  readonly quotaUsdMicros!: number;

  @Field(() => Float, {
    simple: true,
    description: 'The cost as a percentage of the quota or budget, rounded down to four decimal places.',
  })
  readonly quotaPct!: number;

  @Field(() => Int, {
    simple: true,
    description:
      'The tight-mode threshold at that time, as a percentage of the quota. ' +
      'For THRESHOLD: the threshold that was reached. For RECOVERED and PROJECTED: 100.',
  })
  readonly thresholdPct!: number;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The name of the budget that the alert is about. Null if it is about a quota.',
  })
  readonly budget?: string;

  @Field(() => LocalDate, {
    nullable: true,
    simple: true,
    description: 'The first day of the period of the budget. Null if the alert is about a quota.',
  })
  readonly periodStart?: string;

  @Field(() => LocalDate, {
    nullable: true,
    simple: true,
    description: 'The last day of the period of the budget. Null if the alert is about a quota.',
  })
  readonly periodEnd?: string;

  @Field(() => DateTime, { simple: true, description: 'When the alert was raised.' })
  readonly raisedAt!: Date;
}

export const QuotaAlertConnection = connectionType('QuotaAlert', () => QuotaAlertType);
