import type { StoreClient } from '../dynamo/client.js';
import { absent, equals, type Item } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key, slashed } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import type { AuditDetail, AuditEvent } from './audit-event.js';

const table = 'limiter';

export const auditKey = (orgId: string, entityId: string, eventId: string) => ({
  PK: key`${orgId}/AUDIT#${slashed(entityId)}`,
  SK: key`#AUDIT#${eventId}`,
});
export const auditIndexKey = (orgId: string, eventId: string) => ({
  GSI1PK: key`${orgId}/AUDIT`,
  GSI1SK: key`${eventId}`,
});

/** Audit events, in the table of the limiter. */
export class AuditStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * The rider that stores an event. Its key is random, so that a retried transaction recognises its own success by it.
   */
  draft(event: AuditEvent, expiresAtSecs: number): TransactItem {
    return transactItem({ table, put: toItem(event, expiresAtSecs), condition: absent('PK'), fresh: true });
  }

  /** Stores an event on its own. Idempotent. */
  async append(event: AuditEvent, expiresAtSecs: number): Promise<void> {
    await this.client.write({ table, put: toItem(event, expiresAtSecs) }, { repeat: 'idempotent' });
  }

  /** Events of one entity or of all, newest first, up to `limit` after a position. */
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
    // The index projects only keys, so that an acquire does not pay for it. The events are read by their keys.
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

function toEvent(item: Item): AuditEvent {
  const from = fields(table, item);
  const resource = from.optionalString('resource');
  const address = from.optionalString('address');
  const requestId = from.optionalString('request_id');
  return {
    nodeType: 'AuditEvent',
    orgId: from.string('org_id'),
    eventId: from.string('event_id'),
    at: from.date('at_ms'),
    actor: from.string('actor'),
    action: from.string('action'),
    entityId: from.string('entity_id'),
    ...(resource ? { resource } : {}),
    ...(address ? { address } : {}),
    ...(requestId ? { requestId } : {}),
    details: from.maps('details').map(toDetail),
  };
}

function toDetail(item: Item): AuditDetail {
  const from = fields(table, item);
  const previousValue = from.optionalString('previous_value');
  return {
    name: from.string('name'),
    value: from.string('value'),
    ...(previousValue === undefined ? {} : { previousValue }),
  };
}
