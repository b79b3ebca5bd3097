import type { TransactItem } from '../dynamo/transact-item.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { ulid } from '../lib/id.js';
import type { PendingWrites } from '../lib/pending-writes.js';
import type { AuditStore } from './audit.store.js';
import type { Actor, AuditAction, AuditDetail, AuditEvent } from './audit-event.js';

/** An act to record. */
export interface Act {
  readonly orgId: string;
  /** Only a name if the act was not caused by a call. */
  readonly actor: Actor | string;
  readonly action: AuditAction;
  readonly entityId: string;
  readonly resource?: string;
  readonly details?: Readonly<Record<string, string | number | undefined>>;
  /** The changed settings, from `changesBetween`. */
  readonly changes?: readonly AuditDetail[];
}

export interface AuditDeps {
  readonly store: AuditStore;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly pending: PendingWrites;
}

/** The audit trail. */
export class AuditService {
  constructor(private readonly deps: AuditDeps) {}

  /** The event as a rider for the transaction of the act: both are stored, or neither. */
  draft(act: Act): TransactItem {
    const event = this.eventOf(act);
    return this.deps.store.draft(event, this.expiresAtSecs(event));
  }

  /** Records an act without a transaction of its own, such as a refused login. The caller does not wait. */
  recordLater(act: Act): void {
    const event = this.eventOf(act);
    this.deps.pending.start(() => this.deps.store.append(event, this.expiresAtSecs(event)));
  }

  private eventOf({ orgId, actor, action, entityId, resource, details = {}, changes = [] }: Act): AuditEvent {
    const nowMs = this.deps.clock.nowMs();
    const properties = Object.entries(details).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value: String(value) }],
    );
    return {
      nodeType: 'AuditEvent',
      orgId,
      eventId: ulid(nowMs),
      at: new Date(nowMs),
      ...(typeof actor === 'string'
        ? { actor }
        : { actor: actor.name, address: actor.address, requestId: actor.requestId }),
      action,
      entityId,
      ...(resource === undefined ? {} : { resource }),
      details: [...properties, ...changes],
    };
  }

  private expiresAtSecs({ at }: AuditEvent): number {
    return epochSeconds(at.getTime()) + this.deps.retentionDays * 86_400;
  }
}
