import { Field, InputType, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { orgIdText } from './identity.types.js';

@ObjectType('ApiKey', { implements: Node, description: 'A key that devices present as `X-API-Key`.' })
export class ApiKeyType extends Node {
  @Field(() => Uuid, { simple: true, description: 'Names the key. It is no secret.' })
  readonly keyId!: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The text given when the key was created.' })
  readonly description?: string;

  @Field(() => Boolean, { simple: true, description: 'False once the key was revoked.' })
  readonly active!: boolean;

  @Field(() => DateTime, { simple: true, description: 'When the key was created.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { nullable: true, simple: true, description: 'When a device last used the key, to within five minutes. Null: never.' })
  readonly lastUsedAt?: Date;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKeyType);

@InputType({ description: 'A device key to create.' })
export class CreateApiKeyInput {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true, description: 'What the key is for, 1 to 256 characters.' })
  readonly description?: string | null;
}

@ObjectType({ description: 'The result of `createApiKey`.' })
export class CreateApiKeyPayload {
  @Field(() => ApiKeyType, { simple: true, description: 'The key, without its secret.' })
  readonly apiKey!: ApiKeyType;

  @Field(() => String, { simple: true, description: 'The text that devices send as `X-API-Key`. Shown only here; only its hash is stored.' })
  readonly secret!: string;
}
