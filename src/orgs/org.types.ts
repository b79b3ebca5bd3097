import { Authorized, Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { Node } from '../graphql/node.js';
import { DateTime, SafeInt, TimeZone, Uuid } from '../graphql/scalars.js';
import { CredentialsType, orgIdText, SecretRetrievalType } from '../identity/identity.types.js';
import type { Policy } from '../identity/viewer.js';
import { type QuotaScope, quotaScopes } from './settings.js';

export const QuotaScopeType = enumOf<QuotaScope>(quotaScopes);
registerEnumType(QuotaScopeType, {
  name: 'QuotaScope',
  description: 'What the daily quotas of an org apply to.',
  valuesConfig: {
    ORG: { description: 'One set of quotas that all apps of the org share.' },
    APP: { description: 'Each app has the quotas to itself.' },
  },
});

const orderingText = 'The fallback chain of model labels: the first one whose quota is not used up is the one to call.';
const quotasText = 'The daily quota of each label, in micro-dollars.';
const thresholdText = 'Per cent of a quota, 1 to 100, from which the mode is TIGHT.';
const bringText =
  'Whether app clients of the org may send `limits` with `acquire`. Org clients and the admin always may.';
const normalText = 'Seconds after which to ask for the model selection again in mode NORMAL, 1 to 86400.';
const tightText = 'Seconds after which to ask for the model selection again in mode TIGHT, 1 to 86400.';

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

@ObjectType('Org', { implements: Node, description: 'A tenant: its settings, and everything that belongs to it.' })
export class OrgType extends Node {
  @Field(() => Uuid, { simple: true, description: 'The id of the org.' })
  readonly orgId!: string;

  @Field(() => String, { simple: true, description: 'The name of the org.' })
  readonly name!: string;

  @Field(() => TimeZone, {
    simple: true,
    description: 'The IANA time zone that the days of the org follow; a change takes effect at `timezoneEffectiveAt`.',
  })
  readonly timezone!: string;

  @Field(() => QuotaScopeType, {
    simple: true,
    description: 'What the quotas apply to. Fixed when the org is registered.',
  })
  readonly quotaScope!: QuotaScope;

  @Field(() => [String], { simple: true, description: orderingText })
  readonly modelOrdering!: string[];

  @Authorized<Policy>('app:read')
  @Field(() => [ModelQuotaType], { description: `${quotasText} FORBIDDEN for device keys.` })
  readonly quotas!: ModelQuotaType[];

  @Field(() => Boolean, {
    simple: true,
    description: 'Whether a scope that has fallen back to the next label stays there for the rest of the day.',
  })
  readonly stickyFallbackEnabled!: boolean;

  @Field(() => Int, {
    simple: true,
    description: 'How many counters the writes of one scope are spread over. Fixed when the org is registered.',
  })
  readonly shardCount!: number;

  @Field(() => Boolean, { simple: true, description: bringText })
  readonly appsMayBringLimits!: boolean;

  @Field(() => Int, { simple: true, description: thresholdText })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { simple: true, description: normalText })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { simple: true, description: tightText })
  readonly refreshIntervalTightSecs!: number;

  @Authorized<Policy>('app:read')
  @Field(() => CredentialsType, { description: 'The first client of the org. FORBIDDEN for device keys.' })
  readonly credentials!: CredentialsType;

  @Field(() => DateTime, { simple: true, description: 'When the org was registered.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'When the settings were last changed.' })
  readonly updatedAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'Since when the org is suspended: its credentials are FORBIDDEN. Null: it is not.',
  })
  readonly suspendedAt?: Date;
}

@ObjectType('App', {
  implements: Node,
  description:
    'A program of an org that calls models. The fields show the settings in force: its own, or those of its org.',
})
export class AppType extends Node {
  @Field(() => String, { simple: true, description: 'The id of the app within its org.' })
  readonly appId!: string;

  @Field(() => String, { simple: true, description: 'The name of the app.' })
  readonly name!: string;

  @Field(() => OrgType, { simple: true, description: 'The org that the app belongs to.' })
  readonly org!: OrgType;

  @Field(() => [String], { simple: true, description: orderingText })
  readonly modelOrdering!: string[];

  @Field(() => [ModelQuotaType], { simple: true, description: quotasText })
  readonly quotas!: ModelQuotaType[];

