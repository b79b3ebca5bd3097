import type { AuditService } from '../audit/audit.service.js';
import { type Actor, managerEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import { refuseAny } from '../lib/errors.js';
import type { ManagedStore } from './managed.store.js';
import { isRemoval, type ManagedItem, type ManagedItemRequest, managedIssues } from './managed-item.js';

export interface ManagedRequest {
  readonly manager: string;
  readonly items: readonly ManagedItemRequest[];
}

export interface ManagedDeps {
  readonly store: ManagedStore;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/**
 * Keeps the records of `tollgate apply`. They change nothing but themselves: what they describe is guarded by its own
 * version, so it does not matter which of two writers of a record comes last.
 */
export class ManagedService {
  constructor(private readonly deps: ManagedDeps) {}

  /** Replaces records, and deletes those without document and intent, in one transaction. Idempotent. */
  async set(tenant: string, { manager, items }: ManagedRequest, actor: Actor): Promise<ManagedItem[]> {
    refuseAny(managedIssues(manager, items));
    const { store, audit, clock } = this.deps;
    const updatedAt = new Date(clock.nowMs());
    const removed = items.filter(isRemoval).map(({ item }) => item);
    const saved = items
      .filter((request) => !isRemoval(request))
      .map((request) => recordOf(request, manager, updatedAt));
    const event = audit.draft({
      orgId: tenant,
      actor,
      action: 'managed_items_set',
      entityId: managerEntity(manager),
      details: { saved: saved.length, removed: removed.length },
    });
    await store.save(tenant, saved, removed, [event]);
    return saved;
  }
}

const recordOf = (
  { item, document, version, intent }: ManagedItemRequest,
  manager: string,
  updatedAt: Date,
): ManagedItem => ({
  item,
  manager,
  ...(typeof document === 'string' ? { document } : {}),
  ...(typeof version === 'number' ? { version } : {}),
  ...(typeof intent === 'string' ? { intent } : {}),
  updatedAt,
});
