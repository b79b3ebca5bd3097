import { Authorized, Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { Node } from '../graphql/node.js';
import { DateTime, SafeInt, TimeZone, Uuid } from '../graphql/scalars.js';
import { CredentialsType, SecretRetrievalType } from '../identity/identity.types.js';
import type { Policy } from '../identity/viewer.js';
import { type QuotaScope, quotaScopes } from './settings.js';
import {
  expectedVersionText,
  ModelQuotaInput,
  normalText,
  orderingText,
  quotasText,
  SettingsInput,
  settingsVersionText,
  thresholdText,
  tightText,
} from './settings.types.js';

export const QuotaScopeType = enumOf<QuotaScope>(quotaScopes);
registerEnumType(QuotaScopeType, {
  name: 'QuotaScope',
  description: 'What the daily quotas of an org apply to.',
  valuesConfig: {
    ORG: { description: 'One set of quotas that all apps of the org share.' },
    APP: { description: 'Each app has the quotas to itself.' },
  },
});

const bringText =
  'Whether app clients of the org may send `limits` with `acquire`. Org clients and the admin always may.';

const attributeText =
  'Whether costs are also counted per app, for `spendBreakdown`. Adds 2 write units to a cost that is recorded ' +
  'alone. Has no effect under quotaScope APP, where they always are. A change applies to later costs.';
const ledgerText =
  'Whether the costs of the org can be listed (`costs`). Adds 1 write unit to each cost. A change applies to later ' +
  'costs.';
const dimensionsText =
  'Up to 2 names under which a cost may carry a value, for example `user` or `feature`, each 1–32 characters of ' +
  'a-z 0-9 _. `spendBreakdown` lists the values. Each adds 2 write units to a cost that is recorded alone.';

const reservationText =
  'The largest share of a HARD quota or budget that one `admit` may reserve, in percent, 1–100. A larger estimate is ' +
  'denied.';

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

  @Field(() => Boolean, { simple: true, description: attributeText })
  readonly attributeApps!: boolean;

  @Field(() => Boolean, { simple: true, description: ledgerText })
  readonly ledger!: boolean;

  @Field(() => [String], { simple: true, description: dimensionsText })
  readonly dimensions!: string[];

  @Field(() => Int, { simple: true, description: reservationText })
  readonly maxReservationPct!: number;

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

  @Field(() => SafeInt, { simple: true, description: settingsVersionText })
  readonly version!: number;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the org was suspended; its credentials are FORBIDDEN since then. Null if it is not suspended.',
  })
  readonly suspendedAt?: Date;
}

export const OrgConnection = connectionType('Org', () => OrgType);

@InputType({ description: 'An org to register.' })
export class RegisterOrgInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'Default: a random UUID. Choose one to make a retry safe: it cannot register a second org.',
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The name of the org, 1–128 characters.' })
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

  @Field(() => Boolean, { defaultValue: false, description: attributeText })
  readonly attributeApps!: boolean;

  @Field(() => Boolean, { defaultValue: false, description: ledgerText })
  readonly ledger!: boolean;

  @Field(() => [String], { defaultValue: [], description: dimensionsText })
  readonly dimensions!: string[];

  @Field(() => Int, { defaultValue: 100, description: reservationText })
  readonly maxReservationPct!: number;

  @Field(() => Int, { defaultValue: 95, description: thresholdText })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { defaultValue: 300, description: normalText })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { defaultValue: 60, description: tightText })
  readonly refreshIntervalTightSecs!: number;
}

@InputType({ description: 'Changes of an org. A setting that is absent or null stays unchanged.' })
export class UpdateOrgInput extends SettingsInput {
  @Field(() => String, { nullable: true, description: 'The name of the org, 1–128 characters.' })
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

  @Field(() => Boolean, { nullable: true, description: attributeText })
  readonly attributeApps?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: ledgerText })
  readonly ledger?: boolean | null;

  @Field(() => [String], { nullable: true, description: `${dimensionsText} Replaces all of them.` })
  readonly dimensions?: string[] | null;

  @Field(() => Int, { nullable: true, description: reservationText })
  readonly maxReservationPct?: number | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionText })
  readonly expectedVersion?: number | null;
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
