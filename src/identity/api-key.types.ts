import { Field, InputType, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { orgIdText } from './identity.types.js';

@ObjectType('ApiKey', { implements: Node, description: 'A credential of devices, sent in the header `X-API-Key`.' })
export class ApiKeyType extends Node {
  @Field(() => Uuid, {
    simple: true,
    description: 'Names the key in `revokeApiKey`, `assignDevice` and `replaces`. Not secret.',
  })
  readonly keyId!: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The text given at creation.' })
  readonly description?: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The only device that this key may serve. Null if it may serve every device that it owns.',
  })
  readonly hardwareId?: string;

  @Field(() => Uuid, {
    simple: true,
    description:
      'The first key of the line this key belongs to; its own `keyId` unless it replaced another. Keys of one ' +
      'line own the same devices.',
  })
  readonly ownerId!: string;

  @Field(() => Boolean, { simple: true, description: 'False once the key is revoked.' })
  readonly active!: boolean;

  @Field(() => DateTime, { simple: true, description: 'The time of `createApiKey`.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'The last use, exact to five minutes. Null if the key was never used.',
  })
  readonly lastUsedAt?: Date;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKeyType);

@InputType({ description: 'The properties of a new API key.' })
export class CreateApiKeyInput {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true, description: 'A note for people, 1–256 characters.' })
  readonly description?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Binds the key to the device with this MAC address. The key may then serve this device, whoever owned it, ' +
      'and no other.',
  })
  readonly hardwareId?: string | null;

  @Field(() => Uuid, {
    nullable: true,
    description:
      'An active key that the new one replaces. Both serve the same devices until one is revoked, so that a fleet ' +
      'can change keys device by device.',
  })
  readonly replaces?: string | null;
}

@ObjectType({ description: 'The result of `createApiKey`.' })
export class CreateApiKeyPayload {
  @Field(() => ApiKeyType, { simple: true, description: 'The key, without its secret.' })
  readonly apiKey!: ApiKeyType;

  @Field(() => String, {
    simple: true,
    description: 'The text that devices send as `X-API-Key`. Shown only here; only its hash is stored.',
  })
  readonly secret!: string;
}
