import { Field, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { Node } from '../graphql/node.js';
import { DateTime } from '../graphql/scalars.js';

@ObjectType('AuditDetail', { description: 'One fact about an audited act.' })
export class AuditDetailType {
  @Field(() => String, {
    simple: true,
    description: 'What the fact is about: a setting that was changed, or a property of the act such as `graceHours`.',
  })
  readonly name!: string;

  @Field(() => String, {
    simple: true,
    description: 'The value after the act. Text as it is; anything else as JSON. `none` or `inherited` if unset.',
  })
  readonly value!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The value before the act. Null unless the act changed a setting.',
  })
  readonly previousValue?: string;
}

@ObjectType('AuditEvent', {
  implements: Node,
  description:
    'Who did what to what, when and from where. Events are never changed and expire after the retention time.',
})
export class AuditEventType extends Node {
  @Field(() => DateTime, { simple: true, description: 'When the act happened.' })
  readonly at!: Date;

  @Field(() => String, {
    simple: true,
    description: 'The client id, `key-{keyId}` of a device key, or `platform-admin:{name}` of an admin key.',
  })
  readonly actor!: string;

  @Field(() => String, {
    simple: true,
    description: 'What was done, such as `org_updated`, `credentials_rotated` or `login_refused`.',
  })
  readonly action!: string;

  @Field(() => String, {
    simple: true,
    description:
      'The object of the act: an entity of the limiter, or `$ORG`, `$APP:{appId}`, `$CLIENT:{clientId}`, ' +
      '`$KEY:{keyId}`, `$DEVICE:{hardwareId}`, `$MODEL:{label}`, `$ADMIN:{name}`, `$SYSTEM`, ' +
      '`$RESOURCE:{name}`, `$MANAGER:{name}`.',
  })
  readonly entityId!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The resource whose limits the act was about. Null for other acts.',
  })
  readonly resource?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The network address that the call came from.' })
  readonly address?: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The id of the request, as in its `X-Request-Id` header and in the log.',
  })
  readonly requestId?: string;

  @Field(() => [AuditDetailType], {
    simple: true,
    description: 'Facts about the act. Each changed setting has its old and its new value.',
  })
  readonly details!: AuditDetailType[];
}

export const AuditEventConnection = connectionType('AuditEvent', () => AuditEventType);
