import type { AuditService } from '../audit/audit.service.js';
import { type Actor, type AuditAction, appEntity, orgEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { ClientService } from '../identity/client.service.js';
import type { Clock } from '../lib/clock.js';
import { notFound, unavailable } from '../lib/errors.js';
import type { LifecycleStore } from './lifecycle.store.js';
import type { AppRef, OrgStore } from './org.store.js';
import { type App, appIdIssues, inForce, type Org } from './settings.js';

const attempts = 5;

export interface LifecycleDeps {
  readonly store: LifecycleStore;
  readonly orgs: OrgStore;
  readonly clients: Pick<ClientService, 'listForDeletion' | 'draftEnd' | 'noteEnd'>;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/** Suspends, resumes and deletes tenants. Every gateway notices within 2 s. */
export class LifecycleService {
  constructor(private readonly deps: LifecycleDeps) {}

  /** Suspends or resumes an org. Idempotent. */
  async setOrgSuspended(orgId: string, suspended: boolean, actor: Actor): Promise<Org> {
    await this.setSuspended({ orgId }, suspended, {
      actor,
      action: suspended ? 'org_suspended' : 'org_resumed',
      entityId: orgEntity,
    });
    const org = await this.deps.orgs.readOrg(orgId);
    if (!org) throw notFound('org');
    return org;
  }

  /** Suspends or resumes an app. Idempotent. */
  async setAppSuspended(ref: AppRef, suspended: boolean, actor: Actor): Promise<App> {
    if (appIdIssues(ref.appId).length > 0) throw notFound('app');
    await this.setSuspended(ref, suspended, {
      actor,
      action: suspended ? 'app_suspended' : 'app_resumed',
      entityId: appEntity(ref.appId),
    });
    const [org, app] = await Promise.all([this.deps.orgs.readOrg(ref.orgId), this.deps.orgs.readApp(ref)]);
    if (!org || !app) throw notFound('app');
    return inForce(org, app);
  }

  /** Deletes an app with all its clients: secrets, tokens and sessions end. Its costs remain. */
  async deleteApp(ref: AppRef, actor: Actor): Promise<void> {
    if (appIdIssues(ref.appId).length > 0) throw notFound('app');
    const { store, orgs, clients, changes, audit, clock } = this.deps;
    const { orgId, appId } = ref;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const app = await orgs.readApp(ref);
      if (!app) throw notFound('app');
      const further = await clients.listForDeletion(ref);
      const { clientId, generation } = app.credentials;
      const drafts = [
        clients.draftEnd(clientId, generation + 1),
        ...further.map((client) => clients.draftEnd(client.clientId)),
        changes.draftChange(orgId),
        audit.draft({
          orgId,
          actor,
          action: 'app_deleted',
          entityId: appEntity(appId),
          details: { name: app.name, clients: further.length + 1 },
        }),
      ];
      const refs = further.map(({ ref: of }) => of);
      if (!(await store.deleteApp(app, refs, clock.nowMs(), drafts))) continue;
      clients.noteEnd(clientId, generation + 1);
      for (const client of further) clients.noteEnd(client.clientId);
      return changes.refresh();
    }
    throw unavailable('this app is being changed by many at once: try again');
  }

  private async setSuspended(
    ref: { readonly orgId: string; readonly appId?: string },
    suspended: boolean,
    act: { readonly actor: Actor; readonly action: AuditAction; readonly entityId: string },
  ): Promise<void> {
    const { store, changes, audit, clock } = this.deps;
    const drafts = [audit.draft({ orgId: ref.orgId, ...act }), changes.draftChange(ref.orgId)];
    const isChanged = suspended ? await store.suspend(ref, clock.nowMs(), drafts) : await store.resume(ref, drafts);
    if (isChanged) await changes.refresh();
  }
}
