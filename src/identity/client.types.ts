import { Field, InputType, ObjectType } from 'type-graphql';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { maxClients } from './client.js';
import { ClientRoleType, CredentialsType, orgIdText, SecretRetrievalType } from './identity.types.js';
import type { ClientRole } from './secret.js';

@ObjectType('Client', {
  description: 'A further client of an org or app, beside the first one, which is in `credentials` of the org or app.',
})
export class ClientType {
  @Field(() => String, {
    simple: true,
    description: 'The id to log in with. It is never used again after the client was deleted.',
  })
  readonly clientId!: string;

  @Field(() => String, { simple: true, description: 'What the client is for.' })
  readonly name!: string;

  @Field(() => ClientRoleType, { simple: true, description: 'What the client may do. It never changes.' })
  readonly role!: ClientRole;

  @Field(() => DateTime, { simple: true, description: 'When the client was created.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'The last login, exact to an hour. Null if there was none.',
  })
  readonly lastLoginAt?: Date;

  @Field(() => CredentialsType, { simple: true, description: 'The state of its secrets.' })
  readonly credentials!: CredentialsType;
}

@InputType({ description: `A client to create. An org, and each of its apps, may have up to ${maxClients}.` })
export class CreateClientInput {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The app that the client acts for. Omit for a client of the org itself.',
  })
  readonly appId?: string | null;

  @Field(() => ClientRoleType, { defaultValue: 'FULL', description: 'What the client may do.' })
  readonly role!: ClientRole;

  @Field(() => String, { description: 'What the client is for, 1–128 characters.' })
  readonly name!: string;

  @Field(() => String, {
    nullable: true,
    description: "The caller's own current secret. Required if an org client creates a client of the org itself.",
  })
  readonly currentSecret?: string | null;
}

@ObjectType('CreateClientPayload', { description: 'The result of `createClient`.' })
export class CreateClientPayload {
  @Field(() => ClientType, {
    simple: true,
    description: 'The new client. It cannot log in until its secret was retrieved.',
  })
  readonly client!: ClientType;

  @Field(() => SecretRetrievalType, { simple: true, description: 'The one-time token for its first secret.' })
  readonly secretRetrieval!: SecretRetrievalType;
}
