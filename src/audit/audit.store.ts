import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, equals } from '../dynamo/expression.js';
import { key, slashed } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import type { AuditAction, AuditDetail, AuditEvent } from './audit-event.js';

const table = 'limiter';

export const auditKey = (orgId: string, entityId: string, eventId: string) => ({
  PK: key`${orgId}/AUDIT#${slashed(entityId)}`,
  SK: key`#AUDIT#${eventId}`,
});
export const auditIndexKey = (orgId: string, eventId: string) => ({
  GSI1PK: key`${orgId}/AUDIT`,
  GSI1SK: key`${eventId}`,
});

export class AuditStore {
  constructor(private readonly client: StoreClient) {}

  /** The write of an event, to ride in the transaction of the act it tells of. The transaction recognises its own success by it. */
  draft(event: AuditEvent, expiresAtSecs: number): TransactItem {
    return transactItem({ table, put: toItem(event, expiresAtSecs), condition: absent('PK'), fresh: true });
  }

  async append(event: AuditEvent, expiresAtSecs: number): Promise<void> {
    await this.client.write({ table, put: toItem(event, expiresAtSecs) }, { repeat: 'idempotent' });
  }

  /** Newest first, of one entity or of all, up to `limit` after the position named. */
  async list(
    orgId: string,
    limit: number,
    { entityId, after }: { readonly entityId?: string; readonly after?: AuditPosition },
  ): Promise<AuditEvent[]> {
    const start = after && {
      ...auditKey(orgId, after.entityId, after.eventId),
      ...(entityId === undefined ? auditIndexKey(orgId, after.eventId) : {}),
    };
    const page = { newestFirst: true, limit, ...(start ? { after: start } : {}) };
    if (entityId !== undefined) {
      const { items } = await this.client.query({
        table,
        where: equals('PK', key`${orgId}/AUDIT#${slashed(entityId)}`),
        ...page,
      });
      return items.map(toEvent);
    }
    // The index holds keys only, so that an acquire never pays for it; the events are fetched beside.
    const events = await this.client.queryIndexed({
      table,
      index: 'GSI1',
      where: equals('GSI1PK', key`${orgId}/AUDIT`),
      ...page,
    });
    return events.map(({ item }) => toEvent(item));
  }

  async load(orgId: string, { entityId, eventId }: AuditPosition): Promise<AuditEvent | undefined> {
    const item = await this.client.get(table, auditKey(orgId, entityId, eventId));
    return item && toEvent(item);
  }
}

export type AuditPosition = Pick<AuditEvent, 'entityId' | 'eventId'>;

const toItem = (event: AuditEvent, expiresAtSecs: number): Item => ({
  ...auditKey(event.orgId, event.entityId, event.eventId),
  ...auditIndexKey(event.orgId, event.eventId),
  org_id: event.orgId,
  event_id: event.eventId,
  at_ms: event.at.getTime(),
  actor: event.actor,
  action: event.action,
  entity_id: event.entityId,
  resource: event.resource,
  address: event.address,
  request_id: event.requestId,
  details: event.details.map(({ name, value, previousValue }) => ({ name, value, previous_value: previousValue })),
  ttl: expiresAtSecs,
});

const toEvent = (item: Item): AuditEvent => ({
  nodeType: 'AuditEvent',
  orgId: item.org_id as string,
  eventId: item.event_id as string,
  at: new Date(item.at_ms as number),
  actor: item.actor as string,
  action: item.action as AuditAction,
  entityId: item.entity_id as string,
  ...(item.resource ? { resource: item.resource as string } : {}),
  ...(item.address ? { address: item.address as string } : {}),
  ...(item.request_id ? { requestId: item.request_id as string } : {}),
  details: (item.details as unknown as readonly StoredDetail[]).map(toDetail),
});

interface StoredDetail {
  readonly name: string;
  readonly value: string;
  readonly previous_value?: string;
}

const toDetail = ({ name, value, previous_value }: StoredDetail): AuditDetail => ({
  name,
  value,
  ...(previous_value === undefined ? {} : { previousValue: previous_value }),
});
