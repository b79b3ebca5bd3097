import { Field, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime } from '../graphql/scalars.js';

@ObjectType('AuditDetail')
export class AuditDetailType {
  @Field(() => String, { simple: true })
  readonly name!: string;

  @Field(() => String, { simple: true })
  readonly value!: string;
}

@ObjectType('AuditEvent', { implements: Node, description: 'Who did what, when, to what. Never changed, never taken back.' })
export class AuditEventType extends Node {
  @Field(() => DateTime, { simple: true })
  readonly at!: Date;

  @Field(() => String, { simple: true })
  readonly actor!: string;

  @Field(() => String, { simple: true })
  readonly action!: string;

  @Field(() => String, {
    simple: true,
    description:
      'An entity of the limiter, or what the act was on: `$ORG`, `$APP:{appId}`, `$CLIENT:{clientId}`, `$KEY:{keyId}`, `$DEVICE:{hardwareId}`, `$SYSTEM`, `$RESOURCE:{name}`.',
  })
  readonly entityId!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly resource?: string;

  @Field(() => [AuditDetailType], { simple: true })
  readonly details!: AuditDetailType[];
}

export const AuditEventConnection = connectionType('AuditEvent', () => AuditEventType);
