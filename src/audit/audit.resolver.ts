import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { globalIdText, nodeId } from '../graphql/node.js';
import type { Policy } from '../identity/viewer.js';
import { badInput } from '../lib/errors.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import { AuditEventConnection, AuditEventType } from './audit.types.js';
import { type AuditEvent, auditedEntity } from './audit-event.js';

@Resolver(() => OrgType)
export class OrgAuditResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => AuditEventConnection, { description: 'Audit events of the org, newest first.' })
  auditEvents(
    @Root() { orgId }: Org,
    @Arg('entityId', () => String, {
      nullable: true,
      description: 'Only events about this object, as in `AuditEvent.entityId`. Omit for all events.',
    })
    entityId: string | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { auditStore, cursors }: Context,
  ) {
    if (entityId && !auditedEntity.test(entityId))
      throw badInput({ path: 'entityId', message: 'must be an id as in AuditEvent.entityId' });
    return paginate(
      page,
      { cursors, tenant: orgId, field: `Org.auditEvents ${entityId ?? ''}` },
      (event: AuditEvent) => `${event.eventId} ${event.entityId}`,
      (limit, after) =>
        auditStore.list(orgId, limit, {
          ...(entityId ? { entityId } : {}),
          ...(after === undefined ? {} : { after: parsePosition(after) }),
        }),
    );
  }
}

@Resolver(() => AuditEventType)
export class AuditEventResolver {
  @FieldResolver(() => ID, { description: globalIdText })
  id(@Root() { orgId, entityId, eventId }: AuditEvent) {
    return nodeId('AuditEvent', orgId, entityId, eventId);
  }
}

function parsePosition(position: string): { eventId: string; entityId: string } {
  const [eventId = '', entityId = ''] = position.split(' ');
  return { eventId, entityId };
}
