import { Field, InputType, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';

@ObjectType('ApiKey', { implements: Node, description: 'What devices present as `X-API-Key`.' })
export class ApiKeyType extends Node {
  @Field(() => Uuid, { simple: true })
  readonly keyId!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly description?: string;

  @Field(() => Boolean, { simple: true })
  readonly active!: boolean;

  @Field(() => DateTime, { simple: true })
  readonly createdAt!: Date;

  @Field(() => DateTime, { nullable: true, simple: true, description: 'To within five minutes.' })
  readonly lastUsedAt?: Date;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKeyType);

@InputType()
export class CreateApiKeyInput {
  @Field(() => Uuid, { nullable: true })
  readonly orgId?: string | null;

  @Field(() => String, { nullable: true })
  readonly description?: string | null;
}

@ObjectType()
export class CreateApiKeyPayload {
  @Field(() => ApiKeyType, { simple: true })
  readonly apiKey!: ApiKeyType;

  @Field(() => String, { simple: true, description: 'Shown once; only its hash is kept.' })
  readonly secret!: string;
}
