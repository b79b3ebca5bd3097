import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { LocalDate, SafeInt, Uuid } from '../graphql/scalars.js';
import { orgIdText } from '../identity/identity.types.js';
import { dayAt } from './calendar.js';
import { enforcementOn, nextChange, type QuotaEnforcement, quotaEnforcements } from './enforcement.js';
import type { ModelQuota } from './quotas.js';
import type { Org } from './settings.js';

export const orderingText =
  'The fallback chain of model labels. The first label whose quota is not used up is selected.';
export const quotasText = 'The daily quota of each label, in micro-dollars.';
export const thresholdText = 'Percentage of a quota, 1–100, from which the mode is TIGHT.';
export const normalText = 'Seconds, 1–86400, after which to query the model selection again in mode NORMAL.';
export const tightText = 'Seconds, 1–86400, after which to query the model selection again in mode TIGHT.';

export const settingsVersionText =
  'Increases by one with each change of the settings. Send it as `expectedVersion` to change only what you have read.';

export const expectedVersionText =
  'Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has ' +
  'the `currentVersion`. Default: any version.';
/** Of an object that the mutation can create. */
export const expectedVersionOrNoneText = `${expectedVersionText} 0 means that it must not exist.`;

export const QuotaEnforcementType = enumOf<QuotaEnforcement>(quotaEnforcements);
registerEnumType(QuotaEnforcementType, {
  name: 'QuotaEnforcement',
  description: 'What a quota does when it is used up.',
  valuesConfig: {
    ADVISORY: { description: 'Selections and `admit` fall back to the next label. Calls in flight may overshoot it.' },
    HARD: {
      description:
        '`admit` reserves the estimated cost before the call, so that settled and reserved costs together never ' +
        'exceed the quota, except for overruns.',
    },
  },
});

@ObjectType('EnforcementChange', { description: 'A change of the enforcement of a quota on a coming day.' })
export class EnforcementChangeType {
  @Field(() => QuotaEnforcementType, { simple: true, description: 'The enforcement from that day on.' })
  readonly enforcement!: QuotaEnforcement;

  @Field(() => LocalDate, { simple: true, description: 'The first local day of the org on which it is in force.' })
  readonly from!: string;
}

@ObjectType('ModelQuota', { description: 'The daily quota of one model label.' })
export class ModelQuotaType {
  @Field(() => String, { simple: true, description: 'The model label, as in `models`.' })
  readonly label!: string;

  @Field(() => SafeInt, { simple: true, description: 'The quota per local day, in micro-dollars.' })
  readonly dailyUsdMicros!: number;

  @Field(() => QuotaEnforcementType, { simple: true, description: 'The enforcement that is in force today.' })
  readonly enforcement!: QuotaEnforcement;

  @Field(() => EnforcementChangeType, {
    nullable: true,
    simple: true,
    description: 'The change that waits for a coming day. Null if there is none.',
  })
  readonly nextEnforcement?: EnforcementChangeType | undefined;
}

/** The quotas as callers see them. */
export const quotasToday = (quotas: readonly ModelQuota[], { zones }: Org, nowMs: number): ModelQuotaType[] => {
  const today = dayAt(zones, nowMs);
  return quotas.map(({ label, dailyUsdMicros, changes = [] }) => ({
    label,
    dailyUsdMicros,
    enforcement: enforcementOn(changes, today),
    nextEnforcement: nextChange(changes, today),
  }));
};

@InputType({ description: 'The daily quota of one model label.' })
export class ModelQuotaInput {
  @Field(() => String, { description: 'The model label, as in `models`.' })
  readonly label!: string;

  @Field(() => SafeInt, { description: 'The quota per local day in micro-dollars, 0 to 10^15.' })
  readonly dailyUsdMicros!: number;

  @Field(() => QuotaEnforcementType, {
    nullable: true,
    description:
      'What the quota does when it is used up. A change takes effect on the next local day, or on the day after it ' +
      'if that day begins in less than 310 seconds; for an org or app that is being registered, at once. Absent or ' +
      'null: unchanged, and ADVISORY for a new quota.',
  })
  readonly enforcement?: QuotaEnforcement | null;
}

/** The settings that can be changed of orgs and of apps. */
@InputType()
export abstract class SettingsInput {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => [String], { nullable: true, description: orderingText })
  readonly modelOrdering?: string[] | null;

  @Field(() => [ModelQuotaInput], { nullable: true, description: `${quotasText} Replaces all of them.` })
  readonly quotas?: ModelQuotaInput[] | null;

  @Field(() => Int, { nullable: true, description: thresholdText })
  readonly tightModeThresholdPct?: number | null;

  @Field(() => Int, { nullable: true, description: normalText })
  readonly refreshIntervalNormalSecs?: number | null;

  @Field(() => Int, { nullable: true, description: tightText })
  readonly refreshIntervalTightSecs?: number | null;
}
