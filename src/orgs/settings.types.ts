import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { SafeInt, Uuid } from '../graphql/scalars.js';
import { orgIdText } from '../identity/identity.types.js';

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

@ObjectType('ModelQuota', { description: 'The daily quota of one model label.' })
export class ModelQuotaType {
  @Field(() => String, { simple: true, description: 'The model label, as in `models`.' })
  readonly label!: string;

  @Field(() => SafeInt, { simple: true, description: 'The quota per local day, in micro-dollars.' })
  readonly dailyUsdMicros!: number;
}

@InputType({ description: 'The daily quota of one model label.' })
export class ModelQuotaInput {
  @Field(() => String, { description: 'The model label, as in `models`.' })
  readonly label!: string;

  @Field(() => SafeInt, { description: 'The quota per local day in micro-dollars, 0 to 10^15.' })
  readonly dailyUsdMicros!: number;
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