  @Field(() => Int, { simple: true, description: thresholdText })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { simple: true, description: normalText })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { simple: true, description: tightText })
  readonly refreshIntervalTightSecs!: number;

  @Field(() => [String], { simple: true, description: 'Names of the settings that the app has from its org.' })
  readonly inheritedFields!: string[];

  @Field(() => CredentialsType, { simple: true, description: 'The first client of the app.' })
  readonly credentials!: CredentialsType;

  @Field(() => DateTime, { simple: true, description: 'When the app was registered.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'When the settings were last changed.' })
  readonly updatedAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'Since when the app is suspended: its credentials are FORBIDDEN. Null: it is not.',
  })
  readonly suspendedAt?: Date;
}

export const AppConnection = connectionType('App', () => AppType);
export const OrgConnection = connectionType('Org', () => OrgType);

@InputType({ description: 'An org to register.' })
export class RegisterOrgInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'Absent: a random UUID. If you choose one, a repeated call cannot register a second org.',
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The name of the org, 1 to 128 characters.' })
  readonly name!: string;

  @Field(() => TimeZone, { description: 'The IANA time zone that the days of the org follow.' })
  readonly timezone!: string;

  @Field(() => QuotaScopeType, { description: 'What the quotas apply to. It cannot be changed later.' })
  readonly quotaScope!: QuotaScope;

  @Field(() => [String], { description: orderingText })
  readonly modelOrdering!: string[];

  @Field(() => [ModelQuotaInput], { description: `${quotasText} Each label of the chain needs one.` })
  readonly quotas!: ModelQuotaInput[];

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether a scope that has fallen back to the next label stays there for the rest of the day.',
  })
  readonly stickyFallbackEnabled!: boolean;

  @Field(() => Int, {
    defaultValue: 8,
    description:
      '8, 16, 32 or 64: how many counters the writes of one scope are spread over. It cannot be changed later.',
  })
  readonly shardCount!: number;

  @Field(() => Boolean, { defaultValue: false, description: bringText })
  readonly appsMayBringLimits!: boolean;

  @Field(() => Int, { defaultValue: 95, description: thresholdText })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { defaultValue: 300, description: normalText })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { defaultValue: 60, description: tightText })
  readonly refreshIntervalTightSecs!: number;
}

/** What orgs and apps alike may change. */
@InputType()
abstract class SettingsInput {
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

@InputType({ description: 'Changes of an org. A setting that is absent or null stays as it is.' })
export class UpdateOrgInput extends SettingsInput {
  @Field(() => String, { nullable: true, description: 'The name of the org, 1 to 128 characters.' })
  readonly name?: string | null;

  @Field(() => TimeZone, { nullable: true, description: 'Takes effect at the end of the current local day.' })
  readonly timezone?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether a scope that has fallen back to the next label stays there for the rest of the day.',
  })
  readonly stickyFallbackEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: bringText })
  readonly appsMayBringLimits?: boolean | null;
}

@InputType({ description: 'An app to register. A setting that is absent or null is inherited from the org.' })
export class RegisterAppInput extends SettingsInput {
  @Field(() => String, {
    description: 'The id of the app within its org: 1 to 64 of a-z 0-9 . _ -, beginning with a letter or digit.',
  })
  readonly appId!: string;

  @Field(() => String, { description: 'The name of the app, 1 to 128 characters.' })
  readonly name!: string;
}

@InputType({
  description: 'Changes of an app. An absent setting stays as it is; null returns it to the setting of the org.',
})
export class UpdateAppInput extends SettingsInput {
  @Field(() => String, { description: 'The app to change.' })
  readonly appId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The name of the app, 1 to 128 characters. Null leaves it as it is.',
  })
  readonly name?: string | null;
}

@ObjectType('RegisterOrgPayload', { description: 'The result of `registerOrg`.' })
export class RegisterOrgPayload {
  @Field(() => OrgType, { simple: true, description: 'The new org.' })
  readonly org!: OrgType;

  @Field(() => SecretRetrievalType, {
    simple: true,
    description: 'The one-time token for the first secret of the org. Shown only here.',
  })
  readonly secretRetrieval!: SecretRetrievalType;
}

@ObjectType('RegisterAppPayload', { description: 'The result of `registerApp`.' })
export class RegisterAppPayload {
  @Field(() => AppType, { simple: true, description: 'The new app.' })
  readonly app!: AppType;

  @Field(() => SecretRetrievalType, {
    simple: true,
    description: 'The one-time token for the first secret of the app. Shown only here.',
  })
  readonly secretRetrieval!: SecretRetrievalType;
}
