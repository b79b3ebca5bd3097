import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { globalIdText, nodeId } from '../graphql/node.js';
import type { Policy } from '../identity/viewer.js';
import { badInput } from '../lib/errors.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import { AuditEventConnection, AuditEventType } from './audit.types.js';
import { type AuditEvent, auditedEntity, platformTenant } from './audit-event.js';

const entityIdText = 'Only events about this object, as in `AuditEvent.entityId`. Omit for all events.';

@Resolver(() => OrgType)
export class OrgAuditResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => AuditEventConnection, { description: 'Audit events of the org, newest first.' })
  auditEvents(
    @Root() { orgId }: Org,
    @Arg('entityId', () => String, { nullable: true, description: entityIdText }) entityId: string | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() context: Context,
  ) {
    return eventsOf({ tenant: orgId, field: 'Org.auditEvents', entityId }, page, context);
  }
}

@Resolver()
export class PlatformAuditResolver {
  @Authorized<Policy>('platform:manage')
  @Query(() => AuditEventConnection, {
    description:
      'Audit events of the platform itself, such as changes of the catalog, newest first. Platform admin only.',
  })
  platformAuditEvents(
    @Arg('entityId', () => String, { nullable: true, description: entityIdText }) entityId: string | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() context: Context,
  ) {
    return eventsOf({ tenant: platformTenant, field: 'Query.platformAuditEvents', entityId }, page, context);
  }
}

interface EventsRequest {
  readonly tenant: string;
  readonly field: string;
  readonly entityId: string | null | undefined;
}

function eventsOf({ tenant, field, entityId }: EventsRequest, page: PageArgs, { auditStore, cursors }: Context) {
  if (entityId && !auditedEntity.test(entityId))
    throw badInput({ path: 'entityId', message: 'must be an id as in AuditEvent.entityId' });
  return paginate(
    page,
    { cursors, tenant, field: `${field} ${entityId ?? ''}` },
    (event: AuditEvent) => `${event.eventId} ${event.entityId}`,
    (limit, after) =>
      auditStore.list(tenant, limit, {
        ...(entityId ? { entityId } : {}),
        ...(after === undefined ? {} : { after: parsePosition(after) }),
      }),
  );
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
