import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, orgEntity } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import type { Clock } from '../../lib/clock.js';
import { notFound, unavailable } from '../../lib/errors.js';
import { randomToken } from '../../lib/id.js';
import { Lru } from '../../lib/lru.js';
import type { TenantCache } from '../../orgs/tenant-cache.service.js';
import type { NamespaceStore } from './namespace.store.js';

export interface NamespaceDeps {
  readonly store: NamespaceStore;
  readonly orgs: Pick<TenantCache, 'org'>;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/**
 * Each org's limiter has a namespace: a random id that all its keys begin with. A purge gives the org a new namespace,
 * so it takes effect at once, and the worker deletes the items of the old one.
 *
 * Namespaces are cached until they are purged, and not per change version like other caches. All orgs' entries have the
 * same partition key; if every gateway read all of them after each change, that partition would be the hottest of the
 * table. The change feed reports purges, and a purge deletes the org's entry. Two counters guard against a race with a
 * read: `changes.purges` (purges anywhere) and `invalidations` (in this process). If either has changed during the
 * read, the result is returned but not cached.
 */
export class NamespaceService {
  private readonly cache = new Lru<string, string>(10_000);
  private invalidations = 0;

  constructor(private readonly deps: NamespaceDeps) {
    deps.changes.onPurge((orgId) => (orgId === undefined ? this.cache.clear() : this.cache.delete(orgId)));
  }

  /** The namespace of the org. Creates it on first use. */
  async of(orgId: string): Promise<string> {
    const { changes, store } = this.deps;
    // Throws if the change counter could not be read for too long: a purge may have been missed.
    changes.version();
    const cached = this.cache.get(orgId);
    if (cached) return cached;
    const [purges, invalidations] = [changes.purges, this.invalidations];
    const namespace = (await store.load(orgId)) ?? (await this.create(orgId));
    if (purges === changes.purges && invalidations === this.invalidations) this.cache.set(orgId, namespace);
    return namespace;
  }

  /** The namespace as last cached, however old. Never reads. */
  lastCached(orgId: string): string | undefined {
    return this.cache.get(orgId);
  }

  /** A check for the transaction of a write that a purge through another gateway must not lose. */
  draftCheck(orgId: string, namespace: string): TransactItem {
    return this.deps.store.draftCheck(orgId, namespace);
  }

  /** True if the org still has this namespace, by a consistent read. */
  async isCurrent(orgId: string, namespace: string): Promise<boolean> {
    return (await this.deps.store.load(orgId)) === namespace;
  }

  /** Call it if such a check may have failed: the next `of` reads. */
  invalidate(orgId: string): void {
    this.cache.delete(orgId);
    this.invalidations++;
  }

  /**
   * Gives the org a new, empty namespace at once. The worker deletes the items of the old one. False if it had none.
   */
  async purge(orgId: string, actor: Actor): Promise<boolean> {
    const { store, changes, audit, clock, orgs } = this.deps;
    if (!(await orgs.org(orgId))) throw notFound('org');
    const old = await store.load(orgId);
    if (!old) return false;
    const auditEvent = audit.draft({ orgId, actor, action: 'limiter_purged', entityId: orgEntity });
    const riders = [auditEvent, changes.draftPurge(orgId)];
    const isReplaced = await store.replace(orgId, { old, fresh: newNamespace() }, clock.nowMs(), riders);
    this.invalidate(orgId);
    await changes.refresh();
    // If a concurrent purge came first, it has done the same.
    return isReplaced || (await store.load(orgId)) !== old;
  }

  private async create(orgId: string): Promise<string> {
    const { store, orgs } = this.deps;
    if (!(await orgs.org(orgId))) throw notFound('org');
    const namespace = newNamespace();
    if (await store.create(orgId, namespace)) return namespace;
    // A concurrent call has created it.
    const created = await store.load(orgId);
    if (!created) throw unavailable('the limiter of this org could not be created; retry');
    return created;
  }
}

/** 11 URL-safe characters. The first is not a dash, because a command line would take that for an option. */
function newNamespace(): string {
  let namespace: string;
  do namespace = randomToken(8);
  while (namespace.startsWith('-'));
  return namespace;
}
