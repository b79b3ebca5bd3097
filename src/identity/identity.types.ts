import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { type ClientRole, clientRoles } from './secret.js';
import { type PrincipalKind, principalKinds } from './viewer.js';

export const orgIdText = "The org. Required if the caller is the platform admin. Default: the caller's own org.";

export const PrincipalKindType = enumOf<PrincipalKind>(principalKinds);
registerEnumType(PrincipalKindType, {
  name: 'PrincipalKind',
  description: 'The kind of credential that a call presents.',
  valuesConfig: {
    PLATFORM_ADMIN: { description: 'An admin key in `X-Admin-Key`, or its console session. It may act for every org.' },
    ORG_CLIENT: { description: 'An access token of a client of an org. It may act for that org and its apps.' },
    APP_CLIENT: { description: 'An access token of a client of an app. It may act for that app.' },
    DEVICE_KEY: { description: 'A device key in `X-API-Key`. It may register devices and send readings.' },
  },
});

export const ClientRoleType = enumOf<ClientRole>(clientRoles);
registerEnumType(ClientRoleType, {
  name: 'ClientRole',
  description: 'What a client may do within its org or app.',
  valuesConfig: {
    FULL: { description: 'Queries, subscriptions and mutations.' },
    READ: {
      description:
        'Queries and subscriptions, and issuing, refreshing and revoking its own tokens. Other mutations are ' +
        'FORBIDDEN.',
    },
  },
});

@ObjectType('Viewer', { description: 'The caller.' })
export class ViewerType {
  @Field(() => PrincipalKindType, { simple: true, description: 'The kind of credential of the caller.' })
  readonly kind!: PrincipalKind;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The client that the access token or console session belongs to. Null for admins and device keys.',
  })
  readonly clientId?: string;

  @Field(() => ClientRoleType, {
    nullable: true,
    simple: true,
    description: 'The role of that client, or of the console session of an admin. Null for admin keys and device keys.',
  })
  readonly role?: ClientRole;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the access token or console session expires. Null for admin keys and device keys.',
  })
  readonly expiresAt?: Date;
}

@ObjectType('TokenPair', { description: 'An access token, and a refresh token to get the next pair with.' })
export class TokenPairType {
  @Field(() => String, { simple: true, description: 'Send it as `Authorization: Bearer <accessToken>`.' })
  readonly accessToken!: string;

  @Field(() => String, {
    simple: true,
    description: 'Valid for one call of `refreshToken`, which returns the next one.',
  })
  readonly refreshToken!: string;

  @Field(() => String, { simple: true, description: 'Always `Bearer`.' })
  readonly tokenType!: string;

  @Field(() => Int, {
    simple: true,
    description: 'Seconds until the access token expires: 3600, or fewer if its session or secret ends earlier.',
  })
  readonly expiresInSecs!: number;

  @Field(() => Int, {
    simple: true,
    description:
      'Seconds until the session ends: 30 days after the login, or earlier if the grace of its secret ends. A ' +
      'refresh does not extend the session.',
  })
  readonly refreshExpiresInSecs!: number;
}

@ObjectType('Credentials', {
  description: 'The state of the secrets of one client. A secret itself is shown only by `retrieveSecret`.',
})
export class CredentialsType {
  @Field(() => String, { simple: true, description: 'The id to log in with.' })
  readonly clientId!: string;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the current secret was made. Null until the first retrieval token was redeemed.',
  })
  readonly secretCreatedAt?: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'If this is in the future, the previous secret works until then.',
  })
  readonly graceExpiresAt?: Date;
}

@ObjectType('SecretRetrieval', {
  description: 'A one-time token that makes a client secret and shows it once, within ten minutes.',
})
export class SecretRetrievalType {
  @Field(() => String, { simple: true, description: 'Pass it to `retrieveSecret`, once.' })
  readonly token!: string;

  @Field(() => DateTime, { simple: true, description: 'When the token expires.' })
  readonly expiresAt!: Date;
}

@ObjectType('RetrievedSecret', { description: 'A client secret that was just made.' })
export class RetrievedSecretType {
  @Field(() => String, { simple: true, description: 'The client that the secret belongs to.' })
  readonly clientId!: string;

  @Field(() => String, { simple: true, description: 'The secret. Store it: it is shown only here.' })
  readonly clientSecret!: string;
}

@InputType({ description: 'A client and its secret.' })
export class IssueTokenInput {
  @Field(() => String, { description: 'The id of the client: `Credentials.clientId`.' })
  readonly clientId!: string;

  @Field(() => String, { description: 'The current secret of the client, or the previous one during its grace.' })
  readonly clientSecret!: string;
}

@InputType({
  description:
    'The client that gets a new secret. Default: the caller itself, or the first client of the org for an admin.',
})
export class RotateCredentialsInput {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true, description: 'Rotate the first client of this app.' })
  readonly appId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Rotate this client, for instance one from `Org.clients` or `App.clients`.',
  })
  readonly clientId?: string | null;

  @Field(() => Int, {
    defaultValue: 24,
    description:
      'Hours, 0–168, that the old secret works beside the new one. Sessions of the old secret end with it. With 0, ' +
      'the old secret and all its tokens end when the new secret is retrieved. Default 24.',
  })
  readonly graceHours!: number;

  @Field(() => String, {
    nullable: true,
    description:
      "The caller's own current secret. Required if a client rotates itself, or if an org client rotates another " +
      'client of the org. Not needed by an org client for an app, or by an admin.',
  })
  readonly currentSecret?: string | null;
}

@ObjectType('RotateCredentialsPayload', { description: 'The result of `rotateCredentials`.' })
export class RotateCredentialsPayload {
  @Field(() => CredentialsType, {
    simple: true,
    description: 'The credentials as they are until the token is redeemed.',
  })
  readonly credentials!: CredentialsType;

  @Field(() => SecretRetrievalType, { simple: true, description: 'The one-time token for the new secret.' })
  readonly secretRetrieval!: SecretRetrievalType;
}
