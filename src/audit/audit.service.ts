import { type Clock, epochSeconds } from '../lib/clock.js';
import type { Draft } from '../lib/draft.js';
import { ulid } from '../lib/id.js';
import type { AuditStore } from './audit.store.js';
import type { AuditAction, AuditEvent } from './audit-event.js';

export interface Act {
  readonly orgId: string;
  readonly actor: string;
  readonly action: AuditAction;
  readonly entityId: string;
  readonly resource?: string;
  readonly details?: Readonly<Record<string, string | number | undefined>>;
}

export class AuditService {
  constructor(
    private readonly store: AuditStore,
    private readonly clock: Clock,
    private readonly retentionDays: number,
  ) {}

  /** The event as a write for the act's own transaction: what happened is on record, and what is on record happened. */
  draft(act: Act): Draft {
    const event = this.eventOf(act);
    return this.store.draft(event, this.expiresAtSecs(event));
  }

  /** For acts that write nothing themselves, such as a refused login. */
  async record(act: Act): Promise<void> {
    const event = this.eventOf(act);
    await this.store.append(event, this.expiresAtSecs(event));
  }

  private eventOf({ orgId, actor, action, entityId, resource, details = {} }: Act): AuditEvent {
    const nowMs = this.clock.nowMs();
    const named = Object.entries(details).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: String(value) }]));
    return {
      nodeType: 'AuditEvent',
      orgId,
      eventId: ulid(nowMs),
      at: new Date(nowMs),
      actor,
      action,
      entityId,
      ...(resource === undefined ? {} : { resource }),
      details: named,
    };
  }

  private expiresAtSecs({ at }: AuditEvent): number {
    return epochSeconds(at.getTime()) + this.retentionDays * 86_400;
  }
}
