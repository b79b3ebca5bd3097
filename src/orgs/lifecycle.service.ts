import type { AuditService } from '../audit/audit.service.js';
import { type Actor, type AuditAction, appEntity, orgEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { ClientService } from '../identity/client.service.js';
import type { Clock } from '../lib/clock.js';
import { notFound, refuseAny, unavailable, versionConflict } from '../lib/errors.js';
import { type ExpectedVersion, expectedVersionIssues, isStale } from '../lib/expected-version.js';
import type { AppStore } from './app.store.js';
import type { LifecycleStore } from './lifecycle.store.js';
import type { OrgStore } from './org.store.js';
import { type App, type AppRef, appIdIssues, inForce, type Org } from './settings.js';

const maxAttempts = 5;

export interface LifecycleDeps {
  readonly store: LifecycleStore;
  readonly orgStore: OrgStore;
  readonly appStore: AppStore;
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
    const org = await this.deps.orgStore.readOrg(orgId);
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
    const { orgStore, appStore } = this.deps;
    const [org, app] = await Promise.all([orgStore.readOrg(ref.orgId), appStore.readApp(ref)]);
    if (!org || !app) throw notFound('app');
    return inForce(org, app);
  }

  /** Deletes an app with all its clients, which ends their secrets, tokens and sessions. Its costs remain. */
  async deleteApp(ref: AppRef, expectedVersion: ExpectedVersion, actor: Actor): Promise<void> {
    refuseAny(expectedVersionIssues(expectedVersion, 'expectedVersion'));
    if (appIdIssues(ref.appId).length > 0) throw notFound('app');
    const { store, appStore, clients, changes, audit, clock } = this.deps;
    const { orgId, appId } = ref;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const app = await appStore.readApp(ref);
      if (!app) throw notFound('app');
      if (isStale(expectedVersion, app.version)) throw versionConflict('this app', app.version);
      const further = await clients.listForDeletion(ref);
      const { clientId, generation } = app.credentials;
      const riders = [
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
      const refs = further.map((client) => client.ref);
      if (!(await store.deleteApp(app, refs, clock.nowMs(), riders))) continue;
      clients.noteEnd(clientId, generation + 1);
      for (const client of further) clients.noteEnd(client.clientId);
      return changes.refresh();
    }
    throw unavailable('this app is being changed by several callers at the same time; retry');
  }

  private async setSuspended(
    ref: { readonly orgId: string; readonly appId?: string },
    suspended: boolean,
    act: { readonly actor: Actor; readonly action: AuditAction; readonly entityId: string },
  ): Promise<void> {
    const { store, changes, audit, clock } = this.deps;
    const riders = [audit.draft({ orgId: ref.orgId, ...act }), changes.draftChange(ref.orgId)];
    const isChanged = suspended ? await store.suspend(ref, clock.nowMs(), riders) : await store.resume(ref, riders);
    if (isChanged) await changes.refresh();
  }
}
