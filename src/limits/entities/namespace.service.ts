import { LRUCache } from 'lru-cache';
import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, orgEntity } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import type { Clock } from '../../lib/clock.js';
import { notFound, unavailable } from '../../lib/errors.js';
import { randomToken } from '../../lib/id.js';
import type { TenantCache } from '../../orgs/tenant-cache.service.js';
import type { NamespaceStore } from './namespace.store.js';

export interface NamespaceDeps {
  readonly store: NamespaceStore;
  readonly orgs: Pick<TenantCache, 'org'>;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/** Each org's limiter lives in a namespace of its own, under an id that only the org's registry entry leads to. */
export class NamespaceService {
  private readonly known = new LRUCache<string, string>({ max: 10_000 });
  private forgotten = 0;

  constructor(private readonly parts: NamespaceDeps) {
    parts.changes.onPurge((orgId) => (orgId === undefined ? this.known.clear() : this.known.delete(orgId)));
  }

  /**
   * The org's namespace, made when it is first needed. Remembered until it is purged, which costs no read: all orgs' entries
   * are under one key, and if every gateway read them all whenever anything was revoked, that key would be the hottest of all.
   */
  async of(orgId: string): Promise<string> {
    const { changes, store } = this.parts;
    // Throws where it has not been heard for too long whether anything was purged.
    changes.version();
    const remembered = this.known.get(orgId);
    if (remembered) return remembered;
    const [purges, forgotten] = [changes.purges, this.forgotten];
    const namespace = (await store.load(orgId)) ?? (await this.create(orgId));
    // A purge that came while reading makes what was read worthless.
    if (purges === changes.purges && forgotten === this.forgotten) this.known.set(orgId, namespace);
    return namespace;
  }

  /** The org's namespace as last known to this process, however old. Never reads. */
  lastKnown(orgId: string): string | undefined {
    return this.known.get(orgId);
  }

  /** For the transaction of what must not be lost to a purge through another gateway. */
  draftCheck(orgId: string, namespace: string): TransactItem {
    return this.parts.store.draftCheck(orgId, namespace);
  }

  /** Such a check may have failed: the next one who asks reads anew. */
  forget(orgId: string): void {
    this.known.delete(orgId);
    this.forgotten++;
  }

  /** Gives the org a fresh namespace at once, so that it starts clean; the worker deletes the old one's items. False where it had none. */
  async purge(orgId: string, actor: Actor): Promise<boolean> {
    const { store, changes, audit, clock, orgs } = this.parts;
    if (!(await orgs.org(orgId))) throw notFound('org');
    const old = await store.load(orgId);
    if (!old) return false;
    const act = audit.draft({ orgId, actor, action: 'limiter_purged', entityId: orgEntity });
    const replaced = await store.replace(orgId, { old, fresh: newNamespace() }, clock.nowMs(), [
      act,
      changes.draftPurge(orgId),
    ]);
    this.forget(orgId);
    await changes.refresh();
    // Another purge came first: then that one has done what was asked.
    return replaced || (await store.load(orgId)) !== old;
  }

  private async create(orgId: string): Promise<string> {
    const { store, orgs } = this.parts;
    if (!(await orgs.org(orgId))) throw notFound('org');
    const fresh = newNamespace();
    if (await store.create(orgId, fresh)) return fresh;
    const made = await store.load(orgId);
    if (!made) throw unavailable('the limiter of this org could not be set up: try again');
    return made;
  }
}

/** 11 url-safe characters. A leading dash would be taken for an option on a command line. */
function newNamespace(): string {
  let namespace: string;
  do namespace = randomToken(8);
  while (namespace.startsWith('-'));
  return namespace;
}
