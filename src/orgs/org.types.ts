import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, SafeInt, TimeZone, Uuid } from '../graphql/scalars.js';
import { CredentialsType, SecretRetrievalType } from '../identity/identity.types.js';
import { enumOf } from '../lib/enum.js';
import { type QuotaScope, quotaScopes } from './settings.js';

export const QuotaScopeType = enumOf<QuotaScope>(quotaScopes);
registerEnumType(QuotaScopeType, { name: 'QuotaScope', description: 'Whose the daily quotas are: one for the whole org, or one for each app.' });

@ObjectType('ModelQuota')
export class ModelQuotaType {
  @Field(() => String, { simple: true })
  readonly label!: string;

  @Field(() => SafeInt, { simple: true })
  readonly dailyUsdMicros!: number;
}

@InputType()
export class ModelQuotaInput {
  @Field(() => String)
  readonly label!: string;

  @Field(() => SafeInt)
  readonly dailyUsdMicros!: number;
}

@ObjectType('Org', { implements: Node, description: 'A tenant: its settings, and all that belongs to it.' })
export class OrgType extends Node {
  @Field(() => Uuid, { simple: true })
  readonly orgId!: string;

  @Field(() => String, { simple: true })
  readonly name!: string;

  @Field(() => TimeZone, { simple: true, description: 'The zone asked for last; `timezoneEffectiveAt` says when its days begin to count.' })
  readonly timezone!: string;

  @Field(() => QuotaScopeType, { simple: true })
  readonly quotaScope!: QuotaScope;

  @Field(() => [String], { simple: true, description: 'The fallback chain: the first label whose quota is not used up is the one to call.' })
  readonly modelOrdering!: string[];

  @Field(() => [ModelQuotaType], { simple: true })
  readonly quotas!: ModelQuotaType[];

  @Field(() => Boolean, { simple: true })
  readonly stickyFallbackEnabled!: boolean;

  @Field(() => Int, { simple: true })
  readonly shardCount!: number;

  @Field(() => Int, { simple: true })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { simple: true })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { simple: true })
  readonly refreshIntervalTightSecs!: number;

  @Field(() => CredentialsType, { simple: true })
  readonly credentials!: CredentialsType;

  @Field(() => DateTime, { simple: true })
  readonly createdAt!: Date;

  @Field(() => DateTime, { simple: true })
  readonly updatedAt!: Date;
}

@ObjectType('App', { implements: Node, description: 'Null settings are inherited; the plain fields show what is in force.' })
export class AppType extends Node {
  @Field(() => String, { simple: true })
  readonly appId!: string;

  @Field(() => String, { simple: true })
  readonly name!: string;

  @Field(() => OrgType, { simple: true })
  readonly org!: OrgType;

  @Field(() => [String], { simple: true })
  readonly modelOrdering!: string[];

  @Field(() => [ModelQuotaType], { simple: true })
  readonly quotas!: ModelQuotaType[];

  @Field(() => Int, { simple: true })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { simple: true })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { simple: true })
  readonly refreshIntervalTightSecs!: number;

  @Field(() => [String], { simple: true, description: "Settings that are the org's." })
  readonly inheritedFields!: string[];

  @Field(() => CredentialsType, { simple: true })
  readonly credentials!: CredentialsType;

  @Field(() => DateTime, { simple: true })
  readonly createdAt!: Date;

  @Field(() => DateTime, { simple: true })
  readonly updatedAt!: Date;
}

export const AppConnection = connectionType('App', () => AppType);
export const OrgConnection = connectionType('Org', () => OrgType);

@InputType()
export class RegisterOrgInput {
  @Field(() => Uuid, { nullable: true, description: 'Absent: a new random UUID. Choose one yourself, and a repeated call cannot make a second org.' })
  readonly orgId?: string | null;

  @Field(() => String)
  readonly name!: string;

  @Field(() => TimeZone)
  readonly timezone!: string;

  @Field(() => QuotaScopeType)
  readonly quotaScope!: QuotaScope;

  @Field(() => [String])
  readonly modelOrdering!: string[];

  @Field(() => [ModelQuotaInput])
  readonly quotas!: ModelQuotaInput[];

  @Field(() => Boolean, { defaultValue: true })
  readonly stickyFallbackEnabled!: boolean;

  @Field(() => Int, { defaultValue: 8, description: "8, 16, 32 or 64; fixed for the org's life." })
  readonly shardCount!: number;

  @Field(() => Int, { defaultValue: 95 })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { defaultValue: 300 })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { defaultValue: 60 })
  readonly refreshIntervalTightSecs!: number;
}

/** What orgs and apps alike may change. */
@InputType()
abstract class SettingsInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => [String], { nullable: true })
  readonly modelOrdering?: string[] | null;

  @Field(() => [ModelQuotaInput], { nullable: true })
  readonly quotas?: ModelQuotaInput[] | null;

  @Field(() => Int, { nullable: true })
  readonly tightModeThresholdPct?: number | null;

  @Field(() => Int, { nullable: true })
  readonly refreshIntervalNormalSecs?: number | null;

  @Field(() => Int, { nullable: true })
  readonly refreshIntervalTightSecs?: number | null;
}

@InputType({ description: 'What is absent or null stays as it is.' })
export class UpdateOrgInput extends SettingsInput {
  @Field(() => String, { nullable: true })
  readonly name?: string | null;

  @Field(() => TimeZone, { nullable: true, description: "Takes effect after the current day's end." })
  readonly timezone?: string | null;

  @Field(() => Boolean, { nullable: true })
  readonly stickyFallbackEnabled?: boolean | null;
}

@InputType()
export class RegisterAppInput extends SettingsInput {
  @Field(() => String)
  readonly appId!: string;

  @Field(() => String)
  readonly name!: string;
}

@InputType({ description: "An explicit null returns a setting to the org's; an absent one stays as it is." })
export class UpdateAppInput extends SettingsInput {
  @Field(() => String)
  readonly appId!: string;

  @Field(() => String, { nullable: true })
  readonly name?: string | null;
}

@ObjectType('RegisterOrgPayload')
export class RegisterOrgPayload {
  @Field(() => OrgType, { simple: true })
  readonly org!: OrgType;

  @Field(() => SecretRetrievalType, { simple: true })
  readonly secretRetrieval!: SecretRetrievalType;
}

@ObjectType('RegisterAppPayload')
export class RegisterAppPayload {
  @Field(() => AppType, { simple: true })
  readonly app!: AppType;

  @Field(() => SecretRetrievalType, { simple: true })
  readonly secretRetrieval!: SecretRetrievalType;
}
