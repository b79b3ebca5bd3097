import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, SafeInt } from '../graphql/scalars.js';
import { CredentialsType, SecretRetrievalType } from '../identity/identity.types.js';
import { OrgType } from './org.types.js';
import {
  expectedVersionText,
  normalText,
  orderingText,
  SettingsInput,
  settingsVersionText,
  thresholdText,
  tightText,
} from './settings.types.js';

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

  @Field(() => Int, { simple: true, description: thresholdText })
  readonly tightModeThresholdPct!: number;

  @Field(() => Int, { simple: true, description: normalText })
  readonly refreshIntervalNormalSecs!: number;

  @Field(() => Int, { simple: true, description: tightText })
  readonly refreshIntervalTightSecs!: number;

  @Field(() => [String], { simple: true, description: 'Names of the settings that the app inherits from its org.' })
  readonly inheritedFields!: string[];

  @Field(() => CredentialsType, { simple: true, description: 'The first client of the app.' })
  readonly credentials!: CredentialsType;

  @Field(() => DateTime, { simple: true, description: 'When the app was registered.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'When the settings were last changed.' })
  readonly updatedAt!: Date;

  @Field(() => SafeInt, {
    simple: true,
    description: `${settingsVersionText} Does not count changes of the org, which the app may inherit.`,
  })
  readonly version!: number;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the app was suspended; its credentials are FORBIDDEN since then. Null if it is not suspended.',
  })
  readonly suspendedAt?: Date;
}

export const AppConnection = connectionType('App', () => AppType);

@InputType({ description: 'An app to register. A setting that is absent or null is inherited from the org.' })
export class RegisterAppInput extends SettingsInput {
  @Field(() => String, {
    description:
      'The id of the app within its org: 1–64 characters of a-z 0-9 . _ - that begin with a letter or digit.',
  })
  readonly appId!: string;

  @Field(() => String, { description: 'The name of the app, 1–128 characters.' })
  readonly name!: string;
}

@InputType({
  description:
    'Changes of an app. An absent setting stays unchanged. With null, the app inherits the setting from its org.',
})
export class UpdateAppInput extends SettingsInput {
  @Field(() => String, { description: 'The app to change.' })
  readonly appId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The name of the app, 1–128 characters. Null leaves it unchanged.',
  })
  readonly name?: string | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionText })
  readonly expectedVersion?: number | null;
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
