import { Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import { type AlertKind, alertKinds } from './alert.js';

export const QuotaAlertKindType = enumOf<AlertKind>(alertKinds);
registerEnumType(QuotaAlertKindType, { name: 'QuotaAlertKind' });

@ObjectType('QuotaAlert', { implements: Node, description: 'Raised once per scope, label, day and kind.' })
export class QuotaAlertType extends Node {
  @Field(() => QuotaAlertKindType, { simple: true })
  readonly kind!: AlertKind;

  @Field(() => Uuid, { simple: true })
  readonly orgId!: string;

  @Field(() => String, { nullable: true, simple: true, description: 'Null where the quota is the org’s.' })
  readonly appId?: string;

  @Field(() => String, { simple: true, description: 'The label that is near or past its quota.' })
  readonly label!: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The label now in use, where a fallback moved on.' })
  readonly activeLabel?: string;

  @Field(() => LocalDate, { simple: true })
  readonly day!: string;

  @Field(() => SafeInt, { simple: true })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true })
  readonly quotaUsdMicros!: number;

  @Field(() => Float, { simple: true })
  readonly quotaPct!: number;

  @Field(() => Int, { simple: true })
  readonly thresholdPct!: number;

  @Field(() => DateTime, { simple: true })
  readonly raisedAt!: Date;
}

export const QuotaAlertConnection = connectionType('QuotaAlert', () => QuotaAlertType);
