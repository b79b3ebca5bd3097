import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import { type PrincipalKind, principalKinds } from './viewer.js';

export const PrincipalKindType = enumOf<PrincipalKind>(principalKinds);
registerEnumType(PrincipalKindType, { name: 'PrincipalKind' });

@ObjectType('Viewer', { description: 'Who is calling.' })
export class ViewerType {
  @Field(() => PrincipalKindType, { simple: true })
  readonly kind!: PrincipalKind;

  @Field(() => String, { nullable: true, simple: true })
  readonly clientId?: string;

  @Field(() => DateTime, { nullable: true, simple: true, description: 'When the access token ends.' })
  readonly expiresAt?: Date;
}

@ObjectType('TokenPair')
export class TokenPairType {
  @Field(() => String, { simple: true })
  readonly accessToken!: string;

  @Field(() => String, { simple: true, description: 'Good for one exchange; each exchange gives the next one.' })
  readonly refreshToken!: string;

  @Field(() => String, { simple: true })
  readonly tokenType!: string;

  @Field(() => Int, { simple: true })
  readonly expiresInSecs!: number;

  @Field(() => Int, { simple: true })
  readonly refreshExpiresInSecs!: number;
}

@ObjectType('Credentials')
export class CredentialsType {
  @Field(() => String, { simple: true })
  readonly clientId!: string;

  @Field(() => DateTime, { nullable: true, simple: true, description: 'Null until the one-time token was redeemed for the first time.' })
  readonly secretCreatedAt?: Date;

  @Field(() => DateTime, { nullable: true, simple: true, description: 'While set and in the future, the previous secret still works.' })
  readonly graceExpiresAt?: Date;
}

@ObjectType('SecretRetrieval', { description: 'A one-time token that mints and shows a client secret once, within ten minutes.' })
export class SecretRetrievalType {
  @Field(() => String, { simple: true })
  readonly token!: string;

  @Field(() => DateTime, { simple: true })
  readonly expiresAt!: Date;
}

@ObjectType('RetrievedSecret')
export class RetrievedSecretType {
  @Field(() => String, { simple: true })
  readonly clientId!: string;

  @Field(() => String, { simple: true, description: 'Shown here and never again: keep it.' })
  readonly clientSecret!: string;
}

@InputType()
export class IssueTokenInput {
  @Field(() => String)
  readonly clientId!: string;

  @Field(() => String)
  readonly clientSecret!: string;
}

@InputType()
export class RotateCredentialsInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true, description: "Absent: the org's own credentials, or those of the app that calls." })
  readonly appId?: string | null;

  @Field(() => Int, { defaultValue: 24, description: '0 to 168. 0 ends the old secret and every token obtained with it as soon as the new one is retrieved.' })
  readonly graceHours!: number;
}

@ObjectType('RotateCredentialsPayload')
export class RotateCredentialsPayload {
  @Field(() => CredentialsType, { simple: true })
  readonly credentials!: CredentialsType;

  @Field(() => SecretRetrievalType, { simple: true })
  readonly secretRetrieval!: SecretRetrievalType;
}
